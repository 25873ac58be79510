// Powers of two for the rows and columns of a matrix, and scaling by them.
#include "solve/system/equilibration.hpp"

#include "core/instantiate.hpp"
#include "exact/products/quotient.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/system/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl {
namespace {

using Exponents = std::vector<Index>;
using DeviceExponents = Kokkos::View<Index*, MemorySpace>;

// Return the largest part of each row, on every rank.
template <Scalar T> std::vector<double> largest_of_rows(const PlacedMatrix<T>& A) {
  const Elements<T> a(A.local());
  return over_rows<Larger>(
      A, "heddle::solve::largest_of_rows", KOKKOS_LAMBDA(Index i, Index j) { return part_size(a(i, j)); });
}
// Return the largest part of each column, with rows scaled.
template <Scalar T> std::vector<double> largest_of_columns(const PlacedMatrix<T>& A, const Exponents& exponents) {
  const DeviceExponents by_row = of_local_rows(A, exponents);
  const Elements<T> a(A.local());
  return over_columns<Larger>(
      A, "heddle::solve::largest_of_columns",
      KOKKOS_LAMBDA(Index i, Index j) { return times_power(part_size(a(i, j)), by_row(i)); });
}

// Return for each column the e with 2^(e - 1) <= largest part < 2^e, with rows scaled; exponents may be beyond the
// range of double. A column of zeros has none.
template <Scalar T> Exponents exponents_of_columns(const PlacedMatrix<T>& A, const Exponents& exponents) {
  const DeviceExponents by_row = of_local_rows(A, exponents);
  const Elements<T> a(A.local());
  // Shift exponents above zero, which stands for a column of zeros.
  constexpr Index above = 10000;
  const std::vector<double> found = over_columns<Larger>(
      A, "heddle::solve::exponents_of_columns", KOKKOS_LAMBDA(Index i, Index j) {
        const double size = part_size(a(i, j));
        return size == 0 ? 0.0 : static_cast<double>(exact::impl::power_of(size) + 1 + by_row(i) + above);
      });
  Exponents result;
  for (const double exponent : found) {
    if (exponent == 0) return {};
    result.push_back(static_cast<Index>(exponent) - above);
  }
  return result;
}

// Return minus the mean exponents of rows, or of columns, over elements that are not zero, scaled by the exponents
// `other` of the columns or rows.
template <bool of_rows, Scalar T>
Exponents balanced(const PlacedMatrix<T>& A, const Exponents& other, const std::vector<double>& counts) {
  const DeviceExponents by = of_rows ? of_local_columns(A, other) : of_local_rows(A, other);
  const Elements<T> a(A.local());
  const auto exponent = KOKKOS_LAMBDA(Index i, Index j) {
    const double size = part_size(a(i, j));
    return size == 0 ? 0.0 : static_cast<double>(exact::impl::power_of(size) + by(of_rows ? j : i));
  };
  // The sums are of whole numbers and have no roundings.
  std::vector<double> sums;
  if constexpr (of_rows) {
    sums = over_rows<Added>(A, "heddle::solve::exponents_by_row", exponent);
  } else {
    sums = over_columns<Added>(A, "heddle::solve::exponents_by_column", exponent);
  }
  Exponents result(sums.size());
  std::transform(sums.begin(), sums.end(), counts.begin(), result.begin(),
                 [](double sum, double count) { return static_cast<Index>(std::floor(0.5 - sum / count)); });
  return result;
}

}  // namespace

template <Scalar T>
Equilibration<T>::Equilibration(const PlacedMatrix<T>& A, bool positive_definite)
    : rows_(static_cast<std::size_t>(A.rows()), 0), columns_(static_cast<std::size_t>(A.columns()), 0) {
  if (A.rows() == 0) return;
  if (positive_definite) {
    std::vector<double> sizes;
    for (const T& x : diagonal_of(A)) sizes.push_back(real_of<double>(x));
    if (!are_sizes(sizes) || !want_scaling<T>(sizes)) return;
    std::transform(sizes.begin(), sizes.end(), rows_.begin(), half_exponent_of_size);
    columns_ = rows_;
    scales_ = true;
    return;
  }
  const std::vector<double> of_rows = largest_of_rows(A);
  if (!are_sizes(of_rows)) return;
  const bool by_rows = want_scaling<T>(of_rows);
  const Exponents rows = by_rows ? exponents_of(of_rows) : Exponents(of_rows.size(), 0);
  const std::vector<double> of_columns = largest_of_columns(A, rows);
  constexpr double safe = 0x1p-900;
  if (std::any_of(of_columns.begin(), of_columns.end(), [](double size) { return size < safe; })) {
    Exponents exponents = exponents_of_columns(A, rows);
    if (exponents.empty()) return;
    rows_ = rows;
    for (Index& exponent : exponents) exponent = -exponent;
    columns_ = std::move(exponents);
    scales_ = true;
    return;
  }
  if (!are_sizes(of_columns)) return;
  const bool by_columns = are_apart(of_columns);
  if (!by_rows && !by_columns) return;
  rows_ = rows;
  if (by_columns) columns_ = exponents_of(of_columns);
  scales_ = true;
}

