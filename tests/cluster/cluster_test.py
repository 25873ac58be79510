"""`heddle` over hosts that ci/cluster makes: what crosses their links, by the counters of the links themselves."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["HEDDLE_COMMAND"]
CLUSTER = os.environ["HEDDLE_CLUSTER"]


class Cluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def on_hosts(self, hosts, ranks, *arguments, options=()):
        """The report of a command, and the bytes that all hosts' links received while it ran."""
        report = os.path.join(self.folder, "report.json")
        links = os.path.join(self.folder, "links.json")
        done = subprocess.run([CLUSTER, "--hosts", str(hosts), "--ranks", str(ranks), "--bytes", links, *options, COMMAND,
                               *arguments, "--json", report], capture_output=True, text=True, check=False)
        if done.returncode == 77:
            print(done.stderr, end="", file=sys.stderr)
            os._exit(77)  # No cluster can be made here: CTest counts the test as skipped.
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(report, encoding="utf-8") as file:
            found = json.load(file)
        with open(links, encoding="utf-8") as file:
            received = sum(host["received"] for host in json.load(file)["hosts"])
        return found, received

    def crossed(self, hosts, ranks, *arguments):
        """A report, and the bytes that one of its products moves between hosts: three products' less one's, over two."""
        _, once = self.on_hosts(hosts, ranks, *arguments, "--repeat", "1")
        report, thrice = self.on_hosts(hosts, ranks, *arguments, "--repeat", "3")
        return report["results"], (thrice - once) / 2

    def test_nodes_are_the_hosts(self):
        report, _ = self.on_hosts(3, 2, "info")
        self.assertEqual(report["results"]["nodes"], 3)
        self.assertEqual(report["results"]["ranks"], 6)
        self.assertEqual([device["node"] for device in report["results"]["devices"]],
                         ["host1", "host1", "host2", "host2", "host3", "host3"])

    def test_what_crosses_the_links_is_what_the_report_says(self):
        product = ["gemm", "--size", "1024", "--tile", "128", "--no-check"]
        # Rates are measured and kept first, so that they do not count.
        self.on_hosts(4, 2, *product)
        by_grid = {}
        for grid in ("8x1", "4x2", "2x4"):
            with self.subTest(grid=grid):
                results, bytes_crossed = self.crossed(4, 2, *product, "--grid", grid)
                self.assertEqual(results["grid"], grid)
                # Packets have headers: 52 bytes of 1500, and acknowledgements.
                self.assertGreaterEqual(bytes_crossed, 0.99 * results["bytes_between_nodes"])
                self.assertLessEqual(bytes_crossed, 1.10 * results["bytes_between_nodes"])
                by_grid[grid] = bytes_crossed
        # In one column of ranks each receives all of B but its node's quarter.
        self.assertAlmostEqual(by_grid["8x1"] / (8 * 8 * 1024**2 * 0.75), 1.05, delta=0.06)
        self.assertLess(by_grid["4x2"], 0.8 * by_grid["8x1"])

    def test_hashes_do_not_depend_on_hosts(self):
        product = ["gemm", "--size", "300", "--tile", "64", "--hash", "--arithmetic", "emulated"]
        alone = os.path.join(self.folder, "alone.json")
        subprocess.run([COMMAND, *product, "--json", alone], check=True, capture_output=True)
        with open(alone, encoding="utf-8") as file:
            expected = json.load(file)["results"]["sha256"]
        for hosts, ranks, grid in ((2, 2, "2x2"), (3, 1, "1x3"), (4, 2, "auto")):
            report, _ = self.on_hosts(hosts, ranks, *product, "--grid", grid)
            self.assertEqual(report["results"]["sha256"], expected)

    def test_a_host_that_disappears_ends_the_job(self):
        output = os.path.join(self.folder, "C.npy")
        words = [CLUSTER, "--hosts", "2", "--cut", "4", COMMAND, "gemm", "--size", "600", "--repeat", "1000000000",
                 "--no-check", "--output", output]
        begin = time.monotonic()
        done = subprocess.run(words, env={**os.environ, "HEDDLE_TIMEOUT": "20"}, capture_output=True, text=True,
                              timeout=120, check=False)
        seconds = time.monotonic() - begin
        if done.returncode == 77:
            print(done.stderr, end="", file=sys.stderr)
            os._exit(77)
        self.assertNotEqual(done.returncode, 0)
        complaints = [line for line in done.stderr.splitlines()
                      if line.startswith("heddle: ") and not line.startswith("heddle: warning: ")]
        self.assertEqual(len(complaints), 1, done.stderr)
        self.assertRegex(complaints[0], r"rank \d: has waited 20 s \(HEDDLE_TIMEOUT\) for ")
        self.assertGreater(seconds, 4 + 20)
        self.assertLess(seconds, 4 + 30, done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "C.npy" in name], [])


if __name__ == "__main__":
    unittest.main()
