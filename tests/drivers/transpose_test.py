"""heddle transpose and heddle study transpose."""

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

    def test_variants(self):
        rows = random_matrix(random.Random(5), 37, 22, True)
        write_market(self.path("A.mtx"), rows)
        for variant in ("auto", "naive", "tiled", "tiled-padded", "streamed"):
            blocks = () if variant in ("auto", "streamed") else ("--block-rows", 4, "--block-columns", 16)
            for ranks in (1, 2):
                with self.subTest(variant=variant, ranks=ranks):
                    report = self.succeed("transpose", "-i", "A.mtx", "-o", "B.mtx", "--op", "C", "--variant", variant,
                                          *blocks, ranks=ranks)
                    self.assertEqual(read_market(self.path("B.mtx")), transpose(rows, conjugate=True))
                    self.assertEqual(report["inputs"]["variant"], variant)
        self.assertIn(", op T, tiled-padded, 1 rank: ",
                      self.run_command("transpose", "--size", 9, "--variant", "tiled-padded").output)
        self.refuse("transpose", "--size", 3, "--variant", "magic", message="naive, tiled, tiled-padded or streamed")
        self.refuse("transpose", "--size", 3, "--op", "N", "--variant", "tiled", message="expected --op T or C")
        self.refuse("transpose", "--size", 3, "--block-rows", 4, message="expected --variant naive, tiled or .*; got auto")
        self.refuse("transpose", "--size", 3, "--variant", "streamed", "--block-columns", 4, message="got streamed")
        self.refuse("transpose", "--size", 3, "--variant", "naive", "--block-rows", 0, message="--block-rows")

    def test_refusals(self):
        self.refuse("transpose", message="--input")
        self.refuse("transpose", "--size", 3, "--op", "H", message="T, C or N")
        self.refuse("transpose", "--input", "none.mtx", message="none.mtx")
        self.refuse("transpose", "--size", 3, "--output", "B.dat", message="B.dat")


