// erf and erfc, and those of floats.
#include "libm/errors.hpp"

#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

/// The error of erf_of_wide() and erfc_of_wide().
constexpr int error_guard = 44;

/// erf x for |x| < 1: the series 2 / sqrt pi (x - x^3 / 3 + x^5 / (5 2!) - ...), whose sum is at least 2/3 of x.
template <int N> Wide<N> erf_series_of(const Wide<N>& x) {
  const Wide<N> minus_square = -(x * x);
  Wide<N> sum = x;
  Wide<N> term = x;
  for (Word k = 1; !term.zero() && term.exponent > x.exponent - 64 * N; ++k) {
    term = term * minus_square / k;
    sum = sum + term / (2 * k + 1);
  }
  return sum * constant<N>(two_over_root_pi_words, 1);
}

/// erfc x for x >= 1 by the trapezoidal rule with the step h, of Chiarella and Reichel (Mathematics of Computation 22,
/// 1968): exp(-x^2) x h / pi sum exp(-n^2 h^2) / (n^2 h^2 + x^2) - 2 / (exp(2 pi x / h) - 1). The last term is that of
/// a pole within |Im t| < pi / h, where the rule is taken, and absent for larger x. The error relative to the result is
/// below 2^6 exp(-(pi / h)^2), since the strip may be 1/2 narrower or wider if the pole is near its border: steps of
/// 1/4, 3/16 and 1/8 give 2^-221, 2^-398 and 2^-904. The powers exp(-n^2 h^2) come from products, whose errors in the
/// sum are below 2^32 times that of an operation.
template <int N> Wide<N> erfc_of_wide(const Wide<N>& x) {
  constexpr int step = N <= 3 ? 4 : N <= 6 ? 3 : 2;  // h in units of 1/16
  const Wide<N> one = from_integer<N>(1);
  const Wide<N> square = x * x;
  const Wide<N> ratio_step = exp_of(from_integer<N>(-2 * step * step, -8));
  Wide<N> ratio = exp_of(from_integer<N>(-step * step, -8));
  Wide<N> power = one;
  Wide<N> numerator = one;
  Wide<N> denominator = square;
  for (std::int64_t n = 1; power.exponent > -64 * N; ++n) {
    power = power * ratio;
    ratio = ratio * ratio_step;
    const Wide<N> divisor = square + from_integer<N>(n * n * step * step, -8);
    numerator = numerator * divisor + scaled(power * denominator, 1);
    denominator = denominator * divisor;
  }
  const Wide<N> sum = numerator / denominator * (x * constant<N>(two_over_pi_words, -1));
  const Wide<N> value = exp_of(-square) * scaled(sum * from_integer<N>(step), -4);
  // pi / h is 12.6, 16.8 or 25.1.
  if (to_double(x) * step > 50.0) return value;
  const Wide<N> turns = x * constant<N>(half_pi_words, 7) / Word{step};
  return value - scaled(reciprocal(expm1_of(turns)), 1);
}

template <class Real> [[gnu::cold, gnu::noinline]] Real erf_accurate(Real x) {
  return decide<Real>(error_guard, [x](auto words) {
    constexpr int count = words();
    const Wide<count> z = from_double<count>(x);
    if (x > -1 && x < 1) return erf_series_of(z);
    const Wide<count> rest = erfc_of_wide(x < 0 ? -z : z) - from_integer<count>(1);
    return x < 0 ? rest : -rest;
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real erfc_accurate(Real x) {
  const Real value = decide<Real>(error_guard, [x](auto words) {
    constexpr int count = words();
    const Wide<count> z = from_double<count>(x);
    if (x > -1 && x < 1) return from_integer<count>(1) - erf_series_of(z);
    return x < 0 ? from_integer<count>(2) - erfc_of_wide(-z) : erfc_of_wide(z);
  });
  if (value == 0) errno = ERANGE;
  return value;
}

/// NaN, 0, and results that are small or round to 1.
template <class Real> [[gnu::cold, gnu::noinline]] Real erf_special(Real x) {
  if (x != x) return x + x;
  if (x == 0) return x;
  if (x > -1 && x < 1) return erf_accurate(x);
  const Real less = x == infinity<Real> || x == -infinity<Real> ? Real(0) : std::numeric_limits<Real>::min();
  return x > 0 ? Real(1) - opaque(less) : Real(-1) + opaque(less);
}

/// The bounds are those of the table: from them on the result rounds to 2 or 0.
template <class Real> [[gnu::cold, gnu::noinline]] Real erfc_special(Real x, Real highest) {
  if (x != x) return x + x;
  if (x > -1 && x < 1) return Real(1) - x;
  if (x < 0) return Real(2) - opaque(x == -infinity<Real> ? Real(0) : std::numeric_limits<Real>::min());
  if (x == infinity<Real>) return Real(0);
  return x < highest ? erfc_accurate(x) : underflow<Real>(false);
}

template <bool fused> HEDDLE_LIBM_INLINE double erf_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-900) >= bits_of(6.0) - bits_of(0x1p-900)) return erf_special(x);
  const double magnitude = from_bits(size);
  const Pair value = erf_pair<fused>(magnitude);
  double result = 0;
  const double error = magnitude < 0.125 ? value.high * erf_small_error : erf_error;
  return certain(value, error, result) ? with_sign_of(result, x) : erf_accurate(x);
}

