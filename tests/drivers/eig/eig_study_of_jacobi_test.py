"""heddle study jacobi."""

import csv
import os
import unittest

from command import CommandTest
from eig_support import import_or_skip


class StudyOfJacobi(CommandTest):
    def test_table(self):
        report = self.succeed("study", "jacobi", "--largest", 16, environment={"OMP_NUM_THREADS": "2"})
        rows = report["results"]["rows"]
        with open(self.path("study_jacobi.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(line for line in file if not line.startswith("#")))
        self.assertEqual([(row["backend"], row["method"], int(row["order"])) for row in table],
                         [(row["backend"], row["method"], row["order"]) for row in rows])
        kinds = {(row["backend"], row["method"]) for row in rows}
        if os.environ.get("HEDDLE_ON_GPU") == "1":
            self.assertEqual({method for _, method in kinds}, {"automatic"})
            return
        self.assertEqual(kinds, {("serial", "cyclic"), ("serial", "automatic"), ("openmp", "automatic")})
        self.assertEqual(len(rows), 12)
        serial = {row["order"]: row["seconds"] for row in rows if row["method"] == "cyclic"}
        for row in rows:
            p = row["processors"]
            self.assertEqual(p, 1 if row["backend"] == "serial" else 2)
            speed_up = serial[row["order"]] / row["seconds"]
            self.assertAlmostEqual(row["speed_up"] / speed_up, 1, delta=1e-6)
            self.assertAlmostEqual(row["efficiency"] / (100 * speed_up / p), 1, delta=1e-6)
            self.assertAlmostEqual(row["cost"] / (p * row["seconds"]), 1, delta=1e-6)
            self.assertAlmostEqual(row["acceleration"], 100 * (speed_up - 1), delta=1e-3 * abs(speed_up) + 1e-3)

    def test_tables_of_one_thread(self):
        if os.environ.get("HEDDLE_ON_GPU") == "1":
            self.skipTest("a GPU has no one thread")
        one = {"OMP_NUM_THREADS": "1"}
        two = {"OMP_NUM_THREADS": "2"}
        common = ["study", "jacobi", "--sizes", "3,8", "--generate", "thesis"]
        self.succeed(*common, "-o", "one.csv", environment=one)
        rows = self.succeed(*common, "--serial-table", "one.csv", "--methods", "round-robin",
                            environment=two)["results"]["rows"]
        self.assertTrue(all("speed_up" in row for row in rows))
        self.assertEqual({row["method"] for row in rows if row["backend"] == "openmp"}, {"round-robin"})
        self.refuse(*common, "--scalar", "float", "--serial-table", "one.csv", environment=two,
                    message="one.csv: was measured with --scalar double, not float")
        self.refuse("study", "jacobi", "--sizes", 3, "--serial-table", "one.csv", environment=two,
                    message="one.csv: was measured with --generate thesis, not kohn-sham")
        self.write("other.csv", "a,b\n1,2\n")
        self.refuse("study", "jacobi", "--sizes", 3, "--serial-table", "other.csv", environment=two,
                    message="other.csv: is no table of heddle study jacobi")
        self.refuse("study", "jacobi", "--sizes", 3, "--methods", "magic", message="--methods: 'magic': expected auto, classical, ")

    def test_scalars_and_deviations(self):
        for scalar in ("float", "double", "complex-float", "complex-double"):
            report = self.succeed("study", "jacobi", "--sizes", "1,2,10", "--generate", "thesis", "--scalar", scalar,
                                  "--methods", "auto,cyclic,blocked", "--repeat", 1)
            rows = report["results"]["rows"]
            unit = 2.0**-24 if "float" in scalar else 2.0**-53
            for row in rows:
                self.assertEqual((row["scalar"], row["matrix"]), (scalar, "thesis"))
                self.assertLessEqual(row["deviation"], 10 * row["order"] * unit, row)
            self.assertEqual(set(report["checks"]), {"residual", "orthogonality", "deviation"})
            if scalar == "float":
                self.assertGreater(max(row["deviation"] for row in rows), 2.0**-53)

    def test_grids_of_three_dimensions(self):
        rows = self.succeed("study", "jacobi", "--generate", "kohn-sham-3d", "--largest", 30, "--repeat", 1)["results"]["rows"]
        self.assertEqual({row["order"] for row in rows}, {8, 27})
        self.refuse("study", "jacobi", "--generate", "kohn-sham-3d", "--sizes", "8,9",
                    message="--sizes: 9: kohn-sham-3d has m x m x m points; expected a cube")
        self.refuse("study", "jacobi", "--generate", "kohn-sham-3d", "--largest", 7, message="--largest 7: expected at least 8")

    def test_joined_tables(self):
        common = ("study", "jacobi", "--sizes", "3,8", "--repeat", 1)
        self.succeed(*common, "--scalar", "float", "-o", "float.csv")
        self.succeed(*common, "--join", "float.csv", "-o", "both.csv")
        tables = {name: self.study_rows("jacobi", name) for name in ("float.csv", "both.csv")}
        self.assertEqual([row for row in tables["both.csv"] if row["scalar"] == "float"], tables["float.csv"])
        self.assertEqual({row["scalar"] for row in tables["both.csv"]}, {"float", "double"})
        if os.environ.get("HEDDLE_ON_GPU") != "1":
            # Rows of one thread that are compared with are not there twice.
            self.succeed(*common, "-o", "one.csv", environment={"OMP_NUM_THREADS": "1"})
            self.succeed(*common, "--serial-table", "one.csv", "--join", "one.csv,float.csv", "-o", "all.csv",
                         environment={"OMP_NUM_THREADS": "2"})
            with open(self.path("all.csv"), encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            keys = [(row["scalar"], row["backend"], row["method"], row["order"]) for row in rows]
            self.assertEqual(len(set(keys)), len(keys))
            self.assertEqual({row["scalar"] for row in rows}, {"float", "double"})
            self.assertIn(("double", "serial", "cyclic", "8"), keys)
        self.write("gemm.csv", "# heddle study gemm, heddle 1\n")
        self.refuse(*common, "--join", "gemm.csv", message="gemm.csv: is no table of heddle study jacobi")

    def test_under_mpirun(self):
        rows = self.succeed("study", "jacobi", "--sizes", "3,5", ranks=0)["results"]["rows"]
        self.assertGreaterEqual(len(rows), 2)

    def test_picture(self):
        import_or_skip(self, "matplotlib")
        self.succeed("study", "jacobi", "--largest", 16, "--plot", "jacobi.png")
        result = self.run_command("plot", "study_jacobi.csv", "-o", "again.png")
        self.assertEqual(result.code, 0, result.errors)
        for name in ("jacobi.png", "again.png"):
            self.assert_picture(name)


if __name__ == "__main__":
    unittest.main()
