// Sums and products of two numbers without error, and sums of many that tell how well they are known.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::exact {

/// x + y and xy, rounded where they stand: no flag of a compiler contracts or reorders them (-ffast-math, -fmad=true).
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

/// x = fl(x + y), y = what rounding lost, exactly, unless x + y overflows (D. Knuth, "The Art of Computer Programming",
/// vol. 2, 4.2.2, theorem B). 6 flops.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION void two_sum(T& x, T& y) {
  const T sum = rounded_sum(x, y);
  const T second = rounded_sum(sum, -x);
  y = rounded_sum(rounded_sum(x, -rounded_sum(sum, -second)), rounded_sum(y, -second));
  x = sum;
}

/// x = fl(xy), y = xy - fl(xy), exactly, unless xy overflows or is smaller than the smallest normal number times 2^24
/// (float) or 2^53 (double); then y is off by less than the smallest number. 2 flops.
template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION void two_product(T& x, T& y) {
  const T product = rounded_product(x, y);
  y = Kokkos::fma(x, y, -product);
  x = product;
}

/// An unevaluated sum of `size` doubles, the largest first: what one loses to rounding the next takes.
template <int size> class Expansion {
  static_assert(size >= 2 && size <= 8);

 public:
  /// Adds x, from `level` on: the error of a product may skip the first. What does not fit comes back, or 0.
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
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double part(int k) const { return parts_[k]; }

 private:
  double parts_[size] = {};
};

/// A sum in about twice the precision of a double that knows a bound of its own error, so that mostly it can say how
/// the exact sum rounds (after T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26,
/// 2005: Dot2Err). 9 flops a number, 11 a product, no branch.
class Compensated {
 public:
  /// Adds value + error; of a number the error is 0.
  KOKKOS_FORCEINLINE_FUNCTION void add(double value, double error) { add(sum, lost, size, value, error); }
  /// The same on numbers that lie side by side, for vectors of them.
  static KOKKOS_FORCEINLINE_FUNCTION void add(double& sum, double& lost, double& size, double value, double error) {
    two_sum(sum, value);
    const double rest = rounded_sum(value, error);
    lost = rounded_sum(lost, rest);
    size += Kokkos::abs(rest);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(double x, double y) {
    two_product(x, y);
    add(x, y);
  }
  KOKKOS_INLINE_FUNCTION void merge(const Compensated& other) {
    add(other.sum, other.lost);
    size += other.size;
  }

  /// What so many products of doubles may lose to underflow; those of floats are exact.
  static KOKKOS_INLINE_FUNCTION double underflow(Index products) { return 0x1p-1070 * static_cast<double>(products); }

  /// Adds `factor` times the other sum. Not for rounds_to() of more than 2^20 of them.
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

  /// Whether every number that the exact sum may be rounds to one T, and that T. `terms`: how many were added and
  /// merged, or, of sums side by side, how many of these in a row; `absolute`: a bound of what products lost to
  /// underflow. Not for a sum of 0.
  template <RealScalar T> KOKKOS_INLINE_FUNCTION bool rounds_to(Index terms, double absolute, T& result) const {
    double high = 0;
    double low = 0;
    const double off = split(terms, absolute, high, low);
    double least = rounded_sum(high, rounded_sum(low, -off));
    double most = rounded_sum(high, rounded_sum(low, off));
    if constexpr (sizeof(T) == 4) {
      // Rounded twice, unless they move out of the way of a tie.
      const double away = off == 0 ? 0 : 0x1p-50 * Kokkos::abs(high);
      least -= away;
      most += away;
    }
    result = static_cast<T>(least);
    return high != 0 && result == static_cast<T>(most);
  }

  /// high + low is the sum, but for at most what comes back; terms and absolute as above.
  KOKKOS_INLINE_FUNCTION double split(Index terms, double absolute, double& high, double& low) const {
    high = sum;
    low = lost;
    two_sum(high, low);
    // Each rounding of `lost` and `size` is at most u of a sum of sizes. Doubled, for the roundings of who adds them
    // up.
    return 0x1p-52 * (static_cast<double>(2 * terms) + 64) * size + absolute + 0x1p-51 * Kokkos::abs(low);
  }

  double sum = 0;
  double lost = 0;  ///< The sum of the errors so far, rounded.
  double size = 0;  ///< The sum of their magnitudes.
};

}  // namespace heddle::exact
