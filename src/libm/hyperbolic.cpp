// sinh, cosh and tanh, and those of floats.
#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

constexpr int hyperbolic_guard = 44;

/// With u = exp |x| - 1: (u + u / (1 + u)) / 2.
template <class Real> [[gnu::cold, gnu::noinline]] Real sinh_accurate(Real x) {
  const Real value = decide<Real>(hyperbolic_guard, [x](auto words) {
    constexpr int count = words();
    const Wide<count> u = expm1_of(from_double<count>(x < 0 ? -x : x));
    Wide<count> half_sum = scaled(u + u / (u + from_integer<count>(1)), -1);
    half_sum.negative = x < 0;
    return half_sum;
  });
  return value == infinity<Real> || value == -infinity<Real> ? overflow<Real>(value < 0) : value;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real cosh_accurate(Real x) {
  const Real value = decide<Real>(hyperbolic_guard, [x](auto words) {
    const Wide<words()> e = exp_of(from_double<words()>(x));
    return scaled(e + reciprocal(e), -1);
  });
  return value == infinity<Real> ? overflow<Real>(false) : value;
}

/// With u = exp 2x - 1: u / (u + 2).
template <class Real> [[gnu::cold, gnu::noinline]] Real tanh_accurate(Real x) {
  return decide<Real>(hyperbolic_guard, [x](auto words) {
    constexpr int count = words();
    const Wide<count> u = expm1_of(scaled(from_double<count>(x), 1));
    return u / (u + from_integer<count>(2));
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real sinh_special(Real x, Real tiny) {
  if (!(x == x) || x == infinity<Real> || x == -infinity<Real>) return x + x;
  if (x > -tiny && x < tiny) {
    if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min())
      raise_underflow<Real>();
    return x;
  }
  if (x > 711 || x < -711) return overflow<Real>(x < 0);
  return sinh_accurate(x);
}

template <class Real> [[gnu::cold, gnu::noinline]] Real cosh_special(Real x, Real tiny) {
  if (!(x == x) || x == infinity<Real> || x == -infinity<Real>) return x * x;
  if (x > -tiny && x < tiny) return Real(1) + opaque(x == 0 ? x : std::numeric_limits<Real>::min());
  if (x > 711 || x < -711) return overflow<Real>(false);
  return cosh_accurate(x);
}

/// Beyond 22 (10) the result rounds to 1.
template <class Real> [[gnu::cold, gnu::noinline]] Real tanh_special(Real x) {
  if (!(x == x)) return x + x;
  if (x > -1 && x < 1) {
    if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min())
      raise_underflow<Real>();
    return x;
  }
  const Real less = x == infinity<Real> || x == -infinity<Real> ? Real(0) : std::numeric_limits<Real>::min();
  return x > 0 ? Real(1) - opaque(less) : Real(-1) + opaque(less);
}

/// sinh x for |x| < 1/8: x + x^3 / 6 as pairs and x^5 (1 / 120 + ...), which is below 2^-18.9 relative, so that its six
/// roundings stay below 2^-69; x^17 / 17! is omitted.
template <bool fused> HEDDLE_LIBM_INLINE Pair sinh_small(double x) {
  const Pair square = exact_product<fused>(x, x);
  const Pair sixth = product<fused>(product<fused>(square, {x, 0}), {0x1.5555555555555p-3, 0x1.5555555555555p-57});
  const double y = square.high;
  const double upper =
      multiply_add<fused>(y, multiply_add<fused>(y, 1.0 / 1307674368000.0, 1.0 / 6227020800.0), 1.0 / 39916800);
  const double q = multiply_add<fused>(
      y, multiply_add<fused>(y, multiply_add<fused>(y, upper, 1.0 / 362880), 1.0 / 5040), 1.0 / 120);
  const Pair sum = fast_sum(x, sixth.high);
  return {sum.high, sum.low + multiply_add<fused>(y * y * x, q, sixth.low)};
}

/// exp |x| and exp -|x| in units of 2^(power - 1), power that of the former.
struct Both {
  Pair large;
  Pair small;
  double scale;
};

template <bool fused> HEDDLE_LIBM_INLINE Both both(double magnitude) {
  const Exponential large = exponential<fused>(magnitude, 0.0);
  Both result{large.value, {0, 0}, power_of_two(large.power - 1)};
  if (magnitude < 40) {  // beyond, it is below 2^-115 of the sum
    const Exponential small = exponential<fused>(-magnitude, 0.0);
    const double factor = power_of_two(small.power - large.power);
    result.small = {small.value.high * factor, small.value.low * factor};
  }
  return result;
}

/// Errors of both, each below exponential_error in units of the scale, absolute.
constexpr double both_error = 2 * exponential_error;

template <bool fused> HEDDLE_LIBM_INLINE double sinh_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-26) > bits_of(708.0) - bits_of(0x1p-26)) return sinh_special(x, 0x1p-26);
  const double magnitude = from_bits(size);
  double result = 0;
  if (magnitude < 0.125) {
    const Pair value = sinh_small<fused>(magnitude);
    return certain(value, magnitude * 0x1p-67, result) ? with_sign_of(result, x) : sinh_accurate(x);
  }
  const Both parts = both<fused>(magnitude);
  const Pair sum = fast_sum(parts.large.high, -parts.small.high);
  const bool sure = certain({sum.high, sum.low + (parts.large.low - parts.small.low)}, both_error, result);
  return sure ? with_sign_of(result * parts.scale, x) : sinh_accurate(x);
}

