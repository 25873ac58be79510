#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/dense/scheme.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

// Of a step: terms grow to exp(||A||) before they fall, and rounding with them. (Al-Mohy and Higham go to 9.9, with a
// quarter fewer products, and up to e^9.9 units of rounding.)
constexpr double longest_step = 5.0;
constexpr int highest_degree = 40;
constexpr int most_powers = 6;  // p (p - 1) - 1 is a degree.

struct Steps {
  int degree = 0;
  double count = 1.0;
  double theta = 0.0;  // ||A / count||, as far as the choice goes.
  [[nodiscard]] double products() const { return degree * count; }
};

// The largest theta of each degree for which the backward error is within the tolerance.
std::array<double, highest_degree + 1> largest_thetas(double tolerance) {
  std::array<double, highest_degree + 1> thetas{};
  for (int degree = 1; degree <= highest_degree; ++degree) {
    thetas[static_cast<std::size_t>(degree)] = largest_theta(degree, tolerance, longest_step);
  }
  return thetas;
}

// The fewest products for ||A^k||_1 <= alpha^k, k > degree >= `from`.
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
    return std::ldexp(std::pow(scaled, 1.0 / k), exponent_);
  }
  // Powers are of (A - shift) / 2^exponent from now on, so that they stay in range.
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

// Degree and steps, with as many norms of powers as promise to save more products than they take.
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
  return best;
}

}  // namespace

template <Scalar T>
void act_by_taylor(const ActionProblem<T>& problem, ActionWorkspace<T>& work, const MatrixView<T>& R,
                   ExpmActionReport& report) {
  const ExecutionSpace& space = problem.space;
  const auto m = static_cast<Index>(R.extent(1));
  const Steps steps = choose_steps(problem, report);
  if (!(steps.count <= most_action_steps)) {
    throw Error(ErrorKind::computation, message_of("expm_action: time A takes ", steps.count, " Taylor steps"));
  }
  report.steps = static_cast<Index>(steps.count);
  report.error = backward_error(steps.degree, steps.theta);
  const std::complex<double> time = problem.time / steps.count;
  MatrixView<T> X = work.blocks(problem.n, 0, m, 2 * m);
  MatrixView<T> Y = work.blocks(problem.n, m, m, 2 * m);
  for (Index step = 0; step < report.steps; ++step) {
    std::vector<double> before = work.columns.largest(R);
    work.exponents.normalise(work.columns, R, before);
    add_scaled<T>(space, T(1), R, T(0), X);
    for (int k = 1; k <= steps.degree; ++k) {
      problem.apply(X, Y);
      ++report.products;
      const std::complex<double> factor = time / static_cast<double>(k);
      recur<T>(space, {scalar_from<T>(factor), scalar_from<T>(-factor * problem.shift), T(0), T(1)}, Y, X, Y, R);
      std::swap(X, Y);
      report.degree = std::max(report.degree, k);
      // Two terms in a row that are nothing beside the sum, in each column.
      const std::vector<double> term = work.columns.largest(X);
      const std::vector<double> sum = work.columns.largest(R);
      bool converged = true;
      for (std::size_t c = 0; c < sum.size(); ++c) {
        if (!std::isfinite(sum[c])) {
          throw Error(ErrorKind::computation, "expm_action: the result overflows");
        }
        converged = converged && before[c] + term[c] <= problem.tolerance * sum[c];
      }
      if (converged) {
        break;
      }
      before = term;
    }
    work.exponents.multiply_by_exponential(space, time * problem.shift, work.columns, R);
  }
}

#define HEDDLE_INSTANTIATE(T) \
  template void act_by_taylor<T>(const ActionProblem<T>&, ActionWorkspace<T>&, const MatrixView<T>&, ExpmActionReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
