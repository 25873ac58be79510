"""What the tests of the package share."""

import os
import pathlib
import subprocess
import sys

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
    """Random elements between -1 and 1, of complex types in each part."""
    real = rng.uniform(-1, 1, shape)
    if scalar.startswith("complex"):
        return (real + 1j * rng.uniform(-1, 1, shape)).astype(scalar)
    return real.astype(scalar)


def hermitian(rng, n, scalar, shift=0.0):
    a = random(rng, (n, n), scalar)
    a = a + a.conj().T
    a[np.arange(n), np.arange(n)] = a.diagonal().real + shift
    return a


def roundoff(scalar):
    return float(np.finfo(scalar).eps) / 2


def run_python(code, *, threads=None, check=True, timeout=120, **environment):
    """What a process of its own prints that runs `code`."""
    env = {**os.environ, **environment}
    if threads is not None:
        env["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=timeout)
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == "", done.stderr
        return done.stdout
    return done


# The layouts of an array that the library takes, or that the package copies: (name, how one is made of a plain array).
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
