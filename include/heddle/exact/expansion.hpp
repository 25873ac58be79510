// Sums and products of two numbers without error.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::exact {

/// x = fl(x + y), y = what rounding lost, exactly, unless x + y overflows (D. Knuth, "The Art of Computer Programming",
/// vol. 2, 4.2.2, theorem B). 6 flops. Not under flags that reorder sums (-ffast-math).
template <RealScalar T> KOKKOS_INLINE_FUNCTION void two_sum(T& x, T& y) {
  const T sum = x + y;
  const T second = sum - x;
  y = (x - (sum - second)) + (y - second);
  x = sum;
}

/// x = fl(xy), y = xy - fl(xy), exactly, unless xy overflows or is smaller than the smallest normal number times 2^24
/// (float) or 2^53 (double). 2 flops.
template <RealScalar T> KOKKOS_INLINE_FUNCTION void two_product(T& x, T& y) {
  const T product = x * y;
  y = Kokkos::fma(x, y, -product);
  x = product;
}

}  // namespace heddle::exact
