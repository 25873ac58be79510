// Which rank owns which element of a matrix.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>

namespace heddle {

/// Half-open range of indices.
struct Range {
  Index begin = 0;
  Index end = 0;
  [[nodiscard]] constexpr Index size() const noexcept { return end - begin; }
  [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

/// One dimension dealt out block-cyclically: global index g is in block g / block, which process (g / block) mod
/// processes owns. Local indices keep the global order.
struct CyclicAxis {
  Index extent = 0;
  Index block = 1;
  int processes = 1;

  [[nodiscard]] int owner(Index global) const { return static_cast<int>((global / block) % processes); }
  [[nodiscard]] Index local(Index global) const { return global / block / processes * block + global % block; }
  KOKKOS_INLINE_FUNCTION Index global(int process, Index local) const {
    return (local / block * processes + process) * block + local % block;
  }
  /// Number of indices that `process` owns.
  [[nodiscard]] Index count(int process) const { return count_below(process, extent); }
  /// Number of indices below `global` that `process` owns.
  [[nodiscard]] Index count_below(int process, Index global) const;
  /// Local indices of the part of [globals.begin, globals.end) that `process` owns: always one range.
  [[nodiscard]] Range locals(int process, Range globals) const {
    return {count_below(process, globals.begin), count_below(process, globals.end)};
  }
  friend bool operator==(const CyclicAxis&, const CyclicAxis&) = default;
};

/// Which memory of its owner an element is in. `host`: pinned host memory that the device reaches, for matrices larger
/// than the devices' memory; products stream it through the devices, all else reads and writes it at the speed of the
/// bus. On CPU backends both are the same memory.
enum class Residence { device, host };

/// A matrix's shape and its owners: the two-dimensional block-cyclic distribution of ScaLAPACK (row-major process grid,
/// first block on the grid's first process), of which the other placements are special cases.
///
/// Process (p, q) of the grid is rank first_rank + p * grid_columns + q. Ranks outside the grid own nothing.
class Placement {
 public:
  Placement() = default;

  /// The whole matrix on one rank.
  static Placement on_rank(Index rows, Index columns, int rank);
  /// Rank p of `ranks` owns rows [p*b, (p+1)*b), b = ceil(rows / ranks), or `block` where given; trailing ranks may own
  /// fewer or none.
  static Placement row_bands(Index rows, Index columns, int ranks);
  /// The same with columns.
  static Placement column_bands(Index rows, Index columns, int ranks);
  /// Blocks of block_rows x block_columns dealt out over a grid of grid_rows x grid_columns ranks.
  static Placement block_cyclic(Index rows, Index columns, Index block_rows, Index block_columns, int grid_rows,
                                int grid_columns, int first_rank = 0);

  /// The same owners, with the elements in the given memory. Placements begin on the device.
  [[nodiscard]] Placement in(Residence residence) const;

  [[nodiscard]] Residence residence() const noexcept { return residence_; }
  [[nodiscard]] Index rows() const noexcept { return row_axis_.extent; }
  [[nodiscard]] Index columns() const noexcept { return column_axis_.extent; }
  [[nodiscard]] const CyclicAxis& row_axis() const noexcept { return row_axis_; }
  [[nodiscard]] const CyclicAxis& column_axis() const noexcept { return column_axis_; }
  [[nodiscard]] int first_rank() const noexcept { return first_rank_; }
  /// One more than the highest rank of the grid.
  [[nodiscard]] int rank_end() const noexcept { return first_rank_ + row_axis_.processes * column_axis_.processes; }

  /// Whether `rank` is in the grid; it may own nothing all the same.
  [[nodiscard]] bool in_grid(int rank) const noexcept { return rank >= first_rank_ && rank < rank_end(); }
  /// Grid coordinates of a rank in the grid.
  [[nodiscard]] int grid_row(int rank) const noexcept { return (rank - first_rank_) / column_axis_.processes; }
  [[nodiscard]] int grid_column(int rank) const noexcept { return (rank - first_rank_) % column_axis_.processes; }

  [[nodiscard]] int owner(Index row, Index column) const {
    return first_rank_ + row_axis_.owner(row) * column_axis_.processes + column_axis_.owner(column);
  }
  /// Extents of what `rank` owns; 0 x 0 outside the grid.
  [[nodiscard]] Index local_rows(int rank) const { return in_grid(rank) ? row_axis_.count(grid_row(rank)) : 0; }
  [[nodiscard]] Index local_columns(int rank) const {
    return in_grid(rank) ? column_axis_.count(grid_column(rank)) : 0;
  }
  /// Local rows (columns) of `rank` whose global index is in `globals`: always one range; empty outside the grid.
  [[nodiscard]] Range local_rows(int rank, Range globals) const {
    return in_grid(rank) ? row_axis_.locals(grid_row(rank), globals) : Range{};
  }
  [[nodiscard]] Range local_columns(int rank, Range globals) const {
    return in_grid(rank) ? column_axis_.locals(grid_column(rank), globals) : Range{};
  }

  /// "1024 x 1024 on rank 2", "... in 4 row bands", "... in 64 x 64 blocks over 2 x 2 ranks"; "..., in host memory".
  [[nodiscard]] std::string describe() const;

  friend bool operator==(const Placement&, const Placement&) = default;

 private:
  CyclicAxis row_axis_;
  CyclicAxis column_axis_;
  int first_rank_ = 0;
  Residence residence_ = Residence::device;
};

/// Reads "rank:2", "rows", "columns" or "cyclic:64x64:2x2" (block sizes, grid); as the command's options write it.
/// `cyclic:64x64` takes the squarest grid; `host:` before any of them puts it in host memory. Throws Error(argument)
/// for anything else or for ranks >= `ranks`.
[[nodiscard]] Placement placement_from(const std::string& text, Index rows, Index columns, int ranks);

}  // namespace heddle
