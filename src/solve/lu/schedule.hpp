// The order of an LU factorization's work: pure functions of the matrix's shape, without ranks, messages or devices.
#pragma once

#include <heddle/dist/placement.hpp>

#include <algorithm>
#include <vector>

namespace heddle::impl {

/// The first half of `size` indices, in whole blocks of `block`.
[[nodiscard]] constexpr Index half_in_blocks(Index size, Index block) {
  return ((size + block - 1) / block + 1) / 2 * block;
}

/// Schedule of an m x n matrix, factored in panels of `block` columns, which are applied to the columns on their right
/// in groups.
///
/// After t panels, with g the largest power of two that divides t, at most `group`: the last g panels are applied to
/// the next g panels' columns, or, if g is `group`, to all columns on the right. So each column meets every panel on
/// its left exactly once, and inner dimensions of products are up to `group` blocks, for most of the work exactly that;
/// with group = 1 it is the right-looking algorithm, and with as many as there are panels the recursive one (S. Toledo
/// 1997). If the matrix is wider than high, the panels of the last group are applied at the end to the columns that no
/// panel has.
struct LuSchedule {
  Index rows = 0;
  Index columns = 0;
  Index block = 1;
  Index group = 1;  ///< A power of two.
  /// Panels that may be factored in a run on one rank without changing bits: 1, or `group`.
  Index most_together = 1;

  [[nodiscard]] Index steps() const { return std::min(rows, columns); }
  [[nodiscard]] Index panels() const { return (steps() + block - 1) / block; }
  /// Columns of panel p; its first row is its first column.
  [[nodiscard]] Range panel(Index p) const { return {p * block, std::min((p + 1) * block, steps())}; }
  /// The first panel of panel p's group: panels from there on are used until the group is complete.
  [[nodiscard]] Index group_begin(Index p) const { return p / group * group; }

  /// The same order with runs of `together` panels, a power of two up to `group`, in place of panels: columns outside a
  /// run meet the same products.
  [[nodiscard]] LuSchedule in_runs(Index together) const { return {rows, columns, block * together, group / together}; }
  /// The order within a run of `run_rows` rows and `run_columns` columns.
  [[nodiscard]] LuSchedule within_run(Index together, Index run_rows, Index run_columns) const {
    return {run_rows, run_columns, block, together};
  }

  /// The longest inner dimension of a product.
  [[nodiscard]] Index longest_inner() const { return std::min(group * block, std::max<Index>(steps(), 1)); }

  /// Panels [first, last), applied to columns once panel last - 1 is factored.
  struct Update {
    Index first = 0;
    Index last = 0;
    Range columns;
  };
  [[nodiscard]] Update update_after(Index p) const {
    const Index done = p + 1;
    if (done == panels()) return {group_begin(p), done, {steps(), columns}};
    const Index due = std::min(done & -done, group);
    const Index end = due == group ? columns : std::min((done + due) * block, steps());
    return {done - due, done, {done * block, end}};
  }
  /// The part of an update of all columns on the right that panel `last` waits for, and the other columns; the panel
  /// can be factored after the former. Updates within a group, whose columns are few, are not divided.
  [[nodiscard]] Update before_next_panel(const Update& update) const {
    const bool divided = update.last < panels() && update.last % group == 0;
    return {update.first, update.last, {update.columns.begin, divided ? panel(update.last).end : update.columns.end}};
  }
  [[nodiscard]] Update beside_next_panel(const Update& update) const {
    return {update.first, update.last, {before_next_panel(update).columns.end, update.columns.end}};
  }
  /// Rows of U that an update of panels [first, last) solves for, which are also the columns of L that it reads.
  [[nodiscard]] Range rows_of(const Update& update) const {
    return {update.first * block, std::min(update.last * block, steps())};
  }
  /// These rows of every update whose columns are wanted(columns).
  template <class Wanted> [[nodiscard]] std::vector<Range> rows_of_updates(const Wanted& wanted) const {
    std::vector<Range> found;
    for (Index p = 0; p < panels(); ++p) {
      const Update update = update_after(p);
      if (wanted(update.columns)) found.push_back(rows_of(update));
    }
    return found;
  }
};

}  // namespace heddle::impl