[[gnu::noinline]] double cosh_second(double x) {
  const Both parts = both<common>(__builtin_fabs(x));
  const Pair sum = fast_sum(parts.large.high, parts.small.high);
  double result = 0;
  const bool sure = certain({sum.high, sum.low + (parts.large.low + parts.small.low)}, both_error, result);
  return sure ? result * parts.scale : cosh_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE double cosh_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-27) > bits_of(708.0) - bits_of(0x1p-27)) return cosh_special(x, 0x1p-27);
  const Exponential quick = quick_cosh<fused>(from_bits(size));
  double result = 0;
  const bool sure = certain(quick.value, quick.value.high * quick_cosh_error, result);
  return sure ? result * power_of_two(quick.power) : cosh_second(x);
}

/// From 1/8 on (exp 2x - 1) / (exp 2x + 1), with the error of the exponential, 2^-67.6, times 4.6 and 1; below, sinh x
/// / cosh x, with the errors of both, below 2^-66.
[[gnu::noinline]] double tanh_second(double x) {
  const double magnitude = __builtin_fabs(x);
  Pair numerator;
  Pair denominator;
  if (magnitude < 0.125) {
    const Pair s = sinh_small<common>(magnitude);
    numerator = fast_sum(s.high, s.low);
    const Both parts = both<common>(magnitude);
    const Pair sum = fast_sum(parts.large.high, parts.small.high);
    denominator = fast_sum(sum.high, sum.low + (parts.large.low + parts.small.low));
    denominator = {denominator.high * parts.scale, denominator.low * parts.scale};
  } else {
    const Exponential e = exponential<common>(2 * magnitude, 0.0);
    const double one = power_of_two(-e.power);
    const Pair minus = exact_sum(e.value.high, -one);
    const Pair plus = exact_sum(e.value.high, one);
    numerator = fast_sum(minus.high, minus.low + e.value.low);
    denominator = fast_sum(plus.high, plus.low + e.value.low);
  }
  const Pair q = quotient<common>(numerator, denominator);
  double result = 0;
  return certain(q, q.high * 0x1.4p-65, result) ? with_sign_of(result, x) : tanh_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE double tanh_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-27) > bits_of(22.0) - bits_of(0x1p-27)) return tanh_special(x);
  if (size < bits_of(0.125)) return tanh_second(x);
  const QuickTanh quick = quick_tanh<fused>(from_bits(size));
  double result = 0;
  const bool sure = certain(quick.value, quick.q * quick_exponential_error + 0x1p-105, result);
  return sure ? with_sign_of(result, x) : tanh_second(x);
}

/// sinh x for |x| < 1/4 in doubles; x^13 / 13! is omitted, 2^-56 relative.
template <bool fused> HEDDLE_LIBM_INLINE double sinh_series(double x) {
  const double y = x * x;
  const double upper = multiply_add<fused>(y, multiply_add<fused>(y, 1.0 / 39916800, 1.0 / 362880), 1.0 / 5040);
  return multiply_add<fused>(x * y, multiply_add<fused>(y, multiply_add<fused>(y, upper, 1.0 / 120), 1.0 / 6), x);
}

template <bool fused> HEDDLE_LIBM_INLINE float sinhf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) > bits_of(88.0F) - bits_of(0x1p-12F)) return sinh_special(x, 0x1p-12F);
  const double value =
      size < bits_of(0.25F)
          ? sinh_series<fused>(x)
          : 0.5 * (exponential_of_steps<fused>(x * exp_steps) - exponential_of_steps<fused>(x * -exp_steps));
  float result = 0;
  return certain_float(value, 0x1p-42, result) ? result : sinh_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float coshf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-13F) > bits_of(88.0F) - bits_of(0x1p-13F)) return cosh_special(x, 0x1p-13F);
  const double value = 0.5 * (exponential_of_steps<fused>(x * exp_steps) + exponential_of_steps<fused>(x * -exp_steps));
  float result = 0;
  return certain_float(value, 0x1p-45, result) ? result : cosh_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float tanhf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) > bits_of(10.0F) - bits_of(0x1p-12F)) return tanh_special(x);
  double value = 0;
  if (size < bits_of(0.25F)) {
    const double s = sinh_series<fused>(x);
    value = s / __builtin_sqrt(1 + s * s);
  } else {
    const double e = exponential_of_steps<fused>(x * (2 * exp_steps));
    value = (e - 1) / (e + 1);
  }
  float result = 0;
  return certain_float(value, 0x1p-42, result) ? result : tanh_accurate(x);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(sinh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(cosh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(tanh, double, (double x), (x))
HEDDLE_LIBM_DEFINE(sinhf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(coshf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(tanhf, float, (float x), (x))
