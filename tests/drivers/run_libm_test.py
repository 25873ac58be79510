"""heddle run --libm: other programs over libheddle_libm.so, with the bits of the library itself."""

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import unittest

from command import COMMAND, CommandTest

FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(COMMAND)))
LIBRARY = os.path.join(FOLDER, "libheddle_libm.so")
NAMES = ["exp", "log", "sin", "cos", "tan", "exp2", "expm1", "log2", "log10", "log1p", "erf", "erfc", "tgamma", "lgamma"]
ARGUMENTS = [0.1 + 0.37 * i for i in range(300)] + [1e-300, 1e-9, 1e5 / 3, 2.0**70 / 3]

PROGRAM_C = """
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
int main(int argc, char** argv) {
  (void)argc;
  FILE* file = fopen(argv[1], "r");
  double x;
  while (fscanf(file, "%la", &x) == 1) {
    printf("%a %a %a %a %a %a %a %a %a %a\\n", exp(x), log(x), sin(x), cos(x), tan(x), exp2(x), expm1(x), log2(x), log10(x), log1p(x));
    printf("%a %a %a %a\\n", erf(x), erfc(x), tgamma(x), lgamma(x));
    double reflected = lgamma(-x);
    printf("%a %d\\n", reflected, signgam);
    printf("%a %a %a\\n", pow(x, 1.37), cbrt(x), (double)expf((float)x));
  }
  return 0;
}
"""

# math.exp raises an error on overflow.
PROGRAM_PYTHON = """
import math, sys
for name in ["log", "sin", "cos", "tan", "log2", "log10", "log1p"]:
    for line in open(sys.argv[1]):
        print(float(getattr(math, name)(float.fromhex(line))).hex())
"""

PROGRAM_NUMPY = """
import hashlib, numpy
x = numpy.random.RandomState(5).rand(5000) * 20
parts = []
for kind in "df":
    a = x.astype(kind)
    parts += [numpy.exp(a), numpy.log(a), numpy.sin(a), numpy.cos(a), numpy.tan(a), numpy.power(a, a[::-1].copy()), numpy.cbrt(a)]
    parts += [numpy.exp2(a), numpy.expm1(a), numpy.log2(a), numpy.log10(a), numpy.log1p(a)]
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""
NUMPY_HASH = "e163c973698e5da1140e7670a3db32217564ef1e7a5d81c648bdf5fa36c409b7"


def ours():
    library = ctypes.CDLL(LIBRARY)
    for name in [*NAMES, "cbrt"]:
        getattr(library, name).restype = ctypes.c_double
        getattr(library, name).argtypes = [ctypes.c_double]
    library.pow.restype = ctypes.c_double
    library.pow.argtypes = [ctypes.c_double, ctypes.c_double]
    library.lgamma_r.restype = ctypes.c_double
    library.lgamma_r.argtypes = [ctypes.c_double, ctypes.POINTER(ctypes.c_int)]
    library.expf.restype = ctypes.c_float
    library.expf.argtypes = [ctypes.c_float]
    return library


@unittest.skipUnless(os.path.exists(LIBRARY), "no libheddle_libm.so to preload")
class RunLibm(CommandTest):
    fresh = True

    def run_libm(self, *words, **settings):
        process = subprocess.run([COMMAND, "run", "--libm", *words], cwd=self.folder, env={**os.environ, **settings},
                                 capture_output=True, text=True, check=True)
        self.assertEqual(process.stderr, "")
        return process.stdout

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_a_program_in_c_has_the_library_s_bits(self):
        self.write("program.c", PROGRAM_C)
        self.write("arguments", "".join(f"{x.hex()}\n" for x in ARGUMENTS))
        program = os.path.join(self.folder, "program")
        subprocess.run(["cc", "-O1", "-fno-builtin", "-o", program, os.path.join(self.folder, "program.c"), "-lm"], check=True)
        found = [float.fromhex(word) for word in self.run_libm(program, "arguments").split()]
        library = ours()
        expected = []
        for x in ARGUMENTS:
            expected += [getattr(library, name)(x) for name in NAMES]
            sign = ctypes.c_int()
            expected += [library.lgamma_r(-x, ctypes.byref(sign)), sign.value]
            expected += [library.pow(x, 1.37), library.cbrt(x), library.expf(x)]
        self.assertEqual(found, expected)

    def test_python_s_math_has_the_library_s_bits(self):
        self.write("program.py", PROGRAM_PYTHON)
        self.write("arguments", "".join(f"{x.hex()}\n" for x in ARGUMENTS))
        found = [float.fromhex(word) for word in self.run_libm(sys.executable, "program.py", "arguments").split()]
        library = ours()
        names = ["log", "sin", "cos", "tan", "log2", "log10", "log1p"]
        self.assertEqual(found, [getattr(library, name)(x) for name in names for x in ARGUMENTS])

    @unittest.skipUnless(platform.machine() == "x86_64" and importlib.util.find_spec("numpy"), "no numpy, or loops that stay")
    def test_numpy_calls_the_library(self):
        self.write("program.py", PROGRAM_NUMPY)
        self.assertEqual(self.run_libm(sys.executable, "program.py"), NUMPY_HASH + "\n")

    def test_what_the_user_set_is_kept(self):
        script = "echo $NPY_DISABLE_CPU_FEATURES; echo $PYTHONWARNINGS; echo $LD_PRELOAD"
        lines = self.run_libm("sh", "-c", script, NPY_DISABLE_CPU_FEATURES="SSE41", PYTHONWARNINGS="error").splitlines()
        self.assertRegex(lines[0], r"^SSE41 AVX2 .*X86_V4$")
        self.assertRegex(lines[1], r"^error,ignore:")
        self.assertRegex(lines[2], r"libheddle_blas\.so:.*libheddle_libm\.so")
        # NumPy refuses both variables.
        self.assertEqual(self.run_libm("sh", "-c", script, NPY_ENABLE_CPU_FEATURES="AVX2").splitlines()[0], "")


if __name__ == "__main__":
    unittest.main()
