// asinh, acosh and atanh, and those of floats.
#include "libm/areas.hpp"

#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

/// Results are 2^-27 or more, and the logarithm's argument is 1 and so much.
constexpr int area_guard = 76;

/// The approximation is of the logarithm: log(|x| + sqrt(x^2 + 1)).
template <class Real> [[gnu::cold, gnu::noinline]] Real asinh_accurate(Real x, double approximation) {
  return decide<Real>(area_guard, [=](auto words) {
    constexpr int count = words();
    const Wide<count> z = from_double<count>(__builtin_fabs(x));
    Wide<count> value = log_of(z + root(z * z + from_integer<count>(1)), approximation);
    value.negative = x < 0;
    return value;
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real acosh_accurate(Real x, double approximation) {
  return decide<Real>(area_guard, [=](auto words) {
    constexpr int count = words();
    const Wide<count> one = from_integer<count>(1);
    const Wide<count> z = from_double<count>(x);
    return log_of(z + root((z - one) * (z + one)), approximation);
  });
}

/// The approximation is of log((1 + |x|) / (1 - |x|)).
template <class Real> [[gnu::cold, gnu::noinline]] Real atanh_accurate(Real x, double approximation) {
  return decide<Real>(area_guard, [=](auto words) {
    constexpr int count = words();
    const Wide<count> one = from_integer<count>(1);
    const Wide<count> z = from_double<count>(__builtin_fabs(x));
    Wide<count> value = scaled(log_of((one + z) / (one - z), approximation), -1);
    value.negative = x < 0;
    return value;
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real small_special(Real x) {
  if (x != x || x == infinity<Real> || x == -infinity<Real>) return x + x;
  if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min()) raise_underflow<Real>();
  return x;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real acosh_special(Real x) {
  if (x != x || x == infinity<Real>) return x + x;
  return x == 1 ? Real(0) : invalid<Real>();
}

template <class Real> [[gnu::cold, gnu::noinline]] Real atanh_special(Real x) {
  if (x != x) return x + x;
  if (x == 1 || x == -1) return pole<Real>(x < 0);
  return x > -1 && x < 1 ? small_special(x) : invalid<Real>();
}

/// log(x + sqrt(x^2 + sign)) for x >= 2^26: log 2x + sign / 4 x^2, whose next term is below 2^-107.
template <bool fused> HEDDLE_LIBM_INLINE Pair logarithm_of_twice(double x, double sign) {
  Pair value = logarithm<fused>(split<fused>(bits_of(x), 1));
  if (x < 0x1p60) value.low += sign * 0.25 / (x * x);
  return value;
}

constexpr double second_error = 0x1p-67;

[[gnu::noinline]] double asinh_second(double x) {
  const double z = __builtin_fabs(x);
  if (bits_of(z) - bits_of(0x1p-26) >= bits_of(infinity<double>) - bits_of(0x1p-26)) return small_special(x);
  Pair value;
  if (z < 0x1p-8) {  // the cubic term, below 2^-17.5 relative, has at most five roundings
    const double y = z * z;
    const double q = multiply_add<common>(
        y, multiply_add<common>(y, multiply_add<common>(y, 35.0 / 1152, -5.0 / 112), 3.0 / 40), -1.0 / 6);
    value = {z, z * y * q};
  } else if (z < 0x1p26) {
    value = logarithm_of_pair<common, false>(asinh_argument<common>(z));
  } else {
    value = logarithm_of_twice<common>(z, 1);
  }
  double result = 0;
  return certain_relative(value, second_error, result) ? with_sign_of(result, x) : asinh_accurate(x, value.high);
}

template <bool fused> HEDDLE_LIBM_INLINE double asinh_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-8) >= bits_of(0x1p26) - bits_of(0x1p-8)) return asinh_second(x);
  const Pair value = logarithm_of_pair<fused, true>(asinh_argument<fused>(from_bits(size)));
  double result = 0;
  return certain_relative(value, quick_logarithm_error, result) ? with_sign_of(result, x) : asinh_second(x);
}

[[gnu::noinline]] double acosh_second(double x) {
  if (bits_of(x) - bits_of(1.0) - 1 >= bits_of(infinity<double>) - bits_of(1.0) - 1) return acosh_special(x);
  const Pair value = x < 0x1p26 ? logarithm_of_pair<common, false>(acosh_argument<common, false>(x))
                                : logarithm_of_twice<common>(x, -1);
  double result = 0;
  return certain_relative(value, second_error, result) ? result : acosh_accurate(x, value.high);
}

template <bool fused> HEDDLE_LIBM_INLINE double acosh_body(double x) {
  const double least = 1 + 0x1p-8;
  if (bits_of(x) - bits_of(least) >= bits_of(0x1p26) - bits_of(least)) return acosh_second(x);
  const Pair value = logarithm_of_pair<fused, true>(acosh_argument<fused, true>(x));
  double result = 0;
  return certain_relative(value, quick_logarithm_error, result) ? result : acosh_second(x);
}

[[gnu::noinline]] double atanh_second(double x) {
  const double z = __builtin_fabs(x);
  if (bits_of(z) - bits_of(0x1p-27) >= bits_of(1.0) - bits_of(0x1p-27)) return atanh_special(x);
  Pair twice;
  if (z < 0x1p-8) {
    const double y = z * z;
    const double q =
        multiply_add<common>(y, multiply_add<common>(y, multiply_add<common>(y, 1.0 / 9, 1.0 / 7), 1.0 / 5), 1.0 / 3);
    twice = {2 * z, 2 * (z * y * q)};
  } else {
    twice = logarithm_of_pair<common, false>(atanh_argument<common>(z));
  }
  double result = 0;
  return certain_relative({0.5 * twice.high, 0.5 * twice.low}, second_error, result) ? with_sign_of(result, x)
                                                                                     : atanh_accurate(x, twice.high);
}

template <bool fused> HEDDLE_LIBM_INLINE double atanh_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-8) >= bits_of(1.0) - bits_of(0x1p-8)) return atanh_second(x);
  const Pair twice = logarithm_of_pair<fused, true>(atanh_argument<fused>(from_bits(size)));
  double result = 0;
  const bool sure = certain_relative({0.5 * twice.high, 0.5 * twice.low}, quick_logarithm_error, result);
  return sure ? with_sign_of(result, x) : atanh_second(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float asinhf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) >= bits_of(infinity<float>) - bits_of(0x1p-12F)) return small_special(x);
  const double z = __builtin_fabs(static_cast<double>(x));
  const double y = z * z;
  double value = 0;
  if (z < 0x1p-5) {
    const double q = multiply_add<fused>(
        y, multiply_add<fused>(y, multiply_add<fused>(y, 35.0 / 1152, -5.0 / 112), 3.0 / 40), -1.0 / 6);
    value = multiply_add<fused>(z * y, q, z);
  } else {
    value = logarithm_of_float<fused>(z + __builtin_sqrt(y + 1));
  }
  float result = 0;
  return certain_float(value, 0x1p-42, result) ? with_sign_of(result, x) : asinh_accurate(x, value);
}

