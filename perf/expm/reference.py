"""Exponentials in at least 256 bits with proven error bounds, and condition numbers, kept in a folder.

The exponential is Arb's (python-flint), whose elements come as intervals that contain the exact ones; the precision is
doubled until these are narrow. Source: F. Johansson, IEEE Trans. Comput. 66 (2017).
"""

import hashlib
import os
from typing import NamedTuple

import flint
import numpy as np
from scipy.linalg import expm_frechet

BITS = 256
NARROW = 2.0**-100  # Interval over the norm of the exponential: far below what double can show.
WIDE_FRECHET = 40  # Largest n whose derivatives are taken in wide numbers; beyond, SciPy's in double do.


class Reference(NamedTuple):
    high: np.ndarray  # exp(A) = high + low, to twice the digits of double.
    low: np.ndarray
    condition: float  # Relative condition number of the exponential at A, in the Frobenius norm.
    bits: int


def frobenius(A):
    """The norm, without overflow on the way."""
    largest = np.abs(A).max(initial=0.0)
    return float(largest * np.linalg.norm(A / largest)) if 0 < largest < np.inf else float(largest)


def widened(A):
    """The exact numbers of an array."""
    if np.iscomplexobj(A):
        return flint.acb_mat([[flint.acb(z.real, z.imag) for z in row] for row in A.tolist()])
    return flint.arb_mat([[flint.arb(x) for x in row] for row in A.tolist()])


def in_doubles(numbers):
    """Real midpoints as high + low; Inf where they are beyond double."""
    middles = [x.mid() for x in numbers]
    high = [float(x) for x in middles]
    low = [float(x - flint.arb(y)) if np.isfinite(y) else 0.0 for x, y in zip(middles, high)]
    return np.array(high), np.array(low)


def wide_exponential(A, bits=BITS):
    """exp(A) as high + low, and the bits that it took."""
    while True:
        flint.ctx.prec = bits
        entries = widened(A).exp().entries()
        parts = [[z.real for z in entries], [z.imag for z in entries]] if np.iscomplexobj(A) else [entries]
        largest = max(abs(x.mid()) for part in parts for x in part)
        if all(x.rad() <= NARROW * largest for part in parts for x in part):
            break
        bits *= 2
    high, low = zip(*(in_doubles(part) for part in parts))
    if len(parts) == 1:
        return high[0].reshape(A.shape), low[0].reshape(A.shape), bits
    return (high[0] + 1j * high[1]).reshape(A.shape), (low[0] + 1j * low[1]).reshape(A.shape), bits


def frechet(A, E, bits):
    """The derivative of the exponential at A in the direction E."""
    n = len(A)
    if n > WIDE_FRECHET:
        found = expm_frechet(A, E, compute_expm=False)
        if np.isfinite(found).all():
            return found
    # It is the upper right block of the exponential of [A E; 0 A]: N. Higham, Functions of Matrices (2008), (3.16).
    return wide_exponential(np.block([[A, E], [np.zeros_like(A), A]]), bits)[0][:n, n:]


def condition_of(A, norm_of_exponential, bits):
    """The relative condition number ||L||_F ||A||_F / ||exp(A)||_F, its operator norm from below by power iteration.

    The adjoint of the derivative at A is the derivative at the conjugate transpose: Higham (2008), section 3.4.
    """
    E = np.random.RandomState(1).standard_normal(A.shape).astype(A.dtype)
    norm = 0.0
    for _ in range(20):
        image = frechet(A, E / frobenius(E), bits)
        before, norm = norm, frobenius(image)
        if norm <= 1.01 * before:
            break
        E = frechet(A.conj().T, image / norm, bits)
    return norm / norm_of_exponential * frobenius(A)


def reference(A, folder):
    """Return the reference of a matrix of double or complex double, from `folder` if it was computed before."""
    key = hashlib.sha256(f"{A.dtype} {A.shape} ".encode() + A.tobytes()).hexdigest()
    path = os.path.join(folder, key + ".npz")
    if os.path.exists(path):
        with np.load(path) as file:
            return Reference(file["high"], file["low"], float(file["condition"]), int(file["bits"]))
    high, low, bits = wide_exponential(A)
    norm = frobenius(high)
    condition = condition_of(A, norm, bits) if A.any() and 0 < norm < np.inf else 0.0
    os.makedirs(folder, exist_ok=True)
    # Complete or not at all, should two programs make it at once.
    np.savez(f"{path}.{os.getpid()}.npz", high=high, low=low, condition=condition, bits=bits)
    os.replace(f"{path}.{os.getpid()}.npz", path)
    return Reference(high, low, condition, bits)


def relative_error(found, exact):
    """||found - exp(A)||_F / ||exp(A)||_F; Inf where something is not finite."""
    if not np.isfinite(found).all():
        return np.inf
    found = found.astype(exact.high.dtype)
    return frobenius((found - exact.high) - exact.low) / frobenius(exact.high)
