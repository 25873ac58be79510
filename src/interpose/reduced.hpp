// Sums side by side, each rounded once: what is left of a column of a matrix when products of earlier ones are taken
// off.
#pragma once

#include "interpose/placed.hpp"
#include "interpose/sums.hpp"

#include <cmath>
#include <vector>

namespace heddle::impl::interpose {

/// LaneSums of numbers of T, of which the first `wanted` are set.
template <RealScalar T> void reduce_abreast(LaneSums sums, Index wanted, double* result) {
  if (sums.count == 0) {
    std::copy_n(sums.start, wanted, result);
    return;
  }
  sums.narrow = sizeof(T) == 4;
  const bool placed = has_placed_sums();
  unsigned known = 0;
  if (placed) {
    const Quiet quiet;
    known = reduce_lanes(sums, result);
  }
  for (Index l = 0; l < wanted; ++l) {
    if ((known >> l & 1U) != 0) continue;
    // As of right sides that begin with zeros: +0 less zeros is +0. Where a number is no number, nor is the result.
    const double most = sums.largest[l];
    const bool zeros =
        (most == 0.0 && std::isfinite(sums.largest_factor)) || (sums.largest_factor == 0.0 && std::isfinite(most));
    if (placed && zeros && sums.start[l] == 0.0 && !std::signbit(sums.start[l]) && std::isfinite(result[l])) {
      result[l] = 0.0;
      continue;
    }
    const auto start = static_cast<T>(sums.start[l]);
    result[l] = static_cast<double>(inner_product<T>(
        sums.count, [&](Index k) { return static_cast<T>(sums.vectors[k * sums.stride + l]); },
        [&](Index k) { return static_cast<T>(sums.factors[k]); }, &start, true));
  }
}

/// Columns of a matrix, `lanes` rows side by side, and the largest magnitude of each row.
class LaneColumns {
 public:
  static constexpr Index lanes = LaneSums::lanes;

  LaneColumns(Index rows, Index columns)
      : columns_(columns),
        numbers_(static_cast<std::size_t>(blocks_of(rows) * lanes * columns)),
        largest_(static_cast<std::size_t>(blocks_of(rows) * lanes)) {}

  static Index blocks_of(Index rows) { return (rows + lanes - 1) / lanes; }
  [[nodiscard]] double* block(Index b, Index column) { return numbers_.data() + (b * columns_ + column) * lanes; }
  [[nodiscard]] double& at(Index row, Index column) { return block(row / lanes, column)[row % lanes]; }
  [[nodiscard]] double& largest(Index row) { return largest_[static_cast<std::size_t>(row)]; }
  void count_in(Index row, double value) { largest(row) = std::max(largest(row), std::abs(value)); }
  void swap_rows(Index one, Index other) {
    if (one == other) return;
    for (Index k = 0; k < columns_; ++k) std::swap(at(one, k), at(other, k));
    std::swap(largest(one), largest(other));
  }

 private:
  Index columns_;
  std::vector<double> numbers_;
  std::vector<double> largest_;
};

}  // namespace heddle::impl::interpose
