// The four scalar types that dense operations take, and the properties of each.
#pragma once

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle {

/// Execution space of the kernels: the default execution space of the Kokkos that Heddle was built with.
using ExecutionSpace = Kokkos::DefaultExecutionSpace;
/// Memory space of matrices and vectors: the memory space of ExecutionSpace.
using MemorySpace = ExecutionSpace::memory_space;

/// The type of global and local extents and indices.
using Index = std::int64_t;

/// The real type under a scalar type, and whether the scalar type is complex.
template <class T> struct ScalarTraits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class T> struct ScalarTraits<Kokkos::complex<T>> {
  using Real = T;
  static constexpr bool is_complex = true;
};

/// The real scalar types: float and double.
template <class T>
concept RealScalar = std::same_as<T, float> || std::same_as<T, double>;

/// The scalar types: float, double, Kokkos::complex<float> and Kokkos::complex<double>.
template <class T>
concept Scalar = RealScalar<T> || std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>>;

/// The real type under a scalar: Real<Kokkos::complex<float>> is float.
template <Scalar T> using Real = typename ScalarTraits<T>::Real;

/// Whether T is complex.
template <Scalar T> inline constexpr bool is_complex = ScalarTraits<T>::is_complex;

/// The unit round-off u of T, 2^-24 or 2^-53: |fl(x op y) - x op y| <= u |x op y|.
template <Scalar T> inline constexpr Real<T> unit_roundoff = std::numeric_limits<Real<T>>::epsilon() / 2;

/// Number of real operations in one multiply-add: 2, or 8 for complex scalars.
template <Scalar T> inline constexpr double flops_per_multiply_add = is_complex<T> ? 8.0 : 2.0;

/// The real part of a scalar as a number of type R.
template <class R, Scalar T> KOKKOS_INLINE_FUNCTION R real_of(const T& value) {
  if constexpr (is_complex<T>) {
    return static_cast<R>(value.real());
  } else {
    return static_cast<R>(value);
  }
}
/// The imaginary part of a scalar as a number of type R; zero for real scalars.
template <class R, Scalar T> KOKKOS_INLINE_FUNCTION R imaginary_of(const T& value) {
  if constexpr (is_complex<T>) {
    return static_cast<R>(value.imag());
  } else {
    return R(0);
  }
}

/// The complex conjugate of a scalar; a real scalar itself.
template <Scalar T> KOKKOS_INLINE_FUNCTION T conjugate(const T& value) {
  if constexpr (is_complex<T>) {
    return Kokkos::conj(value);
  } else {
    return value;
  }
}

/// a * b + c by fused multiply-adds in a fixed order, so that no compiler's choice of contraction changes a bit.
template <Scalar T> KOKKOS_INLINE_FUNCTION T multiply_add(const T& a, const T& b, const T& c) {
  if constexpr (is_complex<T>) {
    return T(Kokkos::fma(-a.imag(), b.imag(), Kokkos::fma(a.real(), b.real(), c.real())),
             Kokkos::fma(a.imag(), b.real(), Kokkos::fma(a.real(), b.imag(), c.imag())));
  } else {
    return Kokkos::fma(a, b, c);
  }
}

/// A column-major matrix in the library's memory space: a rank's part of a DistributedMatrix.
template <Scalar T> using LocalMatrix = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;

/// A column-major matrix with any leading dimension in the library's memory space: a sub-view of a LocalMatrix, or a
/// caller's matrix. Columns have stride one.
template <class T> using MatrixView = Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace>;

/// A column-major matrix in host memory.
template <Scalar T> using HostMatrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

}  // namespace heddle
