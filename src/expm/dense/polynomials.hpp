// The polynomials of scheme.hpp and trigonometric.hpp, of matrices.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"
#include "expm/arithmetic/dual_arithmetic.hpp"
#include "expm/dense/scheme.hpp"
#include "expm/dense/trigonometric.hpp"

#include <span>
#include <vector>

namespace heddle::impl {

/// A, A^2 ..., as far as they were asked for, in an arithmetic of matrices, or of matrices and their derivatives.
template <class Arithmetic> class PowersIn {
 public:
  using Matrix = typename Arithmetic::Matrix;

  /// `columns`: parts of A in column bands that are there; empty where they are not. `symmetry`: that of A; powers of a
  /// Hermitian A are Hermitian, those of a skew-Hermitian one in turn.
  PowersIn(Arithmetic& arithmetic, const Matrix& A, const Matrix& columns, Symmetry symmetry);

  [[nodiscard]] int count() const { return static_cast<int>(powers_.size()); }
  [[nodiscard]] std::span<const Matrix> all() const { return powers_; }
  [[nodiscard]] Symmetry symmetry() const { return symmetry_; }
  const Matrix& next();
  /// Makes the next ones up to A^count, and gives back what only that needs.
  void finish(int count);
  /// A^k 2^(k exponent) takes the place of each A^k, without rounding in the normal range. `first`: A 2^exponent; empty
  /// where it is not at hand.
  void times_powers_of_two(int exponent, const Matrix& first);

 private:
  Arithmetic* arithmetic_;
  Matrix columns_;
  Symmetry symmetry_;
  typename Arithmetic::Factor factor_;
  bool has_factor_ = false;
  std::vector<Matrix> powers_;
};
template <RealScalar T> using Powers = PowersIn<ComplexArithmetic<T>>;

/// The scheme's polynomial of A / 2^squarings, not yet squared: a power of two scales coefficients without rounding.
/// `powers` has at least those that the scheme wants.
template <class Arithmetic>
[[nodiscard]] typename Arithmetic::Written polynomial(Arithmetic& arithmetic, const Scheme& scheme,
                                                      const PowersIn<Arithmetic>& powers);

/// sum_k coefficients[k] (A / 2^squarings)^k up to the scheme's degree, by Paterson and Stockmeyer's evaluation.
template <class Arithmetic>
[[nodiscard]] typename Arithmetic::Written series(Arithmetic& arithmetic, const Scheme& scheme,
                                                  std::span<const double> coefficients,
                                                  const PowersIn<Arithmetic>& powers);

/// Of exp(A) = C + F, C Hermitian and F skew-Hermitian.
template <RealScalar T> struct Trigonometric {
  WorkParts<T> cosine;
  WorkParts<T> sine;
};
/// exp(A / angles) by a scheme with powers > 0, for skew-Hermitian A; not yet squared. `square`: A^2; `fourth`:
/// A^4, empty where it was not made.
template <RealScalar T>
[[nodiscard]] Trigonometric<T> trigonometric(ComplexArithmetic<T>& arithmetic, const TrigonometricScheme& scheme,
                                             const Parts<T>& A, const Parts<T>& square, const Parts<T>& fourth);
/// exp(2A) from exp(A), A purely imaginary: cos 2H = (cos H - sin H)(cos H + sin H), sin 2H = 2 sin H cos H.
template <RealScalar T>
[[nodiscard]] Trigonometric<T> squared(ComplexArithmetic<T>& arithmetic, const Trigonometric<T>& E);
/// exp(5A) from exp(A), A purely imaginary, by four real products: cos 5H = cos H (2 cos 4H - 2 cos 2H + 1), sin 5H =
/// sin H (2 cos 4H + 2 cos 2H + 1).
template <RealScalar T>
[[nodiscard]] Trigonometric<T> quintupled(ComplexArithmetic<T>& arithmetic, const Trigonometric<T>& E);

}  // namespace heddle::impl
