"""Derivatives of exponentials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import operands, result, square
from ._distributed import DistributedMatrix, together
from ._options import checked


@dataclass(frozen=True)
class ExpmFrechetReport:
    """How a derivative of the exponential was computed, and how accurate it is."""

    method: str
    degree: int
    squarings: int
    products: int
    """Total number of real matrix products."""
    norm1: float
    beta: float
    """Number used in place of the norm to choose degree and squarings."""
    backward_error: float
    """Bound on the relative backward error in A and in E, in exact arithmetic."""
    seconds: float
    gemm_seconds: float
    flops: float


@checked()
def expm_frechet(A, E, *, compute_expm=True, adjoint=False, method="automatic", tolerance=0.0, arithmetic="native", tile=0,
                 moduli=0, progress=None, full_output=False):
    """Compute the derivative L(A, E) of the exponential at A in the direction E, like scipy.linalg.expm_frechet.

    It takes three products for each product of expm(A).

    Parameters
    ----------
    A, E : (n, n) arrays, or DistributedMatrix
        Matrix and direction.
    compute_expm : bool
        Whether to return expm(A), too.
    adjoint : bool
        Whether to compute L(A^H, E) instead: the gradient at A of a function with the gradient E at expm(A).
    method : str
        "automatic", "paterson-stockmeyer" or "few-products".
    tolerance : float
        Bound on the relative backward errors; 0: the unit roundoff.
    arithmetic : "native", "emulated" or "auto"
        Arithmetic of the products. "emulated" gives the same bits on every machine, at a given tile.
    tile : int
        Tile size of the products; 0: automatic.
    progress : callable or bar of tqdm, optional
        See expm().
    full_output : bool
        Whether to return an ExpmFrechetReport, too.

    Returns
    -------
    expm_A : (n, n) array, if compute_expm
        Exponential of A.
    L : (n, n) array
        Derivative.
    report : ExpmFrechetReport, if full_output

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> e, l = heddle.expm_frechet(A, np.eye(2))  # in the direction of I it is exp(A) itself
    >>> l
    array([[1., 1.],
           [0., 1.]])
    """
    options = _core.FrechetOptions(adjoint, method, tolerance, arithmetic, tile, moduli, progress)
    if isinstance(A, DistributedMatrix) or isinstance(E, DistributedMatrix):
        together("expm_frechet", A=A, E=E)
        exponential, derivative = DistributedMatrix.like(A, A.shape), DistributedMatrix.like(A, A.shape)
        entries = _core.distributed_expm_frechet(A._core, E._core, exponential._core, derivative._core, options)
    else:
        kind, name, (A, E) = operands("expm_frechet", A=A, E=E)
        square("expm_frechet", A, "A")
        if len(A.shape) != 2 or tuple(E.shape) != tuple(A.shape):
            raise ValueError(f"expm_frechet: A has shape {tuple(A.shape)} and E {tuple(E.shape)}; expected square "
                             f"matrices of one size")
        derivative = result("expm_frechet", kind, None, A.shape, name, A)
        exponential = result("expm_frechet", kind, None, A.shape, name, A) if compute_expm else None
        entries = _core.expm_frechet(A, E, exponential, derivative, options)
        derivative = kind.finish(derivative)
        exponential = kind.finish(exponential) if compute_expm else None
    found = ((exponential,) if compute_expm else ()) + (derivative,)
    found += (ExpmFrechetReport(**entries),) if full_output else ()
    return found if len(found) > 1 else found[0]


def expm_adjoint(a, g, options, empty):
    """Return the gradient at each matrix of a stack from the gradient g at its exponential expm(a, **options)."""
    shared = {name: options[name] for name in ("tolerance", "arithmetic", "tile", "moduli")}
    if len(a.shape) == 2:
        return expm_frechet(a, g, compute_expm=False, adjoint=True, **shared)
    out = empty(a)
    for i in np.ndindex(*a.shape[:-2]):
        out[i] = expm_frechet(a[i], g[i], compute_expm=False, adjoint=True, **shared)
    return out
