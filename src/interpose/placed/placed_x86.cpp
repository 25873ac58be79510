// Placed sums by the vectors of x86-64.
#include "interpose/placed/placed_x86.hpp"

#include "interpose/placed/placed_wide_x86.hpp"

#ifdef HEDDLE_FMA
namespace heddle::impl::interpose {
namespace {

HEDDLE_FMA __m256i magnitude(const double* x) {
  return _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
                          _mm256_set1_epi64x(std::int64_t{0x7fffffffffffffff}));
}
HEDDLE_FMA __m256i larger(__m256i x, __m256i y) {
  return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(x, y));
}
// The leading 14 bits of magnitudes below 2^(largest field's exponent).
HEDDLE_FMA __m256i leading(__m256i bits, __m256i largest_field) {
  const __m256i field = _mm256_srli_epi64(bits, 52);
  const __m256i denormal = _mm256_cmpeq_epi64(field, _mm256_setzero_si256());
  const __m256i one = _mm256_andnot_si256(denormal, _mm256_set1_epi64x(fraction_mask + 1));
  const __m256i mantissa = _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi64x(fraction_mask)), one);
  const __m256i last = _mm256_sub_epi64(field, denormal);
  const __m256i shift =
      _mm256_sub_epi64(_mm256_add_epi64(largest_field, _mm256_set1_epi64x(53 - norm_bits_kept)), last);
  return _mm256_srlv_epi64(mantissa, shift);
}
HEDDLE_FMA __m256i square_of(__m256i bits, __m256i leading_ones) {
  const __m256i zero = _mm256_cmpeq_epi64(bits, _mm256_setzero_si256());
  const __m256i q = _mm256_add_epi64(_mm256_add_epi64(leading_ones, _mm256_set1_epi64x(1)), zero);
  return _mm256_mul_epu32(q, q);
}
HEDDLE_FMA void store_leading(__m256i leading_ones, float* target) {
  const __m256i few = _mm256_srli_epi64(leading_ones, norm_bits_kept - probe_bits);
  const __m256i even = _mm256_permutevar8x32_epi32(few, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  _mm_storeu_ps(target, _mm_cvtepi32_ps(_mm256_castsi256_si128(even)));
}

// Four vectors of a panel.
HEDDLE_FMA bool measure_half(const double* panel, Index inner, int parts, float* near, std::uint64_t* squares,
                             int* exponents) {
  __m256i most = _mm256_setzero_si256();
  for (Index k = 0; k < inner * parts; ++k) most = larger(magnitude(panel + k * panel_width), most);
  alignas(32) std::int64_t all[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), most);
  if (!exponents_of(all, exponents)) return false;
  const __m256i field = _mm256_srli_epi64(most, 52);
  __m256i sum = _mm256_setzero_si256();
  for (Index k = 0; k < inner; ++k) {
    const __m256i re = magnitude(panel + k * panel_width);
    __m256i ones = leading(re, field);
    sum = _mm256_add_epi64(sum, square_of(re, ones));
    if (parts == 2) {
      const __m256i im = magnitude(panel + (k + inner) * panel_width);
      const __m256i others = leading(im, field);
      sum = _mm256_add_epi64(sum, square_of(im, others));
      ones = _mm256_max_epi32(ones, others);
    }
    store_leading(ones, near + k * panel_width);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(squares), sum);
  return true;
}

// 2^e, as PowerOfTwo has it.
HEDDLE_FMA __m256d power_of_two(__m128i e) {
  const __m256i biased = _mm256_add_epi64(_mm256_cvtepi32_epi64(e), _mm256_set1_epi64x(1023));
  return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
}

template <int columns>
HEDDLE_FMA void add_to_columns(const double* a, const double* b, Index count, double place, PlacedTile& tile,
                               Index first) {
  __m256d high[columns][2];
  __m256d low[columns][2];
#pragma GCC unroll 3
  for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      high[c][h] = place != 0.0 ? _mm256_set1_pd(place) : _mm256_load_pd(tile.high[first + c] + 4 * h);
      low[c][h] = place != 0.0 ? _mm256_setzero_pd() : _mm256_load_pd(tile.low[first + c] + 4 * h);
    }
  }
  for (Index k = 0; k < count; ++k) {
    const __m256d x[2] = {_mm256_loadu_pd(a + k * panel_width), _mm256_loadu_pd(a + k * panel_width + 4)};
#pragma GCC unroll 3
    for (int c = 0; c < columns; ++c) {
      const __m256d y = _mm256_broadcast_sd(b + k * panel_width + first + c);
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const __m256d sum = _mm256_fmadd_pd(x[h], y, high[c][h]);
        const __m256d added = _mm256_sub_pd(sum, high[c][h]);
        low[c][h] = _mm256_add_pd(low[c][h], _mm256_fmsub_pd(x[h], y, added));
        high[c][h] = sum;
      }
    }
  }
