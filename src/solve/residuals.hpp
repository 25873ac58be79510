// What is left of right-hand sides, and elements of distributed matrices on every rank.
#pragma once

#include "solve/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// |x|.
template <Scalar T> KOKKOS_INLINE_FUNCTION double magnitude(const T& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::hypot(real_of<double>(x), imaginary_of<double>(x));
  } else {
    return Kokkos::abs(static_cast<double>(x));
  }
}

/// The larger of |real| and |imaginary|; a NaN where either is.
template <Scalar T> KOKKOS_INLINE_FUNCTION double part_size(const T& x) {
  const double re = Kokkos::abs(real_of<double>(x));
  const double im = Kokkos::abs(imaginary_of<double>(x));
  return re > im || re != re ? re : im;
}

/// R = B - A X, each element rounded once. B, X and R have one placement, in blocks of whole columns; A has any.
/// Collective. Bits: reproducible. Cost: exact::gemv() for each column.
template <Scalar T>
void exact_residuals(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                     const PlacedMatrix<T>& R);

struct BackwardErrors {
  double normwise = 0.0;       ///< max_j |R_j| / (|A| |X_j| + |B_j|), in norms of infinity.
  double componentwise = 0.0;  ///< max_ij |R|_ij / (|A| |X| + |B|)_ij.
};
/// Of residuals R, placed as above. Complex numbers count by their absolute values. Collective. Bits: none.
template <Scalar T>
[[nodiscard]] BackwardErrors backward_errors(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B,
                                             const PlacedMatrix<T>& X, const PlacedMatrix<T>& R);

/// The sums over j of |a_ij| sizes[j], for every row i of the matrix, on every rank, in double precision. Collective.
template <Scalar T>
[[nodiscard]] std::vector<double> sizes_of_rows(const PlacedMatrix<T>& A, const std::vector<double>& sizes);

/// Column j of a matrix whose blocks have whole columns, on every rank. Collective.
template <Scalar T> [[nodiscard]] std::vector<T> column_of(const PlacedMatrix<T>& M, Index j);
/// Sets it, from what every rank has.
template <Scalar T> void set_column(const PlacedMatrix<T>& M, Index j, const std::vector<T>& column);

/// The diagonal of a square matrix, on every rank. Collective.
template <Scalar T> [[nodiscard]] std::vector<T> diagonal_of(const PlacedMatrix<T>& A);

}  // namespace heddle::impl
