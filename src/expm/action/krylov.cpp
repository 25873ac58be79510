#include "blas/lapack.hpp"
#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::impl {
namespace {

using Small = std::vector<Kokkos::complex<double>>;

// exp(time H) e_1 for the leading m x m block of H, of a lower bandwidth of one and an upper of `upper`: Taylor series
// in steps with ||H|| <= 1, whose terms fall from the first on.
Small small_exponential(const Small& H, int leading, int m, int upper, const std::complex<double>& time) {
  const auto at = [&](int i, int j) { return H[static_cast<std::size_t>(i + leading * j)]; };
  double norm = 0.0;
  for (int j = 0; j < m; ++j) {
    double sum = 0.0;
    for (int i = std::max(j - upper, 0); i <= std::min(j + 1, m - 1); ++i) sum += Kokkos::abs(at(i, j));
    norm = std::max(norm, sum);
  }
  const double steps = std::max(std::ceil(norm * std::abs(time)), 1.0);
  if (!(steps <= most_action_steps)) {
    throw Error(ErrorKind::computation,
                message_of("expm_action: time A takes ", steps, " steps within its Krylov subspace"));
  }
  const Kokkos::complex<double> length(time.real() / steps, time.imag() / steps);
  Small y(static_cast<std::size_t>(m)), term, next(static_cast<std::size_t>(m));
  y[0] = 1.0;
  for (double step = 0; step < steps; ++step) {
    term = y;
    double largest = 1.0;
    double sum = 1.0;
    for (int k = 1; k <= 30 && largest > 0x1p-54 * sum; ++k) {
      std::fill(next.begin(), next.end(), 0.0);
      for (int j = 0; j < m; ++j) {
        const Kokkos::complex<double> factor = length / k * term[static_cast<std::size_t>(j)];
        for (int i = std::max(j - upper, 0); i <= std::min(j + 1, m - 1); ++i) {
          next[static_cast<std::size_t>(i)] += at(i, j) * factor;
        }
      }
      std::swap(term, next);
      largest = sum = 0.0;
      for (int i = 0; i < m; ++i) {
        y[static_cast<std::size_t>(i)] += term[static_cast<std::size_t>(i)];
        largest = std::max(largest, Kokkos::abs(term[static_cast<std::size_t>(i)]));
        sum = std::max(sum, Kokkos::abs(y[static_cast<std::size_t>(i)]));
      }
    }
  }
  return y;
}

// Entries whose bits depend on their places alone, in (-1, 1).
template <Scalar T> void fill_random(const ExecutionSpace& space, const MatrixView<T>& vector) {
  const Elements<T> v(vector);
  for_each_element(
      space, "heddle::expm::random_vector", static_cast<Index>(vector.extent(0)), 1, KOKKOS_LAMBDA(Index i, Index c) {
        const std::uint64_t bits = mixed_bits(static_cast<std::uint64_t>(i + 1) * golden_step);
        v(i, c) = T(static_cast<Real<T>>(unit_from(bits)));
      });
}

template <Scalar T> Wide<T> wide_from(const Kokkos::complex<double>& value) {
  if constexpr (is_complex<T>) {
    return value;
  } else {
    return value.real();
  }
}

}  // namespace

template <Scalar T> MatrixView<T> ActionWorkspace<T>::blocks(Index n, Index first, Index count, Index total) {
  if (static_cast<Index>(storage_.extent(0)) != n || static_cast<Index>(storage_.extent(1)) < total) {
    storage_ = LocalMatrix<T>();
    storage_ = LocalMatrix<T>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::expm::action_blocks"),
                              static_cast<std::size_t>(n), static_cast<std::size_t>(total));
  }
  return block_of<T>(storage_, 0, n, first, first + count);
}

template <Scalar T>
KrylovSteps<T>::KrylovSteps(const ActionProblem<T>& problem, int dimension, Index columns, ActionWorkspace<T>& work)
    : problem_(problem),
      dimension_(static_cast<int>(std::min<Index>(dimension, problem.n))),
      work_(work),
      projected_(static_cast<std::size_t>(columns)) {}

// Of the error over a share of the time, from m vectors: product of sub-diagonals times |time|^m / m!.
template <Scalar T> double KrylovSteps<T>::log_bound(int m, double share) const {
  return log_product_ + m * std::log(std::abs(problem_.time) * share) - std::lgamma(m + 1.0);
}

