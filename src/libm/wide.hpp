// Floating-point numbers of N 64-bit words for the accurate paths: integers alone, so no flag is raised.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::libm {

using Word = std::uint64_t;
__extension__ typedef unsigned __int128 Double128;  // a product of two words

/// +-W 2^(exponent - 64 N), W = sum of word[i] 2^(64 i) with its highest bit set, or zero. Each operation truncates:
/// its relative error is below 2^(2 - 64 N), the quotient's below 2^(5 - 64 N); a difference's is relative to the
/// larger operand.
template <int N> struct Wide {
  bool negative = false;
  std::int64_t exponent = 0;
  Word word[N] = {};

  [[nodiscard]] bool zero() const { return word[N - 1] == 0; }
};

/// Shift left until the highest bit is set, with the word below the lowest.
template <int N> void normalise(Wide<N>& x, Word below = 0) {
  for (int count = 0; x.word[N - 1] == 0; ++count) {
    if (count > N) {
      x = {};
      return;
    }
    for (int i = N - 1; i > 0; --i) x.word[i] = x.word[i - 1];
    x.word[0] = below;
    below = 0;
    x.exponent -= 64;
  }
  const int shift = std::countl_zero(x.word[N - 1]);
  if (shift == 0) return;
  for (int i = N - 1; i > 0; --i) x.word[i] = x.word[i] << shift | x.word[i - 1] >> (64 - shift);
  x.word[0] = x.word[0] << shift | below >> (64 - shift);
  x.exponent -= shift;
}

/// factor 2^power, exactly.
template <int N> Wide<N> from_integer(std::int64_t factor, std::int64_t power = 0) {
  Wide<N> x;
  if (factor == 0) return x;
  x.negative = factor < 0;
  x.word[N - 1] = factor < 0 ? 0 - static_cast<Word>(factor) : static_cast<Word>(factor);
  x.exponent = 64 + power;
  normalise(x);
  return x;
}

/// A finite double as integer and power of two.
struct Decomposed {
  std::int64_t significand;
  int power;
};

inline Decomposed decompose(double x) {
  const auto bits = std::bit_cast<Word>(x);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const auto fraction = static_cast<std::int64_t>(bits & ((Word{1} << 52) - 1));
  const std::int64_t significand = biased == 0 ? fraction : fraction | std::int64_t{1} << 52;
  return {x < 0 ? -significand : significand, biased == 0 ? -1074 : biased - 1075};
}

template <int N> Wide<N> from_double(double x) {
  const Decomposed parts = decompose(x);
  return from_integer<N>(parts.significand, parts.power);
}

/// Truncated to 53 bits; the exponent must be that of a normal double.
template <int N> double to_double(const Wide<N>& x) {
  if (x.zero()) return 0.0;
  const Word magnitude = (x.word[N - 1] >> 11 & ((Word{1} << 52) - 1)) | static_cast<Word>(x.exponent + 1022) << 52;
  return std::bit_cast<double>(magnitude | static_cast<Word>(x.negative) << 63);
}