class Study(CommandTest):
    SMALL = ("study", "transpose", "--rows", 70, "--columns", 50, "--largest", 4, "--repeat", 1)

    def rows(self, name):
        return self.study_rows("transpose", name)

    def test_table(self):
        report = self.succeed("study", "transpose", "--rows", 70, "--columns", 50, "--largest", 8, "--output", "s.csv")
        rows = self.rows("s.csv")
        self.assertEqual(len(rows), 2 * (3 + 3 * 4 * 4))
        for scalar, size in (("float", 4), ("double", 8)):
            own = [row for row in rows if row["scalar"] == scalar]
            self.assertEqual([row["variant"] for row in own],
                             ["sequential", "copy"] + [name for name in ("naive", "tiled", "tiled-padded")
                                                       for _ in range(16)] + ["automatic"])
            sequential, copy = (float(row["seconds"]) for row in own[:2])
            for row in own:
                self.assertEqual((row["rows"], row["columns"]), ("70", "50"))
                seconds = float(row["seconds"])
                for column, expected in (("speed_up", sequential / seconds), ("share_of_copy", copy / seconds),
                                         ("gbytes_per_second", 2 * size * 70 * 50 / seconds / 1e9)):
                    self.assertAlmostEqual(float(row[column]) / expected, 1, delta=1e-4)
                if row["variant"] in ("naive", "tiled", "tiled-padded"):
                    self.assertGreaterEqual(float(row["read_transactions"]), 1)
                else:
                    self.assertEqual((row["block_rows"], row["read_transactions"]), ("", ""))
        best = report["results"]["best"]
        self.assertEqual([(one["scalar"], one["variant"]) for one in best],
                         [(scalar, name) for scalar in ("float", "double") for name in ("naive", "tiled", "tiled-padded")])
        for one in best:
            least = min(float(row["seconds"]) for row in rows
                        if (row["scalar"], row["variant"]) == (one["scalar"], one["variant"]))
            self.assertAlmostEqual(one["seconds"] / least, 1, delta=1e-5)
        self.assertEqual(report["checks"]["wrong_elements"]["value"], 0)

    def test_only_some_variants_of_all_scalars(self):
        report = self.succeed(*self.SMALL, "--scalars", "complex-float,complex-double", "--variants", "tiled", "-o", "s.csv")
        self.assertEqual(len(self.rows("s.csv")), 2 * (3 + 9))
        self.assertEqual([one["variant"] for one in report["results"]["best"]], ["tiled", "tiled"])
        self.succeed("study", "transpose", "--rows", 1, "--columns", 1, "--largest", 1, "--repeat", 1)

    def test_milliseconds_of_every_block(self):
        result = self.run_command(*self.SMALL, "--scalars", "float", "--milliseconds", "-o", "s.csv")
        self.assertEqual(result.code, 0, result.errors)
        rows = [row for row in self.rows("s.csv") if row["block_rows"]]
        lines = result.output.splitlines()
        for variant in ("naive", "tiled", "tiled-padded"):
            at = next(k for k, line in enumerate(lines)
                      if line.startswith(f"milliseconds of {variant}, 70 x 50 float on "))
            self.assertEqual(lines[at + 1].split(), ["1", "2", "4"])  # rows of a block
            marked = []
            for line, width in zip(lines[at + 2:at + 5], ("1", "2", "4")):
                first, *cells = line.replace("*", " ").split()
                self.assertEqual(first, width)
                for height, cell in zip(("1", "2", "4"), cells, strict=True):
                    seconds = next(float(row["seconds"]) for row in rows
                                   if (row["variant"], row["block_rows"], row["block_columns"]) == (variant, height, width))
                    self.assertAlmostEqual(float(cell) / (1e3 * seconds), 1, delta=0.01)
                if "*" in line:
                    marked.append(float(line.split("*")[1].split()[0]))
            least = min(float(row["seconds"]) for row in rows if row["variant"] == variant)
            self.assertEqual(len(marked), 1)
            self.assertAlmostEqual(marked[0] / (1e3 * least), 1, delta=0.01)
        self.assertNotIn("milliseconds of naive", self.run_command(*self.SMALL, "-o", "s.csv").output)

    def test_other_devices_are_joined(self):
        self.succeed(*self.SMALL, "--scalars", "float", "-o", "one.csv")
        one = self.rows("one.csv")
        with open(self.path("one.csv"), encoding="utf-8") as file:
            text = file.read()
        with open(self.path("gpu.csv"), "w", encoding="utf-8") as file:
            file.write(text.replace(f"\n{one[0]['device']},", "\nA GPU,"))
        report = self.succeed(*self.SMALL, "-o", "both.csv", "--join", "gpu.csv")
        rows = self.rows("both.csv")
        self.assertEqual(rows[-len(one):], self.rows("gpu.csv"))
        speed_ups = {(row["device"], row["scalar"], row["variant"]): row["speed_up"]
                     for row in report["results"]["speed_ups"]}
        self.assertEqual({key[:2] for key in speed_ups}, {(one[0]["device"], "float"), (one[0]["device"], "double"),
                                                          ("A GPU", "float")})
        of_gpu = max(float(row["speed_up"]) for row in one if row["variant"] == "tiled")
        self.assertAlmostEqual(speed_ups["A GPU", "float", "tiled"] / of_gpu, 1, delta=1e-5)
        output = self.run_command(*self.SMALL, "-o", "both.csv", "--join", "gpu.csv").output
        self.assertRegex(output, r"device +matrix +sequential +naive +tiled +tiled-padded +automatic\n")
        self.assertRegex(output, r"\nA GPU +70 x 50 float +[0-9.e-]+( +[0-9.e-]+ \( *[0-9.e+]+ x\)){4}\n")

    def test_picture(self):
        try:
            import matplotlib  # Not everywhere.
            import numpy
        except ImportError:
            self.skipTest("no matplotlib or numpy")
        del matplotlib, numpy
        self.succeed(*self.SMALL, "--plot", "s.png")
        self.assert_picture("s.png")
        result = self.run_command("plot", "study_transpose.csv")
        self.assertEqual((result.code, result.output), (0, "wrote study_transpose.png\n"), result.errors)
        self.assertTrue(os.path.exists(self.path("study_transpose.png")))

    def test_refusals(self):
        self.refuse("study", message="study")
        self.refuse("study", "transpose", "--rows", 0, message="--rows")
        self.refuse("study", "transpose", "--scalars", "half", message="float, double")
        self.refuse("study", "transpose", "--variants", "streamed", message="naive, tiled or tiled-padded")
        self.refuse("study", "transpose", "--output", "nowhere/s.csv", message="nowhere")
        self.refuse("study", "transpose", "--rows", 9, "--columns", 9, ranks=2, message="one rank")
        self.refuse(*self.SMALL, "-o", "s.csv", "--plot", "s.csv", message="--output and --plot both write s.csv")
        self.refuse(*self.SMALL, "--join", "none.csv", message="none.csv: is no table of heddle study transpose")
        self.succeed(*self.SMALL, "--scalars", "float", "-o", "one.csv")
        self.refuse(*self.SMALL, "-o", "one.csv", "--join", "one.csv", message="one.csv")
        with open(self.path("one.csv"), encoding="utf-8") as file:
            text = file.read()
        with open(self.path("bad.csv"), "w", encoding="utf-8") as file:
            file.write(text.replace(",70,50,sequential,,,", ",70,50,sequential,,,-"))
        self.refuse(*self.SMALL, "--join", "bad.csv", message="bad.csv: '.*': expected a row of device,processor,scalar")


if __name__ == "__main__":
    unittest.main()
