// pow and powf.
#include "libm/exponentials.hpp"
#include "libm/functions.hpp"
#include "libm/logarithms.hpp"

namespace heddle::libm {
namespace {

/// The integer with significand m, odd, and the power of two of x > 0.
Decomposed odd_parts(double x) {
  Decomposed parts = decompose(x);
  const int zeros = std::countr_zero(static_cast<Word>(parts.significand));
  return {parts.significand >> zeros, parts.power + zeros};
}

/// Return true if x^y is a sum of at most 62 consecutive powers of two, and compute it: the only case in which the
/// result may be exact or a tie. x = m 2^e and |y| = n 2^f with odd m and n. If m = 1, x^y is rational only if e y is
/// an integer. Otherwise 1 / m^n is no sum of powers of two, and m^y is rational only if m is a 2^-f-th power.
bool exact_power(double x, double y, Wide<3>& result) {
  Decomposed of_x = odd_parts(x);
  const Decomposed of_y = odd_parts(__builtin_fabs(y));
  for (int f = of_y.power; f < 0; ++f) {
    if (of_x.power % 2 != 0) return false;
    const auto s = static_cast<std::int64_t>(__builtin_sqrt(static_cast<double>(of_x.significand)) + 0.5);
    if (s * s != of_x.significand) return false;
    if (of_x.significand == 1 && of_x.power == 0) break;
    of_x = {s, of_x.power / 2};
  }
  // The result is between 2^-1100 and 2^1100, so powers below are small unless m = 1 and e = 0.
  if (of_x.significand == 1) {
    const double power = static_cast<double>(of_x.power) * static_cast<double>(of_y.significand) *
                         (of_y.power > 0 ? power_of_two(of_y.power) : 1.0) * (y < 0 ? -1.0 : 1.0);
    result = from_integer<3>(1, static_cast<std::int64_t>(power));
    return true;
  }
  if (y < 0 || of_y.power > 6 || of_y.significand > 64) return false;
  const std::int64_t count = of_y.significand << (of_y.power > 0 ? of_y.power : 0);
  std::int64_t value = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(value, of_x.significand, &value)) return false;
  }
  result = from_integer<3>(value, of_x.power * count);
  return true;
}

/// x^y for x > 0 and |y log x| < 2^10.5. log x has a guard of 40, y log x one of 51 absolute.
template <class Real>
[[gnu::cold, gnu::noinline]] Real pow_accurate(double x, double y, double approximation, bool negative) {
  const auto finish = [negative](Real value) {
    if (value == 0) errno = ERANGE;
    if (value == infinity<Real>) return overflow<Real>(negative);
    return negative ? -value : value;
  };
  Wide<3> exact;
  if (exact_power(x, y, exact)) {
    const Rounded<Real> result = rounded<Real>(exact, -1);
    if (result.inexact_tiny) raise_underflow<Real>();
    return finish(result.value);
  }
  return finish(decide<Real>(56, [=](auto words) {
    constexpr int count = words();
    return exp_of(log_of(from_double<count>(x), approximation) * from_double<count>(y));
  }));
}

enum class Kind { fraction, even, odd };

HEDDLE_LIBM_INLINE Kind kind_of(double y) {
  const double magnitude = __builtin_fabs(y);
  if (magnitude >= 0x1p53) return Kind::even;
  if (magnitude < 1) return Kind::fraction;
  const auto whole = static_cast<std::int64_t>(magnitude);
  if (static_cast<double>(whole) != magnitude) return Kind::fraction;
  return whole % 2 == 0 ? Kind::even : Kind::odd;
}

template <class Real> bool signalling(Real x) {
  using Bits = decltype(bits_of(x));
  constexpr Bits quiet = Bits{1} << (std::numeric_limits<Real>::digits - 2);
  return x != x && (bits_of(x) & quiet) == 0;
}

