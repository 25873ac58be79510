"""heddle run: other programs over libheddle_blas.so."""

import importlib.util
import os
import subprocess
import sys
import unittest

from command import BLAS_LIBRARY, COMMAND, CommandTest, runs_programs

PROGRAM = """
import hashlib, os, sys
import numpy
random = numpy.random.RandomState(5)
a, b, x = random.randn(150, 120), random.randn(120, 90), random.randn(120)
results = [a @ b, a @ x, a.T @ a, numpy.dot(x, x), (a + 1j * a) @ (b - 2j * b), a.astype("f") @ b.astype("f")]
results += numpy.linalg.svd(a)
results += numpy.linalg.svd((a + 1j * a[::-1]).T, full_matrices=False)
results += [numpy.linalg.svd(b, compute_uv=False), numpy.linalg.pinv(b), *numpy.linalg.lstsq(a, a[:, :3] @ b[:3], rcond=None)[:2]]
results += [*numpy.linalg.eig(a[:120]), numpy.linalg.eigvals(a[:50, :50] + 1j * b[:50, :50])]
def digest():
    return hashlib.sha256(b"".join(numpy.ascontiguousarray(one).tobytes() for one in results)).hexdigest()
print(digest())
large = random.randn(200, 200)
once = (large @ large).tobytes()
child = os.fork()
if child == 0:
    os._exit(0 if (large @ large).tobytes() == once else 1)
print(os.waitpid(child, 0)[1])
"""


DEVICE_LIBRARY = BLAS_LIBRARY.replace(".so", "_device.so")


@runs_programs
class Run(CommandTest):
    fresh = True

    def test_the_library_is_preloaded(self):
        result = self.run_command("run", "--report", "sh", "-c", "echo $LD_PRELOAD $HEDDLE_BLAS_REPORT")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.output, r"/libheddle_blas\.so 1\n$")

    def test_two_dashes_come_before_the_command(self):
        for words in (("run", "--"), ("run", "--report", "--"), ("run",)):
            result = self.run_command(*words, sys.executable, "-c", "import sys; print(sys.argv[1:])", "--", "--report")
            self.assertEqual((result.code, result.output), (0, "['--', '--report']\n"), words)

    @unittest.skipIf(os.path.exists(DEVICE_LIBRARY), "this Heddle was built for GPUs")
    def test_a_device_that_cannot_be_is_said(self):
        result = self.run_command("run", "--device", "sh", "-c", "exit 0")
        self.assertEqual(result.code, 2)
        self.assertIn("built for CPUs alone", result.errors)

    @unittest.skipUnless(os.path.exists(DEVICE_LIBRARY), "this Heddle was built for CPUs")
    def test_a_device_is_asked_for(self):
        result = self.run_command("run", "--device", "sh", "-c", "echo $HEDDLE_BLAS_DEVICE")
        self.assertEqual((result.code, result.output), (0, "1\n"))

    def test_the_code_is_the_program_s(self):
        self.assertEqual(self.run_command("run", "sh", "-c", "exit 7").code, 7)

    def test_what_cannot_be_started_is_said(self):
        result = self.run_command("run", "no-such-program")
        self.assertEqual(result.code, 2)
        self.assertIn("no-such-program", result.errors)
        self.assertEqual(self.run_command("run").code, 2)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
    def test_without_a_device_there_are_a_line_and_the_same_bits(self):
        self.write("program.py", PROGRAM)
        outputs = set()
        for device in ("", "1"):
            # No GPU that a machine may have is to be seen.
            settings = {"HEDDLE_BLAS_DEVICE": device, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "-1"}
            process = subprocess.run([COMMAND, "run", sys.executable, "program.py"], cwd=self.folder,
                                     env={**os.environ, **settings}, capture_output=True, text=True, check=True)
            outputs.add(process.stdout)
            if device:
                self.assertRegex(process.stderr, r"heddle: no device for the BLAS: .*computed on the host")
            else:
                self.assertNotIn("no device", process.stderr)
        self.assertEqual(len(outputs), 1, outputs)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
    def test_numpy_has_the_same_bits_under_any_kernels(self):
        self.write("program.py", PROGRAM)
        outputs = set()
        for core in ("Prescott", "Haswell", "SkylakeX"):
            for threads in ("1", "2"):
                settings = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
                process = subprocess.run([COMMAND, "run", "--report", sys.executable, "program.py"], cwd=self.folder,
                                         env={**os.environ, **settings}, capture_output=True, text=True, check=True)
                self.assertRegex(process.stderr, r"CBLAS_DGEMM +[1-9]")
                outputs.add(process.stdout)
        self.assertEqual(len(outputs), 1, outputs)
        self.assertEqual(outputs.pop().split()[1], "0")


if __name__ == "__main__":
    unittest.main()
