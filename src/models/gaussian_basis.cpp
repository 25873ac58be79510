// Gaussian basis sets: normalisation, evaluation, even-tempered exponents and Slater's rules.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/gaussian_basis.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace heddle::models {

namespace {

constexpr int most_angular = 6;

double binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  double value = 1;
  for (int i = 1; i <= k; ++i) value *= static_cast<double>(n - k + i) / i;
  return value;
}

std::size_t cartesian_index(int l, int x, int y) {
  const int below = l - x;
  return static_cast<std::size_t>(below * (below + 1) / 2 + below - y);
}

// A group of Slater's rules, (1s) (2s2p) (3s3p) (3d) or (4s4p), with its electrons.
struct SlaterShell {
  int electrons;
  int principal;  // Slater's effective number is the same, except 3.7 for 4.
  bool d;
};

// Groups in the order of filling, without exceptions such as chromium's.
std::vector<SlaterShell> slater_shells(double charge) {
  int left = static_cast<int>(std::ceil(charge - 1e-9));
  std::vector<SlaterShell> shells;
  const auto fill = [&](int capacity, int principal, bool d) {
    const int taken = std::min(left, capacity);
    if (taken > 0) shells.push_back({taken, principal, d});
    left -= taken;
    return taken;
  };
  fill(2, 1, false);
  fill(8, 2, false);
  fill(8, 3, false);
  const int outer = fill(2, 4, false);
  fill(10, 3, true);
  if (left > 0 && outer > 0) {
    for (SlaterShell& shell : shells) {
      if (shell.principal == 4) shell.electrons += left;
    }
  }
  return shells;
}

// zeta = (Z - s)/n of one of these shells.
double slater_exponent(double charge, const std::vector<SlaterShell>& shells, std::size_t which) {
  const SlaterShell& own = shells[which];
  double screening = (own.principal == 1 ? 0.30 : 0.35) * (own.electrons - 1);
  for (std::size_t k = 0; k < shells.size(); ++k) {
    if (k == which) continue;
    const SlaterShell& other = shells[k];
    const bool inside = other.principal < own.principal || (own.d && other.principal == own.principal && !other.d);
    if (!inside) continue;
    screening += other.electrons * (!own.d && other.principal == own.principal - 1 ? 0.85 : 1.0);
  }
  const double principal = own.principal == 4 ? 3.7 : own.principal;
  return std::max(0.3, (charge - screening) / principal);
}

// Adds shells of exponents low ratio^k, from the largest, which is at least high/ratio^(1/4), down to `low`.
void add_shells(const std::array<double, 3>& centre, int angular, double high, double low, double ratio,
                std::vector<Shell>& shells) {
  const int steps = std::max(0, static_cast<int>(std::ceil(libm::log(high / low) / libm::log(ratio) - 0.25)));
  for (int k = steps; k >= 0; --k) shells.push_back({centre, angular, {low * libm::pow(ratio, k)}, {}});
}

}  // namespace

std::vector<double> solid_harmonics(int degree) {
  require(degree >= 0 && degree <= most_angular, "basis: an angular momentum of ", degree, "; expected 0 to ",
          most_angular);
  const auto columns = static_cast<std::size_t>((degree + 1) * (degree + 2) / 2);
  std::vector<double> matrix(static_cast<std::size_t>(2 * degree + 1) * columns, 0.0);
  const auto factorial = [](int n) {
    double product = 1.0;
    for (int k = 2; k <= n; ++k) product *= k;
    return product;
  };
  for (int m = -degree; m <= degree; ++m) {
    const int order = std::abs(m);
    const double norm = std::sqrt((m == 0 ? 1.0 : 2.0) * factorial(degree + order) * factorial(degree - order)) /
                        (std::ldexp(1.0, order) * factorial(degree));
    double* row = matrix.data() + static_cast<std::size_t>(m + degree) * columns;
    for (int t = 0; 2 * t <= degree - order; ++t) {
      for (int u = 0; u <= t; ++u) {
        // w = 2v, even for m >= 0 and odd for m < 0.
        for (int w = m < 0 ? 1 : 0; w <= order; w += 2) {
          const double sign = (t + w / 2) % 2 == 0 ? 1.0 : -1.0;
          const int y = 2 * u + w;
          const int x = 2 * t + order - y;
          row[cartesian_index(degree, x, y)] += norm * sign * libm::pow(0.25, t) * binomial(degree, t) *
                                                binomial(degree - t, order + t) * binomial(t, u) * binomial(order, w);
        }
      }
    }
  }
  return matrix;
}

