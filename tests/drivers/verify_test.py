"""`heddle verify`, and runs of `heddle tdse` that have the same bits wherever they are done."""

import os
import sys
import unittest

import h5py
import numpy

from command import runs_programs
from tdse_command import TdseCommandTest

DECK = """
[grid]
xmin = -6.0
xmax = 6.0
points = 61
kinetic = "fd4"
[potential]
charge = 1.0
softening = 1.0
[nuclei]
motion = "stretch"
[initial]
kind = "gaussian"
width = 0.8
momentum = 0.5
[propagator]
kind = "magnus4"
[[pulse]]
amplitude = 0.05
omega = 0.4
centre = 0.1
duration = 0.5
[time]
step = 0.02
steps = 12
[output]
every = 4
state = true
states = 0
"""
# Computed once on a CPU; any number of ranks, any tile and any backend gives it.
EXPECTED = "86a0de7136606ca7aadf2783cf86f242a9040e9abef48ab41203286728f32728"


class Verify(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("deck.toml", DECK)

    def emulated(self, output, *arguments, **options):
        return self.tdse("deck.toml", "--arithmetic", "emulated", "-o", output, *arguments, **options)

    def test_the_manifest_is_the_same_on_any_ranks(self):
        for ranks, threads in ((1, 2), (3, 1)):
            report = self.succeed("verify", "--manifest", ranks=ranks, environment={"OMP_NUM_THREADS": str(threads)})
            rows = report["results"]["manifest"]
            self.assertGreaterEqual(len(rows), 60)
            self.assertEqual(len({row["name"] for row in rows}), len(rows))
            # Each result is another one, but for keys: both algorithms must find the same groups.
            keys = {row["sha256"] for row in rows if row["name"].startswith("duplicates")}
            self.assertEqual((len(keys), len({row["sha256"] for row in rows})), (1, len(rows) - 1))
        report = self.succeed("verify", "--manifest", "--only", "faces")
        self.assertEqual([row["name"] for row in report["results"]["manifest"]], ["faces 32-bit", "faces 64-bit"])

    @runs_programs
    def test_numpy_has_the_bits_of_the_release(self):
        result = self.run_command("verify", "--manifest", "--python", "--only", "faces", fresh=True,
                                  environment={"HEDDLE_PYTHON": sys.executable})
        self.assertEqual(result.code, 0, result.errors + result.output)
        self.assertRegex(result.output, r"\n[0-9a-f]{16}  numpy eigvals complex\n")
        self.assertRegex(result.output, r"\n[0-9a-f]{16}  libm neural network\n")

    def test_refusals_of_the_manifest(self):
        self.refuse("verify", message="no file; expected files of `heddle tdse`, or --manifest", fresh=True)
        self.refuse("verify", "--manifest", "a.h5", message="takes no files")
        self.refuse("verify", "a.h5", "--python", message="--python: goes with --manifest")
        self.refuse("verify", "a.h5", "--only", "gemm", message="--only gemm: goes with --manifest")
        self.refuse("verify", "--manifest", "--only", "gem m", message="no result of the manifest has a name with it")

    def test_emulated_runs_have_the_same_bits_everywhere(self):
        self.emulated("one.h5")
        self.emulated("two.h5", "--tile", 16, ranks=2)
        self.emulated("three.h5", ranks=3, environment={"OMP_NUM_THREADS": "2"})
        report = self.succeed("verify", "one.h5", "two.h5", "three.h5", "--expect", EXPECTED)
        self.assertEqual({file["sha256"] for file in report["results"]["files"]}, {EXPECTED})
        # Hexadecimal digits may be capital letters.
        report = self.succeed("verify", "one.h5", "--expect", EXPECTED.upper())
        self.assertEqual(report["inputs"]["expect"], EXPECTED)

    def test_a_run_that_is_continued_is_the_same(self):
        self.emulated("whole.h5")
        self.emulated("part.h5", "--set", "time.steps=5")
        self.emulated("rest.h5", "--restart", "part.h5")
        self.succeed("verify", "whole.h5", "rest.h5")

    def test_what_differs_is_named(self):
        self.emulated("one.h5")
        self.emulated("other.h5")
        with h5py.File(self.path("other.h5"), "r+") as file:
            norm = file["/observables/norm"]
            norm[3] = numpy.nextafter(norm[3], 2.0)
        self.refuse("verify", "one.h5", "other.h5", code=1,
                    message="one.h5 and other.h5 differ, first in /observables/norm")
        self.refuse("verify", "other.h5", "--expect", EXPECTED, code=1, message="not the hash that was expected")
        listed = self.run_command("verify", "one.h5", "--list").output
        self.assertRegex(listed, r"(?m)^[0-9a-f]{64}  /restart/psi$")
        self.assertNotIn("/spectrum/", listed)
        report = self.succeed("verify", "one.h5")
        names = [dataset["name"] for dataset in report["results"]["files"][0]["datasets"]]
        self.assertEqual(names, sorted(names))
        self.assertIn("/psi", names)

    def test_other_files_are_refused(self):
        self.refuse("verify", "none.h5", message="none.h5: there is no such file")
        for text in (EXPECTED[:-1], EXPECTED + "0", EXPECTED[:-1] + "g", EXPECTED[:-1] + " "):
            self.refuse("verify", "none.h5", "--expect", text, message="expected 64 hexadecimal digits")
        self.refuse("verify", "deck.toml", message="deck.toml: is not a readable HDF5 file")
        with h5py.File(self.path("empty.h5"), "w"):
            pass
        self.refuse("verify", "empty.h5", message="empty.h5: has no dataset /restart/psi")
        self.refuse("tdse", "deck.toml", "--arithmetic", "emulated", "--set", "propagator.kind=chebyshev",
                    message="propagator.arithmetic = emulated: propagator chebyshev takes no matrix products")


if __name__ == "__main__":
    unittest.main()
