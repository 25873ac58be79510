// Gathering, hashing and edge counts of the faces that a search found.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/core/mesh.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

/// Gather the faces of all ranks, one after the other, on rank 0; the other ranks get none. Collective.
template <PointId Id> [[nodiscard]] HostFaces gathered(const Communicator& comm, const FaceList<Id>& mine);
[[nodiscard]] std::vector<Index> gathered(const Communicator& comm, const Kokkos::View<Index*, MemorySpace>& mine);

/// Return the faces with `keep` true, in their order.
[[nodiscard]] HostFaces chosen(const HostFaces& faces, const std::vector<bool>& keep);

/// Return the SHA-256 of cell (64 bits), side (8 bits) and points (64 bits each) of one face after the other.
[[nodiscard]] std::string digest_of(const HostFaces& faces);

/// Return the number of edges with an odd number of faces; nothing if the lists are too long. The boundary of a
/// boundary is empty: among all cells' sides each edge of a cell occurs twice, and internal sides remove edges in
/// pairs. This holds if each pair of equal sides also has the same edges, as triangles do, and no side equals two
/// others.
[[nodiscard]] std::optional<Index> open_edges(const ExecutionSpace& space, const HostFaces& faces);

/// Return the number of edges of a single face: the rim of a surface. Nothing if the lists are too long.
[[nodiscard]] std::optional<Index> lone_edges(const ExecutionSpace& space, const HostFaces& faces);

}  // namespace heddle::driver