#pragma GCC unroll 3
  for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      _mm256_store_pd(tile.high[first + c] + 4 * h, high[c][h]);
      _mm256_store_pd(tile.low[first + c] + 4 * h, low[c][h]);
    }
  }
}

// Four sums; a bit for each that is known.
HEDDLE_FMA int round_half(const PlacedRounding& rounding, Index first, std::int64_t exponent, double* highs,
                          const double* lows, int& zeros) {
  const __m256d placed = _mm256_sub_pd(_mm256_load_pd(highs), _mm256_set1_pd(rounding.place));
  const __m256d lost = _mm256_load_pd(lows);
  const __m256d nothing = _mm256_setzero_pd();
  zeros = _mm256_movemask_pd(
      _mm256_and_pd(_mm256_cmp_pd(placed, nothing, _CMP_EQ_OQ), _mm256_cmp_pd(lost, nothing, _CMP_EQ_OQ)));
  Between all = between(placed, lost, _mm256_set1_pd(rounding.error), rounding.narrow);
  // Times 2^exponent, exactly: of normal numbers alone.
  const __m256i shift = _mm256_sub_epi64(
      _mm256_setzero_si256(),
      _mm256_add_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rounding.exponents + first)),
                       _mm256_set1_epi64x(exponent)));
  const __m256i own =
      _mm256_and_si256(_mm256_srli_epi64(_mm256_castpd_si256(all.least), 52), _mm256_set1_epi64x(0x7ff));
  const __m256i field = _mm256_add_epi64(own, shift);
  const __m256i within = _mm256_and_si256(_mm256_cmpgt_epi64(field, _mm256_set1_epi64x(2)),
                                          _mm256_cmpgt_epi64(_mm256_set1_epi64x(0x7fd), field));
  const __m256i normal = _mm256_and_si256(within, _mm256_cmpgt_epi64(own, _mm256_setzero_si256()));
  const __m256i times = _mm256_slli_epi64(shift, 52);
  all.least = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(all.least), times));
  all.most = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(all.most), times));
  __m256d known;
  _mm256_store_pd(highs, nearest_of(all, rounding.narrow, known));
  return _mm256_movemask_pd(_mm256_and_pd(known, _mm256_castsi256_pd(normal)));
}

// Four of the sums of lanes, from `first` on.
struct FourSums {
  __m256d place;
  __m256d high;
  __m256d low;
};
HEDDLE_FMA FourSums begin_lanes(const LaneSums& sums, Index first) {
  const __m256d start = _mm256_loadu_pd(sums.start + first);
  // A bound of the sum, and of all on the way.
  constexpr double rounded_up = 1.0 + 0x1p-30;
  const double factor = static_cast<double>(sums.count) * sums.largest_factor * rounded_up;
  const __m256d size = _mm256_mul_pd(magnitude_of(start), _mm256_set1_pd(rounded_up));
  FourSums four;
  four.place = place_for(_mm256_fmadd_pd(_mm256_loadu_pd(sums.largest + first), _mm256_set1_pd(factor), size), 2);
  four.high = _mm256_add_pd(four.place, start);
  four.low = _mm256_sub_pd(start, _mm256_sub_pd(four.high, four.place));
  return four;
}
HEDDLE_FMA inline void subtract_products(const LaneSums& sums, FourSums (&all)[LaneSums::lanes / 4]) {
  for (Index k = 0; k < sums.count; ++k) {
    const double* const x = sums.vectors + k * sums.stride;
    const __m256d y = _mm256_broadcast_sd(sums.factors + k);
#pragma GCC unroll 4
    for (int h = 0; h < LaneSums::lanes / 4; ++h) {
      const __m256d sum = _mm256_fnmadd_pd(_mm256_loadu_pd(x + 4 * h), y, all[h].high);
      const __m256d added = _mm256_sub_pd(sum, all[h].high);
      all[h].low = _mm256_add_pd(all[h].low, _mm256_fnmsub_pd(_mm256_loadu_pd(x + 4 * h), y, added));
      all[h].high = sum;
    }
  }
}
HEDDLE_FMA inline void subtract_by_wide_vectors(const LaneSums& sums, FourSums (&all)[LaneSums::lanes / 4]) {
  double high[LaneSums::lanes];
  double low[LaneSums::lanes];
#pragma GCC unroll 4
  for (int h = 0; h < LaneSums::lanes / 4; ++h) {
    _mm256_storeu_pd(high + 4 * h, all[h].high);
    _mm256_storeu_pd(low + 4 * h, all[h].low);
  }
  subtract_products_wide(sums, high, low);
#pragma GCC unroll 4
  for (int h = 0; h < LaneSums::lanes / 4; ++h) {
    all[h].high = _mm256_loadu_pd(high + 4 * h);
    all[h].low = _mm256_loadu_pd(low + 4 * h);
  }
}
HEDDLE_FMA int finish_lanes(const LaneSums& sums, const FourSums& four, double* result) {
  // Each of the terms loses at most 2^(e - 53), which is rounded, and added to at most so many times as much.
  const auto terms = static_cast<double>(sums.count + 1);
  const __m256d error = _mm256_mul_pd(four.place, _mm256_set1_pd(0.7 * 0x1p-106 * terms * (terms + 1.0)));
  __m256d known;
  const Between all = between(_mm256_sub_pd(four.high, four.place), four.low, error, sums.narrow);
  _mm256_storeu_pd(result, nearest_of(all, sums.narrow, known));
  return _mm256_movemask_pd(known);
}

}  // namespace

