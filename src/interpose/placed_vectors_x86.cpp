// Placed sums of vectors by the vectors of x86-64.
#include "interpose/placed_vectors.hpp"

#if defined(__x86_64__) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

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

// Vectors of `step` elements, the last one with zeros behind.
struct Pair {
  const double* x;
  const double* y;
  Index whole;
  Index rest;
  alignas(32) double last_x[step];
  alignas(32) double last_y[step];

  Pair(const double* given_x, const double* given_y, Index count)
      : x(given_x), y(given_y), whole(count / step), rest(count % step) {
    if (rest == 0) return;
    std::memset(last_x, 0, sizeof last_x);
    std::memset(last_y, 0, sizeof last_y);
    std::memcpy(last_x, x + whole * step, static_cast<std::size_t>(rest) * sizeof(double));
    std::memcpy(last_y, y + whole * step, static_cast<std::size_t>(rest) * sizeof(double));
  }
  [[nodiscard]] Index steps() const { return whole + (rest != 0 ? 1 : 0); }
};

// Of the first products, the largest.
HEDDLE_FMA double guess(const double* x, const double* y) {
  __m256d most = _mm256_setzero_pd();
  for (Index l = 0; l < step; l += 4) {
    most = _mm256_max_pd(most, magnitude_of(_mm256_mul_pd(_mm256_loadu_pd(x + l), _mm256_loadu_pd(y + l))));
  }
  return largest_of(most);
}
HEDDLE_FMA double largest(const double* x, Index steps) {
  __m256d most[abreast];
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) most[l] = _mm256_setzero_pd();
  for (Index s = 0; s < steps; ++s) {
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l)
      most[l] = _mm256_max_pd(most[l], magnitude_of(_mm256_loadu_pd(x + s * step + 4 * l)));
  }
  return largest_of(_mm256_max_pd(_mm256_max_pd(most[0], most[1]), _mm256_max_pd(most[2], most[3])));
}
// What no product is larger than.
double bound(const Pair& pair) {
  double x = largest(pair.x, pair.whole);
  double y = largest(pair.y, pair.whole);
  if (pair.rest != 0) {
    x = std::max(x, largest(pair.last_x, 1));
    y = std::max(y, largest(pair.last_y, 1));
  }
  return x * y;
}

struct Sums {
  __m256d high[abreast];
  __m256d low[abreast];
  __m256d changed;
};
HEDDLE_FMA inline void add_step(const double* x, const double* y, const __m256d& place, Sums& sums) {
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    const __m256d a = _mm256_loadu_pd(x + 4 * l);
    const __m256d b = _mm256_loadu_pd(y + 4 * l);
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
  for (Index s = 0; s < pair.whole; ++s) add_step(pair.x + s * step, pair.y + s * step, place, sums);
  if (pair.rest != 0) add_step(pair.last_x, pair.last_y, place, sums);
  __m256d most = _mm256_setzero_pd();
#pragma GCC unroll 4
  for (int l = 0; l < abreast; ++l) {
    sums.high[l] = _mm256_sub_pd(sums.high[l], place);
    most = _mm256_max_pd(most, magnitude_of(sums.high[l]));
  }
  const __m256i fields = _mm256_set1_epi64x(static_cast<std::int64_t>(std::uint64_t{0xfff} << 52));
  if (_mm256_testz_si256(_mm256_castpd_si256(sums.changed), fields) == 0 || !(largest_of(most) <= 0.125 * power)) {
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
      const __m256d size =
          _mm256_max_pd(_mm256_mul_pd(_mm256_load_pd(packed.largest + r + 4 * l), reach), _mm256_set1_pd(0x1p-900));
      const __m256d possible = _mm256_cmp_pd(size, _mm256_set1_pd(0x1p1000), _CMP_LT_OQ);
      const __m256i exponent =
          _mm256_and_si256(_mm256_castpd_si256(size), _mm256_set1_epi64x(std::int64_t{0x7ff} << 52));
      const __m256i at = _mm256_or_si256(_mm256_add_epi64(exponent, _mm256_set1_epi64x(std::int64_t{2} << 52)),
                                         _mm256_set1_epi64x(std::int64_t{1} << 51));
      // A NaN where it is not possible.
      place[l] =
          _mm256_or_pd(_mm256_castsi256_pd(at), _mm256_xor_pd(possible, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))));
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
      double* const sum_at = sums.sum + r + 4 * l;
      double* const lost_at = sums.lost + r + 4 * l;
      double* const size_at = sums.size + r + 4 * l;
      const __m256d x0 = _mm256_load_pd(sum_at);
      const __m256d value = _mm256_sub_pd(high[l], place[l]);
      // Compensated::add()
      const __m256d sum = _mm256_add_pd(x0, value);
      const __m256d second = _mm256_sub_pd(sum, x0);
      const __m256d off = _mm256_add_pd(_mm256_sub_pd(x0, _mm256_sub_pd(sum, second)), _mm256_sub_pd(value, second));
      const __m256d rest = _mm256_add_pd(off, low[l]);
      _mm256_store_pd(sum_at, sum);
      _mm256_store_pd(lost_at, _mm256_add_pd(_mm256_load_pd(lost_at), rest));
      const __m256d more = _mm256_fmadd_pd(place[l], error, magnitude_of(rest));
      _mm256_store_pd(size_at, _mm256_add_pd(_mm256_load_pd(size_at), more));
    }
  }
}

template <class T> void add_all_rows(const T* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  const Index padded = (rows + step - 1) / step * step;
  T copy[piece * RowSums::rows];
  for (Index k = 0; k < n; k += piece) {
    const Index count = std::min(piece, n - k);
    if (rows == padded) {
      add_piece(A + k * leading, leading, rows, count, x + k, sums);
      continue;
    }
    for (Index q = 0; q < count; ++q) {
      std::copy_n(A + (k + q) * leading, rows, copy + q * padded);
      std::fill_n(copy + q * padded + rows, padded - rows, T{0});
    }
    add_piece(copy, padded, padded, count, x + k, sums);
  }
  sums.terms = (n + piece - 1) / piece;
}

}  // namespace

bool add_placed(const double* x, const double* y, Index count, exact::Compensated& all) {
  const Pair pair(x, y, count);
  double high = 0.0;
  double low = 0.0;
  double error = 0.0;
  const double first = pair.whole > 0 ? guess(x, y) : guess(pair.last_x, pair.last_y);
  if (!add_at(pair, first, high, low, error) && !add_at(pair, bound(pair), high, low, error)) return false;
  all.add(high, low);
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

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

bool add_placed(const double*, const double*, Index, exact::Compensated&) {
  return false;
}
void add_rows(const double*, Index, Index, Index, const double*, RowSums&) {}
void add_rows(const float*, Index, Index, Index, const double*, RowSums&) {}

}  // namespace heddle::impl::interpose
#endif
