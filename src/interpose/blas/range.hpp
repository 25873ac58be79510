// The exponents of a matrix, which tell whether products can overflow or underflow.
#pragma once

#include "interpose/blas/exceptions.hpp"

namespace heddle::impl::interpose {

/// Exponents of the largest part and of the last bit of the smallest one but zero, of all elements, and whether all are
/// finite; by integers, which compilers make vectors of.
struct Range {
  static constexpr int none = -(1 << 20);
  int largest = none;
  int last_bit = -none;  ///< Where the smallest part has all its digits.
  bool finite = true;

  template <Scalar T> Range(Index rows, Index columns, const T* A, Index leading) {
    using R = Real<T>;
    using Bits = std::conditional_t<sizeof(R) == 8, std::int64_t, std::int32_t>;
    constexpr int fraction = std::numeric_limits<R>::digits - 1;
    constexpr Bits magnitude = std::numeric_limits<Bits>::max();
    const Index numbers = rows * static_cast<Index>(sizeof(T) / sizeof(R));
    Bits most = 0;
    Bits least = magnitude;  // Less 1, as of all: zeros are then the largest.
    for (Index j = 0; j < columns; ++j) {
      const R* const column = reinterpret_cast<const R*>(A + j * leading);
      for (Index i = 0; i < numbers; ++i) {
        const Bits bits = std::bit_cast<Bits>(column[i]) & magnitude;
        most = std::max(most, bits);
        least = std::min(least, (bits - 1) & magnitude);
      }
    }
    finite = (most >> fraction) < (magnitude >> fraction);
    if (most == 0) return;
    const auto exponent = [](Bits bits) {
      return static_cast<int>(std::max<Bits>(bits >> fraction, 1)) + std::numeric_limits<R>::min_exponent - 2;
    };
    largest = exponent(most);
    last_bit = exponent(least + 1) - fraction;
  }
};

}  // namespace heddle::impl::interpose
