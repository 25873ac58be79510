// Graded positive definite matrices: those of float in double, those of double on the host with an exponent for each
// row.
#include "eigen/pencils/graded.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/pencils/graded_problem.hpp"

#include <type_traits>
#include <vector>

namespace heddle::eigen::impl {
namespace {

using heddle::impl::for_each_element;

// Solve in double and round the results.
template <Scalar T>
void solve_wider(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                 const StridedMatrix<T>* V, JacobiOptions options, JacobiReport& report) {
  using R = Real<T>;
  using W = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  const auto n = static_cast<Index>(A.extent(0));
  options.tolerance = static_cast<double>(criterion_for<T>(options.tolerance, n).tolerance);
  options.lower_precision = false;
  // Kept here: what strided() gives does not own it.
  const Dense<W> wide = whole<W, T>(space, A, options.upper);
  const Values<double> values(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::wide_values"),
                              static_cast<std::size_t>(n));
  const Dense<W> wide_vectors = V != nullptr ? dense<W>(space, "heddle::eigen::wide_vectors", n, n) : Dense<W>();
  const StridedMatrix<W> vectors = strided(wide_vectors);
  if (options.warm_start) {
    const StridedMatrix<T> given = *V;
    for_each_element(
        space, "heddle::eigen::wide_vectors", n, n,
        KOKKOS_LAMBDA(Index i, Index j) { wide_vectors(i, j) = W(given(i, j)); });
  }
  report = compiled::jacobi<W>(space, strided(Kokkos::View<const W**, Kokkos::LayoutLeft, MemorySpace>(wide)),
                               strided(values), V != nullptr ? &vectors : nullptr, options);
  Kokkos::parallel_for(
      "heddle::eigen::values", Kokkos::RangePolicy<ExecutionSpace>(space, 0, n),
      KOKKOS_LAMBDA(Index i) { w(i) = static_cast<R>(values(i)); });
  if (V != nullptr) {
    copy_rounded<T, W>(space, wide_vectors, *V);
  }
  space.fence("heddle::eigen::solve_wider");
}

// Solve matrices of double; return false if A is not positive definite.
template <Scalar T>
bool solve_with_exponents(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                          const StridedMatrix<T>* V, const JacobiOptions& options, JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  const HostMatrix<T> host("heddle::eigen::graded", A.extent(0), A.extent(0));
  Kokkos::deep_copy(space, flat(host), flat(whole<T, T>(space, A, options.upper)));
  space.fence("heddle::eigen::graded");
  GradedProblem<T> columns(space, host);
  if (!columns.factor()) {
    return false;
  }
  const Criterion<R> criterion = criterion_for<T>(options.tolerance, n);
  const bool row_by_row = report.method == JacobiMethod::cyclic;
  const bool two_sided = row_by_row || options.method == JacobiMethod::round_robin;
  JacobiReport found = report;
  found.accuracy = JacobiAccuracy::relative;
  Solved<T> solved;
  solved.rows = columns.order();
  HostMatrix<T> vectors = columns.matrix();
  if (two_sided) {
    const std::size_t kept = V != nullptr ? A.extent(0) : 0;
    vectors = HostMatrix<T>("heddle::eigen::graded_vectors", kept, kept);
    GradedProblem<T> problem(space, host);
    problem.diagonalise(criterion, row_by_row, vectors, options, found);
    if (!problem.is_positive()) {
      return false;
    }
    solved.values = problem.diagonal();
    solved.factors.assign(solved.values.size(), 1.0);
  } else {
    columns.orthogonalise(criterion.tolerance, options, found);
    solved.values = columns.squares(solved.factors);
  }
  report = found;
  if (V != nullptr) {
    const Dense<T> found_vectors = dense<T>(space, "heddle::eigen::graded_vectors", n, n);
    Kokkos::deep_copy(space, flat(found_vectors), flat(vectors));
    solved.vectors = found_vectors;
  }
  store_sorted<T>(space, solved, 0, w, V);
  return true;
}

}  // namespace

template <Scalar T>
bool solve_graded(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                  const StridedMatrix<T>* V, const JacobiOptions& options, JacobiReport& report) {
  if constexpr (std::is_same_v<Real<T>, float>) {
    solve_wider<T>(space, A, w, V, options, report);
    return true;
  } else {
    return solve_with_exponents<T>(space, A, w, V, options, report);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template bool solve_graded<T>(const ExecutionSpace&, const StridedMatrix<const T>&, const StridedVector<Real<T>>&, \
                                const StridedMatrix<T>*, const JacobiOptions&, JacobiReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
