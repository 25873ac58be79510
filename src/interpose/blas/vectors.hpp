// BLAS 1 and 2: sums of products rounded once from their exact values, and updates in a fixed order.
#pragma once

#include "interpose/blas/stored.hpp"
#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// x without its imaginary part.
template <Scalar T> T real_part(const T& x) {
  if constexpr (is_complex<T>) {
    return T(x.real(), 0);
  } else {
    return x;
  }
}

/// n elements of a vector, `step` apart; where that is negative the first is the last in memory, as in Fortran.
template <class T> struct Strided {
  T* data;
  Index step;
  Strided(T* begin, Index n, Index increment)
      : data(increment < 0 ? begin + (1 - n) * increment : begin), step(increment) {}
  T& operator()(Index k) const { return data[k * step]; }
};

/// sum x_k y_k, conj(x_k) y_k where `conjugated`: each part rounded once.
template <Scalar T> T dot(bool conjugated, Index n, const T* x, Index step_x, const T* y, Index step_y);
/// The same of floats as a double; and start + it rounded once to a float.
double double_dot(Index n, const float* x, Index step_x, const float* y, Index step_y);
float started_dot(Index n, float start, const float* x, Index step_x, const float* y, Index step_y);
/// The root of the sum of squares, which is taken of numbers scaled by a power of two and rounded once.
template <Scalar T> Real<T> norm(Index n, const T* x, Index step);
/// sum |Re x_k| + |Im x_k|, rounded once.
template <Scalar T> Real<T> absolute_sum(Index n, const T* x, Index step);
/// y = alpha x + y by multiply_add().
template <Scalar T> void axpy(Index n, T alpha, const T* x, Index step_x, T* y, Index step_y);
/// x = alpha x, for complex x by multiply_add() with 0, part by part where alpha is real.
template <Scalar T, class Factor> void scal(Index n, Factor alpha, T* x, Index step);

/// How a matrix in memory is to be taken.
struct Taken {
  bool transposed = false;
  bool conjugated = false;
};

/// y = alpha op(A) x + beta y, A m x n in memory: inner products rounded once, then as for products of matrices.
/// Nothing is checked.
template <Scalar T>
void gemv(Taken taken, Index m, Index n, T alpha, const T* A, Index leading, const T* x, Index step_x, T beta, T* y,
          Index step_y);
/// The same of a matrix of `lower` diagonals below the main one and `upper` above it, column j's elements i of which
/// are at upper + i - j + j leading.
template <Scalar T>
void gbmv(Taken taken, Index m, Index n, Index lower, Index upper, T alpha, const T* A, Index leading, const T* x,
          Index step_x, T beta, T* y, Index step_y);
/// The same of symmetric A, one of whose triangles is stored; or of Hermitian A, or its conjugate.
template <Scalar T, class Stored>
void symv(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* A, const T* x, Index step_x,
          T beta, T* y, Index step_y);
/// A = alpha x y^T + A, of conjugates where it says so: multiply_add(x_i, alpha y_j, a_ij).
template <Scalar T>
void ger(bool conjugated_x, bool conjugated_y, Index m, Index n, T alpha, const T* x, Index step_x, const T* y,
         Index step_y, T* A, Index leading);
/// The triangle of A = alpha x x^T + A, or of alpha x x^H + A with real alpha; of x's conjugate where it says so.
template <Scalar T, class Stored>
void syr(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* x, Index step, T* A);
/// The triangle of A = alpha x y^T + alpha y x^T + A, or of alpha x y^H + conj(alpha) y x^H + A:
/// multiply_add(x_i, alpha y_j, multiply_add(y_i, alpha x_j, a_ij)).
template <Scalar T, class Stored>
void syr2(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* x, Index step_x, const T* y,
          Index step_y, T* A);
/// x = op(A) x, A triangular: sums rounded once.
template <Scalar T, class Stored>
void trmv(const Stored& stored, Taken taken, bool unit, Index n, const T* A, T* x, Index step);
/// Solves op(A) x = b: each element is b's minus the exact sum of products, rounded once, and divided.
template <Scalar T, class Stored>
void trsv(const Stored& stored, Taken taken, bool unit, Index n, const T* A, T* x, Index step);

}  // namespace heddle::impl::interpose
