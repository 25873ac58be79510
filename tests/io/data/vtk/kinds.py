"""A mesh with one cell of each linear kind, in every form that VTK writes."""
import vtk

POINTS = [(0.1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1 / 3)]
CELLS = [
    (vtk.VTK_VERTEX, [7]),
    (vtk.VTK_LINE, [0, 7]),
    (vtk.VTK_TRIANGLE, [0, 1, 3]),
    (vtk.VTK_QUAD, [0, 1, 3, 2]),
    (vtk.VTK_TETRA, [0, 1, 2, 4]),
    (vtk.VTK_VOXEL, [0, 1, 2, 3, 4, 5, 6, 7]),
    (vtk.VTK_HEXAHEDRON, [0, 1, 3, 2, 4, 5, 7, 6]),
    (vtk.VTK_WEDGE, [0, 2, 1, 4, 6, 5]),
    (vtk.VTK_PYRAMID, [0, 1, 3, 2, 6]),
]


def numbers(kind, name, rows):
    array = kind()
    array.SetName(name)
    array.SetNumberOfComponents(len(rows[0]))
    for row in rows:
        array.InsertNextTuple(row)
    return array


def grid_of(points, cells):
    grid = vtk.vtkUnstructuredGrid()
    coordinates = vtk.vtkPoints()
    coordinates.SetDataTypeToDouble()
    for point in points:
        coordinates.InsertNextPoint(point)
    grid.SetPoints(coordinates)
    for kind, corners in cells:
        grid.InsertNextCell(kind, len(corners), corners)
    return grid


def write_xml(grid, name, prepare):
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(name)
    writer.SetInputData(grid)
    writer.SetDataModeToAppended()
    writer.SetCompressorTypeToNone()
    prepare(writer)
    writer.Write()


def write_legacy(grid, name, binary, version):
    writer = vtk.vtkUnstructuredGridWriter()
    writer.SetFileName(name)
    writer.SetInputData(grid)
    writer.SetFileVersion(version)
    if binary:
        writer.SetFileTypeToBinary()
    writer.Write()


grid = grid_of(POINTS, CELLS)
points, cells = grid.GetPointData(), grid.GetCellData()
points.AddArray(numbers(vtk.vtkFloatArray, "velocity", [(i, 0.1 * i, -i) for i in range(8)]))
points.AddArray(numbers(vtk.vtkUnsignedShortArray, "rank", [(i * i,) for i in range(8)]))
cells.AddArray(numbers(vtk.vtkDoubleArray, "pressure", [(1 / (i + 1),) for i in range(9)]))
cells.AddArray(numbers(vtk.vtkTypeInt64Array, "number", [((1 << 40) + i,) for i in range(9)]))
cells.AddArray(numbers(vtk.vtkSignedCharArray, "sign", [(-i,) for i in range(9)]))
cells.AddArray(numbers(vtk.vtkUnsignedCharArray, "vtkGhostType", [(g,) for g in (0, 0, 0, 0, 1, 0, 32, 33, 0)]))
names = vtk.vtkStringArray()
names.SetName("label")
for i in range(9):
    names.InsertNextValue(f"cell {i}")
cells.AddArray(names)

write_xml(grid, "kinds-ascii.vtu", lambda w: w.SetDataModeToAscii())
write_xml(grid, "kinds-binary.vtu", lambda w: w.SetDataModeToBinary())
write_xml(grid, "kinds-appended.vtu", lambda w: None)
write_xml(grid, "kinds-raw.vtu", lambda w: (w.EncodeAppendedDataOff(), w.SetHeaderTypeToUInt64()))
write_xml(grid, "kinds-big-endian.vtu", lambda w: w.SetByteOrderToBigEndian())
write_xml(grid, "kinds-zlib.vtu", lambda w: w.SetCompressorTypeToZLib())
write_xml(grid, "kinds-lz4.vtu", lambda w: w.SetCompressorTypeToLZ4())
write_xml(grid, "kinds-lzma.vtu", lambda w: w.SetCompressorTypeToLZMA())
write_legacy(grid, "kinds-ascii-4.2.vtk", False, 42)
write_legacy(grid, "kinds-binary-4.2.vtk", True, 42)
write_legacy(grid, "kinds-ascii-5.1.vtk", False, 51)
write_legacy(grid, "kinds-binary-5.1.vtk", True, 51)

mid = [tuple((a + b) / 2 for a, b in zip(POINTS[i], POINTS[j])) for i, j in
       ((0, 1), (1, 2), (0, 2), (0, 4), (1, 4), (2, 4))]
quadratic = grid_of([POINTS[i] for i in (0, 1, 2, 4)] + mid,
                    [(vtk.VTK_TETRA, [0, 1, 2, 3]), (vtk.VTK_QUADRATIC_TETRA, list(range(10)))])
write_xml(quadratic, "quadratic.vtu", lambda w: w.SetDataModeToAscii())
write_legacy(quadratic, "quadratic.vtk", False, 42)
