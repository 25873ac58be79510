// Interchanges of rows as a permutation: a list of sources and targets.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/dist/placement.hpp>

#include <vector>

namespace heddle::impl {

/// Rows of a panel that move: row source[k] moves to row target[k], k = 0 ... count - 1; each row is a target at most
/// once, and as often a source. In device memory, so that the host need not wait for it.
struct RowMoves {
  Kokkos::View<Index*, MemorySpace> data;  ///< count, then targets, then sources

  RowMoves() = default;
  /// Room for `most` moves.
  RowMoves(const ExecutionSpace& space, Index most)
      : data(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::moves"),
             static_cast<std::size_t>(1 + 2 * most)) {}
  explicit RowMoves(const Kokkos::View<Index*, MemorySpace>& memory) : data(memory) {}

  /// Elements of `data` for `most` moves.
  [[nodiscard]] static Index extent(Index most) { return 1 + 2 * most; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index most() const { return (static_cast<Index>(data.extent(0)) - 1) / 2; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index count() const { return data(0); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index target(Index k) const { return data(1 + k); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index source(Index k) const { return data(1 + most() + k); }
  KOKKOS_INLINE_FUNCTION void set(Index k, Index target, Index source) const {
    data(1 + k) = target;
    data(1 + most() + k) = source;
  }
};

/// Compute, on the host, the moves equivalent to interchanging rows k and pivots[k] for k = begin, ..., end - 1 in
/// turn. `order` holds r at each place r, before and after.
void moves_of_pivots(const Index* pivots, Index begin, Index end, std::vector<Index>& order, const RowMoves& moves);

/// Find the moves of rows `begin` and on, row sources(r) moving to row r, in any order. Ordered on `space`, and does
/// not block.
void find_moves(const ExecutionSpace& space, const Kokkos::View<const Index*, MemorySpace>& sources, Index begin,
                const RowMoves& moves);

/// Moves rows of C, counted from C's first, in all columns but `others`, and elements of `list`, which may be empty,
/// likewise. Then, on GPUs, solves X = L^-1 X for `solved` columns X of rows `others`, L being the unit lower triangle
/// in `others` rows and columns of C: each element is a chain of multiply_add() in the order of the columns. Ordered on
/// `space`, and does not block. Bits: elements are copied, or are those of such chains. Cost: two elements read and two
/// written for each moved row and column, each in its own line of memory.
template <class T>
void move_rows(const ExecutionSpace& space, const RowMoves& moves, const MatrixView<T>& C, Range others = {},
               const Kokkos::View<Index*, MemorySpace>& list = {}, Range solved = {});

}  // namespace heddle::impl
