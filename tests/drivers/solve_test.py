"""heddle solve."""

import json
import os
import random
import re
import unittest
from fractions import Fraction

from command import ON_GPU, CommandTest, random_matrix, read_market, write_market


class Solve(CommandTest):
    def test_any_ranks_and_placements_have_one_hash(self):
        hashes = set()
        for ranks, place, rows in ((1, "rows", 1), (2, "rows", 1), (3, "columns", 3), (4, "cyclic:16x8", 2), (2, "host:rows", 1)):
            results = self.succeed("solve", "--size", "150", "--right", "2", "--arithmetic", "emulated", "--block", "16",
                                   "--group", "4", "--hash", "--place", place, "--grid-rows", str(rows), ranks=ranks)["results"]
            self.assertEqual(results["arithmetic"], "emulated")
            self.assertLess(results["componentwise_error"], 5e-16)
            hashes.add(results["sha256"])
        self.assertEqual(len(hashes), 1)

    def test_hashes_of_other_machines(self):
        # The bits that any machine gives; a change of them is one of the definition.
        for scalar, expected in STORED.items():
            results = self.succeed("solve", "--size", "330", "--right", "2", "--seed", "7", "--scalar", scalar,
                                   "--arithmetic", "emulated", "--block", "32", "--group", "4", "--refinements", "0", "--hash", ranks=2)["results"]
            self.assertEqual(results["sha256"], expected, scalar)

    def test_cholesky(self):
        hashes = set()
        for ranks, place in ((1, "rows"), (3, "columns")):
            results = self.succeed("solve", "--size", "150", "--right", "2", "--method", "cholesky", "--arithmetic", "emulated",
                                   "--block", "16", "--group", "4", "--hash", "--place", place, ranks=ranks)["results"]
            self.assertLess(results["componentwise_error"], 5e-16)
            self.assertGreater(results["cholesky_seconds"], 0)
            self.assertNotIn("growth", results)
            hashes.add(results["sha256"])
        self.assertEqual(len(hashes), 1)
        for scalar, expected in STORED_CHOLESKY.items():
            results = self.succeed("solve", "--size", "330", "--right", "2", "--seed", "7", "--scalar", scalar, "--method", "cholesky",
                                   "--arithmetic", "emulated", "--block", "32", "--group", "4", "--refinements", "0", "--hash", ranks=2)["results"]
            self.assertEqual(results["sha256"], expected, scalar)

    def test_rows_and_columns_of_other_sizes(self):
        rng = random.Random(5)
        n = 60
        row = [2.0 ** rng.randint(-30, 30) for _ in range(n)]
        column = [2.0 ** rng.randint(-30, 30) for _ in range(n)]
        A = [[rng.gauss(0, 1) * row[i] * column[j] for j in range(n)] for i in range(n)]
        write_market(self.path("A.mtx"), A)
        write_market(self.path("B.mtx"), [[row[i]] for i in range(n)])
        arguments = ("solve", "--a", "A.mtx", "--b", "B.mtx", "--arithmetic", "emulated", "--block", "8", "--group", "8", "--refinements", "0")
        scaled = self.succeed(*arguments, ranks=2)["results"]
        self.assertTrue(scaled["equilibrated"])
        self.assertLess(scaled["componentwise_error"], 1e-14)
        self.assertFalse(self.succeed(*arguments, "--no-equilibrate")["results"]["equilibrated"])

    def test_certificates(self):
        for method in ("lu", "cholesky"):
            report = self.succeed("solve", "--size", "60", "--right", "2", "--method", method, "--certificate", ranks=2)
            self.assertGreaterEqual(report["results"]["error_bound"], 0)
            self.assertLess(report["results"]["error_bound"], 1e-10)
        # No digit of the solution can be guaranteed for this matrix.
        n = 14
        write_market(self.path("A.mtx"), [[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
        write_market(self.path("B.mtx"), [[1.0] for _ in range(n)])
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--certificate", code=1, message="certificate")

    def test_correct_rounding(self):
        hashes = set()
        for ranks, options in ((1, ()), (3, ("--place", "columns")), (2, ("--arithmetic", "emulated", "--block", "8")),
                               (2, ("--refinements", "0", "--certificate", "--place", "host:rows"))):
            report = self.succeed("solve", "--size", "60", "--right", "2", "--correctly-rounded", "--hash", *options, ranks=ranks)
            self.assertIs(report["results"]["correctly_rounded"], True)
            self.assertEqual(report["results"]["undecided"], 0)
            self.assertNotIn("distance_to_tie", report["results"])
            self.assertEqual(report["checks"]["correct_rounding"], {"passed": True, "value": 0, "bound": 0})
            hashes.add(report["results"]["sha256"])
        self.assertEqual(len(hashes), 1)
        self.assertNotIn("correct_rounding", self.succeed("solve", "--size", "3")["checks"])
        for method in ("lu", "cholesky"):
            self.system([[3.0, 1.0], [1.0, 2.0]], [[1.0, 0.0], [1.0, 1.0]], "--method", method, "--correctly-rounded", "--x", "X.mtx")
            self.assertEqual(read_market(self.path("X.mtx")), [[1 / 5, -1 / 5], [2 / 5, 3 / 5]])
        done = self.system([[3.0]], [[1.0]], "--correctly-rounded", succeeds=False)
        self.assertEqual(done.code, 0)
        self.assertIn("X: every element is the nearest number, proven\n", done.output)

    def test_correct_rounding_that_cannot_be_proven(self):
        # x_0 = 2^53 + 1 is a tie beside fractions, in a system too large for an exact solution.
        n = 260
        A = [[float(3 if i > 1 else 1) if i == j else 1.0 if (i, j) == (0, 1) else 2.0**-120 if i > 1 and j == i - 1 else 0.0
              for j in range(n)] for i in range(n)]
        B = [[0.0, 2.0**53], [0.0, -1.0]] + [[0.0, 1.0]] * (n - 2)
        done = self.system(A, B, "--correctly-rounded", "--x", "X.mtx", "--json", "report.json", succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertIn("check correct_rounding: FAILED", done.errors)
        self.assertRegex(done.output, r"X: 1 of 520 elements are not proven to be nearest; element \(0, 1\), counted from 0, is within "
                                      r"\S+ ULP of a tie\n")
        results = self.report()["results"]
        self.assertIs(results["correctly_rounded"], False)
        self.assertEqual([results[key] for key in ("undecided", "undecided_row", "undecided_column")], [1, 0, 1])
        self.assertTrue(0 <= results["distance_to_tie"] < 1e-3)
        self.assertEqual([row[1] for row in read_market(self.path("X.mtx"))][1:3], [-1, 1 / 3])
        # No digit of the solution can be guaranteed for this matrix.
        n = 14
        hilbert = [[1.0 / (i + j + 1) for j in range(n)] for i in range(n)]
        done = self.system(hilbert, [[1.0]] * n, "--correctly-rounded", "--json", "report.json", succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertIn("check correct_rounding: FAILED", done.errors)
        self.assertIn("X: no element could be proven to be the nearest number\n", done.output)
        results = self.report()["results"]
        self.assertEqual(results["undecided"], -1)
        self.assertNotIn("undecided_row", results)
        self.refuse("solve", "--size", "3", "--correctly-rounded", "1", message="1")
        write_market(self.path("A.mtx"), [[1.0, 2.0], [2.0, 4.0]])
        write_market(self.path("B.mtx"), [[1.0], [1.0]])
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--correctly-rounded", code=1, message="regular")

    def test_not_positive_definite(self):
        write_market(self.path("A.mtx"), [[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        write_market(self.path("B.mtx"), [[1.0], [1.0], [1.0]])
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--x", "X.mtx", "--method", "cholesky", code=1,
                    message="positive_definite")
        self.assertFalse(os.path.exists(self.path("X.mtx")))

    def test_files(self):
        rng = random.Random(3)
        n = 6
        A = [[float(rng.randint(-9, 9)) + (20.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
        x = [[float(rng.randint(-5, 5)), float(rng.randint(-5, 5))] for _ in range(n)]
        B = [[sum(A[i][k] * x[k][j] for k in range(n)) for j in range(2)] for i in range(n)]
        write_market(self.path("A.mtx"), A)
        write_market(self.path("B.mtx"), B)
        report = self.succeed("solve", "--a", "A.mtx", "--b", "B.mtx", "--x", "X.mtx", "--condition", "--determinant",
                              ranks=2)
        found = read_market(self.path("X.mtx"))
        for row, expected in zip(found, x):
            for value, number in zip(row, expected):
                self.assertAlmostEqual(value, number, places=14)
        determinant = report["results"]["determinant"]
        self.assertAlmostEqual(determinant["real"] * 2.0 ** determinant["exponent"] / float(exact_determinant(A)), 1.0)
        self.assertGreater(report["results"]["condition"], 1.0)
        self.assertLess(report["checks"]["scaled_residual"]["value"], 16)

    def test_traces_have_all_panels_of_all_ranks(self):
        for command in (("solve", "--method", "cholesky"), ("lu", "--arithmetic", "native")):
            report = self.succeed(*command, "--size", "150", "--block", "32", "--trace", "trace.json", ranks=2)
            self.assertGreater(report["results"]["memory_bytes"], 150 * 32 * 8)
            with open(self.path("trace.json"), encoding="utf-8") as file:
                trace = json.load(file)
            self.assertEqual(trace["otherData"]["command"], command[0])
            self.assertEqual(trace["otherData"]["ranks"], 2)
            events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
            panels = [event["args"]["panel"] for event in events if re.fullmatch(r"panel \d+", event["name"])]
            self.assertEqual(sorted(panels), list(range(5)))
            received = [event for event in events if event["cat"] == "receive"]
            self.assertEqual(sorted(event["args"]["panel"] for event in received), list(range(5)))
            self.assertEqual({event["pid"] for event in events}, {0, 1})
            self.assertIn("update by panel 0", {event["name"] for event in events})
        self.refuse("lu", "--size", "5", "--trace", "trace.json")
        self.refuse("solve", "--size", "5", "--trace", "no/such/folder/trace.json")

    def test_progress_is_shown(self):
        size = "12000" if ON_GPU else "2000"  # which is solved in a second or more
        done = self.run_command("solve", "--size", size, "--block", "16", "--progress", ranks=1)
        self.assertEqual(done.code, 0)
        self.assertIn("solve [", done.errors)

    def test_singular_matrices_end_with_one_line(self):
        write_market(self.path("A.mtx"), [[1.0, 2.0], [2.0, 4.0]])
        write_market(self.path("B.mtx"), [[1.0], [1.0]])
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--x", "X.mtx", code=1, message="regular")
        self.assertFalse(os.path.exists(self.path("X.mtx")))

    def test_bad_usage(self):
        rng = random.Random(1)
        write_market(self.path("A.mtx"), random_matrix(rng, 3, 3))
        write_market(self.path("B.mtx"), random_matrix(rng, 4, 1))
        for arguments in (("solve",), ("solve", "--size", "3", "--a", "A.mtx", "--b", "B.mtx"), ("solve", "--a", "A.mtx"),
                          ("solve", "--a", "A.mtx", "--b", "B.mtx"), ("solve", "--size", "5", "--group", "3"),
                          ("solve", "--size", "5", "--grid-rows", "2"), ("solve", "--size", "5", "--grid-rows", "0"),
                          ("solve", "--size", "5", "--right", "0"), ("solve", "--size", "5", "--refinements", "-1"),
                          ("solve", "--size", "5", "--method", "qr"), ("solve", "--size", "5", "--x", "X.foo"),
                          ("solve", "--size", "5", "--x", "there/is/none.mtx"), ("solve", "--a", "none.mtx", "--b", "B.mtx")):
            self.refuse(*arguments)
        # Right-hand sides are those of the file.
        self.refuse("solve", "--a", "A.mtx", "--b", "A.mtx", "--right", "3", message="--right")

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def test_no_file_is_written_twice(self):
        write_market(self.path("A.mtx"), [[2.0, 0.0], [0.0, 1.0]])
        write_market(self.path("B.mtx"), [[1.0], [1.0]])
        before = self.text("A.mtx")
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--x", "A.mtx", message="replace")
        self.refuse("solve", "--size", "3", "--x", "both.mtx", "--json", "both.mtx", message="both write")
        for arithmetic in ("exact", "native"):
            self.refuse("lu", "--input", "A.mtx", "--arithmetic", arithmetic, "--l", "F.mtx", "--u", "./F.mtx", message="both write")
        self.refuse("solve", "--size", "3", "--x", "both.mtx", "--trace", "both.mtx", message="both write")
        self.refuse("solve", "--size", "3", "--trace", "both.json", "--json", "both.json", message="both write")
        self.refuse("solve", "--a", "A.mtx", "--b", "B.mtx", "--trace", "A.mtx", message="replace")
        self.refuse("lu", "--input", "A.mtx", "--arithmetic", "native", "--l", "F.mtx", "--trace", "F.mtx", message="both write")
        self.refuse("gemm", "--size", "3", "--output", "F.mtx", "--trace", "./F.mtx", message="both write")
        self.assertFalse(os.path.exists(self.path("F.mtx")))
        self.assertEqual(self.text("A.mtx"), before)

    def test_files_that_are_cut_off_are_refused(self):
        write_market(self.path("A.mtx"), [[2.0, 0.0], [0.0, 1.0]])
        write_market(self.path("B.mtx"), [[1.0], [1.0]])
        with open(self.path("cut.mtx"), "w") as cut:
            cut.write(self.text("A.mtx").rstrip().rpartition("\n")[0] + "\n")
        self.refuse("solve", "--a", "cut.mtx", "--b", "B.mtx", "--x", "X.mtx", message="cut.mtx")
        self.assertFalse(os.path.exists(self.path("X.mtx")))

    def test_empty_systems_and_one_number(self):
        for size in ("0", "1"):
            report = self.succeed("solve", "--size", size, "--certificate", "--correctly-rounded", "--condition", "--determinant",
                                  "--hash", ranks=2)
            self.assertEqual(report["results"]["info"], 0)
            self.assertLess(report["results"]["error_bound"], 1e-15)

    def test_numbers_near_the_ends_of_the_range(self):
        for size in (1e308, 1e-310):
            write_market(self.path("A.mtx"), [[size, size, 0.0], [size, -size, size], [0.0, size, size]])
            write_market(self.path("B.mtx"), [[size], [0.5 * size], [0.0]])
            results = self.succeed("solve", "--a", "A.mtx", "--b", "B.mtx", "--x", "X.mtx", ranks=2)["results"]
            self.assertTrue(results["equilibrated"])
            self.assertLess(results["componentwise_error"], 1e-15)
            # x = (5/6, 1/6, -1/6): of the rows x_0 + x_1, x_0 - x_1 + x_2 and x_1 + x_2.
            for found, expected in zip(read_market(self.path("X.mtx")), (5 / 6, 1 / 6, -1 / 6)):
                self.assertAlmostEqual(found[0], expected, places=12)

    def system(self, A, B, *arguments, succeeds=True, ranks=1):
        """The results of a small system from files."""
        write_market(self.path("A.mtx"), A)
        write_market(self.path("B.mtx"), B)
        call = ("solve", "--a", "A.mtx", "--b", "B.mtx", *arguments)
        return self.succeed(*call, ranks=ranks)["results"] if succeeds else self.run_command(*call, ranks=ranks)

    def test_correctly_rounded_determinants(self):
        # 2^53 + 1 is a tie; large singular matrices are not decided.
        for ranks in (1, 3):
            found = self.system([[2.0**53, -1.0], [1.0, 1.0]], [[1.0], [1.0]], "--determinant", "--correctly-rounded", ranks=ranks)
            self.assertEqual(found["determinant"], {"real": 0.5, "imaginary": 0.0, "exponent": 54, "correctly_rounded": True})
        n = 340
        A = [[1.0 / (2 + (7 * i * i + 13 * i * j + 5 * j) % 1009) for j in range(n)] for i in range(n)]
        for row in A:
            row[9] = row[3]
        done = self.system(A, [[1.0]] * n, "--determinant", "--correctly-rounded", succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertIn("check rounded_determinant: FAILED", done.errors)

    def test_determinants_of_any_grading(self):
        big, small = 2.0**899, 2.0**-899
        for ranks in (1, 3):
            for arithmetic in ("native", "emulated"):
                options = ("--determinant", "--arithmetic", arithmetic)
                found = self.system([[big, big], [small, 2 * small]], [[1.0], [1.0]], *options, ranks=ranks)["determinant"]
                self.assertEqual(found, {"real": 0.5, "imaginary": 0.0, "exponent": 1})
                found = self.system([[1e308, 1e308], [-1e308, 1e308]], [[1e308], [5e307]], *options, "--condition", "--certificate", ranks=ranks)
                self.assertEqual(found["determinant"]["exponent"], 2048)
                self.assertAlmostEqual(found["determinant"]["real"] / float(2 * Fraction(1e308)**2 / 2**2048), 1.0)
                self.assertAlmostEqual(found["condition"], 2.0)
                self.assertLess(found["error_bound"], 1e-15)
        # One report says one thing of a singular matrix.
        done = self.system([[big, big], [small, small]], [[1.0], [1.0]], "--determinant", succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertIn("singular", done.output)
        self.assertIn("determinant 0 2^0", done.output)

    def test_conditions_of_the_matrix_as_given(self):
        found = self.system([[2.0**500, 2.0**500], [2.0**-400, -2.0**-400]], [[1.0], [1.0]], "--condition", ranks=2)
        self.assertAlmostEqual(found["condition"] / 2.0**900, 1.0)
        self.assertAlmostEqual(found["scaled_condition"], 2.0)

    def test_matrices_that_are_singular_but_for_roundings(self):
        done = self.system([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], [[1.0], [2.0], [4.0]], succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertEqual(len(done.errors.strip().splitlines()), 1)
        self.assertIn("check condition: FAILED", done.errors)
        # Large random matrices of float are beyond 1 / (n u), and keep their digits.
        results = self.succeed("solve", "--size", "600", "--scalar", "float", ranks=2)["results"]
        self.assertGreater(results["scaled_condition"], 2.0**24 / 600)
        # All digits are right if a matrix is close to singular by its units alone.
        self.system([[1.0, 2.0**60], [1.0, -2.0**60]], [[1.0], [3.0]], "--certificate", ranks=2)

    def test_right_hand_sides_that_scaling_would_lose(self):
        big, b = 2.0**1000, 2.0**-100
        self.system([[big, 1.0], [big, 2.0]], [[b], [3 * b]], "--x", "X.mtx", ranks=2)
        self.assertEqual(read_market(self.path("X.mtx"))[1][0], 2 * b)

    def test_solutions_that_overflow_are_the_solvers(self):
        done = self.system([[1e-300, 0.0], [0.0, 1.0]], [[1e10], [1.0]], "--x", "X.mtx", succeeds=False)
        self.assertEqual(done.code, 1)
        self.assertIn("solution_in_range", done.errors)
        self.assertNotIn("X.mtx", done.errors)
        self.assertFalse(os.path.exists(self.path("X.mtx")))

    def test_denormal_results(self):
        smallest = 5e-324
        self.system([[smallest]], [[smallest]], "--certificate", "--x", "X.mtx")
        self.assertEqual(read_market(self.path("X.mtx")), [[1.0]])
        results = self.system([[3.0]], [[4 * smallest]], "--x", "X.mtx")
        self.assertEqual(read_market(self.path("X.mtx")), [[smallest]])
        self.assertGreater(results["backward_error"], 0.01)


def exact_determinant(rows):
    rows = [[Fraction(value) for value in row] for row in rows]
    determinant = Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        determinant *= rows[k][k]
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return determinant


STORED = {
    "double": "152773a5f85b97eb2900c9adbcaaf4c4f61688e7eec665cff2cb237107e19c5a",
    "float": "e5317011e9552cb4f1e3685f2b160970fd87a418b7d8a4b4c86d19ca7c3c4401",
    "complex-double": "cb03116516b67617a8b6018e28908e1a2de99877f57aab268a9e190073858cfe",
    "complex-float": "9af5667ef6137b93087583daf36a69c46f2a4b8301a2f8c1c107026f0d93e141",
}

STORED_CHOLESKY = {
    "double": "b4bf9f01c76cd07c12dbc5117a65c7201d6272bb8a1194ba196f90a1647dddcf",
    "float": "b89c27d14aa09940466fad8541f07b094197f5f43216cfa46c6d5d0264e39184",
    "complex-double": "bf8b65c2857d748ca7d5bf54d8dcc013e8452a7de8715c3ca9aadf563b9a4d6a",
    "complex-float": "fbb846856ded33945f9c429bf59253a67912953d84286d0e94e9855b6ccc58ec",
}

if __name__ == "__main__":
    unittest.main()
