"""Studies by `heddle tdse` and `heddle plot`: unsafe steps, levels, snapshots and animations."""

import csv
import os
import re
import shutil
import unittest

import h5py
import numpy

from tdse_command import plots
from tdse_decks import StudiesTest


class UnsafeSteps(StudiesTest):
    def named_step(self, *settings):
        """The step that the refusal of an unsafe one names."""
        result = self.refuse("tdse", "small.toml", "--no-progress", "--output", "run.h5", *settings,
                             message=r"time\.step = .*Taylor series.*the largest step that is safe is")
        self.assertFalse(os.path.exists(self.path("run.h5")))
        self.assertFalse(os.path.exists(self.path("run.partial.h5")))
        return float(re.search(r"the largest step that is safe is (\S+)", result.errors)[1])

    def test_step_that_is_named_is_safe_and_little_more_is_not(self):
        for degree in (1, 2, 3, 4, 7, 10, 16):
            for kind in ("expm", "magnus4"):
                with self.subTest(degree=degree, kind=kind):
                    how = ["--set", f"propagator.degree={degree}", "--propagator", kind]
                    step = self.named_step(*how, "--set", "time.step=2")
                    near = self.named_step(*how, "--set", f"time.step={1.02 * step}")
                    self.assertAlmostEqual(near, step, delta=1e-9 * step)
                    # Whether the run is accurate is another matter, which its checks tell.
                    result = self.run_command("tdse", "small.toml", *how, "--set", f"time.step={step}", "--output",
                                              "run.h5", "--no-progress", "--force")
                    self.assertIn(result.code, (0, 1), result.errors)
                    self.assertNotIn("Taylor series", result.errors)
                    with h5py.File(self.path("run.h5"), "r") as file:
                        self.assertLess(file["observables/norm"][:].max(), 1.01)
                    os.remove(self.path("run.h5"))

    def test_limit_is_that_of_the_series_and_the_grid(self):
        # V = 0, so that the largest energy is 2/dx^2 = 50; |T_4(-i x)| <= 1 up to sqrt(8), |T_3(-i x)| up to sqrt(3).
        free = ["--set", "potential.charge=0", "--set", "time.step=1", "--set", "nuclei.motion=fixed"]
        for degree, limit in ((3, 3**0.5), (4, 8**0.5)):
            step = self.named_step(*free, "--set", f"propagator.degree={degree}")
            # Down to three digits; up by what a hundredth of growth in 20 steps allows.
            self.assertLess(abs(step / (limit / 50) - 1), 0.01)
            finer = self.named_step(*free, "--set", f"propagator.degree={degree}", "--set", "grid.points=121")
            self.assertLess(abs(finer / step - 0.25), 0.005)
        # Twice the substeps bear twice the step.
        halves = self.named_step(*free, "--set", "propagator.degree=4", "--set", "propagator.substeps=2")
        self.assertLess(abs(halves / step - 2), 0.03)

    def test_a_degree_that_would_do_is_named_or_that_none_does(self):
        unsafe = ["--set", "time.step=0.2"]
        result = self.refuse("tdse", "small.toml", "--no-progress", *unsafe)
        degree = int(re.search(r"degree (\d+) bears this step", result.errors)[1])
        self.assertGreater(degree, 10)
        self.tdse("small.toml", *unsafe, "--set", f"propagator.degree={degree}", "--set", "propagator.kind=expm",
                  "--allow-growth", "--output", "more.h5")
        self.refuse("tdse", "small.toml", "--no-progress", *unsafe, "--set", f"propagator.degree={degree - 1}",
                    "--output", "less.h5", message="largest step that is safe")
        self.refuse("tdse", "small.toml", "--no-progress", "--set", "time.step=5", message="no degree bears this step")

    def test_who_insists_sees_it_grow(self):
        words = ["tdse", "small.toml", "--no-progress", "--set", "time.step=0.5", "--output", "run.h5"]
        self.refuse(*words, message="--allow-growth")
        result = self.run_command(*words, "--allow-growth")
        self.assertEqual(result.code, 1)
        with h5py.File(self.path("run.h5"), "r") as file:
            self.assertGreater(file["observables/norm"][-1], 1e40)

    def test_other_propagators_take_any_step(self):
        for kind in ("crank-nicolson", "split-operator", "chebyshev", "auto", "expm"):
            with self.subTest(kind):
                self.tdse("small.toml", "--output", "run.h5", "--set", "time.step=0.5", "--set", "propagator.degree=0",
                          "--propagator", kind, "--set", "time.steps=4")


