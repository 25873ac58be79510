"""heddle study exact-errors."""

import unittest
from fractions import Fraction

from command import CommandTest, read_market

SMALL = ("--size", 30, "--problems", 1)


class StudyExactErrors(CommandTest):
    def rows(self, name):
        return self.study_rows("exact-errors", name)

    def column(self, name):
        return [Fraction(row[0]) for row in read_market(self.path(name))]

    def test_errors_are_those_of_exact_arithmetic(self):
        self.succeed("study", "exact-errors", *SMALL, "--conditions", 1e9, "--seed", 4, "--operations", "dot,trsv", "-o",
                     "s.csv")
        errors = {(row["operation"], row["algorithm"], row["refinements"], row["block_refinements"]): float(row["error"])
                  for row in self.rows("s.csv")}
        made = ("--size", 30, "--condition", 1e9, "--seed", 4)
        self.succeed("generate", "dot", *made, "-o", "x.mtx", "--vector", "y.mtx")
        exact = sum(x * y for x, y in zip(self.column("x.mtx"), self.column("y.mtx")))
        found = self.succeed("dot", "--x", "x.mtx", "--y", "y.mtx")["results"]["value"]
        self.assertAlmostEqual(errors["dot", "auto", "0", "0"] / float(abs(Fraction(found) - exact) / abs(exact)), 1,
                               delta=1e-6)
        self.succeed("generate", "triangular", *made, "-o", "A.mtx", "--vector", "b.mtx")
        A = read_market(self.path("A.mtx"))
        x = []
        for row, right in zip(A, self.column("b.mtx")):
            x.append((right - sum(Fraction(a) * known for a, known in zip(row, x))) / Fraction(row[len(x)]))
        for algorithm, refinements in (("auto", 0), ("auto", 1), ("plain", 0)):
            self.succeed("trsv", "--a", "A.mtx", "--b", "b.mtx", "--algorithm", algorithm, "--refinements", refinements,
                         "-o", "x.mtx")
            worst = max(abs(found - known) for found, known in zip(self.column("x.mtx"), x))
            self.assertAlmostEqual(errors["trsv", algorithm, str(refinements), "0"] / float(worst / max(map(abs, x))), 1,
                                   delta=1e-6)

    def test_what_is_rounded_once_keeps_its_digits_and_plain_loses_them(self):
        report = self.succeed("study", "exact-errors", *SMALL, "--conditions", "1e4,1e25,1e300", "-o", "s.csv")
        rows = self.rows("s.csv")
        self.assertEqual(len(rows), len(report["results"]["rows"]))
        self.assertEqual({row["operation"] for row in rows}, {"dot", "gemv", "trsv", "lu"})
        for row in rows:
            error, condition = float(row["error"]), float(row["condition"])
            self.assertLessEqual(error, 1)
            if row["operation"] in ("dot", "gemv") and row["algorithm"] == "auto":
                self.assertLessEqual(error, 2.0**-53)
            if row["operation"] in ("dot", "gemv") and row["algorithm"] == "plain" and condition > 1e20:
                self.assertGreater(error, 0.1)
            # Sums are exact, so that what is lost is lost once, in rounding x.
            if row["operation"] == "trsv" and row["algorithm"] == "auto":
                allowed = 2.0**-53 * (1 + 100 * condition * 2.0 ** (-53 if row["refinements"] != "0" else 0))
                self.assertLessEqual(error, allowed, row)
            if row["operation"] == "lu":
                self.assertLess(error, 1e-13)
        self.assertLessEqual(report["checks"]["error_of_products_rounded_once"]["value"], 2.0**-53)

    def test_tables_of_other_runs_are_joined_and_drawn(self):
        small = ("study", "exact-errors", *SMALL, "--conditions", "10,1e300", "--operations", "dot,lu")
        self.succeed(*small, "--algorithms", "plain", "-o", "plain.csv")
        self.succeed(*small, "--algorithms", "auto", "-o", "both.csv", "--join", "plain.csv", "--plot", "both.png")
        rows = self.rows("both.csv")
        self.assertEqual([row for row in rows if row["algorithm"] == "plain"], self.rows("plain.csv"))
        self.assertEqual({row["algorithm"] for row in rows}, {"auto", "plain"})
        self.succeed("plot", "both.csv", "-o", "again.png")
        for name in ("both.png", "again.png"):
            self.assert_picture(name)

    def test_refusals(self):
        self.refuse("study", "exact-errors", "--operations", "gemm", message="trsv")
        self.refuse("study", "exact-errors", *SMALL, "--conditions", 1e301, message="at most 1e300")
        self.refuse("study", "exact-errors", *SMALL, "--conditions", 0.5, message="0.5")
        self.refuse("study", "exact-errors", *SMALL, ranks=2, message="expected one rank, got 2")
        with open(self.path("other.csv"), "w", encoding="utf-8") as file:
            file.write("# heddle study exact, heddle 1\n")
        self.refuse("study", "exact-errors", *SMALL, "--join", "other.csv",
                    message="is no table of heddle study exact-errors")


if __name__ == "__main__":
    unittest.main()
