"""The surface of a mesh of tetrahedra: a ball without an octant.

heddle.external_faces finds the sides of cells that no other cell shares; as_pyvista() makes a surface of them. If
PyVista is installed, its extract_surface is run for comparison.

    python surface.py surface.png [--small]
"""

# %%
import sys
import time

import heddle
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

try:
    import pyvista
except ImportError:
    pyvista = None

# Five tetrahedra of a cube's corners, which are numbered by x first, then y, then z; every other cube is mirrored.
EVEN = np.array([[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]])
ODD = (EVEN ^ 1)[:, [0, 2, 1, 3]]  # two points exchanged, so that volumes stay positive


# %%
def ball(n):
    """Return points and tetrahedra of an n x n x n grid bent into a ball, without one octant."""
    i = np.arange(n, dtype=np.int64)
    z, y, x = (c.ravel() for c in np.meshgrid(i, i, i, indexing="ij"))
    kept = (2 * x < n) | (2 * y < n) | (2 * z < n)
    x, y, z = x[kept], y[kept], z[kept]
    steps = np.array([dx + dy * (n + 1) + dz * (n + 1)**2 for dz in (0, 1) for dy in (0, 1) for dx in (0, 1)])
    corners = (x + y * (n + 1) + z * (n + 1)**2)[:, None] + steps
    odd = (x + y + z) % 2 == 1
    cells = np.empty((len(x), 5, 4), np.int64)
    cells[~odd] = corners[~odd][:, EVEN]
    cells[odd] = corners[odd][:, ODD]
    axis = np.linspace(-1, 1, n + 1)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")[::-1]
    bent = [a * np.sqrt(1 - b**2 / 2 - c**2 / 2 + b**2 * c**2 / 3) for a, b, c in ((x, y, z), (y, z, x), (z, x, y))]
    return np.stack(bent, -1).reshape(-1, 3), cells.reshape(-1, 4)


# %%
def main(picture, small=False):
    points, cells = ball(8 if small else 132)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        found = heddle.external_faces(cells)
        times.append(time.perf_counter() - begin)
    print(f"{len(cells):,} tetrahedra, {len(found.external):,} external faces: {min(times):.2f} s")
    ratio = None
    if pyvista is not None:
        grid = pyvista.UnstructuredGrid({pyvista.CellType.TETRA: cells}, points)
        begin = time.perf_counter()
        theirs = grid.extract_surface(algorithm="dataset_surface")
        there = time.perf_counter() - begin
        begin = time.perf_counter()
        ours = heddle.external_faces(grid).external.as_pyvista(points)
        here = time.perf_counter() - begin
        ratio = there / here
        assert ours.n_cells == theirs.n_cells == len(found.external)
        print(f"from grid to surface {here:.2f} s; extract_surface {there:.2f} s, {ratio:.1f} times as long")
    points, cells = (points, cells) if small else ball(32)
    faces = heddle.external_faces(cells).external.as_matrix()
    triangles = points[faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    light = normals @ np.array([0.35, 0.6, 0.72]) / np.linalg.norm(normals, axis=1)
    figure = plt.figure(figsize=(6, 6))
    axes = figure.add_subplot(projection="3d")
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    axes.add_collection3d(Poly3DCollection(triangles, facecolors=plt.cm.bone(0.25 + 0.65 * light.clip(0, 1))))
    axes.set(xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(-0.8, 0.8))
    axes.view_init(28, 35)
    axes.set_box_aspect((1, 1, 1))
    axes.set(title=f"{len(cells):,} tetrahedra, {len(faces):,} external faces", xlabel="x", ylabel="y", zlabel="z")
    figure.savefig(picture, dpi=90)
    return len(found.external), ratio


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "surface.png", "--small" in sys.argv)
