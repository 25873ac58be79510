// The innermost loops of placed sums by vectors of eight doubles (AVX-512).
#include "interpose/placed/placed_wide_x86.hpp"

#include "interpose/placed/placed_x86.hpp"

#if defined(HEDDLE_FMA) && !defined(HEDDLE_NARROW_VECTORS)

// GCC 12 warns of what its own header leaves undefined for results without a mask.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

/// Functions that has_wide_vectors() speaks of.
#define HEDDLE_WIDE __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))

namespace heddle::impl::interpose {
namespace {

constexpr Index lanes = 8;

// high + low + x y, of which high takes what its place leaves.
HEDDLE_WIDE inline void add_product(__m512d x, __m512d y, __m512d& high, __m512d& low) {
  const __m512d sum = _mm512_fmadd_pd(x, y, high);
  low = _mm512_add_pd(low, _mm512_fmsub_pd(x, y, _mm512_sub_pd(sum, high)));
  high = sum;
}
template <int columns>
HEDDLE_WIDE void add_to_columns(const double* a, const double* b, Index count, double place, PlacedTile& tile,
                                Index first) {
  static_assert(panel_width == lanes);
  __m512d high[columns];
  __m512d low[columns];
#pragma GCC unroll 8
  for (int c = 0; c < columns; ++c) {
    high[c] = place != 0.0 ? _mm512_set1_pd(place) : _mm512_load_pd(tile.high[first + c]);
    low[c] = place != 0.0 ? _mm512_setzero_pd() : _mm512_load_pd(tile.low[first + c]);
  }
  for (Index k = 0; k < count; ++k) {
    const __m512d x = _mm512_loadu_pd(a + k * panel_width);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
      add_product(x, _mm512_set1_pd(b[k * panel_width + first + c]), high[c], low[c]);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; ++c) {
    _mm512_store_pd(tile.high[first + c], high[c]);
    _mm512_store_pd(tile.low[first + c], low[c]);
  }
}

HEDDLE_WIDE inline __m512d whole_part(__m512d x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
HEDDLE_WIDE inline __m512d nearest_integer(__m512d x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HEDDLE_WIDE inline __m512d from_integers(const int* x) {
  return _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}

// The leading 14 bits of magnitudes below 2^largest as numbers; adds the squares of those raised to the next integer,
// unless x is 0.
HEDDLE_WIDE inline __m512d leading_bits(__m512d x, __m512d largest, __m512d& squares) {
  const __m512d scaled = _mm512_scalef_pd(_mm512_abs_pd(x), _mm512_sub_pd(_mm512_set1_pd(norm_bits_kept), largest));
  const __m512d bits = whole_part(scaled);
  const __mmask8 there = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_NEQ_UQ);
  const __m512d raised = _mm512_mask_add_pd(bits, there, bits, _mm512_set1_pd(1.0));
  squares = _mm512_fmadd_pd(raised, raised, squares);
  return bits;
}

// Counterpart of Between (four sums), in the form that nearest_of() takes.
struct WideBetween {
  __m512d least;
  __m512d most;
};
HEDDLE_WIDE inline WideBetween between(__m512d x, __m512d y, __m512d error, bool narrow) {
  WideBetween all;
  const __m512d high = _mm512_add_pd(x, y);
  const __m512d second = _mm512_sub_pd(high, x);
  const __m512d low = _mm512_add_pd(_mm512_sub_pd(x, _mm512_sub_pd(high, second)), _mm512_sub_pd(y, second));
  const __m512d off = _mm512_fmadd_pd(_mm512_set1_pd(0x1p-51), _mm512_abs_pd(low), error);
  all.least = _mm512_add_pd(high, _mm512_sub_pd(low, off));
  all.most = _mm512_add_pd(high, _mm512_add_pd(low, off));
  if (narrow) {
    const __mmask8 inexact = _mm512_cmp_pd_mask(off, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    const __m512d away = _mm512_maskz_mul_pd(inexact, _mm512_abs_pd(high), _mm512_set1_pd(0x1p-50));
    all.least = _mm512_sub_pd(all.least, away);
    all.most = _mm512_add_pd(all.most, away);
  }
  return all;
}
HEDDLE_WIDE inline __m512d to_floats(__m512d x) {
  return _mm512_cvtps_pd(_mm512_cvtpd_ps(x));
}
HEDDLE_WIDE inline __m512d nearest_of(const WideBetween& all, bool narrow, __mmask8& known) {
  const __m512d least = narrow ? to_floats(all.least) : all.least;
  const __m512d most = narrow ? to_floats(all.most) : all.most;
  const __m512d infinity = _mm512_set1_pd(std::numeric_limits<double>::infinity());
  const __mmask8 alike = _mm512_cmp_pd_mask(least, most, _CMP_EQ_OQ);
  const __mmask8 finite = _mm512_mask_cmp_pd_mask(alike, _mm512_abs_pd(least), infinity, _CMP_LT_OQ);
  known = _mm512_mask_cmp_pd_mask(finite, least, _mm512_setzero_pd(), _CMP_NEQ_OQ);
  return least;
}

// The sums of a column with all vectors of a.
HEDDLE_WIDE inline __mmask8 round_column(const PlacedRounding& rounding, std::int64_t exponent, double* highs,
                                         const double* lows, __mmask8& zeros) {
  const __m512d placed = _mm512_sub_pd(_mm512_load_pd(highs), _mm512_set1_pd(rounding.place));
  const __m512d lost = _mm512_load_pd(lows);
  const __m512d nothing = _mm512_setzero_pd();
  zeros = _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(placed, nothing, _CMP_EQ_OQ), lost, nothing, _CMP_EQ_OQ);
  WideBetween all = between(placed, lost, _mm512_set1_pd(rounding.error), rounding.narrow);
  // Times 2^exponent, exactly: of normal numbers alone.
  const __m512i shift = _mm512_sub_epi64(
      _mm512_setzero_si512(), _mm512_add_epi64(_mm512_loadu_si512(rounding.exponents), _mm512_set1_epi64(exponent)));
  const __m512i own = _mm512_and_si512(_mm512_srli_epi64(_mm512_castpd_si512(all.least), 52), _mm512_set1_epi64(0x7ff));
  const __m512i field = _mm512_add_epi64(own, shift);
  __mmask8 normal = _mm512_cmpgt_epi64_mask(field, _mm512_set1_epi64(2));
  normal = _mm512_mask_cmpgt_epi64_mask(normal, _mm512_set1_epi64(0x7fd), field);
  normal = _mm512_mask_cmpgt_epi64_mask(normal, own, _mm512_setzero_si512());
  const __m512i times = _mm512_slli_epi64(shift, 52);
  all.least = _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(all.least), times));
  all.most = _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(all.most), times));
  __mmask8 known = 0;
  _mm512_store_pd(highs, nearest_of(all, rounding.narrow, known));
  return known & normal;
}

}  // namespace

