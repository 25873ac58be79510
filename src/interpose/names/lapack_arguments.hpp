// Arguments of LAPACK, as its names pass them.
#pragma once

#include "interpose/blas/arithmetic.hpp"
#include "interpose/names/symbols.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace heddle::impl::interpose {

/// Whether all is right; otherwise says so, as LAPACK does.
template <class I> bool accepted(const char* name, I* info, std::initializer_list<std::pair<bool, int>> checks) {
  for (const auto& [wrong, position] : checks) {
    if (wrong) {
      *info = -position;
      refuse(name, position, sizeof(I) == 8);
      return false;
    }
  }
  *info = 0;
  return true;
}
template <class I> bool below(I extent, I least) {
  return extent < std::max<I>(1, least);
}

/// As many as are not lost where a float holds it.
template <Scalar T> T held(Index count) {
  auto number = static_cast<Real<T>>(count);
  if (static_cast<double>(number) < static_cast<double>(count)) number = std::nextafter(number, 2 * number);
  return T(number);
}

}  // namespace heddle::impl::interpose

// A routine of LAPACK raises no floating-point exceptions: what it has to say is in INFO.
#define HEDDLE_COUNT_QUIETLY(name) \
  HEDDLE_COUNT(name);              \
  const ::heddle::impl::interpose::Quiet quiet

// Names of real numbers, and of complex ones.
#define HEDDLE_PAIRS(FAMILY, real, REAL, COMPLEX_FAMILY, complex, COMPLEX)     \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, s##real, "S" REAL, float);                   \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, d##real, "D" REAL, double);                  \
  HEDDLE_FORTRAN(HEDDLE_##COMPLEX_FAMILY, c##complex, "C" COMPLEX, Complex32); \
  HEDDLE_FORTRAN(HEDDLE_##COMPLEX_FAMILY, z##complex, "Z" COMPLEX, Complex64)
