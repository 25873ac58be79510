"""heddle sum, dot and lu."""

import functools
import hashlib
import math
import operator
import random
import struct
import unittest
from fractions import Fraction

from command import CommandTest, random_matrix, read_market, write_market


def digest(*numbers):
    return hashlib.sha256(struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest()


def column(values):
    return [[value] for value in values]


def exact(terms):
    return float(sum((Fraction(term) for term in terms), Fraction(0)))


class Sums(CommandTest):
    def test_sum(self):
        rng = random.Random(5)
        values = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-200, 200) for _ in range(500)]
        values += [-value for value in values[1:]]
        rng.shuffle(values)
        write_market(self.path("x.mtx"), column(values))
        expected = exact(values)
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                results = self.succeed("sum", "--input", "x.mtx", "--compare", ranks=ranks)["results"]
                self.assertEqual(results["value"], expected)
                self.assertEqual(float.fromhex(results["value_hex"]), expected)
                self.assertEqual(results["sha256"], digest(expected))
                self.assertEqual(results["count"], len(values))
                condition = exact(abs(value) for value in values) / abs(expected)
                self.assertAlmostEqual(results["condition"] / condition, 1)
                plain = float.fromhex(results["plain_hex"])
                self.assertEqual(results["plain_relative_error"], abs(plain - expected) / abs(expected))
        # One after the other, on one rank.
        self.assertEqual(self.succeed("sum", "--input", "x.mtx", "--compare")["results"]["plain"],
                         functools.reduce(operator.add, values, 0.0))

    def test_dot(self):
        rng = random.Random(6)
        x = [rng.uniform(-1, 1) for _ in range(40)]
        y = [rng.uniform(-1, 1) for _ in range(40)]
        write_market(self.path("x.mtx"), column(x))
        write_market(self.path("y.mtx"), column(y))
        results = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx", ranks=2)["results"]
        expected = float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y)))
        self.assertEqual(results["value"], expected)
        self.assertNotIn("plain", results)

    def write_integers(self, name, values):
        header = "%%MatrixMarket matrix array integer general\n" if name.endswith(".mtx") else ""
        header += f"{len(values)} 1\n" if header else ""
        with open(self.path(name), "w") as file:
            file.write(header + "".join(f"{value}\n" for value in values))

    def integers(self, count):
        rng = random.Random(count)
        borders = [2**k + d for k in (24, 53, 54, 62, 63) for d in (-1, 0, 1)] + [2**64 - 1, -(2**63)]
        drawn = [rng.randrange(-(2**63), 2**64) >> rng.randrange(64) for _ in range(count)]
        values = [*borders, *drawn, *(-value for value in drawn)]
        rng.shuffle(values)
        return values

    def test_integers_count_with_all_their_digits(self):
        x, y = self.integers(40), self.integers(40)
        for name in ("x.mtx", "x.txt"):
            self.write_integers(name, x)
        self.write_integers("y.mtx", y)
        real = [math.ldexp(value, -40) for value in range(1, len(x) + 1)]
        write_market(self.path("real.mtx"), column(real))
        for ranks in (1, 2, 3, 4):
            for name in ("x.mtx", "x.txt"):
                with self.subTest(ranks=ranks, name=name):
                    results = self.succeed("sum", "--input", name, "--compare", ranks=ranks)["results"]
                    self.assertEqual(results["value"], float(Fraction(sum(x))))
                    self.assertEqual(results["count"], len(x))
                    self.assertEqual(results["condition"], float(Fraction(sum(map(abs, x)), abs(sum(x)))))
                    results = self.succeed("dot", "--x", name, "--y", "y.mtx", ranks=ranks)["results"]
                    self.assertEqual(results["value"], float(Fraction(sum(map(operator.mul, x, y)))))
                    results = self.succeed("dot", "--x", "real.mtx", "--y", name, ranks=ranks)["results"]
                    self.assertEqual(results["value"], exact(Fraction(a) * b for a, b in zip(real, x)))
        self.assertEqual(self.succeed("sum", "--input", "x.mtx", "--compare")["results"]["plain"],
                         functools.reduce(operator.add, map(float, x), 0.0))
        for scalar in ("float", "complex-float", "complex-double"):
            value = self.succeed("sum", "--input", "x.mtx", "--scalar", scalar)["results"]["value"]
            expected = float(Fraction(sum(x)))
            if scalar.endswith("float"):
                expected = struct.unpack("f", struct.pack("f", expected))[0]
            self.assertEqual(value, [expected, 0] if scalar.startswith("complex") else expected)

    def test_integers_are_not_rounded_elsewhere(self):
        self.write_integers("x.mtx", [2**53 + 1, 1])
        for command in (("transpose", "--input", "x.mtx"), ("gemm", "--a", "x.mtx", "--b", "x.mtx", "--op-b", "T")):
            self.refuse(*command, message="x.mtx, line 3: the integer '9007199254740993' is one that no double equals")

    def test_dot_of_complex_numbers(self):
        write_market(self.path("x.mtx"), column([1 + 2j, 3 - 1j]))
        write_market(self.path("y.mtx"), column([2 - 1j, 1j]))
        results = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx")["results"]
        self.assertEqual(results["value"], [5.0, 6.0])
        results = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx", "--conjugate", "--compare")["results"]
        self.assertEqual(results["value"], [-1.0, -2.0])
        self.assertEqual([float.fromhex(part) for part in results["plain_hex"]], [-1.0, -2.0])

    def condition_of(self, command, *arguments):
        """The same to the bit on any number of ranks."""
        found = {self.succeed(command, *arguments, ranks=ranks)["results"]["condition"] for ranks in (1, 3)}
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def dot_condition(self, x, y, *arguments):
        write_market(self.path("x.mtx"), column(x))
        write_market(self.path("y.mtx"), column(y))
        return self.condition_of("dot", "--x", "x.mtx", "--y", "y.mtx", *arguments)

    def test_conditions_are_quotients_of_exact_sums(self):
        rng = random.Random(8)
        for spread in (0, 30, 300):
            x = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-spread, spread) for _ in range(60)]
            y = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-spread, spread) for _ in range(60)]
            terms = [Fraction(a) * Fraction(b) for a, b in zip(x, y)]
            self.assertEqual(self.dot_condition(x, y), float(sum(map(abs, terms)) / abs(sum(terms))))
            write_market(self.path("x.mtx"), column(x))
            terms = list(map(Fraction, x))
            self.assertEqual(self.condition_of("sum", "--input", "x.mtx"),
                             float(sum(map(abs, terms)) / abs(sum(terms))))

    def test_conditions_are_never_below_one(self):
        rng = random.Random(9)
        for _ in range(2):
            x = [rng.random() for _ in range(30)]
            y = [rng.random() for _ in range(30)]
            for scalar in ("double", "float"):
                self.assertEqual(self.dot_condition(x, y, "--scalar", scalar), 1)
                self.assertEqual(self.condition_of("sum", "--input", "x.mtx", "--scalar", scalar), 1)
            x = [complex(a, b) for a, b in zip(x, y)]
            conjugates = [a.conjugate() for a in x]
            for scalar in ("complex-double", "complex-float"):
                condition = self.dot_condition(x, conjugates, "--scalar", scalar)
                self.assertGreaterEqual(condition, 1)
                self.assertAlmostEqual(condition, 1, delta=1e-14)

    def test_conditions_of_terms_that_underflow(self):
        for size in (1e-160, 1e-200, 1e-300):
            x, y = [size, size], [3 * size, -2 * size]
            terms = [Fraction(a) * Fraction(b) for a, b in zip(x, y)]
            self.assertEqual(self.dot_condition(x, y), float(sum(map(abs, terms)) / abs(sum(terms))))
        self.assertEqual(self.dot_condition([1e-200, 1e-200, 1.0], [1e-200, -1e-200, 0.0]), None)
        self.assertEqual(self.dot_condition([5e-324, 5e-324, 5e-324], [5e-324, 5e-324, -5e-324]), 3)
        self.assertEqual(self.dot_condition([1e-30, 1e-30], [3e-30, -2e-30], "--scalar", "float"),
                         float(self.quotient_of_floats([1e-30, 1e-30], [3e-30, -2e-30])))
        for x, y, condition in (([1e-200j, 1e-200], [3e-200, 2e-200j], 1), ([1e-200j, 1e-200], [3e-200, -2e-200j], 5),
                                ([5e-324j, 5e-324 + 5e-324j], [5e-324 + 5e-324j, -5e-324], (2**0.5 + 2**0.5) / 2)):
            self.assertAlmostEqual(self.dot_condition(x, y), condition, delta=1e-14 * condition)
        self.assertAlmostEqual(self.dot_condition([1 + 1j], [1 + 1j]), 1, delta=1e-15)
        self.assertAlmostEqual(self.dot_condition([1e-30j, 1e-30], [4e-30, -2e-30j], "--scalar", "complex-float"), 3,
                               delta=1e-6)

    @staticmethod
    def quotient_of_floats(x, y):
        def as_float(value):
            return Fraction(struct.unpack("f", struct.pack("f", value))[0])

        terms = [as_float(a) * as_float(b) for a, b in zip(x, y)]
        return sum(map(abs, terms)) / abs(sum(terms))

    def test_conditions_of_sums_that_overflow_or_vanish(self):
        self.assertAlmostEqual(self.dot_condition([1e200, 1e200], [3e200, -2e200]), 5, delta=1e-14)
        self.assertEqual(self.dot_condition([1.0, 1.0], [1.0, -1.0]), None)
        self.assertEqual(self.dot_condition([0.0, 0.0], [1.0, -1.0]), 1)
        output = self.run_command("dot", "--x", "x.mtx", "--y", "y.mtx").output
        self.assertIn("condition 1:", output)
        write_market(self.path("x.mtx"), column([1e308, 1e308, -1e308]))
        self.assertEqual(self.condition_of("sum", "--input", "x.mtx"), 3)
        write_market(self.path("x.mtx"), column([1e308 + 1e308j, 1e308 + 1e308j, -1e308 - 1e308j]))
        self.assertAlmostEqual(self.condition_of("sum", "--input", "x.mtx"), 3, delta=1e-14)
        write_market(self.path("x.mtx"), column([1.0, -1.0]))
        self.assertIn("condition inf:", self.run_command("sum", "--input", "x.mtx").output)

    def test_refusals(self):
        write_market(self.path("x.mtx"), column([1.0, 2.0]))
        write_market(self.path("y.mtx"), column([1.0]))
        self.refuse("sum", message="--input")
        self.refuse("sum", "--input", "none.mtx", message="none.mtx")
        self.refuse("dot", "--x", "x.mtx", "--y", "y.mtx", message="2 x 1")


