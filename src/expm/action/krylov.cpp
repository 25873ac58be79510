// Krylov methods for exp(time A) B: Lanczos' for Hermitian and skew-Hermitian A, Arnoldi's for others, with restarts.
#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

template <Scalar T> Wide<T> wide_from(const Kokkos::complex<double>& value) {
  if constexpr (is_complex<T>) {
    return value;
  } else {
    return value.real();
  }
}

}  // namespace

template <Scalar T>
KrylovSteps<T>::KrylovSteps(const ActionProblem<T>& problem, int dimension, Index columns, ActionWorkspace<T>& work)
    : problem_(problem),
      dimension_(static_cast<int>(std::min<Index>(dimension, problem.n))),
      work_(work),
      projected_(static_cast<std::size_t>(columns)) {}

// Logarithm of the bound of the error over a share of the time with m vectors: product of sub-diagonals times |time|^m
// / m!.
template <Scalar T> double KrylovSteps<T>::log_bound(int m, double share) const {
  return log_product_ + m * libm::log(std::abs(problem_.time) * share) - std::lgamma(m + 1.0);
}

template <Scalar T> int KrylovSteps<T>::build(Index columns, ExpmActionReport& report) {
  const Index n = problem_.n;
  const auto m = static_cast<std::size_t>(columns);
  const Index total = columns * (dimension_ + 1);
  const auto basis = [&](Index first, Index count) { return work_.blocks(n, first * columns, count * columns, total); };
  // In the whole space the vectors of a short recurrence would lose orthogonality, and it would not end after n
  // vectors.
  const bool whole = dimension_ == n;
  const bool lanczos = !problem_.general() && !whole;
  const double sign = problem_.structure == ExpmActionStructure::skew_hermitian ? -1.0 : 1.0;
  const auto leading = static_cast<std::size_t>(dimension_) + 1;
  for (Small& H : projected_) H.assign(leading * static_cast<std::size_t>(dimension_), 0.0);
  const std::vector<Wide<T>> ones(m, Wide<T>(1.0));
  std::vector<double> log_products(m, 0.0);
  norm_ = 0.0;
  ended_ = dimension_;
  std::vector<double> below(m, 0.0);
  int enough = 0;
  double log_product_of_enough = 0.0;
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
      // All vectors but the last two are orthogonal to `next`, and the component along the last but one is known.
      std::vector<Wide<T>> found = work_.columns.dots(basis(j, 1), next);
      if (j > 0) {
        std::vector<Wide<T>> before;
        before.reserve(below.size());
        for (const double size : below) before.push_back(Wide<T>(sign * size));
        found.insert(found.begin(), before.begin(), before.end());
      }
      subtract(std::max(j - 1, 0), found);
    } else {
      // Two passes of Gram-Schmidt are enough.
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
      // A remainder this small cannot be told from rounding, so the subspace ends here. exp(h A) may still make it
      // large; the companion keeps its size to estimate that.
      const bool is_all = whole && j + 1 == dimension_;
      const bool ends = is_all || below[c] <= 4.0 * static_cast<double>(unit_roundoff<T>) * sizes[c];
      projected_[c][column + 1 + leading * column] = is_all || (ends && !problem_.general()) ? 0.0 : below[c];
      if (ends && c + 1 == m) ended_ = std::min(ended_, j + 1);
      below[c] = ends ? 0.0 : below[c];
      inverses.push_back(Wide<T>(ends ? 0.0 : 1.0 / below[c]));
      norm_ = std::max(norm_, sizes[c] + below[c]);
      log_products[c] += libm::log(below[c]);
      log_product_ = std::max(log_product_, log_products[c]);
    }
    work_.columns.combine(inverses, next, {}, basis(0, 0));
    built_ = j + 1;
    if (enough > 0) {
      log_product_ = log_product_of_enough;
      return enough;
    }
    if (log_bound(built_, rest_) <= libm::log(problem_.tolerance * rest_)) {
      // The companion takes one more vector.
      if (!problem_.general() || built_ == dimension_) return built_;
      enough = built_;
      log_product_of_enough = log_product_;
    }
  }
  return dimension_;
}

// exp(share time A) e_1 in the subspace of m vectors.
template <Scalar T> ProjectedExponential KrylovSteps<T>::small_exponential(const Small& H, int m, double share) const {
  const std::complex<double> time = problem_.time * share;
  const auto leading = static_cast<std::size_t>(dimension_) + 1;
  if (problem_.general()) {
    return exponential_of_arnoldi(H, dimension_ + 1, m, time, 4.0 * static_cast<double>(unit_roundoff<T>));
  }
  const bool skew = problem_.structure == ExpmActionStructure::skew_hermitian;
  std::vector<double> diagonal, beside;
  double below = 0.0;
  // An invariant subspace ends earlier.
  for (std::size_t j = 0; j < static_cast<std::size_t>(m) && (j == 0 || below > 0.0); ++j) {
    const Kokkos::complex<double>& along = H[j + leading * j];
    if (j > 0) beside.push_back(below);
    diagonal.push_back(skew ? along.imag() : along.real());
    below = H[j + 1 + leading * j].real();
  }
  ProjectedExponential found = exponential_of_lanczos(diagonal, beside, time, skew);
  found.y.resize(static_cast<std::size_t>(m), 0.0);
  return found;
}

