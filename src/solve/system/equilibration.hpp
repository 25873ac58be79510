// Rows and columns brought to one size by powers of two.
#pragma once

#include "solve/grid/placed_matrix.hpp"
#include "solve/system/residuals.hpp"

#include <cstddef>
#include <vector>

namespace heddle::impl {

/// Powers of two for rows and columns of a matrix, so that the largest element of each row, and then of each column,
/// has a part in [1/2, 1), as in LAPACK's xGEEQU, or, for positive definite matrices, diagonal elements are in [1/4,
/// 1), as in xPOEQU. Scaling by them changes no digit except of numbers that become denormal.
///
/// Why: the errors of products by integers are bounded by rows and columns of their factors, not by elements. Small
/// elements in a row of L or U with large ones lose digits, which matter if a row or column has another size.
///
/// Bits: the exponents follow from A alone.
template <Scalar T> class Equilibration {
 public:
  /// Equilibrates A, in any placement. Nothing is scaled if sizes of rows, and then of columns, are within a factor of
  /// ten or so and far from the ends of the range (as LAPACK's xLAQGE), if one is zero or not finite, or if the
  /// diagonal of a positive definite matrix is not positive. Collective.
  Equilibration(const PlacedMatrix<T>& A, bool positive_definite);
  /// Powers by which the logarithms of all elements that are not zero have a least sum of squares (A. R. Curtis, J. K.
  /// Reid, "On the automatic scaling of matrices for Gaussian elimination", 1972), by rows and columns in turn, and
  /// with which the largest element of each column is as above. Zeros can hide from the powers above how much a row or
  /// column was scaled, but not from these. Nothing is scaled if a row or column is zero or not finite. Collective.
  /// Cost: up to 200 passes over A.
  [[nodiscard]] static Equilibration by_means(const PlacedMatrix<T>& A);
  /// No scaling of a matrix of this order.
  explicit Equilibration(Index order) : rows_(static_cast<std::size_t>(order), 0), columns_(rows_) {}
  /// This scaling after rows and columns have been scaled by `powers`.
  [[nodiscard]] Equilibration after(const std::vector<Index>& powers) const {
    Equilibration both = *this;
    for (std::size_t k = 0; k < powers.size(); ++k) {
      both.rows_[k] += powers[k];
      both.columns_[k] += powers[k];
      both.scales_ = both.scales_ || powers[k] != 0;
    }
    return both;
  }

  [[nodiscard]] bool scales() const { return scales_; }
  /// The powers r and c of R A C, R = diag(2^r) and C = diag(2^c); zeros if nothing is scaled.
  [[nodiscard]] const std::vector<Index>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Index>& columns() const { return columns_; }

 private:
  std::vector<Index> rows_;
  std::vector<Index> columns_;
  bool scales_ = false;
};

/// x 2^power, each part rounded once if it becomes denormal.
template <Scalar T> KOKKOS_INLINE_FUNCTION T times_power_of_two(const T& x, Index power) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    return T(static_cast<R>(times_power(real_of<double>(x), power)),
             static_cast<R>(times_power(imaginary_of<double>(x), power)));
  } else {
    return static_cast<R>(times_power(static_cast<double>(x), power));
  }
}
/// m_ij = m_ij 2^(rows_i + columns_j), rounded as above. Ordered on M's instance.
template <Scalar T>
void scale_by(const PlacedMatrix<T>& M, const std::vector<Index>& rows, const std::vector<Index>& columns);
/// Return true if scale_by() would round no element. Collective.
template <Scalar T>
[[nodiscard]] bool scales_exactly(const PlacedMatrix<T>& M, const std::vector<Index>& rows,
                                  const std::vector<Index>& columns);
/// Return true if the imaginary parts of all elements are zero. Collective.
template <Scalar T> [[nodiscard]] bool is_real(const PlacedMatrix<T>& M);

}  // namespace heddle::impl
