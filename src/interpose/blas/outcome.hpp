// Outcome of a product of matrices: its exceptions, and its scalar if sums alone would leave the range of T.
#pragma once

#include "interpose/blas/exceptions.hpp"
#include "interpose/blas/product.hpp"

#include <vector>

namespace heddle::impl::interpose {

/// A product that is about to be computed. Exceptions that are raised until raise() are forgotten.
template <Scalar T> class Outcome {
 public:
  explicit Outcome(const Product<T>& product);

  /// Whether no sum of products can overflow that alpha, below 1, would bring back, nor lose bits below the normal
  /// numbers that alpha, above 1, would bring up: then it is rounded before alpha multiplies it.
  [[nodiscard]] bool may_be_rounded_first() const;
  /// The columns of C without their leading dimension; nothing where beta is 0.
  [[nodiscard]] std::vector<T> copy_of_c() const;
  /// Computes elements of C = alpha S + beta C from exact sums where S, `rounded`, has overflowed or lost bits that
  /// alpha would have saved; S and C as it was are m x n.
  void correct(const T* rounded, const T* before) const;
  /// Raises what C, which is there now, means: FE_INVALID of a NaN and FE_OVERFLOW of an infinite number that nothing
  /// it was computed from is, and FE_UNDERFLOW of a number below the normal ones that may have lost bits.
  void raise();

 private:
  [[nodiscard]] T left(Index i, Index k) const;
  [[nodiscard]] T right(Index k, Index j) const;
  [[nodiscard]] Operands operands_of_row(Index i) const;
  [[nodiscard]] Operands operands_of_column(Index j) const;

  Quiet quiet_;
  const Product<T>& product_;
  std::vector<T> before_;  // C where it counts and holds NaN or infinity.
};

}  // namespace heddle::impl::interpose
