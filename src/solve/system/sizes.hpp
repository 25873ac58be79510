// Decisions about the sizes of rows and columns that equilibration takes.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace heddle::impl {

/// Whether all numbers are positive and finite.
inline bool are_sizes(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x > 0 && std::isfinite(x); });
}
/// The exponent of the power of two that brings a size into [1/2, 1).
inline Index exponent_of_size(double size) {
  return -std::ilogb(size) - 1;
}
inline std::vector<Index> exponents_of(std::span<const double> sizes) {
  std::vector<Index> exponents(sizes.size());
  std::transform(sizes.begin(), sizes.end(), exponents.begin(), exponent_of_size);
  return exponents;
}
/// Whether sizes differ by more than the tolerated factor.
inline bool are_apart(std::span<const double> sizes) {
  constexpr double least = 0.1;
  const auto [low, high] = std::minmax_element(sizes.begin(), sizes.end());
  return *low < least * *high;
}
/// Whether sizes differ, or are so near the ends of the range that eliminations over- or underflow.
template <Scalar T> bool want_scaling(std::span<const double> sizes) {
  constexpr double small =
      static_cast<double>(std::numeric_limits<Real<T>>::min()) / std::numeric_limits<Real<T>>::epsilon();
  const double most = *std::max_element(sizes.begin(), sizes.end());
  return are_apart(sizes) || most < small || most > 1.0 / small;
}
/// The exponent that brings a diagonal element of a positive definite matrix into [1/4, 1), from both sides: an odd
/// exponent leaves a factor of two.
inline Index half_exponent_of_size(double size) {
  const Index exponent = exponent_of_size(size);
  return (exponent - (exponent % 2 != 0 ? 1 : 0)) / 2;
}

}  // namespace heddle::impl
