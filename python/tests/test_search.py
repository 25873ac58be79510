"""Equal keys against numpy.unique, external faces against counting sides in a dictionary."""

import collections

import heddle
import numpy as np
import pytest

KEYS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# Sides of cells in VTK's order.
SIDES = {
    "tetrahedron": [(0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1)],
    "hexahedron": [(0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)],
}


def assert_groups(found, keys):
    number = {}
    group = [number.setdefault(tuple(np.atleast_1d(key).tolist()), len(number)) for key in keys]
    assert found.group.tolist() == group
    assert found.first.tolist() == [group.index(g) for g in range(len(number))]
    assert found.count.tolist() == [group.count(g) for g in range(len(number))]


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("shape", [(0,), (1,), (300,), (0, 3), (200, 2), (200, 9)])
@pytest.mark.parametrize("algorithm", ["automatic", "partition", "hash-fight", "sort", "sort-by-id"])
def test_duplicates(rng, name, shape, algorithm):
    limits = np.iinfo(name)
    keys = rng.choice(np.array([limits.min, limits.max, 0, 1, 7], name), shape)
    assert_groups(heddle.duplicates(keys, algorithm=algorithm), keys)


def test_duplicates_of_any_layout(rng, layout):
    keys = rng.integers(-2, 2, (50, 3))
    assert_groups(heddle.duplicates(layout(keys)), keys)


def test_duplicates_refuses(rng):
    with pytest.raises(TypeError, match="float64"):
        heddle.duplicates(np.ones(3))
    with pytest.raises(ValueError, match="a vector or the rows"):
        heddle.duplicates(np.ones((2, 2, 2), int))
    with pytest.raises(ValueError, match="64"):
        heddle.duplicates(np.ones((2, 65), int))
    with pytest.raises(ValueError, match="hash-fight"):
        heddle.duplicates(np.ones(2, int), algorithm="quick")


def expected_faces(cells, sides):
    """Return (cell, side, points) of the sides that belong to one cell only."""
    count = collections.Counter(frozenset(cell[list(side)].tolist()) for cell in cells for side in sides)
    return [(c, s, cell[list(side)].tolist()) for c, cell in enumerate(cells) for s, side in enumerate(sides)
            if count[frozenset(cell[list(side)].tolist())] == 1]


def grid_of_hexahedra(n, name):
    point = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
    corners = [point[i:i + n, j:j + n, k:k + n].ravel()
               for i, j, k in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]]
    return np.stack(corners, axis=1).astype(name)


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_external_faces_of_hexahedra(name, n):
    cells = grid_of_hexahedra(n, name)
    found = heddle.external_faces(cells)
    expected = expected_faces(cells, SIDES["hexahedron"])
    assert len(found.external) == len(expected) == 6 * n * n == found.report.external
    assert found.external.cell.tolist() == [c for c, _, _ in expected]
    assert found.external.side.tolist() == [s for _, s, _ in expected]
    assert found.external.points.dtype == name
    assert found.external.as_matrix().tolist() == [p for _, _, p in expected]


def test_external_faces_of_random_tetrahedra(rng, layout):
    cells = np.array([rng.permutation(9)[:4] for _ in range(60)])
    found = heddle.external_faces(layout(cells))
    expected = expected_faces(cells, SIDES["tetrahedron"])
    assert found.external.as_matrix().tolist() == [p for _, _, p in expected]
    assert found.report.nonmanifold_sides == len(found.nonmanifold) == len(found.nonmanifold_face) > 0


def test_external_faces_of_mixed_cells():
    points = np.array([0, 1, 2, 3, 0, 2, 1, 4])
    found = heddle.external_faces(points, kinds=[10, 10], offsets=[0, 4, 8])
    same = heddle.external_faces(points.reshape(2, 4))
    assert found.external.points.tolist() == same.external.points.tolist()
    hidden = heddle.external_faces(points.reshape(2, 4), ghosts=[0, 1])
    assert set(hidden.external.cell.tolist()) == {0} and len(hidden.external) == 3
    dropped = heddle.external_faces(points.reshape(2, 4), ghosts=[0, 1], ghost_cells="drop")
    assert len(dropped.external) == 4


def test_external_faces_refuses():
    with pytest.raises(ValueError, match="cell 1"):
        heddle.external_faces(np.array([[0, 1, 2, 3], [0, 1, 2, -3]]))
    with pytest.raises(ValueError, match="3 points a cell, and no kind"):
        heddle.external_faces(np.zeros((2, 3), int))
    with pytest.raises(ValueError, match="8"):
        heddle.external_faces(np.zeros((2, 4), int), "hexahedron")
    with pytest.raises(ValueError, match="given together"):
        heddle.external_faces(np.zeros(4, int), kinds=[10])
    with pytest.raises(TypeError, match="float64"):
        heddle.external_faces(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="ghost_cells"):
        heddle.external_faces(np.zeros((2, 4), int), ghost_cells="eat")


