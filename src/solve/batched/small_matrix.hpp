// One small matrix in the memory of a thread of a CPU, factored and solved with by the operations of solve(), in their
// order.
#pragma once

#include "core/simd.hpp"
#include "solve/lu/pivot.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace heddle::impl {

/// A matrix with any strides.
template <class T> struct SmallView {
  T* data;
  Index row_stride;
  Index column_stride;
  T& operator()(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
};

/// A matrix of an order up to largest_small_system, its scaling by powers of two and its factors. `fixed`: the order,
/// if loops are to know it, or 0.
///
/// Bits: up to that order each element of the factors and of a solution is one chain of fused multiply-adds in the
/// order of the columns (PanelFactor, CholeskyPanel, Substitution), natively and emulated, if one panel holds the
/// matrix.
template <Scalar T, Index fixed = 0> class SmallMatrix {
 public:
  explicit SmallMatrix(Index order)
      : n_(order),
        padded_((order + run - 1) / run * run),
        a_(elements(order)),
        f_(elements(order)),
        inverse_(static_cast<std::size_t>(order * padded_)),
        y_(count(order)),
        rows_(count(order)),
        columns_(count(order)),
        pivots_(count(order)),
        order_(count(order)),
        sizes_(count(order)) {
    divisors_.reserve(count(order));
    divisors_of_upper_.reserve(count(order));
  }

  [[nodiscard]] Index order() const { return n(); }
  [[nodiscard]] const T* given() const { return a_.data(); }
  [[nodiscard]] bool scales() const { return scales_; }
  [[nodiscard]] const std::vector<Index>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Index>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Index>& pivots() const { return pivots_; }
  /// The largest part of an element, and the smallest that is not zero.
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] double smallest() const { return smallest_; }

  /// Copies a matrix. Returns false if a number is not finite.
  bool load(const SmallView<const T>& A) {
    for (Index j = 0; j < n(); ++j) {
      for (Index i = 0; i < n(); ++i) a_[at(i, j)] = A(i, j);
    }
    const auto* const parts = reinterpret_cast<const Real<T>*>(a_.data());
    const Index number = n() * n() * (is_complex<T> ? 2 : 1);
    Real<T> most = 0;
    Real<T> least = std::numeric_limits<Real<T>>::max();
    Real<T> none = 0;
    HEDDLE_SIMD_PRAGMA("omp simd reduction(max : most) reduction(min : least) reduction(+ : none)")
    for (Index e = 0; e < number; ++e) {
      const Real<T> size = std::abs(parts[e]);
      most = size > most ? size : most;
      least = size > 0 && size < least ? size : least;
      none += size - size;
    }
    largest_ = static_cast<double>(most);
    smallest_ = static_cast<double>(least);
    return none == 0;
  }

  /// Finds the powers of two of Equilibration, and scales the copy that is factored by them. Returns false if they are
  /// left to Equilibration.
  bool equilibrate(bool positive_definite) {
    std::fill(rows_.begin(), rows_.end(), 0);
    std::fill(columns_.begin(), columns_.end(), 0);
    scales_ = false;
    const bool found = positive_definite ? find_powers_of_diagonal() : find_powers();
    if (!found) return false;
    if (!scales_) {
      std::copy(a_.begin(), a_.end(), f_.begin());
      return true;
    }
    for (Index j = 0; j < n(); ++j) {
      for (Index i = 0; i < n(); ++i) f_[at(i, j)] = times_power_of_two(a_[at(i, j)], rows_[i] + columns_[j]);
    }
    return true;
  }

  /// The largest sum of a column of the scaled matrix, of |real| + |imaginary|; before it is factored.
  [[nodiscard]] double norm() const {
    double most = 0;
    for (Index j = 0; j < n(); ++j) most = std::max(most, sum_of_sizes(&f_[at(0, j)]));
    return most;
  }

  /// Factors the scaled copy: P A = L U. `info` is 0 or the first step without a pivot. Returns false if a pivot needs
  /// more care than this takes.
  bool factor_by_lu(Index& info) {
    info = 0;
    divisors_.clear();
    for (Index i = 0; i < n(); ++i) order_[i] = i;
    for (Index j = 0; j < n(); ++j) {
      T* const l = &f_[at(0, j)];
      const Index pivot = first_largest(l, j);
      if (pivot < 0) return false;
      pivots_[j] = pivot;
      if (pivot != j) {
        for (Index c = 0; c < n(); ++c) std::swap(f_[at(j, c)], f_[at(pivot, c)]);
        std::swap(order_[j], order_[pivot]);
      }
      const T by = l[j];
      if (info == 0 && exact::impl::pivot_rank(by) == exact::impl::pivot_rank_of_zero) info = j + 1;
      divisors_.emplace_back(by);
      const PivotDivisor<T> divide = divisors_.back();
      if (by != T(0)) {
        HEDDLE_SIMD
        for (Index i = j + 1; i < n(); ++i) l[i] = divide(l[i]);
      }
      for (Index c = j + 1; c < n(); ++c) {
        T* const x = &f_[at(0, c)];
        const T minus = -x[j];
        HEDDLE_SIMD
        for (Index i = j + 1; i < n(); ++i) x[i] = multiply_add(l[i], minus, x[i]);
      }
    }
    return true;
  }

  /// Factors the scaled copy: A = L L^H, with L^H above the diagonal. `info` is 0 or the first step without a positive
  /// pivot, where it ends.
  void factor_by_cholesky(Index& info) {
    info = 0;
    divisors_.clear();
    divisors_of_upper_.clear();
    for (Index j = 0; j < n(); ++j) {
      T* const l = &f_[at(0, j)];
      const Real<T> pivot = real_of<Real<T>>(l[j]);
      if (!(pivot > 0)) {
        info = j + 1;
        return;
      }
      const Real<T> root = std::sqrt(pivot);
      l[j] = T(root);
      divisors_.emplace_back(l[j]);
      divisors_of_upper_.emplace_back(conjugate(l[j]));
      HEDDLE_SIMD
      for (Index i = j + 1; i < n(); ++i) l[i] = divided(l[i], root);
      for (Index c = j + 1; c < n(); ++c) {
        T* const x = &f_[at(0, c)];
        const T minus = -conjugate(l[c]);
        HEDDLE_SIMD
        for (Index i = c; i < n(); ++i) x[i] = multiply_add(l[i], minus, x[i]);
      }
    }
    for (Index j = 0; j < n(); ++j) {
      for (Index i = 0; i < j; ++i) f_[at(i, j)] = conjugate(f_[at(j, i)]);
    }
  }

  /// x = F^-1 x for the scaled matrix F.
  void solve(bool by_cholesky, T* x) {
    if (!by_cholesky) {
      std::copy_n(x, n(), y_.begin());
      for (Index i = 0; i < n(); ++i) x[i] = y_[order_[i]];
    }
    for (Index k = 0; k < n(); ++k) {
      if (by_cholesky) x[k] = divisors_[k](x[k]);
      eliminate(&f_[at(0, k)], -x[k], k + 1, n(), x);
    }
    const auto& divisors = by_cholesky ? divisors_of_upper_ : divisors_;
    for (Index k = n() - 1; k >= 0; --k) {
      x[k] = divisors[k](x[k]);
      eliminate(&f_[at(0, k)], -x[k], 0, k, x);
    }
  }

  /// The largest sum of a column of F^-1, of |real| + |imaginary|, with the digits that F's factors leave.
  [[nodiscard]] double norm_of_inverse(bool by_cholesky) {
    // The inverse by rows, in runs of columns that stay in registers: first L^-1, then U^-1 L^-1. Columns behind the
    // last one are zeros.
    std::fill(inverse_.begin(), inverse_.end(), T(0));
    for (Index i = 0; i < n(); ++i) {
      inverse_[i * padded_ + i] = T(1);
      const T by = by_cholesky ? divisors_[i](T(1)) : T(1);
      for (Index j = 0; j <= i; j += run) subtract_rows(i, j, i, j, by);
    }
    for (Index i = n() - 1; i >= 0; --i) {
      const T by = divisors_[i](T(1));
      for (Index j = 0; j < n(); j += run) subtract_rows(i, i + 1, n(), j, by);
    }
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
    for (Index i = 0; i < n(); ++i) {
      for (Index j = 0; j < n(); ++j) sizes_[j] += size_of_parts(inverse_[i * padded_ + j]);
    }
    double most = 0;
    for (const double sum : sizes_) most = most > sum ? most : sum;  // A NaN stays.
    return most;
  }

  /// The diagonal of the factors.
  [[nodiscard]] std::span<const T> diagonal() {
    for (Index k = 0; k < n(); ++k) y_[k] = f_[at(k, k)];
    return y_;
  }

 private:
  // Elements of a row of the inverse that are computed together.
  static constexpr Index run = fixed > 0 && fixed <= 4 ? 4 : 8;
  [[nodiscard]] Index n() const {
    if constexpr (fixed > 0) {
      return fixed;
    } else {
      return n_;
    }
  }
  static std::size_t count(Index order) { return static_cast<std::size_t>(order); }
  static std::size_t elements(Index order) { return static_cast<std::size_t>(order * order); }
  [[nodiscard]] std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(i + j * n()); }
  static double size_of_parts(const T& x) { return std::abs(real_of<double>(x)) + std::abs(imaginary_of<double>(x)); }
  [[nodiscard]] double sum_of_sizes(const T* column) const {
    double sum = 0;
    for (Index i = 0; i < n(); ++i) sum += size_of_parts(column[i]);
    return sum;
  }

  bool find_powers_of_diagonal() {
    for (Index i = 0; i < n(); ++i) sizes_[i] = real_of<double>(a_[at(i, i)]);
    if (!are_sizes(sizes_) || !want_scaling<T>(sizes_)) return true;
    std::transform(sizes_.begin(), sizes_.end(), rows_.begin(), half_exponent_of_size);
    columns_ = rows_;
    scales_ = true;
    return true;
  }
  bool find_powers() {
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
    for (Index j = 0; j < n(); ++j) {
      HEDDLE_SIMD
      for (Index i = 0; i < n(); ++i) {
        const double size = part_size(a_[at(i, j)]);
        sizes_[i] = size > sizes_[i] ? size : sizes_[i];
      }
    }
    if (!are_sizes(sizes_)) return true;
    const bool by_rows = want_scaling<T>(sizes_);
    if (by_rows) std::transform(sizes_.begin(), sizes_.end(), rows_.begin(), exponent_of_size);
    constexpr double safe = 0x1p-900;
    for (Index j = 0; j < n(); ++j) {
      double most = 0;
      for (Index i = 0; i < n(); ++i) {
        const double size = part_size(a_[at(i, j)]);
        const double scaled = by_rows ? times_power(size, rows_[i]) : size;
        most = scaled > most ? scaled : most;
      }
      if (most < safe) return false;
      sizes_[j] = most;
    }
    const bool by_columns = are_sizes(sizes_) && are_apart(sizes_);
    if (!are_sizes(sizes_)) return false;
    if (by_columns) std::transform(sizes_.begin(), sizes_.end(), columns_.begin(), exponent_of_size);
    scales_ = by_rows || by_columns;
    return true;
  }

  // Return the first of the largest elements from number j on; -1 if sizes overflow.
  [[nodiscard]] Index first_largest(const T* x, Index j) const {
    using R = Real<T>;
    const auto size_of = [](const T& e) {
      if constexpr (is_complex<T>) {
        return std::abs(e.real()) + std::abs(e.imag());
      } else {
        return std::abs(e);
      }
    };
    R most = -1;
    HEDDLE_SIMD_MOST
    for (Index i = j; i < n(); ++i) {
      const R size = size_of(x[i]);
      most = size > most ? size : most;
    }
    if (!(most <= std::numeric_limits<R>::max())) return -1;
    Index i = j;
    while (i < n() && !(size_of(x[i]) == most)) ++i;
    return i < n() ? i : -1;
  }

  // x_i = x_i + column_i minus for begin <= i < end.
  static void eliminate(const T* column, const T& minus, Index begin, Index end, T* x) {
    HEDDLE_SIMD
    for (Index i = begin; i < end; ++i) x[i] = multiply_add(column[i], minus, x[i]);
  }
  // Replace a run of row i of the inverse by (it - the sum over begin <= k < end of f_ik times row k) by.
  void subtract_rows(Index i, Index begin, Index end, Index j, const T& by) {
    T sums[run];
    for (Index c = 0; c < run; ++c) sums[c] = inverse_[i * padded_ + j + c];
    for (Index k = begin; k < end; ++k) {
      const T minus = -f_[at(i, k)];
      const T* const row = &inverse_[k * padded_ + j];
      HEDDLE_SIMD
      for (Index c = 0; c < run; ++c) sums[c] = multiply_add(row[c], minus, sums[c]);
    }
    for (Index c = 0; c < run; ++c) inverse_[i * padded_ + j + c] = multiply_add(sums[c], by, T(0));
  }

  Index n_;
  Index padded_;            // Elements of a row of the inverse, with zeros at its end.
  std::vector<T> a_;        // As given, by columns.
  std::vector<T> f_;        // Scaled, then its factors, by columns.
  std::vector<T> inverse_;  // By rows.
  std::vector<T> y_;
  std::vector<Index> rows_;
  std::vector<Index> columns_;
  std::vector<Index> pivots_;
  std::vector<Index> order_;  // Row i of P A is row order_[i] of A.
  std::vector<double> sizes_;
  std::vector<PivotDivisor<T>> divisors_;           // By the diagonal of the factor that is not a unit one.
  std::vector<PivotDivisor<T>> divisors_of_upper_;  // By Cholesky: by that of L^H.
  double largest_ = 0.0;
  double smallest_ = 0.0;
  bool scales_ = false;
};

}  // namespace heddle::impl
