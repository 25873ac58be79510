// Placement of a matrix: the owner rank of each element.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>

namespace heddle {

/// The half-open range of indices [begin, end).
struct Range {
  Index begin = 0;  ///< The first index.
  Index end = 0;    ///< One more than the last index.
  [[nodiscard]] constexpr Index size() const noexcept { return end - begin; }
  [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

/// One dimension of a matrix, whose indices are dealt out to processes block-cyclically: global index g is in block g /
/// block, which process (g / block) mod processes owns. Local indices keep the global order.
struct CyclicAxis {
  Index extent = 0;   ///< Number of indices.
  Index block = 1;    ///< Indices of a block.
  int processes = 1;  ///< Number of processes.

  /// The process that owns `global`.
  [[nodiscard]] int owner(Index global) const { return static_cast<int>((global / block) % processes); }
  /// The local index of `global` on the process that owns it.
  [[nodiscard]] Index local(Index global) const { return global / block / processes * block + global % block; }
  /// The global index of local index `local` of `process`.
  KOKKOS_INLINE_FUNCTION Index global(int process, Index local) const {
    return (local / block * processes + process) * block + local % block;
  }
  /// Number of indices that `process` owns.
  [[nodiscard]] Index count(int process) const { return count_below(process, extent); }
  /// Number of indices below `global` that `process` owns.
  [[nodiscard]] Index count_below(int process, Index global) const;
  /// The local indices on `process` of the global indices in `globals` that it owns: always one range.
  [[nodiscard]] Range locals(int process, Range globals) const {
    return {count_below(process, globals.begin), count_below(process, globals.end)};
  }
  friend bool operator==(const CyclicAxis&, const CyclicAxis&) = default;
};

/// Memory of its owner that holds a matrix element. With `host` it is pinned host memory that the device can reach,
/// for matrices larger than the devices' memory: products stream it through the devices, and everything else reads and
/// writes it at the speed of the bus. On CPU backends both are the same memory.
enum class Residence { device, host };

/// Numbering of the processes of a grid: along its rows, or along its columns.
enum class GridOrder { row_major, column_major };

/// The shape of a matrix and the owner rank of each element: the two-dimensional block-cyclic distribution of
/// ScaLAPACK. All other placements are special cases of it.
///
/// Process (p, q) of the process grid is rank first_rank + p * grid_columns + q, or, numbered along columns,
/// first_rank + q * grid_rows + p. The first block is on process (0, 0), or another (begun_at()). A rank's row and
/// column in the grid are counted from the first block's process: grid_row() and the axes need not know where that is.
/// Ranks outside the grid own nothing.
///
/// Functions that make a placement throw Error(argument) for negative extents, blocks, grids or numbers of ranks that
/// are not positive, and ranks of 2^31 - 1 or more.
class Placement {
 public:
  Placement() = default;

  /// The whole matrix on one rank.
  static Placement on_rank(Index rows, Index columns, int rank);
  /// Bands of rows: rank p of `ranks` owns rows [p*b, (p+1)*b) with b = ceil(rows / ranks). Trailing ranks may own
  /// fewer rows or none.
  static Placement row_bands(Index rows, Index columns, int ranks);
  /// Bands of columns: rank p of `ranks` owns columns [p*b, (p+1)*b) with b = ceil(columns / ranks). Trailing ranks may
  /// own fewer columns or none.
  static Placement column_bands(Index rows, Index columns, int ranks);
  /// Blocks of block_rows x block_columns elements, dealt out over a grid of grid_rows x grid_columns ranks that begins
  /// at rank first_rank.
  static Placement block_cyclic(Index rows, Index columns, Index block_rows, Index block_columns, int grid_rows,
                                int grid_columns, int first_rank = 0);

  /// This placement with the processes of its grid numbered so.
  [[nodiscard]] Placement in_order(GridOrder order) const;
  /// This placement with its first block on process (row, column) of the grid, and the others after it in turn. Throws
  /// Error(argument) where that is no process of the grid.
  [[nodiscard]] Placement begun_at(int row, int column) const;
  /// This placement with its elements in the given memory. A new placement is in device memory.
  [[nodiscard]] Placement in(Residence residence) const;

  [[nodiscard]] Residence residence() const noexcept { return residence_; }
  [[nodiscard]] Index rows() const noexcept { return row_axis_.extent; }
  [[nodiscard]] Index columns() const noexcept { return column_axis_.extent; }
  [[nodiscard]] const CyclicAxis& row_axis() const noexcept { return row_axis_; }
  [[nodiscard]] const CyclicAxis& column_axis() const noexcept { return column_axis_; }
  /// The rank of the grid's first process.
  [[nodiscard]] int first_rank() const noexcept { return first_rank_; }
  /// Numbering of the processes of the grid; row_major if the grid has one row or one column.
  [[nodiscard]] GridOrder order() const noexcept {
    return by_columns_ ? GridOrder::column_major : GridOrder::row_major;
  }
  /// The row and the column in the grid of the process that has the first block.
  [[nodiscard]] int first_row() const noexcept { return first_row_; }
  [[nodiscard]] int first_column() const noexcept { return first_column_; }
  /// One more than the highest rank of the grid.
  [[nodiscard]] int rank_end() const noexcept { return first_rank_ + row_axis_.processes * column_axis_.processes; }

  /// Whether `rank` is in the grid; it may own nothing all the same.
  [[nodiscard]] bool in_grid(int rank) const noexcept { return rank >= first_rank_ && rank < rank_end(); }
  /// Row in the process grid of a rank that is in it, counted from that of the first block.
  [[nodiscard]] int grid_row(int rank) const noexcept {
    const int row =
        by_columns_ ? (rank - first_rank_) % row_axis_.processes : (rank - first_rank_) / column_axis_.processes;
    return row >= first_row_ ? row - first_row_ : row - first_row_ + row_axis_.processes;
  }
  /// Column in the process grid of a rank that is in it, counted from that of the first block.
  [[nodiscard]] int grid_column(int rank) const noexcept {
    const int column =
        by_columns_ ? (rank - first_rank_) / row_axis_.processes : (rank - first_rank_) % column_axis_.processes;
    return column >= first_column_ ? column - first_column_ : column - first_column_ + column_axis_.processes;
  }
  /// The rank of a process, whose row and column are counted so.
  [[nodiscard]] int rank_of(int grid_row, int grid_column) const noexcept {
    const int row = (grid_row + first_row_) % row_axis_.processes;
    const int column = (grid_column + first_column_) % column_axis_.processes;
    return first_rank_ + (by_columns_ ? column * row_axis_.processes + row : row * column_axis_.processes + column);
  }

  /// The rank that owns element (row, column).
  [[nodiscard]] int owner(Index row, Index column) const {
    return rank_of(row_axis_.owner(row), column_axis_.owner(column));
  }
  /// Number of rows that `rank` owns; 0 where it is outside the grid.
  [[nodiscard]] Index local_rows(int rank) const { return in_grid(rank) ? row_axis_.count(grid_row(rank)) : 0; }
  /// Number of columns that `rank` owns; 0 where it is outside the grid.
  [[nodiscard]] Index local_columns(int rank) const {
    return in_grid(rank) ? column_axis_.count(grid_column(rank)) : 0;
  }
  /// The local rows of `rank` whose global index is in `globals`: always one range, and empty outside the grid.
  [[nodiscard]] Range local_rows(int rank, Range globals) const {
    return in_grid(rank) ? row_axis_.locals(grid_row(rank), globals) : Range{};
  }
  /// The local columns of `rank` whose global index is in `globals`: always one range, and empty outside the grid.
  [[nodiscard]] Range local_columns(int rank, Range globals) const {
    return in_grid(rank) ? column_axis_.locals(grid_column(rank), globals) : Range{};
  }

  /// The placement in words: "1024 x 1024 on rank 2", "... in 4 row bands", "... in 64 x 64 blocks over 2 x 2 ranks",
  /// with ", in host memory" at the end where that is so.
  [[nodiscard]] std::string describe() const;

  friend bool operator==(const Placement&, const Placement&) = default;

 private:
  CyclicAxis row_axis_;
  CyclicAxis column_axis_;
  int first_rank_ = 0;
  int first_row_ = 0;  // Row of the first block in the grid.
  int first_column_ = 0;
  bool by_columns_ = false;
  Residence residence_ = Residence::device;
};

/// The placement that a text names, as the command's options do: "rank:2", "rows", "columns", or "cyclic:64x64:2x2"
/// with the sizes of a block and of the grid. "cyclic:64x64" takes the grid nearest to a square, and "host:" before any
/// of these puts the matrix in host memory. Throws Error(argument) for any other text and for ranks >= `ranks`.
[[nodiscard]] Placement placement_from(const std::string& text, Index rows, Index columns, int ranks);

}  // namespace heddle
