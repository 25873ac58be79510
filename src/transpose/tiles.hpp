// Moves element by element, by tiles, and across the diagonal: the same source for every backend.
#pragma once

#include "core/elementwise.hpp"
#include "transpose/moves.hpp"

#include <algorithm>

namespace heddle::impl {

/// Extents of a block: what the options say, else `rows` x `columns`.
struct Block {
  int rows;
  int columns;
  Block(const TransposeOptions& options, int rows_by_default, int columns_by_default)
      : rows(options.block_rows > 0 ? options.block_rows : rows_by_default),
        columns(options.block_columns > 0 ? options.block_columns : columns_by_default) {}
  /// Bytes of a tile in shared memory.
  [[nodiscard]] std::size_t bytes(bool padded, std::size_t element_bytes) const {
    return element_bytes * (static_cast<std::size_t>(rows) + (padded ? 1 : 0)) * static_cast<std::size_t>(columns);
  }
};

/// Block of a variant that has blocks.
inline Block block_of(const TransposeOptions& options) {
  return {options, 32, options.variant == TransposeVariant::naive ? 8 : 32};
}

template <class T> struct MoveElement {
  Moves<T> moves;
  Map<T> map;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Index k) const {
    moves.target(i, j, k) = map(moves.source(i, j, k));
  }
};

template <class T>
void move_naively(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map,
                  const TransposeOptions& options) {
  const Block block = block_of(options);
  using Policy = Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                       Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "heddle::transpose::naive",
      Policy(space, {0, 0, 0}, {moves.rows, moves.columns, moves.batch}, {block.rows, block.columns, 1}),
      MoveElement<T>{moves, map});
}

/// The tile of a team: its beginning, and the extents of its part in the matrix.
struct Tile {
  Index i;
  Index j;
  Index k;
  int rows;
  int columns;

  /// Tile `number` of those of rows x columns that cover the moves, down the columns first.
  template <class T> KOKKOS_INLINE_FUNCTION static Tile of(const Moves<T>& moves, int rows, int columns, Index number) {
    // Fewer than 2^31 in all: GPUs take many times as long to divide longer numbers.
    const auto down = static_cast<unsigned>((moves.rows + rows - 1) / rows);
    const auto across = static_cast<unsigned>((moves.columns + columns - 1) / columns);
    const auto n = static_cast<unsigned>(number);
    const Index i = static_cast<Index>(n % down) * rows;
    const Index j = static_cast<Index>(n / down % across) * columns;
    return {i, j, static_cast<Index>(n / down / across),
            static_cast<int>(moves.rows - i < rows ? moves.rows - i : rows),
            static_cast<int>(moves.columns - j < columns ? moves.columns - j : columns)};
  }
  /// Number of tiles.
  template <class T> static int count(const Moves<T>& moves, int rows, int columns) {
    const Index tiles = (moves.rows + rows - 1) / rows * ((moves.columns + columns - 1) / columns) * moves.batch;
    require(tiles < (Index{1} << 31), "transpose: ", tiles, " blocks of ", rows, " x ", columns,
            "; expected fewer than 2^31: take larger ones");
    return static_cast<int>(tiles);
  }
};

/// body(a, b) for a < inner, b < outer by the threads of a team: neighbours take neighbouring a.
template <class Team, class Integer, class Body>
KOKKOS_INLINE_FUNCTION void for_each_in_team(const Team& team, Integer inner, Integer outer, const Body& body) {
  if constexpr (on_host) {
    // One thread is the team.
    for (Integer b = 0; b < outer; ++b) {
      for (Integer a = 0; a < inner; ++a) {
        body(a, b);
      }
    }
  } else {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, inner * outer), [&](Integer n) { body(n % inner, n / inner); });
  }
}

/// Reads a tile down its columns into `buffer`, of leading dimension `leading`.
template <class T, class Team>
KOKKOS_INLINE_FUNCTION void read_tile(const Team& team, const Moves<T>& moves, const Tile& tile, T* buffer,
                                      int leading) {
  for_each_in_team(team, tile.rows, tile.columns,
                   [&](int r, int c) { buffer[r + c * leading] = moves.source(tile.i + r, tile.j + c, tile.k); });
}

