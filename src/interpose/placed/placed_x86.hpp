// Definitions that placed sums by the vectors of x86-64 share; empty on other processors.
#pragma once

#include "interpose/placed/placed_vectors.hpp"

#if defined(__x86_64__) && !defined(HEDDLE_PORTABLE_SUMS) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Functions that has_placed_sums() speaks of.
#define HEDDLE_FMA __attribute__((target("avx2,fma")))

namespace heddle::impl::interpose {

/// Vectors of four sums that advance together.
inline constexpr int abreast = 4;
inline constexpr Index step = 4 * abreast;

HEDDLE_FMA inline __m256d magnitude_of(__m256d x) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}
HEDDLE_FMA inline double largest_of(__m256d x) {
  const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return std::max(_mm_cvtsd_f64(two), _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)));
}
HEDDLE_FMA inline __m256d load_four(const double* x) {
  return _mm256_loadu_pd(x);
}
HEDDLE_FMA inline __m256d load_four(const float* x) {
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

inline constexpr std::int64_t fraction_mask = (std::int64_t{1} << 52) - 1;
inline constexpr std::int64_t infinity_bits = std::int64_t{0x7ff} << 52;
/// Numbers of leading bits of a vector's elements that are squared and that are looked at.
inline constexpr int norm_bits_kept = 14;
inline constexpr int probe_bits = 7;

/// e with 2^(e - 1) <= x < 2^e of the bits of largest magnitudes, -1073 of zeros. False where one is infinite, no
/// number, or below the normal ones.
template <std::size_t count> [[nodiscard]] bool exponents_of(const std::int64_t (&largest)[count], int* exponents) {
  for (const std::int64_t bits : largest) {
    if (bits >= infinity_bits || (bits != 0 && bits <= fraction_mask)) return false;
    *exponents++ = bits == 0 ? -1073 : static_cast<int>(bits >> 52) - 1022;
  }
  return true;
}

/// The first `count` of `step` numbers, zeros behind them.
struct First {
  __m256i lanes[abreast];
  HEDDLE_FMA explicit First(Index count) {
    const __m256i all = _mm256_set1_epi64x(count);
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) {
      lanes[l] = _mm256_cmpgt_epi64(all, _mm256_setr_epi64x(4 * l, 4 * l + 1, 4 * l + 2, 4 * l + 3));
    }
  }
};

/// Return an upper bound of a vector's magnitudes.
HEDDLE_FMA inline double largest(const double* x, Index count) {
  __m256d most[abreast];
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) most[l] = _mm256_setzero_pd();
  const Index whole = count / step * step;
  for (Index k = 0; k < whole; k += step) {
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) most[l] = _mm256_max_pd(most[l], magnitude_of(_mm256_loadu_pd(x + k + 4 * l)));
  }
  double result = largest_of(_mm256_max_pd(_mm256_max_pd(most[0], most[1]), _mm256_max_pd(most[2], most[3])));
  for (Index k = whole; k < count; ++k) result = std::max(result, std::abs(x[k]));
  return result;
}

/// Whether no sum has left its place.
HEDDLE_FMA inline bool stayed(const __m256d& changed) {
  const __m256i fields = _mm256_set1_epi64x(static_cast<std::int64_t>(std::uint64_t{0xfff} << 52));
  return _mm256_testz_si256(_mm256_castpd_si256(changed), fields) != 0;
}

