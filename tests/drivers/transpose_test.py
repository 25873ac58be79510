"""heddle transpose and heddle study transpose."""

import csv
import os
import random
import unittest

from command import CommandTest, random_matrix, read_market, transpose, write_market


class Transpose(CommandTest):
    def test_files(self):
        for complex_numbers in (False, True):
            rows = random_matrix(random.Random(3), 7, 4, complex_numbers)
            write_market(self.path("A.mtx"), rows)
            for ranks in (1, 3):
                for op, expected in (("T", transpose(rows)), ("C", transpose(rows, conjugate=True)), ("N", rows)):
                    with self.subTest(ranks=ranks, op=op, complex_numbers=complex_numbers):
                        report = self.succeed("transpose", "--input", "A.mtx", "--output", "B.mtx", "--op", op,
                                              ranks=ranks)
                        self.assertEqual(read_market(self.path("B.mtx")), expected)
                        self.assertEqual(report["inputs"]["rows"], 7)
                        self.assertEqual(report["inputs"]["columns"], 4)
                        self.assertEqual(report["inputs"]["scalar"], "complex-double" if complex_numbers else "double")

    def test_there_and_back_through_hdf5(self):
        rows = random_matrix(random.Random(4), 5, 9, False)
        write_market(self.path("A.mtx"), rows)
        self.succeed("transpose", "--input", "A.mtx", "--output", "B.h5", "--place", "cyclic:2x3", ranks=2)
        self.succeed("transpose", "--input", "B.h5", "--output", "C.mtx")
        self.assertEqual(read_market(self.path("C.mtx")), rows)

    def test_of_random_matrices(self):
        report = self.succeed("transpose", "--size", 65, "--repeat", 2, "--scalar", "complex-float", ranks=2)
        self.assertEqual(len(report["results"]["seconds_of_each"]), 2)
        self.assertEqual(report["checks"]["differing_after_twice"]["value"], 0)
        self.succeed("transpose", "--size", 0)

    def test_refusals(self):
        self.refuse("transpose", message="--input")
        self.refuse("transpose", "--size", 3, "--op", "H", message="T, C or N")
        self.refuse("transpose", "--input", "none.mtx", message="none.mtx")
        self.refuse("transpose", "--size", 3, "--output", "B.dat", message="B.dat")


class Study(CommandTest):
    def test_table(self):
        report = self.succeed("study", "transpose", "--rows", 70, "--columns", 50, "--largest", 8, "--output", "s.csv")
        with open(self.path("s.csv"), encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith("# heddle study transpose, heddle "))
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.assertEqual(len(rows), 3 * 4 * 4)
        self.assertEqual({row["variant"] for row in rows}, {"naive", "tiled", "tiled-padded"})
        for row in rows:
            self.assertGreater(float(row["gbytes_per_second"]), 0)
            self.assertGreaterEqual(float(row["read_transactions"]), 1)
        self.assertEqual([best["variant"] for best in report["results"]["best"]], ["naive", "tiled", "tiled-padded"])
        self.assertEqual(report["checks"]["wrong_elements"]["value"], 0)

    def test_picture(self):
        try:
            import matplotlib  # Not everywhere.
            import numpy
        except ImportError:
            self.skipTest("no matplotlib or numpy")
        del matplotlib, numpy
        self.succeed("study", "transpose", "--rows", 40, "--columns", 40, "--largest", 4, "--plot", "s.png")
        with open(self.path("s.png"), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x89PNG"))
        result = self.run_command("plot", "study_transpose.csv")
        self.assertEqual((result.code, result.output), (0, "wrote study_transpose.png\n"), result.errors)
        self.assertTrue(os.path.exists(self.path("study_transpose.png")))

    def test_refusals(self):
        self.refuse("study", message="study")
        self.refuse("study", "transpose", "--rows", 0, message="--rows")
        self.refuse("study", "transpose", "--output", "nowhere/s.csv", message="nowhere")
        self.refuse("study", "transpose", "--rows", 9, "--columns", 9, ranks=2, message="one rank")


if __name__ == "__main__":
    unittest.main()
