"""Studies by `heddle tdse` and `heddle plot`: unsafe steps, levels, snapshots, scans and animations."""

import csv
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy

from command import COMMAND, MPIEXEC
from tdse_command import TdseCommandTest, datasets

SMALL = """
[grid]
xmin = -6.0
xmax = 6.0
points = 61
kinetic = "fd2"
[potential]
charge = 1.0
softening = 1.0
[nuclei]
motion = "stretch"
[time]
step = 0.02
steps = 20
[propagator]
kind = "expm"
degree = 10
[output]
every = 4
state = true
"""


class StudiesTest(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)


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


def plots():
    """Whether there is what the pictures need, and for films."""
    found = shutil.which("/usr/bin/python3") or "python3"
    return os.system(f"{os.environ.get('HEDDLE_PYTHON') or found} -c 'import matplotlib, PIL' 2>/dev/null") == 0


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


class Scans(StudiesTest):
    fast = ["--propagator", "chebyshev", "--set", "output.states=3"]

    def scan(self, *arguments, **options):
        report = self.tdse("small.toml", "--output", "scan.h5", *self.fast, *arguments, **options)
        self.assertEqual(report["results"]["output"], "scan.h5")
        return report

    def test_each_point_is_the_run_of_its_value(self):
        report = self.scan("--scan", "nuclei.omega=1:2:0.3")
        self.assertEqual(report["results"]["values"], [1, 1.3, 1.6, 1.9])
        with h5py.File(self.path("scan.h5"), "r") as scan:
            self.assertEqual(scan.attrs["key"], "nuclei.omega")
            self.assertEqual((scan.attrs["complete"], scan.attrs["points_done"]), (1, 4))
            numpy.testing.assert_array_equal(scan["scan/value"][:], [1, 1.3, 1.6, 1.9])
            for k, value in enumerate((1, 1.3, 1.6, 1.9)):
                self.tdse("small.toml", "--output", "run.h5", *self.fast, "--set", f"nuclei.omega={value}")
                with h5py.File(self.path("run.h5"), "r") as run:
                    for name in ("norm", "energy", "position", "dipole", "nodes", "populations"):
                        numpy.testing.assert_array_equal(scan[f"final/{name}"][k], run[f"observables/{name}"][-1])
                    for name in ("psi", "energy", "position", "populations"):
                        errors = run[f"errors/{name}"][-1]
                        self.assertTrue((errors > 0).all())
                        numpy.testing.assert_array_equal(scan[f"errors/{name}"][k], errors)
                    numpy.testing.assert_array_equal(scan["scan/energies"][k], run["observables/energies"][0])
                    populations = run["observables/populations"][:]
                    t = run["time/t"][:]
                    numpy.testing.assert_allclose(scan["mean/populations"][k],
                                                  ((populations[1:] + populations[:-1]) / 2).mean(0), atol=1e-14)
                    numpy.testing.assert_array_equal(scan["largest/populations"][k], populations.max(0))
                    self.assertEqual((scan["scan/time"][k], scan["scan/steps"][k]), (t[-1], 20))
                self.assertEqual(report["results"]["populations"][k], list(populations[-1]))

    pulse = ["--set", "pulse.amplitude=0.1", "--set", "pulse.duration=0.3", "--set", "pulse.omega=20"]

    def test_what_leaves_is_that_of_each_run(self):
        absorber = ["--set", "absorber.kind=polynomial", "--set", "absorber.width=2", "--set", "absorber.strength=1"]
        radius = ["--set", "output.radius=1"]
        report = self.scan("--scan", "pulse.amplitude=1,2", *self.pulse, *absorber, *radius)
        results = report["results"]
        with h5py.File(self.path("scan.h5"), "r") as scan:
            self.assertEqual(results["unit"], "hartree/(e bohr)")
            for k, value in enumerate((1, 2)):
                self.tdse("small.toml", "--output", "run.h5", *self.fast, *self.pulse, *absorber, *radius, "--set",
                          f"pulse.amplitude={value}")
                with h5py.File(self.path("run.h5"), "r") as run:
                    for name in ("absorbed", "ionisation", "outside"):
                        last, error = run[f"observables/{name}"][-1], run[f"errors/{name}"][-1]
                        self.assertEqual((scan[f"final/{name}"][k], scan[f"errors/{name}"][k]), (last, error))
                        self.assertEqual((results[name][k], results[f"{name}_error"][k]), (last, error))
                    self.assertGreater(scan["final/outside"][k], 0.1)
                    # A scan of one duration and carrier has the run's frequencies.
                    numpy.testing.assert_allclose(scan["spectrum/order"][:] * 20, run["spectrum/frequency"][:], rtol=1e-13)
                    numpy.testing.assert_allclose(scan["spectrum/dipole"][k], run["spectrum/dipole"][:], rtol=1e-6,
                                                  atol=1e-9 * run["spectrum/dipole"][:].max())
        # A deck without pulse and absorber reports none of these.
        self.assertFalse({"absorbed", "ionisation", "outside"} & set(self.scan("--scan", "nuclei.omega=1")["results"]))
        with h5py.File(self.path("scan.h5"), "r") as scan:
            self.assertNotIn("spectrum", scan)
            self.assertTrue(numpy.isnan(scan["final/outside"][:]).all())

    def test_spectra_of_points_that_differ(self):
        # Another carrier, another time step and fewer steps: the orders are common, and beyond pi/dt there is nothing.
        self.scan("--scan", "pulse.omega=10,20", *self.pulse, "--set", "initial.levels=[0,1]")
        with h5py.File(self.path("scan.h5"), "r") as scan:
            orders, spectra = scan["spectrum/order"][:], scan["spectrum/dipole"][:]
            numpy.testing.assert_array_equal(scan["spectrum/carrier"][:], [10, 20])
            self.assertEqual(spectra.shape, (2, 2, len(orders)))
            self.assertAlmostEqual(orders[-1], numpy.pi / 0.02 / 10)
            self.assertLessEqual(numpy.diff(orders).max(), numpy.pi / (4 * 0.4) / 20 * (1 + 1e-12))
            self.assertFalse(numpy.isnan(spectra[0]).any())
            numpy.testing.assert_array_equal(numpy.isnan(spectra[1]), [orders > numpy.pi / 0.02 / 20] * 2)
        self.scan("--scan", "time.steps=1,20", *self.pulse)
        with h5py.File(self.path("scan.h5"), "r") as scan:
            numpy.testing.assert_array_equal(numpy.isnan(scan["spectrum/dipole"][:]).all(1), [True, False])

    def test_values_have_the_unit_of_their_key(self):
        for key, values, unit in (("pulse.1.intensity", "1e13,1e14", "W/cm^2"), ("pulse.wavelength", "2,3", "nm"),
                                  ("pulse.femtoseconds", "0.005,0.007", "fs"), ("pulse.1.phase", "0,1", "radian"),
                                  ("time.step", "0.01,0.02", "atomic unit of time"), ("potential.charge", "1", "1")):
            with self.subTest(key):
                words = ["tdse", "small.toml", *self.fast, *self.pulse, "--set", "output.states=0", "--output", "scan.h5",
                         "--no-progress", "--force", "--scan", f"{key}={values}"]
                printed = self.run_command(*words).output
                first = f"{float(values.split(',')[0]):g}" + ("" if unit == "1" else f" {unit}")
                self.assertRegex(printed, rf"(?m)^{re.escape(key)} = {re.escape(first)} +energy ")
                with h5py.File(self.path("scan.h5"), "r") as scan:
                    self.assertEqual(scan["scan/value"].attrs["unit"], unit)

    def test_spectra_are_taken_over(self):
        self.scan("--scan", "pulse.phase=0,1", *self.pulse)
        with h5py.File(self.path("scan.h5"), "r+") as file:
            file["spectrum/dipole"][0] = 7.0
        shutil.copy(self.path("scan.h5"), self.path("earlier.h5"))
        for ranks in (1, 2):
            self.scan("--scan", "pulse.phase=0,1,2", *self.pulse, "--restart", "earlier.h5", ranks=ranks)
            with h5py.File(self.path("scan.h5"), "r") as file:
                self.assertTrue((file["spectrum/dipole"][0] == 7.0).all())
                self.assertGreater(file["spectrum/dipole"][2].max(), 0.0)
        # An earlier version wrote no spectra: all points are computed.
        with h5py.File(self.path("earlier.h5"), "r+") as file:
            del file["spectrum"], file["final/outside"]
        self.scan("--scan", "pulse.phase=0,1,2", *self.pulse, "--restart", "earlier.h5")
        with h5py.File(self.path("scan.h5"), "r") as file:
            self.assertFalse((file["spectrum/dipole"][0] == 7.0).any())

    def test_ranks_share_the_points(self):
        expected = None
        for ranks in (1, 2, 3):
            self.scan("--scan", "potential.charge=1,0.5,2,1.5", ranks=ranks)
            found = datasets(self.path("scan.h5"))
            expected = expected or found
            self.assertEqual(found, expected)

    def test_any_numeric_key(self):
        self.scan("--scan", "time.steps=0:4:2")
        with h5py.File(self.path("scan.h5"), "r") as file:
            numpy.testing.assert_array_equal(file["scan/steps"][:], [0, 2, 4])
            numpy.testing.assert_allclose(file["mean/populations"][0], file["final/populations"][0])
        # Each grid has as many states as there are asked for, and so has each point.
        self.scan("--scan", "grid.points=21:61:20")
        self.scan("--scan", "output.states=1:3:1")
        with h5py.File(self.path("scan.h5"), "r") as file:
            populations = file["final/populations"][:]
            numpy.testing.assert_array_equal(numpy.isnan(populations), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
        self.scan("--scan", "pulse.phase=0:1:0.5", "--set", "pulse.amplitude=0.1", "--set", "pulse.duration=1", "--set",
                  "pulse.omega=2")
        with h5py.File(self.path("scan.h5"), "r") as file:
            self.assertFalse(numpy.isnan(file["final/ionisation"][:]).any())
        self.scan("--scan", "pulse.1.intensity=1e13,1e14", "--set", "pulse.duration=1", "--set", "pulse.omega=2")
        self.scan("--scan", "output.states=0,0")
        # Downwards, and one value alone.
        self.assertEqual(self.scan("--scan", "nuclei.amplitude=0.3:0.1:-0.1")["results"]["values"], [0.3, 0.2, 0.1])
        self.assertEqual(self.scan("--scan", "nuclei.amplitude=0.3")["results"]["values"], [0.3])
        self.assertEqual(self.scan("--scan", "nuclei.amplitude=0:1e-9:1")["results"]["values"], [0])

    def test_several_wave_functions(self):
        self.scan("--scan", "nuclei.omega=1,2,3", "--set", "initial.levels=[0,2]", ranks=2)
        with h5py.File(self.path("scan.h5"), "r") as file:
            self.assertEqual(file["final/populations"].shape, (3, 2, 3))
            self.assertEqual(file["final/norm"].shape, (3, 2))
            self.assertGreater(file["final/populations"][0, 1, 2], 0.9)

    @unittest.skipUnless(plots(), "no matplotlib and Pillow")
    def test_pictures(self):
        for more in (["nuclei.omega=0.2:1.2:0.5"], ["grid.points=21,61,41", "--set", "initial.levels=[0,2]"],
                     ["nuclei.omega=1", "--set", "output.states=0"]):
            self.scan("--scan", *more, "--plot", "scan.png")
            self.assert_picture("scan.png", 10000)
        self.run_command("plot", "scan.h5", "-o", "again.png")
        with open(self.path("scan.png"), "rb") as one, open(self.path("again.png"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_files(self):
        self.succeed("tdse", "small.toml", "--scan", "nuclei.omega=1,2", *self.fast, "--no-progress")
        self.assertTrue(os.path.exists(self.path("small.scan.h5")))
        before = datasets(self.path("small.scan.h5"))
        words = ["tdse", "small.toml", "--scan", "nuclei.omega=1,2,3", *self.fast, "--no-progress"]
        self.refuse(*words, message="small.scan.h5: is there already; --force")
        self.assertEqual(datasets(self.path("small.scan.h5")), before)
        self.refuse(*words, "--plot", "small.scan.h5", "--force", message="small.scan.h5")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "scan" in name), ["small.scan.h5"])

    def test_interrupted_scan_keeps_what_it_has(self):
        for ranks in (1, 2):
            words = [COMMAND, "tdse", "small.toml", "--scan", "time.steps=2,4,100000000,6", "--output", "scan.h5",
                     "--no-progress", "--force", *self.fast]
            words = words if ranks == 1 else [MPIEXEC, "-n", str(ranks), *words]
            process = self.start(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("scan.h5.lock")) and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(2)  # The points that can be done are done in a hundredth of it.
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1]
            self.assertRegex(errors, r"interrupted after [23] of 4 points; --restart scan\.partial\.h5 continues the scan")
            self.assertNotEqual(process.returncode, 0)
            self.assertFalse(os.path.exists(self.path("scan.h5")))
            with h5py.File(self.path("scan.partial.h5"), "r") as file:
                self.assertEqual(file.attrs["complete"], 0)
                steps = file["scan/steps"][:]
                expected = [2, 4, numpy.nan, numpy.nan] if ranks == 1 else [2, 4, numpy.nan, 6]
                numpy.testing.assert_array_equal(steps, expected)
                self.assertFalse(numpy.isnan(file["final/populations"][:2]).any())
        self.refuse("tdse", "small.toml", "--scan", "time.steps=2,4", "--output", "scan.h5", "--no-progress",
                    message="scan.partial.h5: holds the points of an interrupted scan; --restart scan.partial.h5.*--force")
        self.scan("--scan", "time.steps=2,4")
        self.assertFalse(os.path.exists(self.path("scan.partial.h5")))

    def test_continued_scan_is_the_whole_one(self):
        self.scan("--scan", "nuclei.omega=1:3:1")
        with h5py.File(self.path("scan.h5"), "r+") as file:
            for name in ("norm", "populations"):
                file[f"final/{name}"][1] += 7.0  # Taken over, as what is not computed anew.
            for name in file:
                for dataset in file[name].values():
                    if dataset.name != "/scan/value":
                        dataset[2] = numpy.nan
        shutil.copy(self.path("scan.h5"), self.path("earlier.h5"))
        for ranks in (1, 2):
            self.scan("--scan", "nuclei.omega=5:1:-1", "--restart", "earlier.h5", ranks=ranks)
            found = datasets(self.path("scan.h5"))
            with h5py.File(self.path("scan.h5"), "r") as file:
                numpy.testing.assert_array_equal(file["scan/value"][:], [5, 4, 3, 2, 1])
                self.assertAlmostEqual(file["final/norm"][3], 8, delta=1e-9)
                numpy.testing.assert_allclose(file["final/norm"][:3], 1, atol=1e-9)
            self.scan("--scan", "nuclei.omega=5:1:-1")
            whole = datasets(self.path("scan.h5"))
            self.assertEqual([name for name in whole if whole[name] != found[name]], ["final/norm", "final/populations"])
        self.refuse("tdse", "small.toml", "--scan", "time.step=0.01,0.02", *self.fast, "--restart", "earlier.h5",
                    "--no-progress", message="earlier.h5: is a scan of nuclei.omega, not of time.step")
        self.refuse("tdse", "small.toml", "--scan", "nuclei.omega=1", *self.fast, "--restart", "earlier.h5", "--set",
                    "potential.charge=2", "--no-progress", message="earlier.h5: was computed with another deck")
        self.refuse("tdse", "small.toml", "--scan", "nuclei.omega=1", *self.fast, "--set", "output.states=2", "--restart",
                    "earlier.h5", "--no-progress", message="earlier.h5: ")
        self.refuse("tdse", "--scan", "nuclei.omega=1", "--restart", "earlier.h5", message="--scan needs a DECK")
        self.refuse("tdse", "small.toml", "--scan", "nuclei.omega=1", "--restart", "none.h5", "-o", "x.h5", "--no-progress",
                    message="none.h5: there is no such file")

    def test_refusals(self):
        for given, message in (("nuclei.omega", "expected KEY=FIRST:LAST:STEP"), ("=1:2:1", "expected KEY="),
                               ("nuclei.omega=1:2", "expected KEY="), ("nuclei.omega=1:2:0", "a step of 0 does not lead"),
                               ("nuclei.omega=1:2:-1", "a step of -1 does not lead from 1 to 2"),
                               ("nuclei.omega=1:2:x", "'x' is no finite number"), ("nuclei.omega=1:inf:1", "'inf'"),
                               ("nuclei.omega=", "'' is no finite"), ("nuclei.omega=0:1:1e-9", "more than 10000 values"),
                               ("nuclei.omgea=1:2:1", "unknown key.*nuclei.omega"),
                               ("potential.kind=1:2:1", "potential.kind is no number"),
                               ("output.state=0:1:1", "output.state is no number"),
                               ("initial.levels=0:1:1", "initial.levels is no number"),
                               ("pulse.2.envelope=0:1:1", "pulse.2.envelope is no number"),
                               ("grid.points=20:21:0.5", "grid.points"), ("time.step=0:1:0.5", "time.step = 0"),
                               ("output.file=1:2:1", "output.file is no number")):
            with self.subTest(given):
                self.refuse("tdse", "small.toml", "--scan", given, "--no-progress", message=f"--scan .*{message}")
        # One point that would grow is enough, and nothing has been computed.
        self.refuse("tdse", "small.toml", "--scan", "time.step=0.02:2:0.99", "--no-progress",
                    message=r"time.step=1.01: time\.step = .*largest step that is safe")
        self.assertEqual(os.listdir(self.folder), ["small.toml"])
        self.refuse("tdse", "small.toml", "--scan", "nuclei.omega=1", "--eigen", 1, message="--eigen")
        self.refuse("tdse", "small.toml", "--scan", "nuclei.omega=1", "--certificate", message="--certificate")


if __name__ == "__main__":
    unittest.main()
