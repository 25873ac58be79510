// The BLAS under test, loaded as a program that knows nothing of it would have it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace heddle::test {

/// A function of libheddle_blas.so.
template <class Function> Function* blas_function(const std::string& name) {
  static void* const library = dlopen(HEDDLE_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* const found = dlsym(library, name.c_str());
  if (found == nullptr) throw std::runtime_error("no " + name);
  return reinterpret_cast<Function*>(found);
}

/// The letter of a type's routines.
template <class T> inline constexpr char letter = 'd';
template <> inline constexpr char letter<float> = 's';
template <> inline constexpr char letter<Kokkos::complex<float>> = 'c';
template <> inline constexpr char letter<Kokkos::complex<double>> = 'z';

}  // namespace heddle::test
