// exp(time A) B by Taylor series, in as many steps as the norms of powers of A require.
#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/dense/scheme.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace heddle::impl {
namespace {

// Longest step: terms grow to exp(||A||) before they fall, and so does rounding. (Al-Mohy and Higham go to 9.9, with a
// quarter fewer products, and up to e^9.9 units of rounding.)
constexpr double longest_step = 5.0;
constexpr int highest_degree = 40;
constexpr int most_powers = 6;  // Largest p; p (p - 1) - 1 is a degree.

struct Steps {
  int degree = 0;
  double count = 1.0;
  double theta = 0.0;  // Bound of ||A / count|| used in the choice.
  double norm = 0.0;   // ||time A||_1.
  [[nodiscard]] double products() const { return degree * count; }
};

// Largest theta of each degree for which the backward error is within the tolerance.
std::array<double, highest_degree + 1> largest_thetas(double tolerance) {
  std::array<double, highest_degree + 1> thetas{};
  for (int degree = 1; degree <= highest_degree; ++degree) {
    thetas[static_cast<std::size_t>(degree)] = largest_theta(degree, tolerance, longest_step);
  }
  return thetas;
}

// Return the fewest products if ||A^k||_1 <= alpha^k for k > degree >= `from`.
Steps fewest(double alpha, int from, const std::array<double, highest_degree + 1>& thetas) {
  Steps best;
  best.count = std::numeric_limits<double>::infinity();
  for (int degree = std::max(from, 1); degree <= highest_degree; ++degree) {
    const double theta = thetas[static_cast<std::size_t>(degree)];
    const double count = theta > 0.0 ? std::max(std::ceil(alpha / theta), 1.0) : best.count;
    if (std::isinf(best.count) || degree * count < best.products()) {
      best = {degree, count, alpha / count};
    }
  }
  return best;
}

// ||(A - shift)^k||_1^(1/k).
template <Scalar T> class ShiftedRoots {
 public:
  ShiftedRoots(const ActionProblem<T>& problem, ExpmActionReport& report) : problem_(problem), report_(report) {}

  [[nodiscard]] double root(int k) {
    const auto power = [&](bool adjoint) {
      return [this, adjoint, k](const MatrixView<const T>& X, const MatrixView<T>& Y) {
        const auto once = [&](const MatrixView<const T>& from, const MatrixView<T>& to) {
          multiply(adjoint, from, to);
        };
        multiply_repeatedly<T>(problem_.space, once, k, X, Y, spare_);
      };
    };
    const double scaled = estimate_norm1<T>(problem_.space, problem_.n, 2, power(false), power(true));
    return std::ldexp(libm::pow(scaled, 1.0 / k), exponent_);
  }
  // Take powers of (A - shift) / 2^exponent from here on, so that they stay in range.
  void scale_by(double norm) { std::frexp(norm, &exponent_); }

 private:
  void multiply(bool adjoint, const MatrixView<const T>& X, const MatrixView<T>& Y) {
    (adjoint ? problem_.apply_adjoint : problem_.apply)(X, Y);
    const double scale = std::ldexp(1.0, -exponent_);
    const std::complex<double> shift = adjoint ? std::conj(problem_.shift) : problem_.shift;
    add_scaled<T>(problem_.space, scalar_from<T>(-shift * scale), X, scalar_from<T>(scale), Y);
    ++report_.other_products;
  }

  const ActionProblem<T>& problem_;
  ExpmActionReport& report_;
  MatrixView<T> spare_;
  int exponent_ = 0;
};

// Choose degree and steps, from as many norms of powers as promise to save more products than they take.
template <Scalar T> Steps choose_steps(const ActionProblem<T>& problem, ExpmActionReport& report) {
  const auto thetas = largest_thetas(problem.tolerance);
  const double length = std::abs(problem.time);
  ShiftedRoots<T> roots(problem, report);
  const double norm = roots.root(1);
  if (!std::isfinite(norm) || !std::isfinite(norm * length)) {
    throw Error(ErrorKind::computation, message_of("expm_action: ||time A||_1 is ", norm * length));
  }
  Steps best = norm > 0.0 ? fewest(norm * length, 1, thetas) : Steps{};
  roots.scale_by(norm);
  double root = 0.0;
  for (int p = 2; p <= most_powers && best.products() > 4.0 * (p == 2 ? 5 : p + 1); ++p) {
    root = p == 2 ? roots.root(2) : root;
    const double next = roots.root(p + 1);
    const Steps found = fewest(std::max(root, next) * length, p * (p - 1) - 1, thetas);
    root = next;
    const bool worth_going_on = found.products() < 0.95 * best.products();
    best = found.products() < best.products() ? found : best;
    if (!worth_going_on) {
      break;
    }
  }
  best.norm = norm * length;
  return best;
}

// sum_(j > k) norm^(j - k) k! / j!: bound of the terms after the k-th of a series, relative to the k-th.
double rest_after(int k, double norm) {
  double sum = 0.0;
  double term = 1.0;
  for (int j = k + 1; j < k + 200; ++j) {
    term *= norm / j;
    sum += term;
    if (!(term > 1e-3 * sum)) return sum;
  }
  return std::numeric_limits<double>::infinity();
}

// Return whether A^k R = 0 for some k <= most, for powers of any size.
template <Scalar T>
bool ends_within(const ActionProblem<T>& problem, ActionWorkspace<T>& work, const MatrixView<T>& R, int most,
                 ExpmActionReport& report) {
  const auto m = static_cast<Index>(R.extent(1));
  MatrixView<T> X = work.blocks(problem.n, 0, m, 3 * m);
  MatrixView<T> Y = work.blocks(problem.n, m, m, 3 * m);
  ColumnExponents<T> exponents;
  exponents.begin(R.extent(1));
  add_scaled<T>(problem.space, T(1), R, T(0), X);
  for (int k = 1; k <= most; ++k) {
    problem.apply(X, Y);
    ++report.products;
    std::swap(X, Y);
    std::vector<double> largest = work.columns.largest(X);
    if (std::all_of(largest.begin(), largest.end(), [](double size) { return size == 0.0; })) return true;
    if (!std::all_of(largest.begin(), largest.end(), [](double size) { return std::isfinite(size); })) return false;
    exponents.normalise(work.columns, X, largest);
  }
  return false;
}

// A term of a series is rounded by its own recurrence and by the next product, whose sums may cancel. A product of
// elements moved by as much shows how large the error becomes.
template <Scalar T> void move_before_product(ActionWorkspace<T>& work, const MatrixView<T>& X) {
  work.move_companion(X, 4.0 * static_cast<double>(unit_roundoff<T>), 0.0);
}

enum class WholeSeries { done, overflows, never_ends };

// Sum the whole series in one step, if its terms end because A is nilpotent and no term is much larger than the sum;
// then A may be of any size. R is unchanged if that is not so within `most` terms.
template <Scalar T>
WholeSeries sum_whole_series(const ActionProblem<T>& problem, ActionWorkspace<T>& work, const MatrixView<T>& R,
                             int most, ExpmActionReport& report) {
  const auto m = static_cast<Index>(R.extent(1));
  MatrixView<T> X = work.blocks(problem.n, 0, m, 3 * m);
  MatrixView<T> Y = work.blocks(problem.n, m, m, 3 * m);
  const MatrixView<T> sum = work.blocks(problem.n, 2 * m, m, 3 * m);
  add_scaled<T>(problem.space, T(1), R, T(0), X);
  add_scaled<T>(problem.space, T(1), R, T(0), sum);
  std::vector<double> terms = work.columns.largest(R);
  for (int k = 1; k <= most; ++k) {
    move_before_product(work, X);
    problem.apply(X, Y);
    ++report.products;
    recur<T>(problem.space, {scalar_from<T>(problem.time / static_cast<double>(k)), T(0), T(0), T(1)}, Y, X, Y, sum);
    std::swap(X, Y);
    const std::vector<double> term = work.columns.largest(X);
    if (!std::all_of(term.begin(), term.end(), [](double size) { return std::isfinite(size); })) {
      return WholeSeries::overflows;
    }
    for (std::size_t c = 0; c < terms.size(); ++c) terms[c] += term[c];
    if (std::any_of(term.begin(), term.end(), [](double size) { return size > 0.0; })) continue;
    const std::vector<double> sums = work.columns.largest(sum);
    double cancelled = 1.0;
    for (std::size_t c = 0; c < sums.size(); ++c) {
      if (terms[c] > 0.0) cancelled = std::max(cancelled, terms[c] / sums[c]);
    }
    // Steps may lose as much.
    if (!(cancelled <= libm::exp(longest_step))) return WholeSeries::never_ends;
    add_scaled<T>(problem.space, T(1), sum, T(0), R);
    report.degree = k;
    report.steps = 1;
    work.floor += problem.product_rounding() * std::sqrt(static_cast<double>(k));
    work.move_companion(R, 4.0 * static_cast<double>(unit_roundoff<T>) * cancelled, 0.0);
    return WholeSeries::done;
  }
  return WholeSeries::never_ends;
}

// The same with columns scaled down until their terms are in range. Return false if there are too many terms.
template <Scalar T>
bool act_by_whole_series(const ActionProblem<T>& problem, ActionWorkspace<T>& work, const MatrixView<T>& R, int most,
                         ExpmActionReport& report) {
  const WholeSeries first = sum_whole_series(problem, work, R, most, report);
  if (first != WholeSeries::overflows) return first == WholeSeries::done;
  if (!ends_within(problem, work, R, most, report)) return false;
  constexpr int lower = std::is_same_v<Real<T>, float> ? 80 : 700;
  const std::vector<Wide<T>> factors(R.extent(1), Wide<T>(std::ldexp(1.0, -lower)));
  work.columns.combine(factors, R, {}, block_of(R, 0, 0, 0, 0));
  for (std::size_t c = 0; c < factors.size(); ++c) work.exponents.add(c, lower);
  if (sum_whole_series(problem, work, R, most, report) != WholeSeries::done) {
    throw Error(ErrorKind::computation, "expm_action: the result overflows");
  }
  return true;
}

}  // namespace

