#!/usr/bin/env python3
"""`heddle faces` beside VTK's vtkGeometryFilter on mesh files, face for face.

    perf/peers/python/vtk_faces.py --heddle B/src/drivers/heddle MESH.vtu|MESH.vtk|MESH.msh ...

Each mesh goes through the command, its surface (.vtp) is read back, and both surfaces are compared as sets of polygons,
which are cycles of the mesh's point numbers from the lowest on. Gmsh's files reach VTK by way of the command's own
reader. Cells of fewer than three dimensions are left out of VTK's input: its filter passes them on. Exit status: 0 all
the same, 1 not, 3 VTK's Python module is missing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as error:
    print(f"vtk_faces: {error}", file=sys.stderr)
    sys.exit(3)


def cycle(points):
    start = points.index(min(points))
    return tuple(points[start:] + points[:start])


def polygons(surface, numbers):
    """Each polygon of vtkPolyData as a cycle of original point numbers, with how often it is there."""
    numbers = vtk_to_numpy(numbers)
    offsets = vtk_to_numpy(surface.GetPolys().GetOffsetsArray())
    corners = numbers[vtk_to_numpy(surface.GetPolys().GetConnectivityArray())].tolist()
    return Counter(cycle(corners[begin:end]) for begin, end in zip(offsets[:-1], offsets[1:]))


def read(reader, path):
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def solids(grid):
    """The cells of three dimensions, and an array of the points' numbers."""
    kept = vtk.vtkUnstructuredGrid()
    kept.SetPoints(grid.GetPoints())
    kinds = vtk_to_numpy(grid.GetCellTypesArray())
    kept.Allocate(int((kinds >= 10).sum()))
    corners = vtk.vtkIdList()
    for cell, kind in enumerate(kinds.tolist()):
        if kind >= 10:
            grid.GetCellPoints(cell, corners)
            kept.InsertNextCell(kind, corners)
    numbers = vtk.vtkIdTypeArray()
    numbers.SetName("number")
    numbers.SetNumberOfValues(grid.GetNumberOfPoints())
    vtk_to_numpy(numbers)[:] = range(grid.GetNumberOfPoints())
    kept.GetPointData().AddArray(numbers)
    return kept


def compare(heddle, mesh, folder):
    surface = os.path.join(folder, "surface.vtp")
    report = os.path.join(folder, "report.json")
    as_vtu = os.path.join(folder, "mesh.vtu")
    subprocess.run([heddle, "faces", "-i", mesh, "-o", surface, "--save", as_vtu, "--json", report, "--quiet"],
                   check=True)
    with open(report, encoding="utf-8") as file:
        results = json.load(file)["results"]
    ours_surface = read(vtk.vtkXMLPolyDataReader(), surface)
    ours = polygons(ours_surface, ours_surface.GetPointData().GetArray("OriginalPointIds"))
    grid = solids(read(vtk.vtkXMLUnstructuredGridReader(), as_vtu))
    theirs_filter = vtk.vtkGeometryFilter()
    theirs_filter.SetInputData(grid)
    theirs_filter.MergingOff()
    start = time.perf_counter()
    theirs_filter.Update()
    seconds = time.perf_counter() - start
    output = theirs_filter.GetOutput()
    theirs = polygons(output, output.GetPointData().GetArray("number"))
    same = ours == theirs
    print(f"{os.path.basename(mesh)}: {results['cells']} cells, {results['external_faces']} external faces, "
          f"{sum(theirs.values())} by VTK: {'the same' if same else 'NOT the same'}; "
          f"{results['seconds']:.4f} s and {seconds:.4f} s")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", required=True)
    parser.add_argument("meshes", nargs="+", metavar="MESH")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(options.heddle, mesh, folder) for mesh in options.meshes]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
