// Determinants from the diagonal of U and the interchanges.
#pragma once

#include "solve/system/residuals.hpp"
#include <heddle/solve/solve.hpp>

#include <cmath>
#include <span>

namespace heddle::impl {

/// Return the product of the diagonal's elements in their order, with the signs of the interchanges: each element's own
/// power of two is extracted first, so that no product over- or underflows.
template <Scalar T>
Determinant<T> product_of(std::span<const std::type_identity_t<T>> diagonal, std::span<const Index> pivots) {
  Determinant<T> result{T(1), 0};
  const auto normalise = [&] {
    const double size = part_size(result.mantissa);
    if (size == 0 || !std::isfinite(real_of<double>(result.mantissa)) ||
        !std::isfinite(imaginary_of<double>(result.mantissa))) {
      return false;
    }
    const int power = std::ilogb(size) + 1;
    // In two steps, as 2^-power itself may be beyond the range.
    const int half = power / 2;
    result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, -half));
    result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, half - power));
    result.exponent += power;
    return true;
  };
  bool regular = normalise();
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const Determinant<T> before = result;
    result = {pivots[k] == static_cast<Index>(k) ? diagonal[k] : -diagonal[k], before.exponent};
    regular = normalise() && regular;
    result.mantissa = multiply_add(before.mantissa, result.mantissa, T(0));
    regular = normalise() && regular;
  }
  if (!regular) result.exponent = 0;
  return result;
}

}  // namespace heddle::impl