/// Adds value + low to four sums, as Compensated does, and what they are off by to their sizes.
HEDDLE_FMA inline void merge(const __m256d& value, const __m256d& low, const __m256d& off, Index first, RowSums& sums) {
  const __m256d x = _mm256_load_pd(sums.sum + first);
  const __m256d sum = _mm256_add_pd(x, value);
  const __m256d second = _mm256_sub_pd(sum, x);
  const __m256d error = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(sum, second)), _mm256_sub_pd(value, second));
  const __m256d rest = _mm256_add_pd(error, low);
  _mm256_store_pd(sums.sum + first, sum);
  _mm256_store_pd(sums.lost + first, _mm256_add_pd(_mm256_load_pd(sums.lost + first), rest));
  const __m256d more = _mm256_add_pd(off, magnitude_of(rest));
  _mm256_store_pd(sums.size + first, _mm256_add_pd(_mm256_load_pd(sums.size + first), more));
}
/// Return the place where four sums below `size` begin: 1.5 2^e, 2^e above `times` / 2 of it, times a power of two from
/// 4 on; a NaN where there is no such place.
HEDDLE_FMA inline __m256d place_for(const __m256d& size, std::int64_t log2_times) {
  const __m256d above = _mm256_max_pd(size, _mm256_set1_pd(0x1p-900));
  const __m256d possible = _mm256_cmp_pd(above, _mm256_set1_pd(0x1p1000), _CMP_LT_OQ);
  const __m256i exponent = _mm256_and_si256(_mm256_castpd_si256(above), _mm256_set1_epi64x(std::int64_t{0x7ff} << 52));
  const __m256i power = _mm256_add_epi64(exponent, _mm256_set1_epi64x(log2_times << 52));
  const __m256d place = _mm256_castsi256_pd(_mm256_or_si256(power, _mm256_set1_epi64x(std::int64_t{1} << 51)));
  return _mm256_blendv_pd(_mm256_set1_pd(std::numeric_limits<double>::quiet_NaN()), place, possible);
}

/// Four sums x + y, off by `error` at most: they lie between `least` and `most`, all of which round to floats as to
/// doubles first where `narrow`.
struct Between {
  __m256d least;
  __m256d most;
};
HEDDLE_FMA inline Between between(const __m256d& x, const __m256d& y, const __m256d& error, bool narrow) {
  Between all;
  // two_sum()
  const __m256d high = _mm256_add_pd(x, y);
  const __m256d second = _mm256_sub_pd(high, x);
  const __m256d low = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(high, second)), _mm256_sub_pd(y, second));
  const __m256d off = _mm256_fmadd_pd(_mm256_set1_pd(0x1p-51), magnitude_of(low), error);
  all.least = _mm256_add_pd(high, _mm256_sub_pd(low, off));
  all.most = _mm256_add_pd(high, _mm256_add_pd(low, off));
  if (narrow) {
    // Out of the way of a tie, unless they are exact.
    const __m256d inexact = _mm256_cmp_pd(off, _mm256_setzero_pd(), _CMP_NEQ_UQ);
    const __m256d away = _mm256_and_pd(inexact, _mm256_mul_pd(magnitude_of(high), _mm256_set1_pd(0x1p-50)));
    all.least = _mm256_sub_pd(all.least, away);
    all.most = _mm256_add_pd(all.most, away);
  }
  return all;
}
/// The numbers nearest to the sums; `known` of those that are known for sure, which are neither infinite nor zero,
/// whose sign would be open.
HEDDLE_FMA inline __m256d nearest_of(const Between& all, bool narrow, __m256d& known) {
  const __m256d least = narrow ? _mm256_cvtps_pd(_mm256_cvtpd_ps(all.least)) : all.least;
  const __m256d most = narrow ? _mm256_cvtps_pd(_mm256_cvtpd_ps(all.most)) : all.most;
  const __m256d finite =
      _mm256_cmp_pd(magnitude_of(least), _mm256_set1_pd(std::numeric_limits<double>::infinity()), _CMP_LT_OQ);
  const __m256d alike = _mm256_and_pd(_mm256_cmp_pd(least, most, _CMP_EQ_OQ), finite);
  known = _mm256_and_pd(alike, _mm256_cmp_pd(least, _mm256_setzero_pd(), _CMP_NEQ_OQ));
  return least;
}

}  // namespace heddle::impl::interpose
#endif
