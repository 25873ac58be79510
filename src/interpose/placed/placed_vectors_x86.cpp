// Placed sums of vectors by the vectors of x86-64.
#include "interpose/placed/placed_x86.hpp"

#ifdef HEDDLE_FMA
#include <cstring>

namespace heddle::impl::interpose {
namespace {

HEDDLE_FMA double sum_of(__m256d x) {
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// Two vectors of some times `step` elements and a rest.
struct Pair {
  const double* x;
  const double* y;
  Index whole;
  Index rest;

  Pair(const double* given_x, const double* given_y, Index count)
      : x(given_x), y(given_y), whole(count / step), rest(count % step) {}
  [[nodiscard]] Index steps() const { return whole + (rest != 0 ? 1 : 0); }
};

// Return the largest of the first products.
HEDDLE_FMA double guess(const Pair& pair) {
  __m256d most = _mm256_setzero_pd();
  if (pair.whole > 0) {
#pragma GCC unroll 4
    for (Index l = 0; l < step; l += 4) {
      const __m256d product = _mm256_mul_pd(_mm256_loadu_pd(pair.x + l), _mm256_loadu_pd(pair.y + l));
      most = _mm256_max_pd(most, magnitude_of(product));
    }
    return largest_of(most);
  }
  double result = 0.0;
  for (Index k = 0; k < pair.rest; ++k) result = std::max(result, std::abs(pair.x[k] * pair.y[k]));
  return result;
}

struct Sums {
  __m256d high[abreast];
  __m256d low[abreast];
  __m256d changed;
};
template <bool whole>
HEDDLE_FMA inline void add_step(const double* x, const double* y, const First* first, const __m256d& place,
                                Sums& sums) {
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    const __m256d a = whole ? _mm256_loadu_pd(x + 4 * l) : _mm256_maskload_pd(x + 4 * l, first->lanes[l]);
    const __m256d b = whole ? _mm256_loadu_pd(y + 4 * l) : _mm256_maskload_pd(y + 4 * l, first->lanes[l]);
    const __m256d sum = _mm256_fmadd_pd(a, b, sums.high[l]);
    const __m256d added = _mm256_sub_pd(sum, sums.high[l]);
    sums.low[l] = _mm256_add_pd(sums.low[l], _mm256_fmsub_pd(a, b, added));
    sums.high[l] = sum;
    sums.changed = _mm256_or_pd(sums.changed, _mm256_xor_pd(sum, place));
  }
}

// The sum of all products at a place for `size`, if all sums stay there: high + low, off by `error` at most.
HEDDLE_FMA bool add_at(const Pair& pair, double size, double& high, double& low, double& error) {
  const auto steps = static_cast<double>(pair.steps());
  const double wanted = std::max(size * steps, 0x1p-900);
  if (!(wanted < 0x1p1000)) return false;
  // 2^e of sums up to an eighth of that, so that those of 16 lanes are added without error.
  std::uint64_t bits = 0;
  std::memcpy(&bits, &wanted, sizeof bits);
  bits = (bits & (std::uint64_t{0x7ff} << 52)) + (std::uint64_t{4} << 52);
  double power = 0.0;
  std::memcpy(&power, &bits, sizeof bits);
  const __m256d place = _mm256_set1_pd(1.5 * power);
  Sums sums;
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    sums.high[l] = place;
    sums.low[l] = _mm256_setzero_pd();
  }
  sums.changed = _mm256_setzero_pd();
  const Index end = pair.whole * step;
  for (Index k = 0; k < end; k += step) add_step<true>(pair.x + k, pair.y + k, nullptr, place, sums);
  if (pair.rest != 0) {
    const First rest(pair.rest);
    add_step<false>(pair.x + end, pair.y + end, &rest, place, sums);
  }
  __m256d most = _mm256_setzero_pd();
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    sums.high[l] = _mm256_sub_pd(sums.high[l], place);
    most = _mm256_max_pd(most, magnitude_of(sums.high[l]));
  }
  if (!stayed(sums.changed) || !(largest_of(most) <= 0.125 * power)) {
    return false;
  }
  high = sum_of(_mm256_add_pd(_mm256_add_pd(sums.high[0], sums.high[1]), _mm256_add_pd(sums.high[2], sums.high[3])));
  low = sum_of(_mm256_add_pd(_mm256_add_pd(sums.low[0], sums.low[1]), _mm256_add_pd(sums.low[2], sums.low[3])));
  // Each product loses at most 2^(e - 53), which is rounded, and added to at most so many times as much; then to the
  // other lanes', in four steps.
  error = power * 0x1p-106 * 1.02 * static_cast<double>(step) * steps * (steps + 6.0);
  return true;
}

