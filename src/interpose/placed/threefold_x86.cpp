// Inner products in three times the precision of doubles, by the vectors of x86-64 or by plain loops.
#include "interpose/placed/placed_x86.hpp"
#include "interpose/placed/threefold_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl::interpose {
namespace {

using exact::impl::Threefold;
constexpr double none_smaller = std::numeric_limits<double>::infinity();

// A product of numbers of which one is not finite, else 0.
double special_product(double x, double y) {
  return std::isfinite(x) && std::isfinite(y) ? 0.0 : x * y;
}
void survey_one(double x, double y, Surveyed& all) {
  all.special += special_product(x, y);
  const auto count = [](double value, double& largest, double& smallest) {
    const double size = std::abs(value);
    if (!std::isfinite(size)) return;
    largest = std::max(largest, size);
    if (size != 0.0) smallest = std::min(smallest, size);
  };
  count(x, all.largest_a, all.smallest_a);
  count(y, all.largest_b, all.smallest_b);
}
void add_one(double x, double y, ThreefoldSum& all) {
  if (x != 0.0 && y != 0.0) all.smallest = std::min(all.smallest, std::abs(x * y));
  exact::two_product(x, y);
  all.sum.add(x, y);
}

Surveyed survey_anywhere(const double* a, const double* b, Index count) {
  Surveyed all;
  all.smallest_a = all.smallest_b = none_smaller;
  for (Index k = 0; k < count; ++k) survey_one(a[k], b[k], all);
  return all;
}
void add_anywhere(const double* a, const double* b, Index count, double factor_a, double factor_b, ThreefoldSum& sum) {
  constexpr Index many = 8;
  ThreefoldSum parts[many];
  for (Index k = 0; k < count; ++k) add_one(a[k] * factor_a, b[k] * factor_b, parts[k % many]);
  for (const ThreefoldSum& part : parts) {
    sum.sum.merge(part.sum);
    sum.smallest = std::min(sum.smallest, part.smallest);
  }
}
void reduce_anywhere(const double* vectors, Index stride, const double* factors, Index count, const double* start,
                     ThreefoldLanes& lanes) {
  for (Index l = 0; l < threefold_lanes; ++l) {
    Surveyed all;
    ThreefoldSum sum;
    all.special = special_product(start[l], 1.0);
    double largest = std::abs(start[l]);
    sum.sum.add(start[l], 0.0);
    for (Index k = 0; k < count; ++k) {
      const double x = vectors[k * stride + l];
      all.special += special_product(-factors[k], x);
      largest = std::max(largest, std::abs(x * factors[k]));
      add_one(-factors[k], x, sum);
    }
    lanes.sum[l] = sum.sum;
    lanes.special[l] = all.special;
    lanes.smallest[l] = sum.smallest;
    lanes.largest[l] = largest;
  }
}

#ifdef HEDDLE_FMA

HEDDLE_FMA void add_compensated_by_vectors(const double* a, const double* b, Index count, Index columns,
                                           RowSums& sums) {
  for (Index c = 0; c < columns; ++c) {
    __m256d sum[2];
    __m256d lost[2];
    __m256d size[2];
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) sum[h] = lost[h] = size[h] = _mm256_setzero_pd();
    for (Index k = 0; k < count; ++k) {
      const __m256d y = _mm256_broadcast_sd(b + k * panel_width + c);
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const __m256d x = _mm256_loadu_pd(a + k * panel_width + 4 * h);
        const __m256d value = _mm256_mul_pd(x, y);
        const __m256d error = _mm256_fmsub_pd(x, y, value);
        const __m256d all = _mm256_add_pd(sum[h], value);
        const __m256d second = _mm256_sub_pd(all, sum[h]);
        const __m256d left =
            _mm256_add_pd(_mm256_sub_pd(sum[h], _mm256_sub_pd(all, second)), _mm256_sub_pd(value, second));
        const __m256d rest = _mm256_add_pd(left, error);
        sum[h] = all;
        lost[h] = _mm256_add_pd(lost[h], rest);
        size[h] = _mm256_add_pd(size[h], magnitude_of(rest));
      }
    }
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      _mm256_store_pd(sums.sum + c * panel_width + 4 * h, sum[h]);
      _mm256_store_pd(sums.lost + c * panel_width + 4 * h, lost[h]);
      _mm256_store_pd(sums.size + c * panel_width + 4 * h, size[h]);
    }
  }
  sums.terms = count;
}