// exp(share time A) e_1 in the subspace of m vectors of a general A, and along the next vector, which the element of H
// below them couples (Y. Saad 1992, the corrected scheme).
template <Scalar T> ProjectedExponential KrylovSteps<T>::corrected(const Small& H, int m, double share) const {
  const auto leading = static_cast<std::size_t>(dimension_) + 1;
  Small larger(H.begin(), H.begin() + static_cast<std::ptrdiff_t>(leading * static_cast<std::size_t>(m)));
  larger.resize(leading * static_cast<std::size_t>(m + 1), 0.0);
  return exponential_of_arnoldi(larger, dimension_ + 1, m + 1, problem_.time * share,
                                4.0 * static_cast<double>(unit_roundoff<T>));
}

// The number below x with 24 bits: what is left of the time after thousands of such shares has no rounding error, which
// the norm of A would multiply.
double of_few_digits(double x) {
  int power = 0;
  const double fraction = std::frexp(x, &power);
  return std::ldexp(std::floor(std::ldexp(fraction, 24)), power - 24);
}

// Largest real part of an eigenvalue of share time A.
template <Scalar T> double KrylovSteps<T>::largest_growth(double share) const {
  if (problem_.growth() == 0.0) return 0.0;
  const double growth = problem_.growth() * share;
  return std::max(growth * interval_->least, growth * interval_->largest);
}

template <Scalar T> bool KrylovSteps<T>::step(const MatrixView<T>& R, ExpmActionReport& report) {
  const auto columns = static_cast<Index>(R.extent(1));
  std::vector<double> largest = work_.columns.largest(R);
  work_.exponents.normalise(work_.columns, R, largest);
  const std::vector<double> sizes = work_.columns.norms(R);
  if (std::any_of(sizes.begin(), sizes.end(), [](double size) { return !std::isfinite(size); })) {
    throw Error(ErrorKind::computation, "expm_action: the result overflows");
  }
  if (std::all_of(sizes.begin(), sizes.end(), [](double size) { return size == 0.0; })) {
    rest_ = 0.0;
    return true;
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
  if (log_bound(m, rest_) > libm::log(problem_.tolerance * rest_)) {
    const double longest = libm::exp((libm::log(problem_.tolerance) - log_bound(m, 1.0)) / std::max(m - 1, 1));
    if (longest < rest_) share = of_few_digits(longest);
  }
  const double truncation = libm::exp(log_bound(m, share));
  report.truncation += truncation;
  std::vector<ProjectedExponential> exponentials;
  double sensitivity = 0.0;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    exponentials.push_back(small_exponential(projected_[c], m, share));
    sensitivity = std::max(sensitivity, sizes[c] > 0.0 ? exponentials.back().sensitivity : 0.0);
  }
  const auto unit = static_cast<double>(unit_roundoff<T>);
  // For a general A: ratio of the part that the subspace leaves out to the part that it keeps, from the companion,
  // which has one vector more.
  double left_out = 0.0;
  if (problem_.general()) {
    exponentials.back() = corrected(projected_.back(), built_, share);
    double kept = 0.0;
    const std::vector<Kokkos::complex<double>>& y = exponentials.back().y;
    for (std::size_t k = 0; k < y.size(); ++k) {
      (k < static_cast<std::size_t>(ended_) ? kept : left_out) += Kokkos::abs(y[k]);
    }
    if (left_out > 0.0) left_out /= kept;
    // Stop here: beside a large part left out, the part that is kept may underflow, and the companion could not show
    // it.
    if (!(std::max(sensitivity, left_out) <= libm::cbrt(problem_.tolerance))) return false;
  }
  const double length = std::abs(problem_.time) * share;
  const double rounding = norm_ * length * problem_.product_rounding() + 2.0 * (m + 8) * unit;
  if (!problem_.general()) ColumnErrors::require_digits(rounding);
  const int last_vectors = problem_.general() ? built_ + 1 : m;
  std::vector<Wide<T>> factors(static_cast<std::size_t>(last_vectors * columns));
  for (Index c = 0; c < columns; ++c) {
    const auto column = static_cast<std::size_t>(c);
    const ProjectedExponential& found = exponentials[column];
    if (sizes[column] > 0.0) work_.exponents.add(column, static_cast<int>(std::clamp(found.exponent, -1e8, 1e8)));
    double squares = 0.0;
    for (std::size_t k = 0; k < found.y.size(); ++k) {
      const Kokkos::complex<double> y = found.y[k];
      squares += y.real() * y.real() + y.imag() * y.imag();
      factors[k * static_cast<std::size_t>(columns) + column] = wide_from<T>(y) * sizes[column];
    }
    if (!problem_.general() && sizes[column] > 0.0) {
      const double log_size = 0.5 * libm::log(squares) + found.exponent * libm::log(2.0);
      work_.errors.advance(column, truncation + rounding, libm::exp(largest_growth(share) - log_size));
    }
  }
  const std::vector<Wide<T>> none(sizes.size(), Wide<T>(0.0));
  work_.columns.combine(none, R, factors, work_.blocks(problem_.n, 0, last_vectors * columns, total));
  if (problem_.general()) {
    work_.floor += length * norm_ * unit + 4.0 * unit;
    work_.move_companion(R, 4.0 * unit, sensitivity + left_out);
  }
  report.degree = std::max(report.degree, m);
  ++report.steps;
  share_ = share;
  rest_ = share < rest_ ? rest_ - share : 0.0;
  return true;
}

#define HEDDLE_INSTANTIATE(T) template class KrylovSteps<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
