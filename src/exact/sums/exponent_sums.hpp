// On the host: one integer for each exponent, to which the fractions of numbers are added.
#pragma once

#include "exact/sums/terms.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>

namespace heddle::exact::impl {

/// The exact sum of doubles by one integer addition for each (R. Neal, "Fast exact summation using small and large
/// superaccumulators", arXiv:1505.05571, 2015: the large one): their bits are added unchanged to the integer of their
/// sign and exponent, and the contribution of sign and exponent bits is subtracted later. 40 KB. flush() moves
/// everything to an accumulator, as if each number had been added to it: infinities, NaNs and the signs of zeros too.
class ExponentSums {
 public:
  ExponentSums() { left_.fill(most); }

  void add(double x, Accumulator<double>& sum) {
    const auto bits = Kokkos::bit_cast<std::uint64_t>(x);
    const std::uint64_t kind = bits >> Format::fraction;
    sums_[kind] += bits;
    if (--left_[kind] == 0) {
      give(kind, sum);
    }
  }
  void flush(Accumulator<double>& sum) {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      if (left_[kind] != most) {
        give(kind, sum);
      }
    }
  }

 private:
  using Format = bits::Format<double>;
  static constexpr std::size_t kinds = 4096;  // Signs and exponents.
  // The sum of this many fractions of 52 bits is below 2^64.
  static constexpr std::uint16_t most = 4096;

  // Out of line, since it is seldom called from the loop that adds.
  [[gnu::noinline]] void give(std::size_t kind, Accumulator<double>& sum) {
    const std::uint64_t count = most - left_[kind];
    const std::uint64_t fractions = sums_[kind] - count * (std::uint64_t{kind} << Format::fraction);
    sums_[kind] = 0;
    left_[kind] = most;
    const bool negative = kind >= kinds / 2;
    const auto exponent = static_cast<int>(kind % (kinds / 2));
    if (exponent == static_cast<int>(Format::largest_exponent)) {
      const double infinity = std::numeric_limits<double>::infinity();
      sum.add(fractions != 0 ? std::numeric_limits<double>::quiet_NaN() : negative ? -infinity : infinity);
    } else if (exponent == 0 && fractions == 0) {
      sum.add(negative ? -0.0 : 0.0);
    } else {
      constexpr int half = 32;
      const std::uint64_t ones = exponent == 0 ? 0 : count << (Format::fraction - half);
      const int position = Format::smallest + std::max(exponent - 1, 0);
      add_signed(fractions & 0xffffffffU, position, negative, sum);
      add_signed((fractions >> half) + ones, position + half, negative, sum);
    }
  }
  static void add_signed(std::uint64_t magnitude, int position, bool negative, Accumulator<double>& sum) {
    if (magnitude != 0) {
      const auto n = static_cast<std::int64_t>(magnitude);
      sum.add_scaled(negative ? -n : n, position);
    }
  }

  std::array<std::uint64_t, kinds> sums_ = {};
  std::array<std::uint16_t, kinds> left_;
};

/// Adds the terms from `begin` to `end` to `sum`.
template <class Terms> void add_exactly(const Terms& terms, Index begin, Index end, Accumulator<double>& sum) {
  // Fewer terms do not pay for moving the integers to the accumulator.
  constexpr Index fewest = 4096;
  Index k = begin;
  if (end - begin >= fewest) {
    // Two, in turn: neighbouring numbers often have the same exponent, and a load that follows a store to the same
    // integer stalls.
    const auto both = std::make_unique<ExponentSums[]>(2);
    ExponentSums* const sums = both.get();
    constexpr int lanes = Terms::parts == 1 ? 2 : 64;
    for (; k + lanes <= end; k += lanes) {
      // Products and their errors are vectorised first.
      alignas(64) double values[lanes];
      alignas(64) double errors[lanes];
      int tame = 1;
      for (int l = 0; l < lanes; ++l) {
        terms.load(k + l, values[l], errors[l]);
        tame &= static_cast<int>(Terms::parts == 1 || terms.is_tame(k + l, values[l]));
      }
      for (int l = 0; l < lanes; ++l) {
        if (tame == 0 && !terms.is_tame(k + l, values[l])) {
          terms.template add_to<false>(sum, k + l);
          continue;
        }
        sums[l % 2].add(values[l], sum);
        // An error of zero is not a term; its sign would count in a sum of zeros.
        if (Terms::parts == 2 && errors[l] != 0) {
          sums[l % 2].add(errors[l], sum);
        }
      }
    }
    sums[0].flush(sum);
    sums[1].flush(sum);
  }
  for (; k < end; ++k) {
    terms.template add_to<false>(sum, k);
  }
}

}  // namespace heddle::exact::impl