// exact::impl::Threefold, four side by side.
struct FourThreefold {
  __m256d sum;
  __m256d lost;
  __m256d rest;
  __m256d size;
};
HEDDLE_FMA inline void begin(FourThreefold& four) {
  four.sum = four.lost = _mm256_set1_pd(-0.0);
  four.rest = four.size = _mm256_setzero_pd();
}
HEDDLE_FMA inline void two_sum(__m256d& x, __m256d& y) {
  const __m256d sum = _mm256_add_pd(x, y);
  const __m256d second = _mm256_sub_pd(sum, x);
  y = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(sum, second)), _mm256_sub_pd(y, second));
  x = sum;
}
HEDDLE_FMA inline void add(FourThreefold& four, __m256d value, __m256d error) {
  two_sum(four.sum, value);
  two_sum(four.lost, value);
  two_sum(four.lost, error);
  const __m256d left = _mm256_add_pd(value, error);
  four.rest = _mm256_add_pd(four.rest, left);
  four.size = _mm256_add_pd(four.size, magnitude_of(left));
}
HEDDLE_FMA inline void merge(FourThreefold& four, const FourThreefold& other) {
  add(four, other.sum, other.lost);
  four.rest = _mm256_add_pd(four.rest, other.rest);
  four.size = _mm256_add_pd(four.size, other.size);
}
// The product of x and y, and the smaller of `smallest` and that, unless x or y is zero.
HEDDLE_FMA inline void add_product(FourThreefold& four, __m256d x, __m256d y, __m256d& smallest) {
  const __m256d product = _mm256_mul_pd(x, y);
  const __m256d error = _mm256_fmsub_pd(x, y, product);
  const __m256d nothing = _mm256_setzero_pd();
  const __m256d of_zero = _mm256_or_pd(_mm256_cmp_pd(x, nothing, _CMP_EQ_OQ), _mm256_cmp_pd(y, nothing, _CMP_EQ_OQ));
  const __m256d size = _mm256_or_pd(magnitude_of(product), _mm256_and_pd(of_zero, _mm256_set1_pd(none_smaller)));
  smallest = _mm256_min_pd(size, smallest);
  add(four, product, error);
}
HEDDLE_FMA inline double smallest_of(__m256d x) {
  const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return std::min(_mm_cvtsd_f64(two), _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)));
}
template <int shuffled> HEDDLE_FMA inline FourThreefold turned(const FourThreefold& four) {
  return {_mm256_permute4x64_pd(four.sum, shuffled), _mm256_permute4x64_pd(four.lost, shuffled),
          _mm256_permute4x64_pd(four.rest, shuffled), _mm256_permute4x64_pd(four.size, shuffled)};
}
HEDDLE_FMA inline Threefold first_of(const FourThreefold& four) {
  Threefold one;
  one.sum = _mm256_cvtsd_f64(four.sum);
  one.lost = _mm256_cvtsd_f64(four.lost);
  one.rest = _mm256_cvtsd_f64(four.rest);
  one.size = _mm256_cvtsd_f64(four.size);
  return one;
}

// Products of which a factor is not finite, else 0.
HEDDLE_FMA inline __m256d special_products(__m256d x, __m256d y) {
  const __m256d nothing = _mm256_setzero_pd();
  const __m256d tried = _mm256_fmadd_pd(y, nothing, _mm256_mul_pd(x, nothing));
  return _mm256_and_pd(_mm256_cmp_pd(tried, tried, _CMP_UNORD_Q), _mm256_mul_pd(x, y));
}

