// Eigensystems by all methods, in batches and over all ranks.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/distributed.hpp>
#include <heddle/eigen/jacobi.hpp>

namespace heddle::hunt {
namespace {

using eigen::JacobiAccuracy;
using eigen::JacobiMethod;
using eigen::JacobiOptions;

void draw_matrix(Random& random, Case& one) {
  const Index n = random.one_in(10) ? random.between(9, 14) : random.one_in(20) ? 0 : random.between(1, 7);
  Array& A = one.add("A", 'n', n, 'n', n);
  fill_hermitian(random, one.type, A);
  if (n > 0 && random.one_in(50)) {
    const Index i = random.below(n);
    const Index j = random.below(n);
    const double infinity = std::numeric_limits<double>::infinity();
    A.at(i, j) = A.at(j, i) = random.any_of(infinity, -infinity, infinity - infinity);
  }
  one.add_knob("upper", random.below(2));
  one.add_knob("layout", random.below(layouts));
}

// What the eigenvalues are, and how well A tells them.
struct Truth {
  std::vector<Wide> values;
  double norm = 0;       // |A|_2
  double condition = 0;  // of D^-1 A D^-1, D^2 = diag(A); 0 where A is not positive definite by far
};
Truth truth_of(const Array& A) {
  Truth truth;
  truth.values = wide_eigenvalues(A);
  for (const Wide& value : truth.values) truth.norm = std::max(truth.norm, value.absolute().to_double());
  bool positive = true;
  for (Index i = 0; i < A.rows; ++i) positive = positive && A.at(i, i).real() > 0;
  if (!positive || A.rows == 0) return truth;
  // Divided by one root after the other, so that nothing over- or underflows on the way.
  Array scaled = A;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const double root_i = std::sqrt(A.at(i, i).real());
      const double root_j = std::sqrt(A.at(j, j).real());
      scaled.at(i, j) = Value(A.at(i, j).real() / root_i / root_j, A.at(i, j).imag() / root_i / root_j);
      // |a_ij|^2 < a_ii a_jj of positive definite ones.
      if (!(std::abs(scaled.at(i, j)) < 2)) return truth;
    }
  }
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < j; ++i) scaled.at(j, i) = std::conj(scaled.at(i, j));
  }
  const std::vector<Wide> values = wide_eigenvalues(scaled);
  const double least = values.front().to_double();
  // What rounding does to the scaled matrix must leave it positive definite.
  if (least > 1e-10) truth.condition = values.back().to_double() / least;
  return truth;
}

template <Scalar T> struct Found {
  std::vector<double> w;
  HostMatrix<T> V;
};

// |w_i - lambda_i| <= 10 n u |A|_2, with relative accuracy 10 n u kappa(D^-1 A D^-1) lambda_i where lambda_i is a
// normal number; |A V - V diag(w)|_2 <= 10 n u |A|_2, |V^H V - I|_2 <= 10 n u, here by norms above the 2-norm.
template <Scalar T>
void judge(Verdict& verdict, const Array& A, const Truth& truth, const Found<T>& found, bool relative, bool vectors) {
  const auto n = static_cast<Index>(A.rows);
  const double u = static_cast<double>(unit_roundoff<T>);
  const double nu = static_cast<double>(std::max<Index>(n, 1)) * u;
  const double normal = static_cast<double>(std::numeric_limits<Real<T>>::min());
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  for (std::size_t i = 0; i < found.w.size(); ++i) {
    const double error = (Wide(found.w[i]) - truth.values[i]).absolute().to_double();
    const std::string text = "eigenvalue " + std::to_string(i) + " found " + shown(found.w[i]) + ", expected " +
                             shown(truth.values[i].to_double());
    if (truth.norm < static_cast<double>(std::numeric_limits<Real<T>>::max()) / 2) {
      verdict.within("eigenvalues, by the norm", error, 10 * nu * truth.norm + 4 * smallest, text);
    }
    const double value = truth.values[i].to_double();
    if (relative && truth.condition > 0 && truth.condition * nu < 1e-3 && value > normal &&
        value < static_cast<double>(std::numeric_limits<Real<T>>::max())) {
      verdict.within("eigenvalues, relative", error, 10 * nu * truth.condition * value, text);
    }
    if (i > 0) verdict.holds("ascending", found.w[i - 1] <= found.w[i], text);
  }
  if (!vectors || !(truth.norm < static_cast<double>(std::numeric_limits<Real<T>>::max()) / 2)) return;
  Wide::bits = 2400;
  const WideMatrix V(found.V);
  WideMatrix residual = WideMatrix(A) * V;
  WideMatrix adjoint(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Wide w(found.w[static_cast<std::size_t>(j)]);
      residual.at(i, j).re -= w * V.at(i, j).re;
      residual.at(i, j).im -= w * V.at(i, j).im;
      adjoint.at(i, j) = V.at(j, i).conjugate();
    }
  }
  WideMatrix gram = adjoint * V;
  for (Index i = 0; i < n; ++i) gram.at(i, i).re -= Wide(1.0);
  // |X|_2 >= |X|_F / sqrt(n): what is above the bound by this is above it for certain.
  const auto at_least = [&](const WideMatrix& X) {
    Wide sum;
    for (const WideComplex& x : X.values) sum += x.square();
    return sum.root().to_double() / std::sqrt(static_cast<double>(std::max<Index>(n, 1)));
  };
  verdict.within("residual", at_least(residual), 10 * nu * truth.norm + 4 * smallest);
  verdict.within("orthogonality", at_least(gram), 10 * nu);
}