// Four columns' sums, each of four lanes: the sums of lanes.
HEDDLE_FMA __m256d sums_of(const __m256d (&x)[4]) {
  const __m256d first = _mm256_hadd_pd(x[0], x[1]);
  const __m256d second = _mm256_hadd_pd(x[2], x[3]);
  return _mm256_add_pd(_mm256_permute2f128_pd(first, second, 0x20), _mm256_permute2f128_pd(first, second, 0x31));
}
// Products of four columns with x, up to placed_at_once; false, and nothing done, where sums leave their place.
HEDDLE_FMA bool add_four_columns(const double* A, Index leading, Index count, const double* x, double most_x,
                                 Index first, bool bounded, RowSums& sums) {
  double size = 0.0;
  for (Index q = 0; q < 4; ++q) {
    size = std::max(size, largest(A + q * leading, bounded ? count : std::min<Index>(count, 8)));
  }
  const auto steps = static_cast<double>((count + 3) / 4);
  // Sums of each lane up to a quarter of 2^(e - 1), so that those of four are added without error.
  const __m256d place = place_for(_mm256_set1_pd(size * most_x * steps), 4);
  __m256d high[4];
  __m256d low[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    high[q] = place;
    low[q] = _mm256_setzero_pd();
  }
  __m256d changed = _mm256_setzero_pd();
  const Index whole = count / 4 * 4;
  const First rest(count - whole);
  for (Index k = 0; k < count; k += 4) {
    const bool all = k < whole;
    const __m256d y = all ? _mm256_loadu_pd(x + k) : _mm256_maskload_pd(x + k, rest.lanes[0]);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      const double* const at = A + q * leading + k;
      const __m256d a = all ? _mm256_loadu_pd(at) : _mm256_maskload_pd(at, rest.lanes[0]);
      const __m256d sum = _mm256_fmadd_pd(a, y, high[q]);
      const __m256d added = _mm256_sub_pd(sum, high[q]);
      low[q] = _mm256_add_pd(low[q], _mm256_fmsub_pd(a, y, added));
      high[q] = sum;
      changed = _mm256_or_pd(changed, _mm256_xor_pd(sum, place));
    }
  }
  __m256d most = _mm256_setzero_pd();
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    high[q] = _mm256_sub_pd(high[q], place);
    most = _mm256_max_pd(most, magnitude_of(high[q]));
  }
  // The place is 1.5 2^e.
  if (!stayed(changed) || !(largest_of(most) <= _mm256_cvtsd_f64(place) / 6.0)) return false;
  const __m256d error = _mm256_set1_pd(0.7 * 0x1p-60 * 4.0 * steps * (steps + 4.0));
  merge(sums_of(high), sums_of(low), _mm256_mul_pd(place, error), first, sums);
  return true;
}
HEDDLE_FMA void lose_four(Index first, RowSums& sums) {
  _mm256_store_pd(sums.sum + first, _mm256_set1_pd(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

bool add_placed(const double* x, const double* y, Index count, exact::Compensated& all) {
  const Pair pair(x, y, count);
  double high = 0.0;
  double low = 0.0;
  double error = 0.0;
  if (!add_at(pair, guess(pair), high, low, error) &&
      !add_at(pair, largest(x, count) * largest(y, count), high, low, error)) {
    return false;
  }
  if (all.sum == 0.0 && all.size == 0.0) {
    all.sum = high;
    all.lost = low;
  } else {
    all.add(high, low);
  }
  // Its bound is at least 64 * 2^-52 times the size.
  all.size += error * 0x1p46;
  return true;
}

void add_columns(const double* A, Index leading, Index columns, Index n, const double* x, Index at, RowSums& sums) {
  for (Index k = 0; k < n; k += placed_at_once) {
    const Index count = std::min(placed_at_once, n - k);
    const double most_x = largest(x + k, count);
    for (Index j = 0; j < columns; j += 4) {
      const double* const four = A + k + j * leading;
      if (!add_four_columns(four, leading, count, x + k, most_x, at + j, false, sums) &&
          !add_four_columns(four, leading, count, x + k, most_x, at + j, true, sums)) {
        lose_four(at + j, sums);
      }
    }
  }
  sums.terms = (n + placed_at_once - 1) / placed_at_once;
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

bool add_placed(const double*, const double*, Index, exact::Compensated&) {
  return false;
}

void add_columns(const double*, Index, Index, Index, const double*, Index, RowSums&) {}

}  // namespace heddle::impl::interpose
#endif
