"""Conversion of meshio and PyVista meshes to cells of the library, and of surfaces back to them."""

import numpy as np

from ._arrays import kind_of, matrix, operands, to_host
from ._integers import narrowed

# VTK's cell number and the number of corners, which are the first points, by meshio's name. Names of cells of higher
# order append a number of points, or are those of VTK's cells of any order.
NUMBERS = {"vertex": (1, 1), "line": (3, 2), "triangle": (5, 3), "quad": (9, 4), "tetra": (10, 4), "hexahedron": (12, 8),
           "wedge": (13, 6), "pyramid": (14, 5)}
_ANY_ORDER = {"CURVE": "line", "TRIANGLE": "triangle", "QUADRILATERAL": "quad", "TETRAHEDRON": "tetra",
              "HEXAHEDRON": "hexahedron", "WEDGE": "wedge", "PYRAMID": "pyramid"}
# meshio keeps the corners of wedges in Gmsh's order: seen from outside, the first three turn the other way round.
_GMSH_WEDGE = [0, 2, 1, 3, 5, 4]
# Number of points of VTK's cells that have faces, by cell number.
CORNERS = {10: 4, 11: 8, 12: 8, 13: 6, 14: 5}


def cells_of(mesh):
    """Return points, kinds, offsets and ghosts of the cells of a mesh in its order, or None if it is not a mesh. If all
    cells have one kind, points has a row per cell, kinds is the number of the kind, and offsets is None."""
    if hasattr(mesh, "celltypes") and hasattr(mesh, "cell_connectivity"):
        ghosts = mesh.cell_data["vtkGhostType"] if "vtkGhostType" in mesh.cell_data else None
        points, kinds = mesh.cell_connectivity, mesh.celltypes
        # VTK stores no offsets for cells of one size, and builds them on request.
        corners = getattr(mesh.GetCells(), "IsHomogeneous", int)()
        if len(kinds) and corners > 0 and corners == CORNERS.get(int(kinds[0])) and (kinds == kinds[0]).all():
            return points.reshape((-1, corners)), int(kinds[0]), None, ghosts
        return points, kinds, mesh.cell_offsets if hasattr(mesh, "cell_offsets") else mesh.offset, ghosts
    blocks = getattr(mesh, "cells", None)
    if not isinstance(blocks, list) or not all(hasattr(block, "type") and hasattr(block, "data") for block in blocks):
        return None
    listed = [_corners_of(block, mesh.points) for block in blocks]
    counts = [len(corners) for _, corners in listed]
    points = np.concatenate([np.zeros(0, np.int64), *(corners.ravel() for _, corners in listed)])
    kinds = np.repeat(np.array([number for number, _ in listed], np.uint8), counts)
    offsets = np.concatenate([[0], np.cumsum(np.repeat([corners.shape[1] for _, corners in listed], counts))])
    return points, kinds, offsets.astype(np.int64), None


def _corners_of(block, places):
    """Return VTK's number of the cells of a block and their corners in VTK's order, a row per cell."""
    name = block.type
    if name.startswith(("VTK_LAGRANGE_", "VTK_BEZIER_")):
        name = _ANY_ORDER.get(name.rpartition("_")[2], name)
    linear = name.rstrip("0123456789")
    if linear == "polygon":
        data = np.asarray(block.data)
        return 7, _integral(block, data).reshape(len(data), -1)
    if linear not in NUMBERS:
        raise ValueError(f"external_faces: cells of type {block.type}; expected {', '.join(NUMBERS)} or polygon, or cells of "
                         "higher order of these")
    number, corners = NUMBERS[linear]
    data = np.asarray(block.data)
    if data.size == 0:
        return number, np.zeros((0, corners), np.int64)
    if data.ndim != 2 or data.shape[1] < corners or (linear == block.type and data.shape[1] != corners):
        raise ValueError(f"external_faces: cells of type {block.type} have shape {data.shape}; expected {corners} "
                         f"{'points' if linear == block.type else 'points or more'} a row")
    data = _integral(block, data[:, :corners])
    if linear == "wedge" and (block.type == "wedge" or _turned(data, places)):
        data = data[:, _GMSH_WEDGE]
    return number, data


def _integral(block, data):
    what = f"the points of cells of type {block.type}"
    return narrowed("external_faces", kind_of("external_faces", data), data, "int64", what, "integers below 2^63")


def _turned(wedges, places):
    """Return whether most wedges have their corners in Gmsh's order. Wedges of higher order keep that of their file in
    meshio: Gmsh's or VTK's."""
    places = np.asarray(places, float)
    inside = ((wedges >= 0) & (wedges < len(places))).all(axis=1)
    if places.ndim != 2 or places.shape[1] != 3 or not inside.any():
        return True
    corners = places[wedges[inside][:, :4]]
    u, v, w = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    return np.sign(np.einsum("ij,ij->i", np.cross(u, v), w)).sum() >= 0


def compacted(function, faces, points):
    """Return the points that the faces use, in order, their numbers among `points`, and the faces numbered by them."""
    kind, _, (points,) = operands(function, points=points)
    points, ids = kind.to_host(points), to_host(faces.points)
    matrix(function, points, "points")
    if len(ids) and ids.max() >= len(points):
        raise ValueError(f"{function}: points has {len(points)} rows; expected {ids.max() + 1} at least, those of the mesh")
    used = np.zeros(len(points), bool)
    used[ids] = True
    original = np.flatnonzero(used)
    number = np.empty(len(points), np.int64)  # set for used points only; others are never read
    number[original] = np.arange(len(original))
    return points[original], original, number[ids]


def as_pyvista(faces, points):
    import pyvista

    own, original, ids = compacted("as_pyvista", faces, points)
    offsets = to_host(faces.offsets)
    if len(offsets) < 2:
        return pyvista.PolyData()
    # VTK's list has for each face the number of its points, then the points.
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

    own, original, ids = compacted("as_meshio", faces, points)
    offsets = to_host(faces.offsets)
    counts = np.diff(offsets)
    cells, data = [], []
    for corners in np.unique(counts):
        chosen = np.flatnonzero(counts == corners)
        name = {3: "triangle", 4: "quad"}.get(int(corners), "polygon")
        cells.append((name, ids[offsets[chosen][:, None] + np.arange(corners)]))
        data.append(to_host(faces.cell)[chosen])
    return meshio.Mesh(own, cells, point_data={"original_point": original}, cell_data={"original_cell": data})
