// tgamma, lgamma and lgamma_r, and those of floats.
#include "libm/gammas.hpp"

#include "libm/functions.hpp"

// The C library's variable, where it is loaded: its name is an alias of signgam that no program can define by itself.
extern "C" __attribute__((weak)) int __signgam;

namespace heddle::libm {
namespace {

/// log x for x > 0, with an absolute error below 2^(44 + 11 - 64 N) for results below 2^11.
template <int N> Wide<N> any_log_of(Wide<N> x) {
  const std::int64_t power = x.exponent - 1;
  x.exponent = 1;
  const Pair approximation = logarithm<false>(split<false>(bits_of(to_double(x)), 0));
  return log_of(x, approximation.high + approximation.low) + constant<N>(log_two_words, 0) * from_integer<N>(power);
}

/// Gamma(x) = exp(logarithm) / product.
template <int N> struct WideGamma {
  Wide<N> logarithm;
  Wide<N> product;
};

/// Gamma(x) for x > 0: Stirling's series at x + n >= 64, 128 or 256, whose terms fall below 2^(-64 N) before the last
/// of the table, and n factors. The logarithm's error is below 2^(46 - 64 N) relative, as that of log(x + n) is.
template <int N> WideGamma<N> gamma_of(Wide<N> x) {
  const Wide<N> one = from_integer<N>(1);
  WideGamma<N> result{{}, one};
  while (x.exponent <= (N <= 3 ? 6 : N <= 6 ? 7 : 8)) {
    result.product = result.product * x;
    x = x + one;
  }
  Wide<N> sum = (x - scaled(one, -1)) * any_log_of(x) - x + constant<N>(half_log_two_pi_words, 0);
  Wide<N> power = reciprocal(x);
  const Wide<N> minus_square = -(power * power);
  for (const Constant& term : stirling_terms) {
    if (power.exponent + term.exponent < -64 * N) break;
    sum = sum + power * constant<N>(term.word, term.exponent);
    power = power * minus_square;
  }
  result.logarithm = sum;
  return result;
}

/// |sin(pi x)| for |x| < 2^52.
template <int N> Wide<N> sine_of_turns(double x) {
  const double part = __builtin_fabs(x - static_cast<double>(static_cast<std::int64_t>(x)));
  const double rest = part > 0.5 ? 1 - part : part;
  const Wide<N> pi = constant<N>(half_pi_words, 2);
  if (rest <= 0.25) return series_of(pi * from_double<N>(rest), true);
  return series_of(pi * from_double<N>(0.5 - rest), false);
}

/// A number with the power of two of its absolute error, beside -64 N.
template <int N> struct Estimate {
  Wide<N> value;
  std::int64_t error;
};

/// Gamma(x) is pi / |sin(pi x)| / Gamma(1 - x) for x < 0, but for its sign.
template <int N> Estimate<N> tgamma_of(double x) {
  const Wide<N> z = from_double<N>(x);
  Wide<N> value;
  if (x > 0) {
    const WideGamma<N> gamma = gamma_of(z);
    value = exp_of(gamma.logarithm) / gamma.product;
  } else {
    const WideGamma<N> gamma = gamma_of(from_integer<N>(1) - z);
    value = constant<N>(half_pi_words, 2) * gamma.product / (sine_of_turns<N>(x) * exp_of(gamma.logarithm));
  }
  return {value, value.exponent + 60};
}

template <int N> Estimate<N> lgamma_of(double x) {
  const Wide<N> z = from_double<N>(x);
  const WideGamma<N> gamma = gamma_of(x > 0 ? z : from_integer<N>(1) - z);
  const std::int64_t size = gamma.logarithm.exponent < 11 ? 11 : gamma.logarithm.exponent;
  if (x > 0) return {gamma.logarithm - any_log_of(gamma.product), size + 48};
  const Wide<N> quotient = constant<N>(half_pi_words, 2) * gamma.product / sine_of_turns<N>(x);
  return {any_log_of(quotient) - gamma.logarithm, size + 48};
}

/// As decide(), for results whose relative error depends on the argument.
template <class Real, class Compute> [[gnu::noinline, gnu::cold]] Real decide_estimate(const Compute& compute) {
  Rounded<Real> result{};
  const auto decided = [&](auto words) {
    constexpr int bits = 64 * words();
    const Estimate<words()> found = compute(words);
    const std::int64_t guard = found.error - found.value.exponent;
    if (found.value.zero() || guard >= bits) return false;
    result = rounded<Real>(found.value, guard < 0 ? 0 : static_cast<int>(guard));
    return result.decided;
  };
  static_cast<void>(decided(std::integral_constant<int, 3>{}) || decided(std::integral_constant<int, 6>{}) ||
                    decided(std::integral_constant<int, 12>{}));
  if (result.inexact_tiny) raise_underflow<Real>();
  return result.value;
}

/// Return true if Gamma(x) is negative, for x < 0 that is no integer: the largest integer below x is odd then.
HEDDLE_LIBM_INLINE bool has_negative_gamma(double x) {
  return (static_cast<std::int64_t>(x) & 1) == 0;
}

/// Gamma of small integers is exact, or a tie if it has one bit more; factorials from 30! on have more than 64 bits
/// between the highest and the lowest 1.
template <class Real> [[gnu::cold, gnu::noinline]] Real tgamma_accurate(Real x) {
  if (x > 0 && x <= 30 && static_cast<Real>(static_cast<int>(x)) == x) {
    Wide<3> product = from_integer<3>(1);
    for (int i = 2; i < static_cast<int>(x); ++i) product = product * from_integer<3>(i);
    return rounded<Real>(product, -1).value;
  }
  const bool negative = x < 0 && has_negative_gamma(static_cast<double>(x));
  const Real value = decide_estimate<Real>([x](auto words) { return tgamma_of<words()>(static_cast<double>(x)); });
  if (value == 0) errno = ERANGE;
  if (value == infinity<Real>) return overflow<Real>(negative);
  return negative ? -value : value;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real lgamma_accurate(Real x) {
  const Real value = decide_estimate<Real>([x](auto words) { return lgamma_of<words()>(static_cast<double>(x)); });
  return value == infinity<Real> ? overflow<Real>(false) : value;
}

/// Arguments that the fast path leaves out. Below 2^-110, Gamma(x) rounds as 1 / x does, which is no tie and farther
/// than 2^-107 from one.
template <class Real> [[gnu::cold, gnu::noinline]] Real tgamma_special(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  if (x != x || x == infinity<Real>) return x + x;
  if (x == 0) return pole<Real>(is_negative(static_cast<double>(x)));
  if (x > -0x1p-110 && x < 0x1p-110) {
    const Real value = Real(1) / x;
    return value == infinity<Real> || value == -infinity<Real> ? overflow<Real>(x < 0) : value;
  }
  if (x > (wide ? Real(171.63) : Real(35.1))) return overflow<Real>(false);
  if (x < -0x1p52) return invalid<Real>();
  if (x < 0 && static_cast<Real>(static_cast<std::int64_t>(x)) == x) return invalid<Real>();
  // 1 / 186! is below 2^-1129, and x no nearer than 2^-45 to an integer; for floats 1 / 48! is below 2^-200, and 2^-18.
  if (x < (wide ? Real(-186) : Real(-48))) return underflow<Real>(has_negative_gamma(static_cast<double>(x)));
  return tgamma_accurate(x);
}

/// Arguments that the fast path leaves out: NaN, infinities, 0, those below -2^51, integers below 0, and large ones.
template <class Real> [[gnu::cold, gnu::noinline]] Real lgamma_special(Real x, int& sign) {
  if (x != x || x == infinity<Real>) return x + x;
  if (x == -infinity<Real>) return -x;
  if (x == 0 && is_negative(static_cast<double>(x))) sign = -1;
  if (x <= 0) {
    if (x <= -0x1p52 || static_cast<Real>(static_cast<std::int64_t>(x)) == x) return pole<Real>(false);
    if (has_negative_gamma(static_cast<double>(x))) sign = -1;
  }
  return static_cast<double>(x) > 2.6e305 ? overflow<Real>(false) : lgamma_accurate(x);
}

HEDDLE_LIBM_INLINE bool is_integer(double y) {
  std::int64_t unused = 0;
  return nearest_integer(y, unused) == y;
}

/// Normal results, and arguments that are no poles. Results of x > -170 are at least 2^-1020.
template <bool fused> HEDDLE_LIBM_INLINE double tgamma_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-110) >= bits_of(is_negative(x) ? 170.0 : 171.6) - bits_of(0x1p-110)) return tgamma_special(x);
  if (x < 0 && is_integer(x)) return tgamma_special(x);
  const Found found = gamma_found<fused>(x);
  double result = 0;
  if (!certain(found.value, found.error, result)) return tgamma_accurate(x);
  result = from_bits(bits_of(result) + (static_cast<Word>(found.power) << 52));
  return x < 0 && has_negative_gamma(x) ? -result : result;
}

