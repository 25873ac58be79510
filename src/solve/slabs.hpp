// Slabs of columns, in which a matrix that lies in host memory is factored: pure functions of shapes.
#pragma once

#include "solve/rank_grid.hpp"
#include "solve/schedule.hpp"
#include <heddle/gemm/emulation.hpp>

#include <vector>

namespace heddle::impl {

enum class FactorizationKind { lu, cholesky };

/// A matrix whose columns are dealt out, cut into slabs of `width` columns, one of which is in the devices' memory at a
/// time.
///
/// A slab meets the panels on its left group by group, and is factored then by itself, as a matrix that has its columns
/// and the rows below. Groups begin at the same columns as in the whole matrix, so that each column meets the same
/// panels in the same products. Calls of the BLAS are for blocks of columns, so that a native slab begins with one, and
/// on several ranks with a block of rank 0.
struct ColumnSlabs {
  LuSchedule schedule;  ///< Of the whole matrix.
  CyclicAxis columns;
  Index width = 1;

  /// What widths are multiples of.
  [[nodiscard]] static Index unit(const LuSchedule& schedule, const CyclicAxis& columns, Arithmetic arithmetic);

  [[nodiscard]] Index count() const { return (schedule.columns + width - 1) / width; }
  [[nodiscard]] Range slab(Index k) const { return {k * width, std::min((k + 1) * width, schedule.columns)}; }
  /// Of a slab by itself, from the row on that its first column's number is.
  [[nodiscard]] LuSchedule schedule_of(Range slab) const {
    return {std::max<Index>(schedule.rows - slab.begin, 0), slab.size(), schedule.block, schedule.group,
            schedule.most_together};
  }
  [[nodiscard]] CyclicAxis columns_of(Range slab) const { return {slab.size(), columns.block, columns.processes}; }
  /// Which ranks have columns of a slab, and how many they have of one at most.
  [[nodiscard]] std::vector<bool> owners(Range slab) const;
  [[nodiscard]] Index most_columns(int rank) const { return columns.count_below(rank, slab(0).end); }
  /// Columns of the panels that come to the devices at once: a group, or as many as are in a block.
  [[nodiscard]] Index batch() const;
  /// All such columns on the left of a slab, in turn.
  [[nodiscard]] std::vector<Range> batches_before(Range slab) const;
  /// What the panels in columns `batch` are applied to in a slab on their right; natively in the parts in which the
  /// factorization of the whole matrix does it.
  [[nodiscard]] std::vector<LuSchedule::Update> updates(Range batch, Range slab, Arithmetic arithmetic) const;

  /// The share of the flops that is done when all slabs before this one are, and `panels` panels of the matrix are
  /// applied to it.
  [[nodiscard]] double share_done(FactorizationKind kind, Range slab, Index panels) const;
};

}  // namespace heddle::impl
