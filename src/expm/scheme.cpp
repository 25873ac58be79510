#include "expm/scheme.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace heddle::impl {

double backward_error(int degree, double theta) {
  if (theta == 0.0) {
    return 0.0;
  }
  // theta^(m+1) / m! sum_j theta^j / (j! (m + 1 + j)), all terms positive.
  double factor = 1.0;
  for (int k = 1; k <= degree; ++k) {
    factor *= theta / k;
  }
  double sum = 0.0;
  double power = 1.0;
  for (int j = 0; j < 500; ++j) {
    const double term = power / (degree + 1 + j);
    sum += term;
    if (term <= sum * std::numeric_limits<double>::epsilon()) {
      break;
    }
    power *= theta / (j + 1);
  }
  // g / theta stays in range where g itself, or the tolerance, is tiny.
  const double g_over_theta = factor * sum;
  const double g = g_over_theta * theta;
  if (!(g < 0.5)) {
    return std::numeric_limits<double>::infinity();
  }
  return g < 1e-8 ? g_over_theta * (1.0 + g) : -std::log1p(-g) / theta;
}

int products_of(const Scheme& scheme, const ProductCosts& costs) {
  return (scheme.powers - 1) * costs.power + (scheme.blocks - 1) * costs.horner + scheme.squarings * costs.square;
}

Scheme choose_scheme(double norm, double tolerance, const ProductCosts& costs) {
  // Degrees beyond which another product would reach further: those of Paterson and Stockmeyer.
  constexpr std::array<std::array<int, 2>, 11> shapes = {
      {{1, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 3}, {4, 3}, {4, 4}, {5, 4}, {5, 5}, {6, 5}, {6, 6}}};
  Scheme best;
  int least = std::numeric_limits<int>::max();
  for (const auto& [powers, blocks] : shapes) {
    Scheme scheme{powers * blocks, powers, blocks, 0};
    double theta = norm;
    while (backward_error(scheme.degree, theta) > tolerance) {
      theta /= 2.0;
      ++scheme.squarings;
    }
    const int products = products_of(scheme, costs);
    if (products < least || (products == least && scheme.squarings < best.squarings)) {
      best = scheme;
      least = products;
    }
  }
  return best;
}

}  // namespace heddle::impl
