// The exponents of a matrix, which tell whether products can overflow or underflow.
#pragma once

#include "interpose/exceptions.hpp"

namespace heddle::impl::interpose {

/// Exponents of the largest part and of the last bit that is set, of all elements, and whether all are finite.
struct Range {
  static constexpr int none = -(1 << 20);
  int largest = none;
  int last_bit = 1 << 20;
  bool finite = true;

  template <Scalar T> Range(Index rows, Index columns, const T* A, Index leading) {
    using R = Real<T>;
    R most{0};
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        const T& a = A[i + j * leading];
        finite = finite && is_finite(a);
        most = std::max(most, largest_part(a));
        last_bit = std::min(last_bit, interpose::last_bit(a));
      }
    }
    if (most > R{0} && std::isfinite(most)) largest = std::ilogb(most);
  }
};

}  // namespace heddle::impl::interpose
