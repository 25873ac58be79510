// The polynomials of scheme.hpp and trigonometric.hpp, evaluated for matrices.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"
#include "expm/arithmetic/dual_arithmetic.hpp"
#include "expm/dense/scheme.hpp"
#include "expm/dense/trigonometric.hpp"

#include <span>
#include <vector>

namespace heddle::impl {

/// A, A^2 ..., computed on request, in an arithmetic of matrices, or of matrices and their derivatives.
template <class Arithmetic> class PowersIn {
 public:
  using Matrix = typename Arithmetic::Matrix;

  /// `columns`: those parts of A that exist in column bands. `symmetry`: that of A; powers of a Hermitian A are
  /// Hermitian, those of a skew-Hermitian one alternate.
  PowersIn(Arithmetic& arithmetic, const Matrix& A, const Matrix& columns, Symmetry symmetry);

  [[nodiscard]] int count() const { return static_cast<int>(powers_.size()); }
  [[nodiscard]] std::span<const Matrix> all() const { return powers_; }
  [[nodiscard]] Symmetry symmetry() const { return symmetry_; }
  const Matrix& next();
  /// Compute the missing powers up to A^count, and release the memory that only this needs.
  void finish(int count);
  /// Replace each A^k by A^k 2^(k exponent), without rounding in the normal range. `first`: A 2^exponent; empty if it
  /// is not available.
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
/// `powers` has at least those of the scheme.
template <class Arithmetic>
[[nodiscard]] typename Arithmetic::Written polynomial(Arithmetic& arithmetic, const Scheme& scheme,
                                                      const PowersIn<Arithmetic>& powers);

/// sum_k coefficients[k] (A / 2^squarings)^k up to the scheme's degree, by Paterson and Stockmeyer's method.
template <class Arithmetic>
[[nodiscard]] typename Arithmetic::Written series(Arithmetic& arithmetic, const Scheme& scheme,
                                                  std::span<const double> coefficients,
                                                  const PowersIn<Arithmetic>& powers);

/// Parts of exp(A) = C + F, C Hermitian and F skew-Hermitian.
template <RealScalar T> struct Trigonometric {
  WorkParts<T> cosine;
  WorkParts<T> sine;
};
/// exp(A / angles) by a scheme with powers > 0, for skew-Hermitian A; not yet squared. `square`: A^2; `fourth`: A^4, or
/// empty.
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
