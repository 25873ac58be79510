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
  int exponent = 0;                  ///< A is 2^exponent times what the caller gave, and the time so much shorter.

  [[nodiscard]] bool general() const { return structure == ExpmActionStructure::general; }
  /// exp(time A) grows with an eigenvalue x of A, of -i A where A is skew-Hermitian, as exp(growth x).
  [[nodiscard]] double growth() const {
    return structure == ExpmActionStructure::skew_hermitian ? -time.imag() : time.real();
  }
  /// A bound of the rounding error of A x, over ||A||_2 ||x||_2, that sums of n terms stay below but for a few.
  [[nodiscard]] double product_rounding() const {
    return (4.0 + std::sqrt(static_cast<double>(n))) * static_cast<double>(unit_roundoff<T>);
  }
};

/// Bounds of the columns' errors so far, over the columns' 2-norms, for methods that know ||exp(h A)||_2.
class ColumnErrors {
 public:
  void begin(std::size_t count) { relative_.assign(count, 0.0); }
  /// Throws Error(computation) for a step after which no digit of exp(h A) is known, `local` as in advance().
  static void require_digits(double local) {
    if (!(local < 1.0)) {
      throw Error(ErrorKind::computation,
                  "expm_action: time A is so large that rounding leaves no digit of its exponential");
    }
  }
  /// A step made column c `shrinkage` times smaller than the bound of ||exp(h A)||_2 allows, with an error of its own
  /// of `local` of that bound.
  void advance(std::size_t c, double local, double shrinkage) {
    relative_[c] = (relative_[c] + local) * std::max(shrinkage, 1.0);
  }
  [[nodiscard]] double largest() const {
    return relative_.empty() ? 0.0 : *std::max_element(relative_.begin(), relative_.end());
  }

 private:
  std::vector<double> relative_;
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
                               const MatrixView<T>& R);
  /// Column c of R is to be 2^exponent times what it is.
  void add(std::size_t c, int exponent) {
    exponents_[c] = std::clamp(exponents_[c] + exponent, -1000000000, 1000000000);
  }
  [[nodiscard]] int of(std::size_t c) const { return exponents_[c]; }
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
  /// R, and beside it a companion: the sum of its columns with weights that bring each near 1, whose elements are moved
  /// at random by as much as rounding is, and which gets estimates of the terms that each step leaves out. How far it
  /// is from that sum of columns in the end estimates what becomes of errors. Begins `exponents` for all of it.
  [[nodiscard]] MatrixView<T> accompany(const MatrixView<T>& R);
  /// Moves the companion, the last column of R: each element by a random part of `relative` times itself and `absolute`
  /// times the largest. Does nothing where there is none.
  void move_companion(const MatrixView<T>& R, double relative, double absolute);
  /// Adds `factor` times the last column of X to the companion, the last column of R. Does nothing where there is none.
  void add_to_companion(const MatrixView<T>& R, double factor, const MatrixView<T>& X);
  /// The distance of the companion and its sum, over the size of the smallest column as it counts there, four times for
  /// what random errors may miss, and `floor`. The companion then is that difference.
  [[nodiscard]] double estimated_error();
  /// R = the columns without the companion.
  void leave_companion(const MatrixView<T>& R);

  BlockColumns<T> columns;
  ColumnExponents<T> exponents;
  ColumnErrors errors;
  double floor = 0.0;  ///< What steps add to the estimate.

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

/// Steps of a method, of which more would take days: refused.
inline constexpr double most_action_steps = 1e10;

/// Beyond it a power of two of an exponential is kept apart.
template <Scalar T> inline constexpr double large_exponent = std::is_same_v<Real<T>, float> ? 40.0 : 300.0;

/// All: R = exp(time A) R but for work.exponents; add their counts to the report, and their errors to work.errors, or
/// to work.floor and the companion. Throw Error(computation) where numbers leave the range. False, and R as it was,
/// where that takes more than `most_products`.
template <Scalar T>
[[nodiscard]] bool act_by_taylor(const ActionProblem<T>& problem, double most_products, ActionWorkspace<T>& work,
                                 const MatrixView<T>& R, ExpmActionReport& report);

