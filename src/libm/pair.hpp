// Pairs of doubles for the fast paths, their rounding test, and the choice of code for processors with fused
// operations.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <limits>

// Round-to-nearest is assumed. Code for processors with and without fused operations may differ in its errors; both are
// within the stated bounds, so the rounded results are the same.
#define HEDDLE_LIBM_INLINE [[gnu::always_inline]] inline

#if (defined(__FP_FAST_FMA) || defined(__FMA__)) && !defined(HEDDLE_LIBM_PLAIN)
#define HEDDLE_LIBM_FUSED 1
#else
#define HEDDLE_LIBM_FUSED 0
#endif

// The dynamic linker chooses before a sanitizer has begun.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEDDLE_LIBM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEDDLE_LIBM_SANITIZED 1
#endif
#endif

// Define a function from its body, a template over whether operations are fused: HEDDLE_LIBM_DEFINE(name, result,
// (parameters), (arguments)) makes heddle_libm_NAME of NAME_body. On x86-64 the dynamic linker chooses.
#if defined(__x86_64__) && !HEDDLE_LIBM_FUSED && !defined(HEDDLE_LIBM_PLAIN) && !defined(__CUDACC__) && \
    !defined(HEDDLE_LIBM_SANITIZED)
#define HEDDLE_LIBM_DEFINE_INSIDE(name, result, parameters, arguments)                          \
  extern "C" {                                                                                  \
  [[gnu::target("fma")]] static result heddle_libm_fused_##name parameters {                    \
    return heddle::libm::name##_body<true> arguments;                                           \
  }                                                                                             \
  static result heddle_libm_plain_##name parameters {                                           \
    return heddle::libm::name##_body<false> arguments;                                          \
  }                                                                                             \
  [[gnu::visibility("hidden")]] auto heddle_libm_choose_##name() -> result(*) parameters {      \
    __builtin_cpu_init();                                                                       \
    return __builtin_cpu_supports("fma") ? heddle_libm_fused_##name : heddle_libm_plain_##name; \
  }                                                                                             \
  result heddle_libm_##name parameters __attribute__((ifunc("heddle_libm_choose_" #name)));     \
  }
#else
#define HEDDLE_LIBM_DEFINE_INSIDE(name, result, parameters, arguments) \
  extern "C" result heddle_libm_##name parameters {                    \
    return heddle::libm::name##_body<HEDDLE_LIBM_FUSED> arguments;     \
  }