template <Scalar T> int KrylovSteps<T>::build(Index columns, ExpmActionReport& report) {
  const Index n = problem_.n;
  const auto m = static_cast<std::size_t>(columns);
  const Index total = columns * (dimension_ + 1);
  const auto basis = [&](Index first, Index count) { return work_.blocks(n, first * columns, count * columns, total); };
  const bool lanczos = problem_.structure != ExpmActionStructure::general;
  const double sign = problem_.structure == ExpmActionStructure::skew_hermitian ? -1.0 : 1.0;
  const auto leading = static_cast<std::size_t>(dimension_) + 1;
  for (Small& H : projected_) H.assign(leading * static_cast<std::size_t>(dimension_), 0.0);
  const std::vector<Wide<T>> ones(m, Wide<T>(1.0));
  std::vector<double> log_products(m, 0.0);
  std::vector<double> below(m, 0.0);
  for (int j = 0; j < dimension_; ++j) {
    const auto column = static_cast<std::size_t>(j);
    const MatrixView<T> next = basis(j + 1, 1);
    problem_.apply(basis(j, 1), next);
    ++report.products;
    std::vector<double> sizes(m, 0.0);
    // next -= V_first ... V_j times factors, which are elements of H.
    const auto subtract = [&](Index first, const std::vector<Wide<T>>& found) {
      std::vector<Wide<T>> factors;
      for (std::size_t b = 0; b < found.size(); ++b) {
        projected_[b % m][static_cast<std::size_t>(first) + b / m + leading * column] += found[b];
        sizes[b % m] += Kokkos::abs(found[b]);
        factors.push_back(-found[b]);
      }
      work_.columns.combine(ones, next, factors, basis(first, j + 1 - first));
    };
    if (lanczos) {
      // All but the two last vectors are orthogonal to it, and of the last but one it is known how much there is.
      std::vector<Wide<T>> found = work_.columns.dots(basis(j, 1), next);
      if (j > 0) {
        std::vector<Wide<T>> before;
        before.reserve(below.size());
        for (const double size : below) before.push_back(Wide<T>(sign * size));
        found.insert(found.begin(), before.begin(), before.end());
      }
      subtract(std::max(j - 1, 0), found);
    } else {
      // Twice is enough.
      subtract(0, work_.columns.dots(basis(0, j + 1), next));
      subtract(0, work_.columns.dots(basis(0, j + 1), next));
    }
    below = work_.columns.norms(next);
    std::vector<Wide<T>> inverses;
    log_product_ = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < m; ++c) {
      if (!std::isfinite(below[c]) || !std::isfinite(sizes[c])) {
        throw Error(ErrorKind::computation, "expm_action: A times a vector overflows");
      }
      // What is left of a vector in an invariant subspace is rounding.
      const bool ends = below[c] <= 4.0 * static_cast<double>(unit_roundoff<T>) * sizes[c];
      below[c] = ends ? 0.0 : below[c];
      inverses.push_back(Wide<T>(ends ? 0.0 : 1.0 / below[c]));
      projected_[c][column + 1 + leading * column] = below[c];
      log_products[c] += std::log(below[c]);
      log_product_ = std::max(log_product_, log_products[c]);
    }
    work_.columns.combine(inverses, next, {}, basis(0, 0));
    if (log_bound(j + 1, rest_) <= std::log(problem_.tolerance * rest_)) {
      return j + 1;
    }
  }
  return dimension_;
}

template <Scalar T> void KrylovSteps<T>::step(const MatrixView<T>& R, ExpmActionReport& report) {
  const auto columns = static_cast<Index>(R.extent(1));
  std::vector<double> largest = work_.columns.largest(R);
  work_.exponents.normalise(work_.columns, R, largest);
  const std::vector<double> sizes = work_.columns.norms(R);
  if (std::any_of(sizes.begin(), sizes.end(), [](double size) { return !std::isfinite(size); })) {
    throw Error(ErrorKind::computation, "expm_action: the result overflows");
  }
  if (std::all_of(sizes.begin(), sizes.end(), [](double size) { return size == 0.0; })) {
    rest_ = 0.0;
    return;
  }
  const Index total = columns * (dimension_ + 1);
  const MatrixView<T> first = work_.blocks(problem_.n, 0, columns, total);
  std::vector<Wide<T>> inverses;
  inverses.reserve(sizes.size());
  for (const double size : sizes) inverses.push_back(Wide<T>(size > 0.0 ? 1.0 / size : 0.0));
  add_scaled<T>(problem_.space, T(1), R, T(0), first);
  work_.columns.combine(inverses, first, {}, work_.blocks(problem_.n, 0, 0, total));
  const int m = build(columns, report);
  // The longest share of the time whose bound is that share of the tolerance.
  double share = rest_;
  if (log_bound(m, rest_) > std::log(problem_.tolerance * rest_)) {
    share = std::min(rest_, std::exp((std::log(problem_.tolerance) - log_bound(m, 1.0)) / std::max(m - 1, 1)));
  }
  report.error += std::exp(log_bound(m, share));
  std::vector<Wide<T>> factors(static_cast<std::size_t>(m * columns));
  const int upper = problem_.structure == ExpmActionStructure::general ? m : 1;
  for (Index c = 0; c < columns; ++c) {
    const auto column = static_cast<std::size_t>(c);
    const Small y = small_exponential(projected_[column], dimension_ + 1, m, upper, problem_.time * share);
    double most = 0.0;
    for (const auto& element : y) most = std::max({most, std::abs(element.real()), std::abs(element.imag())});
    const bool large = std::isfinite(most) && most > std::exp2(large_exponent<T>);
    const int exponent = large ? std::ilogb(most) : 0;
    work_.exponents.add(column, exponent);
    for (int k = 0; k < m; ++k) {
      factors[static_cast<std::size_t>(k * columns + c)] =
          wide_from<T>(y[static_cast<std::size_t>(k)] * std::ldexp(1.0, -exponent)) * sizes[column];
    }
  }
  const std::vector<Wide<T>> none(sizes.size(), Wide<T>(0.0));
  work_.columns.combine(none, R, factors, work_.blocks(problem_.n, 0, m * columns, total));
  report.degree = std::max(report.degree, m);
  ++report.steps;
  // A share too small to be told from nothing would never end.
  const double left = rest_ - share;
  if (share < rest_ && !(left < rest_)) {
    throw Error(ErrorKind::computation, "expm_action: steps of a Krylov method become too short");
  }
  rest_ = share < rest_ ? left : 0.0;
}

