// The names by which programs call the BLAS, and what they pass.
#pragma once

#include "interpose/names/report.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::impl::interpose {

/// CBLAS' enumerations.
enum Order : int { row_major = 101, column_major = 102 };
/// CBLAS calls with another order do nothing.
[[nodiscard]] constexpr bool is_order(int order) {
  return order == row_major || order == column_major;
}
enum Transpose : int { no_transpose = 111, transpose = 112, conjugate_transpose = 113 };
enum Triangle : int { upper = 121, lower = 122 };
enum Diagonal : int { non_unit = 131, unit = 132 };
enum Side : int { left = 141, right = 142 };

/// Whether a character argument of Fortran is this one, of either case.
[[nodiscard]] constexpr bool is(const char* argument, char capital) {
  return *argument == capital || *argument == capital - 'A' + 'a';
}
/// One of 'N', 'T' and 'C'; false for any other. For real numbers 'C' is 'T'.
template <Scalar T> [[nodiscard]] bool operation_from(const char* argument, Operation& op) {
  op = is(argument, 'N')                    ? Operation::none
       : is(argument, 'C') && is_complex<T> ? Operation::conjugate_transpose
                                            : Operation::transpose;
  return is(argument, 'N') || is(argument, 'T') || is(argument, 'C');
}
template <Scalar T> [[nodiscard]] bool operation_from(int argument, Operation& op) {
  op = argument == no_transpose                           ? Operation::none
       : argument == conjugate_transpose && is_complex<T> ? Operation::conjugate_transpose
                                                          : Operation::transpose;
  return argument >= no_transpose && argument <= conjugate_transpose;
}

/// A letter of Fortran as a capital.
[[nodiscard]] constexpr char capital(const char* argument) {
  return *argument >= 'a' && *argument <= 'z' ? static_cast<char>(*argument - 'a' + 'A') : *argument;
}
[[nodiscard]] constexpr bool is_triangle(char letter) {
  return letter == 'U' || letter == 'L';
}
/// Letters of CBLAS' enumerations, '?' for what is none of them. Matrices by rows are the transposes of those by
/// columns: triangles and sides change places.
[[nodiscard]] constexpr char letter_of_operation(int op) {
  return op == no_transpose ? 'N' : op == transpose ? 'T' : op == conjugate_transpose ? 'C' : '?';
}
[[nodiscard]] constexpr char letter_of_triangle(int triangle, bool by_rows) {
  return triangle == upper ? (by_rows ? 'L' : 'U') : triangle == lower ? (by_rows ? 'U' : 'L') : '?';
}
[[nodiscard]] constexpr char letter_of_side(int side, bool by_rows) {
  return side == left ? (by_rows ? 'R' : 'L') : side == right ? (by_rows ? 'L' : 'R') : '?';
}
[[nodiscard]] constexpr char letter_of_diagonal(int diagonal) {
  return diagonal == unit ? 'U' : diagonal == non_unit ? 'N' : '?';
}

using Complex32 = Kokkos::complex<float>;
using Complex64 = Kokkos::complex<double>;

/// Argument types of CBLAS: complex scalars by address, and complex arrays as void.
template <Scalar T> using Argument = std::conditional_t<is_complex<T>, const void*, T>;
template <Scalar T> using Array = std::conditional_t<is_complex<T>, void, T>;
template <Scalar T> [[nodiscard]] T scalar(const Argument<T>& argument) {
  if constexpr (is_complex<T>) {
    return *static_cast<const T*>(argument);
  } else {
    return argument;
  }
}
template <Scalar T> [[nodiscard]] const T* array(const Array<T>* argument) {
  return static_cast<const T*>(argument);
}
template <Scalar T> [[nodiscard]] T* array(Array<T>* argument) {
  return static_cast<T*>(argument);
}

/// Report a wrong argument by the program's own XERBLA, or that of the BLAS beneath, or else by a line on the
/// standard error stream. `name` is in capitals; `position` counts from 1; `wide`: integers of 64 bits.
void refuse(const char* name, int position, bool wide);
/// The same unless position is 0.
inline void refuse_if(const char* name, int position, bool wide) {
  if (position != 0) refuse(name, position, wide);
}
/// The same of a call by CBLAS.
void refuse_cblas(const char* name, int position, bool wide);
/// The same where Fortran's argument at `position` is the wrong one, 0 for none. By rows those at `one` and the one
/// after it, two extents, have changed places; 0 where there are none.
void refuse_cblas(const char* name, int order, int position, int one, bool wide);

}  // namespace heddle::impl::interpose

#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default")))
// Another name of a function, which HIP's compilation for the device has not.
#if defined(__HIP_DEVICE_COMPILE__)
#define HEDDLE_ALIAS(other, name) HEDDLE_EXPORT decltype(name) other
#else
#define HEDDLE_ALIAS(other, name) HEDDLE_EXPORT decltype(name) other __attribute__((alias(#name)))
#endif

// DEFINE(symbol, NAME, T, Integer) for the Fortran names of a routine: with integers of 32 and of 64 bits, each also as
// the wheels of NumPy and SciPy call it.
#define HEDDLE_FORTRAN(DEFINE, name, NAME, T) \
  DEFINE(name##_, NAME, T, std::int32_t)      \
  HEDDLE_ALIAS(scipy_##name##_, name##_);     \
  DEFINE(name##_64_, NAME, T, std::int64_t)   \
  HEDDLE_ALIAS(scipy_##name##_64_, name##_64_)
// The same for the names of CBLAS.
#define HEDDLE_CBLAS(DEFINE, name, NAME, T)           \
  DEFINE(cblas_##name, NAME, T, std::int32_t)         \
  HEDDLE_ALIAS(scipy_cblas_##name, cblas_##name);     \
  DEFINE(cblas_##name##64_, NAME, T, std::int64_t)    \
  HEDDLE_ALIAS(cblas_##name##_64, cblas_##name##64_); \
  HEDDLE_ALIAS(scipy_cblas_##name##64_, cblas_##name##64_)
// HEDDLE_FAMILY and HEDDLE_CBLAS_FAMILY as DEFINE, for both; and for the types whose letters stand before a family's
// stem.
#define HEDDLE_BOTH(FAMILY, name, NAME, T)        \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, name, NAME, T); \
  HEDDLE_CBLAS(HEDDLE_CBLAS_##FAMILY, name, NAME, T)
#define HEDDLE_COMPLEX(FAMILY, stem, STEM)           \
  HEDDLE_BOTH(FAMILY, c##stem, "C" STEM, Complex32); \
  HEDDLE_BOTH(FAMILY, z##stem, "Z" STEM, Complex64)
#define HEDDLE_FOUR(FAMILY, stem, STEM)           \
  HEDDLE_BOTH(FAMILY, s##stem, "S" STEM, float);  \
  HEDDLE_BOTH(FAMILY, d##stem, "D" STEM, double); \
  HEDDLE_COMPLEX(FAMILY, stem, STEM)
#define HEDDLE_COUNT(name)                                 \
  static ::heddle::impl::interpose::Routine routine(name); \
  const ::heddle::impl::interpose::Call call(routine)
