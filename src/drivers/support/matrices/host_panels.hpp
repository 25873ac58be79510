// Reading of a rank's part of a matrix by its host: in tiles that threads share, through panels if it is on a device.
#pragma once

#include "drivers/support/matrices/host_parts.hpp"
#include "drivers/support/matrices/host_threads.hpp"
#include "drivers/support/matrices/scaled_sums.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

namespace heddle::driver {

/// Elements of this rank in host memory, column by column; rows and columns are local numbers.
template <Scalar T> struct HostBlock {
  const T* elements;  ///< Of the first row and column.
  Index leading;
  Index first_row;
  Index rows;
  Index first_column;
  Index columns;

  [[nodiscard]] const T* column(Index j) const { return elements + j * leading; }
};

/// Call use(tile) for tiles of all rows that this rank has: one of all columns, or panels of them in turn, copied from
/// the device.
template <Scalar T, class Use> void for_each_panel(const DistributedMatrix<T>& M, const Use& use) {
  const MatrixView<T>& local = M.local();
  const auto rows = static_cast<Index>(local.extent(0));
  const auto columns = static_cast<Index>(local.extent(1));
  if (rows == 0 || columns == 0) return;
  const auto leading = static_cast<Index>(local.stride(1));
  if constexpr (host_reads_matrices) {
    use(HostBlock<T>{local.data(), leading, 0, rows, 0, columns});
  } else {
    constexpr Index bytes = Index{1} << 26;
    const Index width = std::clamp<Index>(bytes / (rows * static_cast<Index>(sizeof(T))), 1, columns);
    const ExecutionSpace& space = M.communicator().space();
    const Kokkos::View<T*, Kokkos::SharedHostPinnedSpace> panel(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::panel"), rows * width);
    for (Index first = 0; first < columns; first += width) {
      const Index count = std::min(width, columns - first);
      // In one piece where columns are without gaps.
      const Index pieces = leading == rows ? 1 : count;
      const Index length = rows * count / pieces;
      for (Index piece = 0; piece < pieces; ++piece) {
        const Kokkos::View<const T*, MemorySpace, Kokkos::MemoryUnmanaged> from(
            local.data() + (first + piece) * leading, length);
        Kokkos::deep_copy(space, Kokkos::subview(panel, std::pair(piece * length, (piece + 1) * length)), from);
      }
      space.fence("heddle::driver::panel");
      use(HostBlock<T>{panel.data(), rows, 0, rows, first, count});
    }
  }
}

/// Shares of a panel: rows of op(M) in blocks, and the indices that they are summed over in parts, whose sums are added
/// in order. They follow from the panel's shape alone.
struct Shares {
  static constexpr Index row_block = 2048;  ///< Of M: sums of so many rows stay in the first cache.
  static constexpr Index column_block = 64;
  static constexpr Index least = 64;  ///< Tiles, for any number of threads.

  Shares(bool across, Index rows, Index columns)
      : kept(across ? columns : rows), summed(across ? rows : columns), block(across ? column_block : row_block) {
    blocks = (kept + block - 1) / block;
    const Index most = (summed + (across ? row_block : column_block) - 1) / (across ? row_block : column_block);
    parts = std::clamp<Index>((least + blocks - 1) / blocks, 1, most);
  }
  Index kept;
  Index summed;
  Index block;
  Index blocks;
  Index parts;
};

/// Return, for each row of op(M) by its local number, the value that kernel(tile, values) forms from its elements here:
/// values[k] belongs to row k of the tile's op(M) and starts as Value{}. values[k].join(other) combines the sums of
/// several tiles.
template <class Value, Scalar T, class Kernel>
std::vector<Value> over_rows(const DistributedMatrix<T>& M, Operation op, const Kernel& kernel) {
  const bool across = op != Operation::none;
  std::vector<Value> all(M.local().extent(across ? 1 : 0));
  for_each_panel(M, [&](const HostBlock<T>& panel) {
    const Shares shares(across, panel.rows, panel.columns);
    std::vector<Value> partial(static_cast<std::size_t>(shares.parts * shares.kept));
    on_host_threads(M.communicator(), shares.blocks * shares.parts, [&](Index item) {
      const Index part = item / shares.blocks;
      const Index kept = item % shares.blocks * shares.block;
      const Index begin = shares.summed * part / shares.parts;
      const Index end = shares.summed * (part + 1) / shares.parts;
      const Index kept_count = std::min(shares.block, shares.kept - kept);
      const Index row = across ? begin : kept;
      const Index column = across ? kept : begin;
      const HostBlock<T> tile = {panel.column(column) + row,  panel.leading,
                                 panel.first_row + row,       across ? end - begin : kept_count,
                                 panel.first_column + column, across ? kept_count : end - begin};
      kernel(tile, partial.data() + part * shares.kept + kept);
    });
    Value* const of_panel = all.data() + (across ? panel.first_column : 0);
    for (Index part = 0; part < shares.parts; ++part) {
      for (Index k = 0; k < shares.kept; ++k) of_panel[k].join(partial[part * shares.kept + k]);
    }
  });
  return all;
}

/// Return the kernel that calls add(value, row of op(M), column of op(M), element of op(M)) for each element.
template <Scalar T, class Add> auto each_element(Operation op, const Add& add) {
  return [op, add](const HostBlock<T>& tile, auto* values) {
    for (Index j = 0; j < tile.columns; ++j) {
      const T* const column = tile.column(j);
      for (Index i = 0; i < tile.rows; ++i) {
        auto element = sum_of(column[i]);
        if constexpr (is_complex<T>) {
          if (op == Operation::conjugate_transpose) element = std::conj(element);
        }
        if (op == Operation::none) {
          add(values[i], tile.first_row + i, tile.first_column + j, element);
        } else {
          add(values[j], tile.first_column + j, tile.first_row + i, element);
        }
      }
    }
  };
}

}  // namespace heddle::driver
