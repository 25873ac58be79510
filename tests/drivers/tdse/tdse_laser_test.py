"""`heddle tdse` with pulses, absorbers, spectra, several wave functions and checkpoints, as a user runs it."""

import math
import os
import signal
import subprocess
import time
import unittest

import h5py
import numpy

from command import COMMAND, MPIEXEC
from tdse_command import TdseCommandTest, datasets

LASER = """
[grid]
xmin = -20.0
xmax = 20.0
points = 81
kinetic = "fd4"
[potential]
charge = 1.0
softening = 1.0
[[pulse]]
envelope = "sine-squared"
intensity = 1e14
wavelength = 100.0
cycles = 2.0
[[pulse]]
envelope = "trapezoid"
amplitude = 0.01
omega = 0.9
duration = 10.0
ramp_cycles = 0.5
phase = 0.3
[absorber]
kind = "polynomial"
width = 8.0
strength = 0.3
[time]
step = 0.1
steps = 40
[initial]
kind = "imaginary-time"
levels = [0, 2, 1]
[output]
every = 8
state = true
radius = 6.0
autocorrelation = true
states = 5
"""

OSCILLATOR = """
[grid]
xmin = -8.0
xmax = 8.0
points = 49
kinetic = "sinc"
[potential]
kind = "harmonic"
[time]
step = 0.1
steps = 400
[initial]
kind = "gaussian"
position = 1.0
width = 0.7071067811865476
[output]
every = 50
autocorrelation = true
"""


