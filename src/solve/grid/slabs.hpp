// Slabs of columns, in which a matrix in host memory is factored: pure functions of shapes.
#pragma once

#include "solve/grid/rank_grid.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/emulation/emulation.hpp>

#include <vector>

namespace heddle::impl {

enum class FactorizationKind { lu, cholesky };

/// A matrix whose columns are dealt out, cut into slabs of `width` columns; one slab is in the devices' memory at a
/// time.
///
/// Panels on the left of a slab are applied to it group by group; then it is factored as a matrix of its own, with its
/// columns and the rows below. Groups begin at the same columns as in the whole matrix, so that each column meets the
/// same panels in the same products. BLAS calls are for blocks of columns, so that a native slab begins with one, and
/// on several ranks with a block of rank 0.
struct ColumnSlabs {
  LuSchedule schedule;  ///< Schedule of the whole matrix.
  CyclicAxis columns;
  Index width = 1;

  /// Unit of widths: they are multiples of it.
  [[nodiscard]] static Index unit(const LuSchedule& schedule, const CyclicAxis& columns, Arithmetic arithmetic);

  [[nodiscard]] Index count() const { return (schedule.columns + width - 1) / width; }
  [[nodiscard]] Range slab(Index k) const { return {k * width, std::min((k + 1) * width, schedule.columns)}; }
  /// Schedule of a slab by itself, from the row with its first column's number on.
  [[nodiscard]] LuSchedule schedule_of(Range slab) const {
    return {std::max<Index>(schedule.rows - slab.begin, 0), slab.size(), schedule.block, schedule.group,
            schedule.most_together};
  }
  [[nodiscard]] CyclicAxis columns_of(Range slab) const { return {slab.size(), columns.block, columns.processes}; }
  /// Which ranks have columns of a slab, and the most columns that one has.
  [[nodiscard]] std::vector<bool> owners(Range slab) const;
  [[nodiscard]] Index most_columns(int rank) const { return columns.count_below(rank, slab(0).end); }
  /// Columns of the panels that are copied to the devices at once: a group, or as many as are in a block.
  [[nodiscard]] Index batch() const;
  /// All batches on the left of a slab, in turn.
  [[nodiscard]] std::vector<Range> batches_before(Range slab) const;
  /// The updates by which the panels in columns `batch` are applied to a slab on their right; natively in the parts of
  /// the whole matrix's factorization.
  [[nodiscard]] std::vector<LuSchedule::Update> updates(Range batch, Range slab, Arithmetic arithmetic) const;

  /// The share of the flops that is done when all slabs before this one are factored, and `panels` panels of the matrix
  /// are applied to it.
  [[nodiscard]] double share_done(FactorizationKind kind, Range slab, Index panels) const;
};

}  // namespace heddle::impl
