// Sums in three times the precision of doubles, which record whether they are exact.
#pragma once

#include <heddle/exact/expansion.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>

namespace heddle::exact::impl {

/// Compensated with one more double: most sums that cancel leave no remainder, and are then known to be exact, a sum of
/// zero included. 14 flops for each number, 26 for each product, no branch.
class Threefold {
 public:
  /// Adds a number.
  KOKKOS_FORCEINLINE_FUNCTION void add(double value) { add(sum, lost, rest, size, value); }
  /// Adds a number to a sum whose four members are stored separately, as in vectors of many sums.
  static KOKKOS_FORCEINLINE_FUNCTION void add(double& sum, double& lost, double& rest, double& size, double value) {
    two_sum(sum, value);
    two_sum(lost, value);
    rest = rounded_sum(rest, value);
    size += Kokkos::abs(value);
  }
  /// Adds value + error, such as a product and its rounding error.
  KOKKOS_FORCEINLINE_FUNCTION void add(double value, double error) {
    two_sum(sum, value);
    two_sum(lost, value);
    two_sum(lost, error);
    const double left = rounded_sum(value, error);
    rest = rounded_sum(rest, left);
    size += Kokkos::abs(left);
  }
  /// Adds the sum that `other` holds.
  KOKKOS_INLINE_FUNCTION void merge(const Threefold& other) {
    if (other.is_empty()) {
      return;
    }
    add(other.sum, other.lost);
    rest = rounded_sum(rest, other.rest);
    size += other.size;
  }
  /// Returns true if nothing was added.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_empty() const { return lost == 0 && Kokkos::signbit(lost); }

  /// As Compensated::rounds_to(), but also for sums that are known exactly, ties and zeros among them; a zero sum is -0
  /// if there is at least one number and all are -0. Only products whose errors may have underflowed need an `absolute`
  /// above 0.
  template <RealScalar T> KOKKOS_INLINE_FUNCTION bool rounds_to(Index terms, double absolute, T& result) const {
    double high = sum;
    double low = lost;
    double below = rest;
    two_sum(low, below);
    two_sum(high, low);
    two_sum(low, below);
    if (size == 0 && below == 0 && absolute == 0) {
      // The exact sum; a zero takes the sign of `sum`, unless `sum` and `lost` cancel.
      result = high == 0 ? (sum == 0 && !is_empty() ? static_cast<T>(sum) : T(0)) : nearest<T>(high, low);
      return true;
    }
    // The loss of the sum in twice the precision is then an additional error bound.
    Compensated rounded;
    rounded.sum = high;
    rounded.lost = low;
    rounded.size = size;
    return rounded.rounds_to(terms, absolute + 2 * Kokkos::abs(below), result);
  }

  /// Returns the T nearest to high + low, where high is the double nearest to it.
  template <RealScalar T> static KOKKOS_INLINE_FUNCTION T nearest(double high, double low) {
    if constexpr (sizeof(T) == 4) {
      // Rounded twice: the last bit of high is set to show that there is more, or on which side it lies.
      auto bits = Kokkos::bit_cast<std::uint64_t>(high);
      if (low != 0 && (bits & 1U) == 0) {
        bits = (low > 0) == (high > 0) ? bits + 1 : bits - 1;
      }
      return static_cast<T>(Kokkos::bit_cast<double>(bits));
    } else {
      return high;
    }
  }

  double sum = -0.0;   ///< The rounded sum, -0 as long as only -0 is added.
  double lost = -0.0;  ///< The rounded sum of the rounding errors of `sum`, -0 until a number is added.
  double rest = 0;     ///< The rounded sum of the rounding errors of `lost`.
  double size = 0;     ///< The sum of the magnitudes of these.
};

}  // namespace heddle::exact::impl
