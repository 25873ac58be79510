// Reused plans of solvers: each execution has the bits of a separate operation, as have solutions and matrices formed
// from their factors.
#include "hunt/operations.hpp"
#include "hunt/random.hpp"
#include "search/oracle.hpp"
#include <heddle/eigen/jacobi.hpp>
#include <heddle/exact/segmented.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/search/faces.hpp>
#include <heddle/solve/cholesky.hpp>
#include <heddle/solve/qr.hpp>

namespace heddle::hunt {
namespace {

// Draw two Hermitian matrices of hard numbers between -1 and 1, with diagonals that make them positive definite.
void draw_two_matrices(Random& random, Case& one) {
  const Index n = random.extent(24);
  for (const char* const name : {"A1", "A2"}) {
    Array& A = one.add(name, 'n', n, 'n', n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= j; ++i) {
        const Value x(random.unit(), is_complex_type(one.type) && i != j ? random.unit() : 0.0);
        A.at(i, j) = in_type(x, one.type);
        A.at(j, i) = std::conj(A.at(i, j));
      }
      A.at(j, j) = in_type(Value(static_cast<double>(2 * n + random.below(4)), 0.0), one.type);
    }
    A.mirror = Mirror::hermitian;
  }
  one.add_knob("place", random.below(100));
  one.add_knob("arithmetic", random.below(2));
}

template <Scalar T>
void expect_same(Verdict& verdict, const char* property, const DistributedMatrix<T>& found,
                 const DistributedMatrix<T>& expected) {
  const auto of_plan = gather(found, 0);
  const auto alone = gather(expected, 0);
  verdict.holds(property, difference(of_plan, alone).empty(), difference(of_plan, alone));
}

// Return whether each diagonal element exceeds the rest of its row: shrinking may lose that, and definiteness with it.
bool dominant(const Array& A) {
  for (Index i = 0; i < A.rows; ++i) {
    double rest = 0.0;
    for (Index j = 0; j < A.columns; ++j) rest += i == j ? 0.0 : std::abs(A.at(i, j));
    if (!(A.at(i, i).real() > rest)) return false;
  }
  return true;
}

template <Scalar T> void run_factors(const World& world, const Case& one, Verdict& verdict) {
  const Index n = one.array("A1").rows;
  if (!dominant(one.array("A1")) || !dominant(one.array("A2"))) return verdict.skip();
  const Arithmetic arithmetic = one.knob("arithmetic") == 0 ? Arithmetic::native : Arithmetic::emulated;
  const FactorOptions cholesky_options{.arithmetic = arithmetic};
  const QrOptions qr_options{.arithmetic = arithmetic};
  CholeskyPlan<T> cholesky_plan(world.all, n, cholesky_options);
  QrPlan<T> qr_plan(world.all, n, n, qr_options);
  const double bound = 100 * static_cast<double>(std::max<Index>(n, 1)) * static_cast<double>(unit_roundoff<T>);
  for (const char* const name : {"A1", "A2", "A1"}) {
    const auto given = [&] { return distributed<T>(world.all, one.array(name), one.knob("place")); };
    const auto A = given();
    const auto planned = given();
    const auto alone = given();
    cholesky_plan.execute(planned);
    cholesky(world.all, alone, cholesky_options);
    expect_same(verdict, "CholeskyPlan has the bits of cholesky()", planned, alone);
    // A X = A has the solution I.
    const auto X = given();
    cholesky_solve(world.all, planned, X, cholesky_options);
    add_identity(T(-1), X);
    verdict.within("cholesky_solve", static_cast<double>(norm(X, Norm::maximum)), bound);

    const auto of_plan = given();
    const auto of_qr = given();
    const QrReport<T> report = qr_plan.execute(of_plan);
    const QrReport<T> other = qr(world.all, of_qr, qr_options);
    expect_same(verdict, "QrPlan has the bits of qr()", of_plan, of_qr);
    verdict.holds("the same tau", report.tau == other.tau);
    const auto Q = given();
    qr_form(world.all, of_plan, report.tau, Q, qr_options);
    const auto product = distributed<T>(world.all, one.array(name), one.knob("place"));
    copy(Q, product);
    qr_multiply(world.all, is_complex<T> ? Operation::conjugate_transpose : Operation::transpose, of_plan, report.tau,
                product, qr_options);
    add_identity(T(-1), product);
    verdict.within("Q^H Q is the identity", static_cast<double>(norm(product, Norm::maximum)), bound);
  }
}

template <Scalar T> void run_spectra(const World& world, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  const auto n = static_cast<std::size_t>(one.array("A1").rows);
  eigen::JacobiPlan<T> plan(space, static_cast<Index>(n));
  using Values = Kokkos::View<Real<T>*, MemorySpace>;
  for (const char* const name : {"A1", "A2", "A1"}) {
    const Placed<T> A(one.array(name), 0);
    const Placed<T> planned(one.array(name), 0);
    const Placed<T> alone(one.array(name), 0);
    const Values w("heddle::hunt::w", n);
    const Values v("heddle::hunt::v", n);
    plan.restart();
    static_cast<void>(plan.execute(A.matrix(), w, planned.matrix()));
    static_cast<void>(eigen::jacobi(space, A.matrix(), v, alone.matrix()));
    space.fence("heddle::hunt");
    verdict.holds("JacobiPlan has the values of jacobi()", search::host_vector(w) == search::host_vector(v));
    verdict.holds("JacobiPlan has the vectors of jacobi()", difference(planned.read(), alone.read()).empty(),
                  difference(planned.read(), alone.read()));
  }
  if constexpr (!is_complex<T>) {
    ExpmPlan<T> exponentials(world.all);
    for (const char* const name : {"A1", "A2", "A1"}) {
      const auto A = distributed<T>(world.all, one.array(name), one.knob("place"));
      scale(T(0.125), A);
      const auto planned = distributed<T>(world.all, one.array(name), one.knob("place"));
      const auto alone = distributed<T>(world.all, one.array(name), one.knob("place"));
      exponentials.execute(A, planned);
      expm<T>(world.all, A, alone);
      expect_same(verdict, "ExpmPlan has the bits of expm()", planned, alone);
    }
  }
}

void draw_lists(Random& random, Case& one) {
  const Index n = random.extent(200);
  fill_hard(random, one.type, one.add("x", 'n', n));
  Integers& keys = one.add_integers("keys", 'n', n);
  for (std::int64_t& key : keys.values) key = random.below(20);
  Integers& cells = one.add_integers("cells", 'm', random.extent(60), '1', 4);
  for (std::int64_t& point : cells.values) point = random.below(30);
  one.add_knob("search", random.below(13));
}
template <Scalar T> void run_lists(const World& /*world*/, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  const Placed<T> x(one.array("x"), 0);
  const auto keys = search::device_view(one.integer("keys").values);
  exact::KeyedSumPlan plan(space);
  using Sums = Kokkos::View<T*, MemorySpace>;
  for (int run = 0; run < 2; ++run) {
    const Sums planned("heddle::hunt::planned", 20);
    const Sums alone("heddle::hunt::alone", 20);
    plan.execute(x.vector(), keys, planned);
    exact::keyed_sum(space, x.vector(), keys, alone);
    space.fence("heddle::hunt");
    const auto found = search::host_vector(planned);
    const auto expected = search::host_vector(alone);
    for (std::size_t k = 0; k < found.size(); ++k) {
      verdict.holds("KeyedSumPlan has the bits of keyed_sum()", same(found[k], expected[k]),
                    told<T>(static_cast<Index>(k), 0, found[k], expected[k]));
    }
  }
  const Integers& given = one.integer("cells");
  search::Cells cells;
  for (Index c = 0; c < given.rows; ++c) {
    cells.push_back({CellKind::tetrahedron, {given.at(c, 0), given.at(c, 1), given.at(c, 2), given.at(c, 3)}});
  }
  const auto mesh = search::mixed_mesh<Index>(cells);
  search::ExternalFacesOptions options;
  const auto all = search::all_searches();
  options.search = all[static_cast<std::size_t>(one.knob("search")) % all.size()];
  search::ExternalFacesPlan<Index> faces(space, options);
  for (int run = 0; run < 2; ++run) {
    const search::ExternalFaces<Index>& found = faces.execute(mesh);
    const search::ExternalFaces<Index> expected = search::external_faces(space, mesh, options);
    verdict.holds("ExternalFacesPlan has the faces of external_faces()",
                  search::listed(found.external) == search::listed(expected.external) &&
                      search::listed(found.nonmanifold) == search::listed(expected.nonmanifold),
                  search::name_of(options.search));
  }
}

}  // namespace

void draw_factor_plans(Random& random, Case& one) {
  draw_two_matrices(random, one);
}
HEDDLE_HUNT_RUN(factor_plans, run_factors)
void draw_spectral_plans(Random& random, Case& one) {
  draw_two_matrices(random, one);
}
HEDDLE_HUNT_RUN(spectral_plans, run_spectra)
void draw_list_plans(Random& random, Case& one) {
  draw_lists(random, one);
}
HEDDLE_HUNT_RUN(list_plans, run_lists)

}  // namespace heddle::hunt
