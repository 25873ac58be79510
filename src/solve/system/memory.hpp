// Bytes that factorizations and solutions take, as functions of shapes, and refusals where they exceed what is allowed.
#pragma once

#include "gemm/plan/memory.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/grid/slabs.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/emulation/emulation.hpp>

#include <algorithm>

namespace heddle::impl {

/// Bytes of a rank's workspace of a factorization, without its part of the matrix.
using WorkspaceBytes = double (*)(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);

/// Tile of a certificate's product of two matrices of this order: no more than a rank's share, so that the memory of
/// the product's bands is known beforehand on any backend.
[[nodiscard]] inline Index certificate_tile(Index order, int ranks) {
  constexpr Index most = 1024;
  return std::clamp<Index>((order + ranks - 1) / ranks, 1, most);
}
/// Returns an upper bound, in bytes, of the bands, tiles and messages that a rank holds during that product.
[[nodiscard]] inline double certificate_product(Index order, int ranks, double element_bytes) {
  const auto tile = static_cast<double>(certificate_tile(order, ranks));
  const double of_tile = element_bytes * tile * tile;
  return 10.0 * element_bytes * tile * static_cast<double>(order) + (on_host ? 0.0 : of_tile * small_tiles(of_tile));
}
/// Bytes of a matrix whose columns are dealt out.
template <Scalar T> [[nodiscard]] double bytes_of_local(Index rows, const CyclicAxis& columns);
/// Bytes of a copy of a matrix that is dealt out, and of the messages that bring it from another placement.
template <Scalar T> [[nodiscard]] double bytes_of_copy(const RankGrid& grid);

/// Bytes of the messages alone that bring a matrix from another placement.
template <Scalar T> [[nodiscard]] double bytes_of_messages(const RankGrid& grid);
/// Bytes of a copy of a matrix whose columns are dealt out; a copy in host memory takes only messages in the devices'
/// memory.
template <Scalar T>
[[nodiscard]] double bytes_of_copy(Index rows, const CyclicAxis& columns, Residence residence = Residence::device) {
  const RankGrid grid = RankGrid::of_columns(rows, columns, 0);
  return residence == Residence::host ? bytes_of_messages<T>(grid) : bytes_of_copy<T>(grid);
}

/// Bytes of a factorization by slabs: a slab on each rank, and the workspace that factors it or that applies the panels
/// on its left.
template <Scalar T>
[[nodiscard]] double slab_bytes(const ColumnSlabs& slabs, FactorizationKind kind, Arithmetic arithmetic);
/// The fewest slabs that take no more than `allowed` bytes, or else the smallest slabs.
template <Scalar T>
[[nodiscard]] ColumnSlabs fewest_slabs(const LuSchedule& schedule, const CyclicAxis& columns, FactorizationKind kind,
                                       Arithmetic arithmetic, double allowed);
/// The bytes that an operation may take on every rank: `limit` (0: none), and most of the devices' free memory;
/// infinite if nothing is known. Collective if `comm` is not null.
[[nodiscard]] double allowed_bytes(const Communicator* comm, double limit);
/// Whether a matrix is factored by slabs if memory is short: only if columns alone are dealt out.
[[nodiscard]] inline bool goes_by_slabs(Residence residence, const RankGrid& grid) {
  return residence == Residence::host && !grid.divides_rows();
}

/// Throws Error(memory), on every rank alike, if `needed` bytes, which are the same on all ranks, exceed `limit` (0:
/// none) or the free memory of a rank's device. `of` names the operation. `comm` may be null; collective if it is not.
void require_memory(const char* of, const Communicator* comm, double needed, double limit);

}  // namespace heddle::impl
