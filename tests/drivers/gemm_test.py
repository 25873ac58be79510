"""heddle gemm against products computed here."""

import math
import os
import random
import shutil
import unittest

import h5py
import numpy

from command import ON_GPU, CommandTest, product, random_matrix, read_market, transpose, write_market


class Gemm(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(3)

    def matrix(self, name, rows, columns, is_complex=False):
        values = random_matrix(self.random, rows, columns, is_complex)
        write_market(self.path(name), values)
        return values

    def test_product_of_two_files(self):
        a = self.matrix("A.mtx", 17, 23)
        b = self.matrix("B.mtx", 23, 11)
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                report = self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--output", "C.mtx", ranks=ranks)
                self.assert_close(read_market(self.path("C.mtx")), product(a, b), 1e-13)
                self.assertEqual(report["command"], "gemm")
                inputs, results = report["inputs"], report["results"]
                self.assertEqual((inputs["rows"], inputs["columns"], inputs["inner"]), (17, 11, 23))
                self.assertEqual((inputs["ranks"], inputs["scalar"]), (ranks, "double"))
                self.assertGreaterEqual(results["tile"], 1)
                for key in ("predicted_seconds", "seconds", "gflops"):
                    self.assertGreater(results[key], 0, key)
                self.assertIn("product", report["checks"])
                self.assertIn("total", report["times"])

    def test_operations_factors_and_placements(self):
        a = self.matrix("A.mtx", 9, 14, True)
        b = self.matrix("B.mtx", 8, 9, True)
        c = self.matrix("C0.mtx", 14, 8, True)
        self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--c-in", "C0.mtx", "--output", "C.mtx", "--op-a", "C", "--op-b",
                     "T", "--alpha", "0.5,-1", "--beta", "2,0.25", "--place-a", "rank:1", "--place-b", "columns",
                     "--place-c", "cyclic:3x2:1x2", "--tile", 5, ranks=2)
        alpha, beta = complex(0.5, -1), complex(2, 0.25)
        ab = product(transpose(a, conjugate=True), transpose(b))
        expected = [[alpha * x + beta * y for x, y in zip(*rows)] for rows in zip(ab, c)]
        self.assert_close(read_market(self.path("C.mtx")), expected, 1e-13)

    def test_same_bits_on_any_number_of_ranks(self):
        self.matrix("A.mtx", 31, 27)
        self.matrix("B.mtx", 27, 19)
        texts = set()
        for ranks, place in ((1, "rows"), (2, "columns"), (4, "cyclic:4x4")):
            self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--output", "C.mtx", "--tile", 8, "--place-a", place,
                         "--place-c", place, ranks=ranks)
            with open(self.path("C.mtx"), encoding="utf-8") as file:
                texts.add(file.read())
        self.assertEqual(len(texts), 1)

    def test_layers_have_the_same_bits_on_any_number_of_ranks(self):
        # In single precision: of random elements sums in double precision are exact, whatever their order.
        words = ("gemm", "--size", 300, "--scalar", "float", "--tile", 64, "--hash")
        hashes = {1: set(), 2: set()}
        for layers, ranks, grid in ((1, 1, "auto"), (1, 2, "1x2"), (1, 4, "2x2"),
                                    (2, 1, "auto"), (2, 2, "1x1"), (2, 3, "auto"), (2, 4, "1x2")):
            with self.subTest(layers=layers, ranks=ranks):
                results = self.succeed(*words, "--layers", layers, "--grid", grid, ranks=ranks)["results"]
                self.assertEqual(results["layers"], layers)
                hashes[layers].add(results["sha256"])
        self.assertEqual([len(hashes[1]), len(hashes[2]), len(hashes[1] | hashes[2])], [1, 1, 2])
        self.assertEqual(self.succeed("gemm", "--size", 300, "--layers", "auto", ranks=2)["results"]["layers"], 1)
        for words, said in ((["--layers", 2, "--arithmetic", "emulated"], "have one"), (["--layers", 0], "auto or a number"),
                            (["--layers", 2, "--place-a", "host:rows"], "in host memory"),
                            (["--layers", 4294967296], "auto or a number"), (["--layers", 301], "inner dimension of 300")):
            with self.subTest(words=said):
                self.refuse("gemm", "--size", 300, *words, message=said)

    def test_emulated_products_have_the_same_bits_at_any_tile_too(self):
        a = self.matrix("A.mtx", 31, 27)
        b = self.matrix("B.mtx", 27, 19)
        hashes, texts = set(), set()
        for ranks, place, tile in ((1, "rows", "auto"), (1, "rows", 8), (2, "columns", 5), (4, "cyclic:4x4", 16)):
            report = self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--output", "C.mtx", "--tile", tile, "--place-a",
                                  place, "--place-c", place, "--arithmetic", "emulated", "--hash", ranks=ranks)
            self.assertEqual(report["results"]["moduli"], 14)
            self.assertLess(report["results"]["error_bound"], 27**0.5 * 2**-53)
            hashes.add(report["results"]["sha256"])
            with open(self.path("C.mtx"), encoding="utf-8") as file:
                texts.add(file.read())
        self.assertEqual((len(hashes), len(texts)), (1, 1))
        self.assert_close(read_market(self.path("C.mtx")), product(a, b), 1e-14)
        # Computed once: the same on any machine.
        report = self.succeed("gemm", "--size", 100, "--arithmetic", "emulated", "--moduli", 16, "--hash")
        self.assertEqual(report["results"]["sha256"],
                         "0a0c9d5afe367a334688b483abb2829586775b92d76f73951fedb9a8df0835b6")
        sliced = self.succeed("gemm", "--size", 100, "--arithmetic", "emulated", "--moduli", 16, "--hash",
                              "--scheme", "slices")
        self.assertEqual(sliced["results"]["sha256"], report["results"]["sha256"])
        self.refuse("gemm", "--size", 10, "--scheme", "slices", message="--scheme is for --arithmetic emulated")
        self.assertNotIn("sha256", self.succeed("gemm", "--size", 10)["results"])
        # Fewer moduli than round-off takes are checked by the bound that they report.
        for moduli in (7, 9):
            for scalar in ("float", "double", "complex-float", "complex-double"):
                self.assertTrue(self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--arithmetic", "emulated",
                                             "--moduli", moduli, "--scalar", scalar)["checks"]["product"]["passed"])
        self.refuse("gemm", "--size", 10, "--moduli", 9, message="--moduli is for --arithmetic emulated")

    def test_emulated_products_look_at_exponents(self):
        write_market(self.path("A.mtx"), [[2.0**(90 * ((3 * i + k) % 5) - 180) for k in range(12)] for i in range(9)])
        write_market(self.path("B.mtx"), [[2.0**(90 * ((2 * j + k) % 7) - 270) for j in range(8)] for k in range(12)])
        options = ("gemm", "--a", "A.mtx", "--b", "B.mtx", "--arithmetic", "emulated")
        self.assertEqual(self.succeed(*options)["results"]["fallback"], "exact")
        self.assertEqual(self.succeed(*options, "--fallback", "native")["results"]["fallback"], "native")
        self.assertEqual(self.succeed(*options, "--fallback", "none")["results"]["moduli"], 31)
        results = self.succeed(*options, "--no-look")["results"]
        self.assertEqual(results["moduli"], 14)
        self.assertNotIn("spread", results)
        self.refuse("gemm", "--size", 10, "--no-look", message="--no-look is for --arithmetic emulated and auto")

    def test_auto_takes_one_of_both(self):
        report = self.succeed("gemm", "--size", 64, "--arithmetic", "auto", environment={"XDG_CACHE_HOME": self.folder})
        self.assertIn(report["results"]["arithmetic"], ("native", "emulated"))
        tuned = self.succeed("tune", "--seconds", 1, environment={"XDG_CACHE_HOME": self.folder})
        self.assertGreater(tuned["results"]["emulated"][0]["gflops"], 0)

    def test_real_and_complex_files_mix(self):
        a = self.matrix("A.mtx", 3, 3)
        b = self.matrix("B.mtx", 3, 3, True)
        report = self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--output", "C.mtx")
        self.assertEqual(report["inputs"]["scalar"], "complex-double")
        self.assert_close(read_market(self.path("C.mtx")), product(a, b), 1e-14)
        self.refuse("gemm", "--a", "A.mtx", "--b", "B.mtx", "--scalar", "double",
                    message="B.mtx: holds complex numbers where real ones are expected")

    def test_matrix_market_round_trip_through_hdf5(self):
        a = self.matrix("A.mtx", 6, 6, True)
        write_market(self.path("I.mtx"), [[float(i == j) for j in range(6)] for i in range(6)])
        self.succeed("gemm", "--a", "A.mtx", "--b", "I.mtx", "--output", "C.h5", ranks=2)
        self.succeed("gemm", "--a", "C.h5", "--b", "I.mtx", "--output", "C.mtx")
        self.assertEqual(read_market(self.path("C.mtx")), a)
        try:
            import h5py  # Not everywhere.
        except ImportError:
            return
        with h5py.File(self.path("C.h5")) as file:
            self.assertEqual(file["matrix"][()].tolist(), a)

    def test_float(self):
        a = self.matrix("A.mtx", 12, 12)
        report = self.succeed("gemm", "--a", "A.mtx", "--b", "A.mtx", "--output", "C.mtx", "--scalar", "float")
        self.assertEqual(report["inputs"]["scalar"], "float")
        self.assert_close(read_market(self.path("C.mtx")), product(a, a), 1e-5)

    def test_edge_sizes(self):
        for ranks in (1, 4):
            for rows, columns, inner in ((0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0), (1, 1, 1), (2, 3, 1)):
                with self.subTest(ranks=ranks, shape=(rows, columns, inner)):
                    self.succeed("gemm", "--rows", rows, "--columns", columns, "--inner", inner, "--output", "C.mtx",
                                 ranks=ranks)
                    c = read_market(self.path("C.mtx"))
                    self.assertEqual(len(c), rows)
                    if inner == 0:
                        self.assertTrue(all(value == 0 for row in c for value in row))

    def test_empty_files(self):
        self.write("A.mtx", "%%MatrixMarket matrix array real general\n0 3\n")
        self.write("B.mtx", "%%MatrixMarket matrix array real general\n3 0\n")
        self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--output", "C.mtx", ranks=2)
        self.assertEqual(read_market(self.path("C.mtx")), [])
        self.succeed("gemm", "--a", "B.mtx", "--b", "A.mtx", "--output", "C.mtx", ranks=2)
        self.assertEqual(read_market(self.path("C.mtx")), [[0.0] * 3] * 3)

    def test_generated_matrices_do_not_depend_on_ranks(self):
        arguments = ["gemm", "--size", 20, "--tile", 8, "--seed", 7, "--output"]
        self.succeed(*arguments, "one.mtx")
        self.succeed(*arguments, "four.mtx", "--place-b", "cyclic:3x3", ranks=4)
        self.assertEqual(read_market(self.path("one.mtx")), read_market(self.path("four.mtx")))

    def test_repeat_and_beta_start_from_the_same_c(self):
        arguments = ["gemm", "--size", 10, "--beta", 0.5, "--tile", 10, "--output"]
        self.succeed(*arguments, "once.mtx")
        self.succeed(*arguments, "often.mtx", "--repeat", 3)
        self.assertEqual(read_market(self.path("once.mtx")), read_market(self.path("often.mtx")))

    def test_sweep(self):
        report = self.succeed("gemm", "--size", 128, "--sweep", "--tiles", "16,64,128", ranks=2)
        results = report["results"]
        tiles = [line["tile"] for line in results["sweep"]]
        self.assertLessEqual({16, 64, 128, results["tile"], results["best_tile"]}, set(tiles))
        self.assertEqual(tiles, sorted(tiles))
        for line in results["sweep"]:
            self.assertGreater(line["predicted_seconds"], 0)
            self.assertGreater(line["seconds"], 0)
        self.assertEqual(results["best_seconds"], min(line["seconds"] for line in results["sweep"]))
        output = self.run_command("gemm", "--size", 128, "--sweep").output
        self.assertIn("<- chosen", output)
        self.assertIn("<- best", output)

    def test_the_published_tile(self):
        words = ("gemm", "--size", 300, "--choice", "published", "--hash")
        done = self.run_command(*words, ranks=2)
        self.assertRegex(done.output, r"tile \d+ \(published\)")
        report = self.succeed(*words, ranks=2)
        self.assertEqual(report["inputs"]["choice"], "published")
        self.assertLessEqual(report["results"]["tile"], 150)
        given = self.succeed("gemm", "--size", 300, "--tile", report["results"]["tile"], "--hash", ranks=2)
        self.assertEqual(given["inputs"]["choice"], "model")
        self.assertEqual(report["results"]["sha256"], given["results"]["sha256"])
        output = self.run_command("gemm", "--size", 128, "--sweep", "--tiles", "64", "--choice", "published").output
        self.assertIn("<- published", output)
        self.assertIn("the published tile", output)
        self.refuse("gemm", "--size", 8, "--choice", "best", message="expected model or published")
        self.refuse("gemm", "--size", 8, "--choice", "published", "--tile", 4,
                    message="--choice published is for --tile auto; the tile given is 4")
        self.refuse("gemm", "--size", 8, "--choice", "published", "--arithmetic", "emulated",
                    message="--choice published is for --arithmetic native and auto")

    def test_right_results_of_any_range_pass_the_check(self):
        # Products that underflow, factors whose row sums overflow, and both in one matrix.
        for scalar, tiny, huge in (("double", 5e-324, 1.5e308), ("float", 1e-45, 3e38)):
            for kind in (scalar, f"complex-{scalar}"):
                for a, b in (([[tiny * 3, tiny * 5], [tiny * 7, tiny]], [[0.5, 0.25], [0.75, 0.125]]),
                             ([[0.25, -0.25], [0.125, 0.125]], [[huge, huge], [huge / 2, huge]]),
                             ([[tiny, 2 * tiny], [1.0, 0.5]], [[huge / 4, huge / 8], [huge / 8, huge / 4]]),
                             ([[tiny, tiny], [tiny, tiny]], [[tiny, tiny], [tiny, tiny]])):
                    write_market(self.path("A.mtx"), a)
                    write_market(self.path("B.mtx"), b)
                    for ranks in (1, 2):
                        report = self.succeed("gemm", "--a", "A.mtx", "--b", "B.mtx", "--scalar", kind, ranks=ranks)
                        self.assertTrue(report["checks"]["product"]["passed"], (kind, a, b))

    def test_checks_have_the_same_bits_on_any_number_of_threads(self):
        # Emulated products have them too; alpha and the emulation's error make the check read norms.
        found = {self.succeed("gemm", "--rows", 2300, "--inner", 130, "--columns", 170, "--arithmetic", "emulated", "--op-a",
                              "T", "--alpha", "-1.5", "--beta", "0.5", "--place-c", "cyclic:700x30",
                              environment={"OMP_NUM_THREADS": threads})["checks"]["product"]["value"]
                 for threads in ("1", "2", "5")}
        self.assertEqual(len(found), 1)
        self.assertTrue(0 < found.pop() < 1)

    def test_operands_that_are_not_finite_are_not_checked(self):
        finite = numpy.random.default_rng(1).random((4, 4))
        numpy.save(self.path("F.npy"), finite)
        for value in (math.nan, -math.inf):
            spoilt = finite.copy()
            spoilt[1, 2] = value
            numpy.save(self.path("N.npy"), spoilt)
            for who, arguments in (("A", ["--a", "N.npy", "--b", "F.npy"]), ("B", ["--a", "F.npy", "--b", "N.npy"]),
                                   ("C's old value", ["--a", "F.npy", "--b", "F.npy", "--beta", 1, "--c-in", "N.npy"])):
                for ranks, arithmetic in ((1, "native"), (2, "native"), (1, "emulated")):
                    with self.subTest(value=value, who=who, ranks=ranks, arithmetic=arithmetic):
                        words = ["gemm", *arguments, "--arithmetic", arithmetic]
                        report = self.succeed(*words, ranks=ranks)
                        self.assertEqual(report["checks"], {})
                        self.assertEqual(report["results"]["holds_nan_or_infinity"], who)
                        self.assertNotIn("error_bound", report["results"])
                        output = self.run_command(*words, ranks=ranks).output
                        self.assertIn(f"check product: not made, {who} holds NaN or infinity\n", output)
                        self.assertNotIn("passed", output)
                        self.assertNotIn("error at most", output)
        # Matrices that are not read spoil nothing.
        report = self.succeed("gemm", "--a", "N.npy", "--b", "F.npy", "--alpha", 0)
        self.assertTrue(report["checks"]["product"]["passed"])
        self.assertNotIn("holds_nan_or_infinity", report["results"])

    def test_a_wrong_result_fails_the_check(self):
        # Infinite elements make a product that no bound covers.
        self.matrix("A.mtx", 2, 2)
        self.write("B.mtx", "%%MatrixMarket matrix array real general\n2 2\n1e308\n1e308\n1e308\n1e308\n")
        result = self.run_command("gemm", "--a", "A.mtx", "--b", "B.mtx", "--alpha", "1e10", "--json", "report.json")
        self.assertEqual(result.code, 1)
        self.assertEqual(len(result.complaints), 1)
        self.assertRegex(result.complaints[0], "check product: FAILED")
        self.assertFalse(self.report()["checks"]["product"]["passed"])
        # Finite operands whose product overflows, also where it is computed again.
        numpy.save(self.path("huge.npy"), numpy.full((3, 3), 1e200))
        for more in ([], ["--repeat", 3], ["--sweep", "--tiles", "2,3"]):
            result = self.run_command("gemm", "--a", "huge.npy", "--b", "huge.npy", "--json", "report.json", *more)
            self.assertEqual(result.code, 1, more)
            self.assertIn("though no operand does", result.output)
            self.assertFalse(self.report()["checks"]["product"]["passed"])
            self.assertIsNone(self.report()["checks"]["product"]["value"])


