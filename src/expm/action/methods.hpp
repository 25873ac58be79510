// The methods for exp(time A) B, on blocks that every rank holds whole.
#pragma once

#include "expm/action/blocks.hpp"
#include "expm/action/small_exponential.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/expm/action.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <optional>
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

/// Limit of the steps of a method; more would take days and are refused.
inline constexpr double most_action_steps = 1e10;

/// Exponent beyond which a power of two of an exponential is stored separately.
template <Scalar T> inline constexpr double large_exponent = std::is_same_v<Real<T>, float> ? 40.0 : 300.0;

/// All methods compute R = exp(time A) R except for work.exponents, and add their counts to the report and their errors
/// to work.errors, or to work.floor and the companion. They throw Error(computation) where numbers leave the range.
/// act_by_taylor() returns false, with R unchanged, if it would take more than `most_products`.
template <Scalar T>
[[nodiscard]] bool act_by_taylor(const ActionProblem<T>& problem, double most_products, ActionWorkspace<T>& work,
                                 const MatrixView<T>& R, ExpmActionReport& report);

/// exp(z x) = exp(scale) sum_k coefficients[k] T_k(x) on [-1, 1], where the sum of the |coefficients| left out, `tail`,
/// is within the tolerance; z is real or imaginary.
struct ExponentialSeries {
  double scale = 0.0;
  std::vector<std::complex<double>> coefficients;
  double tail = 0.0;
  [[nodiscard]] int degree() const { return static_cast<int>(coefficients.size()) - 1; }
};
[[nodiscard]] ExponentialSeries exponential_series(const std::complex<double>& z, double tolerance);
/// Number of terms of the series over an interval of eigenvalues of A or, if A is skew-Hermitian, of -i A; of both
/// series if the time is neither real nor imaginary.
[[nodiscard]] double terms_over(const ExpmActionOptions::Interval& interval, const std::complex<double>& time,
                                ExpmActionStructure structure, double tolerance);

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

/// Compute R by one series over `given`, or over an interval that is found; one for the real and one for the imaginary
/// part of the time. An interval whose terms are too large for their sum is replaced by one that is found, and the time
/// is divided into steps if that is not enough. Throws Error(computation) where vectors grow that must not: `given` is
/// too narrow.
template <Scalar T>
void act_by_chebyshev(const ActionProblem<T>& problem, const std::optional<ExpmActionOptions::Interval>& given,
                      const std::optional<Spectrum>& found, ActionWorkspace<T>& work, const MatrixView<T>& R,
                      ExpmActionReport& report);

/// Krylov steps from the current R, each as long as its subspace allows.
template <Scalar T> class KrylovSteps {
 public:
  /// `columns`: number of columns of R.
  KrylovSteps(const ActionProblem<T>& problem, int dimension, Index columns, ActionWorkspace<T>& work);
  /// The remaining time, as a share of all of it.
  [[nodiscard]] double rest() const noexcept { return rest_; }
  /// The share of the time of the last step.
  [[nodiscard]] double share() const noexcept { return share_; }
  /// Advance R by one step. Return false, with R unusable, if A has no structure and exp(h A) R is so sensitive in the
  /// subspace that two thirds of the digits are lost.
  [[nodiscard]] bool step(const MatrixView<T>& R, ExpmActionReport& report);
  /// ||A||_1 in the last subspace.
  [[nodiscard]] double norm() const noexcept { return norm_; }
  /// Give the interval of the spectrum whose end bounds the growth of errors. Needed before step() if growth() is not
  /// zero and A has a structure: Ritz values of a subspace miss eigenvalues whose vectors R hardly contains, but errors
  /// grow with all eigenvalues.
  void know(const ExpmActionOptions::Interval& interval) { interval_ = interval; }

 private:
  using Small = std::vector<Kokkos::complex<double>>;  // (dimension + 1) x dimension, column-major.
  // Build vectors V_0 ... V_m and the projection of A on them, for each column. Return m, the number of vectors that is
  // enough, or the dimension; for a general A one more vector than enough is built.
  int build(Index columns, ExpmActionReport& report);
  [[nodiscard]] double log_bound(int m, double share) const;
  [[nodiscard]] SmallExponential small_exponential(const Small& H, int m, double share) const;
  [[nodiscard]] SmallExponential corrected(const Small& H, int m, double share) const;
  [[nodiscard]] double largest_growth(double share) const;

  const ActionProblem<T>& problem_;
  int dimension_;
  ActionWorkspace<T>& work_;
  double rest_ = 1.0;
  double share_ = 0.0;
  double norm_ = 0.0;
  std::optional<ExpmActionOptions::Interval> interval_;
  std::vector<Small> projected_;
  int built_ = 0;             // Number of vectors whose products with A are known.
  int ended_ = 0;             // Number of the companion's vectors before one that could not be told from rounding.
  double log_product_ = 0.0;  // Logarithm of the largest product of sub-diagonals of all columns.
};

}  // namespace heddle::impl