// Only one triangle is read: the other is spoilt.
Array spoilt(const Array& A, bool upper) {
  Array B = A;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (upper ? i > j : i < j) B.at(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return B;
}
template <Scalar T> std::vector<double> values_of(const Kokkos::View<Real<T>*, MemorySpace>& w) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
  std::vector<double> values;
  for (std::size_t i = 0; i < host.extent(0); ++i) values.push_back(static_cast<double>(host(i)));
  return values;
}

// On GPUs blocks have 8 or 16 columns.
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

void draw_one(Random& random, Case& one) {
  draw_matrix(random, one);
  one.add_knob("method", random.below(6));
  one.add_knob("accuracy", random.any_of(0L, 0L, 2L));
  one.add_knob("values only", random.below(2));
  one.add_knob("reproducible", random.below(2));
  one.add_knob("block", on_host ? random.any_of(0L, 1L, 2L, 3L) : random.any_of(0L, 8L, 16L));
}
template <Scalar T> void run_jacobi(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto n = static_cast<std::size_t>(given.rows);
  const bool upper = one.knob("upper") != 0;
  const Placed<T> A(is_finite(given) ? spoilt(given, upper) : given, one.knob("layout"));
  JacobiOptions options;
  options.method = static_cast<JacobiMethod>(one.knob("method"));
  options.accuracy = static_cast<JacobiAccuracy>(one.knob("accuracy"));
  options.upper = upper;
  options.reproducible = one.knob("reproducible") != 0 && options.method != JacobiMethod::preconditioned;
  options.block = static_cast<int>(one.knob("block"));
  const bool vectors = one.knob("values only") == 0;
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::hunt::w", n);
  Array zero = given;
  std::fill(zero.values.begin(), zero.values.end(), Value(0.0));
  const Placed<T> V(zero, one.knob("layout"));
  eigen::JacobiReport report;
  const ExecutionSpace space;
  const Thrown thrown = thrown_by([&] {
    report = vectors ? eigen::jacobi(space, A.matrix(), w, V.matrix(), options)
                     : eigen::jacobi_values(space, A.matrix(), w, options);
  });
  if (!is_finite(given)) {
    verdict.holds("refuses NaN and infinity", thrown.any && thrown.kind == ErrorKind::argument, thrown.message);
    return;
  }
  verdict.holds("does not throw", !thrown.any, thrown.message);
  if (thrown.any || !world.root()) return;
  verdict.holds("V is written alone", V.rest_untouched());
  verdict.holds("converges", report.converged);
  if (!report.converged) return;
  judge<T>(verdict, given, truth_of(given), {values_of<T>(w), V.read()}, report.accuracy == JacobiAccuracy::relative,
           vectors);
}