/// value 2^power rounded to a multiple of 2^-1074, for results below 2^-1022: the sum with 2^52 units is exact as a
/// pair. Half a unit is left to the accurate path.
[[gnu::cold, gnu::noinline]] bool certain_subnormal(Pair value, std::int64_t power, double error, double& result) {
  const double unit = power_of_two(-1074 - power);
  const double large = unit * 0x1p52;
  const Pair sum = fast_sum(large, value.high);
  const double rest = __builtin_fabs(sum.low + value.low);
  result = from_bits(bits_of(sum.high) - bits_of(large));
  if (rest + error >= 0.5 * unit) return false;
  if (result == 0) errno = ERANGE;
  if (result < std::numeric_limits<double>::min()) raise_underflow<double>();
  return true;
}

constexpr double erfc_end = 27.3;                    // 2^-1075.9
constexpr double erfc_small = 0x1.a8b12fc6e4892p+4;  // results from here on are below 2^-1022

template <bool fused> HEDDLE_LIBM_INLINE double erfc_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-56) >= bits_of(is_negative(x) ? 6.0 : erfc_end) - bits_of(0x1p-56))
    return erfc_special(x, erfc_end);
  const double magnitude = from_bits(size);
  double result = 0;
  if (x < 1.25) {
    const Pair erf = erf_pair<fused>(magnitude);
    const double sign = x < 0 ? 1.0 : -1.0;
    const Pair sum = fast_sum(1.0, sign * erf.high);
    // The low parts, below 2^-53, round by 2^-106; the error of the series is below 2^-69.4.
    const double error = magnitude < 0.125 ? 0x1.8p-70 : erf_error;
    return certain({sum.high, sum.low + sign * erf.low}, error, result) ? result : erfc_accurate(x);
  }
  const Complement found = erfc_large<fused>(x);
  if (x >= erfc_small) [[unlikely]] {
    const Pair sum = fast_sum(found.value.high, found.value.low);
    return certain_subnormal(sum, found.power, found.error, result) ? result : erfc_accurate(x);
  }
  const bool sure = certain(found.value, found.error, result);
  return sure ? from_bits(bits_of(result) + (static_cast<Word>(found.power) << 52)) : erfc_accurate(x);
}

/// erf x for 0 <= x < 6 in doubles; in the series terms from y^6 on are omitted, 2^-49 of it.
template <bool fused> HEDDLE_LIBM_INLINE double erf_short(double magnitude) {
  if (magnitude < 0.125) {
    const double y = magnitude * magnitude;
    const double* c = erf_series_rest;
    const double upper =
        multiply_add<fused>(y * y, multiply_add<fused>(y, c[3], c[2]), multiply_add<fused>(y, c[1], c[0]));
    return magnitude * multiply_add<fused>(y, multiply_add<fused>(y, upper, erf_series[1].high), erf_series[0].high);
  }
  const ErfRow place = erf_row(magnitude);
  return short_value_of<fused>(erf_rows[place.row], place.rest);
}

/// The relative error of erf_short(): terms from r^7 on are below 2^-44.5 of the value.
constexpr double erf_short_error = 0x1p-43;

template <bool fused> HEDDLE_LIBM_INLINE float erff_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - 1 >= bits_of(4.0F) - 1) return erf_special(x);
  const double value = erf_short<fused>(static_cast<double>(std::bit_cast<float>(size)));
  float result = 0;
  return certain(value, value * erf_short_error, result) ? with_sign_of(result, x) : erf_accurate(x);
}

constexpr float erfcf_end = 10.1F;  // 2^-151.3

template <bool fused> HEDDLE_LIBM_INLINE float erfcf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-27F) >= bits_of(is_negative(x) ? 4.0F : erfcf_end) - bits_of(0x1p-27F))
    return erfc_special(x, erfcf_end);
  const double z = static_cast<double>(x);
  float result = 0;
  if (x < 1.25F) {
    const double erf = erf_short<fused>(__builtin_fabs(z));
    const double value = x < 0 ? 1 + erf : 1 - erf;
    return certain(value, erf_short_error, result) ? result : erfc_accurate(x);
  }
  const Centre centre = centre_of(z);
  const double factor = short_value_of<fused>(erfcx_rows[centre.row - 8], z - centre.value);
  // The product, below 2^14.2, rounds by 2^-46.5 of the result, and the table's terms from r^7 on are below 2^-42 of
  // it.
  const double value = exponential_of_steps<fused>(z * z * -exp_steps) * factor;
  if (!certain(value, value * 0x1p-41, result)) return erfc_accurate(x);
  if (result == 0) [[unlikely]]
    errno = ERANGE;
  return result;
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(erf, double, (double x), (x))
HEDDLE_LIBM_DEFINE(erfc, double, (double x), (x))
HEDDLE_LIBM_DEFINE(erff, float, (float x), (x))
HEDDLE_LIBM_DEFINE(erfcf, float, (float x), (x))
