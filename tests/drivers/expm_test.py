"""heddle expm against exponentials known in closed form."""

import cmath
import math
import os
import random
import unittest

from command import CommandTest, product, random_matrix, read_market, transpose, write_market


class Expm(CommandTest):
    def exponential(self, rows, *arguments, ranks=1, **options):
        write_market(self.path("A.mtx"), rows)
        self.last = self.succeed("expm", "--input", "A.mtx", "--output", "E.mtx", *arguments, ranks=ranks, **options)
        return read_market(self.path("E.mtx"))

    def test_nilpotent(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                found = self.exponential([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]], ranks=ranks)
                self.assert_close(found, [[1, 1, 3.5], [0, 1, 3], [0, 0, 1]], 1e-14)
                report = self.last
                self.assertEqual(report["command"], "expm")
                self.assertEqual(report["results"]["norm1"], 5)
                self.assertEqual(report["results"]["method"], "paterson-stockmeyer")
                self.assertEqual(report["results"]["structure"], "general")
                for key in ("degree", "squarings", "products", "tile", "seconds"):
                    self.assertIn(key, report["results"])
                self.assertIn("finite", report["checks"])

    def test_rotation(self):
        for angle in (1e-8, 0.5, math.pi, 100.0):
            with self.subTest(angle=angle):
                found = self.exponential([[0.0, -angle], [angle, 0.0]], ranks=2)
                cosine, sine = math.cos(angle), math.sin(angle)
                self.assert_close(found, [[cosine, -sine], [sine, cosine]], 4e-16 * max(10.0, 10 * angle))

    def test_zero_and_scalar(self):
        self.assert_close(self.exponential([[0.0] * 3] * 3), [[float(i == j) for j in range(3)] for i in range(3)], 0)
        self.assert_close(self.exponential([[-1.0]], ranks=4), [[math.exp(-1)]], 1e-16)
        self.write("A.mtx", "%%MatrixMarket matrix array real general\n0 0\n")
        self.succeed("expm", "--input", "A.mtx", "--output", "E.mtx", ranks=2)
        self.assertEqual(read_market(self.path("E.mtx")), [])

    def test_complex_diagonal(self):
        values = [1j, -2 + 3j, 0.25]
        rows = [[complex(values[i]) if i == j else 0j for j in range(3)] for i in range(3)]
        for products in (3, 4):
            with self.subTest(products=products):
                found = self.exponential(rows, "--complex-products", products, ranks=2)
                self.assertEqual(self.last["inputs"]["scalar"], "complex-double")
                expected = [[cmath.exp(values[i]) if i == j else 0 for j in range(3)] for i in range(3)]
                self.assert_close(found, expected, 1e-14)

    def test_skew_hermitian_gives_a_unitary_matrix(self):
        n = 12
        x = random_matrix(random.Random(5), n, n, True)
        rows = [[one - other for one, other in zip(*both)] for both in zip(x, transpose(x, conjugate=True))]
        u = self.exponential(rows, "--residual", "--place", "cyclic:2x3", ranks=4)
        identity = [[float(i == j) for j in range(n)] for i in range(n)]
        self.assert_close(product(transpose(u, conjugate=True), u), identity, 1e-12)
        self.assertIn("residual", self.last["checks"])
        self.assertIn("residual", self.last["results"])

    def test_taylor_of_a_given_degree_is_the_truncated_series(self):
        rows = random_matrix(random.Random(6), 5, 5)
        expected = [[float(i == j) for j in range(5)] for i in range(5)]
        term = expected
        for k in range(1, 5):
            term = [[value / k for value in row] for row in product(term, rows)]
            expected = [[one + other for one, other in zip(*both)] for both in zip(expected, term)]
        found = self.exponential(rows, "--method", "taylor", "--degree", 4)
        self.assert_close(found, expected, 1e-14)
        results = self.last["results"]
        self.assertEqual((results["method"], results["degree"], results["squarings"]), ("taylor", 4, 0))

    def test_terms_of_the_series(self):
        # The terms of -8i are 8^k/k! in size, and their sum swings to more than 200 before it is on the unit circle.
        for ranks in (1, 2):
            report = self.succeed("expm", "--size", 1, "--norm", 8, "--times-minus-i", "--method", "taylor", "--degree", 40,
                                  "--terms", "--terms-file", "terms.csv", ranks=ranks)
            terms = report["results"]["terms"]
            self.assertEqual(len(terms), 41)
            term = 1.0
            for k, found in enumerate(terms):
                self.assertAlmostEqual(found["norm1"] / term, 1, delta=1e-13)
                self.assertAlmostEqual(math.hypot(*found["trace"]) / term, 1, delta=1e-13)
                term *= 8 / (k + 1)
            self.assertAlmostEqual(report["results"]["cancellation"], 8**8 / math.factorial(8), delta=1e-9)
            with open(self.path("terms.csv"), encoding="utf-8") as file:
                rows = [line.split(",") for line in file.read().splitlines() if not line.startswith("#")]
            self.assertEqual(rows[0], ["term", "norm1", "trace_real", "trace_imaginary", "sum_trace_real",
                                       "sum_trace_imaginary"])
            sums = [complex(float(row[4]), float(row[5])) for row in rows[1:]]
            self.assertGreater(max(map(abs, sums)), 200)
            # The sign of the one random element is not known.
            self.assertAlmostEqual(sums[-1].real, math.cos(8), delta=1e-12)
            self.assertAlmostEqual(abs(sums[-1].imag), math.sin(8), delta=1e-12)

    def test_terms_of_all_scalars_and_small_sizes(self):
        for scalar in ("float", "double", "complex-float", "complex-double"):
            report = self.succeed("expm", "--size", 3, "--scalar", scalar, "--method", "taylor", "--degree", 3, "--terms")
            self.assertEqual([round(term["norm1"], 9) for term in report["results"]["terms"][:1]], [1])
            self.assertEqual(report["results"]["terms"][0]["trace"], [3, 0])
            self.assertEqual(len(report["results"]["terms"]), 4)
        # A nilpotent matrix ends its own series.
        self.exponential([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]], "--method", "taylor", "--terms")
        self.assertEqual([term["norm1"] for term in self.last["results"]["terms"]], [1, 5, 1.5] + [0] * 8)

    def test_terms_as_a_picture(self):
        try:
            import matplotlib  # Not everywhere.
        except ImportError:
            self.skipTest("no matplotlib")
        del matplotlib
        for more in (["--size", 1], ["--size", 5, "--times-minus-i", "--degree", 1], ["--size", 4, "--norm", 0]):
            self.succeed("expm", *more, "--method", "taylor", "--terms", "--plot", "terms.png")
            self.assert_picture("terms.png")
            os.remove(self.path("terms.png"))
        self.assertFalse([name for name in os.listdir(self.folder) if "terms" in name])
        self.succeed("expm", "--size", 4, "--method", "taylor", "--terms", "--terms-file", "t.csv", "--plot", "a.png")
        self.assertEqual(self.run_command("plot", "t.csv", "-o", "b.png").code, 0)
        with open(self.path("a.png"), "rb") as one, open(self.path("b.png"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_terms_refused(self):
        self.refuse("expm", "--size", 3, "--terms", message="--terms is for --method taylor")
        self.refuse("expm", "--size", 3, "--method", "taylor", "--terms-file", "t.csv", message="--terms")
        self.refuse("expm", "--size", 3, "--method", "taylor", "--plot", "t.png", message="--terms")
        words = ["expm", "--size", 3, "--method", "taylor", "--terms"]
        self.refuse(*words, "--terms-file", "x", "--plot", "x", message="--terms-file and --plot|x")
        self.refuse(*words, "--terms-file", "no/t.csv", message="no/t.csv")
        self.assertEqual(os.listdir(self.folder), [])

    def test_methods_agree_and_say_what_they_did(self):
        n = 20
        x = random_matrix(random.Random(7), n, n)
        symmetric = [[one + other for one, other in zip(*both)] for both in zip(x, transpose(x))]
        first = None
        for method in ("auto", "paterson-stockmeyer", "few-products", "pade"):
            with self.subTest(method=method):
                found = self.exponential(symmetric, "--method", method, "--certificate", ranks=2)
                self.assertEqual(self.last["results"]["structure"], "hermitian")
                self.assertIn("certificate", self.last["checks"])
                if method in ("pade", "few-products"):
                    self.assertEqual(self.last["results"]["method"], method)
                first = first or found
                size = max(abs(value) for row in first for value in row)
                self.assert_close(found, first, 1e-12 * size)
        self.refuse("expm", "--input", "A.mtx", "--method", "chebyshev", message="skew-Hermitian")

    def test_minus_i_times_a_symmetric_matrix_is_unitary(self):
        for scalar in ("double", "complex-float"):
            with self.subTest(scalar=scalar):
                report = self.succeed("expm", "--size", 60, "--norm", 20, "--symmetric", "--times-minus-i", "--scalar",
                                      scalar, "--certificate", "--output", "U.mtx", ranks=2)
                results = report["results"]
                self.assertEqual((results["method"], results["structure"]), ("chebyshev", "skew-hermitian"))
                u = read_market(self.path("U.mtx"))
                identity = [[float(i == j) for j in range(60)] for i in range(60)]
                self.assert_close(product(transpose(u, conjugate=True), u), identity,
                                  1e-12 if scalar == "double" else 1e-4)
        self.write("A.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n")
        self.succeed("expm", "--input", "A.mtx", "--times-minus-i", "--output", "E.mtx")
        self.assert_close(read_market(self.path("E.mtx")), [[cmath.exp(-2j)]], 1e-15)
        self.refuse("expm", "--input", "A.mtx", "--symmetric", message="--symmetric")

    def test_certificates_are_proofs_or_say_so(self):
        self.write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n-2\n")
        for scalar in ("double", "float"):
            with self.subTest(scalar=scalar):
                report = self.succeed("expm", "--input", "A.mtx", "--scalar", scalar, "--certificate", ranks=2)
                unit = 2.0 ** (-53 if scalar == "double" else -24)
                check = report["checks"]["certificate"]
                self.assertAlmostEqual(check["bound"] / (1e3 * 2 * unit * report["results"]["norm1"]), 1, places=6)
                self.assertEqual(check["value"], report["results"]["certificate"])
                self.assertLessEqual(check["value"], 40 * unit)
        # The truncation error of a loose tolerance is detected, and passes where it is allowed.
        loose = ["expm", "--size", 12, "--norm", 3, "--tolerance", 1e-3, "--certificate"]
        result = self.run_command(*loose, "--json", "report.json")
        self.assertEqual(result.code, 1)
        self.assertIn("not proven", result.output)
        found = self.report()["results"]["certificate"]
        self.assertTrue(1e-9 < found < 1e-2, found)
        self.succeed(*loose, "--certificate-tolerance", 1e-2)
        self.refuse("expm", "--size", 3, "--certificate-tolerance", 1, message="--certificate")
        self.refuse("expm", "--size", 3, "--certificate", "--certificate-tolerance", -1, message="certificate-tolerance")
        self.exponential([[0.0, 1e20], [1e-20, 0.0]], "--certificate")
        # A denormal number has few correct digits.
        self.write("A.mtx", "%%MatrixMarket matrix array real general\n1 1\n-740\n")
        result = self.run_command("expm", "--input", "A.mtx", "--certificate", "--json", "report.json")
        self.assertEqual(result.code, 1)
        self.assertIn("not proven", result.output)

    def test_balancing(self):
        rows = [[0.5, 2.0 ** 30], [2.0 ** -30, -0.5]]
        plain = self.exponential(rows)
        squarings = self.last["results"]["squarings"]
        balanced = self.exponential(rows, "--balance")
        self.assertTrue(self.last["results"]["balanced"])
        self.assertLessEqual(self.last["results"]["squarings"], squarings)
        c, s = math.cosh(math.sqrt(1.25)), math.sinh(math.sqrt(1.25)) / math.sqrt(1.25)
        expected = [[c + s / 2, s * 2.0 ** 30], [s * 2.0 ** -30, c - s / 2]]
        for i in range(2):
            for j in range(2):
                self.assertAlmostEqual(balanced[i][j] / expected[i][j], 1, places=14)
                self.assertAlmostEqual(plain[i][j] / expected[i][j], 1, places=5)

    def test_generated_matrix_has_the_norm_asked_for(self):
        report = self.succeed("expm", "--size", 50, "--norm", 3, "--tolerance", 1e-6, "--scalar", "float", ranks=2)
        self.assertAlmostEqual(report["results"]["norm1"], 3, places=5)

    def test_repeats_are_all_reported(self):
        report = self.succeed("expm", "--size", 40, "--scalar", "complex-double", "--repeat", 3, ranks=2)
        results = report["results"]
        self.assertEqual(len(results["seconds_of_each"]), 3)
        self.assertEqual(results["seconds"], min(results["seconds_of_each"]))
        self.refuse("expm", "--size", 4, "--repeat", 0, message="--repeat")

    def test_coordinate_and_symmetric_input(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n")
        self.succeed("expm", "--input", "A.mtx", "--output", "E.mtx")
        c, s = math.cosh(1), math.sinh(1)
        self.assert_close(read_market(self.path("E.mtx")), [[c, s], [s, c]], 1e-15)

    def test_refused(self):
        write_market(self.path("wide.mtx"), [[1.0, 2.0]])
        self.refuse("expm", "--input", "wide.mtx", message="wide.mtx: is 1 x 2, where a square matrix is expected")
        self.refuse("expm", "--input", "none.mtx", ranks=2, message="none.mtx: can't be opened")
        self.refuse("expm", message="--input")

    def test_what_is_in_range_is_returned_though_its_norm_is_not(self):
        found = self.exponential([[709.0, 1.0], [1.0, 709.0]])
        for i in range(2):
            for j in range(2):
                # Divided by exp(709), as cosh(1) exp(709) is near the end of the range.
                expected = math.cosh(1) if i == j else math.sinh(1)
                self.assertAlmostEqual(found[i][j] / math.exp(709) / expected, 1.0, places=11)
        self.assertEqual(self.last["results"]["exponential_norm1"], None)

    def test_overflow_is_a_failed_computation(self):
        write_market(self.path("A.mtx"), [[1000.0]])
        self.refuse("expm", "--input", "A.mtx", "--output", "E.mtx", code=1, message="overflow")
        self.refuse("expm", "--input", "A.mtx", code=1, ranks=2, message="overflow")


if __name__ == "__main__":
    unittest.main()
