// C = alpha op(A) op(B) + beta C of matrices in host memory, whose bits are the same however it is computed.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/emulation/emulation.hpp>

#include <cstddef>

namespace heddle::impl::interpose {

/// A^H, which is A^T of real numbers.
template <Scalar T>
inline constexpr Operation adjoint_of = is_complex<T> ? Operation::conjugate_transpose : Operation::transpose;

/// op(A) is m x k, op(B) is k x n, C is m x n, all column-major.
template <Scalar T> struct Product {
  Operation op_a;
  Operation op_b;
  Index m;
  Index n;
  Index k;
  T alpha;
  const T* A;
  Index leading_a;
  const T* B;
  Index leading_b;
  T beta;
  T* C;
  Index leading_c;
  /// Whether the factors are looked at for how many moduli they need (EmulationOptions::look); else elements are within
  /// round-off of |a| |b|, a row of op(A) and b column of op(B), which is enough for orthogonal factors.
  bool look = true;

  /// Elements of a row of op(A) or of a column of op(B), none of them conjugated.
  struct Vector {
    const T* first;
    Index step;
    const T& operator[](Index k) const { return first[k * step]; }
  };
  [[nodiscard]] Vector left(Index row) const {
    return op_a == Operation::none ? Vector{A + row, leading_a} : Vector{A + row * leading_a, 1};
  }
  [[nodiscard]] Vector right(Index column) const {
    return op_b == Operation::none ? Vector{B + column * leading_b, 1} : Vector{B + column, leading_b};
  }
};

// The device's library has complex numbers aligned as a whole (see unaligned.hpp), and the same members at the same
// places.
static_assert(offsetof(Product<Kokkos::complex<double>>, beta) == 80 &&
              offsetof(Product<Kokkos::complex<float>>, beta) == 72);

/// How many moduli the factors want, as EmulatedProduct::probe() and choose_emulation() have it, 0 where no number is
/// enough: from planes of leading bits of all elements at once.
template <Scalar T> [[nodiscard]] int moduli_by_planes(const Product<T>& product, int threads);

/// Computes the product, as EmulatedGemm defines it, on whichever path
/// is faster. C is not read where beta is 0, A and B are not where alpha or k is 0; and nothing is done where alpha or
/// k is 0 and beta is 1. C may share elements with A and B, which are then copied first.
template <Scalar T> void multiply(const Product<T>& product);

/// The same by the calling thread, without Kokkos: the integers that an emulated product stands for, in 64 bits, and
/// their products' sums in 128. False, and nothing done, where the factors need more bits than that.
template <Scalar T> [[nodiscard]] bool multiply_directly(const Product<T>& product);

/// The same for any factors, by so many threads.
template <Scalar T> void multiply_on_host(const Product<T>& product, int threads);

/// The same by EmulatedGemm.
template <Scalar T> void multiply_emulated(const Product<T>& product);

}  // namespace heddle::impl::interpose
