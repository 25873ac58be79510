// Rows and columns brought to one size by powers of two.
#pragma once

#include "solve/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// Powers of two for rows and columns of a matrix, so that the largest element of each row, and then of each column,
/// has a part in [1/2, 1), as LAPACK's xGEEQU has it, or, of positive definite matrices, elements on the diagonal are
/// in [1/4, 1), as xPOEQU. Scaling by them changes no digit but of what comes below the smallest normal number.
///
/// Why: products by integers are bounded by rows and columns of their factors, not by elements, and so lose what is
/// small in a row of L or U next to what is large there, which a row or column of another size makes important.
///
/// Bits: the exponents follow from A alone.
template <Scalar T> class Equilibration {
 public:
  /// Nothing is scaled.
  Equilibration() = default;
  /// Of A, any placement. Nothing is scaled where sizes of rows, and then of columns, are within a factor of ten or so
  /// and far from the ends of the range (as LAPACK's xLAQGE has it), where one is zero or not finite, or, of positive
  /// definite matrices, where the diagonal is not positive. Collective.
  Equilibration(const PlacedMatrix<T>& A, bool positive_definite);

  [[nodiscard]] bool scales() const { return !rows_.empty(); }
  /// M = R M C, R of A's rows and C of its columns.
  void scale_matrix(const PlacedMatrix<T>& M) const;
  /// B = R B.
  void scale_right(const PlacedMatrix<T>& B) const;
  /// X = C X.
  void scale_solution(const PlacedMatrix<T>& X) const;

 private:
  std::vector<Index> rows_;  // Exponents, or none where nothing is scaled.
  std::vector<Index> columns_;
};

}  // namespace heddle::impl
