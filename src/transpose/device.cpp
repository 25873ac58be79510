// On GPUs: padded tiles in shared memory, several elements a thread, all of them on their way before the first is used.
#include "transpose/instantiate.hpp"
#include "transpose/tiles.hpp"

namespace heddle::impl {

template <class T> void move_streamed(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  constexpr int extent = 32;
  constexpr int leading = extent + 1;
  constexpr int lines = team_threads / extent;  // Columns that a team reads, or rows that it writes, at once.
  constexpr int each = extent / lines;
  constexpr std::size_t bytes = sizeof(T) * leading * extent;
  TeamPolicy policy(space, Tile::count(moves, extent, extent), team_threads);
  policy.set_scratch_size(scratch_level, Kokkos::PerTeam(static_cast<int>(bytes + buffer_alignment)));
  Kokkos::parallel_for(
      "heddle::transpose::streamed", policy, KOKKOS_LAMBDA(const Team& team) {
        const Tile tile = Tile::of(moves, extent, extent, team.league_rank());
        T* const buffer = shared_buffer<T>(team, bytes);
        if (tile.rows < extent || tile.columns < extent) {
          read_tile(team, moves, tile, buffer, leading);
          team.team_barrier();
          write_tile(team, moves, map, tile, buffer, leading);
          return;
        }
        const int lane = team.team_rank() % extent;
        const int line = team.team_rank() / extent;
        T values[each];
        const T* const from = &moves.source(tile.i + lane, tile.j + line, tile.k);
        for (int e = 0; e < each; ++e) {
          values[e] = from[e * lines * moves.from_column];
        }
        for (int e = 0; e < each; ++e) {
          buffer[lane + (line + e * lines) * leading] = values[e];
        }
        team.team_barrier();
        T* const to = &moves.target(tile.i + line, tile.j + lane, tile.k);
        for (int e = 0; e < each; ++e) {
          to[e * lines * moves.to_row] = map(buffer[line + e * lines + lane * leading]);
        }
      });
}

#define HEDDLE_INSTANTIATE(T) template void move_streamed<T>(const ExecutionSpace&, const Moves<T>&, const Map<T>&)
HEDDLE_FOR_EACH_TRANSPOSABLE(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