def mixed_mesh():
    """Return points and cells: a tetrahedron on a wedge beside a hexahedron below a pyramid, a triangle and a line."""
    points = np.random.default_rng(5).normal(size=(14, 3))
    return points, [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("pyramid", [[4, 5, 6, 7, 8]]),
                    ("wedge", [[1, 9, 2, 5, 10, 6]]), ("tetra", [[5, 10, 6, 11]]), ("line", [[12, 13]]),
                    ("triangle", [[11, 12, 13]])]


def test_meshes_of_meshio():
    meshio = pytest.importorskip("meshio")
    points, blocks = mixed_mesh()
    found = heddle.external_faces(meshio.Mesh(points, blocks))
    # Two cells share each of three sides: 4567, 1265 and 5 10 6.
    assert len(found.external) == 6 + 5 + 5 + 4 - 2 * 3 + found.external.cell.tolist().count(5)
    surface = found.external.as_meshio(points)
    assert [block.type for block in surface.cells] == ["triangle", "quad"]
    taken = surface.points[surface.cells[0].data]
    for face, cell in zip(surface.point_data["original_point"][surface.cells[0].data], surface.cell_data["original_cell"][0]):
        corners = [set(row) for _, rows in blocks for row in rows][cell]
        assert set(face.tolist()) <= corners
    assert np.isin(taken, points).all()
    for wrong, text in ((None, "points = None"), (points[:4], "points has 4 rows; expected"), (points[0], "points has shape")):
        with pytest.raises((TypeError, ValueError), match=f"as_meshio: {text}"):
            found.external.as_meshio(wrong)
    polyhedra = meshio.Mesh(points, [("polyhedron4", [[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]])])
    with pytest.raises(ValueError, match="cells of type polyhedron4; expected vertex, line, .* or polygon"):
        heddle.external_faces(polyhedra)
    with pytest.raises(ValueError, match="a mesh has its own kinds"):
        heddle.external_faces(meshio.Mesh(points, blocks), kind="tetra")
    empty = heddle.external_faces(meshio.Mesh(points, [])).external
    assert len(empty) == 0 and len(empty.as_meshio(points).points) == 0


def volume_inside(faces, points):
    """Return the volume enclosed by faces whose corners turn left seen from outside."""
    offsets, ids = faces.offsets, faces.points
    total = 0.0
    for begin, end in zip(offsets, offsets[1:]):
        first, *others = (points[i] for i in ids[begin:end])
        total += sum(np.dot(first, np.cross(a, b)) for a, b in zip(others, others[1:]))
    return total / 6


def mesh_of(meshio, points, cell, rows):
    """Mesh of cells some of which (wedge15) meshio reads but cannot construct."""
    mesh = meshio.Mesh(points, [("vertex", rows)])
    mesh.cells[0].type = cell
    return mesh


# Corners of cells in meshio's order, and their volumes.
_CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
_WEDGE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]
_LINEAR = {"tetra": (_WEDGE[:4], 1 / 6), "hexahedron": (_CUBE, 1), "wedge": (_WEDGE, 0.5),
           "pyramid": ([*_CUBE[:4], (0.5, 0.5, 1)], 1 / 3)}


@pytest.mark.parametrize("ids", ["int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("cell", ["tetra", "tetra10", "tetra20", "hexahedron", "hexahedron20", "hexahedron24", "hexahedron27",
                                  "wedge", "wedge15", "wedge18", "pyramid", "pyramid13", "pyramid14",
                                  "VTK_LAGRANGE_WEDGE", "VTK_LAGRANGE_HEXAHEDRON"])
def test_faces_of_meshios_cells_look_outwards(cell, ids):
    meshio = pytest.importorskip("meshio")
    linear = {"VTK_LAGRANGE_WEDGE": "wedge", "VTK_LAGRANGE_HEXAHEDRON": "hexahedron"}.get(cell, cell.rstrip("0123456789"))
    corners, volume = _LINEAR[linear]
    nodes = int(cell[len(linear):] or len(corners)) if cell.startswith(linear) else len(corners) + 9
    # Two cells far apart, with mid-side nodes in no particular order.
    points = np.array([*corners, *([(0.5, 0.5, 0.5)] * (nodes - len(corners)))], float)
    points = np.concatenate([points, points + 5])
    rows = np.arange(2 * nodes).reshape(2, nodes)
    mesh = mesh_of(meshio, points, cell, rows.astype(ids))
    found = heddle.external_faces(mesh).external
    assert volume_inside(found, points) == pytest.approx(2 * volume)


def test_wedges_of_second_order_in_vtks_order():
    meshio = pytest.importorskip("meshio")
    points = np.array([*(_WEDGE[i] for i in (0, 2, 1, 3, 5, 4)), *([(0.3, 0.3, 0.5)] * 9)], float)
    found = heddle.external_faces(mesh_of(meshio, points, "wedge15", np.arange(15)[None])).external
    assert volume_inside(found, points) == pytest.approx(0.5)
    plain = heddle.external_faces(np.array([[0, 1, 2, 3, 4, 5]]), "wedge").external
    assert volume_inside(plain, points) == pytest.approx(0.5)


