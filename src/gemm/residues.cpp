#include "gemm/residues.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>

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

double log2_of_product(int count) {
  double sum = 0.0;
  for (int l = 0; l < count; ++l) sum += std::log2(all_moduli[static_cast<std::size_t>(l)]);
  return sum;
}

int checked(int count) {
  require(count >= least_moduli && count <= most_moduli, "emulation: ", count, " moduli; expected ", least_moduli,
          " to ", most_moduli);
  return count;
}

}  // namespace

int digits_for(int count) {
  const double bits = log2_of_product(count) + std::log2(6.0 * 256.0 * count) + 1.0;
  const int digits = std::max(3, static_cast<int>(std::ceil(bits / 32.0)));
  return digits == 7 ? 8 : digits;
}

int slices_for(double reach) {
  int slices = 1;
  for (double most = 127.0; most < reach; most = 256.0 * most + 127.0) ++slices;
  return slices;
}

ResidueSystem::ResidueSystem(int wanted)
    : count(checked(wanted)),
      digits(digits_for(count)),
      log2_product(log2_of_product(count)),
      modulus{},
      divisor{},
      reciprocal{},
      inverse{},
      weight{},
      product{} {
  Digits all{1};
  double rounded = 1.0;
  for (int l = 0; l < count; ++l) {
    modulus[l] = static_cast<std::uint32_t>(all_moduli[static_cast<std::size_t>(l)]);
    reciprocal[l] = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / modulus[l]);
    divisor[l] = modulus[l];
    inverse[l] = 1.0 / modulus[l];
    all = times(all, modulus[l]);
    rounded *= modulus[l];
  }
  std::copy(all.begin(), all.end(), product);
  telling_inverse = std::ldexp(1.0 / rounded, 32 * (digits - telling_digits(digits)));
  reach = std::sqrt(rounded / 2.0) * (1.0 - 0x1p-20);
  for (int l = 0; l < count; ++l) {
    Digits others{1};
    for (int k = 0; k < count; ++k) {
      if (k != l) others = times(others, modulus[k]);
    }
    const Digits w = times(others, inverse_of(remainder(others, modulus[l]), modulus[l]));
    std::copy(w.begin(), w.end(), weight[l]);
  }
}

}  // namespace heddle::impl
