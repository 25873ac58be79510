// The exponential of complex numbers by correctly rounded real functions.
#include "core/complex_exponential.hpp"

#include "libm/functions.hpp"

#include <cmath>

namespace heddle::impl {
namespace {

// size 2^power factor, of which neither 2^power nor size 2^power need be a double.
double scaled_product(double size, int power, double factor) {
  int of_factor = 0;
  const double fraction = std::frexp(factor, &of_factor);
  return std::ldexp(size * fraction, power + of_factor);
}

}  // namespace

std::complex<double> exponential(const std::complex<double>& z) {
  if (z.imag() == 0.0 || std::isnan(z.real())) {
    return {libm::exp(z.real()), std::isnan(z.real()) ? z.real() : z.imag()};
  }
  // Beyond this, exp x overflows even times the smallest sine.
  constexpr double beyond = 1600.0;
  int power = 0;
  const double size = libm::exp_parts(std::fmin(std::fmax(z.real(), -beyond), beyond), &power);
  return {scaled_product(size, power, libm::cos(z.imag())), scaled_product(size, power, libm::sin(z.imag()))};
}

}  // namespace heddle::impl
