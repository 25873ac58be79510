// Choice of polynomial and squarings from bounds of the norms of powers, and bounds of backward errors.
#include "expm/dense/scheme.hpp"

#include "libm/functions.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::impl {

PowerNorms::PowerNorms(double norm, double least) : norm_(norm), least_(least) {
  given_.fill(std::numeric_limits<double>::infinity());
  given_[1] = libm::log2(norm);
  derive();
}

void PowerNorms::add(double norm) {
  ++known_;
  if (known_ <= count && std::isfinite(norm)) given_[static_cast<std::size_t>(known_)] = counted(known_, norm);
  norm_alone_ = false;
  derive();
}

void PowerNorms::learn(int power, double norm) {
  norm_alone_ = false;
  if (power <= count && norm >= 0.0 && std::isfinite(norm)) {
    double& given = given_[static_cast<std::size_t>(power)];
    given = std::min(given, counted(power, norm));
  }
  derive();
}

double PowerNorms::counted(int power, double norm) const {
  return norm > 0.0 ? std::max(libm::log2(norm), power * libm::log2(least_)) : libm::log2(norm);
}

void PowerNorms::derive() {
  for (std::size_t k = 1; k < logs_.size(); ++k) {
    // A product of bounds of lower powers may be smaller, by rounding.
    logs_[k] = given_[k];
    for (std::size_t i = 1; 2 * i <= k; ++i) logs_[k] = std::min(logs_[k], logs_[i] + logs_[k - i]);
  }
}

void PowerNorms::scale(int exponent) {
  norm_ = std::ldexp(norm_, exponent);
  least_ = std::ldexp(least_, exponent);
  for (std::size_t k = 1; k < given_.size(); ++k) given_[k] += static_cast<double>(k) * exponent;
  derive();
}

int PowerNorms::vanishing() const {
  for (std::size_t k = 1; k < logs_.size(); ++k) {
    if (logs_[k] == -std::numeric_limits<double>::infinity()) return static_cast<int>(k);
  }
  return 0;
}

double PowerNorms::alpha(int degree) const {
  double largest = -std::numeric_limits<double>::infinity();
  for (int k = degree + 1; k <= 2 * degree + 1; ++k) {
    largest = std::max(largest, logs_[static_cast<std::size_t>(k)] / k);
  }
  // Logarithms round; the norm itself does not.
  return norm_alone_ ? norm_ : std::min(norm_, libm::exp2(largest) * (1.0 + 0x1p-40));
}

std::vector<double> PowerNorms::betas() const {
  std::vector<double> found(most_degree + 1, norm_);
  if (norm_alone_ || norm_ == 0.0) {
    return found;
  }
  // ||A^j|| / norm^j, from their bounds.
  const double scale = libm::log2(norm_);
  std::array<double, count + 1> share{};
  share[0] = 1.0;
  for (std::size_t j = 1; j < share.size(); ++j) {
    share[j] = libm::exp2(logs_[j] - static_cast<double>(j) * scale);
  }
  // The largest of the sums' roots for k = degree + 1 ... count + 1, to base 2.
  double largest = -std::numeric_limits<double>::infinity();
  for (int k = count + 1; k > 0; --k) {
    double sum = 0.0;
    for (int j = 0; j < k; ++j) sum += share[static_cast<std::size_t>(j)] * share[static_cast<std::size_t>(k - 1 - j)];
    if (k > 1) largest = std::max(largest, scale + libm::log2(sum / k) / (k - 1));
    if (const int degree = k - 1; degree <= most_degree) {
      // For k > count + 1, one of j and k - 1 - j is beyond any degree: the sum is at most k c alpha^(k-1) with the
      // largest c of 1 and ||A^j|| / alpha^j for j <= degree.
      const double log_alpha = libm::log2(alpha(degree));
      double reached = std::max(largest, log_alpha);
      for (int j = 1; j <= degree; ++j) {
        const double part = 1.0 / (count + 1);
        reached = std::max(reached, part * logs_[static_cast<std::size_t>(j)] + (1.0 - part * j) * log_alpha);
      }
      found[static_cast<std::size_t>(degree)] = std::min(norm_, libm::exp2(reached) * (1.0 + 0x1p-40));
    }
  }
  return found;
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
  // g / theta stays in range if g itself, or the tolerance, is tiny.
  const double g_over_theta = factor * sum;
  const double g = g_over_theta * theta;
  if (!(g < 0.5)) {
    return std::numeric_limits<double>::infinity();
  }
  return g < 1e-8 ? g_over_theta * (1.0 + g) : -libm::log1p(-g) / theta;
}

