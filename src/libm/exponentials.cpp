// exp and expf.
#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

template <class Real>
[[gnu::cold, gnu::noinline]] Real exp_accurate(Real x) {
  const Real value = decide<Real>(exp_guard, [x](auto words) { return exp_of(from_double<words()>(x)); });
  if (value == 0) errno = ERANGE;
  return value;
}

[[gnu::cold, gnu::noinline]] double exp_special(double x) {
  if (!(x == x)) return x + x;
  if (x > 0x1.62e42fefa39efp+9) return x == infinity<double> ? x : overflow<double>(false);
  if (x < -0x1.74910d52d3052p+9) return x == -infinity<double> ? 0.0 : underflow<double>(false);
  if (x < 0x1p-54 && x > -0x1p-54) return 1.0 + x;
  return exp_accurate(x);
}

[[gnu::cold, gnu::noinline]] float expf_special(float x) {
  if (!(x == x)) return x + x;
  if (x > 0x1.62e42ep+6F) return x == infinity<float> ? x : overflow<float>(false);
  if (x < -0x1.9fe368p+6F) return x == -infinity<float> ? 0.0F : underflow<float>(false);
  return exp_accurate(x);
}

template <bool fused>
HEDDLE_LIBM_INLINE double exp_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  // Normal results, and arguments that are not tiny.
  if (magnitude - bits_of(0x1p-54) > bits_of(708.0) - bits_of(0x1p-54)) return exp_special(x);
  const Exponential e = exponential<fused>(x, 0.0);
  const double upper = e.value.high + (e.value.low + 0x1p-67);
  const double lower = e.value.high + (e.value.low - 0x1p-67);
  if (upper != lower) return exp_accurate(x);
  return from_bits(bits_of(upper) + (static_cast<Word>(e.power) << 52));
}

/// The same table, T_i (1 + r + ... + r^4 / 24) in doubles: the product with 128 / log 2, below 2^14, rounds by 2^-47 of the
/// result, the series' end is below 2^-49.
template <bool fused>
HEDDLE_LIBM_INLINE float expf_body(float x) {
  if ((bits_of(x) & 0x7fffffff) > bits_of(87.0F)) return expf_special(x);
  std::int64_t k = 0;
  const double steps = x * exp_steps;
  const double r = (steps - nearest_integer(steps, k)) * log_two_per_step;
  const double square = r * r;
  const double q = multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 6, 0.5) + square * (1.0 / 24), r);
  const double t = from_bits(bits_of(exp_table[k & 127].high) + (static_cast<Word>(k >> 7) << 52));
  const double value = multiply_add<fused>(t, q, t);
  const float upper = static_cast<float>(value * (1 + 0x1p-45));
  const float lower = static_cast<float>(value * (1 - 0x1p-45));
  return upper == lower ? upper : exp_accurate(x);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(exp, double, (double x), (x))
HEDDLE_LIBM_DEFINE(expf, float, (float x), (x))
