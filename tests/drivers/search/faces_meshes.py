"""Meshes for the tests of `heddle faces`: random cells, a file of VTK, a file of Gmsh, and their external sides."""

import random

TETRAHEDRON, HEXAHEDRON, WEDGE, PYRAMID, TRIANGLE, LINE = 10, 12, 13, 14, 5, 3
# Corners of the sides, as VTK has them.
SIDES = {
    TETRAHEDRON: [(0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1)],
    HEXAHEDRON: [(0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)],
    WEDGE: [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    PYRAMID: [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
    TRIANGLE: [],
    LINE: [],
}
CORNERS = {TETRAHEDRON: 4, HEXAHEDRON: 8, WEDGE: 6, PYRAMID: 5, TRIANGLE: 3, LINE: 2}


def sides_of(cells, skipped=()):
    """The external sides, as (cell, side), and the non-manifold ones with their face's number, in the plainest way."""
    places = {}
    for cell, (kind, corners) in enumerate(cells):
        if cell not in skipped:
            for side, numbers in enumerate(SIDES[kind]):
                places.setdefault(frozenset(corners[k] for k in numbers), []).append((cell, side))
    external = sorted(found[0] for found in places.values() if len(found) == 1)
    shared = sorted((place, min(found)) for found in places.values() if len(found) > 2 for place in found)
    numbers = {}
    return external, [(*place, numbers.setdefault(first, len(numbers))) for place, first in shared]


def random_cells(count, points, seed):
    rng = random.Random(seed)
    kinds = [rng.choice(list(CORNERS)) for _ in range(count)]
    return [(kind, rng.sample(range(points), CORNERS[kind])) for kind in kinds]


def vtu(cells, points, ghosts=None):
    """An unstructured grid as text."""
    def array(name, kind, values, components=1):
        return (f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="ascii">'
                + " ".join(map(str, values)) + "</DataArray>")

    ends = [sum(len(corners) for _, corners in cells[:k + 1]) for k in range(len(cells))]
    marks = array("vtkGhostType", "UInt8", ghosts) if ghosts else ""
    coordinates = [value for k in range(points) for value in (k, k * k % 7, k * k * k % 11)]
    return ('<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"><UnstructuredGrid>'
            f'<Piece NumberOfPoints="{points}" NumberOfCells="{len(cells)}"><CellData>{marks}</CellData><Points>'
            + array("Points", "Float64", coordinates, 3) + "</Points><Cells>"
            + array("connectivity", "Int64", [point for _, corners in cells for point in corners])
            + array("offsets", "Int64", ends) + array("types", "UInt8", [kind for kind, _ in cells])
            + "</Cells></Piece></UnstructuredGrid></VTKFile>\n")


# Two tetrahedra with a face in common, and a triangle and a line that are no solids.
GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
4
1 1 2 0 1 1 2
2 2 2 0 1 1 2 3
3 4 2 0 1 1 2 3 4
4 4 2 0 1 2 3 4 5
$EndElements
"""