std::vector<Shell> even_tempered(const Molecule& molecule, const EvenTemperedOptions& options) {
  require(std::isfinite(options.ratio) && options.ratio > 1.05 && options.ratio <= 10,
          "basis: a ratio of exponents of ", options.ratio, "; expected from 1.05 to 10");
  require(options.angular >= 0 && options.angular <= 4, "basis: a largest angular momentum of ", options.angular,
          "; expected 0 to 4");
  std::vector<Shell> shells;
  for (const Atom& atom : molecule.atoms) {
    require(atom.charge >= 0.01 && atom.charge <= 36,
            "basis: the rule for exponents is for nuclei of a charge from 0.01 to 36, not ", atom.charge,
            "; give shells instead");
    const auto filled = slater_shells(atom.charge);
    // The shell of the largest principal number is not always the last.
    std::size_t outer = 0;
    for (std::size_t k = 0; k < filled.size(); ++k) {
      if (filled[k].principal > filled[outer].principal) outer = k;
    }
    const double zeta = slater_exponent(atom.charge, filled, outer);
    const double square = zeta * zeta;
    const double Z = atom.charge;
    add_shells(atom.position, 0, 1400 * libm::pow(Z, 10.0 / 3.0), 0.03 * square, options.ratio, shells);
    for (int l = 1; l <= options.angular; ++l) {
      const bool occupied = (l == 1 && Z > 4) || (l == 2 && Z > 20);
      const double high =
          occupied ? (l == 1 ? 8 : 2) * libm::pow(Z, 7.0 / 3.0) : (l == 1 ? 12 : 6.0 / (l + 1)) * square;
      const double low = (occupied ? 0.03 : 0.1 * l) * square;
      add_shells(atom.position, l, high, low, options.ratio, shells);
    }
  }
  return shells;
}

std::vector<GaussianCharge> slater_charges(const Molecule& molecule) {
  std::vector<GaussianCharge> charges;
  for (const Atom& atom : molecule.atoms) {
    const auto filled = slater_shells(atom.charge);
    double left = atom.charge;
    for (std::size_t k = 0; k < filled.size(); ++k) {
      const double zeta = slater_exponent(atom.charge, filled, k);
      const double n = filled[k].principal == 4 ? 3.7 : filled[k].principal;
      // <r^2> = (2n + 1)(2n + 2)/(4 zeta^2) of Slater's orbital, 3/(2 b) of the Gaussian.
      const double exponent = 6 * zeta * zeta / ((2 * n + 1) * (2 * n + 2));
      const double electrons = std::min(left, static_cast<double>(filled[k].electrons));
      charges.push_back({electrons, atom.position, exponent});
      left -= electrons;
    }
  }
  return charges;
}