struct FourSurveyed {
  __m256d special;
  __m256d largest_a;
  __m256d largest_b;
  __m256d smallest_a;
  __m256d smallest_b;
};
HEDDLE_FMA inline void count_in(__m256d x, __m256d& largest, __m256d& smallest) {
  const __m256d size = magnitude_of(x);
  const __m256d infinity = _mm256_set1_pd(none_smaller);
  const __m256d finite = _mm256_cmp_pd(size, infinity, _CMP_LT_OQ);
  largest = _mm256_max_pd(largest, _mm256_and_pd(size, finite));
  const __m256d zero = _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_EQ_OQ);
  smallest = _mm256_min_pd(_mm256_blendv_pd(size, infinity, zero), smallest);
}
HEDDLE_FMA Surveyed survey_by_vectors(const double* a, const double* b, Index count) {
  const __m256d infinity = _mm256_set1_pd(none_smaller);
  FourSurveyed all[2];
  for (auto& one : all) {
    one.special = one.largest_a = one.largest_b = _mm256_setzero_pd();
    one.smallest_a = one.smallest_b = infinity;
  }
  const Index whole = count / 8 * 8;
  for (Index k = 0; k < whole; k += 8) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m256d x = _mm256_loadu_pd(a + k + 4 * h);
      const __m256d y = _mm256_loadu_pd(b + k + 4 * h);
      all[h].special = _mm256_add_pd(all[h].special, special_products(x, y));
      count_in(x, all[h].largest_a, all[h].smallest_a);
      count_in(y, all[h].largest_b, all[h].smallest_b);
    }
  }
  Surveyed result;
  alignas(32) double special[4];
  _mm256_store_pd(special, _mm256_add_pd(all[0].special, all[1].special));
  result.special = special[0] + special[1] + special[2] + special[3];
  result.largest_a = largest_of(_mm256_max_pd(all[0].largest_a, all[1].largest_a));
  result.largest_b = largest_of(_mm256_max_pd(all[0].largest_b, all[1].largest_b));
  result.smallest_a = smallest_of(_mm256_min_pd(all[0].smallest_a, all[1].smallest_a));
  result.smallest_b = smallest_of(_mm256_min_pd(all[0].smallest_b, all[1].smallest_b));
  for (Index k = whole; k < count; ++k) survey_one(a[k], b[k], result);
  return result;
}

HEDDLE_FMA void add_by_vectors(const double* a, const double* b, Index count, double factor_a, double factor_b,
                               ThreefoldSum& sum) {
  FourThreefold all[2];
  begin(all[0]);
  begin(all[1]);
  __m256d smallest[2] = {_mm256_set1_pd(sum.smallest), _mm256_set1_pd(sum.smallest)};
  const __m256d of_a = _mm256_set1_pd(factor_a);
  const __m256d of_b = _mm256_set1_pd(factor_b);
  const Index whole = count / 8 * 8;
  const bool scaled = factor_a != 1.0 || factor_b != 1.0;
  for (Index k = 0; k < whole; k += 8) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      __m256d x = _mm256_loadu_pd(a + k + 4 * h);
      __m256d y = _mm256_loadu_pd(b + k + 4 * h);
      if (scaled) {
        x = _mm256_mul_pd(x, of_a);
        y = _mm256_mul_pd(y, of_b);
      }
      add_product(all[h], x, y, smallest[h]);
    }
  }
  if (whole < count) {
    // Terms of -0 are no others.
    alignas(32) double x[8];
    alignas(32) double y[8];
    for (Index l = 0; l < 8; ++l) {
      const bool there = whole + l < count;
      x[l] = there ? a[whole + l] * factor_a : -0.0;
      y[l] = there ? b[whole + l] * factor_b : 1.0;
    }
    add_product(all[0], _mm256_load_pd(x), _mm256_load_pd(y), smallest[0]);
    if (count - whole > 4) add_product(all[1], _mm256_load_pd(x + 4), _mm256_load_pd(y + 4), smallest[1]);
  }
  if (count > 4) merge(all[0], all[1]);
  merge(all[0], turned<0x4e>(all[0]));
  merge(all[0], turned<0xb1>(all[0]));
  sum.sum.merge(first_of(all[0]));
  sum.smallest = smallest_of(_mm256_min_pd(smallest[0], smallest[1]));
}