template <Scalar T> Equilibration<T> Equilibration<T>::by_means(const PlacedMatrix<T>& A) {
  Equilibration found(A.rows());
  if (A.rows() == 0) return found;
  const Elements<T> a(A.local());
  const auto count = KOKKOS_LAMBDA(Index i, Index j) {
    return part_size(a(i, j)) == 0 ? 0.0 : 1.0;
  };
  const std::vector<double> in_rows = over_rows<Added>(A, "heddle::solve::nonzeros_by_row", count);
  const std::vector<double> in_columns = over_columns<Added>(A, "heddle::solve::nonzeros_by_column", count);
  if (!are_sizes(in_rows) || !are_sizes(in_columns) || !are_sizes(largest_of_rows(A))) return found;
  Exponents rows;
  Exponents columns(in_columns.size(), 0);
  constexpr int most = 100;
  for (int sweep = 0; sweep < most; ++sweep) {
    const Exponents before = std::exchange(rows, balanced<true>(A, columns, in_rows));
    if (rows == before) break;
    columns = balanced<false>(A, rows, in_columns);
  }
  columns = exponents_of_columns(A, rows);
  for (Index& exponent : columns) exponent = -exponent;
  found.rows_ = std::move(rows);
  found.columns_ = std::move(columns);
  found.scales_ = true;
  return found;
}

template <Scalar T> void scale_by(const PlacedMatrix<T>& M, const Exponents& rows, const Exponents& columns) {
  const auto local_rows = static_cast<Index>(M.local().extent(0));
  const auto local_columns = static_cast<Index>(M.local().extent(1));
  if (local_rows == 0 || local_columns == 0) return;
  const DeviceExponents by_row = of_local_rows(M, rows);
  const DeviceExponents by_column = of_local_columns(M, columns);
  const Elements<T> m(M.local());
  for_each_element(
      M.space(), "heddle::solve::equilibrate", local_rows, local_columns,
      KOKKOS_LAMBDA(Index i, Index j) { m(i, j) = times_power_of_two(m(i, j), by_row(i) + by_column(j)); });
}

template <Scalar T> bool scales_exactly(const PlacedMatrix<T>& M, const Exponents& rows, const Exponents& columns) {
  const DeviceExponents by_row = of_local_rows(M, rows);
  const DeviceExponents by_column = of_local_columns(M, columns);
  const Elements<T> m(M.local());
  const std::vector<double> rounded = over_rows<Larger>(
      M, "heddle::solve::scales_exactly", KOKKOS_LAMBDA(Index i, Index j) {
        const Index power = by_row(i) + by_column(j);
        const T scaled = times_power_of_two(m(i, j), power);
        return times_power_of_two(scaled, -power) == m(i, j) ? 0.0 : 1.0;
      });
  return std::all_of(rounded.begin(), rounded.end(), [](double found) { return found == 0.0; });
}

template <Scalar T> bool is_real(const PlacedMatrix<T>& M) {
  if constexpr (!is_complex<T>) return true;
  const Elements<T> m(M.local());
  const std::vector<double> found = over_rows<Larger>(
      M, "heddle::solve::is_real",
      KOKKOS_LAMBDA(Index i, Index j) { return imaginary_of<double>(m(i, j)) == 0.0 ? 0.0 : 1.0; });
  return std::all_of(found.begin(), found.end(), [](double size) { return size == 0.0; });
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template class Equilibration<T>;                                                                               \
  template void scale_by<T>(const PlacedMatrix<T>&, const std::vector<Index>&, const std::vector<Index>&);       \
  template bool scales_exactly<T>(const PlacedMatrix<T>&, const std::vector<Index>&, const std::vector<Index>&); \
  template bool is_real<T>(const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
