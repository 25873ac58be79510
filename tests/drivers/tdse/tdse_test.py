"""`heddle tdse` and `heddle plot` as a user runs them: what they compute, and what they write."""

import math
import os
import tomllib
import unittest

import h5py
import numpy

from command import heddle
from tdse_command import datasets
from tdse_decks import SMALL, TdseTest

DECKS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "src", "drivers", "decks")


class Runs(TdseTest):
    def test_energies_of_soft_core_hydrogen(self):
        # -1/sqrt(x^2 + 2) has the ground state energy -1/2; grid, potential and nuclei are all that is needed.
        self.write("atom.toml", """
            [grid]
            xmin = -40
            xmax = 40
            points = 401
            kinetic = "sinc"
            [potential]
            charge = 0.5
            softening = 2
            [nuclei]
            separation = 0
        """)
        energies = self.tdse("atom.toml", "--eigen", 3)["results"]["energies"]
        self.assertEqual(len(energies), 3)
        self.assertAlmostEqual(energies[0], -0.5, delta=1e-10)
        self.assertEqual(energies, sorted(energies))
        self.assertEqual(self.tdse("atom.toml", "--eigen", 3, ranks=2)["results"]["energies"], energies)

    def test_file_describes_itself(self):
        report = self.tdse("small.toml", "--output", "run.h5")
        self.assertLess(report["results"]["norm_error"], 1e-12)
        with h5py.File(self.path("run.h5"), "r") as file:
            x, t = file["grid/x"][:], file["time/t"][:]
            numpy.testing.assert_allclose(x, numpy.linspace(-6, 6, 61), atol=1e-14)
            numpy.testing.assert_array_equal(t, numpy.arange(21) * 0.02)
            numpy.testing.assert_array_equal(file["frames/step"][:], numpy.arange(0, 21, 4))
            density, psi = file["density"][:], file["psi"][:]
            self.assertEqual(density.shape, (6, 61))
            numpy.testing.assert_allclose(abs(psi) ** 2, density, rtol=1e-14, atol=1e-300)
            numpy.testing.assert_array_equal(file["restart/psi"][:], psi[-1])
            dx = x[1] - x[0]
            numpy.testing.assert_allclose((density.sum(axis=1) * dx) ** 0.5, file["observables/norm"][::4], rtol=1e-13)
            numpy.testing.assert_allclose((density * x).sum(axis=1) * dx, file["observables/position"][::4], atol=1e-13)
            shift = 1 + 0.5 * numpy.sin(3 * t)
            numpy.testing.assert_allclose(file["nuclei/position"][:], numpy.stack([-shift, shift], axis=1), rtol=1e-14)
            self.assertEqual(file["observables/populations"].shape, (21, 4))
            self.assertAlmostEqual(file["observables/populations"][0, 0], 1, delta=1e-12)
            self.assertAlmostEqual(file["observables/energies"][0, 0], file["observables/energy"][0], delta=1e-12)
            self.assertEqual(report["results"]["energy"], file["observables/energy"][-1])
            for name in ("grid/x", "time/t", "density", "observables/energy", "restart/psi"):
                self.assertTrue(file[name].attrs["unit"] and file[name].attrs["description"])
            self.assertEqual((file.attrs["complete"], file.attrs["steps_done"]), (1, 20))
            self.assertRegex(file.attrs["heddle_version"], r"^\d+\.\d+\.\d+$")
            self.assertTrue(file.attrs["git_hash"])
            self.write("resolved.toml", file.attrs["deck"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["report.json", "resolved.toml", "run.h5", "small.toml"])
        # The resolved deck gives the same run.
        self.tdse("resolved.toml", "--output", "again.h5")
        self.assertEqual(datasets(self.path("again.h5")), datasets(self.path("run.h5")))

    def test_coherent_state_swings(self):
        self.tdse("harmonic-coherent", "--set", "time.steps=100")
        with h5py.File(self.path("harmonic-coherent.h5"), "r") as file:
            expected = 3 * numpy.cos(file["time/t"][:])
            numpy.testing.assert_allclose(file["observables/position"][:], expected, atol=1e-9)

    def test_a_deck_writes_below_the_working_directory(self):
        inside = os.path.join(self.folder, "inside")
        os.mkdir(inside)
        outside = self.path("outside.h5")

        def deck(key, value):
            self.write("inside/deck.toml", SMALL.replace("[output]", f"[output]\n{key} = {value!r}"))

        def run(*arguments):
            return heddle("tdse", "deck.toml", "--no-progress", "--set", "time.steps=4", *arguments, folder=inside)

        for key in ("file", "table"):
            for value in (outside, "../outside.h5", "a/../../outside.h5"):
                with self.subTest(key=key, value=value):
                    deck(key, value)
                    result = run()
                    self.assertEqual((result.code, len(result.complaints)), (2, 1), result.errors)
                    self.assertRegex(result.errors, rf"deck.toml, line \d+: output.{key} = '.*--set output.{key}=PATH")
                    self.assertFalse(os.path.exists(outside))
        deck("file", "../outside.h5")
        self.assertEqual(run("--eigen", 2).code, 0)
        self.assertEqual(run("--set", "output.file=../outside.h5").code, 0)
        self.assertEqual(run("--output", outside, "--force").code, 0)
        # The file that is continued is named by the user, and its folder with it.
        again = heddle("tdse", "--restart", "../outside.h5", "--no-progress", "--set", "time.steps=8", folder=inside)
        self.assertEqual(again.code, 0, again.errors)
        os.mkdir(os.path.join(inside, "sub"))
        deck("file", "sub/../sub/run.h5")
        self.assertEqual(run().code, 0)
        self.assertTrue(os.path.exists(os.path.join(inside, "sub", "run.h5")))

    def test_shipped_decks_run(self):
        for name in ("h2plus", "h2plus-stretch", "h2plus-stationary", "harmonic-coherent", "drift"):
            with self.subTest(name):
                self.assertEqual(self.tdse(name, "--set", "time.steps=2")["results"]["steps"], 2)

    def test_shipped_decks_are_taken_by_name(self):
        names = [name.removesuffix(".toml") for name in os.listdir(DECKS)]
        message = self.refuse("tdse", "nowhere", message="nowhere: there is no such deck").complaints[0]
        shipped = message[message.index("(shipped ones: ") + 15:].rstrip(")").split(", ")
        self.assertEqual(sorted(shipped), sorted(names))
        for given in ("drift", "drift.toml"):
            self.tdse(given, "--set", "time.steps=2")
        self.assertEqual(sorted(os.listdir(self.folder)), ["drift.h5", "report.json", "small.toml"])
        self.assertEqual(sorted(os.listdir(DECKS)), sorted(name + ".toml" for name in names))
        # A file of that name goes first, and a name with a folder is that of a file.
        self.write("drift", SMALL)
        self.assertEqual(self.tdse("drift", "--set", "time.steps=2", "--output", "own.h5")["inputs"]["points"], 61)
        self.refuse("tdse", "./h2plus", message="./h2plus: there is no such deck")

    def test_nodes_of_the_stretched_wells_come_and_go_without_flicker(self):
        # Levels 0 and 2 beat: two nodes between the wells, twice. A restart within the first time, after step 928, at which
        # they go on but would not begin, follows the same nodes.
        how = ["--propagator", "chebyshev", "--set", "propagator.order=4", "--set", "output.states=0"]
        self.tdse("h2plus-stretch", *how, "--output", "straight.h5")
        with h5py.File(self.path("straight.h5"), "r") as file:
            t, nodes = file["time/t"][:], file["observables/nodes"][:]
            places = file["observables/node_positions"][:].reshape(-1, 2)
        changes = numpy.flatnonzero(numpy.diff(nodes)) + 1
        self.assertEqual([nodes[0], *nodes[changes]], [0, 2, 0, 2, 0])
        numpy.testing.assert_allclose(t[changes], [1.798, 1.864, 2.018, 2.066], atol=3e-3)
        numpy.testing.assert_allclose(places[:, 0], -places[:, 1], atol=1e-6)
        self.assertTrue(((places[:, 1] > 0) & (places[:, 1] < 1)).all())
        self.tdse("h2plus-stretch", *how, "--output", "half.h5", "--set", "time.steps=928")
        for ranks in (1, 2):
            self.tdse("h2plus-stretch", *how, "--output", "whole.h5", "--restart", "half.h5", ranks=ranks)
            self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))

    def test_protons_of_h2plus_vibrate_as_their_energies_say(self):
        # The deck says how the protons move; the electron's energies and 1/R say how two protons would.
        separations = numpy.linspace(2.2, 3.0, 9)
        energies = [self.tdse("h2plus", "--eigen", 1, "--set", f"nuclei.separation={R}")["results"]["energies"][0] + 1 / R
                    for R in separations]
        curve = numpy.polynomial.Polynomial.fit(separations, energies, 6)
        lowest = next(root.real for root in curve.deriv().roots() if abs(root.imag) < 1e-9 and 2.2 < root.real < 3.0)
        reduced_mass = 1836.15267 / 2
        omega = numpy.sqrt(curve.deriv(2)(lowest) / reduced_mass)
        with open(os.path.join(DECKS, "h2plus.toml"), "rb") as file:
            deck = tomllib.load(file)
        self.assertAlmostEqual(deck["nuclei"]["separation"], lowest, delta=0.01)
        self.assertAlmostEqual(deck["nuclei"]["omega"] / omega, 1.0, delta=2e-3)
        self.assertAlmostEqual(deck["time"]["step"] * deck["time"]["steps"] * omega / (2 * numpy.pi), 1.0, delta=2e-3)
        amplitude = numpy.sqrt(5 / (reduced_mass * omega))  # of a classical oscillator with the energy of v = 2
        self.assertAlmostEqual(2 * deck["nuclei"]["amplitude"] / amplitude, 1.0, delta=2e-2)
        results = self.tdse("h2plus", "--set", "time.steps=120", "--set", "output.states=3")["results"]
        self.assertLess(1 - results["populations"][0], 5e-5)

    def test_settings_replace_keys(self):
        report = self.tdse("small.toml", "--set", "grid.dx=0.25", "--set", "propagator.kind=crank-nicolson", "--set",
                           "time.steps=3", "--set", "output.file=named.h5")
        self.assertEqual(report["inputs"]["points"], 49)
        self.assertEqual(report["inputs"]["propagator"], "crank-nicolson")
        self.assertEqual(report["results"]["output"], "named.h5")
        # A dx that does not divide the width is rounded so that it does.
        report = self.tdse("small.toml", "--set", "grid.dx=0.7", "--eigen", 1)
        self.assertEqual(report["inputs"]["points"], 18)
        self.assertAlmostEqual(report["inputs"]["dx"], 12 / 17)

    def test_a_setting_without_a_value_removes_a_key(self):
        self.write("less.toml", SMALL.replace('kinetic = "fd4"\n', ""))
        self.succeed("tdse", "small.toml", "--set", "grid.kinetic=sinc", "--set", "grid.kinetic=", "--output", "a.h5")
        self.succeed("tdse", "less.toml", "--output", "b.h5")
        self.succeed("tdse", "small.toml", "--output", "fd4.h5")
        self.assertEqual(datasets(self.path("a.h5")), datasets(self.path("b.h5")))
        self.assertNotEqual(datasets(self.path("a.h5")), datasets(self.path("fd4.h5")))
        # A number that is whole is one in any notation.
        self.succeed("tdse", "small.toml", "--set", "time.steps=1e1", "--set", "grid.points=6.1e1", "--output", "c.h5")
        self.succeed("tdse", "small.toml", "--set", "time.steps=10", "--output", "d.h5")
        self.assertEqual(datasets(self.path("c.h5")), datasets(self.path("d.h5")))

    def test_ranks_give_the_same_file(self):
        self.tdse("small.toml", "--output", "one.h5")
        for ranks in (2, 3):
            self.tdse("small.toml", "--output", "many.h5", ranks=ranks)
            self.assertEqual(datasets(self.path("many.h5")), datasets(self.path("one.h5")))

    def test_restart_is_bit_for_bit(self):
        self.tdse("small.toml", "--output", "straight.h5")
        self.tdse("small.toml", "--output", "half.h5", "--set", "time.steps=10")
        self.assertEqual(len(datasets(self.path("half.h5"))["time/t"][2]), 11 * 8)
        self.tdse("small.toml", "--output", "whole.h5", "--restart", "half.h5")
        self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))
        self.tdse("small.toml", "--output", "whole.h5", "--restart", "half.h5", ranks=2)
        self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))
        # Nothing left to do is fine too, and so is a file continued in its own place.
        self.tdse("small.toml", "--output", "straight.h5", "--restart", "straight.h5")
        self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))

    def test_certificates_of_the_exponentials(self):
        few = ["--set", "time.steps=2", "--output", "run.h5"]
        for kind in ("expm", "magnus4"):
            with self.subTest(kind=kind):
                report = self.tdse("small.toml", *few, "--propagator", kind, "--certificate", ranks=2)
                self.assertEqual(report["checks"]["certificate"]["value"], report["results"]["certificate"])
                self.assertLessEqual(report["results"]["certificate"], 1e-12)
                self.assertIn("certificate", report["times"])
        # A series of degree 2 is 1e-4 from the exponential or so.
        result = self.run_command("tdse", "small.toml", *few, "--set", "propagator.degree=4", "--certificate",
                                  "--force", "--json", "report.json")
        self.assertEqual(result.code, 1)
        self.assertIn("not proven", result.output)
        self.refuse("tdse", "small.toml", *few, "--propagator", "chebyshev", "--certificate", message="certificate")
        self.refuse("tdse", "small.toml", *few, "--certificate-tolerance", 1, message="--certificate")

    def test_every_propagator(self):
        # At rest, from a state with energies of many levels: what each keeps is checked, and what it does is the same
        # on any number of ranks and across a restart.
        rest = ["--set", "nuclei.motion=fixed", "--set", "initial.kind=gaussian", "--set", "initial.position=1"]
        for kind in ("expm", "magnus4", "crank-nicolson", "split-operator", "chebyshev", "automatic"):
            for tolerance in ("0", "1e-6"):
                with self.subTest(kind=kind, tolerance=tolerance):
                    how = ["--set", f"propagator.kind={kind}", "--set", f"propagator.tolerance={tolerance}"]
                    checks = self.tdse("small.toml", "--output", "run.h5", *rest, *how)["checks"]
                    self.assertIn("norm_change_per_step", checks)
                    self.assertEqual("energy_drift" in checks, kind != "split-operator")
        # A tolerance is the error of an exponential, not its share of ||H dt||.
        for kind in ("expm", "magnus4", "chebyshev"):
            with self.subTest(kind=kind, time_step="1e-3"):
                self.tdse("small.toml", "--output", "run.h5", *rest, "--set", f"propagator.kind={kind}", "--set",
                          "propagator.tolerance=1e-3", "--set", "time.step=1e-3")
        for kind in ("split-operator", "chebyshev"):
            with self.subTest(kind):
                how = ["--set", f"propagator.kind={kind}", "--set", "propagator.order=4"]
                self.tdse("small.toml", "--output", "straight.h5", *how)
                self.tdse("small.toml", "--output", "ranks.h5", *how, ranks=2)
                self.assertEqual(datasets(self.path("ranks.h5")), datasets(self.path("straight.h5")))
                self.tdse("small.toml", "--output", "half.h5", *how, "--set", "time.steps=10")
                self.tdse("small.toml", "--output", "whole.h5", *how, "--restart", "half.h5", ranks=2)
                self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))

    def test_states_of_nearly_equal_levels_are_orthogonal(self):
        for kind in ("eigenstate", "imaginary-time"):
            with self.subTest(kind):
                results = self.tdse("h2plus-stationary", "--set", "nuclei.separation=8", "--set", "time.steps=0",
                                    "--set", "initial.levels=[0, 1, 2, 3]", "--set", f"initial.kind={kind}")["results"]
                self.assertLess(results["largest_overlap"], 1e-12)

    def test_what_grows_beyond_all_bounds_passes_no_check(self):
        # psi grows a thousandfold in a step, until its square is infinite: its norm and its energy still are numbers.
        self.refuse("tdse", "small.toml", "--set", "propagator.degree=1", "--set", "time.step=10", "--set",
                    "nuclei.motion=fixed", "--set", "time.steps=80", "--allow-growth", "--no-progress", "--json",
                    "report.json", code=1, message="norm_change_per_step")
        report = self.report()
        for name in ("norm_change_per_step", "energy_drift"):
            self.assertGreater(report["results"][name], 1.0)
            self.assertFalse(report["checks"][name]["passed"])
        self.assertGreater(report["results"]["norm_change_per_step"], 1e200)

    def test_setting_replaces_what_it_excludes(self):
        two_steps = ["--set", "time.steps=2"]
        self.tdse("h2plus-stretch", *two_steps, "--set", "propagator.tolerance=1e-8")
        deck = self.report()["inputs"]["deck"]
        self.assertRegex(deck, r"(?m)^degree = 0 ")
        self.tdse("h2plus-stretch", *two_steps, "--set", "propagator.kind=chebyshev")
        self.write("loose.toml", SMALL.replace("[propagator]", "[propagator]\ntolerance = 1e-8"))
        self.tdse("loose.toml", *two_steps, "--set", "propagator.degree=10")
        self.assertRegex(self.report()["inputs"]["deck"], r"(?m)^degree = 10 ")

    def test_file_names_begin_where_they_are_given(self):
        os.mkdir(self.path("decks"))
        x = numpy.linspace(-6, 6, 61)
        for folder, stiffness in (("decks", 1.0), (".", 4.0)):
            self.write(f"{folder}/v.txt", "".join(f"{a:.17g},{stiffness * a * a / 2:.17g}\n" for a in x))
            psi = numpy.exp(-stiffness**0.5 * x * x / 2)
            self.write(f"{folder}/psi.txt", "".join(f"{a:.17g} , {b:.17g}\n" for a, b in zip(x, psi)))
        self.write("decks/table.toml", SMALL.replace("charge = 1.0", 'kind = "file"\nfile = "v.txt"').replace(
            "softening = 1.0\n", "").replace('"stretch"', '"fixed"') + '[initial]\nkind = "file"\nfile = "psi.txt"\n')
        for settings, energy in (([], 0.5), (["--set", "potential.file=v.txt", "--set", "initial.file=psi.txt"], 1.0)):
            results = self.tdse("decks/table.toml", "--output", "run.h5", "--set", "time.steps=1", *settings)["results"]
            self.assertAlmostEqual(results["energy"], energy, delta=5e-3)
            self.assertGreater(results["populations"][0], 0.999)

    def test_potential_and_state_from_files(self):
        x = numpy.linspace(-6, 6, 61)
        lines = [f"{a:.17g} {b:.17g} # V\n" for a, b in zip(x, x**2 / 2)]
        self.write("v.txt", "# x V\n\n" + "".join(lines))
        report = self.tdse("small.toml", "--eigen", 2, "--set", "potential.kind=file", "--set", "potential.file=v.txt",
                           "--set", "nuclei.motion=fixed")
        self.assertAlmostEqual(report["results"]["energies"][0], 0.5, delta=1e-3)
        settings = ["--set", "potential.kind=harmonic", "--set", "nuclei.motion=fixed", "--set", "initial.kind=file"]
        # As Fortran writes numbers, behind a byte order mark.
        self.write("psi.txt", "\ufeff" + "".join(f"{a:.9e} {math.exp(-a * a / 2):.17e}\n".replace("e", "D") for a in x))
        self.tdse("small.toml", *settings, "--set", "initial.file=psi.txt", "--output", "a.h5", "--set", "time.steps=5")
        with h5py.File(self.path("a.h5"), "r") as file:
            self.assertGreater(file["observables/populations"][-1, 0], 0.999)
            last = file["restart/psi"][:]
        self.tdse("small.toml", *settings, "--set", "initial.file=a.h5", "--output", "b.h5", "--set", "time.steps=0")
        with h5py.File(self.path("b.h5"), "r") as file:
            numpy.testing.assert_allclose(file["restart/psi"][:], last, atol=1e-14)

    def test_failed_check_is_exit_code_one(self):
        # Degree 3 bears the step, but takes from psi what it leaves out.
        self.refuse("tdse", "small.toml", "--set", "propagator.degree=3", "--no-progress", code=1,
                    message="norm_change_per_step")


class Plot(TdseTest):
    def test_makes_a_picture(self):
        for settings in ([], ["--set", "output.states=0"], ["--set", "time.steps=0"],
                         ["--set", "potential.kind=harmonic", "--set", "nuclei.motion=fixed"]):
            self.tdse("small.toml", "--output", "run.h5", *settings)
            result = self.run_command("plot", "run.h5")
            self.assertEqual((result.code, result.errors), (0, ""), result.errors)
            self.assert_picture("run.png")
            os.remove(self.path("run.png"))

    def test_python_that_cannot(self):
        self.tdse("small.toml", "--output", "run.h5", "--set", "time.steps=1")
        self.refuse("plot", "run.h5", environment={"HEDDLE_PYTHON": "/nonexistent/python"}, message="HEDDLE_PYTHON")
        self.assertFalse(os.path.exists(self.path("run.png")))


if __name__ == "__main__":
    unittest.main()
