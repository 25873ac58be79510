// The BLAS under test, loaded as a program that knows nothing of it would have it.
#pragma once

#include <heddle/core/scalar.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::test {

/// The latest call of the tests' XERBLA (xerbla.cpp), which takes the place of the library's.
struct Refusal {
  std::string routine;
  int position = 0;
};
extern Refusal last_refusal;

/// A function of libheddle_blas.so.
template <class Function> Function* blas_function(const std::string& name) {
  static void* const library = dlopen(HEDDLE_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* const found = dlsym(library, name.c_str());
  if (found == nullptr) throw std::runtime_error("no " + name);
  return reinterpret_cast<Function*>(found);
}

/// All arguments of Fortran are addresses, and a call may have more than are read.
using Arguments = std::vector<const void*>;
using Routine = void(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                     const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                     const void*);
inline void call(Routine* routine, Arguments a) {
  a.resize(15, nullptr);
  routine(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14]);
}
/// A routine of another library, which stays loaded.
inline Routine* routine_of(const char* other, const std::string& name) {
  void* const library = dlopen(other, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Routine*>(dlsym(library, name.c_str()));
}

/// Random numbers whose parts are in (-1, 1).
template <class T> T random_number(std::mt19937& engine) {
  using R = Real<T>;
  const auto part = [&] { return static_cast<R>(std::uniform_real_distribution<double>(-1.0, 1.0)(engine)); };
  if constexpr (is_complex<T>) {
    const R re = part();
    return T(re, part());
  } else {
    return part();
  }
}
template <class T> std::vector<T> random_numbers(std::mt19937& engine, Index count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (T& x : all) x = random_number<T>(engine);
  return all;
}

/// The letter of a type's routines.
template <class T> inline constexpr char letter = 'd';
template <> inline constexpr char letter<float> = 's';
template <> inline constexpr char letter<Kokkos::complex<float>> = 'c';
template <> inline constexpr char letter<Kokkos::complex<double>> = 'z';

/// Tests of a type's routines.
template <class T> class RoutinesOf : public testing::Test {
 protected:
  static constexpr int largest = std::numeric_limits<Real<T>>::max_exponent;
  std::mt19937 engine_{23};
  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  Routine* mine(const std::string& stem) const { return blas_function<Routine>(letter<T> + stem); }
  static Real<T> size(const T& x) { return std::abs(real_of<Real<T>>(x)) + std::abs(imaginary_of<Real<T>>(x)); }
};

/// Offset of an element of a column-major matrix.
inline std::size_t at(Index i, Index j, Index leading) {
  return static_cast<std::size_t>(i + j * leading);
}

}  // namespace heddle::test
