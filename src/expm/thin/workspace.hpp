// exp(time A) B as its methods see it, their storage on blocks that every rank holds whole, and the spectrum of A.
#pragma once

#include "expm/thin/blocks.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/expm/action.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

namespace heddle::impl {

/// The problem exp(time A) B, with A as the methods use it.
template <Scalar T> struct ActionProblem {
  using Apply = std::function<void(const MatrixView<const T>& X, const MatrixView<T>& Y)>;
  ExecutionSpace space;
  Index n = 0;
  std::complex<double> time;
  ExpmActionStructure structure = ExpmActionStructure::general;
  double tolerance = 0.0;            ///< At least the unit round-off.
  std::complex<double> shift = 0.0;  ///< A number near the middle of the spectrum.
  Apply apply{};                     ///< Y = A X.
  Apply apply_adjoint{};             ///< Y = A^H X; may be empty.
  int exponent = 0;                  ///< A is 2^exponent times the caller's, and the time 2^-exponent times.

  [[nodiscard]] bool general() const { return structure == ExpmActionStructure::general; }
  /// exp(time A) grows as exp(growth x) with an eigenvalue x of A, or of -i A if A is skew-Hermitian.
  [[nodiscard]] double growth() const {
    return structure == ExpmActionStructure::skew_hermitian ? -time.imag() : time.real();
  }
  /// A bound of the rounding error of A x, relative to ||A||_2 ||x||_2, which sums of n terms rarely exceed.
  [[nodiscard]] double product_rounding() const {
    return (4.0 + std::sqrt(static_cast<double>(n))) * static_cast<double>(unit_roundoff<T>);
  }
};

/// Bounds of the columns' errors so far, relative to the columns' 2-norms, for methods that know ||exp(h A)||_2.
class ColumnErrors {
 public:
  void begin(std::size_t count) { relative_.assign(count, 0.0); }
  /// Throw Error(computation) for a step after which no digit of exp(h A) is known; `local` as in advance().
  static void require_digits(double local) {
    if (!(local < 1.0)) {
      throw Error(ErrorKind::computation,
                  "expm_action: time A is so large that rounding leaves no digit of its exponential");
    }
  }
  /// Account for a step that made column c `shrinkage` times smaller than the bound of ||exp(h A)||_2 allows, with an
  /// error of `local` times that bound.
  void advance(std::size_t c, double local, double shrinkage) {
    relative_[c] = (relative_[c] + local) * std::max(shrinkage, 1.0);
  }
  [[nodiscard]] double largest() const {
    return relative_.empty() ? 0.0 : *std::max_element(relative_.begin(), relative_.end());
  }

 private:
  std::vector<double> relative_;
};

/// Powers of two by which columns of R are scaled: intermediate columns may leave the range of T although the result
/// does not, and squares of elements even sooner.
template <Scalar T> class ColumnExponents {
 public:
  /// Begin with `count` columns that are not scaled.
  void begin(std::size_t count) { exponents_.assign(count, 0); }
  /// Scale columns whose largest elements are far from 1 to near 1; `largest` holds those elements and is scaled too.
  void normalise(BlockColumns<T>& columns, const MatrixView<T>& R, std::vector<double>& largest);
  /// R = exp(exponent) R, even if exp(exponent) is out of range.
  void multiply_by_exponential(const ExecutionSpace& space, const std::complex<double>& exponent,
                               const MatrixView<T>& R);
  /// Multiply column c by 2^exponent, in its exponent alone.
  void add(std::size_t c, int exponent) {
    exponents_[c] = std::clamp(exponents_[c] + exponent, -1000000000, 1000000000);
  }
  [[nodiscard]] int of(std::size_t c) const { return exponents_[c]; }
  /// Undo the scaling of R, as far as the result is in range.
  void finish(BlockColumns<T>& columns, const MatrixView<T>& R);

 private:
  std::vector<int> exponents_;
};

/// Storage shared by the methods.
template <Scalar T> class ActionWorkspace {
 public:
  explicit ActionWorkspace(const ExecutionSpace& space) : columns(space), space_(space) {}
  /// Columns [first, first + count) of n rows; their contents are kept only if there were as many before.
  [[nodiscard]] MatrixView<T> blocks(Index n, Index first, Index count, Index total);
  /// R beside a companion: the sum of its columns with weights that bring each near 1. The companion's elements are
  /// moved at random by as much as rounding is, and it gets estimates of the terms that each step leaves out. Its final
  /// distance from that sum of columns estimates the error. Begins `exponents` for all columns.
  [[nodiscard]] MatrixView<T> accompany(const MatrixView<T>& R);
  /// Move the companion, the last column of R: each element by a random part of `relative` times itself and `absolute`
  /// times the largest. Does nothing without a companion.
  void move_companion(const MatrixView<T>& R, double relative, double absolute);
  /// Add `factor` times the last column of X to the companion, the last column of R. Does nothing without a companion.
  void add_to_companion(const MatrixView<T>& R, double factor, const MatrixView<T>& X);
  /// Estimated error: the distance of the companion from its sum, relative to the size of the smallest column with its
  /// weight, times four for what random errors may miss, plus `floor`. The companion then holds that difference.
  [[nodiscard]] double estimated_error();
  /// R = the columns without the companion.
  void leave_companion(const MatrixView<T>& R);

  BlockColumns<T> columns;
  ColumnExponents<T> exponents;
  ColumnErrors errors;
  double floor = 0.0;  ///< Sum of the errors that steps add to the estimate.

 private:
  ExecutionSpace space_;
  LocalMatrix<T> storage_;
  LocalMatrix<T> accompanied_;
  std::vector<double> weights_;
  bool companion_ = false;
};

template <Scalar T> [[nodiscard]] T scalar_from(const std::complex<double>& value) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
  } else {
    return static_cast<T>(value.real());
  }
}

/// An interval that very probably holds the spectrum, and its distance from the Ritz value at the end where exp(growth
/// x) is largest.
struct Spectrum {
  ExpmActionOptions::Interval interval;
  double overshoot = 0.0;
};
/// Effort of a search for the spectrum: the number of Lanczos steps and, if exp(growth x) matters, more of them, up to
/// the number of terms of a Chebyshev series, until its largest value is known to a factor e^(1/4).
struct SpectrumSearch {
  Index steps = 30;
  double growth = 0.0;
};
/// Find the spectrum by Ritz values of Lanczos steps from a fixed random vector, with their residuals and a margin.
template <Scalar T>
[[nodiscard]] Spectrum spectrum_of(const ActionProblem<T>& problem, ActionWorkspace<T>& work, ExpmActionReport& report,
                                   const SpectrumSearch& search = {});

}  // namespace heddle::impl