def test_meshes_of_meshio_with_other_cells():
    meshio = pytest.importorskip("meshio")
    points = np.random.default_rng(3).normal(size=(20, 3))
    blocks = [("hexahedron20", np.arange(20)[None]), ("tetra", np.zeros((0, 4), int)), ("triangle6", [[0, 1, 2, 3, 4, 5]]),
              ("polygon", [[0, 1, 2, 3, 4]]), ("line3", [[0, 1, 2]]), ("quad8", [list(range(8))]), ("vertex", [[3]])]
    found = heddle.external_faces(meshio.Mesh(points, blocks)).external
    assert len(found) == 6 and set(found.points.tolist()) == set(range(8)) and set(found.cell.tolist()) == {0}
    with pytest.raises(ValueError, match=f"tetra has {2**63}; expected integers below"):
        heddle.external_faces(meshio.Mesh(points, [("tetra", np.array([[0, 1, 2, 2**63]], "uint64"))]))
    with pytest.raises(TypeError, match="the points of cells of type tetra of type float64; expected integers"):
        heddle.external_faces(meshio.Mesh(points, [("tetra", [[0.0, 1.0, 2.0, 3.5]])]))
    with pytest.raises(ValueError, match=r"cells of type tetra10 have shape \(1, 3\); expected 4 points or more a row"):
        heddle.external_faces(meshio.Mesh(points, [("tetra10", [[0, 1, 2]])]))


def test_no_integer_is_narrowed():
    cells, kinds, offsets = np.arange(8), [10, 10], [0, 4, 8]
    whole = heddle.external_faces(cells, kinds=kinds, offsets=offsets)
    for of in ("uint64", "int16"):
        again = heddle.external_faces(cells.astype(of), kinds=np.array(kinds, of), offsets=np.array(offsets, of),
                                      ghosts=np.array([0, 1], of))
        assert len(again.external) == len(whole.external) - 4
    assert len(heddle.external_faces(cells, kinds=kinds, offsets=offsets, ghosts=[False, True]).external) == 4
    for given, text in (({"kinds": [10, 266]}, "kinds has 266; expected VTK's numbers of kinds, integers up to 255"),
                        ({"kinds": [-246, 10]}, "kinds has -246"), ({"ghosts": [0, 256]}, "ghosts has 256"),
                        ({"ghosts": [0, -1]}, "ghosts has -1"),
                        ({"offsets": np.array([0, 4, 2**64 - 8], "uint64")}, "offsets has 18446744073709551608")):
        with pytest.raises(ValueError, match=text):
            heddle.external_faces(cells, **{"kinds": kinds, "offsets": offsets, **given})
    for given, text in (({"offsets": [0, 4.7, 8]}, "offsets of type float64; expected integers"),
                        ({"kinds": [10.0, 10.0]}, "kinds of type float64"), ({"ghosts": [0.5, 0.0]}, "ghosts of type float64")):
        with pytest.raises(TypeError, match=text):
            heddle.external_faces(cells, **{"kinds": kinds, "offsets": offsets, **given})
    with pytest.raises(TypeError, match="kind = 10.7; expected a whole number"):
        heddle.external_faces(cells.reshape(2, 4), 10.7)
    with pytest.raises(ValueError, match="kind = 99; expected one of"):
        heddle.external_faces(cells.reshape(2, 4), 99)
    with pytest.raises(ValueError, match=f"cells has {2**64 - 1}; expected integers below"):
        heddle.external_faces(np.array([[0, 1, 2, 2**64 - 1]], "uint64"))


def test_meshes_of_pyvista():
    pyvista = pytest.importorskip("pyvista")
    points, blocks = mixed_mesh()
    numbers = {"hexahedron": 12, "pyramid": 14, "wedge": 13, "tetra": 10}
    blocks = blocks[:4]
    listed = [x for name, rows in blocks for row in rows for x in (len(row), *row)]
    grid = pyvista.UnstructuredGrid(listed, [numbers[name] for name, _ in blocks], points)
    found = heddle.external_faces(grid).external
    surface = found.as_pyvista(points)
    expected = grid.extract_surface(algorithm="dataset_surface")

    def faces(poly, names):
        ends = np.cumsum([n for n in np.diff(poly.GetPolys().GetOffsetsArray())])
        ids = names[np.array(poly.GetPolys().GetConnectivityArray())]
        return sorted(sorted(part.tolist()) for part in np.split(ids, ends[:-1].astype(int)))

    assert faces(surface, surface["original_point"]) == faces(expected, expected["vtkOriginalPointIds"])
    assert sorted(surface["original_cell"]) == sorted(expected["vtkOriginalCellIds"])
    np.testing.assert_array_equal(surface.points, points[surface["original_point"]].astype(surface.points.dtype))
    tetrahedra = pyvista.ImageData(dimensions=(4, 3, 3)).to_tetrahedra()
    assert len(heddle.external_faces(tetrahedra).external) == tetrahedra.extract_surface(algorithm="dataset_surface").n_cells
    ghosts = np.zeros(tetrahedra.n_cells, np.uint8)
    ghosts[:5] = 1
    tetrahedra.cell_data["vtkGhostType"] = ghosts
    assert not (heddle.external_faces(tetrahedra).external.cell < 5).any()