/// The rounding of x + u counts 2^11.5 times near 1.
template <bool fused> HEDDLE_LIBM_INLINE float acoshf_body(float x) {
  if (bits_of(x) - bits_of(1.0F) - 1 >= bits_of(infinity<float>) - bits_of(1.0F) - 1) return acosh_special(x);
  const double z = x;
  const double value = logarithm_of_float<fused>(z + __builtin_sqrt((z - 1) * (z + 1)));
  float result = 0;
  return certain_float(value, 0x1p-38, result) ? result : acosh_accurate(x, value);
}

template <bool fused> HEDDLE_LIBM_INLINE float atanhf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) >= bits_of(1.0F) - bits_of(0x1p-12F)) return atanh_special(x);
  const double z = __builtin_fabs(static_cast<double>(x));
  double twice = 0;
  if (z < 0x1p-5) {
    const double y = z * z;
    const double q =
        multiply_add<fused>(y, multiply_add<fused>(y, multiply_add<fused>(y, 1.0 / 9, 1.0 / 7), 1.0 / 5), 1.0 / 3);
    twice = 2 * multiply_add<fused>(z * y, q, z);
  } else {
    twice = logarithm_of_float<fused>((1 + z) / (1 - z));
  }
  float result = 0;
  return certain_float(0.5 * twice, 0x1p-42, result) ? with_sign_of(result, x) : atanh_accurate(x, twice);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(asinh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(acosh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(atanh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(asinhf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(acoshf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(atanhf, float, (float x), (x))
