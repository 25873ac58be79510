"""heddle study gemm."""

import json
import unittest

from command import ON_GPU, CommandTest

SMALL = ("--sizes", "48,96", "--tiles", "16,48", "--repeat", 1)


class StudyGemm(CommandTest):
    def rows(self, name):
        return self.study_rows("gemm", name)

    @staticmethod
    def published_tile(row):
        """Equation (9) from the bounds of (6) and (8), or a rank's share where no tile meets it."""
        share = -(-int(row["size"]) // int(row["ranks"]))
        if not row["memory_bound"]:
            return share
        return min(max(int(row["memory_bound"]), int(row["transfer_bound"])), share)

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
            self.assertIn(self.published_tile(of_kind[0]), map(int, tiles))
        for row in rows:
            self.assertEqual((row["ranks"], row["method"], row["math"]), ("3", "heddle", "auto"))
            flops = (8 if row["scalar"].startswith("complex") else 2) * int(row["size"]) ** 3
            self.assertAlmostEqual(float(row["gflops"]) * float(row["seconds"]) * 1e9 / flops, 1, delta=1e-4)
            self.assertAlmostEqual(float(row["nominal_share"]) / (float(row["gflops"]) / 3e4), 1, delta=1e-4)
            self.assertGreater(float(row["predicted_seconds"]), 0)
            self.assertGreater(float(row["peak_share"]), 0)
            self.assertGreaterEqual(int(row["transfer_bound"]), 1)
            self.assertEqual(int(row["published_tile"]), self.published_tile(row))
            self.assertAlmostEqual(float(row["gflops"]) / (3 * float(row["peak_gflops"])), float(row["peak_share"]),
                                   delta=1e-4 * float(row["peak_share"]))
            self.assertGreater(float(row["bytes_received"]), 0)
            self.assertTrue(0 <= float(row["hidden_share"]) <= 1)
        self.assertLessEqual(report["checks"]["product_over_bound"]["value"], 1)

    def test_real_and_imaginary_parts_on_ranks_of_their_own(self):
        words = ("study", "gemm", "--sizes", 96, "--tiles", 32, "--repeat", 1, "--placements", "parts,whole", "-o", "s.csv")
        report = self.succeed(*words, "--scalars", "double,complex-double,complex-float", ranks=3)
        rows = self.rows("s.csv")
        kinds = {(row["scalar"], row["placement"]) for row in rows}
        self.assertEqual(kinds, {("double", "whole"), *((scalar, placement) for scalar in ("complex-double", "complex-float")
                                                        for placement in ("parts", "whole"))})
        self.assertLessEqual(report["checks"]["product_over_bound"]["value"], 1)
        for scalar in ("complex-double", "complex-float"):
            parts, whole = (next(row for row in rows if (row["scalar"], row["placement"], row["tile"]) == (scalar, where, "32"))
                            for where in ("parts", "whole"))
            # Each part is an operand of two of the four products, and goes home from two.
            self.assertGreater(float(parts["bytes_received"]), 1.5 * float(whole["bytes_received"]))
            self.assertAlmostEqual(float(parts["gflops"]) * float(parts["seconds"]), 8 * 96**3 / 1e9, delta=1e-6)
            self.assertLessEqual(float(parts["hidden_share"]), 1)
        self.refuse(*words, "--scalars", "double", message="--placements parts is for --scalars complex-double")

    def test_products_may_be_left_unchecked(self):
        report = self.succeed("study", "gemm", *SMALL, "--placements", "bands", "--no-check", "-o", "s.csv", ranks=2)
        self.assertNotIn("product_over_bound", report["checks"])
        self.assertEqual(len(self.rows("s.csv")), len(report["results"]["rows"]))

    def test_tables_of_other_ranks_are_joined(self):
        self.succeed("study", "gemm", *SMALL, "--placements", "bands", "-o", "two.csv", ranks=2)
        self.succeed("study", "gemm", *SMALL, "--placements", "bands", "-o", "both.csv", "--join", "two.csv")
        two = self.rows("two.csv")
        both = self.rows("both.csv")
        alone = [row for row in both if row["ranks"] == "1"]
        self.assertEqual([row for row in both if row["ranks"] == "2"], two)
        self.assertEqual(len({row["device"] for row in both}), 1)
        self.assertEqual(len(both), len(two) + len(alone))
        for row in alone:
            self.assertEqual(row["hidden_share"], "")
            if not ON_GPU:
                self.assertEqual(row["nominal_share"], "")
        self.succeed("plot", "both.csv", "-o", "both.png")
        self.assert_picture("both.png")

    def test_the_table_and_the_report_say_the_same(self):
        report = self.succeed("study", "gemm", *SMALL, "--placements", "whole", "-o", "s.csv", ranks=2)
        for row, reported in zip(self.rows("s.csv"), report["results"]["rows"], strict=True):
            for name, cell in row.items():
                value = reported.get(name, "")
                if isinstance(value, bool):
                    value = int(value)
                if isinstance(value, float):
                    self.assertAlmostEqual(float(cell), value, delta=1e-8 * abs(value), msg=name)
                else:
                    self.assertEqual(cell, str(value), name)

    def test_plain_is_what_a_cpu_has_and_other_modes_are_refused(self):
        self.succeed("study", "gemm", *SMALL, "--placements", "bands", "--math", "auto,plain", "-o", "s.csv")
        rows = self.rows("s.csv")
        for mode in ("auto", "plain"):
            self.assertEqual({row["size"] for row in rows if row["math"] == mode}, {"48", "96"})
        self.succeed("plot", "s.csv", "-o", "s.png")
        if ON_GPU:
            return
        for mode in ("tensor", "tf32"):
            self.refuse("study", "gemm", "--sizes", 8, "--math", mode,
                        message=f"math mode {mode}: CPUs have one arithmetic; expected plain or auto")
        self.refuse("study", "gemm", "--sizes", 8, "--math", "fp16", message="auto, tensor, plain or tf32")

    def test_peers_multiply_the_same_matrices(self):
        self.refuse("study", "gemm", "--sizes", 8, "--peers", "magma", message="cublasxt, cublasmp, scalapack or cosma")
        report = self.succeed("study", "gemm", "--sizes", "40,100", "--placements", "blocks", "--repeat", 1,
                              "--scalars", "double,float,complex-double,complex-float", "--peers", "scalapack",
                              "-o", "p.csv", ranks=2)
        rows = self.rows("p.csv")
        peers = [row for row in rows if row["method"] == "scalapack"]
        if "peers_left_out" in report["results"]:
            self.assertRegex(report["results"]["peers_left_out"]["scalapack"], "libscalapack-openmpi-dev|can't be loaded")
            self.assertEqual(peers, [])
            return
        for scalar in ("double", "float", "complex-double", "complex-float"):
            for size, blocks in (("40", ["40"]), ("100", ["64", "100"])):
                found = [row for row in peers if (row["scalar"], row["size"]) == (scalar, size)]
                self.assertEqual([row["tile"] for row in found], blocks)
                self.assertEqual([row["chosen"] for row in found].count("1"), 1)
        for row in peers:
            self.assertEqual((row["placement"], row["grid"]), ("cyclic", "1x2"))
            self.assertGreater(float(row["gflops"]), 0)
            for name in ("predicted_seconds", "hidden_share", "memory_bound", "transfer_bound", "published_tile",
                         "bands_per_pass"):
                self.assertEqual(row[name], "", name)
        self.succeed("plot", "p.csv", "-o", "p.png")

    @unittest.skipIf(ON_GPU, "builds for GPUs have some of them")
    def test_absent_peers_are_left_out_and_their_packages_named(self):
        packages = {"cublasxt": "nvidia-cuda-toolkit", "cublasmp": "nvidia-cublasmp-cu12"}
        done = self.run_command("study", "gemm", *SMALL, "--placements", "bands", "--peers", ",".join(packages), "-o", "s.csv",
                                "--json", "s.json", ranks=2, fresh=True)
        # A failed job would have mpirun's own words around the line.
        self.assertEqual((done.code, done.complaints), (0, []))
        self.assertNotRegex(done.errors, "mpirun|MPI_ABORT|exit code")
        with open(self.path("s.json"), encoding="utf-8") as file:
            left_out = json.load(file)["results"]["peers_left_out"]
        self.assertEqual(set(left_out), set(packages))
        for peer, package in packages.items():
            lines = [line for line in done.output.splitlines() if line.startswith(f"left out: --peers {peer}: ")]
            self.assertEqual(lines, ["left out: " + left_out[peer]])
            self.assertIn(package, lines[0])
        self.assertEqual({row["method"] for row in self.rows("s.csv")}, {"heddle"})

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
