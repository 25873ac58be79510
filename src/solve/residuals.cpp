#include "solve/residuals.hpp"

#include "core/instantiate.hpp"
#include "solve/over_rows.hpp"
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace heddle::impl {
namespace {

// 0 / 0 is no error.
double ratio(double error, double size) {
  return error == 0 ? 0.0 : error / size;
}
double larger_of(double one, double other) {
  return std::isnan(one) || one > other ? one : other;
}

}  // namespace

template <Scalar T> std::vector<double> sizes_of_rows(const PlacedMatrix<T>& A, const std::vector<double>& sizes) {
  const auto factors = of_local_columns(A, sizes);
  const Elements<T> a(A.local());
  return over_rows<Added>(
      A, "heddle::solve::sizes", KOKKOS_LAMBDA(Index i, Index j) { return magnitude(a(i, j)) * factors(j); });
}

template <Scalar T> std::vector<T> column_of(const PlacedMatrix<T>& M, Index j) {
  const OptionalRanks& ranks = M.ranks();
  std::vector<T> column(static_cast<std::size_t>(M.rows()));
  const int owner = M.placement().owner(0, j);
  if (ranks.rank() == owner) {
    const auto local = Kokkos::subview(M.local(), Kokkos::ALL, M.placement().column_axis().local(j));
    Kokkos::deep_copy(ranks.space(),
                      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(column.data(), column.size()),
                      Kokkos::View<T*, MemorySpace>(local.data(), column.size()));
    ranks.space().fence("heddle::solve::column");
  }
  ranks.broadcast(std::span<T>(column), owner);
  return column;
}

template <Scalar T> void set_column(const PlacedMatrix<T>& M, Index j, const std::vector<T>& column) {
  if (M.ranks().rank() != M.placement().owner(0, j)) return;
  const auto local = Kokkos::subview(M.local(), Kokkos::ALL, M.placement().column_axis().local(j));
  const ExecutionSpace& space = M.space();
  Kokkos::deep_copy(space, Kokkos::View<T*, MemorySpace>(local.data(), column.size()),
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(column.data(), column.size()));
  space.fence("heddle::solve::column");  // `column` is read until then.
}

template <Scalar T>
void exact_residuals(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                     const PlacedMatrix<T>& R) {
  if (A.ranks().comm() == nullptr) {
    copy_elements<T>(A.space(), "heddle::solve::copy", B.local(), R.local());
    for (Index j = 0; j < X.columns(); ++j) {
      exact::gemv(A.space(), Operation::none, T(-1), A.local(), Kokkos::subview(X.local(), Kokkos::ALL, j), T(1),
                  Kokkos::subview(R.local(), Kokkos::ALL, j));
    }
    return;
  }
  A.space().fence("heddle::solve::residuals");
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    std::vector<T> r = column_of(B, j);
    exact::gemv<T>(*A.ranks().comm(), Operation::none, T(-1), A.distributed(), x, T(1), r);
    set_column(R, j, r);
  }
}

template <Scalar T>
BackwardErrors backward_errors(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                               const PlacedMatrix<T>& R) {
  BackwardErrors errors;
  if (X.rows() == 0) return errors;
  const std::vector<double> of_a = sizes_of_rows(A, std::vector<double>(static_cast<std::size_t>(A.columns()), 1.0));
  const double norm = *std::max_element(of_a.begin(), of_a.end());
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    const std::vector<T> b = column_of(B, j);
    const std::vector<T> r = column_of(R, j);
    std::vector<double> sizes(x.size());
    std::transform(x.begin(), x.end(), sizes.begin(), magnitude<T>);
    const std::vector<double> sums = sizes_of_rows(A, sizes);
    double of_x = 0;
    double of_b = 0;
    double of_r = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      of_x = larger_of(sizes[i], of_x);
      of_b = larger_of(magnitude(b[i]), of_b);
      of_r = larger_of(magnitude(r[i]), of_r);
      errors.componentwise = larger_of(ratio(magnitude(r[i]), sums[i] + magnitude(b[i])), errors.componentwise);
    }
    errors.normwise = larger_of(ratio(of_r, norm * of_x + of_b), errors.normwise);
  }
  return errors;
}

template <Scalar T> std::vector<T> diagonal_of(const PlacedMatrix<T>& A) {
  const OptionalRanks& ranks = A.ranks();
  std::vector<T> mine(static_cast<std::size_t>(A.rows()), T(0));
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  if (rows > 0 && columns > 0) {
    // For each local column the diagonal's local row, if it is here.
    std::vector<Index> local_row(static_cast<std::size_t>(columns), -1);
    const CyclicAxis& axis = A.placement().row_axis();
    for (Index j = 0; j < columns; ++j) {
      const Index global = A.global_column(j);
      if (axis.owner(global) == A.grid_row()) local_row[static_cast<std::size_t>(j)] = axis.local(global);
    }
    const auto where = device_copy(ranks.space(), local_row, "heddle::solve::where");
    const Kokkos::View<T*, MemorySpace> found(
        Kokkos::view_alloc(ranks.space(), Kokkos::WithoutInitializing, "heddle::solve::diagonal"),
        static_cast<std::size_t>(columns));
    const Elements<T> a(A.local());
    Kokkos::parallel_for(
        "heddle::solve::diagonal",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(ranks.space(), 0, columns),
        KOKKOS_LAMBDA(Index j) { found(j) = where(j) >= 0 ? a(where(j), j) : T(0); });
    const auto host = host_copy(ranks.space(), found);
    for (Index j = 0; j < columns; ++j) {
      if (local_row[static_cast<std::size_t>(j)] >= 0) mine[static_cast<std::size_t>(A.global_column(j))] = host(j);
    }
  }
  // Each element is of one rank; the others have zeros, of which NaNs and signs of zeros must know nothing.
  std::vector<T> all(mine.size() * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(std::span<const T>(mine), std::span<T>(all));
  for (Index k = 0; k < A.rows(); ++k) {
    const auto owner = static_cast<std::size_t>(A.placement().owner(k, k));
    mine[static_cast<std::size_t>(k)] = all[owner * mine.size() + static_cast<std::size_t>(k)];
  }
  return mine;
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template std::vector<double> sizes_of_rows<T>(const PlacedMatrix<T>&, const std::vector<double>&);                 \
  template void exact_residuals<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&,           \
                                   const PlacedMatrix<T>&);                                                          \
  template BackwardErrors backward_errors<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&, \
                                             const PlacedMatrix<T>&);                                                \
  template std::vector<T> column_of<T>(const PlacedMatrix<T>&, Index);                                               \
  template void set_column<T>(const PlacedMatrix<T>&, Index, const std::vector<T>&);                                 \
  template std::vector<T> diagonal_of<T>(const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
