// Vectors as wide as the processor's, for the two products of block columns on the host: inner products, and rotations.
#pragma once

#include <heddle/core/scalar.hpp>

#include <array>
#include <cstddef>
#include <cstring>

namespace heddle::eigen::impl {

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
inline constexpr bool has_many_registers = true;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
inline constexpr bool has_many_registers = false;
#else
inline constexpr std::size_t vector_bytes = 16;
inline constexpr bool has_many_registers = false;
#endif

template <class R> struct Lanes;
template <> struct Lanes<double> {
  using Vector __attribute__((vector_size(vector_bytes))) = double;
  using Unaligned __attribute__((vector_size(vector_bytes), aligned(8), may_alias)) = double;
  static constexpr int count = static_cast<int>(vector_bytes / sizeof(double));
};
template <> struct Lanes<float> {
  using Vector __attribute__((vector_size(vector_bytes))) = float;
  using Unaligned __attribute__((vector_size(vector_bytes), aligned(4), may_alias)) = float;
  static constexpr int count = static_cast<int>(vector_bytes / sizeof(float));
};

template <class R> typename Lanes<R>::Vector load(const R* at) {
  return *reinterpret_cast<const typename Lanes<R>::Unaligned*>(at);
}
template <class R> void store(R* at, const typename Lanes<R>::Vector& value) {
  *reinterpret_cast<typename Lanes<R>::Unaligned*>(at) = value;
}
template <class R> R sum_of(const typename Lanes<R>::Vector& value) {
  R sum = 0;
  for (int lane = 0; lane < Lanes<R>::count; ++lane) {
    sum += value[lane];
  }
  return sum;
}

/// Vectors of rows that a rotation of columns takes at once.
inline constexpr int row_vectors = has_many_registers ? 3 : 2;
/// Columns in memory have a multiple of so many rows, zeros at the end.
template <Scalar T> inline constexpr Index row_multiple = Index{row_vectors} * Lanes<Real<T>>::count;

/// out(p, q) = sum over i < length of conj(x_p(i)) y_q(i), added to what `out` has, for M x N columns; real and
/// imaginary parts lie apart (x[p], x_im[p]).
template <Scalar T, int M, int N>
void inner_products(const Real<T>* const* x, const Real<T>* const* x_im, const Real<T>* const* y,
                    const Real<T>* const* y_im, Index length, T* out, Index leading) {
  using R = Real<T>;
  using Vector = typename Lanes<R>::Vector;
  Vector re[M][N] = {};
  if constexpr (is_complex<T>) {
    Vector im[M][N] = {};
    for (Index i = 0; i < length; i += Lanes<R>::count) {
      for (int q = 0; q < N; ++q) {
        const Vector b = load(y[q] + i);
        const Vector b_im = load(y_im[q] + i);
        for (int p = 0; p < M; ++p) {
          const Vector a = load(x[p] + i);
          const Vector a_im = load(x_im[p] + i);
          re[p][q] = a * b + re[p][q];
          re[p][q] = a_im * b_im + re[p][q];
          im[p][q] = a * b_im + im[p][q];
          im[p][q] = im[p][q] - a_im * b;
        }
      }
    }
    for (int q = 0; q < N; ++q) {
      for (int p = 0; p < M; ++p) {
        out[p + q * leading] += T(sum_of<R>(re[p][q]), sum_of<R>(im[p][q]));
      }
    }
  } else {
    for (Index i = 0; i < length; i += Lanes<R>::count) {
      Vector a[M];
      for (int p = 0; p < M; ++p) {
        a[p] = load(x[p] + i);
      }
      for (int q = 0; q < N; ++q) {
        const Vector b = load(y[q] + i);
        for (int p = 0; p < M; ++p) {
          re[p][q] = a[p] * b + re[p][q];
        }
      }
    }
    for (int q = 0; q < N; ++q) {
      for (int p = 0; p < M; ++p) {
        out[p + q * leading] += sum_of<R>(re[p][q]);
      }
    }
  }
}

/// Columns of Q that are multiplied together.
template <Scalar T> inline constexpr int columns_at_once = (has_many_registers ? 8 : 4) / (is_complex<T> ? 2 : 1);

/// One chunk of rows of X Q: `rows` holds it by columns k of X, real parts then imaginary ones, row_multiple<T> each;
/// `packed` the columns of Q at hand, the factors of each k side by side. Gives real parts, then imaginary ones.
template <Scalar T>
void rotated_rows(const Real<T>* rows, const Real<T>* packed, int m,
                  std::array<Real<T>*, static_cast<std::size_t>(columns_at_once<T>)> out,
                  [[maybe_unused]] std::array<Real<T>*, static_cast<std::size_t>(columns_at_once<T>)> out_im) {
  using R = Real<T>;
  using Vector = typename Lanes<R>::Vector;
  constexpr int lanes = Lanes<R>::count;
  constexpr int M = columns_at_once<T>;
  Vector re[M][row_vectors] = {};
  if constexpr (is_complex<T>) {
    Vector im[M][row_vectors] = {};
    for (int k = 0; k < m; ++k) {
      Vector a[row_vectors];
      Vector a_im[row_vectors];
      for (int r = 0; r < row_vectors; ++r) {
        a[r] = load(rows + (2 * k * row_vectors + r) * lanes);
        a_im[r] = load(rows + ((2 * k + 1) * row_vectors + r) * lanes);
      }
      for (int q = 0; q < M; ++q) {
        const Vector c = Vector{} + packed[2 * (k * M + q)];
        const Vector d = Vector{} + packed[2 * (k * M + q) + 1];
        for (int r = 0; r < row_vectors; ++r) {
          re[q][r] = a[r] * c + re[q][r];
          re[q][r] = re[q][r] - a_im[r] * d;
          im[q][r] = a[r] * d + im[q][r];
          im[q][r] = a_im[r] * c + im[q][r];
        }
      }
    }
    for (int q = 0; q < M; ++q) {
      for (int r = 0; r < row_vectors; ++r) {
        store(out_im[static_cast<std::size_t>(q)] + r * lanes, im[q][r]);
      }
    }
  } else {
    for (int k = 0; k < m; ++k) {
      Vector a[row_vectors];
      for (int r = 0; r < row_vectors; ++r) {
        a[r] = load(rows + (k * row_vectors + r) * lanes);
      }
      for (int q = 0; q < M; ++q) {
        const Vector b = Vector{} + packed[k * M + q];
        for (int r = 0; r < row_vectors; ++r) {
          re[q][r] = a[r] * b + re[q][r];
        }
      }
    }
  }
  for (int q = 0; q < M; ++q) {
    for (int r = 0; r < row_vectors; ++r) {
      store(out[static_cast<std::size_t>(q)] + r * lanes, re[q][r]);
    }
  }
}

}  // namespace heddle::eigen::impl