bool has_wide_vectors() {
  static const bool has = has_placed_sums() && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}

HEDDLE_WIDE bool measure_panel_wide(const double* panel, Index inner, int parts, float* leading,
                                    PanelMeasures& measures) {
  __m512i most = _mm512_setzero_si512();
  for (Index k = 0; k < inner * parts; ++k) {
    const __m512d magnitude = _mm512_abs_pd(_mm512_loadu_pd(panel + k * panel_width));
    most = _mm512_max_epu64(most, _mm512_castpd_si512(magnitude));
  }
  alignas(64) std::int64_t all[panel_width];
  _mm512_store_si512(all, most);
  if (!exponents_of(all, measures.largest_exponents)) return false;
  const __m512d largest = from_integers(measures.largest_exponents);
  // Integers below 2^53.
  __m512d squares = _mm512_setzero_pd();
  for (Index k = 0; k < inner; ++k) {
    __m512d bits = leading_bits(_mm512_loadu_pd(panel + k * panel_width), largest, squares);
    if (parts == 2) {
      const __m512d others = leading_bits(_mm512_loadu_pd(panel + (k + inner) * panel_width), largest, squares);
      bits = _mm512_max_pd(bits, others);
    }
    const __m512d few = whole_part(_mm512_mul_pd(bits, _mm512_set1_pd(1.0 / (1 << (norm_bits_kept - probe_bits)))));
    _mm256_storeu_ps(leading + k * panel_width, _mm512_cvtpd_ps(few));
  }
  _mm512_storeu_si512(measures.squares, _mm512_cvtpd_epu64(squares));
  return true;
}

