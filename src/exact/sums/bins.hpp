// On GPUs: a thread's exact sum in a few dozen doubles, without a branch that depends on how much they differ.
#pragma once

#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

#include <cstdint>

namespace heddle::exact::impl {

/// Doubles of fixed exponents, the bins: bin i starts at 1.5 times 2^first(i), whose last bit is 2^unit(i), and keeps
/// its exponent, so that adding x takes the part of x in units of 2^unit(i) without error and leaves a remainder of at
/// most half a unit for the bin below (as in S. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", SIAM J.
/// Sci. Comput. 31, 2008, lemma 3.2; bins of fixed exponents: J. Demmel, H. Nguyen, "Parallel reproducible summation",
/// IEEE Trans. Comput. 64, 2015). Three neighbouring bins, chosen by the exponent of x, take all of x: 9 flops, three
/// doubles read and three written.
///
/// Consecutive bins are `stride` doubles apart, so that those of neighbouring threads can be contiguous.
class Bins {
 public:
  static constexpr int count = 52;
  /// Number of terms that may be added before units are taken out.
  static constexpr int most = 4000;
  /// Terms must be smaller in magnitude.
  static constexpr double limit = 0x1p1000;

  KOKKOS_INLINE_FUNCTION Bins(double* first, int stride) : first_(first), stride_(stride) {}

  KOKKOS_INLINE_FUNCTION void clear() const {
    for (int i = 0; i < count; ++i) {
      first_[i * stride_] = beginning(i);
    }
  }
  KOKKOS_INLINE_FUNCTION void add(double x) const {
    const auto exponent = static_cast<int>(Kokkos::bit_cast<std::uint64_t>(x) >> fraction) & 0x7ff;
    // The lowest bin whose units hold x `most` times.
    double* bin = first_ + (exponent + width + room - 1) / width * stride_;
    x = take(*bin, x);
    bin -= stride_;
    x = take(*bin, x);
    if (x != 0) {
      bin -= stride_;
      static_cast<void>(take(*bin, x));
    }
  }

  /// Returns the sum of bin i in units of 2^unit(i): less than 2^51 in magnitude.
  static KOKKOS_INLINE_FUNCTION std::int64_t units(int i, double bin) {
    return Kokkos::bit_cast<std::int64_t>(bin) - Kokkos::bit_cast<std::int64_t>(beginning(i));
  }
  static KOKKOS_INLINE_FUNCTION int unit(int i) { return width * i - 1074; }

 private:
  static constexpr int fraction = 52;
  static constexpr int width = 40;  // Bits from a bin's units to those of the next.
  static constexpr int room = 13;   // Bits of 2 * most, and one more.

  static KOKKOS_INLINE_FUNCTION double beginning(int i) {
    return Kokkos::bit_cast<double>((static_cast<std::uint64_t>(width * i + 1) << fraction) |
                                    (std::uint64_t{1} << (fraction - 1)));
  }
  // Adds x except for its remainder, which is returned.
  static KOKKOS_FORCEINLINE_FUNCTION double take(double& bin, double x) {
    const double before = bin;
    const double after = rounded_sum(before, x);
    bin = after;
    return rounded_sum(x, -rounded_sum(after, -before));
  }

  double* first_;
  int stride_;
};

}  // namespace heddle::exact::impl
