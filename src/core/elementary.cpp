// Elementary functions whose bits do not depend on a mathematical library.
#include "core/elementary.hpp"

#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

// high + low, |low| at most half a unit of high's last place.
struct Pair {
  double high;
  double low;
};

Pair normal(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

Pair sum(const Pair& x, const Pair& y) {
  const double high = x.high + y.high;
  const double second = high - x.high;
  const double lost = (x.high - (high - second)) + (y.high - second);
  return normal(high, lost + (x.low + y.low));
}

Pair product(const Pair& x, const Pair& y) {
  const double high = x.high * y.high;
  return normal(high, std::fma(x.high, y.high, -high) + (x.high * y.low + x.low * y.high));
}

Pair quotient(const Pair& x, double divisor) {
  const double high = x.high / divisor;
  return normal(high, (std::fma(-high, divisor, x.high) + x.low) / divisor);
}

// x - count * (the sum of the parts), count a whole number.
Pair remainder(double x, double count, const double (&parts)[3]) {
  Pair rest{x, 0.0};
  for (const double part : parts) rest = sum(rest, product({-count, 0.0}, {part, 0.0}));
  return rest;
}

// pi / 2 and log 2, to 160 bits.
constexpr double half_pi[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double log_two[3] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};

// first (1 + s / (k (k + 1)) (1 + s / ((k + 2)(k + 3)) ...)).
Pair alternating(const Pair& first, const Pair& minus_square, int k) {
  Pair result = first;
  Pair term = first;
  for (int last = k + 28; k < last; k += 2) {
    term = quotient(product(term, minus_square), static_cast<double>(k) * (k + 1));
    result = sum(result, term);
  }
  return result;
}

// sin(x + quarters pi / 2).
double sine_of(double x, int quarters) {
  const double count = std::nearbyint(x / half_pi[0]);
  const Pair rest = remainder(x, count, half_pi);
  const int quarter = (static_cast<int>(std::fmod(count, 4.0)) + quarters + 4) % 4;
  const Pair square = product(rest, rest);
  const Pair minus_square{-square.high, -square.low};
  const Pair value = quarter % 2 == 0 ? alternating(rest, minus_square, 2) : alternating({1.0, 0.0}, minus_square, 1);
  return quarter < 2 ? value.high : -value.high;
}

constexpr double most = 0x1p52;

}  // namespace

double sine(double x) {
  return std::abs(x) < most && x != 0.0 ? sine_of(x, 0) : std::sin(x);
}

double cosine(double x) {
  return std::abs(x) < most ? sine_of(x, 1) : std::cos(x);
}

namespace {

// exp x as high 2^power, half <= high < 2, for |x| < 2000.
double exponential_parts(double x, int& power) {
  const double count = std::nearbyint(x / log_two[0]);
  const Pair rest = remainder(x, count, log_two);
  Pair result{1.0, 0.0};
  Pair term{1.0, 0.0};
  for (int k = 1; k <= 26; ++k) {
    term = quotient(product(term, rest), k);
    result = sum(result, term);
  }
  power = static_cast<int>(count);
  return result.high;
}

// high 2^power y, of which neither factor need be a double.
double scaled_product(double high, int power, double y) {
  int of_y = 0;
  const double fraction = std::frexp(y, &of_y);
  return std::ldexp(high * fraction, power + of_y);
}

}  // namespace

double exponential(double x) {
  if (!(std::abs(x) < 800.0)) {
    return std::isnan(x) ? x : x > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  int power = 0;
  const double high = exponential_parts(x, power);
  return std::ldexp(high, power);
}

std::complex<double> exponential(const std::complex<double>& z) {
  // Beyond this, exp x overflows even times the smallest sine.
  constexpr double beyond = 1600.0;
  const double x = std::fmin(std::fmax(z.real(), -beyond), beyond);
  if (z.imag() == 0.0 || std::isnan(z.real())) {
    return {exponential(z.real()), std::isnan(z.real()) ? z.real() : z.imag()};
  }
  int power = 0;
  const double high = exponential_parts(x, power);
  return {scaled_product(high, power, cosine(z.imag())), scaled_product(high, power, sine(z.imag()))};
}

}  // namespace heddle::impl
