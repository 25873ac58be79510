// The external faces of one mesh whose cells are spread over ranks.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/search/faces.hpp>

namespace heddle::search {

/// Find the external faces of the mesh made of the cells of rank 0, then those of rank 1, and so on. `mesh` has this
/// rank's cells, and points have the same numbers on all ranks. The result has the faces of this rank's cells, but
/// numbers cells and nonmanifold faces over all ranks: joined in rank order, the lists are those of one rank with all
/// cells. Bits: reproducible, and the same for any number of ranks.
///
/// Cells that `mesh.ghosts` marks are copies of other ranks' cells. They are dropped, unless GhostCells::keep treats
/// them as other cells, but count in the numbering of cells. `report` covers all ranks and is the same on each: sums of
/// all counts of cells, sides, faces and collisions; the most iterations, passes and memory of any rank; and for each
/// phase the time of the slowest rank.
///
/// Method: ranks find the points that several of them have by a shared table of bits. A side whose points are all
/// shared goes to the rank chosen by a hash of the points, which counts the sides it receives; all other sides are
/// searched on their own rank. A false positive of the table costs a message and does not change the result. Messages:
/// up to 2 bytes for each cell of the largest rank, twice, and 56 bytes for each side on a boundary.
///
/// The method pays if most points belong to one rank, as in contiguous parts of a mesh; if cells are distributed at
/// random, all sides travel.
///
/// Collective and blocking. Throws as external_faces() on one rank does, on every rank alike; a wrong cell is named by
/// its rank and its number on that rank.
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const Communicator& comm, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

}  // namespace heddle::search
