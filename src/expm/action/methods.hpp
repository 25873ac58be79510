// The methods for exp(time A) B, on blocks that every rank holds whole.
#pragma once

#include "expm/action/small_exponential.hpp"
#include "expm/thin/workspace.hpp"
#include <heddle/expm/action.hpp>

#include <complex>
#include <optional>
#include <vector>

namespace heddle::impl {

/// Limit of the steps of a method; more would take days and are refused.
inline constexpr double most_action_steps = 1e10;

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
  [[nodiscard]] ProjectedExponential small_exponential(const Small& H, int m, double share) const;
  [[nodiscard]] ProjectedExponential corrected(const Small& H, int m, double share) const;
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
