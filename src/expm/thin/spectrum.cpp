// Intervals that hold the spectrum of a Hermitian or skew-Hermitian operator, by Lanczos steps.
#include "blas/symmetric.hpp"
#include "core/instantiate.hpp"
#include "expm/thin/workspace.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heddle::impl {
namespace {

// Fill with numbers in (-1, 1) whose bits depend on their places alone.
template <Scalar T> void fill_random(const ExecutionSpace& space, const MatrixView<T>& vector) {
  const Elements<T> v(vector);
  for_each_element(
      space, "heddle::expm::random_vector", static_cast<Index>(vector.extent(0)), 1, KOKKOS_LAMBDA(Index i, Index c) {
        const std::uint64_t bits = mixed_bits(static_cast<std::uint64_t>(i + 1) * golden_step);
        v(i, c) = T(static_cast<Real<T>>(unit_from(bits)));
      });
}

// The extreme Ritz values of a tridiagonal matrix, and the norms of their vectors' residuals.
struct RitzEnds {
  double least = 0.0, largest = 0.0;
  double least_residual = 0.0, largest_residual = 0.0;
};
RitzEnds ritz_ends(std::vector<double> diagonal, std::span<const double> beside, double below) {
  std::vector<double> values, vector;
  RitzEnds ends;
  symmetric::tridiagonal_lowest(diagonal, beside, 1, values, vector);
  ends.least = values.front();
  ends.least_residual = below * std::abs(vector.back());
  for (double& value : diagonal) value = -value;
  symmetric::tridiagonal_lowest(diagonal, beside, 1, values, vector);
  ends.largest = -values.front();
  ends.largest_residual = below * std::abs(vector.back());
  return ends;
}

}  // namespace

template <Scalar T>
Spectrum spectrum_of(const ActionProblem<T>& problem, ActionWorkspace<T>& work, ExpmActionReport& report,
                     const SpectrumSearch& search) {
  const Index n = problem.n;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const bool skew = problem.structure == ExpmActionStructure::skew_hermitian;
  const auto vector = [&](int k) { return work.blocks(n, k, 1, 3); };
  MatrixView<T> previous = vector(0), current = vector(1), next = vector(2);
  fill_random<T>(problem.space, current);
  const double size = work.columns.norms(current).front();
  add_scaled<T>(problem.space, T(0), current, T(static_cast<Real<T>>(1.0 / size)), current);
  std::vector<double> diagonal, off_diagonal;
  RitzEnds ends;
  double seen = 0.0;
  const Index first_look = std::min<Index>(search.steps, std::max<Index>(n, 1));
  Index look = first_look;
  for (Index j = 1;; ++j) {
    problem.apply(current, next);
    ++report.other_products;
    const Wide<T> along = work.columns.dots(current, next).front();
    add_scaled<T>(problem.space, scalar_from<T>(-std::complex<double>(Kokkos::real(along), Kokkos::imag(along))),
                  current, T(1), next);
    if (j > 1) {
      const double above = off_diagonal.back();
      add_scaled<T>(problem.space, T(static_cast<Real<T>>(skew ? above : -above)), previous, T(1), next);
    }
    diagonal.push_back(skew ? Kokkos::imag(along) : Kokkos::real(along));
    double below = work.columns.norms(next).front();
    if (!std::isfinite(below)) {
      throw Error(ErrorKind::computation, "expm_action: A times a vector overflows");
    }
    seen = std::max(seen, std::abs(diagonal.back()) + below);
    // The remainder of a vector in an invariant subspace is rounding.
    if (below <= unit * seen) below = 0.0;
    if (below == 0.0 || j == look) {
      ends = ritz_ends(diagonal, off_diagonal, below);
      const double open = search.growth > 0.0 ? ends.largest_residual : ends.least_residual;
      // No series is longer than `most`.
      const double span = std::min(std::abs(search.growth) * (ends.largest - ends.least), 2e8);
      const double most = 30.0 + 10.0 * std::sqrt(span);
      if (below == 0.0 || std::abs(search.growth) * open <= 0.25 || static_cast<double>(j) >= most) break;
      look = j + std::max<Index>(j / 3, 1);
    }
    off_diagonal.push_back(below);
    add_scaled<T>(problem.space, T(0), next, T(static_cast<Real<T>>(1.0 / below)), next);
    std::swap(previous, current);
    std::swap(current, next);
  }
  ExpmActionOptions::Interval interval{ends.least - ends.least_residual, ends.largest + ends.largest_residual};
  if (skew && !is_complex<T>) {
    // Eigenvalues come in pairs.
    interval.largest = std::max(interval.largest, -interval.least);
    interval.least = -interval.largest;
  }
  // Margin for missed eigenvalues, rounding, and a spectrum of one point. At the end where exp(growth x) is largest, an
  // interval that is too wide by x costs a factor exp(growth x): there it is wider by 1 / (2 growth) at most.
  const double width = 0.005 * (interval.largest - interval.least);
  const double rounding = 16.0 * unit * std::max(std::abs(interval.least), std::abs(interval.largest)) + 1e-30;
  const double narrow = search.growth == 0.0 ? width : std::min(width, 0.5 / std::abs(search.growth));
  interval.least -= rounding + (search.growth < 0.0 ? narrow : width);
  interval.largest += rounding + (search.growth > 0.0 ? narrow : width);
  return {interval, search.growth > 0.0 ? interval.largest - ends.largest : ends.least - interval.least};
}

#define HEDDLE_INSTANTIATE(T)                                                                       \
  template Spectrum spectrum_of<T>(const ActionProblem<T>&, ActionWorkspace<T>&, ExpmActionReport&, \
                                   const SpectrumSearch&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