/// exp(z x) = exp(scale) sum_k coefficients[k] T_k(x) on [-1, 1], as far as the sum of the |coefficients| left out,
/// `tail`, is within the tolerance; z is real or imaginary.
struct ExponentialSeries {
  double scale = 0.0;
  std::vector<std::complex<double>> coefficients;
  double tail = 0.0;
  [[nodiscard]] int degree() const { return static_cast<int>(coefficients.size()) - 1; }
};
[[nodiscard]] ExponentialSeries exponential_series(const std::complex<double>& z, double tolerance);
/// Terms of the series over an interval of eigenvalues of A or, where A is skew-Hermitian, of -i A; of both series
/// where the time is neither real nor imaginary.
[[nodiscard]] double terms_over(const ExpmActionOptions::Interval& interval, const std::complex<double>& time,
                                ExpmActionStructure structure, double tolerance);

/// An interval that very probably holds the spectrum, and how far it goes beyond the Ritz value at the end where
/// exp(growth x) is largest.
struct Spectrum {
  ExpmActionOptions::Interval interval;
  double overshoot = 0.0;
};
/// How far a spectrum is looked for: so many Lanczos steps, and where exp(growth x) matters as many more, up to what a
/// Chebyshev series takes, until its largest value is known to a factor e^(1/4).
struct SpectrumSearch {
  Index steps = 30;
  double growth = 0.0;
};
/// By Ritz values of Lanczos steps from a fixed random vector, with their residuals and a margin.
template <Scalar T>
[[nodiscard]] Spectrum spectrum_of(const ActionProblem<T>& problem, ActionWorkspace<T>& work, ExpmActionReport& report,
                                   const SpectrumSearch& search = {});

/// By one series over `given`, or over an interval that is found, one for the real and one for the imaginary part of
/// the time. An interval that makes terms too large for their sum is replaced by one that is found, and steps are taken
/// where that is not enough. Throws Error(computation) where vectors grow that must not: `given` is too narrow.
template <Scalar T>
void act_by_chebyshev(const ActionProblem<T>& problem, const std::optional<ExpmActionOptions::Interval>& given,
                      const std::optional<Spectrum>& found, ActionWorkspace<T>& work, const MatrixView<T>& R,
                      ExpmActionReport& report);

/// Krylov steps from where R stands, each as long as its subspace allows.
template <Scalar T> class KrylovSteps {
 public:
  /// `columns`: of R.
  KrylovSteps(const ActionProblem<T>& problem, int dimension, Index columns, ActionWorkspace<T>& work);
  /// What is left of the time, as a share of all of it.
  [[nodiscard]] double rest() const noexcept { return rest_; }
  /// The share that the last step took.
  [[nodiscard]] double share() const noexcept { return share_; }
  /// R over the next step. False, and R is of no use, where A has no structure and exp(h A) R is so sensitive in the
  /// subspace that two thirds of the digits are lost.
  [[nodiscard]] bool step(const MatrixView<T>& R, ExpmActionReport& report);
  /// ||A||_1 in the last subspace.
  [[nodiscard]] double norm() const noexcept { return norm_; }
  /// Errors grow by the end of this interval of the spectrum. Needed before step() where growth() is not zero and A has
  /// a structure: Ritz values of a subspace miss eigenvalues whose vectors R hardly holds, and errors grow with all.
  void know(const ExpmActionOptions::Interval& interval) { interval_ = interval; }

 private:
  using Small = std::vector<Kokkos::complex<double>>;  // (dimension + 1) x dimension, column-major.
  // Vectors V_0 ... V_m and the matrix of A among them, for each column, so that m vectors are enough, or m is the
  // dimension; where A is general, one more than enough.
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
  int built_ = 0;             // Vectors whose products with A are known.
  int ended_ = 0;             // The companion's vectors before one that could not be told from rounding.
  double log_product_ = 0.0;  // Largest product of sub-diagonals, of the columns.
};

}  // namespace heddle::impl