template <Scalar T>
ExpmActionOptions::Interval spectrum_of(const ActionProblem<T>& problem, ActionWorkspace<T>& work,
                                        ExpmActionReport& report, int most_steps) {
  const Index n = problem.n;
  const auto steps = static_cast<int>(std::min<Index>(most_steps, n));
  const bool skew = problem.structure == ExpmActionStructure::skew_hermitian;
  const auto vector = [&](int k) { return work.blocks(n, k, 1, 3); };
  MatrixView<T> previous = vector(0), current = vector(1), next = vector(2);
  fill_random<T>(problem.space, current);
  const double size = work.columns.norms(current).front();
  add_scaled<T>(problem.space, T(0), current, T(static_cast<Real<T>>(1.0 / size)), current);
  std::vector<double> diagonal, off_diagonal;
  double below = 0.0;
  for (int j = 0; j < steps; ++j) {
    problem.apply(current, next);
    ++report.other_products;
    const Wide<T> along = work.columns.dots(current, next).front();
    add_scaled<T>(problem.space, scalar_from<T>(-std::complex<double>(Kokkos::real(along), Kokkos::imag(along))),
                  current, T(1), next);
    if (j > 0) {
      add_scaled<T>(problem.space, T(static_cast<Real<T>>(skew ? below : -below)), previous, T(1), next);
    }
    diagonal.push_back(skew ? Kokkos::imag(along) : Kokkos::real(along));
    below = work.columns.norms(next).front();
    if (!std::isfinite(below)) {
      throw Error(ErrorKind::computation, "expm_action: A times a vector overflows");
    }
    if (j + 1 == n || below <= static_cast<double>(unit_roundoff<T>) * std::abs(diagonal.front())) {
      below = 0.0;
      break;
    }
    off_diagonal.push_back(below);
    add_scaled<T>(problem.space, T(0), next, T(static_cast<Real<T>>(1.0 / below)), next);
    std::swap(previous, current);
    std::swap(current, next);
  }
  const auto m = diagonal.size();
  const std::span<const double> beside(off_diagonal.data(), m - 1);
  std::vector<double> values, ritz;
  lapack::tridiagonal_lowest(diagonal, beside, 1, values, ritz);
  ExpmActionOptions::Interval interval;
  interval.least = values.front() - below * std::abs(ritz.back());
  for (double& value : diagonal) value = -value;
  lapack::tridiagonal_lowest(diagonal, beside, 1, values, ritz);
  interval.largest = -values.front() + below * std::abs(ritz.back());
  if (skew && !is_complex<T>) {
    // Eigenvalues come in pairs.
    interval.largest = std::max(interval.largest, -interval.least);
    interval.least = -interval.largest;
  }
  // Rounding, and a spectrum that is one point.
  const double margin =
      0.005 * (interval.largest - interval.least) +
      16.0 * static_cast<double>(unit_roundoff<T>) * std::max(std::abs(interval.least), std::abs(interval.largest)) +
      1e-30;
  return {interval.least - margin, interval.largest + margin};
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template class ActionWorkspace<T>;                                                                                   \
  template class KrylovSteps<T>;                                                                                       \
  template ExpmActionOptions::Interval spectrum_of<T>(const ActionProblem<T>&, ActionWorkspace<T>&, ExpmActionReport&, \
                                                      int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
