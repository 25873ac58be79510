#!/usr/bin/env python3
"""Checks an installed wheel of Heddle, with the interpreter that has it and nothing of the repository (see ci/wheel).

    ci/wheel_check.py [--brief]     --brief: only what depends on the MPI

Exit status: 0 all is as it should be, 1 something is not, and what.
"""

import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BRIEF = sys.argv[1:] == ["--brief"]
# SHA-256 of an emulated product and of a solution by emulated products: their bits are the same on any machine.
PRODUCT = "d4cc3a92d2acbe6b819a917e6e9fc8087d360af4107510547eab7a12712ee242"
SOLUTION = "6780168ba8ec470ef253f7974ed60158c3a57de769de5021a3ef6f2f2399432c"
NUMPY = """
import hashlib, numpy
random = numpy.random.RandomState(5)
a, b = random.randn(150, 120), random.randn(120, 90)
print(hashlib.sha256((a @ b).tobytes() + numpy.linalg.svd(a)[1].tobytes()).hexdigest())
"""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "OMP_PROC_BIND": "false"}


def expect(condition, text):
    if not condition:
        sys.exit(f"wheel_check: {text}")


def run(*words, code=0, **environment):
    """Run a command, expect its exit code, and return what it prints and its errors."""
    begin = time.perf_counter()
    done = subprocess.run(words, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=300)
    shown = " ".join(word if len(word) < 40 else "..." for word in words)
    expect(done.returncode == code, f"{shown}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    print(f"  {time.perf_counter() - begin:6.2f} s  {shown}", flush=True)
    return done.stdout, done.stderr


def check_package(folder):
    import heddle
    import numpy as np

    def digest(array):
        return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()

    print(*(f"  {key:12} {value}" for key, value in heddle.info().items()), sep="\n")
    i = np.arange(1.0, 301.0)
    a, b = 1.0 / (i[:, None] + i[:200]), 1.0 / (i[:200, None] - i[:100] - 0.5)
    expect(digest(heddle.matmul(a, b, arithmetic="emulated")) == PRODUCT, "an emulated product has other bits")
    expect(digest(heddle.solve(a[:200] + np.eye(200), b, arithmetic="emulated")) == SOLUTION,
           "an emulated solution has other bits")
    expect(heddle.exact.sum(1.0 / i).hex() == "0x1.92172a3e6965ap+2", "an exact sum has other bits")
    result = heddle.tdse("harmonic-coherent", {"time.steps": 10}, output="python.h5")
    expect(result.steps == 10, f"heddle.tdse took {result.steps} steps; expected 10")
    return pathlib.Path(heddle.__file__).parent


def check_ranks():
    run("heddle", "info")
    short = ("heddle", "tdse", "harmonic-coherent", "--set", "time.steps=10", "--set", "propagator.arithmetic=emulated")
    run(*short, "--output", "one.h5")
    run("mpirun", "-n", "2", *short, "--output", "two.h5")
    run("heddle", "verify", "one.h5", "two.h5")
    run("mpirun", "-n", "2", "heddle", "gemm", "--size", "300", "--tile", "128")


def check_command():
    output, _ = run("heddle", "tdse", "h2plus", "--set", "time.steps=4")
    expect(os.path.exists("h2plus.h5"), f"heddle tdse h2plus wrote nothing here\n{output}")
    _, errors = run("heddle", "tdse", "nowhere", code=2)
    lines = [line for line in errors.splitlines() if line.startswith("heddle: ")]
    expect(len(lines) == 1 and "h2plus-laser" in lines[0], f"an unknown deck gives: {errors}")
    run("heddle", "plot", "h2plus.h5")
    with open("h2plus.png", "rb") as file:
        expect(file.read(8) == b"\x89PNG\r\n\x1a\n", "heddle plot drew no picture")
    run("heddle", "tdse", "h2plus-stationary", "--eigen", "3", "--plot", "levels.png")
    # NumPy's own BLAS may give other bits with other kernels.
    kernels = ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2", "OPENBLAS_CORETYPE": "Prescott"})
    for kernel in kernels:
        run("heddle", "verify", "--manifest", "--python", HEDDLE_PYTHON=sys.executable, **kernel)
    _, errors = run("heddle", "run", "--report", "python3", "-c", NUMPY)
    expect("CBLAS_DGEMM" in errors, f"heddle run is not beneath NumPy:\n{errors}")
    run("heddle", "run", "sh", "-c", "exit 7", code=7)
    run("sh", "-c", "set -e; heddle manual --format markdown --output manual | head -n 1 && heddle tdse --keys | head -n 1")


def check_interrupt():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # A shell's background jobs ignore it.
    process = subprocess.Popen(["heddle", "tdse", "h2plus", "--set", "time.steps=10000000", "--output", "long.h5",
                                "--checkpoint", "0.1"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not os.path.exists("long.partial.h5"):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    expect(process.returncode == 1 and b"interrupted after step" in errors,
           f"Ctrl-C: exit code {process.returncode}; expected 1\n{errors.decode()}")
    print("          Ctrl-C", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if BRIEF:
            check_ranks()
            return
        package = check_package(folder)
        shipped = sorted(package.glob("_command/share/**/*"))
        check_ranks()
        run("heddle", "verify", "python.h5")
        check_command()
        check_interrupt()
        new = {path for path in set(package.glob("_command/share/**/*")) - set(shipped) if "__pycache__" not in path.parts}
        expect(not new, f"files were written beside the shipped ones: {new}")


main()
