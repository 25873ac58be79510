// Explicit instantiation for the library's scalar types.
#pragma once

#include <heddle/core/scalar.hpp>

/// INSTANTIATE(T); for each of the four scalar types.
#define HEDDLE_FOR_EACH_SCALAR(INSTANTIATE) \
  INSTANTIATE(float);                       \
  INSTANTIATE(double);                      \
  INSTANTIATE(Kokkos::complex<float>);      \
  INSTANTIATE(Kokkos::complex<double>)
