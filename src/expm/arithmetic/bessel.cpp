// Bessel functions by Miller's recurrence.
#include "expm/arithmetic/bessel.hpp"

#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {

std::vector<double> bessel_functions(double x, int count, Bessel kind) {
  const bool modified = kind == Bessel::modified;
  if (x < 1e-8) {
    // Terms (x / 2)^k / k!; the next term is below round-off.
    std::vector<double> values = {modified ? libm::exp(-x) : 1.0};
    for (int k = 1; k <= count; ++k) values.push_back(values.back() * (0.5 * x / k));
    return values;
  }
  // The recurrence starts so far out that its start has no influence: both functions fall faster than (e x / 2 k)^k,
  // and exp(-x) I_k(x) falls as exp(-k^2 / 2 x) before that.
  const double beyond = std::min(1.5 * x, x + 20.0 * libm::cbrt(x));
  const double far = modified ? std::min(beyond, std::max(std::sqrt(300.0 * x), 1.3 * count)) : beyond;
  const int start = std::max(count, static_cast<int>(far)) + 60;
  std::vector<double> values(static_cast<std::size_t>(start) + 2);
  double next = 0.0;
  double value = 1e-300;
  double sum = 0.0;
  auto highest = static_cast<std::size_t>(start);
  for (int k = start; k >= 0; --k) {
    values[static_cast<std::size_t>(k)] = value;
    sum += k == 0 ? value : modified || k % 2 == 0 ? 2.0 * value : 0.0;
    const double previous = 2.0 * k / x * value + (modified ? next : -next);
    next = value;
    value = previous;
    if (std::abs(value) > 1e250) {
      const double down = 1e-280;
      value *= down;
      next *= down;
      sum *= down;
      // The highest orders soon are zero.
      while (values[highest] == 0.0) --highest;
      for (auto j = static_cast<std::size_t>(k); j <= highest; ++j) values[j] *= down;
    }
  }
  values.resize(static_cast<std::size_t>(count) + 1);
  for (double& bessel : values) bessel /= sum;
  return values;
}

}  // namespace heddle::impl
