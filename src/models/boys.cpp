// Boys' function by Taylor series, power series and recurrences.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/gaussian_integrals.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace heddle::models {

namespace {

// F_m(x) = exp(-x) sum over k of (2x)^k/((2m + 1)(2m + 3) ... (2m + 2k + 1)): positive terms, so no digit is lost.
double boys_series(std::size_t m, double x) {
  double denominator = 2.0 * static_cast<double>(m) + 1.0;
  double term = 1 / denominator;
  double sum = term;
  while (term > 1e-17 * sum) {
    denominator += 2;
    term *= 2 * x / denominator;
    sum += term;
  }
  return libm::exp(-x) * sum;
}

// Table of F_m at x = k/16 below `table_end`. F_m' = -F_(m+1), so higher orders are Taylor coefficients.
constexpr std::size_t table_orders = 24;
constexpr std::size_t taylor_terms = 8;
constexpr double table_step = 1.0 / 16;
constexpr double table_end = 40;

class BoysTable {
 public:
  BoysTable() : values_(rows * width) {
    for (std::size_t k = 0; k < rows; ++k) {
      const double x = static_cast<double>(k) * table_step;
      double* row = values_.data() + k * width;
      row[width - 1] = boys_series(width - 1, x);
      for (std::size_t m = width - 1; m-- > 0;) {
        row[m] = (2 * x * row[m + 1] + libm::exp(-x)) / (2 * static_cast<double>(m) + 1);
      }
    }
  }

  // The remainder, (1/32)^8/8!, is below round-off.
  [[nodiscard]] double operator()(std::size_t m, double x) const {
    const auto k = static_cast<std::size_t>(x / table_step + 0.5);
    const double back = static_cast<double>(k) * table_step - x;
    const double* row = values_.data() + k * width + m;
    double sum = row[taylor_terms - 1];
    for (std::size_t i = taylor_terms - 1; i-- > 0;) sum = row[i] + back / static_cast<double>(i + 1) * sum;
    return sum;
  }

 private:
  static constexpr std::size_t width = table_orders + taylor_terms + 1;
  static constexpr std::size_t rows = static_cast<std::size_t>(table_end / table_step) + 2;
  std::vector<double> values_;
};

const BoysTable& boys_table() {
  static const BoysTable table;
  return table;
}

}  // namespace

void boys(double x, std::span<double> values) {
  require(std::isfinite(x) && x >= 0, "boys: an argument of ", x, "; expected a finite one that is not negative");
  if (values.empty()) return;
  const std::size_t top = values.size() - 1;
  if (x >= table_end && x >= static_cast<double>(top)) {
    const double exponential = libm::exp(-x);
    const double root = std::sqrt(x);
    // erf(root) rounds to 1.
    values[0] = 1 / (2 * root * std::numbers::inv_sqrtpi);
    for (std::size_t m = 0; m < top; ++m) {
      values[m + 1] = ((2 * static_cast<double>(m) + 1) * values[m] - exponential) / (2 * x);
    }
    return;
  }
  values[top] = top <= table_orders && x < table_end ? boys_table()(top, x) : boys_series(top, x);
  if (top == 0) return;
  const double exponential = libm::exp(-x);
  for (std::size_t m = top; m-- > 0;) {
    values[m] = (2 * x * values[m + 1] + exponential) / (2 * static_cast<double>(m) + 1);
  }
}

}  // namespace heddle::models
