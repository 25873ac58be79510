// Faces that a search found, on the rank that writes: gathered, named by their bits, and looked at.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/core/mesh.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

/// The faces of all ranks, one after the other, on rank 0; none on the others. Collective.
template <PointId Id> [[nodiscard]] HostFaces gathered(const Communicator& comm, const FaceList<Id>& mine);
[[nodiscard]] std::vector<Index> gathered(const Communicator& comm, const Kokkos::View<Index*, MemorySpace>& mine);

/// Those of the faces that `keep` is true for, in their order.
[[nodiscard]] HostFaces chosen(const HostFaces& faces, const std::vector<bool>& keep);

/// SHA-256 of cell (64 bits), side (8 bits) and points (64 bits each) of one face after the other.
[[nodiscard]] std::string digest_of(const HostFaces& faces);

/// Edges that an odd number of the faces have; nothing for lists too long to be looked at. The boundary of a boundary
/// is empty: with all cells' sides, each edge of a cell is there twice, and internal sides take edges away in pairs.
/// That holds where each pair of equal sides also has the same edges, as triangles do, and none are equal to two
/// others.
[[nodiscard]] std::optional<Index> open_edges(const ExecutionSpace& space, const HostFaces& faces);

/// Edges that one of the faces has alone: the rim of a surface. Nothing for lists too long to be looked at.
[[nodiscard]] std::optional<Index> lone_edges(const ExecutionSpace& space, const HostFaces& faces);

}  // namespace heddle::driver