namespace {

constexpr int majorant_terms = 60;
using MajorantTerms = std::array<double, majorant_terms>;

// Sizes of the terms m + 1, m + 2 ... of exp(-x) times (polynomial - exp), relative to 1 / (m + 1)!.
MajorantTerms majorant_terms_of(const FewProducts& polynomial) {
  const int first = polynomial.degree + 1;
  MajorantTerms missing{};
  double exponential = 1.0;
  for (int k = 0; k < majorant_terms; ++k) {
    const auto at = static_cast<std::size_t>(k);
    missing[at] = (k < polynomial.beyond ? polynomial.ratios[at] - 1.0 : -1.0) * exponential;
    exponential /= first + k + 1;
  }
  MajorantTerms sizes{};
  for (int k = 0; k < majorant_terms; ++k) {
    double coefficient = 0.0;
    double factor = 1.0;
    for (int i = k; i >= 0; --i) {
      coefficient += missing[static_cast<std::size_t>(i)] * factor;
      factor /= -(k - i + 1);
    }
    sizes[static_cast<std::size_t>(k)] = std::abs(coefficient);
  }
  return sizes;
}

// Cached, because they cost more than a small exponential and do not change.
const MajorantTerms& kept_majorant_terms(const FewProducts& polynomial) {
  static const std::vector<std::pair<const FewProducts*, MajorantTerms>> kept = [] {
    std::vector<std::pair<const FewProducts*, MajorantTerms>> all;
    for (const FewProducts& one : few_products()) all.emplace_back(&one, majorant_terms_of(one));
    return all;
  }();
  for (const auto& [of, terms] : kept) {
    if (of == &polynomial) return terms;
  }
  throw Error(ErrorKind::argument, "backward_error: a polynomial that few_products() does not have");
}

// g and its derivative for a polynomial with terms beyond its degree.
struct Majorant {
  double value;
  double derivative;
};
Majorant majorant_of(const FewProducts& polynomial, double theta) {
  const MajorantTerms& sizes = kept_majorant_terms(polynomial);
  const int first = polynomial.degree + 1;
  double leading = 1.0;  // theta^m / (m + 1)!
  for (int k = 2; k <= first; ++k) leading *= theta / k;
  double sum = 0.0;
  double weighted = 0.0;
  double power = 1.0;
  for (int k = 0; k < majorant_terms; ++k) {
    const double term = sizes[static_cast<std::size_t>(k)] * power;
    sum += term;
    weighted += (first + k) * term;
    power *= theta;
  }
  return {leading * theta * sum, leading * weighted};
}

}  // namespace

double backward_error(const FewProducts& polynomial, double theta) {
  if (theta == 0.0) {
    return 0.0;
  }
  const double g = majorant_of(polynomial, theta).value;
  // For these the terms left out are below rounding.
  return theta < 8.0 && g < 0.5 ? -libm::log1p(-g) / theta : std::numeric_limits<double>::infinity();
}

double derivative_error(const Scheme& scheme, double theta) {
  Majorant g{};
  if (scheme.few != nullptr) {
    g = majorant_of(*scheme.few, theta);
    if (!(theta < 8.0)) g.value = 1.0;
  } else {
    // g' = exp(theta) theta^m / m!; its integral g is at most theta times as large.
    g.derivative = libm::exp(theta);
    for (int k = 1; k <= scheme.degree; ++k) g.derivative *= theta / k;
    g.value = g.derivative * theta / (scheme.degree + 1);
  }
  return g.value < 0.5 ? g.derivative / (1.0 - g.value) : std::numeric_limits<double>::infinity();
}

double backward_error(const Scheme& scheme, const PowerNorms& norms) {
  const double theta = std::ldexp(norms.alpha(scheme.degree), -scheme.squarings);
  return scheme.few != nullptr ? backward_error(*scheme.few, theta) : backward_error(scheme.degree, theta);
}

int products_of(const Scheme& scheme, const ProductCosts& costs, int made) {
  const int powers = std::max(scheme.powers, made) - 1;
  const int further = scheme.few != nullptr ? costs.horner + (scheme.few->products - 1) * costs.square
                                            : (scheme.blocks - 1) * costs.horner;
  return powers * costs.power + further + scheme.squarings * costs.square;
}

