// External faces of one mesh whose cells are spread over ranks.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/search/faces.hpp>

namespace heddle::search {

/// The external faces of the mesh that the cells of all ranks make up: those of rank 0, then those of rank 1, and so
/// on. `mesh` has this rank's cells; points go by the same numbers on all ranks. The result has the faces of this
/// rank's cells, and numbers cells, and nonmanifold faces, over all ranks: one after the other, the lists are what one
/// rank with all cells would have. Bits: the same for any number of ranks, and reproducible.
///
/// Cells that `mesh.ghosts` marks are copies of other ranks' cells: they are dropped, unless they are kept as cells of
/// their own (GhostCells::keep). They count in the numbers of cells. `report` is of all ranks, and the same on every
/// one: sums of all counts of cells, sides, faces and collisions; the most iterations, passes and memory of any rank;
/// and for each phase the time of the slowest rank.
///
/// How: points that more than one rank has are found by bits in a table that ranks share, and sides whose points are
/// all of that kind go to the rank that a hash of theirs chooses; that one counts them all. All other sides are
/// searched where they are. The table may take points for shared that are not, which costs a message and changes
/// nothing. Messages: up to 2 bytes a cell of the largest rank, twice, and
/// 56 bytes a side on a boundary.
///
/// It pays where ranks have points of their own, as they have in parts of a mesh: of cells dealt out at random all
/// sides travel.
///
/// Collective and blocking. Throws as for one rank, on every rank alike; a cell that can't be is named by its number on
/// its rank, and the rank.
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const Communicator& comm, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

}  // namespace heddle::search
