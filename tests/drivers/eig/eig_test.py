"""heddle eig and heddle eig --scf."""

import csv
import hashlib
import os
import random
import unittest

from command import CommandTest, product, random_matrix, read_market, transpose, write_market
from eig_support import THESIS, THESIS_ROWS, THESIS_VALUES, EigenTest, hermitian, import_or_skip, read_text

METHODS = ["auto", "classical", "cyclic", "round-robin", "blocked", "preconditioned"]


class Eigen(EigenTest):
    def test_the_example_of_the_thesis(self):
        self.write("m.txt", THESIS)
        report = self.succeed("eig", "--input", "m.txt", "--values", "w.txt", "--vectors", "V.txt")
        results = report["results"]
        self.assert_values(results["eigenvalues"], THESIS_VALUES)
        self.assertEqual((results["converged"], results["accuracy"]), (True, "relative"))
        # One-sided rotations have none before the first sweep.
        self.assertIn(len(results["off_norms"]), (results["sweeps"], results["sweeps"] + 1))
        self.assertEqual(results["off_norms"][-1], results["off_norm"])
        self.assertGreater(results["rotations"], 2)
        for key in ("method", "end", "residual", "orthogonality", "seconds", "sha256"):
            self.assertIn(key, results)
        self.assertEqual(set(report["checks"]),
                         {"residual", "orthogonality", "trace", "frobenius_norm", "determinant"})
        self.assertEqual((report["inputs"]["size"], report["inputs"]["scalar"]), (3, "double"))
        with open(self.path("w.txt"), encoding="utf-8") as file:
            self.assertEqual(list(map(float, file.read().split())), results["eigenvalues"])
        self.assert_pairs(THESIS_ROWS, results["eigenvalues"], read_text(self.path("V.txt")))
        output = self.run_command("eig", "--input", "m.txt").output
        self.assertRegex(output, r"n = 3, double: method round-robin, accuracy relative")
        self.assertRegex(output, r"eigenvalues 0\.585786437627 2 3\.41421356237\n")

    def test_denormal(self):
        """Eigenvalues that are denormal numbers, right to the last bit: no check asks for more."""
        self.write("double.txt", "2\n1.5e-323 5e-324\n5e-324 1e-323\n")
        self.write("float.txt", "2\n4.2e-45 1.4e-45\n1.4e-45 2.8e-45\n")
        self.write("one.txt", "2\n1 0\n0 1\n")
        for name, flags, unit in (("double.txt", [], 5e-324), ("float.txt", ["--scalar", "float"], 1.401298464324817e-45)):
            for more in ([], ["--values-only"], ["--method", "blocked"], ["--overlap", "one.txt"], ["--batch", 1]):
                with self.subTest(f"{name} {more}"):
                    values = self.succeed("eig", "--input", name, *flags, *more)["results"]["eigenvalues"]
                    self.assertEqual(values[0] if "--batch" in more else values, [unit, 4 * unit])
            values = self.succeed("eig", "--input", name, *flags, "--batch", 1, "--svd")["results"]["singular_values"][0]
            self.assertEqual(values, [4 * unit, unit])
            values = self.succeed("eig", "--input", name, *flags, ranks=2)["results"]["eigenvalues"]
            self.assertEqual(values, [unit, 4 * unit])

    def test_batches(self):
        """Matrices beside one another: each one's eigenvalues are those of it alone."""
        rng = random.Random(11)
        for is_complex in (False, True):
            matrices = [hermitian(rng, 6, is_complex) for _ in range(3)]
            beside = [sum((matrix[i] for matrix in matrices), []) for i in range(6)]
            write_market(self.path("all.mtx"), beside)
            report = self.succeed("eig", "--batch", 3, "--input", "all.mtx", "--vectors", "V.mtx", "--values", "w.txt")
            self.assertEqual(set(report["checks"]), {"residual", "orthogonality", "trace", "frobenius_norm"})
            vectors = read_market(self.path("V.mtx"))
            for b, matrix in enumerate(matrices):
                write_market(self.path("one.mtx"), matrix)
                alone = self.succeed("eig", "--input", "one.mtx")["results"]["eigenvalues"]
                values = report["results"]["eigenvalues"][b]
                self.assert_values(values, alone)
                self.assert_pairs(matrix, values, [row[6 * b:6 * b + 6] for row in vectors])
            with open(self.path("w.txt"), encoding="utf-8") as file:
                self.assertEqual(list(map(float, file.read().split())), sum(report["results"]["eigenvalues"], []))
        alone = self.succeed("eig", "--batch", 5, "--generate", "random", "--size", 70, "--values-only")
        self.assertEqual(set(alone["checks"]), {"trace", "frobenius_norm"})
        self.assertEqual([len(values) for values in alone["results"]["eigenvalues"]], [70] * 5)

    def test_singular_values(self):
        """A = U diag(s) V^H by the definition, of any shape; a batch has the bits of one after another."""
        rng = random.Random(12)
        for rows, columns, is_complex in ((7, 4, False), (3, 8, True), (1, 5, False)):
            few = min(rows, columns)
            A = random_matrix(rng, rows, columns, is_complex)
            write_market(self.path("A.mtx"), A)
            report = self.succeed("eig", "--svd", "--input", "A.mtx", "--left", "U.mtx", "--vectors", "V.mtx")
            self.assertEqual(set(report["checks"]), {"residual", "orthogonality", "frobenius_norm"})
            (s,) = report["results"]["singular_values"]
            self.assertEqual(s, sorted(s, reverse=True))
            U = read_market(self.path("U.mtx"))
            V = read_market(self.path("V.mtx"))
            scaled = [[u * one for u, one in zip(row, s)] for row in U]
            self.assert_close(product(scaled, transpose(V, conjugate=True)), A, 1e-14)
            for Q in (U, V):
                identity = [[float(i == j) for j in range(few)] for i in range(few)]
                self.assert_close(product(transpose(Q, conjugate=True), Q), identity, 1e-14)
            write_market(self.path("twice.mtx"), [row + row for row in A])
            twice = self.succeed("eig", "--svd", "--batch", 2, "--input", "twice.mtx", "--values-only")
            self.assertEqual(twice["checks"], {})
            for other in twice["results"]["singular_values"]:
                self.assert_close([other], [s], 1e-14)
        report = self.succeed("eig", "--svd", "--batch", 4, "--generate", "random", "--size", 9, "--rows", 20,
                              "--scalar", "complex-float")
        self.assertEqual((report["results"]["rows"], report["results"]["columns"]), (20, 9))

    def test_refused_batches(self):
        write_market(self.path("A.mtx"), [[1.0, 2.0, 3.0]])
        self.refuse("eig", "--svd", "--batch", 2, "--input", "A.mtx", message="has 3 columns; --batch 2")
        self.refuse("eig", "--batch", 3, "--generate", "thesis", "--size", 4, message="--generate random alone")
        self.refuse("eig", "--batch", 3, "--generate", "random", message="needs the order")
        self.refuse("eig", "--batch", 3, "--generate", "random", "--size", 4, "--rows", 2, message="--rows is for --svd")
        self.refuse("eig", "--batch", 3, "--generate", "random", "--size", 4, "--left", "U.mtx", message="--left is for --svd")
        self.refuse("eig", "--batch", 3, "--generate", "random", "--size", 4, "--method", "cyclic", message="one method")
        self.refuse("eig", "--batch", 3, "--generate", "random", "--size", 4, ranks=2, message="runs on one rank")
        write_market(self.path("skew.mtx"), [[1.0, 0.0, 1.0, 0.5], [0.0, 1.0, 0.0, 1.0]])
        self.refuse("eig", "--batch", 2, "--input", "skew.mtx", message="skew.mtx, matrix 2: is not symmetric")

    def test_all_formats_agree(self):
        rows = hermitian(random.Random(1), 7)
        self.write("A.txt", "7\n" + "\n".join(" ".join(map(repr, row)) for row in rows))
        write_market(self.path("A.mtx"), rows)
        self.succeed("transpose", "--input", "A.mtx", "--output", "A.h5")
        found = set()
        for name in ("A.txt", "A.mtx", "A.h5"):
            results = self.succeed("eig", "--input", name, "--vectors", "V.mtx", "--values", "w.mtx")["results"]
            found.add(results["sha256"])
            self.assert_pairs(rows, results["eigenvalues"], read_market(self.path("V.mtx")))
            self.assertEqual([row[0] for row in read_market(self.path("w.mtx"))], results["eigenvalues"])
        self.assertEqual(len(found), 1)

    def test_all_methods_agree(self):
        for n in (9, 70):
            values = []
            for method in METHODS:
                arguments = ["eig", "--generate", "random", "--size", n, "--seed", 3, "--method", method]
                results = self.succeed(*arguments)["results"]
                self.assertEqual(len(results["eigenvalues"]), n)
                if method != "auto":
                    self.assertEqual(results["method"], method)
                values.append(results["eigenvalues"])
                self.assert_values(values[-1], values[0], 1e-13)
                alone = self.succeed(*arguments, "--values-only")
                self.assert_values(alone["results"]["eigenvalues"], values[0], 1e-13)
                self.assertEqual(set(alone["checks"]), {"trace", "frobenius_norm"})
                self.assertNotIn("residual", alone["results"])

    def test_complex_and_float(self):
        rows = hermitian(random.Random(2), 6, True)
        write_market(self.path("A.mtx"), rows)
        report = self.succeed("eig", "--input", "A.mtx", "--vectors", "V.mtx")
        self.assertEqual(report["inputs"]["scalar"], "complex-double")
        values = report["results"]["eigenvalues"]
        self.assert_pairs(rows, values, read_market(self.path("V.mtx")))
        for scalar in ("complex-float", "float"):
            self.succeed("eig", "--generate", "random", "--size", 80, "--scalar", scalar)
        results = self.succeed("eig", "--input", "A.mtx", "--scalar", "complex-float")["results"]
        self.assert_values(results["eigenvalues"], values, 1e-6)

    def test_the_triangle(self):
        self.write("A.txt", "2\n1 2\n2.001 1\n")
        self.refuse("eig", "--input", "A.txt", message=r"A.txt: is not symmetric: element \(2, 1\) is 2.001, "
                    r"but \(1, 2\) is 2; they may differ by")
        # As many digits as tell the two apart.
        self.write("B.txt", "2\n1 2\n2.00000000001 1\n")
        self.refuse("eig", "--input", "B.txt", message=r"element \(2, 1\) is 2.00000000001, but \(1, 2\) is 2; they")
        self.write("B.txt", "2\n1 0.30000000000000004\n0.3 1\n")
        self.refuse("eig", "--input", "B.txt", "--symmetry", 0,
                    message=r"element \(2, 1\) is 0.2999999999999999\d*, but \(1, 2\) is 0.3000000000000000\d+;")
        write_market(self.path("C.mtx"), [[1.0 + 0j, 2.0 + 1j], [2.00000000001 - 1j, 1.0 + 0j]])
        self.refuse("eig", "--input", "C.mtx",
                    message=r"element \(2, 1\) is 2.00000000001-1i, but \(1, 2\) is 2\+1i; they")
        for flags, off in (([], 2.001), (["--upper"], 2.0)):
            results = self.succeed("eig", "--input", "A.txt", "--symmetry", 1e-3, *flags)["results"]
            self.assert_values(results["eigenvalues"], [1 - off, 1 + off])

    def test_generated(self):
        results = self.succeed("eig", "--generate", "thesis", "--size", 4, "--save", "A.txt")["results"]
        rows = [[float(2 - abs(i - j)) for j in range(4)] for i in range(4)]
        self.assertEqual(read_text(self.path("A.txt")), rows)
        self.assert_values(self.succeed("eig", "--input", "A.txt")["results"]["eigenvalues"], results["eigenvalues"])
        self.succeed("eig", "--generate", "random", "--size", 5, "--scalar", "complex-double", "--save", "B.mtx")
        saved = read_market(self.path("B.mtx"))
        self.assertEqual(saved, transpose(saved, conjugate=True))

    def test_kohn_sham(self):
        report = self.succeed("eig", "--generate", "kohn-sham", "--size", 100, "--save", "H.h5")
        values = report["results"]["eigenvalues"]
        # The orbital energies of a self-consistent run, to what its density is converged.
        scf = self.succeed("eig", "--scf", "--size", 100, "--tolerance", 1e-10)["results"]
        self.assertEqual(len(scf["eigenvalues"]), 3)
        for one, other in zip(values, scf["eigenvalues"]):
            self.assertAlmostEqual(one, other, delta=1e-8)
        again = self.succeed("eig", "--input", "H.h5", "--symmetry", 0)["results"]
        self.assert_values(again["eigenvalues"], values, 1e-14)
        results = self.succeed("eig", "--generate", "kohn-sham", "--dimensions", 3, "--size", 64)["results"]
        self.assertLess(results["eigenvalues"][0], -0.3)
        self.refuse("eig", "--generate", "kohn-sham", "--dimensions", 3, "--size", 100, message="--size 100: .* 64 or 125")

    def test_reproducible(self):
        found = set()
        for threads in (1, 2, 3):
            for n in (40, 150):
                report = self.succeed("eig", "--generate", "random", "--size", n, "--reproducible", "--vectors", "V.mtx",
                                      environment={"OMP_NUM_THREADS": str(threads)})
                digest = hashlib.sha256()
                digest.update(" ".join(f"{value:.17g}" for value in report["results"]["eigenvalues"]).encode())
                with open(self.path("V.mtx"), "rb") as file:
                    digest.update(file.read())
                found.add((n, report["results"]["sha256"], digest.hexdigest()))
        self.assertEqual(len(found), 2)

    def test_reproducible_over_ranks(self):
        """One rank chooses its method; over ranks it is blocked with accuracy norm."""
        for n in (20, 150):
            found = set()
            blocked = ["--method", "blocked", "--accuracy", "norm"]
            for ranks, threads, more in ((1, 2, blocked), (2, 1, []), (2, 2, []), (3, 1, []), (5, 1, [])):
                report = self.succeed("eig", "--generate", "random", "--size", n, "--reproducible", *more, "--vectors", "V.mtx",
                                      ranks=ranks, environment={"OMP_NUM_THREADS": str(threads)})
                with open(self.path("V.mtx"), "rb") as file:
                    vectors = hashlib.sha256(file.read()).hexdigest()
                values = " ".join(f"{value:.17g}" for value in report["results"]["eigenvalues"])
                found.add((report["results"]["sha256"], vectors, values))
            self.assertEqual(len(found), 1)

    def test_over_ranks(self):
        rng = random.Random(4)
        for n, is_complex in ((23, False), (30, True)):
            rows = hermitian(rng, n, is_complex)
            write_market(self.path("A.mtx"), rows)
            alone = self.succeed("eig", "--input", "A.mtx", "--method", "blocked")["results"]
            report = self.succeed("eig", "--input", "A.mtx", "--vectors", "V.mtx", "--values", "w.txt", "--save", "B.mtx",
                                  ranks=2)
            results = report["results"]
            self.assertEqual((results["method"], results["accuracy"]), ("blocked", "norm"))
            self.assertEqual(set(report["checks"]), {"residual", "orthogonality", "trace", "frobenius_norm"})
            self.assert_values(results["eigenvalues"], alone["eigenvalues"])
            self.assert_pairs(rows, results["eigenvalues"], read_market(self.path("V.mtx")))
            with open(self.path("w.txt"), encoding="utf-8") as file:
                self.assertEqual(list(map(float, file.read().split())), results["eigenvalues"])
            self.assertEqual(read_market(self.path("B.mtx")), rows)
        for kind in ("random", "thesis"):
            arguments = ["eig", "--generate", kind, "--size", 40, "--values-only"]
            found = self.succeed(*arguments, "--scalar", "float", ranks=3)["results"]["eigenvalues"]
            self.assert_values(found, self.succeed(*arguments)["results"]["eigenvalues"], 1e-5)
        arguments = ["eig", "--generate", "kohn-sham", "--size", 64, "--dimensions", 3]
        self.assert_values(self.succeed(*arguments, ranks=2)["results"]["eigenvalues"],
                           self.succeed(*arguments)["results"]["eigenvalues"], 1e-13)
        self.write("A.txt", "2\n1 2\n2.001 1\n")
        self.refuse("eig", "--input", "A.txt", ranks=2, message="A.txt: is not symmetric: ")
        self.refuse("eig", "--generate", "random", "--size", 40, "--sweeps", 1, ranks=2, code=1,
                    message="not converged after 1 sweep")

    def test_graded(self):
        """Matrices that rotations by tiny angles, or products of inner products, got wrong."""
        self.write("two.txt", "2\n1 1e80\n1e80 4e160\n")
        self.write("three.txt", "3\n5.22333535839118 -1.5150297610027114e+19 -2.295180946159573e+40\n"
                   "-1.5150297610027114e+19 5.128687908736765e+40 -6.465502762511746e+59\n"
                   "-2.295180946159573e+40 -6.465502762511746e+59 4.997066315237788e+80\n")
        lower = [[7.8197905666698855], [-2.3073676906697215e-20 - 2.54453318824011e-20j, 7.71900730388244e-40],
                 [-4.654131234740455e-41 + 3.3491351840289666e-40j, -2.556380004510834e-60 + 2.3438051490294992e-60j,
                  1.4955520057836906e-79]]
        write_market(self.path("complex.mtx"), [[complex(lower[i][j] if i >= j else lower[j][i].conjugate())
                                                 for j in range(3)] for i in range(3)])
        for name, least in (("two.txt", 0.75), ("three.txt", 4.12928020264675048),
                            ("complex.mtx", 1.11252015842742665e-79)):
            found = set()
            for method in ("auto", "cyclic", "round-robin", "blocked", "preconditioned"):
                for flags in ([], ["--values-only"]):
                    with self.subTest(f"{name}, {method} {flags}"):
                        report = self.succeed("eig", "--input", name, "--method", method, *flags)
                        self.assertEqual(report["results"]["accuracy"], "relative")
                        self.assertIn("determinant", report["checks"])
                        found.add(report["results"]["eigenvalues"][0])
            # 60 n u times a condition of 100 at most.
            for value in found:
                self.assertAlmostEqual(value / least, 1, delta=2e-12)
        self.write("float.txt", "2\n1 1e12\n1e12 4e24\n")
        results = self.succeed("eig", "--input", "float.txt", "--scalar", "float", "--values-only")["results"]
        self.assertAlmostEqual(results["eigenvalues"][0], 0.75, delta=1e-6)

    def test_what_is_named_is_what_runs(self):
        for n in (8, 33, 64):
            results = self.succeed("eig", "--generate", "random", "--size", n, "--method", "round-robin")["results"]
            self.assertEqual(results["method"], "round-robin")
            self.assertGreaterEqual(results["rotations"], n * (n - 1) // 2)
            self.assertGreater(results["sweeps"], 2)

    def test_refusals(self):
        self.refuse("eig", message="--input, .*--generate, .*--scf")
        self.write("m.txt", THESIS)
        self.refuse("eig", "--input", "m.txt", "--generate", "random", "--size", 3, message="one of them")
        for flags, message in ((["--method", "cyclic"], "--method cyclic over 2 ranks"),
                               (["--method", "preconditioned"], "--method preconditioned over 2 ranks"),
                               (["--accuracy", "relative"], "--accuracy relative over 2 ranks"),
                               (["--lower-precision"], "--lower-precision over 2 ranks"),
                               (["--rotations", 5], "--rotations over 2 ranks")):
            self.refuse("eig", "--input", "m.txt", *flags, ranks=2, message=message)
        self.refuse("eig", "--scf", "--dimensions", 3, message="--scf --dimensions 3: self-consistency is for the row")
        self.refuse("eig", "--input", "m.txt", "--dimensions", 3, message="--dimensions 3 is for --generate kohn-sham")
        self.refuse("eig", "--input", "none.txt", message="none.txt: can't be opened")
        for name, text, message in (
                ("order.txt", "2.5\n1 2\n", "order.txt, line 1: expected the order n of the matrix, .* found '2.5'"),
                ("few.txt", "2\n1 2\n2\n", "few.txt, line 3: the file ends after 3 of 4 numbers"),
                ("many.txt", "2\n1 2\n2 1\n5 6\n", "many.txt, line 4: a 2 x 2 matrix has 4 numbers, but .* holds 6"),
                ("word.txt", "2\n1 two\n2 1\n", "word.txt, line 2: expected a real number, found 'two'"),
                ("nan.txt", "2\n1 nan\nnan 1\n", "nan.txt, line 2: a real number 'nan' is not finite"),
                ("skew.txt", "2\n1 2\n-2 1\n", r"skew.txt: is not symmetric: element \(2, 1\) is -2, but")):
            with self.subTest(name):
                self.refuse("eig", "--input", self.write(name, text), message=message)
        write_market(self.path("A.mtx"), [[1.0, 2.0]])
        self.refuse("eig", "--input", "A.mtx", message="A.mtx: is 1 x 2; expected a square matrix")
        write_market(self.path("B.mtx"), [[1.0 + 1j]])
        self.refuse("eig", "--input", "B.mtx", message=r"B.mtx: is not Hermitian: element \(1, 1\) is 1\+1i")
        self.refuse("eig", "--input", "m.txt", "--method", "magic", message="--method: 'magic': expected auto, ")
        self.write("indefinite.txt", "2\n1 2\n2 1\n")
        self.refuse("eig", "--input", "indefinite.txt", "--accuracy", "relative", "--method", "blocked",
                    message="not positive definite")
        self.refuse("eig", "--input", "m.txt", "--values-only", "--vectors", "V.mtx", message="--values-only")
        self.refuse("eig", "--input", "m.txt", "--vectors", "V.dat", message="V.dat: a matrix file must end in")
        self.refuse("eig", "--input", "m.txt", "--vectors", "none/V.mtx", message="none/V.mtx: can't be written")
        self.refuse("eig", "--generate", "random", message="--size")
        self.refuse("eig", "--generate", "random", "--size", 3, "--scalar", "complex-double", "--save", "A.txt",
                    message="A.txt: plain text holds real matrices")
        self.refuse("eig", "--generate", "random", "--size", 3, "--method", "preconditioned", "--reproducible",
                    message="choose blocked")
        self.refuse("eig", "--scf", "--atoms", 3, message="closed shells")

    def test_not_converged(self):
        self.write("m.txt", THESIS)
        for method in METHODS[1:5]:
            result = self.refuse("eig", "--input", "m.txt", "--method", method, "--sweeps", 1, "--vectors", "V.mtx",
                                 "--json", "report.json", code=1, message="not converged after 1 sweep .*--sweeps")
            self.assertEqual(result.output.count("limit of sweeps"), 1)
            results = self.report()["results"]
            self.assertEqual((results["converged"], results["end"]), (False, "sweep-limit"))
            self.assertGreater(results["off_norm"], 0)
        self.refuse("eig", "--input", "m.txt", "--method", "cyclic", "--rotations", 2, code=1, message="--rotations")
        self.assertFalse(os.path.exists(self.path("V.mtx")))


class Scf(CommandTest):
    def tables(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            lines = [line for line in file.read().split("\n") if not line.startswith("#")]
        return [list(csv.DictReader(block.splitlines())) for block in "\n".join(lines).split("\n\n")]

    def test_warm_starts(self):
        arguments = ["eig", "--scf", "--size", 120, "--atoms", 6, "--spacing", 1.8]
        warm = self.succeed(*arguments, "-o", "warm.csv")["results"]
        cold = self.succeed(*arguments, "--cold", "-o", "cold.csv")["results"]
        for results in (warm, cold):
            self.assertTrue(results["converged"])
            self.assertLessEqual(results["residual"], 1e-9)
            self.assertAlmostEqual(results["energy"], sum(value for name, value in results["energies"].items()
                                                          if name != "total"), delta=1e-12)
            self.assertEqual(results["steps"][-1]["energy"], results["energy"])
            self.assertEqual(results["rotations"], sum(step["rotations"] for step in results["steps"]))
            self.assertEqual(len(results["eigenvalues"]), 4)
        self.assertAlmostEqual(warm["energy"], cold["energy"], delta=1e-10)
        self.assertLess(warm["rotations"], 0.5 * cold["rotations"])
        steps, points = self.tables("warm.csv")
        self.assertEqual([float(row["residual"]) for row in steps], [step["residual"] for step in warm["steps"]])
        self.assertEqual(len(points), 120)
        x = [float(row["x"]) for row in points]
        density = [float(row["density"]) for row in points]
        self.assertAlmostEqual((x[1] - x[0]) * sum(density), 6, delta=1e-9)
        self.assertLess(max(float(row["external"]) for row in points), 0)

    def test_over_ranks(self):
        alone = self.succeed("eig", "--scf", "--size", 100)["results"]
        for ranks in (2, 3):
            results = self.succeed("eig", "--scf", "--size", 100, "-o", "ranks.csv", ranks=ranks)["results"]
            self.assertAlmostEqual(results["energy"], alone["energy"], delta=1e-9)
            self.assertEqual(len(self.tables("ranks.csv")[1]), 100)
        self.write("molecule.txt", "H 0\n")
        self.refuse("eig", "--scf", "--molecule", "molecule.txt", ranks=2, message="--molecule molecule.txt: runs on one rank")

    def test_not_converged(self):
        result = self.refuse("eig", "--scf", "--size", 60, "--iterations", 3, code=1,
                             message="did not converge in 3 iterations: residual .*--iterations")
        self.assertIn("iteration", result.output)
        self.refuse("eig", "--scf", "--size", 60, "--mixing", 2, message="mixing")
        self.refuse("eig", "--scf", "--size", 60, "-o", "none/scf.csv", message="none/scf.csv: can't be written")

    def test_picture(self):
        import_or_skip(self, "matplotlib")
        self.succeed("eig", "--scf", "--size", 60, "--plot", "scf.png")
        self.run_command("plot", "eig_scf.csv", "-o", "again.png")
        for name in ("scf.png", "again.png"):
            self.assert_picture(name)


if __name__ == "__main__":
    unittest.main()
