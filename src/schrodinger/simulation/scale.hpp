// Scaling of a wave function for sums of squares.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

namespace heddle::impl {

/// Return 1, or the power of two that brings psi near 1 if its squares would overflow or vanish.
[[nodiscard]] inline double scale_of(std::span<const std::complex<double>> state) {
  double largest = 0.0;
  for (const auto& value : state) largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  constexpr double ordinary = 0x1p200;
  if (!(largest > 0) || !std::isfinite(largest) || (largest < ordinary && largest > 1 / ordinary)) return 1.0;
  return std::scalbn(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
}

}  // namespace heddle::impl
