"""heddle study gemm."""

import csv
import unittest

from command import CommandTest

SMALL = ("--sizes", "48,96", "--tiles", "16,48", "--repeat", 1)


class StudyGemm(CommandTest):
    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith("# heddle study gemm, heddle "))
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def test_every_size_placement_and_scalar_is_there_once_with_its_model_tile(self):
        report = self.succeed("study", "gemm", *SMALL, "--placements", "bands,whole,one,blocks", "--scalars",
                              "double,complex-float", "--nominal", 1e4, "-o", "s.csv", ranks=3)
        rows = self.rows("s.csv")
        self.assertEqual(len(rows), len(report["results"]["rows"]))
        kinds = {(row["scalar"], row["placement"], row["size"]) for row in rows}
        self.assertEqual(len(kinds), 2 * 4 * 2)
        for kind in kinds:
            of_kind = [row for row in rows if (row["scalar"], row["placement"], row["size"]) == kind]
            tiles = [int(row["tile"]) for row in of_kind]
            self.assertEqual(len(set(tiles)), len(tiles))
            self.assertLessEqual({16, 48}, set(tiles))
            self.assertEqual([row["chosen"] for row in of_kind].count("1"), 1)
        for row in rows:
            self.assertEqual(row["ranks"], "3")
            flops = (8 if row["scalar"].startswith("complex") else 2) * int(row["size"]) ** 3
            self.assertAlmostEqual(float(row["gflops"]) * float(row["seconds"]) * 1e9 / flops, 1, delta=1e-4)
            self.assertAlmostEqual(float(row["nominal_share"]) / (float(row["gflops"]) / 3e4), 1, delta=1e-4)
            self.assertGreater(float(row["predicted_seconds"]), 0)
            self.assertGreater(float(row["peak_share"]), 0)
            self.assertGreaterEqual(int(row["transfer_bound"]), 1)
            self.assertGreater(float(row["bytes_received"]), 0)
            self.assertTrue(0 <= float(row["hidden_share"]) <= 1)
        self.assertLessEqual(report["checks"]["product_over_bound"]["value"], 1)

    def test_tables_of_other_ranks_are_joined(self):
        self.succeed("study", "gemm", *SMALL, "--placements", "bands", "-o", "two.csv", ranks=2)
        self.succeed("study", "gemm", *SMALL, "--placements", "bands", "-o", "both.csv", "--join", "two.csv")
        two = self.rows("two.csv")
        both = self.rows("both.csv")
        alone = [row for row in both if row["ranks"] == "1"]
        self.assertEqual([row for row in both if row["ranks"] == "2"], two)
        self.assertEqual(len(both), len(two) + len(alone))
        for row in alone:
            self.assertEqual(row["hidden_share"], "")
            self.assertEqual(row["nominal_share"], "")
        self.succeed("plot", "both.csv", "-o", "both.png")
        with open(self.path("both.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_refusals(self):
        self.refuse("study", "gemm", "--placements", "diagonal", message="bands, whole, one, blocks")
        self.refuse("study", "gemm", "--largest", 100, message="--largest 100: expected at least 256")
        self.refuse("study", "gemm", "--sizes", 8, "--join", "none.csv", message="none.csv")
        with open(self.path("other.csv"), "w", encoding="utf-8") as file:
            file.write("# heddle study jacobi\n")
        self.refuse("study", "gemm", "--sizes", 8, "--join", "other.csv", message="is no table of heddle study gemm")
        with open(self.path("short.csv"), "w", encoding="utf-8") as file:
            file.write("# heddle study gemm\ndevice,ranks\n")
        self.refuse("study", "gemm", "--sizes", 8, "--join", "short.csv", message="short.csv, line 2: expected device")


if __name__ == "__main__":
    unittest.main()
