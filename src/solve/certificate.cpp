#include "solve/certificate.hpp"

#include "core/instantiate.hpp"
#include "solve/residuals.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle::impl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

// The largest of numbers that are none of them negative; infinity where one is a NaN.
double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers) most = std::isnan(number) ? infinity : std::max(most, number);
  return most;
}

// What nested sums of so many absolute values in double precision are at most, when they came to `sum`.
double enlarged(double sum, Index terms) {
  const auto n = static_cast<double>(terms);
  return sum * (1.0 + (4.0 * n + 64.0) * epsilon) +
         8.0 * (n + 1.0) * (n + 1.0) * std::numeric_limits<double>::denorm_min();
}

// |I - R A| in the norm of infinity, at most.
template <Scalar T> double distance_from_identity(const PlacedMatrix<T>& A, const PlacedMatrix<T>& R) {
  const Index n = A.rows();
  const auto order = static_cast<double>(n);
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const PlacedMatrix<T> G(A.ranks(), R.placement(), "heddle::solve::identity");
  if (A.ranks().comm() != nullptr) {
    gemm(*A.ranks().comm(), Operation::none, Operation::none, T(1), R.distributed(), A.distributed(), T(0),
         G.distributed());
  } else {
    blas::gemm<T>(A.space(), Operation::none, Operation::none, T(1), R.local(), A.local(), T(0), G.local());
  }
  subtract_identity(G);
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  const std::vector<double> of_g = sizes_of_rows(G, ones);
  const std::vector<double> of_product = sizes_of_rows(R, sizes_of_rows(A, ones));
  // Complex products have sums of 2 n terms in each part, and an absolute value is at most sqrt(2) of the larger part.
  const double roundings = is_complex<T> ? 2.0 * order + 4.0 : order + 2.0;
  if (roundings * unit >= 0.5) return infinity;
  const double relative = (is_complex<T> ? 1.5 : 1.0) * roundings * unit / (1.0 - roundings * unit);
  // Products below the smallest normal number are off by less than the smallest one.
  const double underflow = 4.0 * order * order * static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  std::vector<double> sums(of_g.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = of_g[i] * (1.0 + 4.0 * unit) + relative * of_product[i] + underflow;
  }
  return enlarged(largest(sums), n);
}

}  // namespace

template <Scalar T>
double proven_error(const PlacedMatrix<T>& A, const PlacedMatrix<T>& inverse, const PlacedMatrix<T>& X,
                    const PlacedMatrix<T>& residuals, const std::vector<Index>& powers) {
  const double off = distance_from_identity(A, inverse);
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const auto smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  double worst = 0;
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    const std::vector<T> r = column_of(residuals, j);
    std::vector<double> sizes(x.size());
    std::transform(x.begin(), x.end(), sizes.begin(), [](const T& e) { return magnitude(e); });
    const double of_x = largest(sizes);
    // At least: what is denormal is off by less than the smallest number.
    const double at_least = of_x * (1.0 - 4.0 * epsilon) - 2.0 * std::numeric_limits<double>::denorm_min();
    bool exact = true;
    for (std::size_t i = 0; i < r.size(); ++i) {
      exact = exact && r[i] == T(0);
      sizes[i] = magnitude(r[i]) * (1.0 + 4.0 * unit) + 2.0 * smallest;
    }
    // Then b is zero, and so is the solution: where x is zero, a residual is b, without a rounding.
    if (of_x == 0 && exact && off < 1.0) continue;
    const double of_rest = enlarged(largest(sizes_of_rows(inverse, sizes)), A.rows());
    if (!(off < 1.0) || !(at_least > 0) || !std::isfinite(of_x)) return infinity;
    const double error = of_rest / (1.0 - off) * (1.0 + 8.0 * epsilon) / at_least;
    if (std::isnan(error)) return infinity;
    const auto power = static_cast<int>(powers[static_cast<std::size_t>(j)]);
    // Quotients and powers that are denormal may have lost all.
    worst = std::max({worst, std::ldexp(error, -power), error > 0 || of_rest > 0 ? 0x1p-1000 : 0.0});
  }
  return worst;
}

#define HEDDLE_INSTANTIATE(T)                                                                             \
  template double proven_error<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&, \
                                  const PlacedMatrix<T>&, const std::vector<Index>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
