// Vectors as wide as the processor's, for the two products of block columns on the host: inner products, and rotations.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

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
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool has_fused_operations = true;
#else
inline constexpr bool has_fused_operations = false;
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

/// a b + c, rounded once. If `portable` is false, processors without such an instruction round twice, which is faster.
/// It is not left to the compiler, which contracts as it sees fit: not under -O1, and not in sums on some processors.
template <bool portable, class R>
typename Lanes<R>::Vector fused(const typename Lanes<R>::Vector& a, const typename Lanes<R>::Vector& b,
                                const typename Lanes<R>::Vector& c) {
  [[maybe_unused]] constexpr bool is_double = sizeof(R) == sizeof(double);
#if defined(__AVX512F__)
  if constexpr (is_double) {
    return _mm512_fmadd_pd(a, b, c);
  } else {
    return _mm512_fmadd_ps(a, b, c);
  }
#elif defined(__FMA__)
  if constexpr (is_double) {
    return _mm256_fmadd_pd(a, b, c);
  } else {
    return _mm256_fmadd_ps(a, b, c);
  }
#elif defined(__aarch64__)
  if constexpr (is_double) {
    return vfmaq_f64(c, a, b);
  } else {
    return vfmaq_f32(c, a, b);
  }
#else
  if constexpr (portable) {
    typename Lanes<R>::Vector result;
    for (int lane = 0; lane < Lanes<R>::count; ++lane) {
      result[lane] = std::fma(a[lane], b[lane], c[lane]);
    }
    return result;
  } else {
    return a * b + c;
  }
#endif
}

/// Vectors that hold the parts of one inner product. If `portable`, they have 64 bytes on every processor, so that the
/// order of its sums is the same on all.
template <bool portable> inline constexpr int sum_vectors = portable ? static_cast<int>(64 / vector_bytes) : 1;
/// Whether sums are portable without being asked to be, at no cost.
inline constexpr bool is_portable = has_fused_operations && sum_vectors<true> == 1;

/// Vectors of rows that a rotation of columns takes at once.
inline constexpr int row_vectors = has_many_registers ? 3 : 2;
/// Rows that a rotation of columns takes at once.
template <Scalar T> inline constexpr Index rotated_at_once = Index{row_vectors} * Lanes<Real<T>>::count;
/// Columns in memory have a multiple of so many rows, zeros at the end.
template <Scalar T>
inline constexpr Index row_multiple = Index{std::max(row_vectors, sum_vectors<true>)} * Lanes<Real<T>>::count;
static_assert(std::max(row_vectors, sum_vectors<true>) % row_vectors == 0);

/// out(p, q) = sum over i < length of conj(x_p(i)) y_q(i), added to what `out` has, for M x N columns; real and
/// imaginary parts lie apart (x[p], x_im[p]).
template <Scalar T, int M, int N, bool portable>
void inner_products(const Real<T>* const* x, const Real<T>* const* x_im, const Real<T>* const* y,
                    const Real<T>* const* y_im, Index length, T* out, Index leading) {
  using R = Real<T>;
  using Vector = typename Lanes<R>::Vector;
  constexpr int lanes = Lanes<R>::count;
  constexpr int S = sum_vectors<portable>;
  Vector re[S][M][N] = {};
  [[maybe_unused]] Vector im[S][M][N] = {};
  for (Index begin = 0; begin < length; begin += S * lanes) {
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
      const Index i = begin + s * lanes;
      Vector a[M];
      [[maybe_unused]] Vector a_im[M];
#pragma GCC unroll 4
      for (int p = 0; p < M; ++p) {
        a[p] = load(x[p] + i);
        if constexpr (is_complex<T>) a_im[p] = load(x_im[p] + i);
      }
#pragma GCC unroll 4
      for (int q = 0; q < N; ++q) {
        const Vector b = load(y[q] + i);
#pragma GCC unroll 4
        for (int p = 0; p < M; ++p) {
          re[s][p][q] = fused<portable, R>(a[p], b, re[s][p][q]);
        }
        if constexpr (is_complex<T>) {
          const Vector b_im = load(y_im[q] + i);
#pragma GCC unroll 4
          for (int p = 0; p < M; ++p) {
            re[s][p][q] = fused<portable, R>(a_im[p], b_im, re[s][p][q]);
            im[s][p][q] = fused<portable, R>(a[p], b_im, im[s][p][q]);
            im[s][p][q] = fused<portable, R>(-a_im[p], b, im[s][p][q]);
          }
        }
      }
    }
  }
  const auto sum_of = [](const Vector(&parts)[S][M][N], int p, int q) {
    R sum = 0;
    for (int s = 0; s < S; ++s) {
      for (int lane = 0; lane < lanes; ++lane) {
        sum += parts[s][p][q][lane];
      }
    }
    return sum;
  };
#pragma GCC unroll 4
  for (int q = 0; q < N; ++q) {
#pragma GCC unroll 4
    for (int p = 0; p < M; ++p) {
      if constexpr (is_complex<T>) {
        out[p + q * leading] += T(sum_of(re, p, q), sum_of(im, p, q));
      } else {
        out[p + q * leading] += sum_of(re, p, q);
      }
    }
  }
}

/// Columns of Q that are multiplied together.
template <Scalar T> inline constexpr int columns_at_once = (has_many_registers ? 8 : 4) / (is_complex<T> ? 2 : 1);

/// One chunk of rows of X Q: `rows` holds it by columns k of X, real parts then imaginary ones, rotated_at_once<T>
/// each; `packed` the columns of Q at hand, the factors of each k side by side. Gives real parts, then imaginary ones.
template <Scalar T, bool portable>
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
          re[q][r] = fused<portable, R>(a[r], c, re[q][r]);
          re[q][r] = fused<portable, R>(-a_im[r], d, re[q][r]);
          im[q][r] = fused<portable, R>(a[r], d, im[q][r]);
          im[q][r] = fused<portable, R>(a_im[r], c, im[q][r]);
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
          re[q][r] = fused<portable, R>(a[r], b, re[q][r]);
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
