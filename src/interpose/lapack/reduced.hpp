// Sums side by side, each rounded once: what is left of a column of a matrix when products of earlier ones are taken
// off.
#pragma once

#include "interpose/blas/off_stack.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/placed/placed.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace heddle::impl::interpose {

/// LaneSums in three doubles' precision, all together; those below the range in which products are exact are scaled.
template <RealScalar T> class SettledLanes {
 public:
  SettledLanes(const LaneSums& sums, Index wanted, unsigned open) : count_(sums.count) {
    constexpr int up = 600;
    double most = 0.0;
    for (Index l = 0; l < wanted; ++l) {
      if ((open >> l & 1U) == 0) continue;
      most = std::max(
          {most, std::abs(sums.start[l]), static_cast<double>(sums.count) * sums.largest_factor * sums.largest[l]});
    }
    if (sizeof(T) == 8 && most < 0x1p-500 && sums.largest_factor < 0x1p400) scale_ = up;
    double start[LaneSums::lanes] = {};
    for (Index l = 0; l < wanted; ++l) start[l] = std::ldexp(sums.start[l], scale_);
    if (scale_ == 0) {
      reduce_threefold(sums.vectors, sums.stride, sums.factors, sums.count, start, *lanes_);
      return;
    }
    std::vector<double> factors(sums.factors, sums.factors + sums.count);
    for (double& factor : factors) factor *= std::ldexp(1.0, scale_);
    reduce_threefold(sums.vectors, sums.stride, factors.data(), sums.count, start, *lanes_);
  }
  /// Whether lane l's number is known, which is `value`.
  [[nodiscard]] bool tells(Index l, T& value) const {
    if (lanes_->special[l] != 0.0) {
      value = static_cast<T>(lanes_->special[l]);
      return true;
    }
    return lanes_->largest[l] < 0x1p1000 &&
           settles(ThreefoldSum{lanes_->sum[l], lanes_->smallest[l]}, count_ + 1, scale_, value);
  }

 private:
  static_assert(LaneSums::lanes == threefold_lanes);
  Index count_;
  int scale_ = 0;
  OffStack<ThreefoldLanes> lanes_;
};

/// Sums the lanes of LaneSums whose bits in `open` are set, in three doubles' precision or exactly.
template <RealScalar T>
[[gnu::noinline]] void settle_lanes(const LaneSums& sums, Index wanted, unsigned open, double* result) {
  std::optional<SettledLanes<T>> settled;
  {
    const Quiet quiet;
    settled.emplace(sums, wanted, open);
  }
  for (Index l = 0; l < wanted; ++l) {
    if ((open >> l & 1U) == 0) continue;
    T value{0};
    bool told = false;
    {
      const Quiet quiet;
      told = settled->tells(l, value);
    }
    // A result that may raise an exception of its own is summed by the function that detects it.
    if (!told || !is_finite(value) || is_tiny(value)) {
      const auto start = static_cast<T>(sums.start[l]);
      value = inner_product<T>(
          sums.count, [&](Index k) { return static_cast<T>(sums.vectors[k * sums.stride + l]); },
          [&](Index k) { return static_cast<T>(sums.factors[k]); }, &start, true);
    }
    result[l] = static_cast<double>(value);
  }
}

/// LaneSums of numbers of T, of which the first `wanted` are set.
template <RealScalar T> void reduce_abreast(LaneSums sums, Index wanted, double* result) {
  if (sums.count == 0) {
    std::copy_n(sums.start, wanted, result);
    return;
  }
  sums.narrow = sizeof(T) == 4;
  unsigned known = 0;
  if (has_placed_sums()) {
    const Quiet quiet;
    known = reduce_lanes(sums, result);
  }
  const unsigned open = ~known & ((1U << wanted) - 1U);
  if (open != 0) settle_lanes<T>(sums, wanted, open, result);
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
