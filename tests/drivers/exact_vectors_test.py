"""heddle gemv, trsv and generate."""

import random
import unittest
from fractions import Fraction

from command import ON_GPU, CommandTest, random_matrix, read_market, transpose, write_market

EXACT = ("auto", "accumulator", *(f"expansion-{k}" for k in range(2, 9)))


def exact_product(rows, x):
    """Every element rounded once."""
    return [float(sum((Fraction(a) * Fraction(b[0]) for a, b in zip(row, x)), Fraction(0))) for row in rows]


def substituted(rows, b, order):
    """Each sum rounded once, and each quotient."""
    x = {}
    for i in order:
        rest = float(Fraction(b[i][0]) - sum((Fraction(rows[i][k]) * Fraction(x[k]) for k in x), Fraction(0)))
        x[i] = float(Fraction(rest) / Fraction(rows[i][i]))
    return [x[i] for i in range(len(rows))]


def worst_error(found, expected):
    return max(abs(Fraction(a[0]) - b) for a, b in zip(found, expected)) / max(map(abs, expected))


class Vectors(CommandTest):
    def numbers(self, name):
        return [row[0] for row in read_market(self.path(name))]

    def test_products_are_rounded_once_whatever_cancels(self):
        self.succeed("generate", "gemv", "--size", 30, "--condition", 1e30, "-o", "A.mtx", "--vector", "x.mtx")
        A = read_market(self.path("A.mtx"))
        x = read_market(self.path("x.mtx"))
        for op, rows in (("N", A), ("T", transpose(A))):
            expected = exact_product(rows, x)
            hashes = set()
            for algorithm in EXACT:
                results = self.succeed("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", op, "--algorithm", algorithm, "-o",
                                       "y.mtx", "--compare")["results"]
                self.assertEqual(self.numbers("y.mtx"), expected)
                hashes.add(results["sha256"])
            self.assertEqual(len(hashes), 1)
            if op == "N":
                self.assertEqual(results["plain_different_elements"], 30)
                self.assertGreater(results["plain_relative_error"], 1e3)
        self.succeed("gemv", "--a", "A.mtx", "--x", "x.mtx", "--algorithm", "plain", "-o", "plain.mtx")
        self.assertNotEqual(self.numbers("plain.mtx"), exact_product(A, x))

    def test_factors_and_complex_numbers(self):
        rng = random.Random(3)
        A = random_matrix(rng, 7, 4, True)
        write_market(self.path("A.mtx"), A)
        write_market(self.path("x.mtx"), random_matrix(rng, 7, 1, True))
        self.succeed("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", "C", "--alpha", "0,2", "-o", "y.mtx")
        x = read_market(self.path("x.mtx"))
        found = read_market(self.path("y.mtx"))
        expected = [[2j * sum(row[k] * x[k][0] for k in range(7))] for row in transpose(A, conjugate=True)]
        self.assert_close(found, expected, 1e-14)

    def test_beta_y_is_added_before_the_one_rounding(self):
        rng = random.Random(7)
        A = random_matrix(rng, 40, 30)
        write_market(self.path("A.mtx"), A)
        for op, rows in (("N", A), ("T", transpose(A))):
            x = random_matrix(rng, len(rows[0]), 1)
            products = [sum((Fraction(a) * Fraction(b) for a, (b,) in zip(row, x)), Fraction(0)) for row in rows]
            # The last y are the products, rounded: of alpha = -1 and beta = 1 only what was rounded off is left, which
            # is zero where the product is rounded before y is added.
            for alpha, beta, y in ((0.1, -3.7, [rng.uniform(-9, 9) for _ in rows]), (0.0, 1 / 3, [0.3] * len(rows)),
                                   (-1.0, 1.0, [float(product) for product in products])):
                write_market(self.path("x.mtx"), x)
                write_market(self.path("y.mtx"), [[value] for value in y])
                expected = [float(Fraction(alpha) * product + Fraction(beta) * Fraction(value))
                            for product, value in zip(products, y)]
                self.assertTrue(any(expected))
                for algorithm in EXACT:
                    with self.subTest(op=op, alpha=alpha, algorithm=algorithm):
                        report = self.succeed("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", op, "--alpha", alpha, "--beta",
                                              repr(beta), "--y", "y.mtx", "--algorithm", algorithm, "-o", "z.mtx", "--compare")
                        self.assertEqual(self.numbers("z.mtx"), expected)
                        self.assertEqual((report["inputs"]["beta"], report["inputs"]["y"]), (repr(beta), "y.mtx"))
                self.assertEqual(self.numbers("y.mtx"), y)
                self.assertEqual(report["results"]["plain_different_elements"] > 0, alpha != 0)

    def test_beta_y_of_complex_numbers(self):
        rng = random.Random(8)
        A = random_matrix(rng, 5, 6, True)
        x = random_matrix(rng, 6, 1)
        y = random_matrix(rng, 5, 1)
        for name, rows in (("A.mtx", A), ("x.mtx", x), ("y.mtx", y), ("R.mtx", [[1.5] * 6] * 5)):
            write_market(self.path(name), rows)
        alpha, beta = complex(0.5, -2), complex(-1, 0.25)
        for name, rows in (("A.mtx", A), ("R.mtx", [[1.5] * 6] * 5)):
            report = self.succeed("gemv", "--a", name, "--x", "x.mtx", "--alpha", "0.5,-2", "--beta", "-1,0.25", "--y", "y.mtx",
                                  "-o", "z.mtx")
            self.assertEqual(report["inputs"]["scalar"], "complex-double")
            expected = [[alpha * sum(a * b for a, (b,) in zip(row, x)) + beta * value] for row, (value,) in zip(rows, y)]
            self.assert_close(read_market(self.path("z.mtx")), expected, 1e-14)

    def test_systems_are_those_of_substitution_with_exact_sums(self):
        rng = random.Random(4)
        for triangle in ("lower", "upper"):
            self.succeed("generate", "triangular", "--size", 40, "--condition", 1e20, "--seed", 5, "-o", "A.mtx",
                         "--vector", "b.mtx")
            A = read_market(self.path("A.mtx"))
            # The other triangle is not read.
            for i in range(40):
                for j in range(i + 1, 40):
                    A[i][j] = rng.uniform(-1, 1)
            if triangle == "upper":
                A = transpose(A)
            write_market(self.path("A.mtx"), A)
            b = read_market(self.path("b.mtx"))
            order = range(40) if triangle == "lower" else range(39, -1, -1)
            expected = substituted(A, b, order)
            hashes = set()
            for algorithm in EXACT:
                if ON_GPU and algorithm != "auto":
                    self.refuse("trsv", "--a", "A.mtx", "--b", "b.mtx", "--triangle", triangle, "--algorithm", algorithm,
                                message=f"the algorithm {algorithm} is there on CPUs alone")
                    continue
                results = self.succeed("trsv", "--a", "A.mtx", "--b", "b.mtx", "--triangle", triangle, "--algorithm",
                                       algorithm, "-o", "x.mtx")["results"]
                self.assertEqual(self.numbers("x.mtx"), expected)
                hashes.add(results["sha256"])
            self.assertEqual(len(hashes), 1)

    def test_refinement_brings_solutions_nearer(self):
        self.succeed("generate", "triangular", "--size", 60, "--condition", 1e8, "-o", "A.mtx", "--vector", "b.mtx")
        A = read_market(self.path("A.mtx"))
        x = []
        for i, (right,) in enumerate(read_market(self.path("b.mtx"))):
            x.append((Fraction(right) - sum(Fraction(A[i][k]) * x[k] for k in range(i))) / Fraction(A[i][i]))
        errors = []
        for refinements in (0, 2):
            self.succeed("trsv", "--a", "A.mtx", "--b", "b.mtx", "--refinements", refinements, "-o", "x.mtx")
            errors.append(worst_error(read_market(self.path("x.mtx")), x))
        self.assertLess(errors[1], errors[0])
        self.assertLessEqual(errors[1], 2.0**-52)

    def test_generated_conditions_are_near_what_was_asked_for(self):
        for kind in ("dot", "gemv", "triangular", "general"):
            for condition in (1e5, 1e40, 1e300):
                results = self.succeed("generate", kind, "--size", 60, "--condition", condition, "-o", "A.mtx", "--vector",
                                       "v.mtx")["results"]
                self.assertGreater(results["condition"], condition / 1e3)
                self.assertLess(results["condition"], condition * 1e3)
        again = self.read_bytes("A.mtx")
        self.succeed("generate", "general", "--size", 60, "--condition", 1e300, "-o", "B.mtx")
        self.assertEqual(self.read_bytes("B.mtx"), again)
        self.succeed("generate", "general", "--size", 60, "--condition", 1e300, "--seed", 2, "-o", "B.mtx")
        self.assertNotEqual(self.read_bytes("B.mtx"), again)

    def read_bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_refusals(self):
        write_market(self.path("A.mtx"), [[1.0, 2.0]])
        write_market(self.path("x.mtx"), [[1.0]])
        self.refuse("gemv", "--a", "A.mtx", "--x", "x.mtx", message="x.mtx: is 1 x 1, expected 2 x 1")
        self.refuse("trsv", "--a", "A.mtx", "--b", "x.mtx", message="A.mtx: is 1 x 2, expected a square matrix")
        self.refuse("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", "T", ranks=2, message="one rank")
        self.refuse("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", "T", "-o", "x.mtx", message="x.mtx")
        update = ("gemv", "--a", "A.mtx", "--x", "x.mtx", "--op", "T")
        self.refuse(*update, "--beta", 1, message="--beta 1 needs y's old value in --y")
        self.refuse(*update, "--y", "x.mtx", message="--y is read only where --beta is not 0")
        self.refuse(*update, "--beta", "one", "--y", "x.mtx", message="--beta: 'one': expected a finite number, or two as re,im")
        self.refuse(*update, "--beta", 1, "--y", "x.mtx", message="x.mtx: is 1 x 1, expected 2 x 1")
        self.refuse(*update, "--beta", 1, "--y", "none.mtx", message="none.mtx")
        self.refuse(*update, "--beta", 1, "--y", "y.mtx", "-o", "y.mtx", message="--output would replace y.mtx, which --y reads")
        self.refuse(*update, "--beta", "1,1", "--y", "x.mtx", "--scalar", "double", message="--beta: 1,1 is not real")
        self.refuse("generate", "dot", "-o", "x.mtx", message="--vector")
        self.refuse("generate", "dot", "--condition", 1e301, "-o", "x.mtx", "--vector", "y.mtx", message="at most 1e300")
        self.refuse("generate", "dot", "-o", "x.mtx", "--vector", "x.mtx", message="x.mtx")
        self.refuse("generate", "hilbert", "-o", "x.mtx", message="triangular")


if __name__ == "__main__":
    unittest.main()