bool has_placed_sums() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

bool measure_panel(const double* panel, Index inner, int parts, float* leading, PanelMeasures& measures) {
  if (has_wide_vectors()) return measure_panel_wide(panel, inner, parts, leading, measures);
  return measure_half(panel, inner, parts, leading, measures.squares, measures.largest_exponents) &&
         measure_half(panel + 4, inner, parts, leading + 4, measures.squares + 4, measures.largest_exponents + 4);
}

HEDDLE_FMA unsigned quantise_panel(double* panel, Index count, const int (&scales)[panel_width], double unit) {
  // For few elements, sums in integers are as fast as this test.
  const bool asked = count >= 64;
  if (has_wide_vectors()) return quantise_panel_wide(panel, count, scales, unit, asked);
  unsigned multiples = 0;
  const __m256d inverse = _mm256_set1_pd(1.0 / unit);
  for (int h = 0; h < 2; ++h) {
    alignas(16) std::int32_t halves[4];
    alignas(16) std::int32_t rests[4];
    for (int v = 0; v < 4; ++v) {
      halves[v] = scales[4 * h + v] / 2;
      rests[v] = scales[4 * h + v] - halves[v];
    }
    const __m256d first = power_of_two(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
    const __m256d second = power_of_two(_mm_load_si128(reinterpret_cast<const __m128i*>(rests)));
    __m256d other = _mm256_setzero_pd();
    for (Index k = 0; k < count; ++k) {
      double* const x = panel + k * panel_width + 4 * h;
      const __m256d scaled = _mm256_mul_pd(_mm256_mul_pd(_mm256_loadu_pd(x), first), second);
      const __m256d integer = _mm256_round_pd(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      _mm256_storeu_pd(x, integer);
      if (!asked) continue;
      const __m256d units = _mm256_mul_pd(integer, inverse);
      const __m256d whole = _mm256_round_pd(units, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      other = _mm256_or_pd(other, _mm256_cmp_pd(units, whole, _CMP_NEQ_UQ));
    }
    if (asked) multiples |= static_cast<unsigned>(~_mm256_movemask_pd(other) & 0xf) << (4 * h);
  }
  return multiples;
}

HEDDLE_FMA bool panels_overlap(const float* a, const float* b, Index inner, const float (&least_a)[panel_width],
                               const float (&least_b)[panel_width]) {
  __m256 sum[panel_width];
#pragma GCC unroll 8
  for (int c = 0; c < panel_width; ++c) sum[c] = _mm256_setzero_ps();
  // Mostly half of the elements tell.
  const Index half = inner <= 64 ? inner : inner / 2;
  for (Index begin = 0, end = half; begin < inner; begin = end, end = inner) {
    for (Index k = begin; k < end; ++k) {
      const __m256 x = _mm256_loadu_ps(a + k * panel_width);
#pragma GCC unroll 8
      for (int c = 0; c < panel_width; ++c) {
        sum[c] = _mm256_fmadd_ps(x, _mm256_broadcast_ss(b + k * panel_width + c), sum[c]);
      }
    }
    const __m256 least = _mm256_loadu_ps(least_a);
    int enough = 0xff;
#pragma GCC unroll 8
    for (int c = 0; c < panel_width; ++c) {
      const __m256 wanted = _mm256_mul_ps(least, _mm256_broadcast_ss(least_b + c));
      enough &= _mm256_movemask_ps(_mm256_cmp_ps(sum[c], wanted, _CMP_GE_OQ));
    }
    if (enough == 0xff) return true;
  }
  return false;
}

HEDDLE_FMA void add_tile_spread(const float* a, const float* b, Index inner, const double (&squares_a)[panel_width],
                                const double (&squares_b)[panel_width], double unit, TileSpread& spread) {
  const __m256d units = _mm256_set1_pd(unit);
  const __m256d nothing = _mm256_setzero_pd();
  __m256d most = _mm256_set1_pd(spread.square);
  spread.undecided = 0;
  for (int c = 0; c < panel_width; ++c) {
    // Sums of integers below 2^24.
    __m256 sum = _mm256_setzero_ps();
    for (Index k = 0; k < inner; ++k) {
      sum = _mm256_fmadd_ps(_mm256_loadu_ps(a + k * panel_width), _mm256_broadcast_ss(b + k * panel_width + c), sum);
    }
    const __m256d of_column = _mm256_set1_pd(squares_b[c]);
    for (int h = 0; h < 2; ++h) {
      const __m256d own = _mm256_cvtps_pd(h == 0 ? _mm256_castps256_ps128(sum) : _mm256_extractf128_ps(sum, 1));
      const __m256d squares = _mm256_mul_pd(_mm256_loadu_pd(squares_a + 4 * h), of_column);
      const __m256d empty = _mm256_cmp_pd(own, nothing, _CMP_EQ_OQ);
      const __m256d open = _mm256_and_pd(empty, _mm256_cmp_pd(squares, nothing, _CMP_NEQ_OQ));
      const __m256d ratio = _mm256_div_pd(_mm256_mul_pd(squares, units), _mm256_mul_pd(own, own));
      most = _mm256_max_pd(most, _mm256_andnot_pd(empty, ratio));
      spread.undecided |= static_cast<std::uint64_t>(_mm256_movemask_pd(open)) << (panel_width * c + 4 * h);
    }
  }
  spread.square = largest_of(most);
}

void add_products(const double* a, const double* b, Index count, Index columns, double place, PlacedTile& tile) {
  if (has_wide_vectors()) {
    add_products_wide(a, b, count, columns, place, tile);
    return;
  }
  Index c = 0;
  for (; c + 3 <= columns; c += 3) add_to_columns<3>(a, b, count, place, tile, c);
  if (columns - c == 2) add_to_columns<2>(a, b, count, place, tile, c);
  if (columns - c == 1) add_to_columns<1>(a, b, count, place, tile, c);
}

HEDDLE_FMA std::uint64_t round_tile(const PlacedRounding& rounding, Index columns, PlacedTile& tile,
                                    std::uint64_t& zeros) {
  if (has_wide_vectors()) return round_tile_wide(rounding, columns, tile, zeros);
  std::uint64_t known = 0;
  zeros = 0;
  for (Index c = 0; c < columns; ++c) {
    const std::int64_t exponent = rounding.exponents_b[c];
    int empty[2];
    const int first = round_half(rounding, 0, exponent, tile.high[c], tile.low[c], empty[0]);
    const int second = round_half(rounding, 4, exponent, tile.high[c] + 4, tile.low[c] + 4, empty[1]);
    known |= static_cast<std::uint64_t>(first | second << 4) << (panel_width * c);
    zeros |= static_cast<std::uint64_t>(empty[0] | empty[1] << 4) << (panel_width * c);
  }
  return known;
}

HEDDLE_FMA unsigned reduce_lanes(const LaneSums& sums, double* result) {
  constexpr int fours = LaneSums::lanes / 4;
  FourSums all[fours];
#pragma GCC unroll 4
  for (int h = 0; h < fours; ++h) all[h] = begin_lanes(sums, 4 * h);
  if (has_wide_vectors()) {
    subtract_by_wide_vectors(sums, all);
  } else {
    subtract_products(sums, all);
  }
  unsigned known = 0;
#pragma GCC unroll 4
  for (int h = 0; h < fours; ++h) {
    known |= static_cast<unsigned>(finish_lanes(sums, all[h], result + 4 * h)) << (4 * h);
  }
  return known;
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

bool has_placed_sums() {
  return false;
}
bool measure_panel(const double*, Index, int, float*, PanelMeasures&) {
  return false;
}
unsigned quantise_panel(double*, Index, const int (&)[panel_width], double) {
  return 0;
}
bool panels_overlap(const float*, const float*, Index, const float (&)[panel_width], const float (&)[panel_width]) {
  return false;
}
void add_tile_spread(const float*, const float*, Index, const double (&)[panel_width], const double (&)[panel_width],
                     double, TileSpread&) {}
void add_products(const double*, const double*, Index, Index, double, PlacedTile&) {}
std::uint64_t round_tile(const PlacedRounding&, Index, PlacedTile&, std::uint64_t&) {
  return 0;
}

unsigned reduce_lanes(const LaneSums&, double*) {
  return 0;
}

}  // namespace heddle::impl::interpose
#endif
