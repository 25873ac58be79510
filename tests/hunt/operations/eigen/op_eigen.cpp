// Eigensystems by all methods, in batches and over all ranks.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include "hunt/operations/eigen/spectra.hpp"
#include "support/on_host.hpp"
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

// Spoil the triangle that must not be read.
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

// Draw the block size; on GPUs blocks have 8 or 16 columns.
void draw_block(Random& random, Case& one) {
  one.add_knob("block", test::on_host ? random.any_of(0L, 1L, 2L, 3L) : random.any_of(0L, 8L, 16L));
}

void draw_one(Random& random, Case& one) {
  draw_matrix(random, one);
  one.add_knob("method", random.below(6));
  one.add_knob("accuracy", random.any_of(0L, 0L, 2L));
  one.add_knob("values only", random.below(2));
  one.add_knob("reproducible", random.below(2));
  draw_block(random, one);
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
  judge_eigen<T>(verdict, given, eigen_truth(given), {values_of<T>(w), V.read()},
                 report.accuracy == JacobiAccuracy::relative, vectors);
}

void draw_batch(Random& random, Case& one) {
  draw_matrix(random, one);
  one.add_knob("reproducible", random.below(2));
  one.add_knob("neighbours", random.below(6));
  one.add_knob("accuracy", random.any_of(0L, 0L, 2L));
}
// Draw matrices large enough for block columns. Parts coupled in few rows have eigenvalues known to many digits; other
// matrices are drawn too.
void draw_large_batch(Random& random, Case& one) {
  const Index n = random.one_in(6) ? random.between(81, 130) : random.between(65, 80);
  Array& A = one.add("A", 'n', n, 'n', n);
  if (random.one_in(3)) {
    fill_hermitian(random, one.type, A);
  } else {
    fill_hermitian_parts(random, one.type, A);
  }
  if (random.one_in(50)) A.at(n / 2, n / 2) = random.any_of(1.0, -1.0) * std::numeric_limits<double>::infinity();
  one.add_knob("upper", random.below(2));
  one.add_knob("reproducible", random.below(2));
  one.add_knob("neighbours", random.below(4));
  one.add_knob("accuracy", random.any_of(0L, 0L, 2L));
}
// Return the signs of all real and imaginary parts, zeros included.
template <Scalar T> std::vector<bool> signs_of(const HostMatrix<T>& A) {
  std::vector<bool> signs;
  for (std::size_t at = 0; at < A.size(); ++at) {
    signs.push_back(std::signbit(Kokkos::real(A.data()[at])));
    signs.push_back(std::signbit(Kokkos::imag(A.data()[at])));
  }
  return signs;
}
template <Scalar T> void run_batched(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto n = static_cast<std::size_t>(given.rows);
  const auto host = host_of<T>(given);
  const eigen::JacobiBatchedOptions options{.accuracy = static_cast<JacobiAccuracy>(one.knob("accuracy")),
                                            .upper = one.knob("upper") != 0,
                                            .reproducible = one.knob("reproducible") != 0};
  eigen::JacobiBatchedReport report;
  // Solve the matrix, at index `at`, with simple matrices as neighbours.
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
    FoundEigen<T> found;
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
  // On NVIDIA GPUs the bits of large matrices are independent of neighbours only if `reproducible` is set.
  if (test::on_host || n <= 64 || options.reproducible) {
    verdict.holds("bits do not depend on neighbours", found.w == alone.w && difference(found.V, alone.V).empty(),
                  difference(found.V, alone.V));
    verdict.holds("signs of zeros do not depend on neighbours", signs_of(found.V) == signs_of(alone.V));
  }
  verdict.holds("converges", converged);
  if (!converged || !world.root()) return;
  const EigenTruth truth = eigen_truth(given);
  // `automatic` keeps relative accuracy if A is positive definite; a known condition of the scaled matrix shows that.
  judge_eigen<T>(verdict, given, truth, found, options.accuracy == JacobiAccuracy::automatic && truth.condition > 0,
                 true);
}

void draw_ranks(Random& random, Case& one) {
  draw_matrix(random, one);
  draw_block(random, one);
  one.add_knob("place A", random.below(100));
  one.add_knob("place V", random.below(100));
  one.add_knob("reproducible", random.below(2));
}
template <Scalar T> void run_distributed(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto V = distributed<T>(world.all, given.rows, given.columns, one.knob("place V"));
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::hunt::w", static_cast<std::size_t>(given.rows));
  JacobiOptions options;
  options.block = static_cast<int>(one.knob("block"));
  options.reproducible = one.knob("reproducible") != 0;
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
  judge_eigen<T>(verdict, given, eigen_truth(given), {values_of<T>(w), vectors}, false, true);
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
void draw_eigen_batched_large(Random& random, Case& one) {
  draw_large_batch(random, one);
}
HEDDLE_HUNT_RUN(eigen_batched_large, run_batched)
void draw_eigen_ranks(Random& random, Case& one) {
  draw_ranks(random, one);
}
HEDDLE_HUNT_RUN(eigen_ranks, run_distributed)

}  // namespace heddle::hunt
