"""Searches for equal keys and for the external faces of meshes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._arrays import kind_of, one_device, to_host
from ._integers import narrowed
from ._meshes import as_meshio, as_pyvista, cells_of
from ._options import checked, one_of, whole


@dataclass(frozen=True)
class SearchReport:
    """How equal keys were found."""

    algorithm: str
    hash: str
    collisions: int
    iterations: int
    passes: int
    memory: int
    """Peak memory of the search in bytes."""


@dataclass(frozen=True)
class Duplicates:
    """Groups of equal keys, numbered in the order of their first keys."""

    group: Any
    """Group of each key."""
    first: Any
    """Number of the first key of each group: keys[first] are the unique keys."""
    count: Any
    """Number of keys of each group."""
    report: SearchReport = field(repr=False)


_CELLS = {"triangle": (5, 3), "quad": (9, 4), "tetrahedron": (10, 4), "tetra": (10, 4), "voxel": (11, 8),
          "hexahedron": (12, 8), "wedge": (13, 6), "pyramid": (14, 5)}


@dataclass(frozen=True)
class Faces:
    """List of faces of cells."""

    cell: Any
    """Number of the cell of each face."""
    side: Any
    """Side of the cell that is the face, numbered in VTK's order."""
    offsets: Any
    """Face f has points[offsets[f]:offsets[f + 1]]."""
    points: Any
    """Numbers of the points of all faces, face by face."""

    def __len__(self):
        return int(self.cell.shape[0])

    def as_matrix(self):
        """Return the faces as rows of a matrix; all must have the same number of points."""
        counts = np.diff(to_host(self.offsets))
        if len(counts) and (counts != counts[0]).any():
            raise ValueError(f"faces of {counts.min()} to {counts.max()} points are no matrix")
        return self.points.reshape((len(counts), int(counts[0]) if len(counts) else 3))

    def as_pyvista(self, points):
        """Return a pyvista.PolyData of the faces with those of the mesh's `points`, an (m, 3) array, that they use. Its
        arrays "original_point" and "original_cell" have the numbers in the mesh."""
        return as_pyvista(self, points)

    def as_meshio(self, points):
        """Return the same as a meshio.Mesh, triangles before quadrilaterals."""
        return as_meshio(self, points)


@dataclass(frozen=True)
class ExternalFacesReport:
    """Result of a search for external faces in numbers."""

    search: SearchReport
    cells: int
    """Number of cells that have faces."""
    faces: int
    """Number of sides of these cells."""
    external: int
    nonmanifold_sides: int
    """Number of sides equal to at least two others."""
    nonmanifold_faces: int
    degenerate_sides: int
    """Number of sides with fewer than three different points."""


@dataclass(frozen=True)
class ExternalFaces:
    """External faces of a mesh, and its faces that are sides of more than two cells."""

    external: Faces
    nonmanifold: Faces
    nonmanifold_face: Any
    """Number of the face of each nonmanifold side."""
    report: ExternalFacesReport


@checked()
def duplicates(keys, *, algorithm="automatic", hash="automatic", memory=0):
    """Find equal keys among integers or rows of integers.

    Parameters
    ----------
    keys : (n,) or (n, m) array of integers of 8 to 64 bits, m <= 64
        Keys; of any strides.
    algorithm : str
        "automatic", "partition", "hash-fight", "sort" or "sort-by-id". All give the same result.
    hash : str
        Hash function of "hash-fight" and "sort": "automatic", "xor", "fnv1a", "morton" or "mixer".
    memory : int
        Memory limit of the search in bytes; 0: enough for a single pass.

    Returns
    -------
    Duplicates

    Examples
    --------
    >>> import numpy as np, heddle
    >>> found = heddle.duplicates(np.array([7, 3, 7, 7]))
    >>> found.group, found.first, found.count
    (array([0, 1, 0, 0]), array([0, 1]), array([3, 1]))
    """
    kind = kind_of("duplicates", keys)
    keys = kind.array("duplicates", "keys", keys)
    if len(keys.shape) not in (1, 2):
        raise ValueError(f"duplicates: keys has shape {tuple(keys.shape)}; expected a vector or the rows of a matrix")
    name = kind.dtype_name(keys)
    if not name.startswith(("int", "uint")):
        raise TypeError(f"duplicates: keys has elements of type {name}; expected integers of 8 to 64 bits, as "
                        "keys.astype(numpy.int64) has")
    keys = kind.usable(keys)
    found = _core.duplicates(keys, _core.SearchOptions(algorithm, hash, memory))
    taken = {key: kind.taken(found[key], keys) for key in ("group", "first", "count")}
    return Duplicates(**taken, report=SearchReport(**found["report"]))


