// On GPUs: padded tiles in shared memory, several elements a thread, all of them on their way before the first is used.
#include "transpose/instantiate.hpp"
#include "transpose/tiles.hpp"

namespace heddle::impl {
namespace {

/// A tile of 16 KiB: enough on its way at four teams to a multiprocessor, and runs of at least 256 bytes at both ends.
/// The longer runs are the writes, but for sheared tiles, where each costs one sector more to read (the best of 30
/// shapes on an H200).
template <class T, bool sheared> struct Extents {
  static constexpr int shorter = 32;
  static constexpr int longer = sizeof(T) <= 8 ? 64 : 32;
  static constexpr int rows = sheared || sizeof(T) <= 4 ? longer : shorter;
  static constexpr int columns = sheared && sizeof(T) > 4 ? shorter : longer;
};

/// What GPUs read and write at once. A run that begins within a sector makes the neighbour's write a partial one too.
constexpr int sector_bytes = 32;

/// Moves whose tiles are `sheared`: along each row of A they begin where a sector of B does, up to a sector's elements
/// further on, so that every write but those at the ends of a row fills whole sectors. Teams that run at the same time
/// write neighbouring runs: numbers rise along the rows of A first (on an H200, 0.92 of a copy with odd extents, where
/// down the columns first gives 0.86).
template <class T, bool sheared> struct StreamedMove {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_threads, 4>>;
  using Member = typename Policy::member_type;

  static constexpr int rows = Extents<T, sheared>::rows;
  static constexpr int columns = Extents<T, sheared>::columns;
  static constexpr int sector = sector_bytes / static_cast<int>(sizeof(T));
  static constexpr int width = columns + (sheared ? sector : 0);
  static constexpr int leading = rows + 1;
  static constexpr int columns_at_once = team_threads / rows;
  static constexpr int rows_at_once = team_threads / columns;
  static constexpr int reads = (width + columns_at_once - 1) / columns_at_once;
  static constexpr int bytes = static_cast<int>(sizeof(T)) * leading * reads * columns_at_once;

  Moves<T> moves;
  Map<T> map;
  unsigned across;
  unsigned down;
  unsigned phase;  ///< Elements between the beginning of a sector and that of B.

  StreamedMove(const Moves<T>& all, const Map<T>& f)
      : moves(all),
        map(f),
        across(static_cast<unsigned>((all.columns + columns - 1) / columns)),
        down(static_cast<unsigned>((all.rows + rows - 1) / rows)),
        phase(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(all.to) % sector_bytes / sizeof(T))) {}

  /// How far from the beginning of a tile its part of row i begins.
  KOKKOS_INLINE_FUNCTION int shift(Index i, Index k) const {
    if constexpr (sheared) {
      const auto elements = phase + static_cast<unsigned>(i * moves.to_row + k * moves.to_batch);
      return static_cast<int>((0U - elements) % static_cast<unsigned>(sector));
    }
    return 0;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const auto number = static_cast<unsigned>(team.league_rank());
    const unsigned row = number / across;
    const unsigned first = number - row * across;
    const Index k = row / down;
    const Index i = static_cast<Index>(row % down) * rows;
    const Index j = static_cast<Index>(first) * columns;
    T* const buffer = shared_buffer<T>(team, static_cast<std::size_t>(bytes));
    const int thread = team.team_rank();
    if (i + rows > moves.rows || j + width > moves.columns || (sheared && first == 0)) {
      at_an_edge(team, buffer, i, j, k, first == 0);
      return;
    }
    {
      const int r = thread % rows;
      const int c = thread / rows;
      T values[reads];
      const T* const from = &moves.source(i + r, j + c, k);
      for (int e = 0; e < reads; ++e) {
        if (width % columns_at_once == 0 || c + e * columns_at_once < width) {
          values[e] = from[e * columns_at_once * moves.from_column];
        }
      }
      for (int e = 0; e < reads; ++e) {
        buffer[r + (c + e * columns_at_once) * leading] = values[e];
      }
    }
    team.team_barrier();
    const int c = thread % columns;
    for (int e = 0; e < rows / rows_at_once; ++e) {
      const int r = thread / columns + e * rows_at_once;
      const int s = shift(i + r, k);
      moves.target(i + r, j + c + s, k) = map(buffer[r + (c + s) * leading]);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void at_an_edge(const Member& team, T* buffer, Index i, Index j, Index k, bool first) const {
    const auto height = static_cast<int>(moves.rows - i < rows ? moves.rows - i : rows);
    const auto count = static_cast<int>(moves.columns - j < width ? moves.columns - j : width);
    for_each_in_team(team, rows, count, [&](int r, int c) {
      if (r < height) {
        buffer[r + c * leading] = moves.source(i + r, j + c, k);
      }
    });
    team.team_barrier();
    for_each_in_team(team, width, height, [&](int c, int r) {
      const int s = shift(i + r, k);
      if (c < count && (first || c >= s) && c < columns + s) {
        moves.target(i + r, j + c, k) = map(buffer[r + c * leading]);
      }
    });
  }
};

template <class T, bool sheared> void run(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  using Move = StreamedMove<T, sheared>;
  typename Move::Policy policy(space, Tile::count(moves, Move::rows, Move::columns), team_threads);
  policy.set_scratch_size(scratch_level, Kokkos::PerTeam(Move::bytes + static_cast<int>(buffer_alignment)));
  Kokkos::parallel_for("heddle::transpose::streamed", policy, Move(moves, map));
}

}  // namespace

template <class T> void move_streamed(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  constexpr auto sector = static_cast<Index>(sector_bytes / sizeof(T));
  const bool aligned = reinterpret_cast<std::uintptr_t>(moves.to) % sector_bytes == 0 && moves.to_row % sector == 0 &&
                       moves.to_batch % sector == 0;
  if (aligned) {
    run<T, false>(space, moves, map);
  } else {
    run<T, true>(space, moves, map);
  }
}

#define HEDDLE_INSTANTIATE(T) template void move_streamed<T>(const ExecutionSpace&, const Moves<T>&, const Map<T>&)
HEDDLE_FOR_EACH_TRANSPOSABLE(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
