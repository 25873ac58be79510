// Whether norms of a product's factors tell how large its errors may be, and what to do where they do not.
#pragma once

#include "dist/work_matrix.hpp"

#include <limits>
#include <vector>

namespace heddle::impl {

/// An exponent that stands for zero: sums of a few of them do not overflow.
inline constexpr int exponent_of_zero = std::numeric_limits<int>::min() / 8;

/// Tests of the scaling of factors whose products have errors of size |row|_2 |column|_2 u, as emulated ones do, where
/// those of a BLAS have sum_k |x_ik y_kj| u and so do not change by D^-1 X D, D any diagonal of powers of two.
///
/// A matrix is evenly scaled where no such D makes its largest element much smaller: the mean of some cycle of
/// exponents of its elements is near the exponent of the largest. (The smallest of max |D^-1 X D| over all D is the
/// largest geometric mean of |x_ij| over cycles: the maximal eigenvalue of |X| in max-times algebra; R. Bapat, Linear
/// Algebra Appl. 275, 1998.) Norms are then as good a measure of errors as any. Instead of cycles, paths of four
/// elements are taken, whose largest product e_4 is to be at least largest^4 / 2^9: with [[1, x], [1 / x, 1]], x up to
/// 2^4 or so. All is done with exponents, integers: what is found does not depend on ranks, threads or the device.
template <RealScalar T> class EvenScaling {
 public:
  explicit EvenScaling(const Communicator& comm, Index n);

  /// Of a matrix in row or column bands. A matrix that comes again and was not written is not measured again.
  /// Collective; blocks. Cost: one pass over X, four in all where its columns differ much in their largest elements.
  [[nodiscard]] bool evenly_scaled(const SharedMatrix<T>& X);
  /// Whether moreover no row or column but those of zeros has a largest element 2^10 times as small as another's, and
  /// no element but zero is 2^40 times as small as the largest: what is small in norm may be all of a row, or all that
  /// joins two parts of X. Six passes over X at most. Collective; blocks.
  [[nodiscard]] bool evenly_filled(const SharedMatrix<T>& X);

  /// Exponents d_k with which columns k of X times 2^d_k and rows k of Y times 2^-d_k are equally large, so that the
  /// norms of rows of the one and columns of the other are the smallest that scaling can make them together. All
  /// zero where an element would leave the range of normal numbers. X in row bands, Y in column bands. Collective;
  /// blocks.
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
