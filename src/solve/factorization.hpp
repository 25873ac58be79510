// What plans and functions of this room share: the numbers that follow from options.
#pragma once

#include "solve/schedule.hpp"
#include <heddle/solve/lu.hpp>

namespace heddle::impl {

/// Options with an arithmetic that is native or emulated.
[[nodiscard]] LuOptions with_arithmetic(LuOptions options);
[[nodiscard]] LuSchedule schedule_for(Index rows, Index columns, const LuOptions& options);
/// Throws Error(argument) for what can't be.
void require_lu_options(Index rows, Index columns, const LuOptions& options);
/// Blocks of columns that ranks take in turn.
[[nodiscard]] CyclicAxis columns_of(const LuSchedule& schedule, int ranks);
/// The placement of a matrix whose columns are dealt out so.
[[nodiscard]] inline Placement placement_of_columns(Index rows, const CyclicAxis& columns) {
  return Placement::block_cyclic(rows, columns.extent, std::max<Index>(rows, 1), columns.block, 1, columns.processes);
}

}  // namespace heddle::impl
