"""Files of `heddle tdse` while it runs: runs that are killed, several runs at a time, and output that fails."""

import os
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from command import COMMAND, MPIEXEC
from tdse_command import datasets
from tdse_decks import TdseTest


class Outputs(TdseTest):
    def test_killed_run_leaves_what_it_had(self):
        self.tdse("small.toml", "--output", "run.h5", "--set", "time.steps=4")
        before = datasets(self.path("run.h5"))
        words = [COMMAND, "tdse", "small.toml", "--force", "--output", "run.h5", "--set", "time.steps=1000000",
                 "--checkpoint", "0",
                 "--set", "output.every=1", "--no-progress", "--quiet"]
        with self.start(words) as process:
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("run.partial.h5")) and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.5)
            process.send_signal(signal.SIGKILL)
        self.assertEqual(datasets(self.path("run.h5")), before)
        with h5py.File(self.path("run.partial.h5"), "r") as file:
            done = int(file.attrs["steps_done"])
            self.assertEqual(file.attrs["complete"], 0)
            self.assertEqual(len(file["time/t"]), done + 1)
        self.run_command("plot", "run.partial.h5", "--output", "partial.png")
        self.assertTrue(os.path.exists(self.path("partial.png")))
        settings = ["--set", "output.every=1", "--set", f"time.steps={done + 3}"]
        self.tdse("small.toml", "--output", "run.h5", *settings, "--restart", "run.partial.h5")
        self.tdse("small.toml", "--output", "straight.h5", *settings)
        self.assertEqual(datasets(self.path("run.h5")), datasets(self.path("straight.h5")))
        self.assertFalse(os.path.exists(self.path("run.partial.h5")))


    def running(self, *arguments):
        """A run that is on its way: its partial file is there."""
        process = self.start([COMMAND, "tdse", "small.toml", "--output", "run.h5", "--checkpoint", "0", "--no-progress",
                              "--quiet", *arguments], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path("run.partial.h5")) and time.monotonic() < deadline:
            time.sleep(0.01)
        return process

    def test_one_run_at_a_time_writes_a_file(self):
        process = self.running("--set", "time.steps=100000000")
        try:
            for ranks in (1, 2):
                for more in ([], ["--force"]):
                    self.refuse("tdse", "small.toml", "--output", "run.h5", *more, ranks=ranks,
                                message="run.h5: another run is writing it .*run.h5.lock.*; wait for it")
            self.tdse("small.toml", "--output", "other.h5")
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        # A lock ends with its process, whatever is left of it.
        self.assertTrue(os.path.exists(self.path("run.h5.lock")))
        self.tdse("small.toml", "--output", "run.h5")
        self.assertFalse(os.path.exists(self.path("run.h5.lock")))

    def test_a_table_is_kept_from_other_runs_too(self):
        process = self.running("--set", "time.steps=100000000", "--set", "output.table=run.txt")
        try:
            self.refuse("tdse", "small.toml", "--output", "other.h5", "--set", "output.table=run.txt",
                        message="run.txt: another run is writing it")
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def test_a_file_that_came_meanwhile_is_not_replaced(self):
        process = self.running("--set", "time.steps=4000")
        self.write("run.h5", "another's")
        _, errors = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 2, errors)
        self.assertRegex(errors, "heddle: run.h5: was not there when the run began, .*the run is in run.partial.h5")
        with open(self.path("run.h5"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "another's")
        with h5py.File(self.path("run.partial.h5"), "r") as file:
            self.assertEqual(file.attrs["steps_done"], 4000)

    def test_output_that_fails_on_the_way_ends_the_run(self):
        # The thread that writes finds the folder gone; the steps that follow hear of it, on every rank.
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                os.mkdir(self.path("folder"))
                words = [COMMAND, "tdse", "small.toml", "--output", "folder/run.h5", "--set", "time.steps=1000000",
                         "--checkpoint", "0", "--no-progress", "--quiet"]
                if ranks > 1:
                    words = [MPIEXEC, "-n", str(ranks), *words]
                with self.start(words, stderr=subprocess.PIPE, text=True) as process:
                    deadline = time.monotonic() + 60
                    while not os.path.exists(self.path("folder/run.partial.h5")) and time.monotonic() < deadline:
                        time.sleep(0.01)
                    os.rename(self.path("folder"), self.path("away"))
                    _, errors = process.communicate(timeout=60)
                complaints = [line for line in errors.splitlines()
                              if line.startswith("heddle: ") and not line.startswith("heddle: warning: ")]
                self.assertEqual(process.returncode, 2, errors)
                self.assertEqual(len(complaints), 1, errors)
                self.assertRegex(complaints[0], "folder/run.partial.h5: can't be written")
                shutil.rmtree(self.path("away"))

    def test_report_tells_what_waited_for_output(self):
        times = self.tdse("small.toml", "--output", "run.h5", "--checkpoint", "0", "--set", "output.every=1")["times"]
        for part in ("steps", "hamiltonian", "expm", "gemm", "apply", "eigenstates", "observables", "output_wait",
                     "output", "eigenstates_computed"):
            self.assertAlmostEqual(times[part + "_per_step"], times[part] / 20, delta=1e-12)
        self.assertGreater(times["output"], 0)


if __name__ == "__main__":
    unittest.main()