template <Scalar T>
bool act_by_taylor(const ActionProblem<T>& problem, double most_products, ActionWorkspace<T>& work,
                   const MatrixView<T>& R, ExpmActionReport& report) {
  const ExecutionSpace& space = problem.space;
  const auto m = static_cast<Index>(R.extent(1));
  const Steps steps = choose_steps(problem, report);
  // Try the whole series if it costs little beside the steps.
  const auto most = static_cast<int>(std::min<Index>(problem.n, 100));
  if (problem.shift == 0.0 && steps.products() > 4.0 * most && act_by_whole_series(problem, work, R, most, report)) {
    return true;
  }
  if (steps.products() > most_products) return false;
  if (!(steps.count <= most_action_steps)) {
    throw Error(ErrorKind::computation, message_of("expm_action: time A takes ", steps.count, " Taylor steps"));
  }
  report.steps = static_cast<Index>(steps.count);
  report.truncation = backward_error(steps.degree, steps.theta);
  const std::complex<double> time = problem.time / steps.count;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  // Ratio of the 1-norm to the largest part of an element.
  const double rows = std::sqrt(2.0) * static_cast<double>(problem.n);
  MatrixView<T> X = work.blocks(problem.n, 0, m, 2 * m);
  MatrixView<T> Y = work.blocks(problem.n, m, m, 2 * m);
  for (Index step = 0; step < report.steps; ++step) {
    std::vector<double> terms = work.columns.largest(R);
    work.exponents.normalise(work.columns, R, terms);
    add_scaled<T>(space, T(1), R, T(0), X);
    std::vector<double> sum = terms;
    std::vector<double> term = terms, before = terms;
    double rest = 0.0;  // Bound of the terms left out, relative to the last.
    for (int k = 1; k <= steps.degree; ++k) {
      move_before_product(work, X);
      problem.apply(X, Y);
      ++report.products;
      const std::complex<double> factor = time / static_cast<double>(k);
      recur<T>(space, {scalar_from<T>(factor), scalar_from<T>(-factor * problem.shift), T(0), T(1)}, Y, X, Y, R);
      std::swap(X, Y);
      report.degree = std::max(report.degree, k);
      // Converged: all terms that follow are negligible beside the sum, in each column. (A small term alone does not
      // show this: A may enlarge it.)
      before = std::exchange(term, work.columns.largest(X));
      sum = work.columns.largest(R);
      rest = rest_after(k, steps.norm / steps.count);
      bool converged = true;
      for (std::size_t c = 0; c < sum.size(); ++c) {
        if (!std::isfinite(sum[c])) {
          throw Error(ErrorKind::computation, "expm_action: the result overflows");
        }
        terms[c] += term[c];
        converged = converged && (term[c] == 0.0 || rows * rest * term[c] <= problem.tolerance * sum[c]);
      }
      if (converged) {
        break;
      }
      // Beyond the degree the bound theta of the powers holds, for which the steps were chosen.
      if (k == steps.degree) rest = rest_after(k, steps.theta);
    }
    // The companion gets an estimate of the terms left out: as large as `rest` allows, with the elements of the last
    // term and of the one before, since A may have no diagonal; by different factors, so that the two never cancel.
    if (term.back() > 0.0 && before.back() > 0.0) {
      work.add_to_companion(R, 2.0 * rest, X);
      work.add_to_companion(R, rest * std::min(term.back() / before.back(), 1.0), Y);
    }
    work.exponents.multiply_by_exponential(space, time * problem.shift, R);
    double cancelled = 1.0;
    for (std::size_t c = 0; c < sum.size(); ++c) {
      if (sum[c] > 0.0) cancelled = std::max(cancelled, terms[c] / sum[c]);
    }
    work.floor += unit * (3.0 + std::abs(time * problem.shift) + 2.0 * steps.theta);
    work.move_companion(R, 4.0 * unit * cancelled, 0.0);
  }
  return true;
}

#define HEDDLE_INSTANTIATE(T)                                                                                \
  template bool act_by_taylor<T>(const ActionProblem<T>&, double, ActionWorkspace<T>&, const MatrixView<T>&, \
                                 ExpmActionReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
