#include "expm/scheme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl {

PowerNorms::PowerNorms(double norm) : norm_(norm) {
  logs_[1] = std::log2(norm);
  derive(2);
}

void PowerNorms::add(double norm) {
  ++known_;
  // A product of lower powers' bounds may be smaller, by rounding.
  if (norm >= 0.0 && std::isfinite(norm)) {
    const auto k = static_cast<std::size_t>(known_);
    logs_[k] = std::min(logs_[k], std::log2(norm));
  }
  derive(known_ + 1);
}

void PowerNorms::derive(int from) {
  for (int k = from; k <= count; ++k) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 1; i <= std::min(known_, k - 1); ++i) {
      least = std::min(least, logs_[static_cast<std::size_t>(i)] + logs_[static_cast<std::size_t>(k - i)]);
    }
    logs_[static_cast<std::size_t>(k)] = least;
  }
}

double PowerNorms::alpha(int degree) const {
  double largest = -std::numeric_limits<double>::infinity();
  for (int k = degree + 1; k <= 2 * degree + 1; ++k) {
    largest = std::max(largest, logs_[static_cast<std::size_t>(k)] / k);
  }
  // Logarithms round; the norm itself does not.
  return known_ == 1 ? norm_ : std::min(norm_, std::exp2(largest) * (1.0 + 0x1p-40));
}

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

Scheme choose_scheme(const PowerNorms& norms, double tolerance, const ProductCosts& costs) {
  Scheme best;
  int least = std::numeric_limits<int>::max();
  for (int powers = norms.known(); powers <= Scheme::most_powers; ++powers) {
    // With more blocks than powers, one block less and one power more reach as far and cost no more.
    for (int blocks = 1; blocks <= powers; ++blocks) {
      Scheme scheme{powers * blocks, powers, blocks, 0};
      double theta = norms.alpha(scheme.degree);
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
  }
  return best;
}

int scaling_before_powers(double norm, int max_exponent) {
  const int most = max_exponent / (2 * Scheme::most_powers);
  int exponent = 0;
  std::frexp(norm, &exponent);
  return std::max(exponent - most, 0);
}

}  // namespace heddle::impl
