// Error-free sums and products of two numbers, and sums of many numbers with a bound of their error.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::exact {

/// Returns the sum x + y, rounded once and at once: no compiler flag (-ffast-math, -fmad=true) contracts or reorders
/// it.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION T rounded_sum(T x, T y) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    return __dadd_rn(x, y);
  } else {
    return __fadd_rn(x, y);
  }
#elif defined(__clang__)
#pragma clang fp reassociate(off) contract(off)
  return x + y;
#elif defined(__CUDACC__) || __GNUC__ < 12
  T sum = x + y;
  asm("" : "+m"(sum));
  return sum;
#else
  return __builtin_assoc_barrier(x + y);
#endif
}
/// Returns the product xy, rounded once and at once: no compiler flag (-ffast-math, -fmad=true) contracts or reorders
/// it.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION T rounded_product(T x, T y) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    return __dmul_rn(x, y);
  } else {
    return __fmul_rn(x, y);
  }
#elif defined(__clang__)
#pragma clang fp reassociate(off) contract(off)
  return x * y;
#elif defined(__CUDACC__) || __GNUC__ < 12
  T product = x * y;
  asm("" : "+m"(product));
  return product;
#else
  return __builtin_assoc_barrier(x * y);
#endif
}

/// Sets x to fl(x + y) and y to the rounding error, exactly, unless x + y overflows (D. Knuth, "The Art of Computer
/// Programming", vol. 2, 4.2.2, theorem B). 6 flops.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION void two_sum(T& x, T& y) {
  const T sum = rounded_sum(x, y);
  const T second = rounded_sum(sum, -x);
  y = rounded_sum(rounded_sum(x, -rounded_sum(sum, -second)), rounded_sum(y, -second));
  x = sum;
}

/// Sets x to fl(xy) and y to xy - fl(xy), exactly, unless xy overflows or is smaller than 2^24 (float) or 2^53 (double)
/// times the smallest normal number; y is then off by less than the smallest number. 2 flops.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION void two_product(T& x, T& y) {
  const T product = rounded_product(x, y);
  y = Kokkos::fma(x, y, -product);
  x = product;
}

/// An unevaluated sum of `size` doubles, the largest first: each takes the rounding error of the one before.
template <int size> class Expansion {
  static_assert(size >= 2 && size <= 8);

 public:
  /// Adds x, beginning at part `level`; the rounding error of a product may skip the first part. Returns the remainder
  /// that fits into no part, or 0.
  KOKKOS_INLINE_FUNCTION double add(double x, int level = 0) {
    for (int k = 0; k < size; ++k) {
      if (k >= level) {
        if (x == 0) {
          return 0;
        }
        two_sum(parts_[k], x);
      }
    }
    return x;
  }
  /// Part k of the sum; part 0 is the largest.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double part(int k) const { return parts_[k]; }

 private:
  double parts_[size] = {};
};

/// A sum in about twice the precision of a double with a bound of its own error, which mostly decides how the exact sum
/// rounds (after T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005: Dot2Err).
/// 9 flops for each number, 11 for each product, no branch.
class Compensated {
 public:
  /// Adds value + error, such as a product and its rounding error; for a single number `error` is 0.
  KOKKOS_FORCEINLINE_FUNCTION void add(double value, double error) { add(sum, lost, size, value, error); }
  /// Adds value + error to a sum whose three members are stored separately, as in vectors of many sums.
  static KOKKOS_FORCEINLINE_FUNCTION void add(double& sum, double& lost, double& size, double value, double error) {
    two_sum(sum, value);
    const double rest = rounded_sum(value, error);
    lost = rounded_sum(lost, rest);
    size += Kokkos::abs(rest);
  }
  /// Adds the product xy.
  KOKKOS_FORCEINLINE_FUNCTION void add_product(double x, double y) {
    two_product(x, y);
    add(x, y);
  }
  /// Adds the sum that `other` holds.
  KOKKOS_INLINE_FUNCTION void merge(const Compensated& other) {
    add(other.sum, other.lost);
    size += other.size;
  }

  /// Returns a bound of the loss of `products` products of doubles to underflow. Products of floats lose nothing.
  static KOKKOS_INLINE_FUNCTION double underflow(Index products) { return 0x1p-1070 * static_cast<double>(products); }

  /// Adds `factor` times the other sum. rounds_to() is not valid after more than 2^20 of these.
  KOKKOS_INLINE_FUNCTION void add_scaled(const Compensated& other, double factor) {
    double high = other.sum;
    double low = other.lost;
    two_sum(high, low);
    double error = factor;
    two_product(high, error);
    const double rest = rounded_product(factor, low);
    add(high, error);
    add(rest, 0);
    size += Kokkos::abs(factor) * other.size + Kokkos::abs(rest) + Kokkos::abs(error);
  }

  /// Returns true if all candidates for the exact sum round to one T, and sets `result` to it. `terms` is the number of
  /// terms added and merged; if the terms were spread over parallel sums, it is the number that each of these took in
  /// sequence. `absolute` is a bound of the loss of products to underflow. False for a sum of 0.
  template <RealScalar T> KOKKOS_INLINE_FUNCTION bool rounds_to(Index terms, double absolute, T& result) const {
    double high = 0;
    double low = 0;
    const double off = split(terms, absolute, high, low);
    double least = rounded_sum(high, rounded_sum(low, -off));
    double most = rounded_sum(high, rounded_sum(low, off));
    if constexpr (sizeof(T) == 4) {
      // These are rounded twice, so they are moved away from a tie.
      const double away = off == 0 ? 0 : 0x1p-50 * Kokkos::abs(high);
      least -= away;
      most += away;
    }
    result = static_cast<T>(least);
    // Zeros of both signs are equal: the sign of a result that rounds to zero has to be known too.
    return high != 0 && result == static_cast<T>(most) && (result != T(0) || least > 0 || most < 0);
  }

  /// Splits the sum into high + low and returns a bound of the error of high + low. `terms` and `absolute` are those of
  /// rounds_to().
  KOKKOS_INLINE_FUNCTION double split(Index terms, double absolute, double& high, double& low) const {
    high = sum;
    low = lost;
    two_sum(high, low);
    // Each rounding of `lost` and `size` is at most u of a sum of sizes. Doubled, for the roundings of the caller's
    // sums.
    return 0x1p-52 * (static_cast<double>(2 * terms) + 64) * size + absolute + 0x1p-51 * Kokkos::abs(low);
  }

  /// The rounded sum so far.
  double sum = 0;
  double lost = 0;  ///< The rounded sum of the rounding errors so far.
  double size = 0;  ///< The sum of the magnitudes of these errors.
};

}  // namespace heddle::exact
