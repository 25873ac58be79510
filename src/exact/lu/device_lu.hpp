// LU factorization on a GPU: the sums of all elements are kept, and each panel's products are subtracted from them.
#pragma once

#include "exact/lu/device_lu_batched.hpp"
#include "exact/lu/device_lu_columns.hpp"
#include "exact/lu/device_lu_leaf.hpp"
#include "exact/lu/device_lu_update.hpp"
#include "exact/lu/row_moves.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

/// Maximum number of columns factored together: sums of that many products are rounded only once on the way.
inline constexpr Index most_device_columns = 128;

/// Columns of a matrix on one GPU, all rows of them, with the sums of their elements: the trailing update of every
/// factored panel, of this matrix or of other ranks, is applied to them. Ordered on the space; blocks only if so
/// documented.
template <Scalar T> class DeviceFactor {
 public:
  /// `A` holds the matrix on entry; its panels have up to `block` <= most_device_columns columns, and up to `steps` are
  /// factored in all.
  DeviceFactor(const ExecutionSpace& space, const StridedMatrix<T>& A, Index block, Index steps)
      : space_(space),
        block_(block),
        columns_(space, A),
        moves_(space, block),
        scales_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::scales"),
                A.extent(0) + A.extent(1)),
        pivots_(Kokkos::view_alloc(space, "heddle::exact::pivots"), static_cast<std::size_t>(steps + 1)),
        leaves_(space, block) {
    begin_device_columns(space, columns_);
  }

  [[nodiscard]] Index columns() const { return columns_.n; }

  /// Factors `width` columns from local column `column` on, which start at column `row` of the whole matrix. Rows are
  /// moved in these columns and their row numbers only.
  void factor_panel(Index row, Index column, Index width) {
    const Index end = std::min(row + width, columns_.m);
    const DeviceColumns<T> here = columns_.with_panel(row, column, width);
    Index last = row;
    for (Index j = row; j < end; j = last) {
      last = std::min(j + leaves_.width(columns_.m - j), end);
      const LeafPlace leaf{j, column + (j - row), static_cast<int>(last - j)};
      leaves_.factor(space_, here, leaf, pivots_, moves_);
      move_device_rows(space_, here, moves_, {column, column + width}, column + (last - row), true);
      const Range rest{column + (last - row), column + width};
      if (!rest.empty()) {
        const PanelElements<T> panel = here.elements(leaf.column);
        device_rows_of_u(space_, here, panel, j, leaf.width, rest, block_);
        device_few_products(space_, here, panel, j, leaf.width, rest);
      }
    }
  }
  /// The same, then moves the rows of all other columns too, those of L and those not factored yet.
  void factor_own_panel(Index row, Index column, Index width) {
    factor_panel(row, column, width);
    find_device_moves(space_, columns_, row, moves_);
    move_other_columns({column, column + width});
  }
  /// Moves rows in all columns but these as the panel's factorization requires.
  void move_other_columns(Range panel) {
    move_device_rows(space_, columns_, moves_, {0, panel.begin}, columns_.n, false);
    move_device_rows(space_, columns_, moves_, {panel.end, columns_.n}, panel.end, false);
  }
  /// Applies the trailing update of a panel, columns [row, row + width) of L, to columns [first, n).
  void apply(const PanelElements<T>& panel, Index row, Index width, Index first) {
    const Range rest{first, columns_.n};
    if (rest.empty()) {
      return;
    }
    device_rows_of_u(space_, columns_, panel, row, static_cast<int>(width), rest, block_);
    device_many_products(space_, columns_, panel, row, static_cast<int>(width), rest, scales_);
  }
  /// Returns a panel stored in the columns themselves.
  [[nodiscard]] PanelElements<T> panel(Index column) const { return columns_.elements(column); }

  /// Sets, from the host, the moves for move_other_columns() and move_numbers().
  void set_moves(const std::vector<RowMove>& moves) {
    const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, moves_.data);
    host(0) = static_cast<Index>(moves.size());
    for (std::size_t k = 0; k < moves.size(); ++k) {
      host(1 + k) = moves[k].target;
      host(1 + static_cast<std::size_t>(moves_.most) + k) = moves[k].source;
    }
    Kokkos::deep_copy(space_, moves_.data, host);
    space_.fence("heddle::exact::lu");
  }
  void move_numbers() { move_device_rows(space_, columns_, moves_, {0, 0}, columns_.n, true); }
  /// Returns the pivots of a panel and, last, the info so far. Blocks.
  [[nodiscard]] std::vector<Index> numbers(Index row, Index width) const {
    const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, pivots_);
    Kokkos::deep_copy(space_, host, pivots_);
    space_.fence("heddle::exact::lu");
    std::vector<Index> numbers(host.data() + row, host.data() + row + width);
    numbers.push_back(host(host.extent(0) - 1));
    return numbers;
  }

  /// Sets the storage of the columns of L that this rank does not hold; order() gives the row of each row in it.
  void set_left(const LeftFactor<T>& left) { columns_.left = left; }
  [[nodiscard]] const Kokkos::View<Index*, MemorySpace>& order() const { return columns_.order; }

 private:
  ExecutionSpace space_;
  Index block_;
  DeviceColumns<T> columns_;
  DeviceMoves moves_;
  Kokkos::View<double*, MemorySpace> scales_;
  Kokkos::View<Index*, MemorySpace> pivots_;  // The last one is info.
  DeviceLeaves<T> leaves_;
};

/// Factors one matrix by the whole device, `block` columns at a time. Blocks.
template <Scalar T> LuResult device_lu(const ExecutionSpace& space, const StridedMatrix<T>& A, Index block) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = static_cast<Index>(A.extent(1));
  const Index steps = std::min(m, n);
  const Index together = std::min(block, most_device_columns);
  DeviceFactor<T> factor(space, A, together, steps);
  for (Index row = 0; row < steps; row += together) {
    const Index width = std::min(together, steps - row);
    factor.factor_own_panel(row, row, width);
    factor.apply(factor.panel(row), row, width, row + width);
  }
  std::vector<Index> numbers = factor.numbers(0, steps);
  const Index info = numbers.back();
  numbers.pop_back();
  return {std::move(numbers), info};
}

}  // namespace heddle::exact::impl
