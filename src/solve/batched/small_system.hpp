// Small systems, inverses and determinants by one thread of a CPU, with the bits of the functions for one matrix.
#pragma once

#include "solve/batched/small_matrix.hpp"
#include "solve/batched/small_residual.hpp"
#include "solve/system/diagonal_product.hpp"
#include <heddle/solve/batched.hpp>

#include <cstdint>

namespace heddle::impl {

/// Outcome for a small matrix: `open` leaves it to the function for one matrix.
enum class SmallOutcome : std::uint8_t { done, no_pivot, open };

/// Work of one thread on matrices of one order; `fixed` as SmallMatrix's.
template <Scalar T, Index fixed = 0> class SmallSystem {
 public:
  SmallSystem(Index order, Index columns)
      : n_(order),
        columns_(columns),
        matrix_(order),
        residual_(order),
        b_(static_cast<std::size_t>(order)),
        r_(static_cast<std::size_t>(order)),
        x_(static_cast<std::size_t>(order * columns)) {}

  /// X = A^-1 B as solve() has it, unless numbers are near the ends of the range, or the condition is too large.
  SmallOutcome solve(const SmallView<const T>& A, const SmallView<const T>& B, const SmallView<T>& X,
                     const SolveOptions& options, Index& info) {
    by_cholesky_ = options.method == SolveMethod::cholesky;
    const SmallOutcome outcome = factor(A, options.equilibrate, options.condition, info);
    if (outcome != SmallOutcome::done) return outcome;
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i < n(); ++i) b_[i] = B(i, j);
      if (!solve_column(&x_[j * n()], options.refinements)) return SmallOutcome::open;
    }
    store(X);
    return SmallOutcome::done;
  }

  /// X = A^-1 as inverse() has it, with n columns.
  SmallOutcome invert(const SmallView<const T>& A, const SmallView<T>& X, Index& info) {
    by_cholesky_ = false;
    const SmallOutcome outcome = factor(A, true, true, info);
    if (outcome != SmallOutcome::done) return outcome;
    for (Index j = 0; j < n(); ++j) {
      T* const x = &x_[j * n()];
      for (Index i = 0; i < n(); ++i) x[i] = i == j ? T(1) : T(0);
      matrix_.solve(false, x);
      if (matrix_.scales()) {
        for (Index i = 0; i < n(); ++i) {
          x[i] = times_power_of_two(x[i], matrix_.columns()[i] + matrix_.rows()[j]);
        }
      }
    }
    if (!are_finite(x_.data(), n() * n())) return SmallOutcome::open;
    store(X);
    return SmallOutcome::done;
  }

  /// The determinant as determinant() has it.
  SmallOutcome determinant(const SmallView<const T>& A, Determinant<T>& found) {
    Index info = 0;
    if (!matrix_.load(A) || !matrix_.equilibrate(false) || !matrix_.factor_by_lu(info)) return SmallOutcome::open;
    found = product_of<T>(matrix_.diagonal(), matrix_.pivots());
    const double size = part_size(found.mantissa);
    if (!std::isfinite(size)) return SmallOutcome::open;
    if (size == 0) return SmallOutcome::done;
    if (info != 0) {
      found = {T(0), 0};
      return SmallOutcome::done;
    }
    for (Index i = 0; i < n(); ++i) found.exponent -= matrix_.rows()[i] + matrix_.columns()[i];
    return SmallOutcome::done;
  }

 private:
  [[nodiscard]] Index n() const { return fixed > 0 ? fixed : n_; }
  // Whether the condition may be so large that solve() looks closer. Its own number has other roundings, and, from
  // order 33 on, is an estimate from below.
  [[nodiscard]] bool may_be_ill(double norm) {
    constexpr double margin = 4.0;
    const double condition = norm * matrix_.norm_of_inverse(by_cholesky_);
    return !(condition * margin <= 1.0 / (static_cast<double>(n()) * static_cast<double>(unit_roundoff<T>)));
  }
  SmallOutcome factor(const SmallView<const T>& A, bool equilibrate, bool judge, Index& info) {
    info = 0;
    if (!matrix_.load(A) || !matrix_.equilibrate(by_cholesky_)) return SmallOutcome::open;
    if (matrix_.scales() && !equilibrate) return SmallOutcome::open;
    const double norm = judge ? matrix_.norm() : 0.0;
    if (by_cholesky_) {
      matrix_.factor_by_cholesky(info);
    } else if (!matrix_.factor_by_lu(info)) {
      return SmallOutcome::open;
    }
    if (info != 0) return SmallOutcome::no_pivot;
    return judge && may_be_ill(norm) ? SmallOutcome::open : SmallOutcome::done;
  }

  static bool are_finite(const T* x, Index count) {
    const auto* const numbers = reinterpret_cast<const Real<T>*>(x);
    Real<T> none = 0;
    HEDDLE_SIMD_PRAGMA("omp simd reduction(+ : none)")
    for (Index e = 0; e < count * (is_complex<T> ? 2 : 1); ++e) none += numbers[e] - numbers[e];
    return none == 0;
  }

  /// Sizes of the parts of a column that are not zero.
  struct Sizes {
    double most = 0;
    double least = std::numeric_limits<double>::infinity();
  };
  static Sizes sizes_of(const T* x, Index count) {
    const auto* const numbers = reinterpret_cast<const Real<T>*>(x);
    Real<T> most = 0;
    Real<T> least = std::numeric_limits<Real<T>>::infinity();
    HEDDLE_SIMD_PRAGMA("omp simd reduction(max : most) reduction(min : least)")
    for (Index e = 0; e < count * (is_complex<T> ? 2 : 1); ++e) {
      const Real<T> size = std::abs(numbers[e]);
      most = size > most ? size : most;
      least = size > 0 && size < least ? size : least;
    }
    return {static_cast<double>(most), static_cast<double>(least)};
  }

  // Scale a right-hand side of finite numbers by the powers of the rows. Return false if scale_right() would multiply
  // it by one more power of two.
  [[nodiscard]] bool scale_right(T* b) {
    using Limits = std::numeric_limits<Real<T>>;
    Index most = std::numeric_limits<Index>::min();
    Index least = std::numeric_limits<Index>::max();
    if (!matrix_.scales()) {
      const Sizes sizes = sizes_of(b, n());
      if (sizes.most == 0) return true;
      most = exact::impl::power_of(sizes.most) + 1;
      least = exact::impl::power_of(sizes.least) + 1;
    } else {
      for (Index i = 0; i < n(); ++i) {
        const Sizes sizes = sizes_of(b + i, 1);
        if (sizes.most == 0) continue;
        const Index by = matrix_.rows()[i] + 1;
        most = std::max<Index>(most, exact::impl::power_of(sizes.most) + by);
        least = std::min<Index>(least, exact::impl::power_of(sizes.least) + by);
        b[i] = times_power_of_two(b[i], matrix_.rows()[i]);
      }
      if (most < least) return true;
    }
    return most <= Limits::max_exponent &&
           (least > Limits::min_exponent + Limits::digits || most >= Limits::max_exponent / 2);
  }
  // x = A^-1 x. Return false if that is left to solve().
  [[nodiscard]] bool solve_scaled(T* x) {
    if (!scale_right(x)) return false;
    matrix_.solve(by_cholesky_, x);
    if (matrix_.scales()) {
      for (Index i = 0; i < n(); ++i) x[i] = times_power_of_two(x[i], matrix_.columns()[i]);
    }
    return are_finite(x, n());
  }
  // Whether exact_residuals() would multiply residuals by a power of two.
  [[nodiscard]] bool residual_is_far(const Sizes& of_x) const {
    using Limits = std::numeric_limits<Real<T>>;
    constexpr Index none = -100000;
    const auto exponent_of = [](double most) { return most > 0 ? static_cast<Index>(std::ilogb(most)) + 1 : none; };
    const Index of_a = exponent_of(matrix_.largest()) + std::ilogb(static_cast<double>(n())) + 2;
    const Index size = std::max(of_a + exponent_of(of_x.most), exponent_of(sizes_of(b_.data(), n()).most)) + 1;
    return size > Limits::max_exponent - 1 || (size > -50000 && size < Limits::min_exponent + 2 * Limits::digits);
  }
  // x = A^-1 b, refined. Return false if it is left to solve().
  [[nodiscard]] bool solve_column(T* x, int refinements) {
    if (!are_finite(b_.data(), n())) return false;
    std::copy(b_.begin(), b_.end(), x);
    if (!solve_scaled(x)) return false;
    for (int k = 0; k < refinements; ++k) {
      const Sizes of_x = sizes_of(x, n());
      if (residual_is_far(of_x)) return false;
      const bool loses = !(matrix_.smallest() * of_x.least >= 0x1p-900);
      residual_(matrix_.given(), b_.data(), x, loses, r_.data());
      if (!are_finite(r_.data(), n()) || !solve_scaled(r_.data())) return false;
      for (Index i = 0; i < n(); ++i) x[i] += r_[i];
    }
    return are_finite(x, n());
  }
  void store(const SmallView<T>& X) const {
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i < n(); ++i) X(i, j) = x_[i + j * n()];
    }
  }

  Index n_;
  Index columns_;
  bool by_cholesky_ = false;
  SmallMatrix<T, fixed> matrix_;
  SmallResidual<T, fixed> residual_;
  std::vector<T> b_;
  std::vector<T> r_;
  std::vector<T> x_;
};

}  // namespace heddle::impl
