// Matrices by columns, and what tests of factorizations ask of them.
#pragma once

#include "interpose/library.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace heddle::test {

/// By columns.
template <class T> struct Dense {
  int rows;
  int columns;
  int leading;
  std::vector<T> all;
  Dense(int m, int n, int more = 0)
      : rows(m), columns(n), leading(m + more), all(static_cast<std::size_t>((m + more) * n)) {}
  T& operator()(int i, int j) { return all[static_cast<std::size_t>(i + j * leading)]; }
  const T& operator()(int i, int j) const { return all[static_cast<std::size_t>(i + j * leading)]; }
};
/// |x|.
template <class T> double size(const T& x) {
  return std::hypot(real_of<double>(x), imaginary_of<double>(x));
}
template <class T> double norm(const Dense<T>& A) {
  double sum = 0.0;
  for (int j = 0; j < A.columns; ++j) {
    for (int i = 0; i < A.rows; ++i) sum += size(A(i, j)) * size(A(i, j));
  }
  return std::sqrt(sum);
}
/// |A - B C|_F, B adjoint where it says so, in the wider type.
template <class T> double residual(const Dense<T>& A, const Dense<T>& B, bool adjoint, const Dense<T>& C) {
  using Z = Kokkos::complex<double>;
  const auto wide = [](const T& x) { return Z(real_of<double>(x), imaginary_of<double>(x)); };
  double sum = 0.0;
  for (int j = 0; j < A.columns; ++j) {
    for (int i = 0; i < A.rows; ++i) {
      Z rest = wide(A(i, j));
      for (int k = 0; k < C.rows; ++k) {
        rest -= (adjoint ? Kokkos::conj(wide(B(k, i))) : wide(B(i, k))) * wide(C(k, j));
      }
      sum += rest.real() * rest.real() + rest.imag() * rest.imag();
    }
  }
  return std::sqrt(sum);
}
template <class T> Dense<T> identity(int n) {
  Dense<T> I(n, n);
  for (int i = 0; i < n; ++i) I(i, i) = T{1};
  return I;
}

template <class T> Dense<T> first_columns(const Dense<T>& A, int columns) {
  Dense<T> some(A.rows, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < A.rows; ++i) some(i, j) = A(i, j);
  }
  return some;
}
template <class T> Dense<T> first_rows(const Dense<T>& A, int rows) {
  Dense<T> some(rows, A.columns);
  for (int j = 0; j < A.columns; ++j) {
    for (int i = 0; i < rows; ++i) some(i, j) = A(i, j);
  }
  return some;
}
/// A 2^exponent.
template <class T> Dense<T> scaled_matrix(Dense<T> A, int exponent) {
  for (T& a : A.all) {
    if constexpr (is_complex<T>) {
      a = T(std::scalbn(a.real(), exponent), std::scalbn(a.imag(), exponent));
    } else {
      a = std::scalbn(a, exponent);
    }
  }
  return A;
}
template <class T> bool same_bits(const Dense<T>& A, const Dense<T>& B) {
  return A.all.size() == B.all.size() &&
         (A.all.empty() || std::memcmp(A.all.data(), B.all.data(), A.all.size() * sizeof(T)) == 0);
}
/// Return the hash (Fowler, Noll, Vo) of the bytes of numbers, continued from `hash`.
template <class T> std::uint64_t hash_of(const std::vector<T>& all, std::uint64_t hash = 0xcbf29ce484222325U) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(all.data());
  for (std::size_t k = 0; k < all.size() * sizeof(T); ++k) hash = (hash ^ bytes[k]) * 0x100000001b3U;
  return hash;
}
/// A Hermitian matrix with a row more than it needs.
template <class T> Dense<T> random_hermitian(std::mt19937& engine, int n) {
  Dense<T> A(n, n, 1);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      A(i, j) = random_number<T>(engine);
      if (i == j) A(i, j) = T(real_of<Real<T>>(A(i, j)));
      A(j, i) = conjugate(A(i, j));
    }
  }
  return A;
}
/// Numbers of 16 bits in a fixed sequence that is this file's own.
template <class T> Dense<T> fixed_matrix(int m, int n) {
  Dense<T> A(m, n);
  std::uint32_t state = 7;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<Real<T>>(static_cast<int>(state >> 16) - 32768) / Real<T>(32768);
  };
  for (T& a : A.all) {
    const Real<T> re = next();
    if constexpr (is_complex<T>) {
      a = T(re, next());
    } else {
      a = re;
    }
  }
  return A;
}

}  // namespace heddle::test
