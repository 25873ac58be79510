// Error bounds of triangular and factored solutions, overflow checks, and eliminations without rounding.
#pragma once

#include "hunt/long_matrix.hpp"
#include "hunt/operation.hpp"
#include <heddle/solve/lu.hpp>

#include <complex>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::hunt {

/// Return whether no sum of an elimination with A can come near overflow, whatever the growth of so many steps.
bool cannot_overflow(const Array& A, Type type);
/// Return whether all elements are finite.
template <Scalar T> bool all_finite(const HostMatrix<T>& A) {
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      if (!is_finite(A(i, j))) return false;
    }
  }
  return true;
}

/// Return op(A).
LongMatrix applied(Operation op, const LongMatrix& A);
/// Return L (m x min(m, n), with its ones) or U (min(m, n) x n) from factors stored in one matrix.
LongMatrix lower_of(const LongMatrix& LU, bool unit);
LongMatrix upper_of(const LongMatrix& LU, bool unit);

/// Rounding errors of the arithmetic that was used.
struct Roundings {
  double unit;      ///< Rounding of one sum or product; times 4 for complex numbers.
  double emulated;  ///< emulation_error() of products with the same options; 0 for native products.
  double twice;     ///< 2 if products round separately from the difference.
  double smallest;  ///< The smallest number, times 4 for complex numbers.

  /// Return a bound on the error of `steps` multiply-adds whose absolute values sum to `sizes`, and of emulated
  /// products whose factors have norms with product `norms`.
  [[nodiscard]] long double of(Index steps, long double sizes, long double norms) const {
    return 1.01L * (twice * static_cast<long double>(steps + 3) * unit * sizes + emulated * norms);
  }
};
template <Scalar T> Roundings roundings_of(const FactorOptions& options, Index order) {
  Roundings roundings{};
  roundings.unit = static_cast<double>(unit_roundoff<T>) * (is_complex<T> ? 4 : 1);
  roundings.smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()) * (is_complex<T> ? 4 : 1);
  roundings.twice = 1;
  if (options.arithmetic != Arithmetic::emulated) return roundings;
  roundings.twice = 2;
  const Index inner = std::max<Index>(order, 1);
  roundings.emulated = emulation_error<T>(inner, emulation_moduli<T>(inner));
  return roundings;
}

/// Return max |b - A X| / bound over all elements, for solutions X of A X = B by factors F G of A. The bound is that of
/// the factors and of two substitutions (N. Higham, Accuracy and Stability, 2002, theorems 8.5, 9.3 and 9.4), plus the
/// shares of emulated products and of underflow. Columns of X that are not finite are skipped.
double share_of_solution_bound(const Roundings& roundings, const LongMatrix& A, const LongMatrix& F,
                               const LongMatrix& G, const LongMatrix& X, const LongMatrix& B);

/// Return max |b - M X| / bound for a triangle M.
double share_of_triangle_bound(const Roundings& roundings, const LongMatrix& M, const LongMatrix& X,
                               const LongMatrix& B);

/// Eliminate by the rules of lu() or cholesky() if every number that could arise, in any order of sums, is exact;
/// otherwise return nothing.
struct ExactFactors {
  std::vector<Value> values;  // LU or L, by columns.
  std::vector<Index> pivots;
  Index info = 0;
};
std::optional<ExactFactors> exact_elimination(const Array& A, bool complex);
std::optional<ExactFactors> exact_cholesky(const Array& A);

}  // namespace heddle::hunt
