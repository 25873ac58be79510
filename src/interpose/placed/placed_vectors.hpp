// Inner products of long vectors, and of rows of matrices, by placed sums.
#pragma once

#include "interpose/placed/placed.hpp"
#include <heddle/exact/expansion.hpp>

#include <algorithm>

namespace heddle::impl::interpose {

/// Products that are added at one place.
inline constexpr Index placed_at_once = 4096;

/// Adds the sum of `count` products x_k y_k, placed_at_once at the most, to a sum that counts as one term for it.
/// False, and nothing done, where there is no place for them, as of infinite ones.
[[nodiscard]] bool add_placed(const double* x, const double* y, Index count, exact::Compensated& all);

/// Sums of rows that advance together, each as exact::Compensated has it.
struct RowSums {
  static constexpr Index rows = 256;
  alignas(32) double sum[rows];
  alignas(32) double lost[rows];
  alignas(32) double size[rows];
  Index terms;  ///< Of each.

  [[nodiscard]] exact::Compensated of(Index row) const {
    exact::Compensated one;
    one.sum = sum[row];
    one.lost = lost[row];
    one.size = size[row];
    return one;
  }
  void set(Index row, const exact::Compensated& one) {
    sum[row] = one.sum;
    lost[row] = one.lost;
    size[row] = one.size;
  }
  /// Makes zeros of so many rows, and of as many more as vectors take with them.
  void clear(Index wanted) {
    const Index count = std::min(rows, (wanted + 15) / 16 * 16);
    std::fill_n(sum, count, 0.0);
    std::fill_n(lost, count, 0.0);
    std::fill_n(size, count, 0.0);
    terms = 0;
  }
};
/// The sums of A(i, k) x_k over k of up to RowSums::rows rows of n columns. A row whose sums have no place has a NaN.
void add_rows(const double* A, Index leading, Index rows, Index n, const double* x, RowSums& sums);
void add_rows(const float* A, Index leading, Index rows, Index n, const double* x, RowSums& sums);

/// The same of columns, a multiple of 4: the sums of A(k, j) x_k over k, the first one's at `at`, a multiple of 4.
void add_columns(const double* A, Index leading, Index columns, Index n, const double* x, Index at, RowSums& sums);
/// The numbers nearest to rows' sums, floats where `narrow`, and whether they are known for sure, as is_known() has it;
/// both have RowSums::rows places.
void round_rows(const RowSums& sums, Index rows, double absolute, bool narrow, double* result, bool* known);

}  // namespace heddle::impl::interpose