template <bool fused> HEDDLE_LIBM_INLINE float tgammaf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-110F) >= bits_of(is_negative(x) ? 48.0F : 35.0F) - bits_of(0x1p-110F))
    return tgamma_special(x);
  const double z = static_cast<double>(x);
  if (x < 0 && is_integer(z)) return tgamma_special(x);
  const Found found = gamma_found<fused>(z);
  const double value = from_bits(bits_of(found.value.high + found.value.low) + (static_cast<Word>(found.power) << 52));
  float result = 0;
  if (!certain(value, value * 0x1p-51, result)) return tgamma_accurate(x);
  if (result == 0) [[unlikely]]
    errno = ERANGE;
  return x < 0 && has_negative_gamma(z) ? -result : result;
}

template <bool fused> HEDDLE_LIBM_INLINE double lgamma_finite(double x) {
  const Found found = log_gamma_found<fused>(x);
  double result = 0;
  return certain(found.value, found.error, result) ? result : lgamma_accurate(x);
}

/// Pairs decide where doubles do not: near zeros above all.
template <bool fused> HEDDLE_LIBM_INLINE float lgamma_finite_by_pair(float x) {
  const Found found = log_gamma_found<fused>(static_cast<double>(x));
  const double value = found.value.high + found.value.low;
  float result = 0;
  return certain(value, found.error + __builtin_fabs(value) * 0x1p-52, result) ? result : lgamma_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float lgamma_finite(float x) {
  const Short found = short_log_gamma<fused>(static_cast<double>(x));
  float result = 0;
  if (!certain(found.value, found.error, result)) result = lgamma_finite_by_pair<fused>(x);
  return result == infinity<float> ? overflow<float>(false) : result;
}

/// log|Gamma(x)|, and Gamma's sign: 1 for poles but that of -0, for NaN and for infinities.
template <bool fused, class Real> HEDDLE_LIBM_INLINE Real lgamma_value(Real x, int& sign) {
  const double z = static_cast<double>(x);
  sign = 1;
  if (bits_of(z) << 1 >> 1 >= bits_of(0x1p900)) return lgamma_special(x, sign);
  if (z < 8) {
    if (z == 1 || z == 2) return 0;
    if (z <= 0) {
      if (z <= -0x1p51 || is_integer(z)) return lgamma_special(x, sign);
      if (has_negative_gamma(z)) sign = -1;
    }
  }
  return lgamma_finite<fused>(x);
}

HEDDLE_LIBM_INLINE void set_signgam(int sign) {
  if (&__signgam != nullptr) __signgam = sign;
}

template <bool fused> HEDDLE_LIBM_INLINE double lgamma_r_body(double x, int* sign) {
  return lgamma_value<fused>(x, *sign);
}
template <bool fused> HEDDLE_LIBM_INLINE float lgammaf_r_body(float x, int* sign) {
  return lgamma_value<fused>(x, *sign);
}

template <bool fused> HEDDLE_LIBM_INLINE double lgamma_body(double x) {
  int sign = 1;
  const double result = lgamma_value<fused>(x, sign);
  set_signgam(sign);
  return result;
}
template <bool fused> HEDDLE_LIBM_INLINE float lgammaf_body(float x) {
  int sign = 1;
  const float result = lgamma_value<fused>(x, sign);
  set_signgam(sign);
  return result;
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(tgamma, double, (double x), (x))
HEDDLE_LIBM_DEFINE(lgamma, double, (double x), (x))
HEDDLE_LIBM_DEFINE(lgamma_r, double, (double x, int* sign), (x, sign))
HEDDLE_LIBM_DEFINE(tgammaf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(lgammaf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(lgammaf_r, float, (float x, int* sign), (x, sign))
