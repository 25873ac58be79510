// Chebyshev coefficients of cos and sin, bounds of their truncation errors, and the choice of the scheme.
#include "expm/dense/trigonometric.hpp"

#include "expm/arithmetic/bessel.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl {

double TrigonometricScheme::angles() const noexcept {
  return std::ldexp(libm::pow(5.0, quintuplings), squarings);
}

int products_of(const TrigonometricScheme& scheme, const TrigonometricCosts& costs) {
  const int polynomials = scheme.powers == 0 ? 0 : scheme.powers + 2 * (scheme.blocks - 1) + 1;
  return polynomials * costs.product + scheme.squarings * costs.square + scheme.quintuplings * costs.quintuple;
}

TrigonometricSeries trigonometric_series(int degree, double theta) {
  const auto terms = static_cast<std::size_t>(degree) + 1;
  TrigonometricSeries series{std::vector<double>(terms), std::vector<double>(terms)};
  if (theta == 0.0) {
    series.cosine[0] = 1.0;
    return series;
  }
  const std::vector<double> bessel = bessel_functions(theta, 2 * degree + 1);
  double tail = 0.0;
  for (std::size_t k = terms; k-- > 0;) {
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    series.cosine[k] = (k == 0 ? 1.0 : 2.0) * sign * bessel[2 * k];
    // T_(2k+1)(t) / t = 2 T_k(z) - T_(2k-1)(t) / t.
    tail = 2.0 * sign * bessel[2 * k + 1] - tail;
    series.sine[k] = (k == 0 ? 1.0 : 2.0) * tail;
  }
  return series;
}

double trigonometric_error(int degree, double theta) {
  if (theta == 0.0) {
    return 0.0;
  }
  if (!(theta < 1e3)) {
    return std::numeric_limits<double>::infinity();
  }
  const int first = 2 * degree + 2;
  // |J_k(x)| <= (x / 2)^k / k!, a geometric series once k > x, and far below the recurrence's own rounding.
  if (first > theta) {
    double term = 1.0;
    for (int k = 1; k <= first; ++k) term *= theta / 2.0 / k;
    const double ratio = theta / 2.0 / (first + 1);
    const double even = 2.0 * term / (1.0 - ratio * ratio);
    const double odd = even * ratio;
    return std::max(even / std::max(1.0, theta), odd / theta);
  }
  return std::numeric_limits<double>::infinity();
}

TrigonometricScheme choose_trigonometric(double norm, double tolerance, const TrigonometricCosts& costs) {
  const int most_quintuplings = costs.quintuple > 0 ? TrigonometricScheme::most_quintuplings : 0;
  TrigonometricScheme best;
  int least = std::numeric_limits<int>::max();
  const auto consider = [&](TrigonometricScheme scheme) {
    scheme.theta = norm / scheme.angles();
    while (!(trigonometric_error(scheme.degree(), scheme.theta) <= tolerance) && products_of(scheme, costs) <= least) {
      scheme.theta /= 2.0;
      ++scheme.squarings;
    }
    const int products = products_of(scheme, costs);
    if (products < least || (products == least && scheme.angles() < best.angles())) {
      best = scheme;
      least = products;
    }
  };
  for (int powers = 0; powers <= TrigonometricScheme::most_powers; ++powers) {
    for (int blocks = 1; blocks <= (powers == 0 ? 1 : TrigonometricScheme::most_blocks); ++blocks) {
      for (int quintuplings = 0; quintuplings <= (powers == 0 ? 0 : most_quintuplings); ++quintuplings) {
        consider({.powers = powers, .blocks = blocks, .quintuplings = quintuplings});
      }
    }
  }
  return best;
}

std::vector<std::vector<double>> horner_blocks(std::vector<double> series, int powers) {
  std::vector<std::vector<double>> blocks;
  const auto width = static_cast<std::size_t>(powers);
  // T_k = 2 T_p T_(k-p) - T_|k-2p| takes the highest terms to the quotient, one after the other.
  while (series.size() > width + 1) {
    std::vector<double> quotient(series.size() - width);
    for (std::size_t k = series.size() - 1; k >= width; --k) {
      const double coefficient = series[k];
      series[k] = 0.0;
      if (k == width) {
        quotient[0] += coefficient;
      } else {
        quotient[k - width] += 2.0 * coefficient;
        series[k >= 2 * width ? k - 2 * width : 2 * width - k] -= coefficient;
      }
    }
    series.resize(width);
    blocks.push_back(series);
    series = quotient;
  }
  blocks.push_back(series);
  return blocks;
}

}  // namespace heddle::impl