HEDDLE_FMA void reduce_by_vectors(const double* vectors, Index stride, const double* factors, Index count,
                                  const double* start, ThreefoldLanes& lanes) {
  constexpr int together = 2;
  for (Index first = 0; first < threefold_lanes; first += 4 * together) {
    FourThreefold all[together];
    __m256d special[together];
    __m256d smallest[together];
    __m256d largest[together];
#pragma GCC unroll 2
    for (int h = 0; h < together; ++h) {
      const __m256d own = _mm256_loadu_pd(start + first + 4 * h);
      begin(all[h]);
      add(all[h], own, _mm256_setzero_pd());
      special[h] = special_products(own, _mm256_set1_pd(1.0));
      smallest[h] = _mm256_set1_pd(0x1p1000);
      largest[h] = magnitude_of(own);
    }
    for (Index k = 0; k < count; ++k) {
      const __m256d y = _mm256_set1_pd(-factors[k]);
#pragma GCC unroll 2
      for (int h = 0; h < together; ++h) {
        const __m256d x = _mm256_loadu_pd(vectors + k * stride + first + 4 * h);
        special[h] = _mm256_add_pd(special[h], special_products(y, x));
        largest[h] = _mm256_max_pd(magnitude_of(_mm256_mul_pd(x, y)), largest[h]);
        add_product(all[h], y, x, smallest[h]);
      }
    }
#pragma GCC unroll 2
    for (int h = 0; h < together; ++h) {
      alignas(32) double members[4][4];
      _mm256_store_pd(members[0], all[h].sum);
      _mm256_store_pd(members[1], all[h].lost);
      _mm256_store_pd(members[2], all[h].rest);
      _mm256_store_pd(members[3], all[h].size);
      for (Index l = 0; l < 4; ++l) {
        Threefold& one = lanes.sum[first + 4 * h + l];
        one.sum = members[0][l];
        one.lost = members[1][l];
        one.rest = members[2][l];
        one.size = members[3][l];
      }
      _mm256_storeu_pd(lanes.special + first + 4 * h, special[h]);
      _mm256_storeu_pd(lanes.smallest + first + 4 * h, smallest[h]);
      _mm256_storeu_pd(lanes.largest + first + 4 * h, largest[h]);
    }
  }
}
#else
Surveyed survey_by_vectors(const double* a, const double* b, Index count) {
  return survey_anywhere(a, b, count);
}
void add_by_vectors(const double* a, const double* b, Index count, double factor_a, double factor_b,
                    ThreefoldSum& sum) {
  add_anywhere(a, b, count, factor_a, factor_b, sum);
}
void reduce_by_vectors(const double* vectors, Index stride, const double* factors, Index count, const double* start,
                       ThreefoldLanes& lanes) {
  reduce_anywhere(vectors, stride, factors, count, start, lanes);
}
#endif

#ifndef HEDDLE_FMA
void add_compensated_by_vectors(const double*, const double*, Index, Index, RowSums&) {}
#endif

}  // namespace

void add_compensated(const double* a, const double* b, Index count, Index columns, RowSums& sums) {
  add_compensated_by_vectors(a, b, count, columns, sums);
}

Surveyed survey(const double* a, const double* b, Index count) {
  return has_placed_sums() ? survey_by_vectors(a, b, count) : survey_anywhere(a, b, count);
}
void add_threefold(const double* a, const double* b, Index count, double factor_a, double factor_b, ThreefoldSum& sum) {
  if (has_placed_sums()) {
    add_by_vectors(a, b, count, factor_a, factor_b, sum);
  } else {
    add_anywhere(a, b, count, factor_a, factor_b, sum);
  }
}
void reduce_threefold(const double* vectors, Index stride, const double* factors, Index count, const double* start,
                      ThreefoldLanes& lanes) {
  if (has_placed_sums()) {
    reduce_by_vectors(vectors, stride, factors, count, start, lanes);
  } else {
    reduce_anywhere(vectors, stride, factors, count, start, lanes);
  }
}

}  // namespace heddle::impl::interpose
