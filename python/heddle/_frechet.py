"""Derivatives of exponentials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import operands, result, square
from ._distributed import DistributedMatrix, together


@dataclass(frozen=True)
class ExpmFrechetReport:
    """How a derivative of the exponential was computed, and how accurate it is."""

    method: str
    degree: int
    squarings: int
    products: int
    """Real products of matrices in all."""
    norm1: float
    beta: float
    """What took the place of the norm in the choice of degree and squarings."""
    backward_error: float
    """Bound of the relative backward error in A and in E, in exact arithmetic."""
    seconds: float
    gemm_seconds: float
    flops: float


def expm_frechet(A, E, *, compute_expm=True, adjoint=False, method="automatic", tolerance=0.0, arithmetic="native", tile=0,
                 moduli=0, progress=None, full_output=False):
    """The derivative L(A, E) of the exponential at A in the direction E, as scipy.linalg.expm_frechet has it, in three
    products for each that expm(A) takes.

    Parameters
    ----------
    A, E : (n, n) arrays, or DistributedMatrix
    compute_expm : bool
        Whether expm(A) is returned too.
    adjoint : bool
        Whether L(A^H, E) is computed instead: the gradient at A of a function that has the gradient E at expm(A).
    method : str
        "automatic", "paterson-stockmeyer" or "few-products".
    tolerance : float
        Bound for the relative backward errors; 0: the unit round-off.
    arithmetic : "native", "emulated" or "auto"
        Emulated: the same bits on every machine, at a given tile.
    tile : int
        Of the products; 0: chosen.
    progress : callable or bar of tqdm, optional
        As expm() has it.
    full_output : bool
        Whether an ExpmFrechetReport is returned too.

    Returns
    -------
    expm_A : (n, n) array, if compute_expm
    L : (n, n) array
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
        together("expm_frechet", A, E)
        exponential, derivative = DistributedMatrix.like(A, A.shape), DistributedMatrix.like(A, A.shape)
        entries = _core.distributed_expm_frechet(A._core, E._core, exponential._core, derivative._core, options)
    else:
        kind, name, (A, E) = operands("expm_frechet", A, E)
        square("expm_frechet", A)
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
    """The gradient at each matrix of a stack, from that at its exponential by expm(a, **options)."""
    shared = {name: options[name] for name in ("tolerance", "arithmetic", "tile", "moduli")}
    if len(a.shape) == 2:
        return expm_frechet(a, g, compute_expm=False, adjoint=True, **shared)
    out = empty(a)
    for i in np.ndindex(*a.shape[:-2]):
        out[i] = expm_frechet(a[i], g[i], compute_expm=False, adjoint=True, **shared)
    return out
