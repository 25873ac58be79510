// Sums of products of integers in doubles, by the vectors of the processor, that know how they round.
#pragma once

#include <heddle/core/scalar.hpp>

#include <cstdint>

namespace heddle::impl::interpose {

/// Vectors (rows of op(A) or columns of op(B)) that lie side by side: element k of vector v is at [k * abreast + v].
inline constexpr Index panel_width = 8;

/// Whether this processor has what the functions below are compiled for (AVX2 and fused multiply-adds); nothing else
/// here is called where it has not.
[[nodiscard]] bool has_placed_sums();

/// Measures from which the scales of a panel's vectors follow.
struct PanelMeasures {
  std::uint64_t squares[panel_width];  ///< As QuantisedVectors has them.
  int largest_exponents[panel_width];
};

/// Measures the vectors of a panel of `inner` elements, of complex ones all real parts before all imaginary ones, and
/// puts their leading 7 bits to `leading` (inner * panel_width numbers). False where a vector holds NaN or infinity, or
/// nothing but numbers below the normal ones.
[[nodiscard]] bool measure_panel(const double* panel, Index inner, int parts, float* leading, PanelMeasures& measures);

/// Makes integers of a panel's numbers, `count` of each vector: x 2^scale, rounded to the nearest. Bit v of what it
/// returns says whether all of vector v are known to be multiples of `unit`, a power of two.
unsigned quantise_panel(double* panel, Index count, const int (&scales)[panel_width], double unit);

/// Whether sum_k a_k b_k >= least_a least_b for all pairs of vectors of two panels of leading bits, up to a relative
/// error of `inner` 2^-24.
[[nodiscard]] bool panels_overlap(const float* a, const float* b, Index inner, const float (&least_a)[panel_width],
                                  const float (&least_b)[panel_width]);

/// Distances of a tile's elements between the norms of their vectors and the sums of their products, all of it as
/// probe_element() finds it from the sums of products of leading bits.
struct TileSpread {
  double square = 0.0;          ///< The largest |a|^2 |b|^2 `unit` / sum^2 of the elements that have a sum.
  std::uint64_t undecided = 0;  ///< Bit j * panel_width + i: whether a's vector i and b's j have none.
};
/// Adds up leading bits of the vectors of two panels, `inner` at most most_exact_inner; squares are those of the
/// vectors' norms.
inline constexpr Index most_exact_inner = 1024;
void add_tile_spread(const float* a, const float* b, Index inner, const double (&squares_a)[panel_width],
                     const double (&squares_b)[panel_width], double unit, TileSpread& spread);

/// Sums of a tile: of the vectors b from `first` on with all vectors of a. High parts begin at their place, a power of
/// two times 1.5.
struct PlacedTile {
  alignas(64) double high[panel_width][panel_width];
  alignas(64) double low[panel_width][panel_width];
};

/// Adds products of `count` elements of vectors 0 ... columns - 1 of b and all vectors of a; tile.high[j][i] is of a's
/// vector i and b's vector j. If `place` is not 0, the sums begin there.
void add_products(const double* a, const double* b, Index count, Index columns, double place, PlacedTile& tile);

/// How a tile is rounded.
struct PlacedRounding {
  double place;
  double error;                   ///< The exact sum is within it of high - place + low.
  const std::int64_t* exponents;  ///< Of a's vectors, and of b's: sums count 2^-(both).
  const std::int64_t* exponents_b;
  bool narrow;  ///< To floats.
};
/// Sets high parts to the numbers nearest to the sums of `columns` columns. Bit j * panel_width + i says whether number
/// (j, i) is known for sure, and is a normal one; that of `zeros`, whether nothing was left of the sum.
[[nodiscard]] std::uint64_t round_tile(const PlacedRounding& rounding, Index columns, PlacedTile& tile,
                                       std::uint64_t& zeros);

/// Sums that advance together: start[l] - sum_k factors[k] vectors[k * stride + l].
struct LaneSums {
  static constexpr Index lanes = 16;
  const double* vectors;
  Index stride;
  const double* factors;
  Index count;
  const double* start;
  const double* largest;  ///< |vectors[k * stride + l]| is at most largest[l],
  double largest_factor;  ///< and |factors[k]| at most this.
  bool narrow;            ///< Whether they are rounded to floats.
};
/// Sets result[l] to the numbers nearest to the sums; bit l says whether number l is known for sure.
[[nodiscard]] unsigned reduce_lanes(const LaneSums& sums, double* result);

}  // namespace heddle::impl::interpose
