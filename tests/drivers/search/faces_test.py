"""heddle faces and heddle study faces."""

import os
import unittest
import xml.etree.ElementTree as ElementTree

from command import ON_GPU, CommandTest
from faces_meshes import GMSH, SIDES, TETRAHEDRON, random_cells, sides_of, vtu

ALGORITHMS = [("partition", "auto"), ("sort-by-id", "auto")] + [
    (algorithm, function) for algorithm in ("sort", "hash-fight") for function in ("xor", "fnv1a", "morton", "mixer")]
KEYS = {"cells", "faces", "external_faces", "nonmanifold_faces", "nonmanifold_sides", "degenerate_sides", "algorithm",
        "hash", "phases", "passes", "iterations", "collisions", "memory_bytes", "seconds", "cells_per_second", "sha256"}


class Faces(CommandTest):
    def arrays(self, name):
        """The arrays of a .vtp or .vtu file in ASCII by name, and the attributes of its piece."""
        piece = ElementTree.parse(self.path(name)).getroot()[0].find("Piece")
        return {array.get("Name"): [float(word) for word in (array.text or "").split()]
                for array in piece.iter("DataArray")}, piece.attrib

    def test_a_cube(self):
        for cubes, kind, per_cube, external in ((3, "tetrahedra", 5, 108), ("2,3,4", "tetrahedra", 6, 104),
                                                ("2,3,4", "hexahedra", 5, 52), (0, "tetrahedra", 5, 0)):
            for flags in ([], ["--randomised", "--seed", 4]):
                with self.subTest(cubes=cubes, kind=kind, flags=flags):
                    report = self.succeed("faces", "--generate", kind, "--size", cubes, "--per-cube", per_cube, *flags)
                    results = report["results"]
                    self.assertLessEqual(KEYS, set(results))
                    self.assertEqual(results["external_faces"], external)
                    self.assertEqual(results["open_edges"], 0)
                    self.assertEqual(set(report["checks"]), {"external_faces", "closed"})
                    self.assertRegex(results["sha256"], "^[0-9a-f]{64}$")

    def test_all_algorithms_and_ranks_agree(self):
        arguments = ["faces", "--generate", "tetrahedra", "--size", "5,4,6", "--randomised"]
        found = set()
        for algorithm, function in ALGORITHMS:
            results = self.succeed(*arguments, "--algorithm", algorithm, "--hash-function", function, "--phases",
                                   "--repeat", 2)["results"]
            self.assertEqual((results["algorithm"], results["hash"]), (algorithm, function))
            self.assertGreater(len(results["phases"]), 1)
            self.assertGreater(results["memory_bytes"], 0)
            if algorithm == "hash-fight":
                self.assertGreater(results["iterations"], 1)
            if function == "xor":
                self.assertGreater(results["collisions"], 0)
            found.add(results["sha256"])
        for algorithm in ("sort", "sort-by-id"):
            # 2400 sides, which take 24 bytes each where they are sorted by their points.
            for memory, passes in ((0, 1), (9000, 2)):
                for ranks in (1, 2):
                    results = self.succeed(*arguments, "--algorithm", algorithm, "--sort", "merge", "--memory", memory,
                                           ranks=ranks)["results"]
                    self.assertEqual((results["algorithm"], results["sort"]), (algorithm, "merge"))
                    self.assertGreaterEqual(results["passes"], passes)
                    found.add(results["sha256"])
        self.assertRegex(self.run_command(*arguments, "--algorithm", "sort-by-id", "--sort", "merge").output,
                         r"296 external faces; sort-by-id \(merge\), 1 rank: ")
        for ranks in (2, 3, 4):
            results = self.succeed(*arguments, ranks=ranks)["results"]
            self.assertEqual((results["cells"], results["faces"], results["external_faces"]), (600, 2400, 296))
            found.add(results["sha256"])
        self.assertEqual(len(found), 1)

    def test_several_passes(self):
        arguments = ["faces", "--generate", "hexahedra", "--size", 24]
        whole = self.succeed(*arguments)["results"]
        parts = self.succeed(*arguments, "--memory", "256K")["results"]
        self.assertEqual(whole["passes"], 1)
        self.assertGreater(parts["passes"], 1)
        self.assertLess(parts["memory_bytes"], whole["memory_bytes"])
        self.assertEqual(parts["sha256"], whole["sha256"])

    def test_gmsh(self):
        self.write("two.msh", GMSH)
        for ranks in (1, 2):
            results = self.succeed("faces", "-i", "two.msh", ranks=ranks)["results"]
            self.assertEqual((results["cells"], results["flat_cells"], results["faces"], results["external_faces"]),
                             (2, 2, 8, 6))
            self.assertEqual(results["open_edges"], 0)
        output = self.run_command("faces", "-i", "two.msh").output
        self.assertIn("surface: 1 cell of two dimensions, kept beside the external faces\n", output)
        self.assertIn("ignored: 1 cell of fewer than two dimensions\n", output)
        here = self.succeed("faces", "-i", "two.msh", "--save", "two.vtu")["results"]
        self.assertEqual(self.succeed("faces", "-i", "two.vtu")["results"]["sha256"], here["sha256"])

    def test_cells_of_two_dimensions(self):
        self.write("two.msh", GMSH)
        for rule, kept in (("keep", 7), ("drop", 6)):
            for ending in ("vtp", "ply", "stl", "msh"):
                self.succeed("faces", "-i", "two.msh", "-o", f"a surface.{ending}", "--surface-cells", rule)
                if ending != "vtp":
                    results = self.succeed("faces", "-i", f"a surface.{ending}", ranks=2)["results"]
                    self.assertEqual((results["surface_cells"], results["flat_cells"], results["cells"]), (kept, kept, 0))
        self.refuse("faces", "-i", "two.msh", "--surface-cells", "refuse",
                    message="two.msh: has 1 cell of two dimensions, which --surface-cells refuse does not take")
        self.refuse("faces", "-i", "two.msh", "--surface-cells", "show", message="keep, drop or refuse")
        self.refuse("faces", "-i", "two.msh", "--quadratic", "round", message="corners or curved")

    def test_surfaces_tell_their_open_edges(self):
        corners = [(k & 1, k >> 1 & 1, k >> 2) for k in range(8)]
        squares = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        triangles = [half for a, b, c, d in squares for half in ((a, b, c), (a, c, d))]

        def stl(name, faces):
            loops = "".join("facet normal 0 0 0\nouter loop\n"
                            + "".join("vertex {} {} {}\n".format(*corners[corner]) for corner in face)
                            + "endloop\nendfacet\n" for face in faces)
            return self.write(name, f"solid s\n{loops}endsolid s\n")

        for faces, open_edges, answer in ((triangles, 0, "closed: yes; 0 edges"), (triangles[1:], 3, "closed: no; 3 edges"),
                                          (triangles[:1], 3, "closed: no; 3 edges")):
            name = stl("s.stl", faces)
            for ranks in (1, 2):
                report = self.succeed("faces", "-i", name, "-o", "t.ply", ranks=ranks)
                self.assertEqual(report["checks"], {})
                self.assertEqual(report["results"]["open_edges"], open_edges)
                output = self.run_command("faces", "-i", name, "-o", "t.ply", ranks=ranks).output
                count = len(faces)
                self.assertIn(f"no cells of three dimensions: {count} face{'' if count == 1 else 's'} of the file itself "
                              "passed on, nothing is checked\n", output)
                self.assertIn(answer, output)
                self.assertNotIn("check closed", output)
            self.assertEqual(self.succeed("faces", "-i", "t.ply")["results"]["open_edges"], open_edges)
        output = self.run_command("faces", "-i", "s.stl", "--surface-cells", "drop").output
        self.assertIn("no cells of three dimensions: 0 faces", output)

    def test_hexahedra_of_a_file_are_checked(self):
        points = " ".join(f"{k % 3} {k // 3 % 2} {k // 6}" for k in range(12))
        self.write("h.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                   f"POINTS 12 double\n{points}\nCELLS 2 18\n8 0 1 4 3 6 7 10 9\n8 1 2 5 4 7 8 11 10\n"
                   "CELL_TYPES 2\n12 12\n")
        for ranks in (1, 2):
            report = self.succeed("faces", "-i", "h.vtk", ranks=ranks)
            self.assertEqual((report["results"]["cells"], report["results"]["external_faces"]), (2, 10))
            self.assertEqual(report["checks"]["closed"], {"passed": True, "value": 0.0, "bound": 0.0})

    def test_an_output_that_is_the_input(self):
        self.write("two.msh", GMSH)
        for option in ("--output", "--nonmanifold"):
            for ranks in (1, 2):
                self.refuse("faces", "-i", "two.msh", option, "./two.msh", ranks=ranks,
                            message=f"{option} would replace two.msh, which --input reads; expected another file")
        with open(self.path("two.msh"), encoding="utf-8") as file:
            self.assertEqual(file.read(), GMSH)

    def test_polyhedra_on_several_ranks(self):
        faces = ["4 0 2 3 1", "4 4 5 7 6", "4 0 1 5 4", "4 2 6 7 3", "4 0 4 6 2", "4 1 3 7 5"]
        points = " ".join(f"{k & 1} {k >> 1 & 1} {k >> 2}" for k in range(12))
        self.write("p.vtk", "# vtk DataFile Version 4.2\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                   f"POINTS 12 double\n{points}\nCELLS 2 41\n31 6 {' '.join(faces)}\n8 4 5 7 6 8 9 11 10\n"
                   "CELL_TYPES 2\n42 12\n")
        found = set()
        for ranks in (1, 2, 3):
            results = self.succeed("faces", "-i", "p.vtk", "-o", "p.ply", ranks=ranks)["results"]
            self.assertEqual((results["cells"], results["faces"], results["external_faces"]), (2, 12, 10))
            self.assertEqual(results["open_edges"], 0)
            found.add(results["sha256"])
        self.assertEqual(len(found), 1)
        self.assertEqual(self.succeed("faces", "-i", "p.ply")["results"]["surface_cells"], 10)

    def test_a_non_manifold_face(self):
        lines = GMSH.replace("$Elements\n4\n", "$Elements\n5\n").replace("$EndElements", "5 4 2 0 1 3 2 4 1\n$EndElements")
        self.write("three.msh", lines)
        output = self.run_command("faces", "-i", "three.msh").output
        self.assertIn("non-manifold: 1 face that three cells or more share, 3 sides of them\n", output)
        self.assertIn("closed: not looked at", output)

    def test_written_surfaces(self):
        arguments = ["faces", "--generate", "tetrahedra", "--size", "3,2,2", "--randomised"]
        self.succeed(*arguments, "--save", "m.vtu", "-o", "s.vtp", "--encoding", "ascii")
        arrays, piece = self.arrays("s.vtp")
        self.assertEqual((piece["NumberOfPolys"], piece["NumberOfPoints"]), ("64", "34"))
        self.assertEqual(len(arrays["connectivity"]), 3 * 64)
        self.assertEqual(len(arrays["Points"]), 3 * 34)
        with open(self.path("s.vtp"), "rb") as file:
            expected = file.read()
        for ranks in (1, 2, 4):
            for source in (arguments[1:], ["-i", "m.vtu"]):
                self.succeed("faces", *source, "-o", "again.vtp", "--encoding", "ascii", ranks=ranks)
                with open(self.path("again.vtp"), "rb") as file:
                    self.assertEqual(file.read(), expected)
        for encoding in ("binary", "compressed"):
            self.succeed("faces", "-i", "m.vtu", "-o", "again.vtu", "--encoding", encoding)
            self.assertEqual(self.succeed("faces", "-i", "again.vtu")["results"]["flat_cells"], 64)

    def test_mixed_cells(self):
        cells = random_cells(90, 11, 1)
        self.write("m.vtu", vtu(cells, 11))
        external, shared = sides_of(cells)
        self.assertGreater(len(external), 20)
        self.assertGreater(len(shared), 20)
        for ranks in (1, 3):
            results = self.succeed("faces", "-i", "m.vtu", "-o", "s.vtp", "--nonmanifold", "n.vtu", "--encoding", "ascii",
                                   "--surface-cells", "drop", ranks=ranks)["results"]
            arrays, piece = self.arrays("s.vtp")
            self.assertEqual(list(zip(arrays["OriginalCellIds"], arrays["OriginalCellSides"])), external)
            self.assertEqual(piece["NumberOfPolys"], str(len(external)))
            points, begin = [], 0
            for end in map(int, arrays["offsets"]):
                points.append([arrays["OriginalPointIds"][int(k)] for k in arrays["connectivity"][begin:end]])
                begin = end
            self.assertEqual(points, [[cells[cell][1][k] for k in SIDES[cells[cell][0]][side]]
                                      for cell, side in external])
            arrays, _ = self.arrays("n.vtu")
            self.assertEqual(list(zip(arrays["OriginalCellIds"], arrays["OriginalCellSides"],
                                      arrays["NonManifoldFace"])), shared)
            self.assertEqual((results["nonmanifold_sides"], results["nonmanifold_faces"]),
                             (len(shared), 1 + max(number for _, _, number in shared)))
            self.assertEqual(results["cells"] + results["flat_cells"], 90)

    def test_ghosts(self):
        cells = random_cells(60, 11, 2)
        ghosts = [int(cell % 5 == 2) for cell in range(60)]
        marked = {cell for cell in range(60) if ghosts[cell]}
        self.write("m.vtu", vtu(cells, 11, ghosts))
        everything = sides_of(cells)
        seen = [place for place in everything[0] if place[0] not in marked]
        for rule, expected in (("keep", everything[0]), ("drop", sides_of(cells, marked)[0]), ("hide", seen)):
            digests = set()
            for ranks in (1, 2, 3):
                with self.subTest(rule=rule, ranks=ranks):
                    results = self.succeed("faces", "-i", "m.vtu", "--ghosts", rule, "-o", "s.vtp", "--nonmanifold",
                                           "n.vtp", "--encoding", "ascii", "--surface-cells", "drop", ranks=ranks)["results"]
                    arrays, _ = self.arrays("s.vtp")
                    self.assertEqual(list(zip(arrays["OriginalCellIds"], arrays["OriginalCellSides"])), expected)
                    self.assertEqual((results["external_faces"], results["ghost_cells"]), (len(expected), len(marked)))
                    with open(self.path("n.vtp"), "rb") as file:
                        digests.add((results["sha256"], results["nonmanifold_faces"], file.read()))
            self.assertEqual(len(digests), 1)

    def test_refusals(self):
        self.refuse("faces", message="--input, .*--generate")
        self.write("two.msh", GMSH)
        self.refuse("faces", "-i", "two.msh", "--generate", "hexahedra", "--size", 2, message="not both")
        self.refuse("faces", "--generate", "hexahedra", message="--size")
        self.refuse("faces", "-i", "two.msh", "--size", 2, message="--size is for --generate")
        for option in (["--per-cube", 6], ["--randomised"], ["--seed", 2]):
            self.refuse("faces", "-i", "two.msh", *option, message=f"{option[0]} requires --generate")
        self.refuse("faces", "--generate", "hexahedra", "--size", "2,3", message="--size: expected N or NX,NY,NZ")
        self.refuse("faces", "--generate", "hexahedra", "--size", -1, message="--size")
        self.refuse("faces", "--generate", "cubes", "--size", 2, message="tetrahedra or hexahedra")
        self.refuse("faces", "--generate", "tetrahedra", "--size", 2, "--per-cube", 7, message="5 or 6")
        self.refuse("faces", "-i", "none.msh", message="none.msh")
        self.refuse("faces", "-i", "none.msh", message="none.msh", ranks=2)
        self.refuse("faces", "-i", "mesh.obj", message="mesh.obj")
        self.refuse("faces", "-i", "two.msh", "-o", "s.obj", message="s.obj: a surface must end in")
        self.refuse("faces", "-i", "two.msh", "--algorithm", "magic", message="'magic': expected auto, partition")
        self.refuse("faces", "-i", "two.msh", "--hash-function", "md5", message="'md5': expected auto, xor")
        self.refuse("faces", "-i", "two.msh", "--ghosts", "show", message="hide, drop or keep")
        self.refuse("faces", "-i", "two.msh", "--repeat", 0, message="--repeat")
        for wrong in ("many", "-1", "3X", "1GB"):
            self.refuse("faces", "-i", "two.msh", "--memory", wrong, message="--memory: .*expected bytes")
        self.write("cut.msh", GMSH[:GMSH.index("4 4 2")])
        self.refuse("faces", "-i", "cut.msh", message="cut.msh, line 1[0-9]")
        self.write("corner.msh", GMSH.replace("3 4 2 0 1 1 2 3 4", "3 4 2 0 1 1 2 3 9"))
        self.refuse("faces", "-i", "corner.msh", message="corner.msh")
        for ranks in (1, 2):
            self.refuse("faces", "-i", "two.msh", "-o", "s.vtp", "--nonmanifold", "./s.vtp", ranks=ranks,
                        message="--output and --nonmanifold both write ./s.vtp")
        self.refuse("faces", "-i", "two.msh", "-o", "s.vtu", "--save", "s.vtu",
                    message="--output and --save both write s.vtu")
        self.refuse("faces", "-i", "two.msh", "-o", "s.vtp", "--json", "s.vtp", message="--json and --output both write")
        self.refuse("faces", "-i", "two.msh", "-o", "none/s.vtp", message="none/s.vtp: can't be written")
        self.refuse("faces", "--generate", "hexahedra", "--size", 2, "--save", "m.vtp", message="m.vtp.*vtu")
        self.write("broken.vtu", vtu([(TETRAHEDRON, [0, 1, 2, 3])], 4)[:-80])
        self.refuse("faces", "-i", "broken.vtu", message="broken.vtu")
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".vtp")], [])