Scheme choose_scheme(const PowerNorms& norms, double tolerance, const ProductCosts& costs, Evaluations evaluations,
                     Wanted wanted, int halved, double unit) {
  if (const int zero = norms.vanishing(); zero > 1) {
    // The last nonzero derivative of a power is A^(zero - 1) D A^(zero - 1).
    const int powers = wanted == Wanted::derivative ? 2 * zero - 1 : zero;
    if (powers <= Scheme::most_powers) return {powers, powers, 1, nullptr, -halved};
  }
  Scheme best;
  int least = std::numeric_limits<int>::max();
  bool squarings_first = false;
  const std::vector<double> betas = wanted == Wanted::derivative ? norms.betas() : std::vector<double>();
  const auto consider = [&](Scheme scheme) {
    const double whole = betas.empty() ? norms.alpha(scheme.degree) : betas[static_cast<std::size_t>(scheme.degree)];
    const auto error = [&] {
      const double theta = std::ldexp(whole, -scheme.squarings);
      if (wanted == Wanted::derivative) return derivative_error(scheme, theta);
      return scheme.few != nullptr ? backward_error(*scheme.few, theta) : backward_error(scheme.degree, theta);
    };
    // Halve theta from above until the error fits, since a bound may be of any size.
    scheme.squarings = fewest_squarings(whole, halved);
    const auto too_dear = [&] {
      return squarings_first ? scheme.squarings > best.squarings : products_of(scheme, costs, norms.known()) > least;
    };
    while (!(error() <= tolerance) && !too_dear()) ++scheme.squarings;
    if (too_dear()) return;
    const int products = products_of(scheme, costs, norms.known());
    // A higher degree at no cost is as good as a lower one, and completes the series of a nearly nilpotent matrix.
    const bool further = scheme.squarings < best.squarings ||
                         (scheme.squarings == best.squarings && scheme.few == nullptr && scheme.degree > best.degree);
    if (products < least || (products == least && further) || (squarings_first && scheme.squarings < best.squarings)) {
      best = scheme;
      least = products;
    }
  };
  const auto consider_paterson_stockmeyer = [&] {
    for (int powers = 1; powers <= Scheme::most_powers; ++powers) {
      // With more blocks than powers, one block less and one power more have the same degree or more and cost no more.
      for (int blocks = 1; blocks <= std::max(powers, 1); ++blocks)
        consider({powers * blocks, powers, blocks, nullptr, 0});
    }
  };
  if (evaluations != Evaluations::few_products) consider_paterson_stockmeyer();
  if (evaluations != Evaluations::paterson_stockmeyer) {
    if (evaluations == Evaluations::few_products) {
      for (int powers = 1; powers <= 2; ++powers) consider({powers, powers, 1, nullptr, 0});
    }
    for (const FewProducts& polynomial : few_products()) {
      consider({polynomial.degree, polynomial.powers, 1, &polynomial, 0});
    }
  }
  const double lost = libm::log2(norms.norm()) - best.squarings;
  const double spare = std::max(-0.25 * libm::log2(unit), libm::log2(tolerance / unit));
  if (evaluations != Evaluations::few_products && (best.squarings > -halved || best.few != nullptr) && lost > spare) {
    squarings_first = true;
    least = std::numeric_limits<int>::max();
    best.squarings = least;
    consider_paterson_stockmeyer();
  }
  return best;
}

int fewest_squarings(double alpha, int halved) {
  return alpha > 0.0 ? std::max(-halved, std::min(std::ilogb(alpha) - 6, 0)) : -halved;
}

bool powers_fit(const PowerNorms& norms, int halved, int max_exponent) {
  // Sums of real and imaginary parts, and of their products, are a few times as large.
  const double most = max_exponent - 6;
  bool fit = norms.log_bound(1) + halved < most;
  for (int k = 2; k <= Scheme::most_powers; ++k) {
    fit = fit && norms.log_bound(k) + k * halved < most &&
          norms.log_bound(k) + norms.log_bound(1) + (k + 1) * halved < most;
  }
  return fit;
}

int scaling_before_powers(double norm, int max_exponent) {
  const int most = max_exponent / (2 * Scheme::most_powers);
  int exponent = 0;
  std::frexp(norm, &exponent);
  return std::max(exponent - most, 0);
}

}  // namespace heddle::impl
