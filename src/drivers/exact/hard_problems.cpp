// Inner products, products and systems of a chosen condition, in double, with their exact results.
#include "drivers/exact/hard_problems.hpp"

#include <heddle/core/random.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace heddle::driver {
namespace {

using Sum = exact::Accumulator<double>;

// Random numbers, uniform in [-1, 1), with all digits.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(mixed_bits(golden_step + seed)) {}
  double next() { return unit_from(bits()); }
  Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t bits() { return mixed_bits(state_ += golden_step); }
  std::uint64_t state_;
};

void shuffle(std::vector<Index>& order, Numbers& numbers) {
  for (auto k = static_cast<Index>(order.size()) - 1; k > 0; --k) {
    std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(numbers.below(k + 1))]);
  }
}

// Return the powers of two of the factors: the first half is spread at random up to the root of the condition, the
// second half descends from it.
std::vector<int> powers_of(const HardProblem& problem, Numbers& numbers) {
  std::vector<int> powers;
  const Index n = problem.size;
  const Index half = n / 2;
  for (Index k = 0; k < n; ++k) {
    const double share = k == 0     ? 1.0
                         : k < half ? std::abs(numbers.next())
                                    : static_cast<double>(n - 1 - k) / static_cast<double>(n - half);
    powers.push_back(static_cast<int>(std::lround(share * std::log2(problem.condition) / 2)));
  }
  return powers;
}
std::vector<double> factors_of(const std::vector<int>& powers, Numbers& numbers) {
  std::vector<double> x;
  for (const int power : powers) {
    // Bounded below, so that dividing by it does not overflow.
    const double number = numbers.next();
    x.push_back(std::ldexp(std::copysign(0.5 + 0.5 * std::abs(number), number), power));
  }
  return x;
}
// Return y whose inner product with x cancels: each element of the second half reduces the exact sum so far to its own
// size.
std::vector<double> cancelling(const std::vector<double>& x, const std::vector<int>& powers, Numbers& numbers) {
  std::vector<double> y;
  Sum sum;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double term = std::ldexp(numbers.next(), powers[k]);
    y.push_back(k < x.size() / 2 ? term : (term - sum.value<double>()) / x[k]);
    sum.add_product(x[k], y.back());
  }
  return y;
}

// Return a lower triangle of order n whose inverse grows with `growth`.
HostMatrix<double> triangle(Index n, double growth, std::uint64_t seed) {
  Numbers numbers(seed);
  const auto order = static_cast<std::size_t>(n);
  const HostMatrix<double> L("heddle::driver::triangle", order, order);
  for (std::size_t j = 0; j < order; ++j) {
    L(j, j) = 1 + std::abs(numbers.next());
    for (std::size_t i = j + 1; i < order; ++i) L(i, j) = growth * numbers.next();
  }
  return L;
}
// Return an estimate of |L|_inf |L^-1|_inf; the transpose is its own factorization.
double condition_of(const ExecutionSpace& space, const HostMatrix<double>& L) {
  const LocalMatrix<double> U("heddle::driver::factors", L.extent(1), L.extent(0));
  const auto host = Kokkos::create_mirror_view(U);
  double norm = 0;
  exact::LuResult factors;
  for (std::size_t i = 0; i < L.extent(0); ++i) {
    double row = 0;
    for (std::size_t j = 0; j < L.extent(1); ++j) {
      host(j, i) = L(i, j);
      row += std::abs(L(i, j));
    }
    norm = std::max(norm, row);
    factors.pivots.push_back(static_cast<Index>(i));
  }
  Kokkos::deep_copy(U, host);
  return exact::condition(space, U, factors, norm);
}
// Find the growth that gives nearly this condition, by bisection.
HostMatrix<double> triangle_of(const ExecutionSpace& space, const HardProblem& problem) {
  double low = 1e-3;
  double high = 1;
  const auto condition = [&](double growth) {
    return condition_of(space, triangle(problem.size, growth, problem.seed));
  };
  // Few rows need large elements.
  while (condition(high) < problem.condition && high < 1e60) high *= 4;
  for (int round = 0; round < 60 && high - low > 1e-6 * high; ++round) {
    const double middle = std::sqrt(low * high);
    (condition(middle) < problem.condition ? low : high) = middle;
  }
  return triangle(problem.size, high, problem.seed);
}

// The powers of two beside the first half of x: the last columns descend to 0 and cancel the columns before them, each
// by no more than a double has digits; the others are spread at random.
struct Descent {
  static constexpr double most_in_a_step = 45;
  Index half;
  Index first;  // First column that cancels.
  double top;

  Descent(Index columns, double wanted) : half(columns) {
    const auto needed = static_cast<Index>(std::ceil(wanted / most_in_a_step));
    const Index steps = std::min(half - 1, std::max(half / 2, needed));
    first = half - steps;
    top = std::min(wanted, most_in_a_step * static_cast<double>(steps));
  }
  [[nodiscard]] int power(Index j, Numbers& numbers) const {
    const double share = j == 0      ? 1.0
                         : j < first ? std::abs(numbers.next())
                                     : static_cast<double>(half - 1 - j) / static_cast<double>(half - first);
    return static_cast<int>(std::lround(share * top));
  }
};

}  // namespace

