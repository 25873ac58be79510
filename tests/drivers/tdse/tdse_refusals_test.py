"""Decks, settings and files that `heddle tdse` refuses."""

import os
import shutil
import unittest

import h5py

from tdse_decks import SMALL, TdseTest


class Refusals(TdseTest):
    def refuse_setting(self, setting, message, **options):
        self.refuse("tdse", "small.toml", "--set", setting, message=message, **options)

    def refuse_deck(self, text, message):
        self.write("bad.toml", text)
        self.refuse("tdse", "bad.toml", message=message)

    def test_decks(self):
        self.refuse("tdse", message="DECK")
        self.refuse("tdse", "nowhere.toml", message="nowhere.toml: there is no such deck")
        self.refuse("tdse", "nowhere.toml", ranks=2, message="nowhere.toml: there is no such deck")
        self.refuse("tdse", self.folder, message="can't be read")
        self.refuse_deck("[grid]\nxmin = = 1\n", "bad.toml, line 2")
        self.refuse_deck("[grid]\nxmax = 1\npoints = 5\n", "grid.xmin is missing")
        self.refuse_deck("[grid]\nxmin = 0\nxmax = 1\n", "grid.points .*missing")
        self.refuse_deck("[grid]\nxmin = 0\nxmax = 1\npoints = 5\ndx = 0.25\n", "line 5: .*both given")
        self.refuse_deck(SMALL + "[grdi]\nxmin = 0\n", "unknown key grdi.xmin; the nearest known one is grid.xmin")
        self.refuse_deck(SMALL + "[grdi]\n", r"unknown table \[grdi\]")
        self.refuse_deck("points = 5\n" + SMALL, "unknown key points .*nearest known one is grid.points")
        self.refuse_deck(SMALL.replace("points = 61", "pionts = 61"),
                         "line 5: unknown key grid.pionts; the nearest known one is grid.points")
        self.refuse_deck(SMALL.replace("points = 61", "points = 61.5"), "line 5: .*expected a whole number")
        self.refuse_deck(SMALL.replace("points = 61", "points = 1e300"), "line 5: .*expected a whole number")
        self.refuse_deck(SMALL.replace("charge = 1.0", "charge = nan"), "line 8: potential.charge = nan")
        self.refuse_deck(SMALL.replace("softening = 1.0", "softening = inf"), "line 9: potential.softening = inf")
        self.refuse_deck(SMALL.replace("points = 61", "dx = -0.1"), "line 5: grid.dx = -0.1 must be positive")

    def test_settings(self):
        self.refuse_setting("grid.pints=5", "nearest known one is grid.points")
        self.refuse_setting("grid.points", "expected table.key=value")
        self.refuse_setting("grid.points=", "grid.points .*missing")
        self.refuse_setting("grid.points=2", "at least 3")
        self.refuse_setting("grid.points=1000000000", "at most")
        self.refuse_setting("grid.dx=1e-9", "more than")
        self.refuse_setting("grid.dx=0", "must be positive")
        self.refuse_setting("grid.xmax=-7", "must be less")
        self.refuse_setting("grid.xmin=nan", "finite")
        self.refuse_setting("grid.kinetic=fd3", "expected one of fd2, fd4, fd6, sinc")
        self.refuse_setting("potential.kind=square", "expected one of soft-core, harmonic, file")
        self.refuse_setting("potential.kind=harmonic", "needs potential.kind = soft-core")
        self.refuse_setting("potential.kind=file", "needs potential.file|has no nuclei")
        self.refuse_setting("potential.softening=0", "must be positive")
        self.refuse_setting("nuclei.motion=dance", "expected one of fixed, stretch, shake, drift")
        self.refuse_setting("nuclei.separation=-1", "must not be negative")
        self.refuse_setting("time.step=0", "must be positive")
        self.refuse_setting("time.step=soon", "expected a number")
        self.refuse_setting("time.steps=-1", "must not be negative")
        self.refuse_setting("initial.level=61", "levels 0 to 60")
        self.refuse_setting("initial.width=-1", "must be positive")
        self.refuse_setting("initial.kind=file", "needs initial.file")
        self.refuse_setting("propagator.kind=euler", "expected one of automatic, expm, .*crank-nicolson")
        self.refuse_setting("propagator.degree=-1", "from 0 to")
        self.refuse_setting("propagator.tolerance=1", "less than 1")
        self.refuse("tdse", "small.toml", "--set", "propagator.tolerance=1e-8", "--set", "propagator.degree=10",
                    message="both given")
        for kind in ("crank-nicolson", "split-operator", "chebyshev", "automatic"):
            self.refuse("tdse", "small.toml", "--set", f"propagator.kind={kind}", "--set", "propagator.degree=10",
                        message=f"propagator.degree = 10: propagator {kind} has no Taylor series")
        self.refuse("tdse", "small.toml", "--set", "propagator.kind=chebyshev", "--set", "time.step=1e9",
                    "--set", "nuclei.motion=fixed", "--no-progress", message="take a smaller step")
        self.refuse("tdse", "small.toml", "--set", "potential.kind=harmonic", "--set", "nuclei.motion=fixed", "--set",
                    "potential.omega=1e200", message="potential.omega: V = inf at point 1, x = -6")
        for kind in ("automatic", "expm", "magnus4", "chebyshev", "split-operator", "crank-nicolson"):
            for step in ("1e300", "1e100", "1e17"):
                self.refuse("tdse", "small.toml", "--set", f"propagator.kind={kind}", "--set", f"time.step={step}",
                            message=r"^heddle: --set time.step=1e\d+: time.step = 1e\+\d+")
        self.refuse_setting("time.step=1e-320", "--set time.step=.*: time.step = .* must be at least 1e-100")
        self.refuse("tdse", "small.toml", "--set", "grid.xmin=-1e300", "--set", "grid.xmax=1e300",
                    message="--set grid.xmin=-1e300: grid.xmin = -1e\\+300 must be at most 1e\\+100")
        self.refuse("tdse", "small.toml", "--set", "grid.xmin=0", "--set", "grid.xmax=1e-200",
                    message="grid.points = 61 gives a spacing of .*; expected at least 1e-100")
        for key in ("nuclei.separation", "nuclei.amplitude", "nuclei.omega", "nuclei.velocity", "potential.charge",
                    "potential.softening", "initial.momentum", "initial.position", "initial.width"):
            self.refuse_setting(f"{key}=1e200", f"--set {key}=1e200: {key} = 1e\\+200 must be at most")
        self.refuse_setting("potential.softening=1e-300", "must be at least 1e-100")
        self.refuse_setting("initial.kind=guess", "expected one of eigenstate, gaussian, file, imaginary-time")
        self.refuse_setting("pulse.01.omega=0.1", "unknown key pulse.01.omega")
        self.refuse_setting("pulse.0.omega=0.1", "counted from 1")
        self.refuse_setting("output.every=0", "at least 1")
        self.refuse_setting("output.state=maybe", "expected true or false")
        self.refuse_setting("output.states=100", "61 states")
        self.refuse("tdse", "small.toml", "--eigen", 62, message="61 states")
        self.refuse("tdse", "small.toml", "--eigen", 0, message="--eigen")

    def test_output_folder(self):
        self.refuse("tdse", "small.toml", "--output", "missing/run.h5", message="missing/run.h5")
        self.refuse("tdse", "small.toml", "--output", "small.toml/run.h5", message="small.toml/run.h5")
        self.refuse("tdse", "small.toml", "--output", ".", message="folder")
        self.refuse("tdse", "small.toml", "--output", "missing/run.h5", ranks=2, message="missing/run.h5")

    def test_outputs_in_one_file(self):
        os.mkdir(self.path("folder"))
        os.symlink("run.h5", self.path("link.h5"))
        self.write("run.h5", "")
        run = ["tdse", "small.toml", "--output", "run.h5"]
        self.refuse(*run, "--json", "run.h5", message="--json and output.file both write run.h5")
        self.refuse(*run, "--set", "output.table=folder/../run.h5", message="output.file and output.table both write")
        self.refuse(*run, "--set", "output.table=link.h5", message="output.file and output.table both write")
        self.refuse(*run, "--set", "output.table=new.txt", "--json", "./new.txt", ranks=2,
                    message="--json and output.table both write new.txt")
        self.refuse(*run, "--json", "run.partial.h5", message="--json and the unfinished run .*run.partial.h5")
        self.assertEqual(os.path.getsize(self.path("run.h5")), 0)

    def test_text_files(self):
        file = ["--set", "potential.kind=file", "--set", "nuclei.motion=fixed", "--set", "potential.file=v.txt"]
        self.refuse("tdse", "small.toml", *file, message="v.txt: can't be read")
        self.write("v.txt", "-6 0\n0 zero\n6 0\n")
        self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: not a number")
        self.write("v.txt", "-6 0\n0 nan\n6 0\n")
        self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: .*not finite")
        for number in ("+-5", "1-2", "1.5.5", "0x1", "1e", "+"):
            self.write("v.txt", f"-6 0\n0 {number}\n6 0\n")
            self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: not a number")
        for row in ("1,,2", ",1 2", "1, 2,", "1 , , 2"):
            self.write("v.txt", f"-6 0\n{row}\n6 0\n")
            self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: a comma without a number")
        self.write("v.txt", "-6 0\n0 1e400\n6 0\n")
        self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: .*not finite")
        self.write("v.txt", "-6 , +1e-400\n\t6,1E0\r\n")
        self.tdse("small.toml", *file, "--eigen", 1)
        self.write("v.txt", "-6 0\n6 0 0\n")
        self.refuse("tdse", "small.toml", *file, message="v.txt, line 2: 3 numbers")
        self.write("v.txt", "-6 0\n5 0\n")
        self.refuse("tdse", "small.toml", *file, message="does not cover the grid")
        self.write("v.txt", "6 0\n-6 0\n")
        self.refuse("tdse", "small.toml", *file, message="must be greater")
        state = ["--set", "initial.kind=file", "--set", "initial.file=psi.txt"]
        self.write("psi.txt", "-6 1\n6 1\n")
        self.refuse("tdse", "small.toml", *state, message="psi.txt: has 2 points; the grid has 61")
        self.write("psi.txt", "".join(f"{-6 + 0.2 * i} 0\n" for i in range(61)))
        self.refuse("tdse", "small.toml", *state, message="psi.txt: .*zero on the whole grid")

    def test_files_of_earlier_runs(self):
        self.tdse("small.toml", "--output", "run.h5", "--set", "time.steps=4")
        with open(self.path("run.h5"), "rb") as file:
            whole = file.read()
        for size in (0, 100, len(whole) // 2, len(whole) - 8):
            with open(self.path("cut.h5"), "wb") as file:
                file.write(whole[:size])
            self.refuse("tdse", "small.toml", "--restart", "cut.h5", message="cut.h5: is not a readable HDF5 file")
            self.refuse("plot", "cut.h5", message="cut.h5: is not a readable HDF5 file")
        shutil.copy(self.path("run.h5"), self.path("odd.h5"))
        for counts in ([0, 0, 0, 0, 1], [1, -1, 0, 0, 0], [2**62, 2**62, 2**62, 2**62, 0]):
            with h5py.File(self.path("odd.h5"), "r+") as file:
                file["observables/nodes"][:] = counts
            self.refuse("tdse", "small.toml", "--restart", "odd.h5",
                        message="odd.h5: dataset /observables/node_positions has 0 values, which /observables/nodes")
        restart = ["tdse", "small.toml", "--restart", "run.h5"]
        self.refuse("tdse", "small.toml", "--restart", "gone.h5", message="gone.h5: there is no such file")
        self.refuse("plot", "gone.h5", message="gone.h5: there is no such file")
        self.refuse(*restart, "--set", "time.step=0.01", message="time.step = 0.02 against 0.01")
        self.refuse(*restart, "--set", "potential.charge=2", message="potential.charge")
        self.refuse(*restart, "--set", "time.steps=3", message="4 steps already")
        self.refuse(*restart, "--tile", 8, message="tile")
        automatic = ["--set", "propagator.kind=automatic"]
        self.tdse("small.toml", "--output", "auto.h5", "--set", "time.steps=4", *automatic)
        for name, value, message in (("propagator_tolerance", "tight", "_tolerance = tight: expected a number"),
                                     ("propagator_tolerance", "2.0", "propagator.tolerance = 2"),
                                     ("propagator_order", 3, "no order 3"),
                                     ("propagator_substeps", 0, "propagator_substeps = 0: expected 1 to"),
                                     ("propagator_substeps", 2**32 + 1, "propagator_substeps = 4294967297"),
                                     ("propagator", "euler", "propagator = euler: .*expected one of")):
            shutil.copy(self.path("auto.h5"), self.path("bad.h5"))
            with h5py.File(self.path("bad.h5"), "r+") as file:
                if isinstance(value, str):
                    file.attrs[name] = value
                else:
                    file.attrs.modify(name, value)
            self.refuse("tdse", "small.toml", "--restart", "bad.h5", *automatic, message="bad.h5: .*" + message)
        with h5py.File(self.path("other.h5"), "w") as file:
            file["a"] = 1
        self.refuse("tdse", "small.toml", "--restart", "other.h5", message="other.h5: has no attribute deck")
        self.refuse("plot", "other.h5", message="other.h5: has no dataset")
        self.refuse("plot", "run.h5", "--output", "missing/run.png", message="missing/run.png")


if __name__ == "__main__":
    unittest.main()
