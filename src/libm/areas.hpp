// The fast paths of asinh, acosh and atanh: their logarithms' arguments as pairs.
#pragma once

#include "libm/logarithms.hpp"

namespace heddle::libm {

/// The square root of a pair with |low| < 2^-50 high, relative error below 2^-98.
template <bool fused> HEDDLE_LIBM_INLINE Pair root_of(Pair x) {
  const double y = __builtin_sqrt(x.high);
  const Pair back = exact_product<fused>(y, y);
  return {y, ((x.high - back.high) - back.low + x.low) * (0.5 / y)};
}

/// x + sqrt(x^2 + 1), for 2^-8 <= x < 2^26: relative error below 2^-98.
template <bool fused> HEDDLE_LIBM_INLINE Pair asinh_argument(double x) {
  const Pair square = exact_product<fused>(x, x);
  const Pair sum = exact_sum(square.high, 1.0);
  const Pair side = root_of<fused>({sum.high, sum.low + square.low});
  const Pair total = fast_sum(side.high, x);
  return {total.high, total.low + side.low};
}

/// x + sqrt(x^2 - 1), for x < 2^26, so that x^2.high - 1 is exact. `quick` is for x > 1 + 2^-8: the
/// low part is then below 2^-50.
template <bool fused, bool quick> HEDDLE_LIBM_INLINE Pair acosh_argument(double x) {
  const Pair square = exact_product<fused>(x, x);
  const Pair less_one = {square.high - 1, square.low};
  const Pair side = root_of<fused>(quick ? less_one : fast_sum(less_one.high, less_one.low));
  const Pair total = fast_sum(x, side.high);
  return {total.high, total.low + side.low};
}

template <bool fused> HEDDLE_LIBM_INLINE Pair atanh_argument(double x) {
  return quotient<fused>(fast_sum(1.0, x), fast_sum(1.0, -x));
}

}  // namespace heddle::libm
