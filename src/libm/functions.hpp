// Elementary functions that round correctly (to nearest, ties to even) for every argument, so that their bits are the
// same on every machine. Special values, flags and errno are C23's (Annex F) and the C library's.
#pragma once

namespace heddle::libm {

#define HEDDLE_LIBM_ONE(name)                          \
  double name(double x) __asm__("heddle_libm_" #name); \
  float name(float x) __asm__("heddle_libm_" #name "f");
#define HEDDLE_LIBM_TWO(name)                                    \
  double name(double x, double y) __asm__("heddle_libm_" #name); \
  float name(float x, float y) __asm__("heddle_libm_" #name "f");

HEDDLE_LIBM_ONE(exp)
HEDDLE_LIBM_ONE(log)
HEDDLE_LIBM_TWO(pow)
HEDDLE_LIBM_ONE(sin)
HEDDLE_LIBM_ONE(cos)
HEDDLE_LIBM_ONE(tan)
HEDDLE_LIBM_ONE(cbrt)
HEDDLE_LIBM_ONE(exp2)
HEDDLE_LIBM_ONE(expm1)
HEDDLE_LIBM_ONE(log2)
HEDDLE_LIBM_ONE(log10)
HEDDLE_LIBM_ONE(log1p)
HEDDLE_LIBM_ONE(exp10)
HEDDLE_LIBM_ONE(sinh)
HEDDLE_LIBM_ONE(cosh)
HEDDLE_LIBM_ONE(tanh)
HEDDLE_LIBM_ONE(asin)
HEDDLE_LIBM_ONE(acos)
HEDDLE_LIBM_ONE(atan)
HEDDLE_LIBM_ONE(asinh)
HEDDLE_LIBM_ONE(acosh)
HEDDLE_LIBM_ONE(atanh)
HEDDLE_LIBM_ONE(erf)
HEDDLE_LIBM_ONE(erfc)
HEDDLE_LIBM_ONE(tgamma)
HEDDLE_LIBM_ONE(lgamma)
HEDDLE_LIBM_TWO(atan2)
HEDDLE_LIBM_TWO(hypot)

void sincos(double x, double* sine, double* cosine) __asm__("heddle_libm_sincos");
void sincos(float x, float* sine, float* cosine) __asm__("heddle_libm_sincosf");

/// exp x = result 2^power for |x| < 2^11, also where exp x is out of range: the result is correctly rounded, and a
/// normal number of moderate size. No name of the C library's.
double exp_parts(double x, int* power) __asm__("heddle_libm_exp_parts");
/// lgamma() sets the C library's signgam, where it is loaded; lgamma_r() sets *sign instead.
double lgamma_r(double x, int* sign) __asm__("heddle_libm_lgamma_r");
float lgamma_r(float x, int* sign) __asm__("heddle_libm_lgammaf_r");

#undef HEDDLE_LIBM_ONE
#undef HEDDLE_LIBM_TWO

}  // namespace heddle::libm