/// Sum of magnitudes (`minus`: their difference; |x| >= |y| then).
template <int N> Wide<N> combine(const Wide<N>& x, const Wide<N>& y, bool minus) {
  Wide<N> z = x;
  const std::int64_t shift = x.exponent - y.exponent;
  if (y.zero() || shift >= 64 * (N + 1)) return z;
  const int whole = static_cast<int>(shift / 64);
  const int part = static_cast<int>(shift % 64);
  const auto shifted = [&](int i) -> Word {  // word i of y 2^-shift; word -1 is the one below
    const int from = i + whole;
    const Word low = from >= 0 && from < N ? y.word[from] : 0;
    const Word high = from + 1 >= 0 && from + 1 < N ? y.word[from + 1] : 0;
    return part == 0 ? low : low >> part | high << (64 - part);
  };
  Word below = shifted(-1);
  Word carry = 0;
  if (minus) {
    carry = below != 0;
    below = 0 - below;
    for (int i = 0; i < N; ++i) {
      const Double128 difference = Double128{z.word[i]} - shifted(i) - carry;
      z.word[i] = static_cast<Word>(difference);
      carry = static_cast<Word>(difference >> 64) & 1;
    }
  } else {
    for (int i = 0; i < N; ++i) {
      const Double128 total = Double128{z.word[i]} + shifted(i) + carry;
      z.word[i] = static_cast<Word>(total);
      carry = static_cast<Word>(total >> 64);
    }
    if (carry != 0) {
      for (int i = 0; i < N - 1; ++i) z.word[i] = z.word[i] >> 1 | z.word[i + 1] << 63;
      z.word[N - 1] = z.word[N - 1] >> 1 | Word{1} << 63;
      ++z.exponent;
      return z;
    }
  }
  normalise(z, below);
  return z;
}

template <int N> bool smaller(const Wide<N>& x, const Wide<N>& y) {
  if (x.zero() || y.zero()) return !y.zero();
  if (x.exponent != y.exponent) return x.exponent < y.exponent;
  for (int i = N - 1; i >= 0; --i) {
    if (x.word[i] != y.word[i]) return x.word[i] < y.word[i];
  }
  return false;
}

template <int N> Wide<N> operator-(Wide<N> x) {
  x.negative = !x.negative;
  return x;
}

template <int N> Wide<N> operator+(const Wide<N>& x, const Wide<N>& y) {
  if (x.zero()) return y;
  const bool minus = x.negative != y.negative;
  return smaller(x, y) ? combine(y, x, minus) : combine(x, y, minus);
}

template <int N> Wide<N> operator-(const Wide<N>& x, const Wide<N>& y) {
  return x + -y;
}

template <int N> Wide<N> operator*(const Wide<N>& x, const Wide<N>& y) {
  Wide<N> z;
  if (x.zero() || y.zero()) return z;
  Word product[2 * N] = {};
  for (int i = 0; i < N; ++i) {
    Word carry = 0;
    if (x.word[i] == 0) continue;
    for (int j = 0; j < N; ++j) {
      const Double128 sum = Double128{x.word[i]} * y.word[j] + product[i + j] + carry;
      product[i + j] = static_cast<Word>(sum);
      carry = static_cast<Word>(sum >> 64);
    }
    product[i + N] = carry;
  }
  for (int i = 0; i < N; ++i) z.word[i] = product[N + i];
  z.negative = x.negative != y.negative;
  z.exponent = x.exponent + y.exponent;
  normalise(z, product[N - 1]);
  return z;
}

/// x / divisor, for a divisor below 2^32: by halves of words.
template <int N> Wide<N> operator/(const Wide<N>& x, Word divisor) {
  Wide<N> z = x;
  if (x.zero()) return z;
  Word rest = 0;
  const auto divided = [&](Word word) {
    const Word upper = rest << 32 | word >> 32;
    const Word lower = upper % divisor << 32 | (word & 0xffffffff);
    rest = lower % divisor;
    return upper / divisor << 32 | lower / divisor;
  };
  for (int i = N - 1; i >= 0; --i) z.word[i] = divided(x.word[i]);
  normalise(z, divided(0));
  return z;
}

template <int N> Wide<N> scaled(Wide<N> x, std::int64_t power) {
  if (!x.zero()) x.exponent += power;
  return x;
}

/// 1 / x by Newton's iteration from a double.
template <int N> Wide<N> reciprocal(Wide<N> x) {
  const std::int64_t exponent = x.exponent;
  x.exponent = 0;
  Wide<N> y = from_double<N>(1.0 / to_double(x));
  const Wide<N> one = from_integer<N>(1);
  for (int bits = 48; bits < 64 * N; bits *= 2) y = y + y * (one - x * y);
  return scaled(y, -exponent);
}

