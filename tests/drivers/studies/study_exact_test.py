"""heddle study exact."""

import unittest

from command import CommandTest

SMALL = ("--lengths", "50,300", "--sizes", "12,40", "--repeat", 1)
OPERATIONS = ("sum", "dot", "gemv", "gemv-tall", "gemv-wide", "trsv", "lu", "lu-unblocked", "lu-batched", "gemm")


class StudyExact(CommandTest):
    def rows(self, name):
        return self.study_rows("exact", name)

    def test_exact_algorithms_find_the_same_numbers_and_plain_ones_others(self):
        report = self.succeed("study", "exact", *SMALL, "--scalars", "float,complex-double", "--range", 40, "-o", "s.csv")
        rows = self.rows("s.csv")
        self.assertEqual(len(rows), len(report["results"]["rows"]))
        keys = [(row["scalar"], row["operation"], row["size"], row["algorithm"]) for row in rows]
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual({row["operation"] for row in rows}, set(OPERATIONS))
        plain = {key[:3]: row for key, row in zip(keys, rows) if key[3] == "plain"}
        for row in rows:
            self.assertGreater(float(row["seconds"]), 0)
            if row["algorithm"] not in ("twice", "plain"):
                self.assertEqual(row["differing"], "0", row)
            of_plain = plain.get((row["scalar"], row["operation"], row["size"]))
            if of_plain:
                self.assertAlmostEqual(float(row["over_plain"]) * float(of_plain["seconds"]) / float(row["seconds"]), 1,
                                       delta=1e-6)
            else:
                self.assertEqual(row["over_plain"], "")
        self.assertGreater(sum(int(row["differing"]) for row in plain.values()), 0)
        self.assertEqual(report["checks"]["numbers_that_exact_algorithms_round_differently"]["value"], 0)
        # LU by others than the automatic way is there on CPUs alone.
        if "CPU thread" in rows[0]["device"]:
            self.assertEqual(len([key for key in keys if key[:3] == ("float", "lu-unblocked", "40")]), 7)
        self.assertEqual(len([key for key in keys if key[:3] == ("float", "gemm", "12")]), 7)

    def test_tables_of_other_runs_are_joined_and_drawn(self):
        small = ("study", "exact", "--operations", "sum,gemv", "--algorithms", "auto,plain", *SMALL)
        self.succeed(*small, "--scalars", "float", "-o", "float.csv")
        self.succeed(*small, "-o", "both.csv", "--join", "float.csv", "--plot", "both.png")
        self.assertEqual([row for row in self.rows("both.csv") if row["scalar"] == "float"], self.rows("float.csv"))
        self.assertEqual({row["scalar"] for row in self.rows("both.csv")}, {"double", "float"})
        self.succeed("plot", "both.csv", "-o", "again.png")
        for name in ("both.png", "again.png"):
            self.assert_picture(name)

    def test_other_libraries_are_beside_where_they_are_found(self):
        for peer, of_none in (("reproblas", ("trsv", "lu")), ("mkl", ("sum",))):
            small = ("study", "exact", "--operations", "sum,dot,gemv,trsv,lu,gemm", "--algorithms", "auto,plain",
                     "--scalars", "double,complex-float", "--peers", peer, *SMALL, "-o", f"{peer}.csv")
            result = self.run_command(*small)
            if result.code:
                self.assertRegex(result.errors, rf"^heddle: --peers {peer}: (not found; .*(LD_LIBRARY_PATH|REPROBLAS_ROOT).*|"
                                                r"expected a build for CPUs.*)\n$")
                continue
            rows = self.rows(f"{peer}.csv")
            with_peer = {row["operation"] for row in rows if row["algorithm"] == peer}
            self.assertEqual(with_peer, {"sum", "dot", "gemv", "trsv", "lu", "gemm"} - set(of_none))
            # In matrices this small, many elements are rounded as ours; a wrong computation would have none.
            for row in rows:
                if row["algorithm"] == peer and row["size"] == "12":
                    numbers = (12 if row["operation"] in ("gemv", "trsv") else 144) * (1 + (row["scalar"] != "double"))
                    self.assertLess(int(row["differing"]), numbers, row)

    def test_refusals(self):
        self.refuse("study", "exact", "--peers", "nag", message="reproblas")
        self.refuse("study", "exact", "--operations", "ger", message="gemv-tall")
        self.refuse("study", "exact", "--algorithms", "expansion-9", message="expansion-8")
        self.refuse("study", "exact", *SMALL, ranks=2, message="expected one rank, got 2")
        with open(self.path("other.csv"), "w", encoding="utf-8") as file:
            file.write("# heddle study gemm, heddle 1\n")
        self.refuse("study", "exact", *SMALL, "--join", "other.csv", message="is no table of heddle study exact")
        self.succeed("study", "exact", "--operations", "sum", "--algorithms", "plain", "--lengths", 9, "--repeat", 1,
                     "-o", "one.csv")
        result = self.run_command("plot", "one.csv")
        self.assertEqual(result.code, 1)
        self.assertIn("one.csv: has no times of other algorithms than plain", result.errors)

    def test_a_picture_of_what_has_no_plain_times(self):
        self.need("matplotlib")
        # Builds for GPUs have no plain LU.
        self.succeed("study", "exact", "--operations", "sum,lu", "--algorithms", "auto", "--lengths", "9,90", "--sizes", "5,9",
                     "--repeat", 1, "-o", "auto.csv", "--plot", "auto.png")
        self.assert_picture("auto.png")


if __name__ == "__main__":
    unittest.main()