class GemmRefuses(CommandTest):
    def setUp(self):
        super().setUp()
        write_market(self.path("A.mtx"), [[1.0, 2.0], [3.0, 4.0]])

    def refuse_a(self, file, message, **options):
        self.refuse("gemm", "--a", file, "--b", "A.mtx", message=message, **options)

    def test_missing_files(self):
        self.refuse_a("none.mtx", "none.mtx: can't be opened: No such file")
        self.refuse_a("none.mtx", "none.mtx: can't be opened: No such file", ranks=4)
        self.refuse("gemm", "--a", "A.mtx", message="--b is missing")
        self.refuse("gemm", "--a", "A.mtx", "--b", "A.mtx", "--beta", 1, message="--c-in")
        self.refuse("gemm", "--a", "A.mtx", "--b", "A.mtx", "--size", 2, message="exclude")

    def test_an_output_that_is_an_input(self):
        with open(self.path("A.mtx"), encoding="utf-8") as file:
            before = file.read()
        os.symlink("A.mtx", self.path("link.mtx"))
        for output in ("A.mtx", "./A.mtx", "link.mtx"):
            for ranks in (1, 2):
                self.refuse("gemm", "--a", "A.mtx", "--b", "link.mtx", "--output", output, ranks=ranks,
                            message="--output would replace A.mtx, which --a reads; expected another file")
            for command in ("transpose", "expm"):
                self.refuse(command, "--input", "A.mtx", "--output", output,
                            message="--output would replace A.mtx, which --input reads")
            for command, option in (("lu", "--l"), ("lu", "--u"), ("lu", "--pivots"), ("eig", "--vectors"),
                                    ("eig", "--values")):
                self.refuse(command, "--input", "A.mtx", option, output,
                            message=f"{option} would replace A.mtx, which --input reads")
        with open(self.path("A.mtx"), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        # HDF5 datasets of other names stay.
        self.succeed("transpose", "--input", "A.mtx", "--output", "A.h5")
        for source, target in (("A.h5", "A.h5"), ("A.h5", "A.h5:matrix"), ("A.h5:/matrix", "A.h5:matrix"),
                               ("A.h5:matrix", "A.h5")):
            self.refuse("transpose", "--input", source, "--output", target, message="--output would replace A.h5")
        self.succeed("transpose", "--input", "A.h5", "--output", "A.h5:other")

    def test_math_modes(self):
        plain, native = (self.succeed("gemm", "--size", 33, "--tile", 16, "--hash", "--math", mode, ranks=2)
                         for mode in ("plain", "auto"))
        self.assertEqual(plain["inputs"]["math"], "plain")
        if not ON_GPU:
            self.assertEqual(plain["results"]["sha256"], native["results"]["sha256"])
            for mode in ("tensor", "tf32"):
                self.refuse("gemm", "--size", 6, "--scalar", "float", "--math", mode,
                            message=f"math mode {mode}: CPUs have one arithmetic; expected plain or auto")
        self.refuse("gemm", "--size", 6, "--math", "tf32", message="math mode tf32")
        self.refuse("gemm", "--size", 6, "--math", "half", message="expected auto, tensor, plain or tf32")
        for arithmetic in ("emulated", "auto"):
            self.refuse("gemm", "--size", 6, "--math", "plain", "--arithmetic", arithmetic,
                        message="--math is for --arithmetic native")

    def test_wrong_shapes(self):
        write_market(self.path("wide.mtx"), [[1.0, 2.0, 3.0]])
        self.refuse_a("wide.mtx", r"op\(A\) is 1 x 3 and op\(B\) is 2 x 2", ranks=2)
        self.refuse("gemm", "--a", "A.mtx", "--b", "A.mtx", "--beta", 1, "--c-in", "wide.mtx",
                    message="wide.mtx: is 1 x 3, where C is 2 x 2")

    def test_malformed_matrix_market(self):
        self.write("bad.mtx", "%%MatrixMarket matrix array real general\n% a comment\n2 2\n1\n2\nthree\n4\n")
        for ranks in (1, 2):
            self.refuse_a("bad.mtx", "bad.mtx, line 6: expected a real number, found 'three'", ranks=ranks)
        self.write("bad.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n")
        self.refuse_a("bad.mtx", "bad.mtx, line 4: the file ends after 2 of 4 entries")
        self.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
        self.refuse_a("bad.mtx", r"bad.mtx, line 3: entry \(3, 1\) is outside")
        self.write("bad.mtx", "%%MatrixMarket matrix array real general\n1 1\nnan\n")
        self.refuse_a("bad.mtx", "bad.mtx, line 3: .* not finite")

    def test_bad_hdf5(self):
        self.write("text.h5", "this is no HDF5\n")
        self.refuse_a("text.h5", "text.h5: can't be read as HDF5")
        with h5py.File(self.path("named.h5"), "w") as file:
            file["run/H"] = numpy.eye(3)
            file["S"] = numpy.eye(2, dtype=complex)
            file["list"] = [1.0, 2.0]
            file["words"] = numpy.array([[b"a", b"b"]])
        for ranks in (1, 2):
            self.refuse_a("named.h5", "named.h5, dataset 'matrix': can't be opened: .*; "
                          "write named.h5:NAME, where NAME is one of: S, run/H$", ranks=ranks)
        with h5py.File(self.path("bare.h5"), "w") as file:
            file["list"] = [1.0, 2.0]
        self.refuse_a("bare.h5", "the file has no numeric dataset of two dimensions$")
        result = self.run_command("gemm", "--size", 40, "--output", "C.h5")
        self.assertEqual(result.code, 0, result.errors)
        shutil.copy(self.path("C.h5"), self.path("cut.h5"))
        os.truncate(self.path("cut.h5"), os.path.getsize(self.path("C.h5")) // 2)
        for ranks in (1, 2):
            self.refuse_a("cut.h5", "cut.h5: can't be read as HDF5: .*truncated", ranks=ranks)


if __name__ == "__main__":
    unittest.main()
