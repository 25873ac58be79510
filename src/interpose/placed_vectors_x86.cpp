// Placed sums of vectors by the vectors of x86-64.
#include "interpose/placed_vectors.hpp"

#if defined(__x86_64__) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#define HEDDLE_FMA __attribute__((target("avx2,fma")))

namespace heddle::impl::interpose {
namespace {

constexpr int abreast = 4;  // Vectors of four sums.
constexpr Index step = 4 * abreast;

HEDDLE_FMA __m256d magnitude_of(__m256d x) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}
HEDDLE_FMA double largest_of(__m256d x) {
  const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return std::max(_mm_cvtsd_f64(two), _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)));
}
HEDDLE_FMA double sum_of(__m256d x) {
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// The first `count` of `step` numbers, zeros behind them.
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

// Of the first products, the largest.
HEDDLE_FMA double guess(const Pair& pair) {
  __m256d most = _mm256_setzero_pd();
  const First first(pair.whole > 0 ? step : pair.rest);
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    const __m256d a = _mm256_maskload_pd(pair.x + 4 * l, first.lanes[l]);
    most = _mm256_max_pd(most, magnitude_of(_mm256_mul_pd(a, _mm256_maskload_pd(pair.y + 4 * l, first.lanes[l]))));
  }
  return largest_of(most);
}
// What no magnitude of a vector is larger than.
HEDDLE_FMA double largest(const double* x, Index count) {
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

struct Sums {
  __m256d high[abreast];
  __m256d low[abreast];
  __m256d changed;
};
template <bool whole>
HEDDLE_FMA inline void add_step(const double* x, const double* y, const First& first, const __m256d& place,
                                Sums& sums) {
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    const __m256d a = whole ? _mm256_loadu_pd(x + 4 * l) : _mm256_maskload_pd(x + 4 * l, first.lanes[l]);
    const __m256d b = whole ? _mm256_loadu_pd(y + 4 * l) : _mm256_maskload_pd(y + 4 * l, first.lanes[l]);
    const __m256d sum = _mm256_fmadd_pd(a, b, sums.high[l]);
    const __m256d added = _mm256_sub_pd(sum, sums.high[l]);
    sums.low[l] = _mm256_add_pd(sums.low[l], _mm256_fmsub_pd(a, b, added));
    sums.high[l] = sum;
    sums.changed = _mm256_or_pd(sums.changed, _mm256_xor_pd(sum, place));
  }
}

// Whether no sum has left its place.
HEDDLE_FMA inline bool stayed(const __m256d& changed) {
  const __m256i fields = _mm256_set1_epi64x(static_cast<std::int64_t>(std::uint64_t{0xfff} << 52));
  return _mm256_testz_si256(_mm256_castpd_si256(changed), fields) != 0;
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
  const First rest(pair.rest);
  const Index end = pair.whole * step;
  for (Index k = 0; k < end; k += step) add_step<true>(pair.x + k, pair.y + k, rest, place, sums);
  if (pair.rest != 0) add_step<false>(pair.x + end, pair.y + end, rest, place, sums);
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

HEDDLE_FMA __m256d load_four(const double* x) {
  return _mm256_loadu_pd(x);
}
HEDDLE_FMA __m256d load_four(const float* x) {
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

constexpr Index piece = 32;  // Columns of rows that are added at one place.

// Adds value + low to four sums, as Compensated does, and what they are off by to their sizes.
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
// Where four sums below `size` begin: 1.5 2^e, 2^e above `times` / 2 of it, times a power of two from 4 on; a NaN where
// there is no such place.
HEDDLE_FMA inline __m256d place_for(const __m256d& size, std::int64_t log2_times) {
  const __m256d above = _mm256_max_pd(size, _mm256_set1_pd(0x1p-900));
  const __m256d possible = _mm256_cmp_pd(above, _mm256_set1_pd(0x1p1000), _CMP_LT_OQ);
  const __m256i exponent = _mm256_and_si256(_mm256_castpd_si256(above), _mm256_set1_epi64x(std::int64_t{0x7ff} << 52));
  const __m256i power = _mm256_add_epi64(exponent, _mm256_set1_epi64x(log2_times << 52));
  const __m256d place = _mm256_castsi256_pd(_mm256_or_si256(power, _mm256_set1_epi64x(std::int64_t{1} << 51)));
  return _mm256_blendv_pd(_mm256_set1_pd(std::numeric_limits<double>::quiet_NaN()), place, possible);
}
// Rows of some columns, `step` side by side, and the largest of each.
struct Packed {
  alignas(32) double numbers[RowSums::rows / step][piece][step];
  alignas(32) double largest[RowSums::rows];
};
template <int many, class T> HEDDLE_FMA void pack(const T* A, Index leading, Index column, Index rows, Packed& packed) {
  for (Index r = 0; r < rows; r += 4) {
    __m256d most = _mm256_load_pd(packed.largest + r);
#pragma GCC unroll 4
    for (int q = 0; q < many; ++q) {
      const __m256d a = load_four(A + (column + q) * leading + r);
      most = _mm256_max_pd(most, magnitude_of(a));
      _mm256_store_pd(&packed.numbers[r / step][column + q][r % step], a);
    }
    _mm256_store_pd(packed.largest + r, most);
  }
}

// Up to `piece` columns of rows, of which there are a multiple of `step`.
template <class T>
HEDDLE_FMA void add_piece(const T* A, Index leading, Index rows, Index count, const double* x, RowSums& sums) {
  Packed packed;
  double most_x = 0.0;
  for (Index k = 0; k < count; ++k) most_x = std::max(most_x, std::abs(x[k]));
  for (Index r = 0; r < rows; r += 4) _mm256_store_pd(packed.largest + r, _mm256_setzero_pd());
  Index column = 0;
  for (; column + 4 <= count; column += 4) pack<4>(A, leading, column, rows, packed);
  for (; column < count; ++column) pack<1>(A, leading, column, rows, packed);
  const auto terms = static_cast<double>(count);
  const __m256d reach = _mm256_set1_pd(terms * most_x * (1.0 + 0x1p-30));
  const __m256d error = _mm256_set1_pd(0.7 * 0x1p-106 * terms * (terms + 1.0) * 0x1p46);
  for (Index r = 0; r < rows; r += step) {
    __m256d place[abreast];
    __m256d high[abreast];
    __m256d low[abreast];
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) {
      place[l] = place_for(_mm256_mul_pd(_mm256_load_pd(packed.largest + r + 4 * l), reach), 2);
      high[l] = place[l];
      low[l] = _mm256_setzero_pd();
    }
    for (Index k = 0; k < count; ++k) {
      const __m256d y = _mm256_broadcast_sd(x + k);
#pragma GCC unroll 4
      for (int l = 0; l < abreast; ++l) {
        const __m256d a = _mm256_load_pd(&packed.numbers[r / step][k][4 * l]);
        const __m256d sum = _mm256_fmadd_pd(a, y, high[l]);
        const __m256d added = _mm256_sub_pd(sum, high[l]);
        low[l] = _mm256_add_pd(low[l], _mm256_fmsub_pd(a, y, added));
        high[l] = sum;
      }
    }
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) {
      merge(_mm256_sub_pd(high[l], place[l]), low[l], _mm256_mul_pd(place[l], error), r + 4 * l, sums);
    }
  }
}

