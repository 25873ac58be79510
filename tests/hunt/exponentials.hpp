// Reference exponentials and their derivatives with condition numbers, and matrices with zeros that exp keeps.
#pragma once

#include "hunt/wide.hpp"

#include <optional>

namespace heddle::hunt {

/// Fill A with a matrix whose zeros its exponential keeps: triangular, block triangular and block diagonal with blocks
/// of any size, either way up and in any order of indices, Hessenberg, nilpotent without rounding by cancellation and
/// by structure, scaled by D . D^-1 over the range of the type; in half of the drawings by fill_general().
void fill_with_structure(Random& random, Type type, Array& A, double largest);
/// Return whether each a_ij, by columns, is reached from i by nonzero elements; elsewhere exp(A) and every power are
/// zero.
[[nodiscard]] std::vector<bool> reached(const Array& A);

struct ExponentialTruth {
  std::optional<WideMatrix> E;  ///< Nothing if it was out of reach.
  double norm = 0;              ///< |A|_1
  double balanced = 0;          ///< |D^-1 A D|_1
  bool normal = false;          ///< Hermitian or skew-Hermitian.
  /// |exp(A + F) - exp(A)|_1 / |exp(A)|_1 over |F|_1 / |A|_1 for a random F: the condition number, or somewhat less.
  double condition = 0;
  bool tiny = false;  ///< |exp(A)|_1 is below the normal numbers.
};

/// Return the reference for exp(time A); the matrix must be finite.
[[nodiscard]] ExponentialTruth exponential_truth(const Array& A, Type type, const Value& time = 1.0);

/// exp(A) and its derivative L(A, D) in the direction D, from the exponential of [A D; 0 A].
struct DerivativeTruth {
  std::optional<WideMatrix> E, L;  ///< Nothing if they were out of reach.
  /// Relative change of L over random relative changes of A and D: the condition number, or somewhat less.
  double condition = 0;
};
[[nodiscard]] DerivativeTruth derivative_truth(const Array& A, const Array& D, Type type);

/// Return |E - exp(A)|_1 / |exp(A)|_1.
template <Scalar T> double relative_error(const ExponentialTruth& truth, const HostMatrix<T>& E) {
  Wide::bits = 3000;
  const Wide norm = norm1(*truth.E);
  return norm.is_zero() ? 0.0 : (distance1(WideMatrix(E), *truth.E) / norm).to_double();
}

/// Return whether an element is beyond the type's range by more than rounding to nearest brings back (`margin` 1), or
/// near that (`margin` below 1).
template <Scalar T> bool overflows(const ExponentialTruth& truth, double margin) {
  for (const WideComplex& x : truth.E->values) {
    for (const Wide* part : {&x.re, &x.im}) {
      if (!(part->absolute() < Wide(margin) * Wide(static_cast<double>(std::numeric_limits<Real<T>>::max()))))
        return true;
    }
  }
  return false;
}

}  // namespace heddle::hunt
