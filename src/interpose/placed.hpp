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

/// What tells the scales of a panel's vectors.
struct PanelMeasures {
  std::uint64_t squares[panel_width];  ///< As QuantisedVectors has them.
  int largest_exponents[panel_width];
};

/// Measures the vectors of a panel of `inner` elements, of complex ones all real parts before all imaginary ones, and
/// puts their leading 7 bits to `leading` (inner * panel_width numbers). False where a vector holds NaN or infinity, or
/// nothing but numbers below the normal ones.
[[nodiscard]] bool measure_panel(const double* panel, Index inner, int parts, float* leading, PanelMeasures& measures);

/// Makes integers of a panel's numbers, `count` of each vector: x 2^scale, rounded to the nearest.
void quantise_panel(double* panel, Index count, const int (&scales)[panel_width]);

/// Whether sum_k a_k b_k >= least_a least_b for all pairs of vectors of two panels of leading bits, up to a relative
/// error of `inner` 2^-24.
[[nodiscard]] bool panels_overlap(const float* a, const float* b, Index inner, const float (&least_a)[panel_width],
                                  const float (&least_b)[panel_width]);

/// Sums of a tile: of the vectors b from `first` on with all vectors of a. High parts begin at their place, a power of
/// two times 1.5.
struct PlacedTile {
  alignas(64) double high[panel_width][panel_width];
  alignas(64) double low[panel_width][panel_width];
};

/// Adds products of `count` elements of vectors 0 ... columns - 1 of b and all vectors of a; tile.high[j][i] is of a's
/// vector i and b's vector j. Where `place` is not 0 the sums begin there.
void add_products(const double* a, const double* b, Index count, Index columns, double place, PlacedTile& tile);

/// The numbers nearest to sums of a column of a tile, times 2^exponents, and a bit for each that is known: the exact sum
/// is within `error` of high - place + low, and it is a normal number. Rounded to floats where `narrow`.
[[nodiscard]] unsigned round_sums(const double (&high)[panel_width], const double (&low)[panel_width], double place,
                                  double error, const std::int64_t (&exponents)[panel_width], std::int64_t exponent,
                                  bool narrow, double (&result)[panel_width]);

}  // namespace heddle::impl::interpose
