"""heddle faces beside the filters of VTK 9.4 or newer, polygon for polygon, on files of Gmsh, meshio and PyVista.

Runs by the Python that CMake was given as HEDDLE_PEERS_PYTHON, which has vtk, pyvista, meshio and gmsh.
"""

import collections
import os
import unittest

import gmsh
import meshio
import numpy
import pyvista
import vtk
from command import CommandTest

# Kinds of second order that VTK makes linear at level 0, which it does not of triangles with a node in the middle.
SECOND_ORDER = (22, 23, 24, 25, 26, 27, 28, 29, 32, 33)


def polygons(surface):
    """Polygons by their coordinates, from the lowest corner on, each with how often it is there."""
    places = numpy.round(numpy.asarray(surface.points, dtype="f4").astype("f8"), 5) + 0.0
    found = collections.Counter()
    for cell in range(surface.n_cells):
        if surface.GetCell(cell).GetCellDimension() < 2:
            continue
        corners = [tuple(places[point]) for point in surface.get_cell(cell).point_ids]
        first = corners.index(min(corners))
        found[tuple(corners[first:] + corners[:first])] += 1
    return found


def by_vtk(grid, level=1):
    """The surface that VTK makes; level 0: corners of curved faces alone, 1: triangles by their nodes."""
    surface = vtk.vtkGeometryFilter()
    surface.SetInputData(grid)
    surface.SetNonlinearSubdivisionLevel(level)
    surface.MergingOff()
    surface.Update()
    return pyvista.wrap(surface.GetOutput())


def grid_of(cells, points):
    """A grid of cells given as (VTK's type, points)."""
    lists = [number for _, corners in cells for number in (len(corners), *corners)]
    return pyvista.UnstructuredGrid(numpy.array(lists), [kind for kind, _ in cells], numpy.array(points, dtype=float))


def mixed_grid():
    """One cell of each linear kind of three dimensions, in a row, and two of two dimensions."""
    points, cells = [], []
    for k, name in enumerate(("Tetra", "Hexahedron", "Wedge", "Pyramid", "Voxel", "Quad", "Triangle")):
        cell = getattr(vtk, "vtk" + name)()
        count = cell.GetNumberOfPoints()
        places = numpy.array([cell.GetParametricCoords()[i] for i in range(3 * count)]).reshape(-1, 3)
        cells.append((cell.GetCellType(), list(range(len(points), len(points) + count))))
        points += [list(place + [2 * k, 0, 0]) for place in places]
    return grid_of(cells, points)


def polyhedra(cubes=3):
    """A row of cubes as polyhedra, the last a hexahedron."""
    points = [(x, y, z) for x in range(cubes + 1) for y in (0, 1) for z in (0, 1)]
    grid = vtk.vtkUnstructuredGrid()
    grid.SetPoints(pyvista.vtk_points(numpy.array(points, dtype=float)))
    for k in range(cubes - 1):
        first = 4 * k
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        stream = [len(faces)] + [number for face in faces for number in (len(face), *(first + p for p in face))]
        ids = vtk.vtkIdList()
        for number in stream:
            ids.InsertNextId(number)
        grid.InsertNextCell(vtk.VTK_POLYHEDRON, ids)
    ids = vtk.vtkIdList()
    for corner in (0, 4, 6, 2, 1, 5, 7, 3):
        ids.InsertNextId(4 * (cubes - 1) + corner)
    grid.InsertNextCell(vtk.VTK_HEXAHEDRON, ids)
    return pyvista.wrap(grid)


