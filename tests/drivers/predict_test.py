"""heddle predict: what it says of a cluster, against sums by hand, and what it refuses."""

import csv
import math
import os
import re
import unittest

from command import ON_GPU, CommandTest


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

    def test_matrices_may_lie_whole_on_ranks(self):
        # A, B and C on ranks 2, 1 and 0, one band of A at a time: A and C cross once but for their owners' bands, and B
        # once for each band of A that a rank has, to all ranks but its owner.
        words = ("--gpus-per-node", "4", "--size", "16384", "--tile", "2048", "--grid", "4x1", "--bands-per-pass", "1")
        found = self.results(*words, "--place-a", "rank:2", "--place-b", "rank:1", "--place-c", "rank:0")
        matrix = 8 * 16384**2
        self.assertEqual(found["bytes_received"], matrix * (2 * 3 / 4 + 2 * 3))
        self.assertEqual(found["bands_per_pass"], 1)
        self.assertGreaterEqual(found["memory_bytes"], matrix)
        bands = self.results(*words)
        self.assertEqual(bands["bytes_received"], matrix * 2 * 3)
        self.assertLess(bands["memory_bytes"], found["memory_bytes"])
        self.assertLess(self.results(*words, "--place-c", "host:rows")["memory_bytes"], bands["memory_bytes"])
        self.refuse("predict", "gemm", *words, "--place-a", "rank:4", message="rank")

    def test_the_published_tile_is_the_smallest_of_equation_9(self):
        # The vendor's figures of an A100 by hand: 19.5 TFLOP/s, 2039 and 300 GB/s, of doubles.
        words = ("--size", "90000", "--rates", "a100:tensor", "--bands-per-pass", "1", "--grid", "8x1")
        found = self.results(*words, "--choice", "published")
        k = 19.5e12 / (2039e9 / 8)
        self.assertEqual(found["memory_bound"], math.floor(4 * k * 90000 / (90000 - 2 * k)) + 1)
        self.assertEqual(found["transfer_bound"], math.floor(4 * 7 * 19.5e12 / 300e9) + 1)
        self.assertEqual(found["tile"], found["published_tile"])
        self.assertEqual(found["tile"], found["transfer_bound"])
        self.assertEqual(self.results(*words)["published_tile"], found["tile"])
        self.assertEqual(self.results("--size", "8000", "--rates", "a100:tensor", "--choice", "published")["tile"], 1000)
        self.assertIn("published tile 1821", self.run_command("predict", "gemm", *words).output)

    def test_the_studies_table_of_a100s_is_what_its_commands_say(self):
        root = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
        with open(os.path.join(root, "docs", "studies.md"), encoding="utf-8") as file:
            rows = [line for line in file if "`heddle predict gemm" in line and "--rates a100:" in line]
        self.assertGreaterEqual(len(rows), 10)
        for row in rows:
            cells = [cell.strip() for cell in row.strip().strip("|").split(" | ")]
            command = re.fullmatch(r"`heddle (predict gemm .*)`", cells[1]).group(1)
            with self.subTest(command):
                found = self.succeed(*command.split())["results"]
                said = [str(found["tile"]), str(found["published_tile"]), f"{found['seconds']:.3g}",
                        f"{found['gflops'] / 1e3:.3g}", f"{100 * found['peak_share']:.3g}",
                        f"{100 * found['hidden_share']:.3g}", f"{found['bytes_received'] / 1e9:.4g}",
                        f"{found['memory_bytes'] / 1e9:.3g}"]
                self.assertEqual(cells[2:], said)

    def test_published_rates_are_said_to_be_so(self):
        for name, tflops in (("a100:25", 19.5), ("h100:50", 67.0), ("mi250x:25", 47.85)):
            with self.subTest(name):
                words = ("--nodes", "2", "--gpus-per-node", "8", "--size", "32768", "--rates", name)
                found = self.results(*words)
                self.assertIn("vendor's figures", found["rates_origin"])
                self.assertLessEqual(found["gflops"], 16 * 1e3 * tflops)
                self.assertGreater(found["gflops"], 16 * 100)
                self.assertIn("which no machine exceeds", self.run_command("predict", "gemm", *words).output)
        self.assertNotIn("rates_origin", self.results("--size", "8192"))

    def test_what_no_device_holds_is_refused_with_what_fits(self):
        words = ("--gpus-per-node", "8", "--size", "400000", "--rates", "h200:50")
        complaint = self.refuse("predict", "gemm", *words, message="its device has 141 GB").complaints[0]
        size = int(re.search(r"--size (\d+)", complaint).group(1))
        nodes = int(re.search(r"--nodes (\d+)", complaint).group(1))
        self.assertLess(self.results(*words[:2], "--size", size, "--rates", "h200:50")["memory_bytes"], 141e9)
        # Nearly the largest.
        self.refuse("predict", "gemm", *words[:2], "--size", int(1.1 * size), message="would fit")
        self.assertLess(self.results(*words, "--nodes", nodes)["memory_bytes"], 141e9)
        self.refuse("predict", "gemm", *words[:2], "--size", "8192", "--memory", "100M", message="0.1049 GB")
        self.refuse("predict", "expm", *words, "--norm", "10", message="a rank needs")
        # A sweep leaves out what does not fit.
        done = self.run_command("predict", "gemm", "--gpus-per-node", "8", "--size", "200000", "--sweep")
        self.assertEqual(done.code, 0, done.errors)
        self.assertIn("left out: a rank needs", done.output)

    def test_rates_of_threads_or_of_one_rank_are_not_taken_for_gpus(self):
        tuned = self.succeed("tune", "--seconds", 0.2, environment={"XDG_CACHE_HOME": self.folder})
        file = tuned["results"]["file"]
        words = ("predict", "gemm", "--size", "4096", "--rates", file)
        kind = "--cpus" if ON_GPU else "--gpus"
        self.refuse(*words, kind, message="expected those of")
        kind = "--gpus" if ON_GPU else "--cpus"
        self.refuse(*words, kind, "--gpus-per-node", "2", message="rates of one rank")
        self.succeed(*words, kind, "--gpus-per-node", "1")

    def test_refusals_are_one_line(self):
        for arguments, words in [
            ([], "give --size"),
            (["--size", "8", "--rows", "4"], "give --size"),
            (["--rows", "4", "--inner", "4"], "give --size"),
            (["--size", "8", "--nodes", "0"], "--nodes"),
            (["--size", "8", "--grid", "3x5"], "a grid of 3 x 5 ranks; there are 8"),
            (["--size", "8", "--grid", "3"], "expected auto, or rows and columns of ranks"),
            (["--size", "8", "--rates", "h200:fast"], "expected a file, or h200:GB"),
            (["--size", "8", "--rates", "mi250x"], "mi250x:GB with GB/s between nodes"),
            (["--size", "8", "--rates", "h100:25", "--cpus"], "rates of a GPU; --cpus expects a file"),
            (["--size", "8", "--rates", "/nowhere/rates.json"], "can't be read"),
            (["--size", "8", "--rates", "a100"], "expected a100:tensor or a100:plain"),
            (["--size", "8", "--choice", "published", "--tile", "4"], "--choice published is for --tile auto"),
            (["--size", "8", "--plot", "x.png"], "--sweep"),
        ]:
            with self.subTest(words=words):
                self.refuse("predict", "gemm", *arguments, message=words)


if __name__ == "__main__":
    unittest.main()