class LaserTest(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("laser.toml", LASER)
        self.write("oscillator.toml", OSCILLATOR)


class Runs(LaserTest):
    def test_a_run_that_ends_before_a_pulses_middle_says_so(self):
        # Middles are at 13.8 and 5; a gaussian's is five durations after its beginning.
        for settings, notes in ((["time.steps=40"], 2), (["time.steps=200"], 0),
                                (["time.steps=200", "pulse.1.envelope=gaussian"], 1)):
            words = [word for setting in settings for word in ("--set", setting)]
            result = self.run_command("tdse", "laser.toml", "--force", "--no-progress", *words)
            self.assertEqual(result.code, 0, result.errors)
            self.assertEqual(result.output.count("note: ends at t = "), notes, settings)

    def test_file_of_several_wave_functions(self):
        report = self.tdse("laser.toml", "--output", "run.h5")
        self.assertEqual(report["inputs"]["pulses"], 2)
        self.assertEqual(report["inputs"]["absorber"], "polynomial")
        self.assertIn("norm_growth_per_step", report["checks"])
        with h5py.File(self.path("run.h5"), "r") as file:
            x, t, psi = file["grid/x"][:], file["time/t"][:], file["psi"][:]
            dx = x[1] - x[0]
            self.assertEqual(psi.shape, (6, 3, 81))
            numpy.testing.assert_allclose(abs(psi) ** 2, file["density"][:], rtol=1e-14, atol=1e-300)
            self.assertEqual(file["observables/norm"].shape, (41, 3))
            self.assertEqual(file["observables/populations"].shape, (41, 3, 5))
            self.assertEqual(file["observables/energies"].shape, (41, 5))
            # Levels 0, 2 and 1, and the pulses' field by the formula.
            numpy.testing.assert_allclose(file["observables/populations"][0].argmax(axis=1), [0, 2, 1])
            omega = 45.5633525316 / 100
            duration = 2 * 2 * math.pi / omega
            first = math.sqrt(1e14 / 3.5094455e16) * numpy.sin(math.pi * t / duration) ** 2 * numpy.cos(
                omega * (t - duration / 2)) * (t < duration)
            ramp = 0.5 * 2 * math.pi / 0.9
            second = 0.01 * numpy.clip(numpy.minimum(t, 10 - t) / ramp, 0, 1) * numpy.cos(0.9 * (t - 5) + 0.3)
            numpy.testing.assert_allclose(file["observables/field"][:], first + second, atol=1e-9)
            # Absorbed, outside, ionised and autocorrelation as numpy finds them.
            last = file["restart/psi"][:]
            numpy.testing.assert_array_equal(last, psi[-1])
            numpy.testing.assert_array_equal(file["restart/first"][:], psi[0])
            probability = (abs(psi) ** 2).sum(axis=2) * dx
            numpy.testing.assert_allclose(file["observables/absorbed"][::8], 1 - probability, atol=1e-14)
            inside = (abs(psi[:, :, abs(x) <= 6.0]) ** 2).sum(axis=2) * dx
            numpy.testing.assert_allclose(file["observables/outside"][::8], 1 - inside, atol=1e-14)
            bound = file["observables/energies"][:] < 0
            populations = (file["observables/populations"][:] * bound[:, None, :]).sum(axis=2)
            numpy.testing.assert_allclose(file["observables/ionisation"][:], 1 - populations, atol=1e-14)
            overlaps = (psi[0].conj() * psi).sum(axis=2) * dx
            numpy.testing.assert_allclose(file["observables/autocorrelation"][::8], overlaps, atol=1e-13)
            cross = abs(numpy.einsum("fjx,fkx->fjk", psi.conj(), psi)) * dx
            expected = [max(frame[0, 1], frame[0, 2], frame[1, 2]) for frame in cross]
            numpy.testing.assert_allclose(file["observables/largest_overlap"][::8], expected, atol=1e-13)
            self.assertLess(expected[0], 1e-12)
            depth = numpy.clip(abs(x) - 12, 0, None)
            numpy.testing.assert_allclose(file["potential/absorber"][:], 0.3 * (depth / 8) ** 2, atol=1e-14)
            self.assertEqual(len(report["results"]["wave_functions"]), 3)
            self.assertAlmostEqual(report["results"]["wave_functions"][1]["norm"], file["observables/norm"][-1, 1])
            self.assertGreater(file["observables/absorbed"][-1, 1], 1e-9)
            for name in ("observables/field", "observables/absorbed", "potential/absorber", "spectrum/dipole"):
                self.assertTrue(file[name].attrs["unit"] and file[name].attrs["description"])
            self.write("resolved.toml", file.attrs["deck"])
        # The resolved deck, in atomic units, gives the same run.
        self.tdse("resolved.toml", "--output", "again.h5")
        self.assertEqual(datasets(self.path("again.h5")), datasets(self.path("run.h5")))
        self.tdse("laser.toml", "--output", "ranks.h5", ranks=2)
        self.assertEqual(datasets(self.path("ranks.h5")), datasets(self.path("run.h5")))

    def test_each_wave_function_is_what_it_would_be_alone(self):
        # `auto` judges all wave functions together, and may take another method for one of them alone.
        settings = ["--set", "initial.kind=eigenstate", "--propagator", "chebyshev", "--set", "propagator.order=4"]
        self.tdse("laser.toml", "--output", "all.h5", *settings)
        self.tdse("laser.toml", "--output", "one.h5", *settings, "--set", "initial.level=2")
        with h5py.File(self.path("all.h5"), "r") as several, h5py.File(self.path("one.h5"), "r") as one:
            self.assertEqual(one["psi"].shape, (6, 81))
            self.assertNotIn("observables/largest_overlap", one)
            for name in ("norm", "energy", "absorbed", "autocorrelation", "populations"):
                numpy.testing.assert_array_equal(several["observables/" + name][:, 1], one["observables/" + name][:])
            numpy.testing.assert_array_equal(several["psi"][:, 1], one["psi"][:])

    def test_continues_bit_for_bit(self):
        for absorber in ("polynomial", "transmission-free", "mask"):
            with self.subTest(absorber):
                settings = ["--set", f"absorber.kind={absorber}"]
                self.tdse("laser.toml", "--output", "straight.h5", *settings)
                self.tdse("laser.toml", "--output", "half.h5", *settings, "--set", "time.steps=17")
                self.tdse("laser.toml", "--output", "whole.h5", *settings, "--restart", "half.h5", ranks=2)
                self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))

    def test_automatic_continues_with_what_it_took(self):
        settings = ["--propagator", "auto", "--set", "propagator.tolerance=1e-4"]
        report = self.tdse("laser.toml", "--output", "straight.h5", *settings)
        self.assertRegex(report["results"]["propagator"], "order .*asked for")
        self.tdse("laser.toml", "--output", "half.h5", *settings, "--set", "time.steps=17")
        self.tdse("laser.toml", "--output", "whole.h5", *settings, "--restart", "half.h5")
        with h5py.File(self.path("half.h5"), "r") as half, h5py.File(self.path("straight.h5"), "r") as straight:
            # Chosen for another duration, it may be another: then there is nothing to compare.
            same = all(half.attrs[name] == straight.attrs[name] for name in half.attrs if "propagator" in name)
        with h5py.File(self.path("whole.h5"), "r") as whole, h5py.File(self.path("half.h5"), "r") as half:
            self.assertEqual(whole.attrs["propagator"], half.attrs["propagator"])
            self.assertEqual(whole.attrs["propagator_tolerance"], half.attrs["propagator_tolerance"])
        if same:
            self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))

    def test_checkpoints_by_steps(self):
        # A folder that goes away ends the run at the first checkpoint: after step 7, not by the clock.
        os.mkdir(self.path("folder"))
        words = [COMMAND, "tdse", "laser.toml", "--force", "--output", "folder/run.h5", "--set", "time.steps=1000000", "--set",
                 "output.checkpoint_steps=7", "--checkpoint", "1e9", "--no-progress", "--quiet"]
        with self.start(words) as process:
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("folder/run.partial.h5")) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
        with h5py.File(self.path("folder/run.partial.h5"), "r") as file:
            self.assertEqual(file.attrs["steps_done"] % 7, 0)
            self.assertGreater(file.attrs["steps_done"], 0)

    def test_signal_ends_a_run_with_a_checkpoint(self):
        for number, ranks in ((signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2)):
            with self.subTest(number=number, ranks=ranks):
                # `auto` may choose another propagator for another duration, as for 57 and 86 steps.
                settings = ["--set", "output.every=1", "--set", "initial.levels=[0, 1]", "--propagator", "chebyshev"]
                words = [COMMAND, "tdse", "laser.toml", "--force", "--output", "run.h5", "--set", "time.steps=1000000",
                         "--checkpoint", "0", "--no-progress", "--quiet", *settings]
                if ranks > 1:
                    words = [MPIEXEC, "-n", str(ranks), *words]
                with self.start(words, stderr=subprocess.PIPE, text=True) as process:
                    deadline = time.monotonic() + 60
                    while not os.path.exists(self.path("run.partial.h5")) and time.monotonic() < deadline:
                        time.sleep(0.01)
                    process.send_signal(number)
                    _, errors = process.communicate(timeout=60)
                self.assertNotEqual(process.returncode, 0)
                with h5py.File(self.path("run.partial.h5"), "r") as file:
                    done = int(file.attrs["steps_done"])
                    self.assertEqual(file.attrs["complete"], 0)
                if ranks == 1:
                    self.assertEqual(process.returncode, 1, errors)
                    self.assertRegex(errors, f"interrupted after step {done} of 1000000; --restart run.partial.h5")
                settings += ["--set", f"time.steps={done + 2}"]
                self.tdse("laser.toml", "--output", "run.h5", *settings, "--restart", "run.partial.h5")
                self.assertFalse(os.path.exists(self.path("run.partial.h5")))
                if done < 2000:
                    self.tdse("laser.toml", "--output", "straight.h5", *settings)
                    self.assertEqual(datasets(self.path("run.h5")), datasets(self.path("straight.h5")))
                os.remove(self.path("run.h5"))

    def test_spectrum_of_the_autocorrelation(self):
        self.tdse("oscillator.toml", "--output", "run.h5")
        with h5py.File(self.path("run.h5"), "r") as file:
            energy, spectrum = file["spectrum/energy"][:], file["spectrum/autocorrelation"][:]
            t, record = file["time/t"][:], file["observables/autocorrelation"][:]
        for level in range(3):
            near = abs(energy - level - 0.5) < 0.4
            top = energy[near][spectrum[near].argmax()]
            self.assertAlmostEqual(top, level + 0.5, delta=0.5 * 2 * math.pi / t[-1])
        # As numpy integrates it.
        window = numpy.cos(math.pi * t / (2 * t[-1])) ** 2
        weights = numpy.full(len(t), t[1] - t[0])
        weights[[0, -1]] /= 2
        expected = [(record * window * weights * numpy.exp(1j * e * t)).sum().real / math.pi for e in energy]
        numpy.testing.assert_allclose(spectrum, expected, atol=1e-10)
        self.tdse("oscillator.toml", "--output", "run.h5", "--set", "output.spectrum_from=0.4", "--set",
                  "output.spectrum_to=0.6", "--set", "output.window=rectangular")
        with h5py.File(self.path("run.h5"), "r") as file:
            self.assertEqual((file["spectrum/energy"][0], file["spectrum/energy"][-1]), (0.4, 0.6))

    def test_range_of_the_harmonic_spectrum(self):
        omega = 45.5633525316 / 100
        for settings, largest in ((["output.harmonics=2.5"], 2.5 * omega), ([], 40 * omega),
                                  (["output.harmonics=1e300"], math.pi / 0.1)):
            self.tdse("laser.toml", "--output", "run.h5", *(word for one in settings for word in ("--set", one)))
            with h5py.File(self.path("run.h5"), "r") as file:
                frequencies = file["spectrum/frequency"][:]
                self.assertEqual(frequencies[0], 0)
                self.assertAlmostEqual(frequencies[-1], largest)
                self.assertLessEqual(frequencies[1], 2 * math.pi / 4 / 8 * 1.0000001)
                self.assertEqual(file["spectrum/dipole"].shape[-1], len(frequencies))

    def test_table(self):
        self.tdse("laser.toml", "--output", "run.h5", "--set", "output.table=run.txt", "--set", "initial.levels=[]")
        with open(self.path("run.txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        names = lines[1].split()[1:]
        self.assertEqual(names[:6], ["t", "field", "norm", "energy", "position", "dipole"])
        rows = numpy.array([[float(value) for value in line.split()] for line in lines[2:]])
        self.assertEqual(rows.shape, (41, len(names)))
        with h5py.File(self.path("run.h5"), "r") as file:
            numpy.testing.assert_array_equal(rows[:, names.index("t")], file["time/t"][:])
            for name in ("field", "norm", "absorbed", "ionisation", "outside"):
                numpy.testing.assert_array_equal(rows[:, names.index(name)], file["observables/" + name][:])
            numpy.testing.assert_array_equal(rows[:, names.index("population_1")],
                                             file["observables/populations"][:, 1])
            numpy.testing.assert_array_equal(rows[:, names.index("im_autocorrelation")],
                                             file["observables/autocorrelation"][:].imag)
        self.tdse("laser.toml", "--output", "run.h5", "--set", "output.table=run.txt")
        with open(self.path("run.txt"), encoding="utf-8") as file:
            self.assertIn("energy_2", file.read())

    def test_imaginary_time_starts_at_the_ground_state(self):
        report = self.tdse("laser.toml", "--set", "time.steps=0", "--output", "a.h5")
        expected = self.tdse("laser.toml", "--eigen", "3")["results"]["energies"]
        found = [one["energy"] for one in report["results"]["wave_functions"]]
        for level, energy in zip((0, 2, 1), found):
            self.assertAlmostEqual(energy, expected[level], delta=1e-10)

    def test_states_of_another_run(self):
        self.tdse("laser.toml", "--output", "a.h5", "--set", "time.steps=3")
        settings = ["--set", "initial.kind=file", "--set", "initial.file=a.h5", "--set", "initial.levels=[]"]
        report = self.tdse("laser.toml", "--output", "b.h5", "--set", "time.steps=0", *settings)
        self.assertEqual(len(report["results"]["wave_functions"]), 3)

    def test_pulses_by_settings(self):
        report = self.tdse("laser.toml", "--set", "pulse.amplitude=0", "--set", "pulse.2.intensity=0", "--set",
                           "absorber.kind=none", "--set", "output.radius=0", "--output", "run.h5")
        self.assertIn("energy_drift", report["checks"])
        with h5py.File(self.path("run.h5"), "r") as file:
            self.assertTrue((file["observables/field"][:] == 0).all())
            self.assertNotIn("observables/absorbed", file)
            self.assertNotIn("observables/outside", file)

    def test_shipped_decks_run(self):
        for name in ("h2plus-laser", "harmonic-spectrum"):
            with self.subTest(name):
                self.assertEqual(self.tdse(name, "--set", "time.steps=4")["results"]["steps"], 4)

    def test_pictures(self):
        for settings in ([], ["--set", "initial.levels=[]"], ["--set", "pulse.1.amplitude=0"]):
            self.tdse("laser.toml", "--output", "run.h5", *settings)
            result = self.run_command("plot", "run.h5")
            self.assertEqual((result.code, result.errors), (0, ""), result.errors)
        self.tdse("oscillator.toml", "--output", "run.h5")
        self.assertEqual(self.run_command("plot", "run.h5", "--output", "spectrum.png").code, 0)
        self.assert_picture("spectrum.png")


class Refusals(LaserTest):
    def refuse_setting(self, setting, message):
        self.refuse("tdse", "laser.toml", "--set", setting, message=message)

    def refuse_deck(self, old, new, message):
        self.write("bad.toml", LASER.replace(old, new, 1))
        self.refuse("tdse", "bad.toml", message=message)

    def test_decks(self):
        self.refuse_deck("intensity", "intensty", "line 12: unknown key pulse.1.intensty; the nearest known one is "
                         "pulse.intensity")
        self.refuse_deck("intensity = 1e14", "", "line 10: pulse.1.amplitude .or intensity. is missing")
        self.refuse_deck("cycles = 2.0", "cycles = 2.0\nduration = 5.0", "line 14: pulse.1.duration and "
                         "pulse.1.cycles are both given")
        self.refuse_deck("wavelength = 100.0", "wavelength = -1.0", "line 13: pulse.1.wavelength: .*positive")
        self.refuse_deck("wavelength = 100.0", "omega = 0.0", "line 14: pulse.1.cycles needs a carrier")
        self.refuse_deck("[[pulse]]", "[pulse]", "pulse")
        self.refuse_deck("[absorber]", "[[absorber]]", "absorber.*list of tables")
        self.refuse_deck("sine-squared", "square", "line 11: pulse.1.envelope: .*expected one of sine-squared")
        self.refuse_deck("ramp_cycles = 0.5", "ramp = 6.0", "line 15: pulse: ramp = 6")
        self.refuse_deck("levels = [0, 2, 1]", "levels = [0, 0]", "line 31: initial.levels = .0, 0.: .*different")
        self.refuse_deck("levels = [0, 2, 1]", "levels = [0, 0.5]", "line 31: .*whole number")
        self.refuse_deck("levels = [0, 2, 1]", "levels = 3", "line 31: .*expected whole numbers")
        self.refuse_deck("levels = [0, 2, 1]", "levels = [1]\nlevel = 2", "both given")

    def test_settings(self):
        self.refuse_setting("pulse.1.color=red", "nearest known one is pulse")
        self.refuse_setting("pulse.0.amplitude=1", "counted from 1")
        self.refuse_setting("pulse.3.amplitude=1", "pulse.3.omega .or wavelength. is missing")
        self.refuse_setting("absorber.width=30", "absorber.width = 30 must be positive and at most half")
        self.refuse_setting("absorber.kind=wall", "expected one of none, polynomial, transmission-free, mask")
        self.refuse_setting("initial.kind=gaussian", "initial.levels needs")
        self.refuse_setting("initial.tolerance=0", "must be positive")
        self.refuse_setting("output.radius=-1", "must not be negative")
        self.refuse_setting("output.spectrum_to=-1", "greater than output.spectrum_from")
        self.refuse_setting("output.harmonics=0", "output.harmonics = 0.0 must be positive")
        self.refuse_setting("output.window=hamming", "expected one of hann, rectangular")
        self.refuse_setting("output.checkpoint_steps=-1", "must not be negative")
        self.refuse_setting("output.table=missing/run.txt", "missing/run.txt")
        self.refuse("tdse", "laser.toml", "--set", "initial.tolerance=1e-30", code=1, message="imaginary time: resid")

    def test_restarts(self):
        self.tdse("laser.toml", "--output", "run.h5", "--set", "time.steps=4")
        restart = ["tdse", "laser.toml", "--restart", "run.h5"]
        self.refuse(*restart, "--set", "pulse.2.phase=0.4", message="pulse.2.phase = 0.3 against 0.4")
        self.refuse(*restart, "--set", "absorber.width=7", message="absorber.width")
        self.refuse(*restart, "--set", "output.radius=0", message="output.radius")
        self.write("one.toml", LASER[:LASER.index("[[pulse]]")] + LASER[LASER.index("[[pulse]]\nenvelope = \"t"):])
        self.refuse("tdse", "one.toml", "--restart", "run.h5", message="pulse")


class Accuracy(LaserTest):
    KICK = ["--set", "pulse.1.envelope=sine-squared", "--set", "pulse.1.amplitude=5.0", "--set", "pulse.1.omega=1e-3",
            "--set", "pulse.1.duration=0.02", "--set", "pulse.1.centre=2.0"]
    RUN = ["oscillator.toml", "--set", "initial.kind=eigenstate", "--set", "time.steps=36", "--set", "output.states=0",
           "--set", "grid.points=97"]

    def test_a_kick_between_two_samples(self):
        results = self.tdse(*self.RUN, *self.KICK)["results"]
        # A kick of 0.05, less what the second moment of its envelope takes off.
        exact = -0.05 * math.sin(1.6) * (1 - 0.02**2 * (1 / 12 - 1 / (2 * math.pi**2)) / 2)
        self.assertAlmostEqual(results["position"], exact, delta=1e-7)
        self.assertLess(abs(results["position"] - exact), results["position_error"] + 1e-7)
        self.assertLess(results["psi_error"], 1e-5)

    def test_other_methods_say_that_they_miss_it(self):
        for kind in ("chebyshev", "expm", "magnus4", "crank-nicolson", "split-operator"):
            with self.subTest(kind):
                result = self.run_command("tdse", *self.RUN, *self.KICK, "--propagator", kind, "--force", "--no-progress")
                self.assertRegex(result.output, "note: the envelope of the pulse lasts 0.2 steps of 0.1")
                self.assertRegex(result.output, "error of psi: [0-9.]+e-0[12]")
        carrier = ["--set", "pulse.1.amplitude=50", "--set", "pulse.1.omega=30", "--set", "pulse.1.duration=2"]
        result = self.run_command("tdse", *self.RUN, *carrier, "--propagator", "chebyshev", "--force", "--no-progress")
        self.assertRegex(result.output, "note: a step of 0.1 turns the carrier of the pulse by 3 radians")

    def test_ionisation_has_two_digits_and_its_error(self):
        one = ["laser.toml", "--set", "initial.levels=[0]", "--set", "time.steps=160"]
        result = self.run_command("tdse", *one, "--output", "run.h5", "--force", "--no-progress")
        self.assertEqual(result.code, 0, result.errors)
        self.assertRegex(result.output, r"ionised [0-9.]+(e-\d+)? \+- \de-\d+: in none")
        exact = self.tdse(*one, "--propagator", "chebyshev", "--set", "propagator.order=4", "--set", "time.step=0.0125",
                          "--set", "time.steps=1280")["results"]["ionisation"]
        with h5py.File(self.path("run.h5"), "r") as file:
            found, error = file["observables/ionisation"][-1], file["errors/ionisation"][-1]
            self.assertEqual(file["errors/ionisation"].shape, (161,))
        self.assertLess(abs(found - exact), max(error, 1e-12))
        self.assertLess(error, 0.005 * found)

    def test_what_is_below_its_error_is_marked(self):
        report = self.tdse("oscillator.toml", "--set", "initial.position=0.0", "--set", "time.steps=10")
        self.assertIn("position", report["results"]["below_error"])
        self.assertNotIn("energy", report["results"]["below_error"])

    def test_files_without_errors_are_continued(self):
        settings = ["--propagator", "chebyshev"]
        self.tdse("oscillator.toml", "--output", "half.h5", "--set", "time.steps=20", *settings)
        with h5py.File(self.path("half.h5"), "r+") as file:
            del file["errors"]
        result = self.run_command("tdse", "oscillator.toml", "--output", "whole.h5", "--set", "time.steps=40", *settings,
                                  "--restart", "half.h5", "--force", "--no-progress")
        self.assertEqual(result.code, 0, result.errors)
        self.assertIn("error of psi: not known", result.output)
        with h5py.File(self.path("half.h5"), "r+") as file:
            file["errors/state"] = [1.0, 2.0]
            for name in ("psi", "energy", "position"):
                file["errors/" + name] = numpy.zeros(21)
            file["errors/populations"] = numpy.zeros((21, 4))
        self.refuse("tdse", "oscillator.toml", "--output", "whole.h5", "--set", "time.steps=40", *settings, "--restart",
                    "half.h5", "--force", message="half.h5: dataset /errors/state has 2 values; expected 6")

    def test_a_grid_that_does_not_resolve_psi(self):
        self.write("fine.toml", """
[grid]
xmin = -10.0
xmax = 10.0
dx = 0.1
kinetic = "fd2"
[potential]
charge = 30.0
softening = 0.1
[time]
step = 0.002
steps = 4
[propagator]
kind = "chebyshev"
""")
        for settings, noted in (([], True), (["--set", "grid.dx=0.025", "--set", "grid.kinetic=fd6"], False)):
            result = self.run_command("tdse", "fine.toml", "--force", "--no-progress", *settings)
            self.assertEqual("off psi's kinetic energy" in result.output, noted, result.output)
        self.assertAlmostEqual(self.tdse("fine.toml")["results"]["dx_kinetic_error"], 0.032, delta=0.003)


if __name__ == "__main__":
    unittest.main()
