"""Meshes of meshio and PyVista, as the cells that the library takes, and surfaces back to them."""

import numpy as np

from ._arrays import to_host

# VTK's numbers of cells by meshio's names of them.
NUMBERS = {"vertex": 1, "line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14}
# Points of VTK's cells that have faces.
CORNERS = {10: 4, 11: 8, 12: 8, 13: 6, 14: 5}


def cells_of(mesh):
    """Points, kinds, offsets and ghosts of the cells of a mesh, in its order; None where it is no mesh. Of cells of one
    kind the points are rows, kinds is its number, and there are no offsets."""
    if hasattr(mesh, "celltypes") and hasattr(mesh, "cell_connectivity"):
        ghosts = mesh.cell_data["vtkGhostType"] if "vtkGhostType" in mesh.cell_data else None
        points, kinds = mesh.cell_connectivity, mesh.celltypes
        # VTK makes a list of offsets where cells of one size have none until it is asked for.
        corners = getattr(mesh.GetCells(), "IsHomogeneous", int)()
        if len(kinds) and corners > 0 and corners == CORNERS.get(int(kinds[0])) and (kinds == kinds[0]).all():
            return points.reshape((-1, corners)), int(kinds[0]), None, ghosts
        return points, kinds, mesh.cell_offsets if hasattr(mesh, "cell_offsets") else mesh.offset, ghosts
    blocks = getattr(mesh, "cells", None)
    if not isinstance(blocks, list) or not all(hasattr(block, "type") and hasattr(block, "data") for block in blocks):
        return None
    for block in blocks:
        if block.type not in NUMBERS:
            raise ValueError(f"external_faces: cells of type {block.type}; expected one of {', '.join(NUMBERS)}")
    counts = [len(block.data) for block in blocks]
    corners = [int(np.shape(block.data)[1]) for block in blocks]
    points = np.concatenate([np.zeros(0, np.int64), *(np.ravel(block.data) for block in blocks)], dtype=np.int64)
    kinds = np.repeat(np.array([NUMBERS[block.type] for block in blocks], np.uint8), counts)
    offsets = np.concatenate([[0], np.cumsum(np.repeat(np.array(corners, np.int64), counts))])
    return points, kinds, offsets, None


def compacted(faces, points):
    """The points that faces use, in their order, their numbers among `points`, and the faces in terms of them."""
    ids = to_host(faces.points)
    used = np.zeros(len(points), bool)
    used[ids] = True
    original = np.flatnonzero(used)
    number = np.empty(len(points), np.int64)  # of points that are used; nobody looks at others
    number[original] = np.arange(len(original))
    return np.asarray(points)[original], original, number[ids]


def as_pyvista(faces, points):
    import pyvista

    own, original, ids = compacted(faces, points)
    offsets = to_host(faces.offsets)
    if len(offsets) < 2:
        return pyvista.PolyData()
    # VTK's list: for each face the number of its points, and these.
    counts = np.diff(offsets)
    if (counts == counts[0]).all():
        listed = np.empty((len(counts), counts[0] + 1), np.int64)
        listed[:, 0] = counts[0]
        listed[:, 1:] = ids.reshape(listed.shape[0], counts[0])
        listed = listed.reshape(-1)
    else:
        listed = np.insert(ids, offsets[:-1], counts)
    surface = pyvista.PolyData(own, faces=listed)
    surface.point_data["original_point"] = original
    surface.cell_data["original_cell"] = to_host(faces.cell)
    return surface


def as_meshio(faces, points):
    import meshio

    own, original, ids = compacted(faces, points)
    offsets = to_host(faces.offsets)
    counts = np.diff(offsets)
    cells, data = [], []
    for corners in np.unique(counts):
        chosen = np.flatnonzero(counts == corners)
        name = {3: "triangle", 4: "quad"}.get(int(corners), "polygon")
        cells.append((name, ids[offsets[chosen][:, None] + np.arange(corners)]))
        data.append(to_host(faces.cell)[chosen])
    return meshio.Mesh(own, cells, point_data={"original_point": original}, cell_data={"original_cell": data})
