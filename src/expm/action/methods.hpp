// The methods for exp(time A) B, on blocks that every rank holds whole.
#pragma once

#include "expm/action/blocks.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/expm/action.hpp>

#include <complex>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

namespace heddle::impl {

/// exp(time A) B, with A as the methods see it.
template <Scalar T> struct ActionProblem {
  using Apply = std::function<void(const MatrixView<const T>& X, const MatrixView<T>& Y)>;
  ExecutionSpace space;
  Index n = 0;
  std::complex<double> time;
  ExpmActionStructure structure = ExpmActionStructure::general;
  double tolerance = 0.0;            ///< At least the unit round-off.
  std::complex<double> shift = 0.0;  ///< Near the middle of the spectrum.
  Apply apply{};                     ///< Y = A X.
  Apply apply_adjoint{};             ///< Y = A^H X; may be empty.
};

/// Powers of two by which columns of R are smaller, or larger, than they should be: what R goes through on its way may
/// leave the range of T where the result does not, and squares of elements do so before.
template <Scalar T> class ColumnExponents {
 public:
  /// R as it should be, of `count` columns.
  void begin(std::size_t count) { exponents_.assign(count, 0); }
  /// Brings columns whose largest elements are far from 1 there; `largest`: those elements, which change with them.
  void normalise(BlockColumns<T>& columns, const MatrixView<T>& R, std::vector<double>& largest);
  /// R = exp(exponent) R, wherever exp(exponent) itself is.
  void multiply_by_exponential(const ExecutionSpace& space, const std::complex<double>& exponent,
                               BlockColumns<T>& columns, const MatrixView<T>& R);
  /// Column c of R is to be 2^exponent times what it is.
  void add(std::size_t c, int exponent) { exponents_[c] += exponent; }
  /// R as it should be, as far as it is in range.
  void finish(BlockColumns<T>& columns, const MatrixView<T>& R);

 private:
  std::vector<int> exponents_;
};

/// Storage that methods share.
template <Scalar T> class ActionWorkspace {
 public:
  explicit ActionWorkspace(const ExecutionSpace& space) : columns(space), space_(space) {}
  /// Columns [first, first + count) of n rows; what was in them is kept only if there were as many before.
  [[nodiscard]] MatrixView<T> blocks(Index n, Index first, Index count, Index total);
  BlockColumns<T> columns;
  ColumnExponents<T> exponents;

 private:
  ExecutionSpace space_;
  LocalMatrix<T> storage_;
};

template <Scalar T> [[nodiscard]] T scalar_from(const std::complex<double>& value) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
  } else {
    return static_cast<T>(value.real());
  }
}

/// Steps of a method, of which more would take days: refused.
inline constexpr double most_action_steps = 1e10;

/// Beyond it an exponential is taken in parts, and columns are scaled in between.
template <Scalar T> inline constexpr double large_exponent = std::is_same_v<Real<T>, float> ? 40.0 : 300.0;

/// All: R = exp(time A) R but for work.exponents; add their counts to the report and set its error. Throw
/// Error(computation) where numbers leave the range.
template <Scalar T>
void act_by_taylor(const ActionProblem<T>& problem, ActionWorkspace<T>& work, const MatrixView<T>& R,
                   ExpmActionReport& report);

/// exp(z x) = exp(scale) sum_k coefficients[k] T_k(x) on [-1, 1], as far as the sum of the |coefficients| left out,
/// `tail`, is within the tolerance; z is real or imaginary.
struct ExponentialSeries {
  double scale = 0.0;
  std::vector<std::complex<double>> coefficients;
  double tail = 0.0;
  [[nodiscard]] int degree() const { return static_cast<int>(coefficients.size()) - 1; }
};
[[nodiscard]] ExponentialSeries exponential_series(const std::complex<double>& z, double tolerance);

/// One series over `interval`, of eigenvalues of A or, where A is skew-Hermitian, of -i A. False, and R as it was,
/// where vectors grow that must not: the interval is too narrow.
template <Scalar T>
[[nodiscard]] bool act_by_chebyshev(const ActionProblem<T>& problem, const ExpmActionOptions::Interval& interval,
                                    ActionWorkspace<T>& work, const MatrixView<T>& R, ExpmActionReport& report);
/// Terms of that series.
[[nodiscard]] ExponentialSeries series_over(const ExpmActionOptions::Interval& interval,
                                            const std::complex<double>& time, ExpmActionStructure structure,
                                            double tolerance);

/// An interval that very probably holds the spectrum: Ritz values of Lanczos steps from a fixed random vector, with
/// their residuals.
template <Scalar T>
[[nodiscard]] ExpmActionOptions::Interval spectrum_of(const ActionProblem<T>& problem, ActionWorkspace<T>& work,
                                                      ExpmActionReport& report, int most_steps = 30);

/// Krylov steps from where R stands, each as long as its subspace allows.
template <Scalar T> class KrylovSteps {
 public:
  /// `columns`: of R.
  KrylovSteps(const ActionProblem<T>& problem, int dimension, Index columns, ActionWorkspace<T>& work);
  /// What is left of the time, as a share of all of it.
  [[nodiscard]] double rest() const noexcept { return rest_; }
  /// R over the next step.
  void step(const MatrixView<T>& R, ExpmActionReport& report);

 private:
  // Vectors V_0 ... V_m and the matrix of A among them, for each column.
  int build(Index columns, ExpmActionReport& report);
  [[nodiscard]] double log_bound(int m, double share) const;

  using Small = std::vector<Kokkos::complex<double>>;  // (dimension + 1) x dimension, column-major.
  const ActionProblem<T>& problem_;
  int dimension_;
  ActionWorkspace<T>& work_;
  double rest_ = 1.0;
  std::vector<Small> projected_;
  double log_product_ = 0.0;  // Largest product of sub-diagonals, of the columns.
};

}  // namespace heddle::impl