/// Results for zeros, infinities, NaN and negative x; return false if the power of |x| remains to be computed.
template <class Real> [[gnu::cold, gnu::noinline]] bool pow_special(Real x, Real y, bool& negative, Real& result) {
  if (y == 0) return result = signalling(x) ? x + y : Real(1), true;
  if (x == 1) return result = signalling(y) ? x + y : Real(1), true;
  if (x != x || y != y) return result = x + y, true;
  const Real magnitude = x < 0 ? -x : x;
  const Real most = infinity<Real>;
  if (y == most || y == -most) {
    if (magnitude == 1) return result = Real(1), true;
    return result = (magnitude > 1) == (y > 0) ? most : Real(0), true;
  }
  const Kind kind = kind_of(static_cast<double>(y));
  const bool below = std::bit_cast<std::make_signed_t<decltype(bits_of(x))>>(x) < 0;
  if (x == 0 || magnitude == most) {
    negative = below && kind == Kind::odd;
    if (x == 0 && y < 0) return result = pole<Real>(negative), true;
    const Real size = (x == 0) == (y > 0) ? Real(0) : most;
    return result = negative ? -size : size, true;
  }
  if (below && kind == Kind::fraction) return result = invalid<Real>(), true;
  negative = below && kind == Kind::odd;
  return false;
}

/// y log x has the error of log x times y, below 2^-78.9 |y| or 2^-70 |y log x|, and roundings below 2^-104 |y log x|;
/// the exponential has exponential_error. The former count twice, as T_i < 2.
template <bool fused> HEDDLE_LIBM_INLINE double pow_body(double x, double y) {
  bool negative = false;
  double base = x;
  const Word size = bits_of(y) << 1 >> 1;
  if (bits_of(x) - 1 >= bits_of(infinity<double>) - 1 || size - bits_of(0x1p-65) >= bits_of(0x1p65) - bits_of(0x1p-65))
      [[unlikely]] {
    double result = 0;
    if (pow_special(x, y, negative, result)) return result;
    base = __builtin_fabs(x);
    if (size < bits_of(0x1p-65)) return 1.0 + (base > 1 ? 0x1p-60 : -0x1p-60);
    if (size >= bits_of(0x1p65)) {
      if (base == 1) return negative ? -1.0 : 1.0;
      return (base > 1) == (y > 0) ? overflow<double>(negative) : underflow<double>(negative);
    }
  }
  int power = 0;
  const Word bits = normal_bits(base, power);
  const Pair raw = logarithm<fused>(split<fused>(bits, power));
  const Pair log = fast_sum(raw.high, raw.low);
  Pair p = exact_product<fused>(y, log.high);
  p.low = multiply_add<fused>(y, log.low, p.low);
  const double magnitude = __builtin_fabs(p.high);
  if (magnitude > 708.0) [[unlikely]] {
    if (p.high > 710.0) return overflow<double>(negative);
    if (p.high < -746.0) return underflow<double>(negative);
    return pow_accurate<double>(base, y, log.high, negative);
  }
  const Exponential e = exponential<fused>(p.high, p.low);
  const double by_size = __builtin_fabs(y) * 0x1p-77;
  const double by_log = magnitude * 0x1p-67;
  const double error = exponential_error + 0x1p-70 + (by_size < by_log ? by_size : by_log);
  const double upper = e.value.high + (e.value.low + error);
  const double lower = e.value.high + (e.value.low - error);
  if (upper != lower) return pow_accurate<double>(base, y, log.high, negative);
  return from_bits(bits_of(upper) + (static_cast<Word>(e.power) << 52) + (static_cast<Word>(negative) << 63));
}

/// In doubles: log x has an error of 2^-50 relative, times y log x < 2^7.2, and the exponential 2^-48.
template <bool fused> HEDDLE_LIBM_INLINE float powf_body(float x, float y) {
  bool negative = false;
  double base = x;
  if (bits_of(x) - 1 >= bits_of(infinity<float>) - 1 || (bits_of(y) << 1 >> 1) >= bits_of(infinity<float>))
      [[unlikely]] {
    float result = 0;
    if (pow_special(x, y, negative, result)) return result;
    base = __builtin_fabs(base);
  }
  const double log = logarithm_of_float<fused>(base);
  const double p = y * log;
  if (__builtin_fabs(p) > 87.0) [[unlikely]] {
    if (p > 89.0) return overflow<float>(negative);
    if (p < -104.0) return underflow<float>(negative);
    return pow_accurate<float>(base, y, log, negative);
  }
  float result = 0;
  if (!certain_float(exponential_of_steps<fused>(p * exp_steps), 0x1p-42, result)) {
    return pow_accurate<float>(base, y, log, negative);
  }
  return negative ? -result : result;
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(pow, double, (double x, double y), (x, y))
HEDDLE_LIBM_DEFINE(powf, float, (float x, float y), (x, y))
