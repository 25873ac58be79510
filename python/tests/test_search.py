"""Equal keys against numpy.unique, external faces against counting sides in a dictionary."""

import collections

import heddle
import numpy as np
import pytest

KEYS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# Sides of cells, as VTK has them.
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
    """(cell, side, points) of the sides that no other has."""
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
    """A tetrahedron on a wedge beside a hexahedron below a pyramid, with a triangle and a line: points, and cells."""
    points = np.random.default_rng(5).normal(size=(14, 3))
    return points, [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("pyramid", [[4, 5, 6, 7, 8]]),
                    ("wedge", [[1, 9, 2, 5, 10, 6]]), ("tetra", [[5, 10, 6, 11]]), ("line", [[12, 13]]),
                    ("triangle", [[11, 12, 13]])]


def test_meshes_of_meshio():
    meshio = pytest.importorskip("meshio")
    points, blocks = mixed_mesh()
    found = heddle.external_faces(meshio.Mesh(points, blocks))
    # The sides that two cells share are three: 4567, 1265 and 5 10 6.
    assert len(found.external) == 6 + 5 + 5 + 4 - 2 * 3 + found.external.cell.tolist().count(5)
    surface = found.external.as_meshio(points)
    assert [block.type for block in surface.cells] == ["triangle", "quad"]
    taken = surface.points[surface.cells[0].data]
    for face, cell in zip(surface.point_data["original_point"][surface.cells[0].data], surface.cell_data["original_cell"][0]):
        corners = [set(row) for _, rows in blocks for row in rows][cell]
        assert set(face.tolist()) <= corners
    assert np.isin(taken, points).all()
    with pytest.raises(ValueError, match="cells of type tetra10"):
        heddle.external_faces(meshio.Mesh(points, [("tetra10", [list(range(10))])]))
    with pytest.raises(ValueError, match="a mesh has its own kinds"):
        heddle.external_faces(meshio.Mesh(points, blocks), kind="tetra")
    empty = heddle.external_faces(meshio.Mesh(points, [])).external
    assert len(empty) == 0 and len(empty.as_meshio(points).points) == 0


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
