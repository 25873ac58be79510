// Bytes that the parts of this room allocate, as functions of shapes.
#pragma once

#include "gemm/plan/memory.hpp"
#include "solve/rank_grid.hpp"
#include "solve/schedule.hpp"
#include "solve/slabs.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/gemm/emulation.hpp>

#include <algorithm>

namespace heddle::impl {

/// Of a rank's workspace of a factorization, besides what it has of the matrix.
using WorkspaceBytes = double (*)(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);
/// Of the rank that needs most. Elimination and what it has.
template <Scalar T>
[[nodiscard]] double lu_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);
/// CholeskyFactorization and what it has.
template <Scalar T>
[[nodiscard]] double cholesky_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);
template <Scalar T>
[[nodiscard]] double qr_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);
/// Substitution and what it has, with a triangle in such memory.
template <Scalar T>
[[nodiscard]] double substitution_workspace(const LuSchedule& schedule, const CyclicAxis& columns,
                                            const CyclicAxis& right, Operation op, Arithmetic arithmetic,
                                            Residence residence = Residence::device);

/// The tile of a certificate's product of two matrices of this order: no more than a rank's share, so that what the
/// product holds of bands is known beforehand on any backend.
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
/// Of a matrix whose columns are dealt out.
template <Scalar T> [[nodiscard]] double bytes_of_local(Index rows, const CyclicAxis& columns);
/// Of a copy of a matrix that is dealt out, and of the panels in which it comes from another placement.
template <Scalar T> [[nodiscard]] double bytes_of_copy(const RankGrid& grid);

/// Of the panels alone in which a matrix comes from another placement.
template <Scalar T> [[nodiscard]] double bytes_of_messages(const RankGrid& grid);
/// Of a copy of a matrix whose columns are dealt out; one in host memory takes messages alone of the devices' memory.
template <Scalar T>
[[nodiscard]] double bytes_of_copy(Index rows, const CyclicAxis& columns, Residence residence = Residence::device) {
  const RankGrid grid = RankGrid::of_columns(rows, columns, 0);
  return residence == Residence::host ? bytes_of_messages<T>(grid) : bytes_of_copy<T>(grid);
}

/// Of a factorization by slabs: a slab on each rank, and what it is factored with, or what the panels on its left are
/// applied with.
template <Scalar T>
[[nodiscard]] double slab_bytes(const ColumnSlabs& slabs, FactorizationKind kind, Arithmetic arithmetic);
/// As few slabs as take no more than `allowed` bytes, or else the smallest ones.
template <Scalar T>
[[nodiscard]] ColumnSlabs fewest_slabs(const LuSchedule& schedule, const CyclicAxis& columns, FactorizationKind kind,
                                       Arithmetic arithmetic, double allowed);
/// The bytes that may be taken of every rank: `limit` (0: none), and most of what the devices have free; infinite where
/// nothing is known. Collective where `comm` is not null.
[[nodiscard]] double allowed_bytes(const Communicator* comm, double limit);
/// Whether a matrix is factored by slabs where memory asks for it: columns alone are dealt out.
[[nodiscard]] inline bool goes_by_slabs(Residence residence, const RankGrid& grid) {
  return residence == Residence::host && !grid.divides_rows();
}

/// Throws Error(computation), on every rank alike, where `needed` bytes, which are the same on all ranks, are more than
/// `limit` (0: none), or than a rank's device has free. `of`: the operation. `comm` may be null; collective where it is
/// not.
void require_memory(const char* of, const Communicator* comm, double needed, double limit);

}  // namespace heddle::impl
