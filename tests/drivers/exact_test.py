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

    def test_dot_of_complex_numbers(self):
        write_market(self.path("x.mtx"), column([1 + 2j, 3 - 1j]))
        write_market(self.path("y.mtx"), column([2 - 1j, 1j]))
        results = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx")["results"]
        self.assertEqual(results["value"], [5.0, 6.0])
        results = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx", "--conjugate", "--compare")["results"]
        self.assertEqual(results["value"], [-1.0, -2.0])
        self.assertEqual([float.fromhex(part) for part in results["plain_hex"]], [-1.0, -2.0])

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

    def test_the_bits_of_every_machine(self):
        # What this matrix gave on CPUs of one and more threads and on GPUs.
        results = self.succeed("lu", "--size", 200, "--seed", 3)["results"]
        self.assertEqual(results["sha256"], "713d61510b790aa722cfe3d96515ec559155a166198693980d5905bc994228ed")
        results = self.succeed("lu", "--size", 64, "--seed", 3, "--scalar", "complex-float")["results"]
        self.assertEqual(results["sha256"], "bf5947016602ec4e91a2bae2c2bed05aa7474cd845d6770767f87ffc91ce94ad")

    def test_singular(self):
        write_market(self.path("A.mtx"), [[1.0, 0.0], [2.0, 0.0]])
        results = self.succeed("lu", "--input", "A.mtx")["results"]
        self.assertEqual(results["info"], 2)
        self.assertIsNone(results["condition"])
        self.assertFalse(math.isnan(results["growth"]))
        self.succeed("lu", "--size", 0)

    def test_refusals(self):
        self.refuse("lu", message="--input")
        self.refuse("lu", "--size", 3, ranks=2, message="one rank")
        self.refuse("lu", "--size", 3, "--l", "L.dat", message="L.dat")


if __name__ == "__main__":
    unittest.main()
