// A pencil of Hermitian matrices, scaled, and the Cholesky factors of positive definite ones.
#pragma once

#include "eigen/pencils/pivoted_cholesky.hpp"
#include <heddle/core/strided.hpp>

namespace heddle::eigen::impl {

/// x 2^exponent, rounded only where it is denormal.
template <class R> KOKKOS_INLINE_FUNCTION R scaled_by(R x, int exponent) {
  return static_cast<R>(::ldexp(static_cast<double>(x), exponent));
}
template <Scalar T> KOKKOS_INLINE_FUNCTION T shifted(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return T(scaled_by(x.real(), exponent), scaled_by(x.imag(), exponent));
  } else {
    return scaled_by(x, exponent);
  }
}

/// H and S with rows and columns divided by powers of two, so that 1 <= s_ii < 4 and |h_ij| < 1.
template <Scalar T> struct Pencil {
  Dense<T> H;
  Dense<T> S;
  Values<int> exponents;  ///< Row i was divided by 2^exponents(i),
  int exponent = 0;       ///< and H by 2^exponent beyond that.
  int spread = 0;         ///< Powers of two that the diagonal of H spans; 0 unless it is positive.
};

/// Throws Error(argument) for NaN and infinity, and for a diagonal element of S that is not positive.
template <Scalar T>
[[nodiscard]] Pencil<T> scaled_pencil(const ExecutionSpace& space, const StridedMatrix<const T>& H,
                                      const StridedMatrix<const T>& S, bool upper);

/// The S of scaled_pencil(), once more.
template <Scalar T>
[[nodiscard]] Dense<T> scaled_overlap(const ExecutionSpace& space, const StridedMatrix<const T>& S, bool upper,
                                      const Values<int>& exponents);

/// S = L L^H with complete pivoting; L takes the place of S. Throws Error(argument), naming the pivot, where one is at
/// most `least_share` of its diagonal element.
template <Scalar T>
[[nodiscard]] PivotedCholesky factor_overlap(const ExecutionSpace& space, const Dense<T>& S, double least_share);

/// Cholesky factor L of A = L L^H, and products with it and its inverse.
template <Scalar T> class FactoredMatrix {
 public:
  /// Row r of L is row order[r] of A.
  FactoredMatrix(const ExecutionSpace& space, const Dense<T>& L, const std::vector<Index>& order);

  /// L^-1 H L^-H by rows and columns in the order of L's, both triangles.
  [[nodiscard]] Dense<T> reduced(const Dense<T>& H) const;
  /// X = L^-1 G, where row r of G is row `rows[r]` of A.
  void reduce_factor(const Dense<T>& G, const std::vector<Index>& rows, const MatrixView<T>& X) const;
  /// C = L^-H U by rows as they were given; U is overwritten.
  void expand(const MatrixView<T>& U, const Dense<T>& C) const;
  /// U = L^H C: orthonormal where the columns of C are A-orthonormal.
  [[nodiscard]] Dense<T> contract(const Dense<T>& C) const;

 private:
  ExecutionSpace space_;
  Dense<T> L_;
  std::vector<Index> order_;
  Values<Index> at_;  // order_ on the device
};

}  // namespace heddle::eigen::impl
