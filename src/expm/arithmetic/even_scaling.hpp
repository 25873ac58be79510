// Tests whether norms of a product's factors bound its errors well, and scaling for the factors that fail.
#pragma once

#include "dist/work_matrix.hpp"

#include <limits>
#include <vector>

namespace heddle::impl {

/// An exponent that stands for zero: sums of a few of them do not overflow.
inline constexpr int exponent_of_zero = std::numeric_limits<int>::min() / 8;

/// Tests of the scaling of factors whose products have errors of size |row|_2 |column|_2 u, as emulated products do.
/// Those of a BLAS have errors of size sum_k |x_ik y_kj| u, which D^-1 X D does not change for any diagonal D of powers
/// of two.
///
/// A matrix is evenly scaled if no such D makes its largest element much smaller: the mean exponent of the elements of
/// some cycle is near the exponent of the largest. (The smallest of max |D^-1 X D| over all D is the largest geometric
/// mean of |x_ij| over cycles: the maximal eigenvalue of |X| in max-times algebra; R. Bapat, Linear Algebra Appl. 275,
/// 1998.) Norms are then as good a measure of errors as any. Paths of four elements are used in place of cycles; their
/// largest product e_4 must be at least largest^4 / 2^9: with [[1, x], [1 / x, 1]], x up to 2^4 or so. All is done with
/// integer exponents: the result does not depend on ranks, threads or the device.
template <RealScalar T> class EvenScaling {
 public:
  explicit EvenScaling(const Communicator& comm, Index n);

  /// Return whether a matrix in row or column bands is evenly scaled. A matrix that was tested and not written since is
  /// not tested again. Collective; blocks. Cost: one pass over X, four in all if the largest elements of its columns
  /// differ much.
  [[nodiscard]] bool evenly_scaled(const SharedMatrix<T>& X);
  /// Whether X is evenly scaled and moreover no nonzero row or column has a largest element 2^10 times as small as
  /// another's, and no nonzero element is 2^40 times as small as the largest: elements small in norm may be all of a
  /// row, or all that connects two parts of X. Six passes over X at most. Collective; blocks.
  [[nodiscard]] bool evenly_filled(const SharedMatrix<T>& X);

  /// Return exponents d_k that make columns k of X times 2^d_k and rows k of Y times 2^-d_k equally large, which
  /// minimises the norms of rows of X and columns of Y together. All zero if an element would leave the range of normal
  /// numbers. X in row bands, Y in column bands. Collective; blocks.
  [[nodiscard]] std::vector<int> between(const DistributedMatrix<T>& X, const DistributedMatrix<T>& Y) const;

  /// to = from with each column j (row i, if `rows`) times 2^(sign exponents). Same placements.
  void scale(const DistributedMatrix<T>& from, const std::vector<int>& exponents, int sign, bool rows,
             const DistributedMatrix<T>& to) const;

 private:
  struct Verdict {
    MatrixStamp<T> matrix;
    bool even;
  };
  [[nodiscard]] bool measure(const DistributedMatrix<T>& X) const;

  Communicator comm_;
  Index n_;
  std::vector<Verdict> verdicts_;
};

}  // namespace heddle::impl
