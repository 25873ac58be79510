// Inner products in three times the precision of doubles, for sums that placed sums leave open.
#pragma once

#include "exact/sums/threefold.hpp"
#include "interpose/placed/placed_vectors.hpp"

namespace heddle::impl::interpose {

/// Survey of two vectors of factors. Magnitudes are those of numbers that are finite.
struct Surveyed {
  double special = 0.0;    ///< The sum of the products with infinity or NaN as IEEE 754 has it; 0 where none is.
  double largest_a = 0.0;  ///< The largest magnitude.
  double largest_b = 0.0;
  double smallest_a = 0.0;  ///< The smallest that is not zero; infinite where all are zeros.
  double smallest_b = 0.0;
};
[[nodiscard]] Surveyed survey(const double* a, const double* b, Index count);

/// A sum that is added to from call to call.
struct ThreefoldSum {
  exact::impl::Threefold sum;
  double smallest = 0x1p1000;  ///< No product of two numbers other than zero is smaller than it, or than 2^-1022.
};
/// Adds (a_k factor_a) (b_k factor_b), factors being powers of two; no product may overflow.
void add_threefold(const double* a, const double* b, Index count, double factor_a, double factor_b, ThreefoldSum& sum);

/// Sums of products of all pairs of vectors of two panels (placed.hpp), as exact::Compensated has them, of b's vectors
/// 0 ... columns - 1: number j * panel_width + i is of a's vector i and b's j.
void add_compensated(const double* a, const double* b, Index count, Index columns, RowSums& sums);

/// Sums of so many lanes that advance together, start[l] - sum_k factors[k] vectors[k * stride + l]: what survey() and
/// add_threefold() tell of each lane.
inline constexpr Index threefold_lanes = 16;
struct ThreefoldLanes {
  exact::impl::Threefold sum[threefold_lanes];
  double special[threefold_lanes];
  double smallest[threefold_lanes];
  double largest[threefold_lanes];  ///< Of the products; infinite where one has overflowed.
};
void reduce_threefold(const double* vectors, Index stride, const double* factors, Index count, const double* start,
                      ThreefoldLanes& lanes);

}  // namespace heddle::impl::interpose