GaussianBasis::GaussianBasis(std::vector<Shell> shells) : shells_(std::move(shells)) {
  require(!shells_.empty(), "basis: there is no function in it");
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    Shell& shell = shells_[s];
    require(shell.angular >= 0 && shell.angular <= most_angular, "basis: shell ", s + 1, " has an angular momentum of ",
            shell.angular, "; expected 0 to ", most_angular);
    if (shell.coefficients.empty() && shell.exponents.size() == 1) shell.coefficients = {1.0};
    require(!shell.exponents.empty() && shell.exponents.size() == shell.coefficients.size(), "basis: shell ", s + 1,
            " has ", shell.exponents.size(), " exponents and ", shell.coefficients.size(),
            " coefficients; expected as many of each, at least one");
    for (const double x : shell.centre) {
      require(std::isfinite(x), "basis: the centre of shell ", s + 1, " is at ", x, "; expected a finite number");
    }
    // The integral of S_lm^2 exp(-p r^2) is 4 pi/(2l + 1) Gamma(l + 3/2)/(2 p^(l + 3/2)), and Gamma(l + 3/2) the root
    // of pi times (1/2)(3/2) ... (l + 1/2).
    const int l = shell.angular;
    double gamma = 0.5;
    for (int k = 1; k <= l; ++k) gamma *= k + 0.5;
    gamma /= std::numbers::inv_sqrtpi;
    const auto integral = [l, gamma](double p) {
      return 2 * std::numbers::pi / (2 * l + 1) * gamma * libm::pow(p, -l - 1.5);
    };
    for (std::size_t k = 0; k < shell.exponents.size(); ++k) {
      const double exponent = shell.exponents[k];
      require(std::isfinite(exponent) && exponent > 0 && std::isfinite(shell.coefficients[k]), "basis: exponent ",
              exponent, " and coefficient ", shell.coefficients[k], " of shell ", s + 1,
              "; expected a positive and a finite number");
      shell.coefficients[k] /= std::sqrt(integral(2 * exponent));
    }
    double norm = 0;
    for (std::size_t i = 0; i < shell.exponents.size(); ++i) {
      for (std::size_t j = 0; j < shell.exponents.size(); ++j) {
        norm += shell.coefficients[i] * shell.coefficients[j] * integral(shell.exponents[i] + shell.exponents[j]);
      }
    }
    require(std::isfinite(norm) && norm > 1e-12, "basis: the functions of shell ", s + 1, " vanish");
    for (double& coefficient : shell.coefficients) coefficient /= std::sqrt(norm);
    first_.push_back(size_);
    size_ += static_cast<std::size_t>(2 * l + 1);
    while (harmonics_.size() <= static_cast<std::size_t>(l)) {
      harmonics_.push_back(solid_harmonics(static_cast<int>(harmonics_.size())));
    }
  }
}

void GaussianBasis::evaluate(const std::array<double, 3>& point, std::span<double> values,
                             std::span<double> gradients) const {
  require(values.size() == size_, "basis: room for ", values.size(), " values of ", size_, " functions");
  require(gradients.empty() || gradients.size() == 3 * size_, "basis: room for ", gradients.size(), " derivatives of ",
          size_, " functions");
  std::array<std::array<double, most_angular + 1>, 3> powers{};
  const std::array<double, 3>* centre = nullptr;
  double square = 0;
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    const Shell& shell = shells_[s];
    if (centre == nullptr || *centre != shell.centre) {
      centre = &shell.centre;
      square = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = point[d] - (*centre)[d];
        square += x * x;
        powers[d][0] = 1;
        for (std::size_t k = 1; k <= most_angular; ++k) powers[d][k] = powers[d][k - 1] * x;
      }
    }
    double radial = 0;
    double slope = 0;  // d radial/dr over r
    for (std::size_t k = 0; k < shell.exponents.size(); ++k) {
      const double term = shell.coefficients[k] * libm::exp(-shell.exponents[k] * square);
      radial += term;
      slope -= 2 * shell.exponents[k] * term;
    }
    const int l = shell.angular;
    const double* coefficient = harmonics_[static_cast<std::size_t>(l)].data();
    for (int m = 0; m <= 2 * l; ++m) {
      double polynomial = 0;
      std::array<double, 3> by_axis{};
      for (int x = l; x >= 0; --x) {
        for (int y = l - x; y >= 0; --y) {
          const std::array<std::size_t, 3> degree = {static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                                                     static_cast<std::size_t>(l - x - y)};
          const double factor = *coefficient++;
          polynomial += factor * powers[0][degree[0]] * powers[1][degree[1]] * powers[2][degree[2]];
          if (gradients.empty() || factor == 0) continue;
          for (std::size_t d = 0; d < 3; ++d) {
            if (degree[d] == 0) continue;
            const std::size_t one = (d + 1) % 3;
            const std::size_t other = (d + 2) % 3;
            by_axis[d] += factor * static_cast<double>(degree[d]) * powers[d][degree[d] - 1] *
                          powers[one][degree[one]] * powers[other][degree[other]];
          }
        }
      }
      const std::size_t at = first_[s] + static_cast<std::size_t>(m);
      values[at] = radial * polynomial;
      for (std::size_t d = 0; d < 3 && !gradients.empty(); ++d) {
        gradients[d * size_ + at] = radial * by_axis[d] + slope * powers[d][1] * polynomial;
      }
    }
  }
}

}  // namespace heddle::models
