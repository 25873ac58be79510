#include "solve/moves.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

template <class T>
void move_on_host(const ExecutionSpace& space, const RowMoves& moves, const Elements<T>& C, Index columns) {
  const Index count = moves.count();
  if (count == 0) return;
  Kokkos::parallel_for("heddle::solve::move_rows",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns), [=](Index j) {
                         thread_local std::vector<T> kept;
                         kept.resize(static_cast<std::size_t>(count));
                         for (Index k = 0; k < count; ++k) kept[static_cast<std::size_t>(k)] = C(moves.source(k), j);
                         for (Index k = 0; k < count; ++k) C(moves.target(k), j) = kept[static_cast<std::size_t>(k)];
                       });
}

// A team for a few columns, which lie in its fast memory while they move.
template <class T> struct DeviceMove {
  static constexpr int threads = 256;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Kept = Kokkos::View<T*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  RowMoves moves;
  Elements<T> C;
  Index columns;
  int each;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto count = static_cast<int>(moves.count());
    if (count == 0) return;
    const Kept kept(team.team_scratch(0), static_cast<int>(moves.most()) * each);
    const Index first = Index{team.league_rank()} * each;
    const int here = static_cast<int>(Kokkos::min<Index>(each, columns - first));
    // Neighbouring threads take neighbouring moves: targets at the top of the panel lie side by side.
    for (int e = team.team_rank(); e < count * here; e += threads)
      kept(e) = C(moves.source(e % count), first + e / count);
    team.team_barrier();
    for (int e = team.team_rank(); e < count * here; e += threads)
      C(moves.target(e % count), first + e / count) = kept(e);
  }
};

}  // namespace

void moves_of_pivots(const Index* pivots, Index begin, Index end, std::vector<Index>& order, const RowMoves& moves) {
  const auto at = [&](Index r) -> Index& { return order[static_cast<std::size_t>(r)]; };
  for (Index k = begin; k < end; ++k) std::swap(at(k), at(pivots[k]));
  Index count = 0;
  const auto take = [&](Index r) {
    if (at(r) != r) moves.set(count++, r, at(r));
    at(r) = r;  // A row that comes again has been counted.
  };
  for (Index k = begin; k < end; ++k) {
    take(k);
    take(pivots[k]);
  }
  moves.data(0) = count;
}

void find_moves(const ExecutionSpace& space, const Kokkos::View<const Index*, MemorySpace>& sources, Index begin,
                const RowMoves& moves) {
  const auto rows = static_cast<Index>(sources.extent(0));
  const auto data = moves.data;
  Kokkos::deep_copy(space, Kokkos::subview(data, std::pair<int, int>(0, 1)), Index{0});
  Kokkos::parallel_for(
      "heddle::solve::find_moves", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, begin, rows),
      KOKKOS_LAMBDA(Index r) {
        if (sources(r) != r) moves.set(Kokkos::atomic_fetch_add(&data(0), Index{1}), r, sources(r));
      });
}

template <class T> void move_rows(const ExecutionSpace& space, const RowMoves& moves, const MatrixView<T>& C) {
  const auto columns = static_cast<Index>(C.extent(1));
  if (columns == 0 || moves.most() == 0) return;
  if constexpr (on_host) {
    move_on_host<T>(space, moves, Elements<T>(C), columns);
  } else {
    using Move = DeviceMove<T>;
    const int bytes = static_cast<int>(sizeof(T));
    const int each = std::max(1, 16384 / (static_cast<int>(moves.most()) * bytes));
    Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>((columns + each - 1) / each), Move::threads);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Move::Kept::shmem_size(static_cast<int>(moves.most()) * each))));
    Kokkos::parallel_for("heddle::solve::move_rows", policy, Move{moves, Elements<T>(C), columns, each});
  }
}

#define HEDDLE_INSTANTIATE(T) template void move_rows<T>(const ExecutionSpace&, const RowMoves&, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
HEDDLE_INSTANTIATE(Index);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