#endif
// In the shared library the C name is an alias.
#ifdef HEDDLE_LIBM_NAMES
#define HEDDLE_LIBM_DEFINE(name, result, parameters, arguments)                                   \
  HEDDLE_LIBM_DEFINE_INSIDE(name, result, parameters, arguments)                                  \
  extern "C" [[gnu::visibility("default")]] result heddle_libm_c_##name parameters __asm__(#name) \
      __attribute__((alias("heddle_libm_" #name)));
#else
#define HEDDLE_LIBM_DEFINE(name, result, parameters, arguments) \
  HEDDLE_LIBM_DEFINE_INSIDE(name, result, parameters, arguments)
#endif

namespace heddle::libm {

using Word = std::uint64_t;

/// high + low.
struct Pair {
  double high;
  double low;
};

HEDDLE_LIBM_INLINE Word bits_of(double x) {
  return std::bit_cast<Word>(x);
}
HEDDLE_LIBM_INLINE std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
HEDDLE_LIBM_INLINE double from_bits(Word bits) {
  return std::bit_cast<double>(bits);
}

/// One instruction each, where a choice might become a branch.
HEDDLE_LIBM_INLINE double least_of(double x, double y) {
  return x < y ? x : y;
}
HEDDLE_LIBM_INLINE double largest_of(double x, double y) {
  return x > y ? x : y;
}
/// 1 or 0.
HEDDLE_LIBM_INLINE double number_of(bool condition) {
  return static_cast<double>(static_cast<int>(condition));
}
HEDDLE_LIBM_INLINE bool is_negative(double x) {
  return (bits_of(x) >> 63) != 0;
}

/// magnitude with the sign of x.
HEDDLE_LIBM_INLINE double with_sign_of(double magnitude, double x) {
  return from_bits(bits_of(magnitude) | (bits_of(x) >> 63 << 63));
}
HEDDLE_LIBM_INLINE float with_sign_of(float magnitude, float x) {
  return std::bit_cast<float>(bits_of(magnitude) | (bits_of(x) >> 31 << 31));
}

/// x y + z, rounded once if fused.
template <bool fused> HEDDLE_LIBM_INLINE double multiply_add(double x, double y, double z) {
  if constexpr (fused) return __builtin_fma(x, y, z);
  return x * y + z;
}

/// x + y exactly, for |x| >= |y| or x = 0.
HEDDLE_LIBM_INLINE Pair fast_sum(double x, double y) {
  const double high = x + y;
  return {high, y - (high - x)};
}

/// x + y exactly.
HEDDLE_LIBM_INLINE Pair exact_sum(double x, double y) {
  const double high = x + y;
  const double second = high - x;
  return {high, (x - (high - second)) + (y - second)};
}

/// x y exactly; without fused operations by Dekker's products of halves, for magnitudes below 2^990.
template <bool fused> HEDDLE_LIBM_INLINE Pair exact_product(double x, double y) {
  const double high = x * y;
  if constexpr (fused) return {high, __builtin_fma(x, y, -high)};
  const double x_large = 0x1.0000002p27 * x;
  const double y_large = 0x1.0000002p27 * y;
  const double x_high = x_large - (x_large - x);
  const double y_high = y_large - (y_large - y);
  const double x_low = x - x_high;
  const double y_low = y - y_high;
  return {high, ((x_high * y_high - high) + x_high * y_low + x_low * y_high) + x_low * y_low};
}

/// x y, with a relative error below 2^-100.
template <bool fused> HEDDLE_LIBM_INLINE Pair product(Pair x, Pair y) {
  Pair z = exact_product<fused>(x.high, y.high);
  z.low = multiply_add<fused>(x.high, y.low, multiply_add<fused>(x.low, y.high, z.low));
  return z;
}

/// x / y for normalised pairs: one division, since the reciprocal's error is made good by the remainder, which is exact
/// but for low parts. The relative error is below 2^-100.
template <bool fused> HEDDLE_LIBM_INLINE Pair quotient(Pair x, Pair y) {
  const double inverse = 1.0 / y.high;
  const double q = x.high * inverse;
  const Pair back = exact_product<fused>(q, y.high);
  return {q, ((x.high - back.high) - back.low + multiply_add<fused>(-q, y.low, x.low)) * inverse};
}

/// 2^power for normal results.
HEDDLE_LIBM_INLINE double power_of_two(std::int64_t power) {
  return from_bits(static_cast<Word>(power + 1023) << 52);
}

/// x rounded to an integer, |x| < 2^51; `bits` gets it modulo 2^51.
HEDDLE_LIBM_INLINE double nearest_integer(double x, std::int64_t& bits) {
  const double shifted = x + 0x1.8p52;
  bits = static_cast<std::int64_t>(bits_of(shifted) << 13) >> 13;
  return shifted - 0x1.8p52;
}

[[noreturn]] inline void unreachable_rounding() {
  __builtin_trap();
}

/// Keep the compiler from computing with x in advance, so that flags are raised.
template <class Real> inline Real opaque(Real x) {
  volatile Real y = x;
  return y;
}

template <class Real> constexpr Real infinity = std::numeric_limits<Real>::infinity();

// Errors of the C library: the flag is raised, and errno is set.
template <class Real> [[gnu::cold, gnu::noinline]] inline Real overflow(bool negative) {
  errno = ERANGE;
  const Real most = opaque(std::numeric_limits<Real>::max());
  return negative ? -most * most : most * most;
}
template <class Real> [[gnu::cold, gnu::noinline]] inline Real underflow(bool negative) {
  errno = ERANGE;
  const Real least = opaque(std::numeric_limits<Real>::min());
  return negative ? -least * least : least * least;
}
template <class Real> [[gnu::cold, gnu::noinline]] inline Real pole(bool negative) {
  errno = ERANGE;
  return (negative ? Real(-1) : Real(1)) / opaque(Real(0));
}
template <class Real> [[gnu::cold, gnu::noinline]] inline Real invalid() {
  errno = EDOM;
  const Real zero = opaque(Real(0));
  return zero / zero;
}
/// Raise the flag for a result that is subnormal and inexact.
template <class Real> [[gnu::cold, gnu::noinline]] inline void raise_underflow() {
  const Real least = opaque(std::numeric_limits<Real>::min());
  opaque(least * least);
}

/// Ziv's rounding test: return true if all numbers within `error` of the value round alike. `result` is that number.
HEDDLE_LIBM_INLINE bool certain(Pair value, double error, double& result) {
  result = value.high + (value.low + error);
  return result == value.high + (value.low - error);
}
HEDDLE_LIBM_INLINE bool certain(double value, double error, float& result) {
  result = static_cast<float>(value + error);
  return result == static_cast<float>(value - error);
}
/// The same for an error relative to the value.
HEDDLE_LIBM_INLINE bool certain_relative(Pair value, double error, double& result) {
  return certain(value, __builtin_fabs(value.high) * error, result);
}

/// The second steps of functions that have two are compiled once, for processors with and without fused operations.
inline constexpr bool common = HEDDLE_LIBM_FUSED;

}  // namespace heddle::libm
