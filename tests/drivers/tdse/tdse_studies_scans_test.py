"""`heddle tdse --scan`: a run for each value of a key."""

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
from tdse_command import datasets, plots
from tdse_decks import StudiesTest


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
