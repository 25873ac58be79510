#include "core/instantiate.hpp"
#include "expm/action/bessel.hpp"
#include "expm/action/methods.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl {
namespace {

// Powers of i, of -i with `turns` = 3, of -1 with 2.
std::complex<double> power_of_i(int turns, std::size_t k) {
  constexpr std::complex<double> powers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return powers[static_cast<std::size_t>(turns) * k % 4];
}

}  // namespace

ExponentialSeries exponential_series(const std::complex<double>& z, double tolerance) {
  const bool real = z.imag() == 0.0;
  const double x = real ? z.real() : z.imag();
  const double size = std::abs(x);
  if (!(size < 1e8)) {
    throw Error(ErrorKind::computation,
                message_of("expm_action: a Chebyshev series over ", size, " has too many terms"));
  }
  ExponentialSeries series;
  series.scale = real ? size : 0.0;
  // J_k and I_k fall faster than any power beyond k = x: what follows is nothing.
  const auto last = static_cast<int>(size + 12.0 * std::cbrt(size) + 80.0);
  const std::vector<double> values = bessel_functions(size, last, real ? Bessel::modified : Bessel::first_kind);
  // I_k(-x) = (-1)^k I_k(x), I_k(i x) = i^k J_k(x), J_k(-x) = (-1)^k J_k(x).
  const int turns = (real ? 0 : 1) + (x < 0.0 ? 2 : 0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    series.coefficients.push_back((k == 0 ? 1.0 : 2.0) * values[k] * power_of_i(turns, k));
  }
  while (series.coefficients.size() > 1 && series.tail + std::abs(series.coefficients.back()) <= tolerance) {
    series.tail += std::abs(series.coefficients.back());
    series.coefficients.pop_back();
  }
  return series;
}

ExponentialSeries series_over(const ExpmActionOptions::Interval& interval, const std::complex<double>& time,
                              ExpmActionStructure structure, double tolerance) {
  const double half = 0.5 * (interval.largest - interval.least);
  const bool skew = structure == ExpmActionStructure::skew_hermitian;
  // Products that are exactly real or imaginary.
  const std::complex<double> z = skew ? std::complex(-time.imag() * half, time.real() * half) : time * half;
  return exponential_series(z, tolerance);
}

template <Scalar T>
bool act_by_chebyshev(const ActionProblem<T>& problem, const ExpmActionOptions::Interval& interval,
                      ActionWorkspace<T>& work, const MatrixView<T>& R, ExpmActionReport& report) {
  const ExecutionSpace& space = problem.space;
  const auto m = static_cast<Index>(R.extent(1));
  const bool skew = problem.structure == ExpmActionStructure::skew_hermitian;
  const double middle = 0.5 * (interval.least + interval.largest);
  const ExponentialSeries series = series_over(interval, problem.time, problem.structure, problem.tolerance);
  const std::complex<double> centre = skew ? std::complex(0.0, middle) : std::complex(middle, 0.0);
  // A large factor comes last, when columns can be scaled to suit it.
  const std::complex<double> exponent = problem.time * centre + series.scale;
  const bool last = std::abs(exponent.real()) > large_exponent<T>;
  const std::complex<double> factor = last ? 1.0 : std::exp(exponent);
  // W_k = T_k(A') for Hermitian A' = (A - centre) / half, i^k T_k(-i A') for skew-Hermitian A', which stays real where
  // A is: W_{k+1} = 2 A' W_k -+ W_{k-1}.
  const auto coefficient = [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    return scalar_from<T>(factor * series.coefficients[at] * power_of_i(skew ? 3 : 0, at));
  };
  MatrixView<T> previous = work.blocks(problem.n, 0, m, 4 * m);
  MatrixView<T> current = work.blocks(problem.n, m, m, 4 * m);
  const MatrixView<T> product = work.blocks(problem.n, 2 * m, m, 4 * m);
  const MatrixView<T> sum = work.blocks(problem.n, 3 * m, m, 4 * m);
  add_scaled<T>(space, T(1), R, T(0), current);
  add_scaled<T>(space, coefficient(0), R, T(0), sum);
  const double half = 0.5 * (interval.largest - interval.least);
  for (int k = 1; k <= series.degree(); ++k) {
    // W_k takes W_{k-2}'s place; then the names move on.
    const double twice = k == 1 ? 1.0 : 2.0;
    const T sign = k == 1 ? T(0) : T(skew ? 1 : -1);
    problem.apply(current, product);
    ++report.products;
    recur<T>(space, {scalar_from<T>(twice / half), scalar_from<T>(-twice / half * centre), sign, coefficient(k)},
             product, current, previous, sum);
    std::swap(previous, current);
  }
  const std::vector<double> before = work.columns.norms(R);
  const std::vector<double> after = work.columns.norms(current);
  for (std::size_t c = 0; c < before.size(); ++c) {
    if (!(after[c] <= 1.1 * before[c])) {
      return false;
    }
  }
  add_scaled<T>(space, T(1), sum, T(0), R);
  if (last) work.exponents.multiply_by_exponential(space, exponent, work.columns, R);
  report.degree = std::max(report.degree, series.degree());
  ++report.steps;
  report.error += series.tail;
  return true;
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template bool act_by_chebyshev<T>(const ActionProblem<T>&, const ExpmActionOptions::Interval&, ActionWorkspace<T>&, \
                                    const MatrixView<T>&, ExpmActionReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