template <int N> Wide<N> operator/(const Wide<N>& x, const Wide<N>& y) {
  return x * reciprocal(y);
}

/// The square root of x > 0 by Newton's iteration for 1 / sqrt x.
template <int N> Wide<N> root(Wide<N> x) {
  if (x.zero()) return x;
  const std::int64_t half = x.exponent >> 1;
  x.exponent -= 2 * half;
  Wide<N> y = from_double<N>(1.0 / __builtin_sqrt(to_double(x)));
  const Wide<N> one = from_integer<N>(1);
  for (int bits = 48; bits < 64 * N; bits *= 2) y = y + scaled(y * (one - x * (y * y)), -1);
  return scaled(x * y, half);
}

/// A result of rounding: its bits are right if decided.
template <class Real> struct Rounded {
  Real value;
  bool decided;
  bool inexact_tiny;  // subnormal or zero, and rounded
};

/// Round to nearest even a number whose error is below 2^(guard - 64 N) relative; guard < 0: it is exact. Overflow
/// gives infinity; flags are left alone.
template <class Real, int N> Rounded<Real> rounded(const Wide<N>& x, int guard) {
  constexpr bool is_double = sizeof(Real) == 8;
  constexpr int digits = is_double ? 53 : 24;
  constexpr int lowest = is_double ? -1021 : -125;  // exponent of the smallest normal, as Wide counts it
  constexpr int highest = is_double ? 1024 : 128;
  using Bits = std::conditional_t<is_double, std::uint64_t, std::uint32_t>;
  const auto finish = [&](Bits bits, bool decided, bool tiny) {
    return Rounded<Real>{std::bit_cast<Real>(static_cast<Bits>(bits | Bits{x.negative} << (8 * sizeof(Real) - 1))),
                         decided, tiny};
  };
  if (x.zero()) return finish(0, true, false);
  if (x.exponent > highest) return finish(std::bit_cast<Bits>(std::numeric_limits<Real>::infinity()), true, false);
  const bool subnormal = x.exponent < lowest;
  if (x.exponent < lowest - digits - 1) return finish(0, true, true);
  const int kept = subnormal ? digits - static_cast<int>(lowest - x.exponent) : digits;
  // The words as a fraction of one unit of the last place kept: bit `cut` of N + 1 words is the unit.
  Word shifted[N + 1] = {};
  for (int i = 0; i < N; ++i) shifted[i] = x.word[i];
  const int cut = 64 * N - kept;  // up to 64 N + 2
  const Word top = kept <= 0 ? 0 : x.word[N - 1] >> (64 - kept);
  const auto bit = [&](int i) { return shifted[i / 64] >> (i % 64) & 1; };
  const bool half = bit(cut - 1) != 0;
  bool zeros = true;
  bool ones = true;
  const int from = guard < 0 ? 0 : guard;
  for (int i = cut - 2; i >= from && (zeros || ones); --i) {
    if (i % 64 == 63 && i - 63 >= from) {
      zeros = zeros && shifted[i / 64] == 0;
      ones = ones && shifted[i / 64] == ~Word{0};
      i -= 63;
      continue;
    }
    if (bit(i) != 0) {
      zeros = false;
    } else {
      ones = false;
    }
  }
  const bool exact = guard < 0 && !half && zeros;
  bool decided = true;
  bool up = half;
  if (guard < 0) {
    if (half && zeros) up = (top & 1) != 0;
  } else {
    decided = !(half ? zeros : ones);
  }
  const Word significand = top + (up ? 1 : 0);
  Bits bits = 0;
  if (subnormal) {
    bits = static_cast<Bits>(significand);
  } else {
    bits = static_cast<Bits>((static_cast<Word>(x.exponent - lowest) << (digits - 1)) + significand);
  }
  const bool tiny = subnormal && !exact && bits < (Bits{1} << (digits - 1));
  return finish(bits, decided, tiny);
}

}  // namespace heddle::libm