HEDDLE_WIDE unsigned quantise_panel_wide(double* panel, Index count, const int (&scales)[panel_width], double unit,
                                         bool asked) {
  const __m512d scale = from_integers(scales);
  const __m512d inverse = _mm512_set1_pd(1.0 / unit);
  __mmask8 others = 0;
  for (Index k = 0; k < count; ++k) {
    double* const x = panel + k * panel_width;
    const __m512d integer = nearest_integer(_mm512_scalef_pd(_mm512_loadu_pd(x), scale));
    _mm512_storeu_pd(x, integer);
    if (!asked) continue;
    const __m512d units = _mm512_mul_pd(integer, inverse);
    others |= _mm512_cmp_pd_mask(units, nearest_integer(units), _CMP_NEQ_UQ);
  }
  return asked ? static_cast<unsigned>(~others & 0xff) : 0;
}

HEDDLE_WIDE std::uint64_t round_tile_wide(const PlacedRounding& rounding, Index columns, PlacedTile& tile,
                                          std::uint64_t& zeros) {
  std::uint64_t known = 0;
  zeros = 0;
  for (Index c = 0; c < columns; ++c) {
    __mmask8 empty = 0;
    const __mmask8 sure = round_column(rounding, rounding.exponents_b[c], tile.high[c], tile.low[c], empty);
    known |= static_cast<std::uint64_t>(sure) << (panel_width * c);
    zeros |= static_cast<std::uint64_t>(empty) << (panel_width * c);
  }
  return known;
}

void add_products_wide(const double* a, const double* b, Index count, Index columns, double place, PlacedTile& tile) {
  Index c = 0;
  for (; c + 8 <= columns; c += 8) add_to_columns<8>(a, b, count, place, tile, c);
  for (; c + 4 <= columns; c += 4) add_to_columns<4>(a, b, count, place, tile, c);
  for (; c + 2 <= columns; c += 2) add_to_columns<2>(a, b, count, place, tile, c);
  for (; c < columns; ++c) add_to_columns<1>(a, b, count, place, tile, c);
}

HEDDLE_WIDE void subtract_products_wide(const LaneSums& sums, double (&high)[LaneSums::lanes],
                                        double (&low)[LaneSums::lanes]) {
  static_assert(LaneSums::lanes == 2 * lanes);
  __m512d h[2] = {_mm512_loadu_pd(high), _mm512_loadu_pd(high + lanes)};
  __m512d l[2] = {_mm512_loadu_pd(low), _mm512_loadu_pd(low + lanes)};
  for (Index k = 0; k < sums.count; ++k) {
    const double* const x = sums.vectors + k * sums.stride;
    const __m512d y = _mm512_set1_pd(-sums.factors[k]);
    add_product(_mm512_loadu_pd(x), y, h[0], l[0]);
    add_product(_mm512_loadu_pd(x + lanes), y, h[1], l[1]);
  }
  for (Index half = 0; half < 2; ++half) {
    _mm512_storeu_pd(high + half * lanes, h[half]);
    _mm512_storeu_pd(low + half * lanes, l[half]);
  }
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

bool has_wide_vectors() {
  return false;
}
bool measure_panel_wide(const double*, Index, int, float*, PanelMeasures&) {
  return false;
}
unsigned quantise_panel_wide(double*, Index, const int (&)[panel_width], double, bool) {
  return 0;
}
std::uint64_t round_tile_wide(const PlacedRounding&, Index, PlacedTile&, std::uint64_t&) {
  return 0;
}
void add_products_wide(const double*, const double*, Index, Index, double, PlacedTile&) {}
void subtract_products_wide(const LaneSums&, double (&)[LaneSums::lanes], double (&)[LaneSums::lanes]) {}

}  // namespace heddle::impl::interpose
#endif
