"""heddle predict: what it says of a cluster, against sums by hand, and what it refuses."""

import csv
import unittest

from command import CommandTest


class Predict(CommandTest):
    def results(self, *arguments):
        return self.succeed("predict", "gemm", *arguments)["results"]

    def test_one_gpu_takes_the_time_of_its_products(self):
        found = self.results("--gpus-per-node", "1", "--size", "16384")
        self.assertEqual(found["grid"], "1x1")
        self.assertEqual(found["bytes_between_nodes"], 0)
        self.assertEqual(found["bytes_received"], 0)
        self.assertEqual(found["bottleneck"], "products")
        # 62 TFLOP/s at most.
        self.assertGreaterEqual(found["seconds"], 2 * 16384**3 / 62e12)
        self.assertLessEqual(found["seconds"], 1.5 * 2 * 16384**3 / 62e12)
        self.assertGreaterEqual(found["memory_bytes"], 3 * 8 * 16384**2)

    def test_bytes_of_one_column_are_those_of_the_formula(self):
        # A and C in row bands, B in column bands: every rank receives all of B but its own.
        found = self.results("--nodes", "4", "--gpus-per-node", "2", "--size", "16384", "--grid", "8x1", "--tile", "2048")
        matrix = 8 * 16384**2
        self.assertEqual(found["bytes_received"], matrix * 7)
        self.assertEqual(found["bytes_between_nodes"], matrix * 6)

    def test_a_grid_halves_what_travels_between_sixteen_nodes(self):
        bands = self.results("--nodes", "16", "--gpus-per-node", "1", "--size", "32768", "--grid", "16x1", "--tile", "2048")
        grid = self.results("--nodes", "16", "--gpus-per-node", "1", "--size", "32768", "--grid", "4x4", "--tile", "2048")
        self.assertLess(grid["bytes_between_nodes"], 0.62 * bands["bytes_between_nodes"])

    def test_layers_are_taken_where_they_pay(self):
        words = ("--nodes", "32", "--gpus-per-node", "8", "--size", "32768")
        found, one = self.results(*words), self.results(*words, "--layers", "1")
        self.assertEqual(one["layers"], 1)
        self.assertGreater(found["layers"], 1)
        self.assertLess(found["seconds"], 0.97 * one["seconds"])
        self.assertEqual(self.results(*words, "--tile", "512")["layers"], 1)
        given = self.results(*words, "--layers", "4", "--grid", "8x8", "--tile", "512")
        self.assertEqual((given["layers"], given["grid"]), (4, "8x8"))
        high, wide = map(int, found["grid"].split("x"))
        self.assertEqual(high * wide * found["layers"], 256)
        self.refuse("predict", "gemm", *words, "--layers", "4", "--grid", "16x16", message="for each of 4 groups of layers")
        self.refuse("predict", "gemm", *words, "--layers", "2", "--arithmetic", "emulated", message="have one")

    def test_a_slow_network_is_named_and_a_fast_one_is_hidden(self):
        slow = self.results("--nodes", "8", "--gpus-per-node", "1", "--size", "8192", "--rates", "h200:1")
        self.assertEqual(slow["bottleneck"], "links between nodes")
        fast = self.results("--nodes", "8", "--gpus-per-node", "1", "--size", "65536", "--rates", "h200:400")
        self.assertEqual(fast["bottleneck"], "products")
        self.assertGreater(fast["hidden_share"], 0.8)
        self.assertGreater(slow["seconds"] * 65536**3 / 8192**3, fast["seconds"])

    def test_a_thousand_ranks_are_planned_in_a_second(self):
        found = self.results("--nodes", "128", "--gpus-per-node", "8", "--size", "262144")
        self.assertEqual(found["ranks"], 1024)
        # Two busy cores may be slow; a plan that is not linear takes minutes.
        self.assertLess(found["planning_seconds"], 10)

    def test_the_sweep_writes_a_row_for_each_doubling(self):
        self.succeed("predict", "gemm", "--size", "16384", "--gpus-per-node", "64", "--sweep", "-o", "scaling.csv")
        with open(self.path("scaling.csv"), encoding="utf-8") as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
        self.assertEqual([row["ranks"] for row in rows], 2 * ["64", "128", "256", "512", "1024"])
        self.assertEqual({row["rows"] for row in rows if row["scaling"] == "strong"}, {"16384"})
        weak = [int(row["rows"]) for row in rows if row["scaling"] == "weak"]
        self.assertEqual(weak[2], 2 * 16384)
        for row in rows:
            high, wide = map(int, row["grid"].split("x"))
            self.assertEqual(high * wide * int(row["layers"]), int(row["ranks"]))
            self.assertGreater(float(row["seconds"]), 0)

    def test_an_exponential_is_its_products_and_what_is_between(self):
        words = ("--nodes", "4", "--gpus-per-node", "2", "--size", "16384", "--norm", "10")
        found = self.succeed("predict", "expm", *words)["results"]
        # An exponential's products have one layer.
        product = self.results("--nodes", "4", "--gpus-per-node", "2", "--size", "16384", "--layers", "1")
        self.assertEqual(found["product_seconds"], product["seconds"])
        self.assertEqual(found["grid"], product["grid"])
        self.assertAlmostEqual(found["seconds"], found["products"] * product["seconds"] + found["between_seconds"])
        self.assertGreater(found["between_seconds"], 0)
        self.assertGreater(found["memory_bytes"], product["memory_bytes"])
        complex_one = self.succeed("predict", "expm", *words, "--scalar", "complex-double")["results"]
        self.assertEqual(complex_one["products"], 3 * found["products"])
        self.assertIn("products of", self.run_command("predict", "expm", *words).output)
        self.succeed("predict", "expm", "--size", "8192", "--norm", "1", "--gpus-per-node", "512", "--sweep", "-o", "e.csv")
        for arguments, said in [(["--size", "8"], "give --norm"), (["--norm", "1"], "give --size"),
                                (["--size", "8", "--norm", "-1"], "--norm"), (["--size", "8", "--norm", "nan"], "--norm")]:
            with self.subTest(words=said):
                self.refuse("predict", "expm", *arguments, message=said)

    def test_refusals_are_one_line(self):
        for arguments, words in [
            ([], "give --size"),
            (["--size", "8", "--rows", "4"], "give --size"),
            (["--rows", "4", "--inner", "4"], "give --size"),
            (["--size", "8", "--nodes", "0"], "--nodes"),
            (["--size", "8", "--grid", "3x5"], "a grid of 3 x 5 ranks; there are 8"),
            (["--size", "8", "--grid", "3"], "expected auto, or rows and columns of ranks"),
            (["--size", "8", "--rates", "h200:fast"], "expected a file, or h200:GB"),
            (["--size", "8", "--rates", "/nowhere/rates.json"], "can't be read"),
            (["--size", "8", "--plot", "x.png"], "--sweep"),
        ]:
            with self.subTest(words=words):
                self.refuse("predict", "gemm", *arguments, message=words)


if __name__ == "__main__":
    unittest.main()