class Levels(StudiesTest):
    def test_table_and_picture(self):
        report = self.tdse("small.toml", "--eigen", 3, "--output", "levels.csv", "--plot", "levels.png")
        self.assertEqual(report["results"]["output"], "levels.csv")
        self.assertEqual(report["results"]["plot"], "levels.png")
        self.assert_picture("levels.png", 10000)
        with open(self.path("levels.csv"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("# heddle tdse --eigen, heddle "))
        levels, points = "\n".join(line for line in text.splitlines() if not line.startswith("#")).split("\n\n")
        energies = [float(row["energy"]) for row in csv.DictReader(levels.splitlines())]
        self.assertEqual(energies, report["results"]["energies"])
        rows = list(csv.DictReader(points.splitlines()))
        x = numpy.array([float(row["x"]) for row in rows])
        self.assertEqual(len(x), 61)
        potential = [float(row["potential"]) for row in rows]
        expected = -1 / numpy.sqrt((x - 1) ** 2 + 1) - 1 / numpy.sqrt((x + 1) ** 2 + 1)
        numpy.testing.assert_allclose(potential, expected, atol=1e-14)
        for k in range(3):
            density = numpy.array([float(row[f"density_{k}"]) for row in rows])
            self.assertAlmostEqual(density.sum() * (x[1] - x[0]), 1, delta=1e-12)
            # As many nodes as the level's number: so many minima between peaks.
            inner = density[1:-1]
            minima = (inner < density[:-2]) & (inner < density[2:]) & (inner < 0.05 * density.max())
            self.assertEqual(minima.sum(), k)
        # The same picture from the table.
        self.run_command("plot", "levels.csv", "--output", "again.png")
        with open(self.path("levels.png"), "rb") as one, open(self.path("again.png"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_picture_without_a_table(self):
        self.tdse("small.toml", "--eigen", 1, "--plot", "levels.png", ranks=2)
        self.assert_picture("levels.png", 10000)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "levels" in name), ["levels.png"])

    def test_all_states_of_a_small_grid(self):
        self.tdse("small.toml", "--eigen", 3, "--set", "grid.points=3", "--plot", "levels.png")
        self.assert_picture("levels.png", 10000)

    def test_refusals(self):
        self.refuse("tdse", "small.toml", "--plot", "levels.png", message="--plot")
        self.refuse("tdse", "small.toml", "--eigen", 2, "--plot", "a.png", "--output", "a.png", message="a.png")
        self.refuse("tdse", "small.toml", "--eigen", 2, "--plot", "no/such.png", message="no/such.png")


@unittest.skipUnless(plots(), "no matplotlib and Pillow")
class SnapshotsAndFilms(StudiesTest):
    def test_snapshots(self):
        self.tdse("small.toml", "--output", "run.h5")
        result = self.run_command("plot", "run.h5", "--snapshots", "0,0.2,0.4")
        self.assertEqual((result.code, result.errors), (0, ""))
        self.assert_picture("run-snapshots.png", 10000)
        for more in (["--set", "initial.levels=[0,1]"], ["--set", "potential.kind=harmonic", "--set", "nuclei.motion=fixed"],
                     ["--set", "time.steps=0"], ["--set", "pulse.amplitude=0.1", "--set", "pulse.duration=1", "--set",
                                                "pulse.omega=2"]):
            self.tdse("small.toml", "--output", "run.h5", *more)
            times = "0" if "time.steps=0" in more else "0.4,0.07,0.1,0.2,0.3"
            report = self.succeed("plot", "run.h5", "--snapshots", times, "-o", "some.png")
            self.assertEqual(report["results"]["output"], "some.png")
            self.assert_picture("some.png", 10000)

    def test_nodes_are_those_of_the_file(self):
        # As many as it says; without them, as an earlier version wrote it, there is no picture.
        levels = ["--set", "initial.levels=[2,0]", "--set", "nuclei.motion=fixed"]
        self.tdse("small.toml", "--output", "run.h5", *levels)
        with h5py.File(self.path("run.h5"), "r+") as file:
            numpy.testing.assert_array_equal(file["observables/nodes"][:], [[2, 0]] * 21)
            self.assertEqual(file["observables/node_positions"].shape, (42,))
            places = file["observables/node_positions"][:].reshape(21, 2)
            numpy.testing.assert_allclose(places[:, 0], -places[:, 1], atol=1e-8)
            self.assertGreater(places[:, 1].min(), 0.2)
            del file["observables/node_positions"]
        for how in (["--snapshots", "0"], ["--animate", "run.gif"]):
            self.refuse("plot", "run.h5", *how, message=f"run.h5: an earlier version wrote it, without the nodes that {how[0]}")
        self.refuse("tdse", "small.toml", *levels, "--restart", "run.h5", message="has no dataset /observables/node_positions")

    def test_films(self):
        for more in ([], ["--set", "output.state=false"]):
            self.tdse("small.toml", "--output", "run.h5", *more)
            result = self.run_command("plot", "run.h5", "--animate", "run.GIF")
            self.assertEqual((result.code, result.errors), (0, ""))
            with open(self.path("run.GIF"), "rb") as file:
                film = file.read()
            self.assertTrue(film.startswith(b"GIF89a"))
            # A graphic control extension before each frame, of which there is one for each density.
            self.assertEqual(film.count(b"\x21\xf9\x04"), 6)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "GIF" in name), ["run.GIF"])
        self.refuse("plot", "run.h5", "--animate", "run.mp4", environment={"PATH": "/nonexistent"},
                    message="run.mp4: needs ffmpeg.*Debian: ffmpeg.*gif")
        self.assertFalse(os.path.exists(self.path("run.mp4")))
        if shutil.which("ffmpeg"):
            result = self.run_command("plot", "run.h5", "--animate", "run.mp4")
            self.assertEqual(result.code, 0, result.errors)
            with open(self.path("run.mp4"), "rb") as file:
                self.assertEqual(file.read(12)[4:8], b"ftyp")

    def test_refusals(self):
        self.tdse("small.toml", "--output", "run.h5")
        self.tdse("small.toml", "--output", "dense.h5", "--set", "output.state=false")
        self.refuse("plot", "run.h5", "--snapshots", "0,0.5", message=r"--snapshots 0.5: run.h5 has psi from t = 0 to 0.4$")
        self.refuse("plot", "run.h5", "--snapshots=-0.1", message="--snapshots -0.1")
        self.refuse("plot", "run.h5", "--snapshots", "x", message="snapshots")
        self.refuse("plot", "run.h5", "--snapshots", ",".join(["0"] * 61), message="61 times; expected at most 60")
        self.refuse("plot", "dense.h5", "--snapshots", "0", message="dense.h5: .*output.state=true")
        self.refuse("plot", "run.h5", "--animate", "run.avi", message=r"run.avi: .*\.mp4 or \.gif")
        self.refuse("plot", "run.h5", "--animate", "run.gif", "--snapshots", "0", message="snapshots")
        self.refuse("plot", "run.h5", "--animate", "run.gif", "--output", "a.png", message="--output")
        self.refuse("plot", "run.h5", "--animate", "no/run.gif", message="no/run.gif")
        self.refuse("plot", "none.h5", "--animate", "run.gif", message="none.h5: there is no such file")
        self.tdse("small.toml", "--eigen", 2, "--output", "levels.csv")
        for option in (["--snapshots", "0"], ["--animate", "run.gif"]):
            self.refuse("plot", "levels.csv", *option, message="levels.csv: is no run of heddle tdse")


if __name__ == "__main__":
    unittest.main()