@checked(ghost_cells=one_of("hide", "drop", "keep", expected="'hide', 'drop' or 'keep'"))
def external_faces(cells, kind=None, *, kinds=None, offsets=None, ghosts=None, ghost_cells="hide",
                   algorithm="automatic", memory=0):
    """Find the external faces of a mesh: the sides of cells that no other cell shares.

    Parameters
    ----------
    cells : (n, k) array of integers, with `offsets` a list, or a mesh
        Numbers of the points of each cell in VTK's order. The cells of a meshio.Mesh are those of all blocks in
        sequence; cells of higher order count by their corners, and wedges have meshio's order. A
        pyvista.UnstructuredGrid marks ghosts by its array vtkGhostType.
    kind : str or int, optional
        Kind of all cells: "tetrahedron" (default for k = 4), "hexahedron" (k = 8), "wedge" (k = 6),
        "pyramid" (k = 5), "voxel", "triangle" or "quad"; or its number in VTK.
    kinds : (n,) array of integers, optional
        VTK's number of the kind of each cell, with `offsets`: cell c has the points cells[offsets[c]:offsets[c + 1]].
    offsets : (n + 1,) array of integers, optional
        See kinds.
    ghosts : (n,) array of integers from 0 to 255 or truth values, optional
        Not 0 for copies of cells of another piece.
    ghost_cells : "hide", "drop" or "keep"
        "hide" omits the faces of ghosts, which still hide others; "drop" ignores ghosts; "keep" treats them as other
        cells.
    algorithm, memory
        See duplicates().

    Returns
    -------
    ExternalFaces
        Faces ordered by cell, then side, and oriented outwards.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> found = heddle.external_faces(np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    >>> len(found.external)
    6
    >>> found.external.as_matrix()[0]
    array([0, 1, 3])
    """
    mesh = None if hasattr(cells, "shape") else cells_of(cells)
    if mesh is not None:
        if not all(x is None for x in (kind, kinds, offsets, ghosts)):
            raise ValueError("external_faces: a mesh has its own kinds, offsets and ghosts")
        cells, kinds, offsets, ghosts = mesh
        if offsets is None:
            kind, kinds = kinds, None
    arrays = kind_of("external_faces", cells)
    cells = arrays.array("external_faces", "cells", cells)
    if arrays.dtype_name(cells) != "int32":
        cells = narrowed("external_faces", arrays, cells, "int64", "cells", "integers below 2^63")
    name = arrays.dtype_name(cells)
    if (kinds is None) != (offsets is None):
        raise ValueError("external_faces: kinds and offsets are given together")
    number = 10
    if offsets is None:
        number = _kind_number(cells, kind)
    elif kind is not None:
        raise ValueError("external_faces: kind is of all cells, and kinds of each; expected one of them")

    def flat(array, wanted, what="cells", expected="integers"):
        if array is None:
            return None
        array = arrays.array("external_faces", what, array)
        one_device("external_faces", arrays, cells, array)
        array = arrays.usable(narrowed("external_faces", arrays, array, wanted, what, expected))
        return np.ascontiguousarray(array).reshape(-1) if arrays.name == "numpy" else array.reshape(-1)

    mesh = _core.Mesh(number, flat(cells, name), flat(kinds, "uint8", "kinds", "VTK's numbers of kinds, integers up to 255"),
                      flat(offsets, "int64", "offsets", "integers below 2^63"),
                      flat(ghosts, "uint8", "ghosts", "integers from 0 to 255, or truth values"))
    found = _core.external_faces(mesh, ghost_cells, _core.SearchOptions(algorithm, "automatic", memory))

    def faces(entries):
        return Faces(**{key: arrays.taken(entries[key], cells) for key in ("cell", "side", "offsets", "points")})

    report = found["report"]
    return ExternalFaces(faces(found["external"]), faces(found["nonmanifold"]),
                         arrays.taken(found["nonmanifold_face"], cells),
                         ExternalFacesReport(**{**report, "search": SearchReport(**report["search"])}))


def _kind_number(cells, kind):
    if len(cells.shape) != 2:
        raise ValueError(f"external_faces: cells have shape {tuple(cells.shape)}; expected a row for each cell, or kinds "
                         "and offsets")
    corners = cells.shape[1]
    if kind is None:
        kind = {4: "tetrahedron", 5: "pyramid", 6: "wedge", 8: "hexahedron"}.get(corners)
        if kind is None:
            raise ValueError(f"external_faces: {corners} points a cell, and no kind")
    if isinstance(kind, str) and kind not in _CELLS:
        raise ValueError(f"external_faces: kind = {kind!r}; expected one of {', '.join(_CELLS)}")
    if isinstance(kind, str):
        number, wanted = _CELLS[kind]
    else:
        number = whole()("external_faces", "kind", kind)
        wanted = dict(_CELLS.values()).get(number)
        if wanted is None:
            raise ValueError(f"external_faces: kind = {number}; expected one of {', '.join(map(str, dict(_CELLS.values())))}")
    if wanted != corners:
        raise ValueError(f"external_faces: {corners} points a cell; kind {kind!r} has {wanted}")
    return number
