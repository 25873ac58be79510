// On GPUs: padded tiles in shared memory, several elements a thread, all of them on their way before the first is used.
#include "core/launch_bounds.hpp"
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

/// Bytes that GPUs read and write at once. A run that begins within a sector makes the neighbour's write a partial one
/// too.
constexpr int sector_bytes = 32;

/// Tiles begin where runs of their length do in memory, where all columns of A, or rows of B, begin alike: the first
/// ones are as much shorter (a View begins 128 bytes after its allocation; not heeding that costs 4 % on an H200).
///
/// Else they are `sheared`: along each row of A they begin where a sector of B does, up to a sector's elements further
/// on, so that every write but those at the ends of a row fills whole sectors. Teams that run at the same time write
/// neighbouring runs: numbers rise along the rows of A first (on an H200, 0.92 of a copy with odd extents, where down
/// the columns first gives 0.86).
template <class T, bool sheared> struct StreamedMove {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, LaunchBounds<team_threads, 4>>;
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
  int lead_rows;  ///< Rows by which the first tile is shorter.
  int lead_columns;
  unsigned across;
  unsigned down;
  unsigned tiles;
  unsigned phase;  ///< Elements between the beginning of a sector and that of B.

  StreamedMove(const Moves<T>& all, const Map<T>& f)
      : moves(all),
        map(f),
        lead_rows(lead(all.from, all.from_column, all.batch > 1 ? all.from_batch : 0, all.rows, rows)),
        lead_columns(sheared ? 0 : lead(all.to, all.to_row, all.batch > 1 ? all.to_batch : 0, all.columns, columns)),
        across(static_cast<unsigned>((all.columns + lead_columns + columns - 1) / columns)),
        down(static_cast<unsigned>((all.rows + lead_rows + rows - 1) / rows)),
        phase(static_cast<unsigned>(elements_before(all.to) % sector)) {
    const Index count = static_cast<Index>(across) * down * all.batch;
    require(count < (Index{1} << 31), "transpose: ", count, " tiles; expected fewer than 2^31");
    tiles = static_cast<unsigned>(count);
  }

  static std::uintptr_t elements_before(const T* data) { return reinterpret_cast<std::uintptr_t>(data) / sizeof(T); }
  // 0 along fewer than 16 tiles, where the tile that a lead adds would cost too much.
  static int lead(const T* data, Index stride, Index batch_stride, Index length, int extent) {
    return stride % extent == 0 && batch_stride % extent == 0 && length >= 16 * extent
               ? static_cast<int>(elements_before(data) % extent)
               : 0;
  }

  /// Offset of a tile's part of a row: elements from position `elements` of B to the next sector; 0 unless sheared.
  KOKKOS_INLINE_FUNCTION int shift(Index elements) const {
    return sheared ? static_cast<int>((0U - (phase + static_cast<unsigned>(elements))) % static_cast<unsigned>(sector))
                   : 0;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    T* const buffer = shared_buffer<T>(team, static_cast<std::size_t>(bytes));
    const auto teams = static_cast<unsigned>(team.league_size());
    for (auto number = static_cast<unsigned>(team.league_rank()); number < tiles; number += teams) {
      const unsigned row = number / across;
      const unsigned first = number - row * across;
      const Index k = row / down;
      const Index i = static_cast<Index>(row % down) * rows - lead_rows;
      const Index j = static_cast<Index>(first) * columns - lead_columns;
      if (i < 0 || j < 0 || i + rows > moves.rows || j + width > moves.columns || (sheared && first == 0)) {
        at_an_edge(team, buffer, i, j, k, first == 0);
      } else {
        inside(team, buffer, i, j, k);
      }
      // The buffer is free for the next.
      team.team_barrier();
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void inside(const Member& team, T* buffer, Index i, Index j, Index k) const {
    const int thread = team.team_rank();
    {
      const int r = thread % rows;
      const int c = thread / rows;
      T values[reads];
      const T* const from = moves.from + (i + r) + (j + c) * moves.from_column + k * moves.from_batch;
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
    const int r = thread / columns;
    const int c = thread % columns;
    const Index begin = (i + r) * moves.to_row + k * moves.to_batch;
    T* const to = moves.to + begin + j + c;
    const Index step = rows_at_once * moves.to_row;
    for (int e = 0; e < rows / rows_at_once; ++e) {
      const int s = shift(begin + e * step);
      to[e * step + s] = map(buffer[r + e * rows_at_once + (c + s) * leading]);
    }
  }

  KOKKOS_INLINE_FUNCTION void at_an_edge(const Member& team, T* buffer, Index i, Index j, Index k, bool first) const {
    const int top = i < 0 ? static_cast<int>(-i) : 0;
    const int left = j < 0 ? static_cast<int>(-j) : 0;
    const auto bottom = static_cast<int>(moves.rows - i < rows ? moves.rows - i : rows);
    const auto right = static_cast<int>(moves.columns - j < width ? moves.columns - j : width);
    for_each_in_team(team, rows, right, [&](int r, int c) {
      if (r >= top && r < bottom && c >= left) {
        buffer[r + c * leading] = moves.source(i + r, j + c, k);
      }
    });
    team.team_barrier();
    for_each_in_team(team, width, bottom, [&](int c, int r) {
      const int s = shift((i + r) * moves.to_row + k * moves.to_batch);
      if (r >= top && c >= left && c < right && (first || c >= s) && c < columns + s) {
        moves.target(i + r, j + c, k) = map(buffer[r + c * leading]);
      }
    });
  }
};

template <class T, bool sheared>
void run(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map, double device_share) {
  using Move = StreamedMove<T, sheared>;
  const Move move(moves, map);
  auto teams = static_cast<int>(move.tiles);
  if (device_share < 1.0) {
    // A share of the teams that are resident at once.
    teams = std::min(teams, std::max(1, static_cast<int>(device_share * space.concurrency() / team_threads)));
  }
  typename Move::Policy policy(space, teams, team_threads);
  policy.set_scratch_size(scratch_level, Kokkos::PerTeam(Move::bytes + static_cast<int>(buffer_alignment)));
  Kokkos::parallel_for("heddle::transpose::streamed", policy, move);
}

}  // namespace

template <class T>
void move_streamed(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map, double device_share) {
  constexpr auto sector = static_cast<Index>(sector_bytes / sizeof(T));
  const bool aligned = reinterpret_cast<std::uintptr_t>(moves.to) % sector_bytes == 0 && moves.to_row % sector == 0 &&
                       moves.to_batch % sector == 0;
  if (aligned) {
    run<T, false>(space, moves, map, device_share);
  } else {
    run<T, true>(space, moves, map, device_share);
  }
}

#define HEDDLE_INSTANTIATE(T) \
  template void move_streamed<T>(const ExecutionSpace&, const Moves<T>&, const Map<T>&, double)
HEDDLE_FOR_EACH_TRANSPOSABLE(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
