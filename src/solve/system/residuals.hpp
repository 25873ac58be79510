// Exact residuals of linear systems, and elements of distributed matrices on every rank.
#pragma once

#include "core/hypotenuse.hpp"
#include "exact/products/size.hpp"
#include "solve/grid/placed_matrix.hpp"

#include <cstdint>
#include <vector>

namespace heddle::impl {

using exact::impl::Size;
using exact::impl::size_of;

/// 2^k, a normal number.
KOKKOS_INLINE_FUNCTION double power_of_two(Index k) {
  return exact::bits::Format<double>::from_bits(static_cast<std::uint64_t>(k + 1023) << 52U);
}
/// x 2^k, |k| up to 6000, rounded once: steps of up to 2^1000 come first, so that only the last number can be denormal,
/// unless the result is zero.
KOKKOS_INLINE_FUNCTION double times_power(double x, Index k) {
  constexpr Index step = 1000;
  const Index whole = k / step;
  x *= power_of_two(k - step * whole);
  for (Index i = 0; i < whole; ++i) x *= 0x1p1000;
  for (Index i = 0; i > whole; --i) x *= 0x1p-1000;
  return x;
}

/// |factor x|, factor > 0. A power of two adds no rounding to those of |x|.
template <Scalar T> KOKKOS_INLINE_FUNCTION double magnitude(const T& x, double factor = 1.0) {
  if constexpr (is_complex<T>) {
    return hypotenuse(factor * real_of<double>(x), factor * imaginary_of<double>(x));
  } else {
    return Kokkos::abs(factor * static_cast<double>(x));
  }
}

/// The larger of |real| and |imaginary|; a NaN if either is.
template <Scalar T> KOKKOS_INLINE_FUNCTION double part_size(const T& x) {
  const double re = Kokkos::abs(real_of<double>(x));
  const double im = Kokkos::abs(imaginary_of<double>(x));
  return re > im || re != re ? re : im;
}

/// R_j = 2^p (B - A X)_j for each column j, each element rounded once; returns p of each column. It is 0 unless
/// elements could overflow, or all be so small that their rounded values would not represent them. B, X and R have one
/// placement, in blocks of whole columns; A has any. Collective. Bits: reproducible. Cost: exact::gemm() on one rank,
/// exact::gemv() for each column over several, and a pass over A.
template <Scalar T>
[[nodiscard]] std::vector<Index> exact_residuals(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B,
                                                 const PlacedMatrix<T>& X, const PlacedMatrix<T>& R);

struct BackwardErrors {
  double normwise = 0.0;       ///< max_j |R_j| / (|A| |X_j| + |B_j|), in norms of infinity.
  double componentwise = 0.0;  ///< max_ij |R|_ij / (|A| |X| + |B|)_ij.
  /// max_j |R_j| / (|A| max(|X_j|, m) + |B_j|), m being the smallest normal number: roundings of numbers below it have
  /// no relative error.
  double above_underflow = 0.0;
};
/// Backward errors from residuals R and their powers, as above. Complex numbers count by their absolute values; no size
/// over- or underflows. Collective. Bits: no promise.
template <Scalar T>
[[nodiscard]] BackwardErrors backward_errors(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B,
                                             const PlacedMatrix<T>& X, const PlacedMatrix<T>& R,
                                             const std::vector<Index>& powers);

/// Return the sums over j of |a_ij| sizes[j] for every row i of the matrix, on every rank, in double precision.
/// Collective.
template <Scalar T>
[[nodiscard]] std::vector<double> sizes_of_rows(const PlacedMatrix<T>& A, const std::vector<double>& sizes);

/// Return column j of a matrix whose blocks have whole columns, on every rank. Collective.
template <Scalar T> [[nodiscard]] std::vector<T> column_of(const PlacedMatrix<T>& M, Index j);
/// Sets column j from values that every rank has.
template <Scalar T> void set_column(const PlacedMatrix<T>& M, Index j, const std::vector<T>& column);

/// Return the diagonal of a square matrix, on every rank. Collective.
template <Scalar T> [[nodiscard]] std::vector<T> diagonal_of(const PlacedMatrix<T>& A);

}  // namespace heddle::impl