class FacesBesideVtk(CommandTest):
    def surface(self, name, *options, output="surface.vtp", ranks=1):
        self.succeed("faces", "-i", name, "-o", output, *options, ranks=ranks)
        return pyvista.read(self.path(output))

    def compare(self, name, grid, levels=(0, 1), ranks=1):
        for level in levels:
            with self.subTest(name=name, level=level, ranks=ranks):
                ours = self.surface(name, "--quadratic", "curved" if level else "corners", ranks=ranks)
                theirs = by_vtk(grid, level)
                self.assertGreater(sum(polygons(theirs).values()), 0)
                self.assertEqual(polygons(ours), polygons(theirs))

    def read_by_meshio(self, name):
        mesh = meshio.read(self.path(name))
        return pyvista.from_meshio(meshio.Mesh(mesh.points, mesh.cells))

    def test_files_of_gmsh(self):
        gmsh.initialize()
        try:
            gmsh.option.setNumber("General.Terminal", 0)
            gmsh.option.setNumber("Mesh.MeshSizeMax", 0.6)
            gmsh.option.setNumber("Mesh.SaveAll", 1)
            names = []
            for kind in ("tetrahedra", "hexahedra", "wedges"):
                for order, incomplete in ((1, 0), (2, 0), (2, 1)):
                    names += self.write_by_gmsh(kind, order, incomplete)
        finally:
            gmsh.finalize()
        for name in names:
            # meshio reads some wedges of second order, and leaves the nodes of others in Gmsh's order.
            if not name.startswith("wedges-2"):
                self.compare(name, self.read_by_meshio(name))
            if not name.startswith("tetrahedra"):
                self.assert_straight(name)

    def assert_straight(self, name):
        """Each further node is in the middle of its corners, as in a mesh of a box."""
        ours = self.surface(name, "--quadratic", "curved", "--surface-cells", "drop", output="surface.vtu")
        for cell in range(ours.n_cells):
            places = ours.points[ours.get_cell(cell).point_ids]
            corners = places[:3 if ours.celltypes[cell] in (5, 22, 34) else 4]
            middles = list((corners + numpy.roll(corners, -1, axis=0)) / 2) + [corners.mean(axis=0)]
            for place, middle in zip(places[len(corners):], middles):
                self.assertLess(abs(place - middle).max(), 1e-12)

    def write_by_gmsh(self, kind, order, incomplete):
        gmsh.clear()
        gmsh.model.add(kind)
        if kind == "tetrahedra":
            gmsh.model.occ.addSphere(0, 0, 0, 1)
        else:
            base = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
            gmsh.model.occ.extrude([(2, base)], 0, 0, 1, [2], recombine=True)
        gmsh.model.occ.synchronize()
        gmsh.option.setNumber("Mesh.RecombineAll", kind == "hexahedra")
        gmsh.option.setNumber("Mesh.SecondOrderIncomplete", incomplete)
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(order)
        names = []
        for version in (2.2, 4.1):
            for binary in (0, 1):
                gmsh.option.setNumber("Mesh.MshFileVersion", version)
                gmsh.option.setNumber("Mesh.Binary", binary)
                names.append(f"{kind}-{order}-{incomplete}-{version}-{binary}.msh")
                gmsh.write(self.path(names[-1]))
        return names

    def test_files_of_meshio(self):
        grid = mixed_grid()
        mesh = meshio.Mesh(grid.points, [("tetra", [[0, 1, 2, 3]]), ("hexahedron", [list(range(4, 12))]),
                                         ("wedge", [list(range(12, 18))]), ("pyramid", [list(range(18, 23))]),
                                         ("triangle", [[35, 36, 37]]), ("quad", [list(range(31, 35))])],
                           point_data={"t": numpy.arange(len(grid.points)) / 3},
                           cell_data={"c": [numpy.array([k], dtype=float) for k in range(6)]})
        for name, options in (("m.vtu", {}), ("text.vtu", {"binary": False}), ("m.vtk", {}),
                              ("text.vtk", {"binary": False}), ("v42.vtk", {"file_format": "vtk42"}),
                              ("g22.msh", {"file_format": "gmsh22"})):
            mesh.write(self.path(name), **options)
            self.compare(name, pyvista.from_meshio(meshio.Mesh(mesh.points, mesh.cells)))
            ours = self.surface(name)
            # As text, meshio writes eleven digits or more.
            numpy.testing.assert_allclose(ours.point_data["t"], ours.point_data["OriginalPointIds"] / 3, rtol=1e-10)
            values = numpy.sort(numpy.unique(ours.cell_data["c"]))
            numpy.testing.assert_array_equal(ours.cell_data["c"], ours.cell_data["OriginalCellIds"])
            self.assertEqual(len(values), 6)

    def test_files_of_pyvista(self):
        grids = {"mixed": mixed_grid(), "polyhedra": polyhedra()}
        for kind in SECOND_ORDER:
            cell = vtk.vtkGenericCell.InstantiateCell(kind)
            count = cell.GetNumberOfPoints()
            places = numpy.array([cell.GetParametricCoords()[i] for i in range(3 * count)]).reshape(-1, 3)
            grids[f"kind{kind}"] = grid_of([(kind, list(range(count)))], places)
        for name, grid in grids.items():
            for file in (f"{name}.vtu", f"{name}.vtk"):
                grid.save(self.path(file))
                self.compare(file, grid)
        self.compare("polyhedra.vtu", grids["polyhedra"], ranks=2)

    def test_images_surfaces_and_pieces(self):
        for dimensions in ((4, 3, 5), (4, 1, 3)):
            image = pyvista.ImageData(dimensions=dimensions, spacing=(0.5, 1, 2), origin=(-1, 0, 3))
            image.cell_data["c"] = numpy.arange(image.n_cells, dtype=float)
            image.save(self.path("image.vti"))
            self.compare("image.vti", image.cast_to_unstructured_grid())
            ours = self.surface("image.vti")
            self.assertEqual(list(ours.cell_data["c"]), list(ours.cell_data["OriginalCellIds"]))
        surface = pyvista.Dodecahedron() if hasattr(pyvista, "Dodecahedron") else pyvista.Sphere()
        surface.save(self.path("surface-in.vtp"))
        self.compare("surface-in.vtp", surface)
        for name, binary in (("b.stl", True), ("t.stl", False), ("b.ply", True), ("t.ply", False)):
            pyvista.Sphere(theta_resolution=9, phi_resolution=7).save(self.path(name), binary=binary)
            self.compare(name, pyvista.read(self.path(name)))
        writer = vtk.vtkXMLPUnstructuredGridWriter()
        writer.SetInputData(pyvista.ImageData(dimensions=(5, 4, 3)).cast_to_unstructured_grid())
        writer.SetFileName(self.path("pieces.pvtu"))
        writer.SetNumberOfPieces(2)
        writer.SetEndPiece(1)
        writer.SetGhostLevel(0)
        writer.Write()
        self.compare("pieces.pvtu", pyvista.read(self.path("pieces.pvtu")))

    def test_what_others_read_of_the_files_written(self):
        image = pyvista.ImageData(dimensions=(3, 4, 5))
        image.point_data["p"] = numpy.arange(image.n_points) / 4
        image.save(self.path("image.vti"))
        for ending in ("vtp", "vtu", "stl", "ply", "msh"):
            for encoding in ("ascii", "binary", "compressed"):
                with self.subTest(ending=ending, encoding=encoding):
                    name = f"with space {encoding}.{ending}"
                    self.succeed("faces", "-i", "image.vti", "-o", name, "--encoding", encoding)
                    if ending == "msh":
                        surface = self.read_by_meshio(name).extract_surface(algorithm=None)
                    else:
                        surface = pyvista.read(self.path(name)).extract_surface(algorithm=None)
                    triangles = surface.triangulate().clean()
                    self.assertEqual(triangles.n_open_edges, 0)
                    # Positive where all faces look outwards.
                    mass = vtk.vtkMassProperties()
                    mass.SetInputData(triangles)
                    centres = triangles.cell_centers().points - numpy.array(image.center)
                    corners = triangles.points[triangles.faces.reshape(-1, 4)[:, 1:]]
                    own = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
                    self.assertTrue((numpy.einsum("ij,ij->i", own, centres) > 0).all())
                    self.assertAlmostEqual(mass.GetVolume(), 24, places=4)


if __name__ == "__main__":
    if tuple(map(int, vtk.vtkVersion().GetVTKVersion().split(".")[:2])) < (9, 4):
        raise SystemExit("VTK 9.4 or newer is expected")
    os.environ.setdefault("PYVISTA_OFF_SCREEN", "true")
    unittest.main()
