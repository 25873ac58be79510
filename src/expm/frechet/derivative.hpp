// exp(A) and its derivative in a direction, for matrices in row bands.
#pragma once

#include "expm/arithmetic/dual_arithmetic.hpp"
#include "expm/dense/norms.hpp"
#include "expm/dense/polynomials.hpp"
#include <heddle/expm/frechet.hpp>

namespace heddle::impl {

template <RealScalar T> class DerivativeOfExponential {
 public:
  /// `arithmetic` must outlive this object.
  DerivativeOfExponential(const Communicator& comm, ComplexArithmetic<T>& arithmetic,
                          const ExpmFrechetOptions& options);

  /// exp of A's value, and its derivative in the direction of A's derivative. Fills in method, norms and errors of the
  /// report. Throws Error(computation) if A is not finite. Collective; blocks.
  [[nodiscard]] Dual<T> of(Dual<T> A, ExpmFrechetReport& report);

 private:
  // A bound of the 1-norm that does not depend on the number of ranks; `norm1` is the norm in the report. Drops zero
  // parts.
  [[nodiscard]] double measured(Parts<T>& X, double& norm1);
  // A - mu I if that has a smaller norm, which `norm` then is.
  [[nodiscard]] Parts<T> shifted(const Parts<T>& A, double& norm, ExpmFrechetReport& report);
  // The polynomial of A / 2^squarings; `before`: halvings of A before powers are computed.
  [[nodiscard]] WorkDual<T> polynomial_of(const Dual<T>& A, double norm, int before, ExpmFrechetReport& report);

  Communicator comm_;
  ComplexArithmetic<T>* values_;
  DualArithmetic<T> arithmetic_;
  ExpmFrechetOptions options_;
  ColumnNorms<T> norms_;
  int expected_products_ = 0;
};

/// X^H, in row bands, for X in row bands. Collective; blocks if there are several ranks.
template <RealScalar T>
[[nodiscard]] WorkParts<T> adjoint_of(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const Parts<T>& X);

}  // namespace heddle::impl