// The same at places that the first columns let expect; false, and nothing done, where sums leave them.
template <int many, class T>
HEDDLE_FMA void add_group(const T* A, Index leading, Index rows, const double* x, const double* place, double* high,
                          double* low, __m256d& changed) {
  constexpr std::uintptr_t bytes = sizeof(T);
  for (Index r = 0; r < rows; r += 4) {
    __m256d h = _mm256_load_pd(high + r);
    __m256d l = _mm256_load_pd(low + r);
    const __m256d at = _mm256_load_pd(place + r);
    if (many == 4) {
      // The next columns, a line of each for two vectors of rows.
      const auto next = reinterpret_cast<std::uintptr_t>(A) + bytes * ((r % 8 == 0 ? 4 : 6) * leading + r);
      _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(next + bytes * leading), _MM_HINT_T0);
    }
#pragma GCC unroll 4
    for (int q = 0; q < many; ++q) {
      const __m256d a = load_four(A + q * leading + r);
      const __m256d y = _mm256_broadcast_sd(x + q);
      const __m256d sum = _mm256_fmadd_pd(a, y, h);
      const __m256d added = _mm256_sub_pd(sum, h);
      l = _mm256_add_pd(l, _mm256_fmsub_pd(a, y, added));
      h = sum;
      changed = _mm256_or_pd(changed, _mm256_xor_pd(h, at));
    }
    _mm256_store_pd(high + r, h);
    _mm256_store_pd(low + r, l);
  }
}
template <class T>
HEDDLE_FMA bool add_where_expected(const T* A, Index leading, Index rows, Index count, const double* x, RowSums& sums) {
  alignas(32) double place[RowSums::rows];
  alignas(32) double high[RowSums::rows];
  alignas(32) double low[RowSums::rows];
  const auto terms = static_cast<double>(count);
  const __m256d reach = _mm256_set1_pd(terms * largest(x, count));
  const Index seen = std::min<Index>(count, 4);
  for (Index r = 0; r < rows; r += 4) {
    __m256d most = _mm256_setzero_pd();
    for (Index q = 0; q < seen; ++q) most = _mm256_max_pd(most, magnitude_of(load_four(A + q * leading + r)));
    const __m256d at = place_for(_mm256_mul_pd(most, reach), 3);
    _mm256_store_pd(place + r, at);
    _mm256_store_pd(high + r, at);
    _mm256_store_pd(low + r, _mm256_setzero_pd());
  }
  __m256d changed = _mm256_setzero_pd();
  Index k = 0;
  for (; k + 4 <= count; k += 4) add_group<4>(A + k * leading, leading, rows, x + k, place, high, low, changed);
  for (; k < count; ++k) add_group<1>(A + k * leading, leading, rows, x + k, place, high, low, changed);
  if (!stayed(changed)) return false;
  const __m256d error = _mm256_set1_pd(0.7 * 0x1p-106 * terms * (terms + 1.0) * 0x1p46);
  for (Index r = 0; r < rows; r += 4) {
    const __m256d at = _mm256_load_pd(place + r);
    merge(_mm256_sub_pd(_mm256_load_pd(high + r), at), _mm256_load_pd(low + r), _mm256_mul_pd(at, error), r, sums);
  }
  return true;
}

