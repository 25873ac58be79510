// Integers of any size from their residues.
#pragma once

#include "solve/proof/prime_field.hpp"
#include <heddle/exact/accumulator.hpp>

#include <cstddef>

namespace heddle::impl {

/// An integer of any size: digits of 32 bits, the lowest first, without zeros at the end.
using Digits = std::vector<std::uint32_t>;
/// x = x factor + more, both below 2^32.
inline void multiply_then_add(Digits& x, Residue factor, Residue more) {
  for (std::uint32_t& digit : x) {
    more += digit * factor;
    digit = static_cast<std::uint32_t>(more);
    more >>= 32U;
  }
  if (more != 0) x.push_back(static_cast<std::uint32_t>(more));
}
/// x - y, for x >= y.
[[nodiscard]] inline Digits difference(Digits x, const Digits& y) {
  std::int64_t carry = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    carry += static_cast<std::int64_t>(x[k]) - (k < y.size() ? static_cast<std::int64_t>(y[k]) : 0);
    x[k] = static_cast<std::uint32_t>(carry);
    carry >>= 32U;
  }
  while (!x.empty() && x.back() == 0) x.pop_back();
  return x;
}
[[nodiscard]] inline bool is_less(const Digits& x, const Digits& y) {
  if (x.size() != y.size()) return x.size() < y.size();
  return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
}
struct LongInteger {
  Digits magnitude;
  bool negative = false;
  [[nodiscard]] Index bits() const {
    if (magnitude.empty()) return 0;
    return static_cast<Index>(32 * (magnitude.size() - 1)) + std::bit_width(magnitude.back());
  }
  /// Adds the number times 2^-scale, with so many bits that it rounds alike.
  void add_to(exact::Accumulator<double>& sum, Index scale) const {
    const Index length = bits();
    constexpr Index kept = 60;
    std::int64_t top = 0;
    const auto bit = [&](Index k) { return (magnitude[static_cast<std::size_t>(k / 32)] >> (k % 32)) & 1U; };
    for (Index k = length - 1; k >= std::max<Index>(0, length - kept); --k) top = 2 * top + bit(k);
    bool rest = false;
    for (Index k = 0; k < length - kept && !rest; ++k) rest = bit(k) != 0;
    // A bit below stands for all others. Far below the larger part it is only its sign that counts.
    top = 2 * top + (rest ? 1 : 0);
    Index exponent = std::max<Index>(0, length - kept) - 1 - scale;
    if (exponent < -2000) {
      top = top != 0 ? 1 : 0;
      exponent = -2000;
    }
    sum.add_scaled(negative ? -top : top, static_cast<int>(exponent));
  }
};
/// The integer of least size with these residues (H. Garner, "The residue number system", 1959).
[[nodiscard]] inline LongInteger of_residues(const std::vector<Residue>& primes, const std::vector<Residue>& residues) {
  // x = v_0 + p_0 (v_1 + p_1 (v_2 + ...)).
  std::vector<Residue> v(primes.size());
  for (std::size_t k = 0; k < primes.size(); ++k) {
    const PrimeField field(primes[k]);
    Residue value = 0;
    Residue product = 1;
    for (std::size_t i = k; i-- > 0;) value = field.reduced(value * field.reduced(primes[i]) + field.reduced(v[i]));
    for (std::size_t i = 0; i < k; ++i) product = field.product(product, field.reduced(primes[i]));
    v[k] = field.product(field.reduced(residues[k] + field.negative(value)), field.inverse(product));
  }
  Digits x;
  Digits all{1};
  for (std::size_t k = primes.size(); k-- > 0;) {
    multiply_then_add(x, primes[k], v[k]);
    multiply_then_add(all, primes[k], 0);
  }
  const Digits other = difference(all, x);
  return is_less(other, x) ? LongInteger{other, true} : LongInteger{x, false};
}

}  // namespace heddle::impl