TriangularSolution::TriangularSolution(const HostMatrix<double>& A, double condition)
    : parts_(static_cast<std::size_t>(std::log2(condition) / 50) + 3) {
  elements_.reserve(A.extent(0));
}

void TriangularSolution::add_product(Sum& sum, double factor, std::size_t j) const {
  for (const double part : elements_[j]) sum.add_product(factor, part);
}

void TriangularSolution::solve_row(const HostMatrix<double>& A, double b) {
  const std::size_t i = elements_.size();
  Sum rest;
  rest.add(b);
  for (std::size_t j = 0; j < i; ++j) add_product(rest, -A(i, j), j);
  std::vector<double> parts;
  while (parts.size() < parts_) {
    const double part = rest.value<double>() / A(i, i);
    if (part == 0) break;
    rest.subtract_product(part, A(i, i));
    parts.push_back(part);
  }
  elements_.push_back(std::move(parts));
}

double TriangularSolution::error(double x, std::size_t i) const {
  Sum off;
  off.add(x);
  for (const double part : elements_[i]) off.subtract(part);
  return std::abs(off.value<double>());
}

HardDot hard_dot(const HardProblem& problem) {
  Numbers numbers(problem.seed);
  const std::vector<int> powers = powers_of(problem, numbers);
  std::vector<double> x = factors_of(powers, numbers);
  std::vector<double> y = cancelling(x, powers, numbers);
  return {std::move(x), std::move(y)};
}

HardProduct hard_product(const HardProblem& problem) {
  Numbers numbers(problem.seed);
  const std::vector<int> powers = powers_of(problem, numbers);
  std::vector<double> x = factors_of(powers, numbers);
  const HostMatrix<double> A("heddle::driver::matrix", x.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<double> row = cancelling(x, powers, numbers);
    for (std::size_t j = 0; j < x.size(); ++j) A(i, j) = row[j];
  }
  return {A, std::move(x)};
}

HardSystem hard_system(const HardProblem& problem) {
  constexpr double growth = 0.1;
  const auto n = static_cast<std::size_t>(problem.size);
  // Elements this small leave the second half's own solution of moderate size.
  const HostMatrix<double> A = triangle(problem.size, std::min(growth, 4.0 / static_cast<double>(n)), problem.seed);
  Numbers numbers(problem.seed + 1);
  std::vector<double> b(n);
  for (double& element : b) {
    const double number = numbers.next();
    element = std::copysign(0.5 + 0.5 * std::abs(number), number);
  }
  const Descent descent(problem.size / 2, std::log2(problem.condition));
  TriangularSolution x(A, problem.condition);
  double largest = 0;
  double condition = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<Index>(i) >= descent.half) {
      Sum sum;
      for (Index column = 0; column < descent.half; ++column) {
        const auto j = static_cast<std::size_t>(column);
        const int power = descent.power(column, numbers);
        const double term = std::ldexp(numbers.next(), power);
        A(i, j) = column < descent.first ? term : (term - sum.value<double>()) / x.value(j);
        x.add_product(sum, A(i, j), j);
      }
    }
    x.solve_row(A, b[i]);
    double sizes = 0;
    for (std::size_t j = 0; j <= i; ++j) sizes += std::abs(A(i, j) * x.value(j));
    condition = std::max(condition, sizes / std::abs(A(i, i)));
    largest = std::max(largest, std::abs(x.value(i)));
  }
  return {A, std::move(b), std::move(x), condition / largest};
}

HardMatrix hard_matrix(const ExecutionSpace& space, const HardProblem& problem) {
  Numbers numbers(problem.seed);
  const HostMatrix<double> L = triangle_of(space, problem);
  std::vector<Index> rows(L.extent(0));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<Index> columns = rows;
  shuffle(rows, numbers);
  shuffle(columns, numbers);
  const HostMatrix<double> A("heddle::driver::matrix", L.extent(0), L.extent(1));
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      A(i, j) = L(static_cast<std::size_t>(rows[i]), static_cast<std::size_t>(columns[j]));
    }
  }
  return {A, condition_of(space, L)};
}

Kokkos::View<double*, MemorySpace> on_device(const std::vector<double>& values) {
  const Kokkos::View<double*, MemorySpace> view("heddle::driver::vector", values.size());
  Kokkos::deep_copy(view, Kokkos::View<const double*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}

LocalMatrix<double> on_device(const HostMatrix<double>& A) {
  const LocalMatrix<double> copy("heddle::driver::matrix", A.extent(0), A.extent(1));
  Kokkos::deep_copy(copy, A);
  return copy;
}

double condition_of(const Communicator& comm, const std::vector<double>& x, const std::vector<double>& y) {
  return exact::dot_condition(comm, on_device(x), on_device(y));
}

}  // namespace heddle::driver