void draw_batch(Random& random, Case& one) {
  draw_matrix(random, one);
  one.add_knob("neighbours", random.below(6));
  one.add_knob("accuracy", random.any_of(0L, 0L, 2L));
}
template <Scalar T> void run_batched(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto n = static_cast<std::size_t>(given.rows);
  const auto host = host_of<T>(given);
  const eigen::JacobiBatchedOptions options{.accuracy = static_cast<JacobiAccuracy>(one.knob("accuracy")),
                                            .upper = one.knob("upper") != 0};
  eigen::JacobiBatchedReport report;
  // The matrix with its reverse and multiples for neighbours; the one at `at` is the matrix itself.
  const auto computed = [&](const ExecutionSpace& space, std::size_t count, std::size_t at) {
    const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> A("heddle::hunt::A", n, n, count);
    const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> V("heddle::hunt::V", n, n, count);
    const Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace> w("heddle::hunt::w", n, count);
    const auto mirror = Kokkos::create_mirror_view(A);
    for (std::size_t b = 0; b < count; ++b) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i)
          mirror(i, j, b) = b == at ? host(i, j) : i == j ? T(static_cast<Real<T>>(b + i)) : T(Real<T>(0.5));
      }
    }
    Kokkos::deep_copy(A, mirror);
    report = eigen::jacobi_batched(space, A, w, V, options);
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
    Kokkos::deep_copy(mirror, V);
    Found<T> found;
    for (std::size_t i = 0; i < n; ++i) found.w.push_back(static_cast<double>(values(i, at)));
    found.V = test::host_matrix<T>(given.rows, given.rows, [&](Index i, Index j) {
      return mirror(static_cast<std::size_t>(i), static_cast<std::size_t>(j), at);
    });
    return found;
  };
  const auto count = static_cast<std::size_t>(one.knob("neighbours")) + 1;
  const auto alone = computed(one_thread(), 1, 0);
  const bool converged = report.converged();
  const auto found = computed(ExecutionSpace(), count, count / 2);
  if (!is_finite(given)) {
    verdict.holds("NaN and infinity are counted", !converged && report.not_converged == 1);
    return;
  }
  verdict.holds("bits do not depend on neighbours", found.w == alone.w && difference(found.V, alone.V).empty(),
                difference(found.V, alone.V));
  verdict.holds("converges", converged);
  if (!converged || !world.root()) return;
  const Truth truth = truth_of(given);
  // `automatic` keeps relative accuracy where A is positive definite, which the scaled matrix says is known.
  judge<T>(verdict, given, truth, found, options.accuracy == JacobiAccuracy::automatic && truth.condition > 0, true);
}

void draw_ranks(Random& random, Case& one) {
  draw_matrix(random, one);
  one.add_knob("block", on_host ? random.any_of(0L, 1L, 2L, 3L) : random.any_of(0L, 8L, 16L));
  one.add_knob("place A", random.below(100));
  one.add_knob("place V", random.below(100));
}
template <Scalar T> void run_distributed(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto V = distributed<T>(world.all, given.rows, given.columns, one.knob("place V"));
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::hunt::w", static_cast<std::size_t>(given.rows));
  JacobiOptions options;
  options.block = static_cast<int>(one.knob("block"));
  eigen::JacobiReport report;
  const Thrown thrown = thrown_by([&] { report = eigen::jacobi(world.all, A, w, V, options); });
  if (!is_finite(given)) {
    verdict.holds("refuses NaN and infinity", thrown.any && thrown.kind == ErrorKind::argument, thrown.message);
    return;
  }
  verdict.holds("does not throw", !thrown.any, thrown.message);
  if (thrown.any) return;
  const auto vectors = gather(V, 0);
  verdict.holds("converges", report.converged);
  if (!report.converged || !world.root()) return;
  judge<T>(verdict, given, truth_of(given), {values_of<T>(w), vectors}, false, true);
}

}  // namespace

void draw_eigen(Random& random, Case& one) {
  draw_one(random, one);
}
HEDDLE_HUNT_RUN(eigen, run_jacobi)
void draw_eigen_batched(Random& random, Case& one) {
  draw_batch(random, one);
}
HEDDLE_HUNT_RUN(eigen_batched, run_batched)
void draw_eigen_ranks(Random& random, Case& one) {
  draw_ranks(random, one);
}
HEDDLE_HUNT_RUN(eigen_ranks, run_distributed)

}  // namespace heddle::hunt