/// Write a tile along its rows, which are contiguous in the target.
template <class T, class Team>
KOKKOS_INLINE_FUNCTION void write_tile(const Team& team, const Moves<T>& moves, const Map<T>& map, const Tile& tile,
                                       const T* buffer, int leading) {
  for_each_in_team(team, tile.columns, tile.rows,
                   [&](int c, int r) { moves.target(tile.i + r, tile.j + c, tile.k) = map(buffer[r + c * leading]); });
}

using TeamPolicy = Kokkos::TeamPolicy<ExecutionSpace>;
using Team = TeamPolicy::member_type;

inline constexpr int team_threads = on_host ? 1 : 256;
/// Level of the memory that a team shares: on GPUs the multiprocessor's own, on CPUs one without a limit to speak of.
inline constexpr int scratch_level = on_host ? 1 : 0;
inline constexpr std::size_t buffer_alignment = 16;

template <class T, class Team> KOKKOS_INLINE_FUNCTION T* shared_buffer(const Team& team, std::size_t bytes) {
  constexpr int level = scratch_level;
  return static_cast<T*>(team.team_scratch(level).get_shmem_aligned(bytes, buffer_alignment));
}

template <class T> struct MoveTile {
  Moves<T> moves;
  Map<T> map;
  int rows;
  int columns;
  int leading;
  std::size_t bytes;
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Tile tile = Tile::of(moves, rows, columns, team.league_rank());
    T* const buffer = shared_buffer<T>(team, bytes);
    read_tile(team, moves, tile, buffer, leading);
    team.team_barrier();
    write_tile(team, moves, map, tile, buffer, leading);
  }
};

template <class T>
void move_by_tiles(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map,
                   const TransposeOptions& options) {
  const Block block = block_of(options);
  const bool padded = options.variant == TransposeVariant::tiled_padded;
  const int leading = block.rows + (padded ? 1 : 0);
  const std::size_t bytes = block.bytes(padded, sizeof(T));
  TeamPolicy policy(space, Tile::count(moves, block.rows, block.columns), team_threads);
  policy.set_scratch_size(scratch_level, Kokkos::PerTeam(static_cast<int>(bytes + buffer_alignment)));
  Kokkos::parallel_for(padded ? "heddle::transpose::tiled_padded" : "heddle::transpose::tiled", policy,
                       MoveTile<T>{moves, map, block.rows, block.columns, leading, bytes});
}

template <class T> struct SwapTiles {
  static constexpr int extent = on_host ? 64 : 32;
  static constexpr int leading = extent + 1;
  static constexpr std::size_t bytes = sizeof(T) * leading * extent;
  Moves<T> moves;
  Map<T> map;
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Tile tile = Tile::of(moves, extent, extent, team.league_rank());
    if (tile.i > tile.j) {
      return;
    }
    const Tile mirror{tile.j, tile.i, tile.k, tile.columns, tile.rows};
    T* const here = shared_buffer<T>(team, bytes);
    T* const there = shared_buffer<T>(team, bytes);
    read_tile(team, moves, tile, here, leading);
    read_tile(team, moves, mirror, there, leading);
    team.team_barrier();
    write_tile(team, moves, map, tile, here, leading);
    if (tile.i != tile.j) {
      write_tile(team, moves, map, mirror, there, leading);
    }
  }
};

/// Square moves whose target is their source: each tile and its mirror image change places.
template <class T> void swap_across_diagonal(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  constexpr int extent = SwapTiles<T>::extent;
  TeamPolicy policy(space, Tile::count(moves, extent, extent), team_threads);
  policy.set_scratch_size(scratch_level,
                          Kokkos::PerTeam(static_cast<int>(2 * (SwapTiles<T>::bytes + buffer_alignment))));
  Kokkos::parallel_for("heddle::transpose::swap", policy, SwapTiles<T>{moves, map});
}

}  // namespace heddle::impl
