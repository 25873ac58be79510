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

    def test_a_host_that_disappears_ends_the_ranks_of_the_others(self):
        self.lose_a_host("--size", "600", "--tile", "200")

    def test_a_host_that_disappears_amid_its_bands_ends_the_ranks_of_the_others(self):
        # When a slow link is cut, bands have half arrived: MPI can neither end nor cancel them.
        self.lose_a_host("--size", "1200", "--tile", "400", options=["--rate", "200"])

    def lose_a_host(self, *product, options=()):
        output = os.path.join(self.folder, "C.npy")
        seed = str(time.time_ns() % 10**9)  # tells this run's processes from others
        words = [CLUSTER, "--hosts", "3", "--cut", "5", *options, COMMAND, "gemm", *product, "--repeat", "1000000",
                 "--no-check", "--seed", seed, "--output", output]

        def ranks():
            found = 0
            for entry in os.listdir("/proc"):
                try:
                    with open(f"/proc/{entry}/cmdline", "rb") as file:
                        arguments = file.read().decode().split("\0")
                except OSError:
                    continue
                found += arguments[0] == COMMAND and seed in arguments
            return found

        errors = os.path.join(self.folder, "errors")
        with open(errors, "wb") as file:
            job = subprocess.Popen(words, env={**os.environ, "HEDDLE_TIMEOUT": "8"}, stdout=subprocess.DEVNULL, stderr=file)

        def complaints():
            with open(errors, encoding="utf-8", errors="replace") as file:
                return [line for line in file.read().splitlines()
                        if line.startswith("heddle: ") and not line.startswith("heddle: warning: ")]

        try:
            begin = time.monotonic()
            # Open MPI's mpirun itself may wait on for the daemon of the host that is gone. That host's own rank is alone
            # there, and ends too.
            while job.poll() is None and time.monotonic() - begin < 5 + 30 and (ranks() > 0 or not complaints()):
                time.sleep(0.2)
            seconds = time.monotonic() - begin
        finally:
            job.terminate()
            code = job.wait(30)
        if code == 77:
            with open(errors, encoding="utf-8") as file:
                self.skipTest(file.read())
        self.assertEqual(len(complaints()), 1, complaints())
        self.assertRegex(complaints()[0], r"rank \d: has waited 8 s \(HEDDLE_TIMEOUT\) for ")
        self.assertGreater(seconds, 5 + 8)
        self.assertLess(seconds, 5 + 30)
        self.assertEqual([name for name in os.listdir(self.folder) if "C.npy" in name], [])
        self.assertEqual(ranks(), 0)


if __name__ == "__main__":
    unittest.main()
