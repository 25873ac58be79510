// Estimates of norms of inverses, by systems.
#pragma once

#include "exact/products/size.hpp"
#include <heddle/core/operation.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

/// The elements x_i 2^powers_i.
template <Scalar T> struct ScaledVector {
  std::vector<T> x;
  std::vector<Index> powers;
  [[nodiscard]] Size size(std::size_t i) const { return size_of(x[i], powers[i]); }
};

struct NormEstimate {
  Size norm;
  std::size_t column = 0;  ///< The column of the largest norm that was found.
};

/// Return an estimate of |M|_1, of order n, from below (N. Higham, "FORTRAN codes for estimating the one-norm", ACM
/// TOMS 14, 1988). apply(op, x) returns op(M) x as a ScaledVector; no |x_i| is above two, and it is called at most 11
/// times. The norm is infinite or a NaN if a product M x is.
template <Scalar T, class Apply> NormEstimate estimate_norm(std::size_t n, const Apply& apply) {
  const auto norm_of = [&](const std::vector<T>& x) {
    const ScaledVector<T> y = apply(Operation::none, x);
    Size sum;
    for (std::size_t i = 0; i < n; ++i) sum = sum + y.size(i);
    return std::pair(sum, y);
  };
  NormEstimate best;
  std::vector<T> x(n, T(1));
  std::vector<T> signs;
  std::size_t last = n;
  for (int round = 0; round < 5; ++round) {
    auto [found, y] = norm_of(x);
    // The first round has ones, the others unit vectors.
    if (round == 0) found.number /= static_cast<double>(n);
    if (!is_finite(found.number)) return {found, best.column};
    if (round > 0 && !(best.norm < found)) break;
    best.norm = found;
    // y_i / |y_i|, and 1 for 0.
    std::vector<T> next(n, T(1));
    for (std::size_t i = 0; i < n; ++i) {
      const Size size = size_of(y.x[i]);
      if (size.number == 0) continue;
      const auto part = [&](Real<T> value) {
        return static_cast<Real<T>>(scaled(static_cast<double>(value), -size.power) / size.number);
      };
      if constexpr (is_complex<T>) {
        next[i] = T(part(y.x[i].real()), part(y.x[i].imag()));
      } else {
        next[i] = part(y.x[i]);
      }
    }
    if (next == signs) break;
    signs = std::move(next);
    const ScaledVector<T> z = apply(Operation::conjugate_transpose, signs);
    std::size_t largest = 0;
    for (std::size_t j = 1; j < n; ++j) {
      // If a product overflowed, any column is as good as another.
      const Size best_yet = z.size(largest);
      const Size other = z.size(j);
      if (!is_finite(best_yet.number) || !is_finite(other.number) || best_yet < other) largest = j;
    }
    if (largest == last) break;
    last = best.column = largest;
    std::fill(x.begin(), x.end(), T(0));
    x[largest] = T(1);
  }
  // Higham's second test vector, against matrices made to deceive the first.
  for (std::size_t i = 0; i < n; ++i) {
    const double size = 1.0 + static_cast<double>(i) / std::fmax(1.0, static_cast<double>(n - 1));
    x[i] = T(static_cast<Real<T>>(i % 2 == 0 ? size : -size));
  }
  Size second = norm_of(x).first;
  second.number = 2 * second.number / (3 * static_cast<double>(n));
  return {larger_of(second, best.norm), best.column};
}

}  // namespace heddle::exact::impl
