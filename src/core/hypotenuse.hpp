// The length of a vector of two components, by operations that round alike everywhere.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

/// sqrt(x^2 + y^2) to three units of the last place, without overflow or underflow between; infinite if x or y is. In
/// rooms where products and sums are rounded one by one on GPUs, too (HEDDLE_ROOMS_UNFUSED), it has the same bits
/// everywhere, which Kokkos::hypot() has not.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double hypotenuse(double x, double y) {
  const double a = Kokkos::abs(x);
  const double b = Kokkos::abs(y);
  const double longer = a > b ? a : b;
  const double shorter = a > b ? b : a;
  if (longer == Kokkos::Experimental::infinity_v<double> || shorter == Kokkos::Experimental::infinity_v<double>) {
    return Kokkos::Experimental::infinity_v<double>;
  }
  if (!(longer > 0.0)) return longer + shorter;
  const double ratio = shorter / longer;
  return longer * Kokkos::sqrt(ratio * ratio + 1.0);
}

}  // namespace heddle::impl
