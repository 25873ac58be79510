// exp(time A) B for Hermitian and skew-Hermitian A by Chebyshev series.
#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include "expm/arithmetic/bessel.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl {
namespace {

// Powers of i (`turns` = 1), -1 (2) or -i (3).
std::complex<double> power_of_i(int turns, std::size_t k) {
  constexpr std::complex<double> powers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return powers[static_cast<std::size_t>(turns) * k % 4];
}

// The real and the imaginary part, each if it is not zero.
std::vector<std::complex<double>> straight_parts(const std::complex<double>& time) {
  std::vector<std::complex<double>> parts;
  if (time.real() != 0.0 || time.imag() == 0.0) parts.emplace_back(time.real(), 0.0);
  if (time.imag() != 0.0) parts.emplace_back(0.0, time.imag());
  return parts;
}

ExponentialSeries series_over(const ExpmActionOptions::Interval& interval, const std::complex<double>& time,
                              ExpmActionStructure structure, double tolerance) {
  const double half = 0.5 * (interval.largest - interval.least);
  const bool skew = structure == ExpmActionStructure::skew_hermitian;
  // These products are exactly real or imaginary.
  const std::complex<double> z = skew ? std::complex(-time.imag() * half, time.real() * half) : time * half;
  return exponential_series(z, tolerance);
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
  // J_k and I_k fall faster than any power beyond k = x, and exp(-x) I_k(x) as exp(-k^2 / 2 x) before that: the terms
  // after `last` are negligible.
  const double beyond = size + 12.0 * libm::cbrt(size);
  const auto last = static_cast<int>((real ? std::min(beyond, std::sqrt(200.0 * size)) : beyond) + 80.0);
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

double terms_over(const ExpmActionOptions::Interval& interval, const std::complex<double>& time,
                  ExpmActionStructure structure, double tolerance) {
  double terms = 0.0;
  for (const std::complex<double>& part : straight_parts(time)) {
    terms += series_over(interval, part, structure, tolerance).degree();
  }
  return terms;
}

namespace {

enum class Outcome {
  done,
  grew,  // A vector grew that must not: the interval is too narrow. R is unchanged.
  lost,  // Terms cancelled by more than two digits. R is unchanged unless that is accepted.
};

template <Scalar T>
Outcome act_by_series(const ActionProblem<T>& problem, const ExpmActionOptions::Interval& interval, bool accept_loss,
                      ActionWorkspace<T>& work, const MatrixView<T>& R, ExpmActionReport& report) {
  constexpr double large_loss = 100.0;
  const ExecutionSpace& space = problem.space;
  const auto m = static_cast<Index>(R.extent(1));
  const bool skew = problem.structure == ExpmActionStructure::skew_hermitian;
  const double middle = 0.5 * (interval.least + interval.largest);
  const double half = 0.5 * (interval.largest - interval.least);
  const ExponentialSeries series = series_over(interval, problem.time, problem.structure, problem.tolerance);
  const std::complex<double> centre = skew ? std::complex(0.0, middle) : std::complex(middle, 0.0);
  // W_k = T_k(A') for Hermitian A' = (A - centre) / half, i^k T_k(-i A') for skew-Hermitian A', which stays real where
  // A is: W_{k+1} = 2 A' W_k -+ W_{k-1}.
  const auto coefficient = [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    return scalar_from<T>(series.coefficients[at] * power_of_i(skew ? 3 : 0, at));
  };
  // An error of W_j enters the sum times sum_(k > j) c_k U_(k - j - 1)(A'), whose size, over all j, is 1.4 z at most
  // for exp(z x) (found for z from 1 to 5000, and 0.6 z for real z).
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const double length = std::abs(problem.time);
  const double ends = std::max(std::abs(interval.least), std::abs(interval.largest));
  const double rounding = 1.5 * length * (ends * problem.product_rounding() + 4.0 * half * unit) + 8.0 * unit;
  ColumnErrors::require_digits(rounding);
  std::vector<double> largest = work.columns.largest(R);
  work.exponents.normalise(work.columns, R, largest);
  MatrixView<T> previous = work.blocks(problem.n, 0, m, 4 * m);
  MatrixView<T> current = work.blocks(problem.n, m, m, 4 * m);
  const MatrixView<T> product = work.blocks(problem.n, 2 * m, m, 4 * m);
  const MatrixView<T> sum = work.blocks(problem.n, 3 * m, m, 4 * m);
  add_scaled<T>(space, T(1), R, T(0), current);
  add_scaled<T>(space, coefficient(0), R, T(0), sum);
  for (int k = 1; k <= series.degree(); ++k) {
    // W_k overwrites W_{k-2}; then the names are swapped.
    const double twice = k == 1 ? 1.0 : 2.0;
    const T sign = k == 1 ? T(0) : T(skew ? 1 : -1);
    problem.apply(current, product);
    ++report.products;
    recur<T>(space, {scalar_from<T>(twice / half), scalar_from<T>(-twice / half * centre), sign, coefficient(k)},
             product, current, previous, sum);
    std::swap(previous, current);
  }
  const std::vector<double> before = work.columns.norms(R);
  const std::vector<double> last = work.columns.norms(current);
  const std::vector<double> after = work.columns.norms(sum);
  for (std::size_t c = 0; c < before.size(); ++c) {
    if (!(last[c] <= 1.1 * before[c])) return Outcome::grew;
  }
  for (std::size_t c = 0; c < before.size(); ++c) {
    if (!accept_loss && large_loss * after[c] < before[c]) return Outcome::lost;
  }
  for (std::size_t c = 0; c < before.size(); ++c) {
    if (before[c] > 0.0) work.errors.advance(c, series.tail + rounding, before[c] / after[c]);
  }
  add_scaled<T>(space, T(1), sum, T(0), R);
  work.exponents.multiply_by_exponential(space, problem.time * centre + series.scale, R);
  report.degree = std::max(report.degree, series.degree());
  ++report.steps;
  report.truncation += series.tail;
  return Outcome::done;
}

// Compute R for a time that is real or imaginary.
template <Scalar T>
void act_straight(const ActionProblem<T>& problem, const std::optional<ExpmActionOptions::Interval>& given,
                  const std::optional<Spectrum>& found, ActionWorkspace<T>& work, const MatrixView<T>& R,
                  ExpmActionReport& report) {
  const double growth = problem.growth();
  const auto find = [&] { return spectrum_of(problem, work, report, {.growth = growth}); };
  // `given` may be wide; a narrower interval is found if terms cancel.
  bool tight = !given || growth == 0.0;
  Spectrum spectrum;
  double parts = 1.0;
  const auto take = [&](const Spectrum& taken) {
    spectrum = taken;
    parts = tight ? std::max(std::ceil(std::abs(growth) * spectrum.overshoot), 1.0) : 1.0;
  };
  take(given ? Spectrum{*given, 0.0} : found ? *found : find());
  double left = 1.0;
  int failures = 0;
  while (left > 0.0) {
    const double share = left / parts;
    ActionProblem<T> part = problem;
    part.time *= share;
    part.tolerance *= share;
    switch (act_by_series(part, spectrum.interval, tight, work, R, report)) {
      case Outcome::done:
        left = parts > 1.0 ? left - share : 0.0;
        parts = std::max(parts - 1.0, 1.0);
        break;
      case Outcome::lost: {
        Spectrum narrower = find();
        narrower.interval.least = std::max(narrower.interval.least, given->least);
        narrower.interval.largest = std::min(narrower.interval.largest, given->largest);
        tight = true;
        if (narrower.interval.least < narrower.interval.largest) take(narrower);
        break;
      }
      case Outcome::grew: {
        const ExpmActionOptions::Interval& interval = spectrum.interval;
        if (given || ++failures == 4) {
          throw Error(ErrorKind::computation, message_of("expm_action: the spectrum is wider than ",
                                                         std::ldexp(interval.least, -problem.exponent), " ... ",
                                                         std::ldexp(interval.largest, -problem.exponent),
                                                         ", or A is not Hermitian or skew-Hermitian as was said"));
        }
        const double more = 0.25 * (interval.largest - interval.least);
        take({{interval.least - more, interval.largest + more}, spectrum.overshoot + more});
      }
    }
  }
}

}  // namespace

template <Scalar T>
void act_by_chebyshev(const ActionProblem<T>& problem, const std::optional<ExpmActionOptions::Interval>& given,
                      const std::optional<Spectrum>& found, ActionWorkspace<T>& work, const MatrixView<T>& R,
                      ExpmActionReport& report) {
  for (const std::complex<double>& time : straight_parts(problem.time)) {
    ActionProblem<T> part = problem;
    part.time = time;
    act_straight(part, given, found, work, R, report);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template void act_by_chebyshev<T>(const ActionProblem<T>&, const std::optional<ExpmActionOptions::Interval>&, \
                                    const std::optional<Spectrum>&, ActionWorkspace<T>&, const MatrixView<T>&,  \
                                    ExpmActionReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
