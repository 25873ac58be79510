// Sums of products whose sizes are bounded in advance, in four operations a product.
#pragma once

#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

namespace heddle::exact::impl {

using namespace bits;

/// Returns a power of two above |size|, at least 2^-1022; infinite if |size| is infinite, a NaN, or at least 2^1023.
KOKKOS_INLINE_FUNCTION double power_above(double size) {
  using F = Format<double>;
  const F::Bits exponent = F::to_bits(size) & F::exponent_mask;
  return F::from_bits(exponent == F::exponent_mask ? exponent : exponent + (F::Bits{1} << F::fraction));
}

/// Places and error bounds of sums of up to a given number of products.
///
/// Let |x_k| < X and |y_k| < Y, and let there be at most K products, K a power of two. A sum that begins at its place,
/// 1.25 * 2^e with 2^e >= 2 K X Y, stays between 0.75 * 2^e and 1.75 * 2^e. So every term is smaller than the sum, each
/// addition loses at most q / 2 with q = 2^(e - 52), and the part it adds is a multiple of q / 2 that a double holds:
/// the lost part of a product is one fused multiply-add away (as high parts are extracted by S. Rump, T. Ogita, S.
/// Oishi, "Accurate floating-point summation part I", SIAM J. Sci. Comput. 31, 2008). The lost parts are added up in
/// plain arithmetic, which is off by at most u q (K^2 / 4 + K) with u = 2^-53.
struct PlacedBounds {
  double reach;  ///< 2 K
  double error;  ///< Share of a place that is added to Compensated::size: its bound then covers those errors, however
                 ///< few its terms.

  KOKKOS_INLINE_FUNCTION explicit PlacedBounds(Index products) {
    double most = 1;
    while (most < static_cast<double>(products)) {
      most *= 2;
    }
    reach = 2 * most;
    // The bound is at least 192 * 2^-52 times the size: InnerSum::rounds_to() and Compensated::split().
    error = 0x1p-52 * (most * most / 4 + most) / 384;
  }
  /// Returns the place for factors below these powers of two; infinite if no place is large enough: sums are NaNs then.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double place(double x_above, double y_above) const {
    // Large enough that q / 2 is a double.
    return 1.25 * Kokkos::fmax(reach * (x_above * y_above), 0x1p-1000);
  }
};

/// A sum of products at a place.
struct PlacedSum {
  double high;
  double low;

  static KOKKOS_FORCEINLINE_FUNCTION PlacedSum at(double place) { return {place, 0}; }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(double x, double y) {
    const double sum = Kokkos::fma(x, y, high);
    const double added = rounded_sum(sum, -high);
    low = rounded_sum(low, Kokkos::fma(x, y, -added));
    high = sum;
  }
  /// Adds the products, no more than `bounds` allows, to a sum that bounds its error.
  KOKKOS_FORCEINLINE_FUNCTION void add_to(Compensated& sum, double place, const PlacedBounds& bounds) const {
    sum.add(rounded_sum(high, -place), low);
    sum.size += place * bounds.error;
  }
};

}  // namespace heddle::exact::impl