class Study(CommandTest):
    ARGUMENTS = ["study", "faces", "--sizes", "3,5", "--repeat", 2]

    def rows(self, name):
        return self.study_rows("faces", name)

    def test_table(self):
        report = self.succeed(*self.ARGUMENTS, "-o", "s.csv")
        rows = self.rows("s.csv")
        self.assertEqual(len(rows), 2 * 10 * 2 * 2)
        self.assertEqual({(row["algorithm"], row["hash"]) for row in rows},
                         {(algorithm, "" if function == "auto" else function) for algorithm, function in ALGORITHMS})
        for row in rows:
            cubes = int(row["cubes"])
            self.assertEqual((int(row["cells"]), int(row["faces"]), int(row["external_faces"])),
                             (5 * cubes**3, 20 * cubes**3, 12 * cubes**2))
            seconds = sum(float(phase.split("=")[1]) for phase in row["phases"].split(";"))
            self.assertLessEqual(seconds, float(row["seconds"]))
            self.assertGreater(int(row["memory_bytes"]), 0)
            self.assertEqual(row["sort"], "radix" if row["algorithm"].startswith("sort") else "")
            self.assertEqual(row["passes"], "1")
            self.assertEqual(row["threads"] == "", ON_GPU)
        for numbering in ("regular", "randomised"):
            for cubes in ("3", "5"):
                self.assertEqual(len({row["sha256"] for row in rows
                                      if (row["numbering"], row["cubes"]) == (numbering, cubes)}), 1)
        self.assertEqual({name: check["value"] for name, check in report["checks"].items()},
                         {"runs_with_another_count": 0, "differing_faces": 0, "different_digests": 0})
        self.assertEqual(len(report["results"]["medians"]), 40)
        output = self.run_command(*self.ARGUMENTS).output
        self.assertRegex(output, r"seconds of each phase: 625 cells, regular numbering, medians of 2 trials\n"
                         r"algorithm\+hash +inspect .* total\nsort-by-id +[0-9.e-]+ ")
        self.assertRegex(output, r"\nhash-fight\+fnv1a +randomised +[0-9.e-]+ ")
        # Counted, or one line that says why not.
        self.assertRegex(output, r"(?m)^cache misses: (counted|not counted: .+)$")
        counted = "\ncache misses: counted\n" in "\n" + output
        self.assertEqual({row["cache_misses"] != "" for row in rows}, {counted})

    def test_sorts_and_passes(self):
        report = self.succeed(*self.ARGUMENTS, "--sort", "radix,merge", "--methods", "partition,sort+xor,sort-by-id",
                              "-o", "s.csv")
        rows = self.rows("s.csv")
        self.assertEqual([(row["algorithm"], row["sort"]) for row in rows[:10:2]],  # two trials of each
                         [("partition", ""), ("sort", "radix"), ("sort", "merge"), ("sort-by-id", "radix"),
                          ("sort-by-id", "merge")])
        self.assertEqual(len({row["sha256"] for row in rows}), 4)  # of two sizes and numberings
        self.assertEqual(report["results"]["passes_for_lack_of_memory"], [])
        self.assertRegex(self.run_command(*self.ARGUMENTS, "--sort", "merge", "--methods", "sort+xor").output,
                         r"\nsort\+xor \(merge\) +regular +[0-9.e-]+ ")
        self.succeed("study", "faces", "--sizes", 12, "--repeat", 1, "--memory", "200K", "-o", "few.csv")
        few = self.rows("few.csv")
        for row in few:
            if row["algorithm"] != "partition":  # which never divides a bucket
                self.assertGreater(int(row["passes"]), 1)
        self.succeed("study", "faces", "--sizes", 12, "--repeat", 1, "--methods", "partition", "--join", "few.csv")

    def test_numbers_of_threads(self):
        small = ("study", "faces", "--sizes", 3, "--repeat", 1, "--methods", "partition,sort+fnv1a", "--sort", "merge")
        if ON_GPU:
            self.refuse(*small, "--threads", 1, message="--threads: this build runs on a GPU")
            return
        environment = {"OMP_NUM_THREADS": "3"}
        report = self.succeed(*small, "--threads", "3,1,2", "-o", "s.csv", environment=environment)
        rows = self.rows("s.csv")
        serial = rows[0]["backend"] == "serial"
        if serial:
            return
        self.assertEqual([row["threads"] for row in rows], ["1", "2", "3"] * 4)
        self.assertEqual({row["device"] for row in rows}, {"3 CPU threads"})
        self.assertEqual(len({row["sha256"] for row in rows}), 2)
        self.assertEqual(len(report["results"]["medians"]), 12)
        self.assertRegex(self.run_command(*small, "--threads", "1,3", environment=environment).output,
                         r"\nseconds with threads: mesh +1 +3   speed-up\npartition +regular( +[0-9.e-]+){3}\n")
        self.refuse(*small, "--threads", 4, environment=environment,
                    message="--threads: 4: expected 1 to 3, which OMP_NUM_THREADS sets")

    def test_joined_and_left_out(self):
        self.succeed(*self.ARGUMENTS, "--methods", "partition,sort+fnv1a", "--numberings", "regular", "-o", "one.csv")
        one = self.rows("one.csv")
        self.assertEqual(len(one), 8)
        with open(self.path("one.csv"), encoding="utf-8") as file:
            text = file.read()
        # Measurements on a machine of another kind.
        self.assertEqual({row["backend"] in ("cuda", "hip") for row in one}, {ON_GPU})
        other, device = ("openmp", "A CPU") if ON_GPU else ("cuda", "A GPU")
        text = text.replace(f"{one[0]['backend']},{one[0]['device']},", f"{other},{device},")
        self.write("joined.csv", text)
        report = self.succeed(*self.ARGUMENTS, "--methods", "partition,hash-fight+xor", "--limit", 0, "--join",
                              "joined.csv", "-o", "both.csv")
        rows = self.rows("both.csv")
        self.assertEqual(rows[-8:], self.rows("joined.csv"))
        self.assertEqual({(row["cubes"], row["backend"] == other) for row in rows},
                         {("3", False), ("3", True), ("5", True)})
        self.assertEqual(len(report["results"]["left_out"]), 2)
        self.assertRegex(report["results"]["left_out"][0], "^partition: left out above 3 cubes, where it took .* s")
        self.write("other.csv", text.replace(one[0]["sha256"], "0" * 64))
        self.refuse(*self.ARGUMENTS, "--join", "other.csv", code=1, message="check different_digests: FAILED")

    def test_picture(self):
        try:
            import matplotlib  # Not everywhere.
        except ImportError:
            self.skipTest("no matplotlib")
        del matplotlib
        self.succeed(*self.ARGUMENTS, "--plot", "s.png")
        self.assert_picture("s.png")
        result = self.run_command("plot", "study_faces.csv")
        self.assertEqual((result.code, result.output), (0, "wrote study_faces.png\n"), result.errors)
        self.assertTrue(os.path.exists(self.path("study_faces.png")))
        self.succeed(*self.ARGUMENTS, "--methods", "partition", "--numberings", "randomised", "--plot", "s.png")
        self.succeed(*self.ARGUMENTS, "--methods", "sort+xor,hash-fight+xor", "--sort", "merge,radix", "--join",
                     "study_faces.csv", "-o", "more.csv", "--plot", "s.png")

    def test_refusals(self):
        self.refuse("study", "faces", "--sizes", 0, message="--sizes: 0: expected 1 to 1024")
        self.refuse("study", "faces", "--methods", "sort", message="--methods: 'sort': expected partition")
        self.refuse("study", "faces", "--methods", "partition+xor", message="'partition.xor': expected partition")
        self.refuse("study", "faces", "--methods", "sort+md5", message="'md5' is no hash function")
        self.refuse("study", "faces", "--methods", "magic", message="'magic' is no search algorithm")
        self.refuse("study", "faces", "--numberings", "odd", message="regular or randomised")
        self.refuse("study", "faces", "--repeat", 0, message="--repeat")
        self.refuse("study", "faces", "--output", "nowhere/s.csv", message="nowhere/s.csv: can't be written")
        self.refuse(*self.ARGUMENTS, "-o", "s.csv", "--plot", "s.csv", message="--output and --plot both write s.csv")
        self.refuse("study", "faces", "--join", "none.csv", message="none.csv: is no table of heddle study faces")
        self.write("bad.csv", "# heddle study faces, heddle 0\nbackend,device\n")
        self.refuse("study", "faces", "--join", "bad.csv", message="bad.csv, line 2: expected backend,device,threads")
        self.refuse("study", "faces", "--sort", "quick", message="radix or merge")
        self.refuse("study", "faces", "--memory", "much", message="bytes, as 750000000, 512M or 1.5G")
        self.refuse("study", "faces", "--sizes", 5, "--methods", "sort+xor", "--memory", 9,
                    message="more than 4096 passes")
        self.refuse("study", "faces", "--threads", 0, message="--threads")
        self.succeed(*self.ARGUMENTS, "--methods", "partition", "-o", "one.csv")
        self.refuse(*self.ARGUMENTS, "-o", "one.csv", "--join", "one.csv", message="one.csv")
        with open(self.path("one.csv"), encoding="utf-8") as file:
            text = file.read()
        self.write("odd.csv", text.replace(",regular,", ",odd,"))
        self.refuse("study", "faces", "--join", "odd.csv", message="odd.csv: '.*': expected a row of backend,device")
        self.refuse("study", "faces", ranks=2, message="one rank")


if __name__ == "__main__":
    unittest.main()
