// Complex matrices as real and imaginary parts, either of which may be exactly zero, and their symmetry.
#pragma once

#include "dist/work_matrix.hpp"

namespace heddle::impl {

/// real + i imaginary, to be read. An empty part is exactly zero.
template <RealScalar T> struct Parts {
  SharedMatrix<T> real;
  SharedMatrix<T> imaginary;
};

/// real + i imaginary, to be written by its one owner. An empty part is exactly zero.
template <RealScalar T> struct WorkParts {
  WorkMatrix<T> real;
  WorkMatrix<T> imaginary;

  /// The same elements, to be read until the owner writes them again.
  [[nodiscard]] Parts<T> read() const { return {real.read(), imaginary.read()}; }
  /// The written elements, which are not written again.
  operator Parts<T>() && { return {std::move(real), std::move(imaginary)}; }
};

/// Symmetry of a matrix: X^H = X or X^H = -X, to the bit. A product with such a symmetry, such as that of two commuting
/// Hermitian matrices, is computed by half and mirrored.
enum class Symmetry { none, hermitian, skew_hermitian };

/// Symmetry of the product of two such commuting matrices; so also of X, from those of X Y and of Y.
[[nodiscard]] inline Symmetry product_of(Symmetry one, Symmetry other) {
  if (one == Symmetry::none || other == Symmetry::none) {
    return Symmetry::none;
  }
  return one == other ? Symmetry::hermitian : Symmetry::skew_hermitian;
}

/// The sign s with X^T = s X for the real part X of a matrix of this symmetry, and for its imaginary part; 0 if nothing
/// is known.
[[nodiscard]] inline int sign_of_real(Symmetry symmetry) {
  return symmetry == Symmetry::none ? 0 : symmetry == Symmetry::hermitian ? 1 : -1;
}
[[nodiscard]] inline int sign_of_imaginary(Symmetry symmetry) {
  return -sign_of_real(symmetry);
}

}  // namespace heddle::impl