class Lu(CommandTest):
    def test_factors(self):
        rows = random_matrix(random.Random(7), 6, 6, False)
        write_market(self.path("A.mtx"), rows)
        report = self.succeed("lu", "--input", "A.mtx", "--l", "L.mtx", "--u", "U.h5", "--pivots", "P.mtx", "--compare")
        lower = read_market(self.path("L.mtx"))
        order = [int(row[0]) - 1 for row in read_market(self.path("P.mtx"))]
        self.assertEqual(sorted(order), list(range(6)))
        self.succeed("transpose", "--input", "U.h5", "--output", "U.mtx", "--op", "N")
        upper = read_market(self.path("U.mtx"))
        # Every element by its definition, in exact arithmetic rounded once.
        for i in range(6):
            self.assertEqual(lower[i][i], 1)
            for j in range(6):
                rest = Fraction(rows[order[i]][j]) - sum(
                    Fraction(lower[i][k]) * Fraction(upper[k][j]) for k in range(min(i, j)))
                if i <= j:
                    self.assertEqual(upper[i][j], float(rest))
                    self.assertEqual(lower[i][j], 1 if i == j else 0)
                else:
                    self.assertEqual(lower[i][j], float(rest) / upper[j][j])
                    self.assertEqual(upper[i][j], 0)
        results = report["results"]
        self.assertEqual(results["info"], 0)
        self.assertEqual(results["growth"], max(abs(u) for row in upper for u in row) /
                         max(abs(a) for row in rows for a in row))
        packed = [upper[i][j] if i <= j else lower[i][j] for j in range(6) for i in range(6)]
        bits = struct.pack("<36d", *packed) + struct.pack("<6q", *order)
        self.assertEqual(results["sha256"], hashlib.sha256(bits).hexdigest())
        self.assertLess(results["plain_relative_difference"], 1e-12)
        self.assertTrue(report["checks"]["backward_error"]["passed"])

    def test_blocks_change_no_bit(self):
        hashes = {self.succeed("lu", "--size", 90, "--scalar", scalar, "--block", block)["results"]["sha256"]
                  for scalar in ("complex-double",) for block in (0, 1, 13)}
        self.assertEqual(len(hashes), 1)

    def test_factors_over_ranks(self):
        # The bits that any machine gives; a change of them is one of the definition.
        for ranks in (1, 2, 3):
            results = self.succeed("lu", "--size", 200, "--seed", 3, "--arithmetic", "emulated", "--block", 32, ranks=ranks)["results"]
            self.assertEqual(results["sha256"], "2022ca4fa49390d2e644542f3ac42874b03748153d23326239a5abea710c82cc")
        hashes = {self.succeed("lu", "--size", 70, "--arithmetic", "native", "--scalar", "complex-double", ranks=ranks)["results"]["sha256"]
                  for ranks in (1, 2, 4)}
        self.assertEqual(len(hashes), 1)

    def test_files_of_factors_over_ranks(self):
        rng = random.Random(4)
        A = random_matrix(rng, 9, 7)
        write_market(self.path("A.mtx"), A)
        report = self.succeed("lu", "--input", "A.mtx", "--l", "L.mtx", "--u", "U.mtx", "--pivots", "P.mtx", "--arithmetic", "emulated",
                              "--compare", ranks=2)
        self.assertEqual(report["results"]["info"], 0)
        L, U, P = (read_market(self.path(name)) for name in ("L.mtx", "U.mtx", "P.mtx"))
        for i in range(9):
            for j in range(7):
                found = sum(L[i][k] * U[k][j] for k in range(7))
                self.assertAlmostEqual(found, A[int(P[i][0]) - 1][j], delta=1e-14)

    def test_the_bits_of_every_machine(self):
        # Results of this matrix on CPUs with one and more threads and on GPUs, for any number of ranks.
        for ranks in (1, 2, 3):
            results = self.succeed("lu", "--size", 200, "--seed", 3, ranks=ranks)["results"]
            self.assertEqual(results["sha256"], "713d61510b790aa722cfe3d96515ec559155a166198693980d5905bc994228ed")
        conditions = set()
        for ranks in (1, 2):
            results = self.succeed("lu", "--size", 64, "--seed", 3, "--scalar", "complex-float", "--block", 10, ranks=ranks)["results"]
            self.assertEqual(results["sha256"], "23223f00b3a9cc58d3fc6b6ad1eeb33a0efb584c2968b94de859be005753546a")
            conditions.add(results["condition"])
        self.assertEqual(len(conditions), 1)

    def test_singular(self):
        write_market(self.path("A.mtx"), [[1.0, 0.0], [2.0, 0.0]])
        results = self.succeed("lu", "--input", "A.mtx")["results"]
        self.assertEqual(results["info"], 2)
        self.assertIsNone(results["condition"])
        self.assertFalse(math.isnan(results["growth"]))
        self.succeed("lu", "--size", 0)

    def test_what_is_not_a_number_is_told(self):
        # Two sums overflow, their quotient is a NaN, and so is what that is multiplied with.
        for scalar, most, factor in (("double", 1.5e308, 1), ("float", 3e38, 1), ("complex-double", 1.5e308, 1j)):
            rows = [[most, most, 0.0], [-most, most, 0.0], [-most, most, 1.0]]
            write_market(self.path("A.mtx"), [[value * factor for value in row] for row in rows])
            result = self.run_command("lu", "--input", "A.mtx", "--scalar", scalar, "--compare", "--json", "report.json")
            self.assertEqual(result.code, 1)
            self.assertIn("growth nan", result.output)
            report = self.report()
            self.assertIsNone(report["results"]["growth"])
            self.assertFalse(report["checks"]["backward_error"]["passed"])
            if scalar != "complex-double":
                # The plain factorization makes the same infinities and NaNs.
                self.assertEqual(report["results"]["plain_different_elements"], 0)
                self.assertEqual(report["results"]["plain_relative_difference"], 0)

    def test_matrices_of_any_size(self):
        for scalar, powers in (("double", (0, -1040, -1070, 1010)), ("complex-double", (0, -1040, -1070, 1010)),
                               ("float", (0, -140, 118)), ("complex-float", (0, -140, 118))):
            conditions = []
            for power in powers:
                rng = random.Random(10)

                def entry(is_diagonal, power=power, rng=rng, is_complex=scalar.startswith("complex")):
                    re = math.ldexp(rng.randint(-7, 7) + (40 if is_diagonal else 0), power)
                    return complex(re, math.ldexp(rng.randint(-7, 7), power)) if is_complex else re

                write_market(self.path("A.mtx"), [[entry(i == j) for j in range(5)] for i in range(5)])
                results = self.succeed("lu", "--input", "A.mtx", "--scalar", scalar, "--compare")["results"]
                conditions.append(results["condition"])
                self.assertAlmostEqual(results["growth"], 1, delta=0.5)
            for condition in conditions:
                self.assertAlmostEqual(condition / conditions[0], 1, delta=0.5)

    def test_refusals(self):
        self.refuse("lu", message="--input")
        self.refuse("lu", "--size", 3, "--group", 2, message="--group")
        self.refuse("lu", "--size", 3, "--arithmetic", "emulated", "--group", 3, message="power of two")
        self.refuse("lu", "--size", 3, "--l", "L.dat", message="L.dat")


if __name__ == "__main__":
    unittest.main()
