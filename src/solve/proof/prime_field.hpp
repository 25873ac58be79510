// Arithmetic modulo primes of 31 bits.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

namespace heddle::impl {

using Residue = std::uint64_t;

/// mantissa 2^exponent, the mantissa odd or zero.
struct Dyadic {
  std::int64_t mantissa = 0;
  Index exponent = 0;
};
[[nodiscard]] inline Dyadic dyadic(double x) {
  if (x == 0) return {};
  const int exponent = std::max(std::ilogb(x), std::numeric_limits<double>::min_exponent - 1) - 52;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(x, -exponent));
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(mantissa));
  return {mantissa / (std::int64_t{1} << zeros), exponent + zeros};
}

/// Arithmetic modulo a prime below 2^31.
class PrimeField {
 public:
  explicit PrimeField(Residue prime) : prime_(prime), reciprocal_(~Residue{0} / prime) {}

  /// x mod p, for x < 2^63.
  [[nodiscard]] Residue reduced(Residue x) const {
    __extension__ using Wide = unsigned __int128;
    const Residue rest = x - static_cast<Residue>((static_cast<Wide>(x) * reciprocal_) >> 64U) * prime_;
    return rest >= prime_ ? rest - prime_ : rest;
  }
  [[nodiscard]] Residue product(Residue x, Residue y) const { return reduced(x * y); }
  [[nodiscard]] Residue negative(Residue x) const { return x == 0 ? 0 : prime_ - x; }
  [[nodiscard]] Residue power(Residue x, Residue exponent) const {
    Residue result = 1;
    for (; exponent > 0; exponent /= 2, x = product(x, x)) {
      if (exponent % 2 == 1) result = product(result, x);
    }
    return result;
  }
  [[nodiscard]] Residue inverse(Residue x) const { return power(x, prime_ - 2); }
  /// A number whose square is -1, for a prime that leaves the rest 1 when divided by 4.
  [[nodiscard]] Residue root_of_minus_one() const {
    for (Residue base = 2;; ++base) {
      const Residue root = power(base, (prime_ - 1) / 4);
      if (product(root, root) == prime_ - 1) return root;
    }
  }
  [[nodiscard]] Residue of(const Dyadic& x) const {
    const Residue magnitude = reduced(static_cast<Residue>(std::abs(x.mantissa)));
    const Residue two = x.exponent < 0 ? (prime_ + 1) / 2 : 2;
    const Residue scaled = product(magnitude, power(two, static_cast<Residue>(std::abs(x.exponent))));
    return x.mantissa < 0 ? negative(scaled) : scaled;
  }

 private:
  Residue prime_;
  Residue reciprocal_;
};

/// Whether a number below 2^32 is a prime (G. Jaeschke, "On strong pseudoprimes to several bases", 1993).
[[nodiscard]] inline bool is_prime(Residue number) {
  for (const Residue small : {2U, 3U, 5U, 7U}) {
    if (number % small == 0) return number == small;
  }
  const PrimeField field(number);
  const int twos = std::countr_zero(number - 1);
  for (const Residue base : {2U, 3U, 5U, 7U}) {
    Residue x = field.power(base, (number - 1) >> static_cast<unsigned>(twos));
    bool passes = x == 1 || x == number - 1;
    for (int k = 1; k < twos && !passes; ++k) {
      x = field.product(x, x);
      passes = x == number - 1;
    }
    if (!passes) return false;
  }
  return number != 3215031751U;
}
/// The largest primes below 2^31, each of more than 30 bits; those with roots of -1 alone leave the rest 1 by 4.
[[nodiscard]] inline std::vector<Residue> primes(std::size_t count, bool with_roots = false) {
  std::vector<Residue> found;
  for (Residue number = (Residue{1} << 31U) - 1; found.size() < count; number -= 2) {
    if ((!with_roots || number % 4 == 1) && is_prime(number)) found.push_back(number);
  }
  return found;
}

}  // namespace heddle::impl
