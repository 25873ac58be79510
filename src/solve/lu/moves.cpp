// Permutations of rows on CPUs and GPUs.
#include "solve/lu/moves.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/lu/leaf.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

// All columns but a range.
struct Others {
  Range without;
  KOKKOS_INLINE_FUNCTION Index operator[](Index k) const {
    return k < without.begin ? k : k + without.end - without.begin;
  }
};

template <class T>
void move_on_host(const ExecutionSpace& space, const RowMoves& moves, const Elements<T>& C, const Others& columns,
                  Index count) {
  const Index moved = moves.count();
  if (moved == 0) return;
  Kokkos::parallel_for("heddle::solve::move_rows",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count), [=](Index at) {
                         const Index j = columns[at];
                         thread_local std::vector<T> kept;
                         kept.resize(static_cast<std::size_t>(moved));
                         for (Index k = 0; k < moved; ++k) kept[static_cast<std::size_t>(k)] = C(moves.source(k), j);
                         for (Index k = 0; k < moved; ++k) C(moves.target(k), j) = kept[static_cast<std::size_t>(k)];
                       });
}

// A team moves a few columns, which it holds in fast memory; the last team moves the list. A thread solves for a
// column.
template <class T> struct DeviceMove {
  static constexpr int threads = 256;
  static constexpr int most = static_cast<int>(leaf_width<T>);
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  template <class Element>
  using Kept = Kokkos::View<Element*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  RowMoves moves;
  Elements<T> C;
  Others columns;
  Index count;
  int each;
  Index* list;
  Range solved;

  template <class Element, class Place>
  KOKKOS_INLINE_FUNCTION void move(const Team& team, int moved, int here, const Place& place) const {
    const Kept<Element> kept(team.team_scratch(0), static_cast<int>(moves.most()) * here);
    // Neighbouring threads take neighbouring moves: targets at the top of the panel are contiguous.
    for (int e = team.team_rank(); e < moved * here; e += threads) kept(e) = place(moves.source(e % moved), e / moved);
    team.team_barrier();
    for (int e = team.team_rank(); e < moved * here; e += threads) place(moves.target(e % moved), e / moved) = kept(e);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto moved = static_cast<int>(moves.count());
    const Index begin = Index{team.league_rank()} * each;
    if (moved == 0 && solved.begin >= solved.end) return;
    if (begin >= count) {
      move<Index>(team, moved, 1, [&](Index r, int) -> Index& { return list[r]; });
      return;
    }
    const int here = static_cast<int>(Kokkos::min<Index>(each, count - begin));
    move<T>(team, moved, here, [&](Index r, int c) -> T& { return C(r, columns[begin + c]); });
    if (solved.begin < solved.end && columns[begin + here - 1] >= solved.begin && columns[begin] < solved.end) {
      solve(team, begin, here);
    }
  }
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, Index begin, int here) const {
    const Range block = columns.without;
    const auto size = static_cast<int>(block.end - block.begin);
    const Kept<T> minus(team.team_scratch(0), most * most);
    for (int e = team.team_rank(); e < most * most; e += threads) {
      const int i = e % most;
      const int k = e / most;
      minus(e) = k < i && i < size ? -C(block.begin + i, block.begin + k) : T(0);
    }
    team.team_barrier();
    const int c = team.team_rank();
    if (c >= here) return;
    const Index j = columns[begin + c];
    if (j < solved.begin || j >= solved.end) return;
    T x[most];
    HEDDLE_UNROLL
    for (int i = 0; i < most; ++i) x[i] = i < size ? C(block.begin + i, j) : T(0);
    HEDDLE_UNROLL
    for (int k = 0; k < most; ++k) {
      HEDDLE_UNROLL
      for (int i = 0; i < most; ++i) {
        if (i > k) x[i] = multiply_add(minus(k * most + i), x[k], x[i]);
      }
    }
    HEDDLE_UNROLL
    for (int i = 0; i < most; ++i) {
      if (i < size) C(block.begin + i, j) = x[i];
    }
  }
  // Fast memory for the list's elements, for the moved ones, and for a triangle.
  [[nodiscard]] int bytes() const {
    const auto moving = static_cast<int>(moves.most());
    return static_cast<int>(std::max(Kept<T>::shmem_size(moving * each), Kept<Index>::shmem_size(moving)) +
                            (solved.empty() ? 0 : Kept<T>::shmem_size(most * most)));
  }
};

}  // namespace

void moves_of_pivots(const Index* pivots, Index begin, Index end, std::vector<Index>& order, const RowMoves& moves) {
  const auto at = [&](Index r) -> Index& { return order[static_cast<std::size_t>(r)]; };
  for (Index k = begin; k < end; ++k) std::swap(at(k), at(pivots[k]));
  Index count = 0;
  const auto take = [&](Index r) {
    if (at(r) != r) moves.set(count++, r, at(r));
    at(r) = r;  // Each row is counted once.
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

template <class T>
void move_rows(const ExecutionSpace& space, const RowMoves& moves, const MatrixView<T>& C, Range others,
               const Kokkos::View<Index*, MemorySpace>& list, Range solved) {
  const Index count = static_cast<Index>(C.extent(1)) - others.size();
  const bool with_list = list.extent(0) > 0;
  if ((count == 0 && !with_list) || moves.most() == 0) return;
  const Elements<T> elements(C);
  if constexpr (on_host) {
    move_on_host<T>(space, moves, elements, {others}, count);
    if (with_list) {
      const auto rows = static_cast<Index>(list.extent(0));
      move_on_host<Index>(space, moves, Elements<Index>(matrix_view(list.data(), rows, 1, rows)), {}, 1);
    }
  } else {
    using Move = DeviceMove<T>;
    // As many columns as fit, and a team for each multiprocessor if there are enough columns.
    const auto fit = std::max<Index>(1, 16384 / (moves.most() * static_cast<Index>(sizeof(T))));
    const auto each = std::clamp<Index>(count / 128, 1, fit);
    const Index teams = (count + each - 1) / each + (with_list ? 1 : 0);
    const Move move{moves, elements, {others}, count, static_cast<int>(each), list.data(), solved};
    Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>(teams), Move::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(move.bytes()));
    Kokkos::parallel_for("heddle::solve::move_rows", policy, move);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template void move_rows<T>(const ExecutionSpace&, const RowMoves&, const MatrixView<T>&, Range, \
                             const Kokkos::View<Index*, MemorySpace>&, Range)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
