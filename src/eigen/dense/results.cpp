// Lengths of columns, and eigenvalues in order with their vectors.
#include "eigen/dense/results.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"

#include <cmath>

namespace heddle::eigen::impl {
namespace {

template <Scalar T> KOKKOS_INLINE_FUNCTION double square_of(const T& x) {
  if constexpr (is_complex<T>) {
    const double re = x.real();
    const double im = x.imag();
    return re * re + im * im;
  } else {
    return static_cast<double>(x) * static_cast<double>(x);
  }
}

}  // namespace

template <Scalar T> std::vector<double> column_norms(const Scratch& scratch, const MatrixView<T>& A) {
  const ExecutionSpace& space = scratch.space();
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = A.extent(1);
  const Values<double> squares = scratch.values<double>("heddle::eigen::squares", n);
  Kokkos::parallel_for(
      "heddle::eigen::column_norms", column_teams(space, static_cast<Index>(n)), KOKKOS_LAMBDA(const ColumnTeam& team) {
        const Index j = team.league_rank();
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, m), [&](Index i, double& part) { part += square_of(A(i, j)); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { squares(j) = sum; });
      });
  std::vector<double> norms = to_host(space, "heddle::eigen::column_norms", squares);
  for (double& norm : norms) {
    norm = std::sqrt(norm);
  }
  return norms;
}

template <Scalar T>
void gather_vectors(const Scratch& scratch, const MatrixView<T>& A, const std::vector<Index>& row,
                    const std::vector<Index>& order, const std::vector<double>& factor, const StridedMatrix<T>& V) {
  const auto rows = on_device(scratch, "heddle::eigen::rows", row);
  const auto at = on_device(scratch, "heddle::eigen::order", order);
  const auto factors = on_device(scratch, "heddle::eigen::factors", factor);
  const bool moved = !row.empty();
  heddle::impl::for_each_element(
      scratch.space(), "heddle::eigen::vectors", static_cast<Index>(A.extent(0)), static_cast<Index>(order.size()),
      KOKKOS_LAMBDA(Index i, Index j) { V(moved ? rows(i) : i, j) = A(i, at(j)) * static_cast<Real<T>>(factors(j)); });
}

template <RealScalar R>
void store_values(const Scratch& scratch, const std::vector<double>& values, const std::vector<Index>& order,
                  int exponent, const StridedVector<R>& w) {
  const ExecutionSpace& space = scratch.space();
  std::vector<R> sorted;
  sorted.reserve(order.size());
  for (const Index at : order) {
    sorted.push_back(static_cast<R>(std::ldexp(values[static_cast<std::size_t>(at)], exponent)));
  }
  const auto on_its_way = on_device(scratch, "heddle::eigen::values", sorted);
  Kokkos::parallel_for(
      "heddle::eigen::values", Kokkos::RangePolicy<ExecutionSpace>(space, 0, sorted.size()),
      KOKKOS_LAMBDA(Index i) { w(i) = on_its_way(i); });
  space.fence("heddle::eigen::values");
}

template <Scalar T>
void store_sorted(const Scratch& scratch, const Solved<T>& solved, int exponent, const StridedVector<Real<T>>& w,
                  const StridedMatrix<T>* V) {
  const std::vector<Index> order = ascending(solved.values);
  store_values<Real<T>>(scratch, solved.values, order, exponent, w);
  if (V != nullptr) {
    std::vector<double> factors;
    factors.reserve(order.size());
    for (const Index at : order) {
      factors.push_back(solved.factors[static_cast<std::size_t>(at)]);
    }
    gather_vectors<T>(scratch, solved.vectors, solved.rows, order, factors, *V);
    scratch.space().fence("heddle::eigen::vectors");
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                         \
  template std::vector<double> column_norms<T>(const Scratch&, const MatrixView<T>&);                 \
  template void store_sorted<T>(const Scratch&, const Solved<T>&, int, const StridedVector<Real<T>>&, \
                                const StridedMatrix<T>*);                                             \
  template void gather_vectors<T>(const Scratch&, const MatrixView<T>&, const std::vector<Index>&,    \
                                  const std::vector<Index>&, const std::vector<double>&, const StridedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

template void store_values<float>(const Scratch&, const std::vector<double>&, const std::vector<Index>&, int,
                                  const StridedVector<float>&);
template void store_values<double>(const Scratch&, const std::vector<double>&, const std::vector<Index>&, int,
                                   const StridedVector<double>&);

}  // namespace heddle::eigen::impl
