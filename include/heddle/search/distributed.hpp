// The external faces of one mesh whose cells are spread over ranks.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/search/faces.hpp>

namespace heddle::search {

/// Finds the external faces of the mesh that the cells of all ranks make up: those of rank 0, then those of rank 1, and
/// so on. `mesh` has this rank's cells, and points have the same numbers on all ranks. The result has the faces of this
/// rank's cells, but numbers cells, and nonmanifold faces, over all ranks: one after the other, the lists are those
/// that one rank with all cells would have. Bits: reproducible, and the same for any number of ranks.
///
/// Cells that `mesh.ghosts` marks are copies of other ranks' cells. They are dropped, unless they are kept as cells of
/// their own (GhostCells::keep), but count in the numbers of cells. `report` is that of all ranks, and the same on each
/// of them: sums of all counts of cells, sides, faces and collisions; the most iterations, passes and memory of any
/// rank; and for each phase the time of the slowest rank.
///
/// Method: points that more than one rank has are found by bits in a table that ranks share. A side whose points are
/// all of that kind goes to the rank that a hash of the points chooses, which counts all sides that come to it; all
/// other sides are searched where they are. The table may take a point for shared that is not, which costs a message
/// and changes nothing. Messages: up to 2 bytes for each cell of the largest rank, twice, and 56 bytes for each side on
/// a boundary.
///
/// The method pays where ranks have points of their own, as they have in parts of a mesh; where cells are dealt out at
/// random, all sides travel.
///
/// Collective and blocking. Throws as external_faces() on one rank does, on every rank alike; a wrong cell is named by
/// its rank and its number on that rank.
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const Communicator& comm, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

}  // namespace heddle::search
