// Singular values and vectors of batches.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include "hunt/operations/eigen/spectra.hpp"
#include <heddle/eigen/svd.hpp>

namespace heddle::hunt {
namespace {

void draw_rectangle(Random& random, Case& one) {
  const bool large = random.one_in(12);
  const Index m = large ? random.between(17, 48) : random.extent(12);
  const Index n = large ? random.between(17, 48) : random.one_in(3) ? m : random.extent(12);
  Array& A = one.add("A", 'm', m, 'n', n);
  fill_rectangle(random, one.type, A);
  if (random.one_in(40)) sprinkle(random, one.type, A);
  one.add_knob("neighbours", random.below(6));
  one.add_knob("by rows", random.below(2));
  one.add_knob("values only", random.one_in(5) ? 1 : 0);
}

template <class T> using Together = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutStride, MemorySpace>;
// Return a batch with contiguous columns or rows, with gaps between them.
template <class T> Batch<T> batch_of(std::size_t m, std::size_t n, std::size_t count, bool by_rows) {
  const std::size_t row = by_rows ? n + 1 : 1;
  const std::size_t column = by_rows ? 1 : m + 2;
  return Batch<T>("heddle::hunt::batch", Kokkos::LayoutStride(m, row, n, column, count, (m + 2) * (n + 2)));
}

template <Scalar T> struct Found {
  std::vector<double> s;
  HostMatrix<T> U;
  HostMatrix<T> V;
  eigen::SvdBatchedReport report;
};

// Solve the matrix of the case, at index `at`, with simple matrices as neighbours.
template <Scalar T> Found<T> found_by(const ExecutionSpace& space, const Case& one, std::size_t count, std::size_t at) {
  const Array& given = one.array("A");
  const auto m = static_cast<std::size_t>(given.rows);
  const auto n = static_cast<std::size_t>(given.columns);
  const std::size_t k = std::min(m, n);
  const bool by_rows = one.knob("by rows") != 0;
  const Batch<T> A = batch_of<T>(m, n, count, by_rows);
  const Batch<T> U = batch_of<T>(m, k, count, by_rows);
  const Batch<T> V = batch_of<T>(n, k, count, !by_rows);
  const Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace> s("heddle::hunt::s", k, count);
  // Kokkos copies only contiguous views between host and device.
  const Together<T> together("heddle::hunt::together", m, n, count);
  const auto mirror = Kokkos::create_mirror_view(together);
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) {
        mirror(i, j, b) = b == at ? test::narrow<T>(given.at(static_cast<Index>(i), static_cast<Index>(j)))
                                  : T(static_cast<Real<T>>(i == j ? b + i : (i * j) % 3));
      }
    }
  }
  Kokkos::deep_copy(together, mirror);
  Kokkos::deep_copy(A, together);
  Found<T> found;
  found.report =
      one.knob("values only") != 0 ? eigen::svd_batched_values(space, A, s) : eigen::svd_batched(space, A, s, U, V);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s);
  for (std::size_t i = 0; i < k; ++i) found.s.push_back(static_cast<double>(values(i, at)));
  const auto one_of = [&](const Batch<T>& vectors) {
    const Together<T> copy("heddle::hunt::together", vectors.extent(0), vectors.extent(1), vectors.extent(2));
    Kokkos::deep_copy(copy, vectors);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), copy);
    return test::host_matrix<T>(static_cast<Index>(host.extent(0)), static_cast<Index>(k), [&](Index i, Index j) {
      return host(static_cast<std::size_t>(i), static_cast<std::size_t>(j), at);
    });
  };
  found.U = one_of(U);
  found.V = one_of(V);
  return found;
}

// Check the header's promises, with lower bounds in place of 2-norms.
template <Scalar T> void judge(Verdict& verdict, const Array& A, const Found<T>& found, bool vectors) {
  const SingularTruth truth = singular_truth(A);
  const double u = static_cast<double>(unit_roundoff<T>);
  const double ku = static_cast<double>(found.s.size()) * u;
  const double longest = static_cast<double>(std::max(A.rows, A.columns)) * u;
  const double normal = static_cast<double>(std::numeric_limits<Real<T>>::min());
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double most = static_cast<double>(std::numeric_limits<Real<T>>::max());
  const double norm = truth.values ? truth.norm : found.s.empty() ? 0 : found.s.front();
  const bool relative = truth.condition > 0 && truth.condition * ku < 1e-3;
  for (std::size_t i = 0; i < found.s.size(); ++i) {
    const std::string text = "singular value " + std::to_string(i) + " found " + shown(found.s[i]);
    verdict.holds("descending", found.s[i] >= 0 && (i == 0 || found.s[i] <= found.s[i - 1]), text);
    if (!truth.values || !(norm < most / 2)) continue;
    const Wide& expected = (*truth.values)[i];
    const double value = expected.to_double();
    const double error = (Wide(found.s[i]) - expected).absolute().to_double();
    const std::string both = text + ", expected " + shown(value);
    verdict.within("singular values, by the norm", error, 10 * ku * norm + 4 * smallest, both);
    if (relative && value > normal && value > std::ldexp(norm, -400)) {
      verdict.within("singular values, relative", error, 10 * ku * truth.condition * value, both);
    }
  }
  if (!vectors || found.s.empty()) return;
  const LongMatrix U(found.U);
  const LongMatrix V(found.V);
  verdict.within("orthogonality of U", departure(U), 10 * longest);
  verdict.within("orthogonality of V", departure(V), 10 * longest);
  if (!(norm < most / 2)) return;
  const LongMatrix residual = less_product(LongMatrix(A), times_diagonal(U, found.s), adjoint(V));
  verdict.within("residual", least_norm2(residual), 10 * longest * norm + 4 * smallest);
}

template <Scalar T> void run_svd(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const bool vectors = one.knob("values only") == 0;
  const auto count = static_cast<std::size_t>(one.knob("neighbours")) + 1;
  const Found<T> alone = found_by<T>(one_thread(), one, 1, 0);
  const Found<T> found = found_by<T>(ExecutionSpace(), one, count, count / 2);
  if (!is_finite(given)) {
    verdict.holds("NaN and infinity are counted", alone.report.not_converged == 1 && alone.report.first_failed == 0);
    verdict.holds("NaN and infinity harm no neighbour",
                  found.report.not_converged == 1 && found.report.first_failed == static_cast<Index>(count / 2));
    return;
  }
  const std::string different = difference(found.U, alone.U) + difference(found.V, alone.V);
  verdict.holds("bits do not depend on neighbours", found.s == alone.s && different.empty(), different);
  verdict.holds("converges", alone.report.converged() && found.report.converged());
  if (!alone.report.converged() || !world.root()) return;
  judge<T>(verdict, given, found, vectors);
}

}  // namespace

void draw_svd_batched(Random& random, Case& one) {
  draw_rectangle(random, one);
}
HEDDLE_HUNT_RUN(svd_batched, run_svd)

}  // namespace heddle::hunt
