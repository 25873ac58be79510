#include "core/instantiate.hpp"
#include "solve/over_ranks.hpp"
#include "solve/pivots.hpp"
#include "solve/residuals.hpp"
#include "solve/system.hpp"
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle {
namespace impl {
namespace {

template <Scalar T> double one_norm(const std::vector<T>& x) {
  double sum = 0;
  for (const T& element : x) sum += magnitude(element);
  return sum;
}

// The power of two nearest to |A|_1 of which a vector may have its numbers: solutions with it are about as large as the
// condition number, wherever A is in the range of T.
template <Scalar T> int power_near(double norm) {
  using Limits = std::numeric_limits<Real<T>>;
  constexpr int apart = 20;
  return norm > 0 && std::isfinite(norm)
             ? std::clamp(std::ilogb(norm), Limits::min_exponent + apart, Limits::max_exponent - apart)
             : 0;
}

// |A^-1|_1 2^power, from below.
template <Scalar T> double inverse_norm(FactoredSystem<T>& system, const std::vector<Index>& pivots, int power) {
  const std::size_t n = pivots.size();
  const PlacedMatrix<T> vector = system.new_right("heddle::solve::estimate");
  const auto scale = std::ldexp(Real<T>(1), power);
  const auto solved = [&](Operation op, std::vector<T> b) {
    for (T& element : b) element *= scale;
    set_column(vector, 0, b);
    system.solve_by_lu(op, pivots, vector);
    return column_of(vector, 0);
  };
  std::vector<T> x(n, T(static_cast<Real<T>>(1.0 / static_cast<double>(n))));
  double estimate = 0;
  std::size_t taken = n;
  for (int round = 0; round < 5; ++round) {
    const std::vector<T> y = solved(Operation::none, x);
    const double found = one_norm(y);
    if (std::isnan(found) || (round > 0 && found <= estimate)) return std::isnan(found) ? found : estimate;
    estimate = found;
    std::vector<T> signs(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double size = magnitude(y[i]);
      signs[i] = size == 0 || !std::isfinite(size) ? T(1) : y[i] / static_cast<Real<T>>(size);
    }
    const std::vector<T> z = solved(Operation::conjugate_transpose, signs);
    std::size_t largest = 0;
    double most = -1;
    for (std::size_t i = 0; i < n; ++i) {
      const double size = magnitude(z[i]);
      if (size > most) {
        most = size;
        largest = i;
      }
    }
    if (largest == taken) break;
    taken = largest;
    std::fill(x.begin(), x.end(), T(0));
    x[largest] = T(1);
  }
  // What the rounds above may miss: numbers of alternating signs.
  for (std::size_t i = 0; i < n; ++i) {
    const double size = n > 1 ? 1.0 + static_cast<double>(i) / static_cast<double>(n - 1) : 1.0;
    x[i] = T(static_cast<Real<T>>(i % 2 == 0 ? size : -size));
  }
  const double other = 2.0 * one_norm(solved(Operation::none, x)) / (3.0 * static_cast<double>(n));
  return std::isnan(other) || other > estimate ? other : estimate;
}

template <Scalar T> void check_condition(const PlacedMatrix<T>& LU, const LuReport& factors, const LuOptions& options) {
  require_factors("condition", LU, factors);
  require_lu_options("condition", LU.rows(), LU.columns(), options);
}
template <Scalar T>
double estimated_condition(const PlacedMatrix<T>& LU, const LuReport& factors, double norm, const LuOptions& options) {
  if (LU.rows() == 0) return 0.0;
  if (factors.info != 0) return std::numeric_limits<double>::infinity();
  FactoredSystem<T> system(LU, 1, options);
  const int power = power_near<T>(norm);
  const double estimate = std::ldexp(norm, -power) * inverse_norm(system, factors.pivots, power);
  return std::isnan(estimate) ? estimate : std::max(1.0, estimate);
}

// The product of the diagonal's elements, with the signs of the interchanges.
template <Scalar T> Determinant<T> product_of(const std::vector<T>& diagonal, const std::vector<Index>& pivots) {
  Determinant<T> result{T(1), 0};
  const auto normalise = [&] {
    const double size = part_size(result.mantissa);
    if (size == 0 || !std::isfinite(real_of<double>(result.mantissa)) ||
        !std::isfinite(imaginary_of<double>(result.mantissa))) {
      return false;
    }
    const int power = std::ilogb(size) + 1;
    // In two steps, as 2^-power itself may be beyond the range.
    const int half = power / 2;
    result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, -half));
    result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, half - power));
    result.exponent += power;
    return true;
  };
  bool regular = normalise();
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    // The element's own power of two first, so that no product over- or underflows.
    const Determinant<T> before = result;
    result = {pivots[k] == static_cast<Index>(k) ? diagonal[k] : -diagonal[k], before.exponent};
    regular = normalise() && regular;
    result.mantissa = multiply_add(before.mantissa, result.mantissa, T(0));
    regular = normalise() && regular;
  }
  if (!regular) result.exponent = 0;
  return result;
}

}  // namespace
}  // namespace impl

template <Scalar T>
double condition(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors, double norm,
                 const LuOptions& options) {
  const impl::PlacedMatrix<T> of(LU);
  return impl::over_ranks(
      comm, "condition", impl::and_placements(impl::arguments_of(options), LU.placement(), LU.placement()),
      [&] { impl::check_condition(of, factors, options); },
      [&] { return impl::estimated_condition(of, factors, norm, options); });
}

template <Scalar T>
double condition(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors, double norm,
                 const LuOptions& options) {
  const impl::PlacedMatrix<T> of(space, "condition", "LU", LU);
  impl::check_condition(of, factors, options);
  return impl::estimated_condition(of, factors, norm, options);
}

template <Scalar T>
Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors) {
  const impl::PlacedMatrix<T> of(LU);
  return impl::over_ranks(
      comm, "determinant", std::vector<impl::Argument>{impl::argument("LU", LU.placement())},
      [&] { impl::require_factors("determinant", of, factors); },
      [&] { return impl::product_of(impl::diagonal_of(of), factors.pivots); });
}

template <Scalar T>
Determinant<T> determinant(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors) {
  const impl::PlacedMatrix<T> of(space, "determinant", "LU", LU);
  impl::require_factors("determinant", of, factors);
  return impl::product_of(impl::diagonal_of(of), factors.pivots);
}

#define HEDDLE_INSTANTIATE(T)                                                                                \
  template double condition<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&, double,    \
                               const LuOptions&);                                                            \
  template double condition<T>(const ExecutionSpace&, const MatrixView<T>&, const LuReport&, double,         \
                               const LuOptions&);                                                            \
  template Determinant<T> determinant<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&); \
  template Determinant<T> determinant<T>(const ExecutionSpace&, const MatrixView<T>&, const LuReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
