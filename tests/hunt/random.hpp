// Numbers that are hard for arithmetic, drawn from a seed alone: the same on every rank, machine and standard library.
#pragma once

#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>

namespace heddle::hunt {

using Value = std::complex<double>;

/// SplitMix64: a sequence for each seed, operation and number of a case.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view operation, std::uint64_t number) {
    state_ = 0xcbf29ce484222325ULL;
    for (const char letter : operation) state_ = (state_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
    state_ += seed * golden_step;
    next();
    state_ += number * 0xD1B54A32D192ED03ULL;
    next();
  }

  std::uint64_t next() { return mixed_bits(state_ += golden_step); }
  /// Return a number from 0 to count - 1.
  long below(long count) { return static_cast<long>(next() % static_cast<std::uint64_t>(count)); }
  long between(long least, long most) { return least + below(most - least + 1); }
  bool one_in(long count) { return below(count) == 0; }
  /// Return a number in [-1, 1), with all digits in use.
  double unit() { return unit_from(next()); }
  template <class... Choices> auto any_of(const Choices&... choices) {
    const std::common_type_t<Choices...> all[] = {choices...};
    return all[below(sizeof...(choices))];
  }
  /// Return an extent: mostly small, 0 and 1 included, sometimes `most`.
  long extent(long most) {
    switch (below(8)) {
      case 0:
        return below(2);
      case 1:
        return most;
      case 2:
      case 3:
        return between(1, most);
      default:
        return between(1, std::min(most, 8L));
    }
  }

 private:
  std::uint64_t state_ = 0;
};

/// Precision and range of a real format.
struct Range {
  int digits;    ///< Bits of a fraction, the leading one included.
  int smallest;  ///< 2^smallest is the smallest number.
  int normal;    ///< 2^normal is the smallest normal number.
  int largest;   ///< 2^largest is the first number beyond the range.
};
inline constexpr Range double_range{53, -1074, -1022, 1024};
inline constexpr Range float_range{24, -149, -126, 128};

/// Return the nearest number of the format.
inline double in_format(double x, const Range& range) {
  return range.digits == float_range.digits ? static_cast<double>(static_cast<float>(x)) : x;
}

/// Kinds of numbers in an array.
enum class Mood {
  units,     ///< in (-1, 1)
  integers,  ///< small ones
  powers,    ///< powers of two near 1
  spread,    ///< exponents over a part of the range
  wild,      ///< exponents over the whole range
  ties,      ///< few bits far apart, so that sums end half way between two numbers
  denormal,  ///< at and below the smallest normal number
  huge,      ///< near the largest
  sparse,    ///< mostly zeros
};
inline constexpr int moods = 9;

/// Return a number of the mood, exact in the format.
inline double hard_number(Random& random, Mood mood, const Range& range) {
  const auto fraction = [&] { return in_format(random.unit(), range); };
  const auto scaled = [&](double x, long exponent) {
    return in_format(std::ldexp(x, static_cast<int>(exponent)), range);
  };
  const double sign = random.one_in(2) ? -1.0 : 1.0;
  switch (mood) {
    case Mood::units:
      return fraction();
    case Mood::integers:
      return static_cast<double>(random.between(-9, 9));
    case Mood::powers:
      return sign * std::ldexp(1.0, static_cast<int>(random.between(-6, 6)));
    case Mood::spread:
      return scaled(fraction(), random.between(range.normal / 8, range.largest / 8));
    case Mood::wild: {
      const double x = scaled(fraction(), random.between(range.smallest, range.largest - 1));
      return x;
    }
    case Mood::ties: {
      const int bit = static_cast<int>(random.any_of(0L, 0L, static_cast<long>(-range.digits), 1L - range.digits,
                                                     static_cast<long>(-2 * range.digits), -1L));
      return sign * std::ldexp(1.0, bit) * (random.one_in(3) ? 1.0 + std::ldexp(1.0, 1 - range.digits) : 1.0);
    }
    case Mood::denormal:
      return random.one_in(4) ? sign * std::ldexp(1.0, range.normal) - std::ldexp(1.0, range.smallest)
                              : std::ldexp(static_cast<double>(random.between(-40, 40)), range.smallest);
    case Mood::huge:
      return random.one_in(3) ? sign * std::ldexp(2.0 - std::ldexp(1.0, 1 - range.digits), range.largest - 1)
                              : scaled(fraction(), range.largest - random.between(1, 4));
    case Mood::sparse:
      return random.one_in(4) ? fraction() : 0.0;
  }
  return 0.0;
}

/// Return NaN, an infinity, a negative zero, or an edge of the format.
inline double special_number(Random& random, const Range& range) {
  const double sign = random.one_in(2) ? -1.0 : 1.0;
  switch (random.below(6)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
    case 2:
      return sign * std::numeric_limits<double>::infinity();
    case 3:
      return -0.0;
    case 4:
      return sign * std::ldexp(1.0, range.smallest);
    default:
      return sign * std::ldexp(2.0 - std::ldexp(1.0, 1 - range.digits), range.largest - 1);
  }
}

}  // namespace heddle::hunt
