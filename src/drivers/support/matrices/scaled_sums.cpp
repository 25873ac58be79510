// Sums that neither over- nor underflow, with the sizes of what was summed.
#include "drivers/support/matrices/scaled_sums.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::driver {

bool is_finite(double value) {
  return std::isfinite(value);
}
bool is_finite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

double scaled(double value, int exponent) {
  return std::ldexp(value, exponent);
}
std::complex<double> scaled(const std::complex<double>& value, int exponent) {
  return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
}

int exponent_of(double value) {
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));
  return exponent;
}
int exponent_of(const std::complex<double>& value) {
  return exponent_of(std::max(std::abs(value.real()), std::abs(value.imag())));
}

template <class Number> void ScaledSums<Number>::leave_out(std::size_t i) {
  number[i] = Number(0);
  size[i] = 0;
  exponent[i] = nothing;
}

template <class Number> void ScaledSums<Number>::normalise() {
  for (std::size_t i = 0; i < size.size(); ++i) {
    int more = 0;
    size[i] = std::frexp(size[i], &more);
    number[i] = scaled(number[i], -more);
    exponent[i] = size[i] == 0 ? nothing : exponent[i] + more;
  }
}

template <class Number> void ScaledSums<Number>::add(const Number& factor, const ScaledSums& other) {
  if (factor == Number(0)) return;
  const int raised = exponent_of(factor);
  const Number f = scaled(factor, -raised);
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (other.size[i] == 0) continue;
    const int theirs = other.exponent[i] + raised;
    const int common = std::max(exponent[i], theirs);
    number[i] = scaled(number[i], exponent[i] - common) + scaled(f * other.number[i], theirs - common);
    size[i] = std::ldexp(size[i], exponent[i] - common) + std::ldexp(std::abs(f) * other.size[i], theirs - common);
    exponent[i] = common;
  }
}

template struct ScaledSums<double>;
template struct ScaledSums<std::complex<double>>;

}  // namespace heddle::driver
