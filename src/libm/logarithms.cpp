// log and logf.
#include "libm/logarithms.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

template <class Real>
[[gnu::cold, gnu::noinline]] Real log_accurate(Real x, double approximation) {
  return decide<Real>(log_guard,
                      [=](auto words) { return log_of(from_double<words()>(x), approximation); });
}

template <class Real>
[[gnu::cold, gnu::noinline]] Real log_special(Real x) {
  if (x == 0) return pole<Real>(true);
  if (!(x == x) || x > 0) return x + x;
  return invalid<Real>();
}

template <bool fused>
HEDDLE_LIBM_INLINE double log_body(double x) {
  if (bits_of(x) - 1 >= bits_of(infinity<double>) - 1) return log_special(x);
  int power = 0;
  const Word bits = normal_bits(x, power);
  const Pair value = logarithm<fused>(split<fused>(bits, power));
  const double upper = value.high + multiply_add<fused>(value.high, 0x1p-68, value.low);
  const double lower = value.high + multiply_add<fused>(value.high, -0x1p-68, value.low);
  return upper == lower ? upper : log_accurate(x, value.high);
}

/// The same table, r (1 - r / 2 + ... + r^4 / 5) in doubles: the sum's error is below 2^-50 relative.
template <bool fused>
HEDDLE_LIBM_INLINE float logf_body(float x) {
  if (bits_of(x) - 1 >= bits_of(infinity<float>) - 1) return log_special(x);
  const Split parts = split<fused>(bits_of(static_cast<double>(x)), 0);
  const double r = parts.rest;
  const double square = r * r;
  const Pair value_of_row = log_value[parts.row];
  const double base = multiply_add<fused>(parts.power, log_two, value_of_row.high + value_of_row.low);
  const double q = multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 5, -1.0 / 4),
                                       multiply_add<fused>(r, 1.0 / 3, -0.5));
  const double value = base + multiply_add<fused>(square, q, r);
  const float upper = static_cast<float>(value * (1 + 0x1p-44));
  const float lower = static_cast<float>(value * (1 - 0x1p-44));
  return upper == lower ? upper : log_accurate(x, value);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(log, double, (double x), (x))
HEDDLE_LIBM_DEFINE(logf, float, (float x), (x))