template <class T> void add_some(const T* A, Index leading, Index rows, Index count, const double* x, RowSums& sums) {
  if (!add_where_expected(A, leading, rows, count, x, sums)) add_piece(A, leading, rows, count, x, sums);
}

template <class T> void add_all_rows(const T* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  const Index padded = (rows + step - 1) / step * step;
  T copy[piece * RowSums::rows];
  for (Index k = 0; k < n; k += piece) {
    const Index count = std::min(piece, n - k);
    if (rows == padded) {
      add_some(A + k * leading, leading, rows, count, x + k, sums);
      continue;
    }
    for (Index q = 0; q < count; ++q) {
      std::copy_n(A + (k + q) * leading, rows, copy + q * padded);
      std::fill_n(copy + q * padded + rows, padded - rows, T{0});
    }
    add_some(copy, padded, padded, count, x + k, sums);
  }
  sums.terms = (n + piece - 1) / piece;
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

void add_rows(const double* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  add_all_rows(A, leading, rows, n, x, sums);
}
void add_rows(const float* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  add_all_rows(A, leading, rows, n, x, sums);
}

void add_columns(const double* A, Index leading, Index columns, Index n, const double* x, RowSums& sums) {
  for (Index k = 0; k < n; k += placed_at_once) {
    const Index count = std::min(placed_at_once, n - k);
    const double most_x = largest(x + k, count);
    for (Index j = 0; j < columns; j += 4) {
      const double* const four = A + k + j * leading;
      if (!add_four_columns(four, leading, count, x + k, most_x, j, false, sums) &&
          !add_four_columns(four, leading, count, x + k, most_x, j, true, sums)) {
        lose_four(j, sums);
      }
    }
  }
  sums.terms = (n + placed_at_once - 1) / placed_at_once;
}

HEDDLE_FMA void round_rows(const RowSums& sums, Index rows, double absolute, bool narrow, double* result, bool* known) {
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256d each = _mm256_set1_pd(0x1p-52 * (static_cast<double>(2 * sums.terms) + 64.0));
  for (Index r = 0; r < rows; r += 4) {
    // Compensated::rounds_to()
    const __m256d x = _mm256_load_pd(sums.sum + r);
    const __m256d y = _mm256_load_pd(sums.lost + r);
    const __m256d high = _mm256_add_pd(x, y);
    const __m256d second = _mm256_sub_pd(high, x);
    const __m256d low = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(high, second)), _mm256_sub_pd(y, second));
    const __m256d of_size = _mm256_fmadd_pd(each, _mm256_load_pd(sums.size + r), _mm256_set1_pd(absolute));
    const __m256d off = _mm256_fmadd_pd(_mm256_set1_pd(0x1p-51), magnitude_of(low), of_size);
    __m256d least = _mm256_add_pd(high, _mm256_sub_pd(low, off));
    __m256d most = _mm256_add_pd(high, _mm256_add_pd(low, off));
    if (narrow) {
      const __m256d away = _mm256_mul_pd(_mm256_andnot_pd(sign, high), _mm256_set1_pd(0x1p-50));
      least = _mm256_cvtps_pd(_mm256_cvtpd_ps(_mm256_sub_pd(least, away)));
      most = _mm256_cvtps_pd(_mm256_cvtpd_ps(_mm256_add_pd(most, away)));
    }
    const __m256d finite =
        _mm256_cmp_pd(magnitude_of(least), _mm256_set1_pd(std::numeric_limits<double>::infinity()), _CMP_LT_OQ);
    const __m256d decided =
        _mm256_and_pd(_mm256_cmp_pd(least, most, _CMP_EQ_OQ), _mm256_cmp_pd(high, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    const int all = _mm256_movemask_pd(_mm256_and_pd(decided, finite));
    _mm256_storeu_pd(result + r, least);
    for (Index l = 0; l < 4; ++l) known[r + l] = (all >> l & 1) != 0;
  }
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

bool add_placed(const double*, const double*, Index, exact::Compensated&) {
  return false;
}
void add_rows(const double*, Index, Index, Index, const double*, RowSums&) {}
void add_rows(const float*, Index, Index, Index, const double*, RowSums&) {}

void add_columns(const double*, Index, Index, Index, const double*, RowSums&) {}
void round_rows(const RowSums&, Index, double, bool, double*, bool*) {}

}  // namespace heddle::impl::interpose
#endif
