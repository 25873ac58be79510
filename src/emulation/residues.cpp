// Coprime moduli and the constants that put residues together.
#include "emulation/residues.hpp"

#include "libm/functions.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace heddle::impl {
namespace {

using Digits = std::array<std::uint32_t, ResidueSystem::most_digits>;

Digits times(const Digits& x, std::uint32_t factor) {
  Digits result{};
  std::uint64_t carried = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    carried += std::uint64_t{x[k]} * factor;
    result[k] = static_cast<std::uint32_t>(carried);
    carried >>= 32;
  }
  return result;
}

std::uint32_t remainder(const Digits& x, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t k = x.size(); k-- > 0;) {
    rest = (rest << 32 | x[k]) % divisor;
  }
  return static_cast<std::uint32_t>(rest);
}

// By trial: a modulus has 8 bits.
std::uint32_t inverse_of(std::uint32_t x, std::uint32_t p) {
  std::uint32_t inverse = 1;
  while (x * inverse % p != 1) ++inverse;
  return inverse;
}

int modulus(Field field, int number) {
  return (field == Field::real ? real_moduli : complex_moduli)[static_cast<std::size_t>(number)];
}

// j with j^2 = -1 mod p, below p / 2.
std::uint32_t root_of_minus_one(std::uint32_t p) {
  std::uint32_t root = 1;
  while ((root * root + 1) % p != 0) ++root;
  return root;
}

// sum += x factor.
void add(Digits x, std::uint32_t factor, std::uint32_t (&sum)[ResidueSystem::most_digits]) {
  x = times(x, factor);
  std::uint64_t carried = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    carried += std::uint64_t{x[k]} + sum[k];
    sum[k] = static_cast<std::uint32_t>(carried);
    carried >>= 32;
  }
}

double log2_of_product(Field field, int count) {
  double sum = 0.0;
  for (int l = 0; l < count; ++l) sum += libm::log2(static_cast<double>(modulus(field, l)));
  return sum;
}

int checked(int count) {
  require(count >= least_moduli && count <= most_moduli, "emulation: ", count, " moduli; expected ", least_moduli,
          " to ", most_moduli);
  return count;
}

int digits_for(Field field, int count) {
  const double bits = log2_of_product(field, count) + libm::log2(7.0 * 256.0 * count) + 1.0;
  const int digits = std::max(3, static_cast<int>(std::ceil(bits / 32.0)));
  return digits == 7 ? 8 : digits;
}

}  // namespace

int slices_for(double reach) {
  int slices = 1;
  for (double most = 127.0; most < reach; most = 256.0 * most + 127.0) ++slices;
  return slices;
}

ResidueSystem::ResidueSystem(Field wanted_field, int wanted_count)
    : field(wanted_field),
      count(checked(wanted_count)),
      split(field == Field::real ? 0 : std::min(count, split_moduli)),
      digits(digits_for(field, count)),
      log2_product(log2_of_product(field, count)),
      modulus{},
      divisor{},
      reciprocal{},
      inverse{},
      weight{},
      imaginary_weight{},
      product{},
      start{},
      imaginary_start{},
      root{},
      small_divisor{},
      small_inverse{} {
  Digits all{1};
  double rounded = 1.0;
  for (int l = 0; l < count; ++l) {
    modulus[l] = static_cast<std::uint32_t>(impl::modulus(field, l));
    reciprocal[l] = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / modulus[l]);
    divisor[l] = modulus[l];
    inverse[l] = 1.0 / modulus[l];
    small_divisor[l] = static_cast<float>(modulus[l]);
    small_inverse[l] = 1.0F / small_divisor[l];
    all = times(all, modulus[l]);
    rounded *= modulus[l];
  }
  std::copy(all.begin(), all.end(), product);
  telling_inverse = std::ldexp(1.0 / rounded, 32 * (digits - telling_digits(digits)));
  reach = std::sqrt(rounded / 2.0) * (1.0 - 0x1p-20);
  for (int l = 0; l < count; ++l) {
    const std::uint32_t p = modulus[l];
    Digits others{1};
    for (int k = 0; k < count; ++k) {
      if (k != l) others = times(others, modulus[k]);
    }
    const std::uint32_t inverse_of_others = inverse_of(remainder(others, p), p);
    const auto weigh = [&](std::uint32_t factor, std::uint32_t(&w)[most_digits]) {
      const Digits digits_of_w = times(others, inverse_of_others * factor % p);
      std::copy(digits_of_w.begin(), digits_of_w.end(), w);
      return digits_of_w;
    };
    const auto lift = static_cast<std::uint32_t>((std::uint64_t{1} << 31) % p);
    if (l < split) {
      const std::uint32_t j = root_of_minus_one(p);
      const std::uint32_t half = (p + 1) / 2;
      root[l] = static_cast<float>(j);
      add(weigh(half, weight[l]), 2 * (p - lift), start);
      weigh(half * (p - j) % p, imaginary_weight[l]);
    } else {
      const Digits w = weigh(1, weight[l]);
      if (field == Field::real) {
        add(w, p - lift, start);
      } else {
        add(w, lift, imaginary_start);
      }
    }
  }
}

const ResidueSystem& residue_system(Field field, int moduli) {
  static const auto systems = [] {
    std::array<std::vector<ResidueSystem>, 2> all;
    for (int count = least_moduli; count <= most_moduli; ++count) {
      all[0].emplace_back(Field::real, count);
      all[1].emplace_back(Field::complex, count);
    }
    return all;
  }();
  return systems[field == Field::real ? 0 : 1][static_cast<std::size_t>(checked(moduli) - least_moduli)];
}

}  // namespace heddle::impl
