// Blocks of a matrix that a team reads down the columns and uses along the rows.
#pragma once

#include "core/elementwise.hpp"

#include <type_traits>

namespace heddle::impl {

/// Rows and columns of a block, at most.
inline constexpr int block_edge = 32;

using BlockTeams = Kokkos::TeamPolicy<ExecutionSpace>;

/// A block in a team's fast memory: column-major, the columns so far apart that the elements of a row are in different
/// banks.
template <class T>
using TransposedBlock = Kokkos::View<T**, Kokkos::LayoutLeft, typename ExecutionSpace::scratch_memory_space,
                                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A team, with memory for a block, for each of `count` blocks.
template <class T> BlockTeams block_teams(const ExecutionSpace& space, Index count) {
  BlockTeams teams(space, static_cast<int>(count), on_host ? 1 : 8, on_host ? 1 : 32);
  teams.set_scratch_size(0,
                         Kokkos::PerTeam(static_cast<int>(TransposedBlock<T>::shmem_size(block_edge + 1, block_edge))));
  return teams;
}

/// rows x columns elements of A from (i0, j0) on, for the whole team, which synchronises. Call it once in a kernel:
/// the memory holds one block.
template <class T>
KOKKOS_INLINE_FUNCTION TransposedBlock<std::remove_const_t<T>> transposed_block(const BlockTeams::member_type& team,
                                                                                const Elements<T>& A, Index i0,
                                                                                Index j0, int rows, int columns) {
  const TransposedBlock<std::remove_const_t<T>> held(team.team_scratch(0), block_edge + 1, block_edge);
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), [&](int j) {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows), [&](int i) { held(i, j) = A(i0 + i, j0 + j); });
  });
  team.team_barrier();
  return held;
}

}  // namespace heddle::impl
