"""Fixtures and helpers shared by the tests of the package."""

import os
import pathlib
import subprocess
import sys

import heddle
import numpy as np
import pytest

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "site" / "guide-python.md"
SCALARS = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(params=SCALARS)
def scalar(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def random(rng, shape, scalar):
    """Return random elements between -1 and 1, for complex types in each part."""
    real = rng.uniform(-1, 1, shape)
    if scalar.startswith("complex"):
        return (real + 1j * rng.uniform(-1, 1, shape)).astype(scalar)
    return real.astype(scalar)


def hermitian(rng, n, scalar, shift=0.0):
    a = random(rng, (n, n), scalar)
    a = a + a.conj().T
    a[np.arange(n), np.arange(n)] = a.diagonal().real + shift
    return a


def every_call(rng):
    """Return a function and its NumPy arguments for each operation that takes arrays of any library."""
    a, b = rng.normal(size=(12, 12)), rng.normal(size=(12, 3))
    h = a + a.T
    spd = a @ a.T + np.eye(12)
    keys = rng.integers(0, 4, 20)
    return {
        "matmul": (heddle.matmul, a, b),
        "emulated": (lambda x, y: heddle.matmul(x, y, arithmetic="emulated"), a, b),
        "transpose": (heddle.transpose, b),
        "solve": (heddle.solve, a, b),
        "vector": (heddle.solve, a, b[:, 0]),
        "lu_factor": (lambda x: heddle.lu_factor(x)[0], a),
        "lu": (lambda x: heddle.lu(x)[1], a),
        "cholesky": (heddle.cholesky, spd),
        "upper": (lambda x: heddle.cholesky(x, upper=True), spd),
        "cho_solve": (lambda x, y: heddle.cho_solve((heddle.cholesky(x, upper=True), False), y), spd, b),
        "inv": (heddle.inv, a),
        "eigenvalues": (lambda x: heddle.eigh(x, reproducible=True)[0], h),
        "eigenvectors": (lambda x: heddle.eigh(x, reproducible=True)[1], h),
        "batched": (lambda x: heddle.eigh_batched(x)[1], h.reshape(1, 12, 12)),
        "expm": (heddle.expm, a),
        "stack": (heddle.expm, np.stack([a, b @ b.T])),
        "expm_multiply": (heddle.expm_multiply, a, b),
        "expm_frechet": (lambda x: heddle.expm_frechet(x, x, compute_expm=False), a),
        "phi": (lambda x: heddle.phi(x, 2), a),
        "phi_multiply": (heddle.phi_multiply, a, b),
        "times": (lambda x, y: heddle.expm_multiply(x, y, start=0.0, stop=1.0, num=3), a, b),
        "sum": (heddle.exact.sum, a),
        "axis": (lambda x: heddle.exact.sum(x, axis=0), a),
        "dot": (heddle.exact.dot, a[0], a[1]),
        "exact.matmul": (heddle.exact.matmul, a, b),
        "duplicates": (lambda x: heddle.duplicates(x).group, keys),
        "faces": (lambda x: heddle.external_faces(x).external.points, np.array([[0, 1, 2, 3], [1, 2, 3, 4]])),
    }


def plain_arguments(rng):
    """Return arguments, in front of its options, of every public function that has parameters and needs no ranks."""
    a, b = rng.normal(size=(12, 12)), rng.normal(size=(12, 3))
    spd = a @ a.T + np.eye(12)
    keys = rng.integers(0, 4, 20)
    deck = {"grid": {"xmin": -5.0, "xmax": 5.0, "points": 33}, "potential": {"kind": "harmonic"}, "time": {"steps": 1}}
    exact = {"sum": (a,), "norm": (a,), "dot": (a[0], a[1]), "vdot": (a[0], a[1]), "matmul": (a, b),
             "keyed_sum": (rng.normal(size=20), keys), "segmented_sum": (rng.normal(size=20), np.array([0, 7, 20]))}
    return {"matmul": (a, b), "transpose": (b,), "solve": (a, b), "lu_factor": (a,), "lu": (a,),
            "lu_solve": (heddle.lu_factor(a), b), "cholesky": (spd,), "cho_solve": ((heddle.cholesky(spd), True), b),
            "inv": (a,), "determinant": (a,), "slogdet": (a,), "eigh": (spd,), "eigh_batched": (spd[None],), "expm": (a,), "expm_multiply": (a, b),
            "expm_frechet": (a, a), "phi": (a, 2), "phi_multiply": (a, b), "duplicates": (keys,),
            "external_faces": (np.array([[0, 1, 2, 3], [1, 2, 3, 4]]),), "tdse": (deck,), "start": (), "verify": ("none.h5",),
            **{f"exact.{name}": given for name, given in exact.items()}}


def roundoff(scalar):
    return float(np.finfo(scalar).eps) / 2


def run_python(code, *, threads=None, check=True, timeout=120, **environment):
    """Run `code` in a new process, and return its output."""
    env = {**os.environ, **environment}
    if threads is not None:
        env["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=timeout)
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == "", done.stderr
        return done.stdout
    return done


# Array layouts that the library takes or the package copies: (name, function that makes one from a plain array).
def _padded(a):
    big = np.full(tuple(2 * n + 1 for n in a.shape), np.nan, a.dtype)
    view = big[tuple(slice(1, None, 2) for _ in a.shape)]
    view[...] = a
    return view


def _leading(a):
    big = np.full((*a.shape[:-1], a.shape[-1] + 3), np.nan, a.dtype)
    big[..., :a.shape[-1]] = a
    return big[..., :a.shape[-1]]


def _reversed(a):
    return np.ascontiguousarray(a[tuple(slice(None, None, -1) for _ in a.shape)])[
        tuple(slice(None, None, -1) for _ in a.shape)]


def _read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


def _unaligned(a):
    raw = np.empty(a.nbytes + 1, np.uint8)
    view = raw[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "padded": _padded,
    "leading": _leading,
    "leading columns": lambda a: _leading(np.ascontiguousarray(a.swapaxes(-1, -2))).swapaxes(-1, -2),
    "reversed": _reversed,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]
