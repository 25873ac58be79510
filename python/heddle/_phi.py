"""Phi functions of matrices, and sums of their products with vectors."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._arrays import operands, result, square
from ._distributed import DistributedMatrix, together
from ._expm import LARGEST_PHI, ExpmMultiplyReport, _matrix_or_operator, _products, vectors_beside
from ._options import checked, one_of, refusal, whole


@dataclass(frozen=True)
class PhiReport:
    """How phi functions were computed, and how accurate they are."""

    structure: str
    """Structure of a, found or given."""
    degree: int
    squarings: int
    """Number of doublings of the argument."""
    products: int
    """Total number of real matrix products."""
    norm1: float
    alpha: float
    """Number used in place of the norm to choose degree and doublings."""
    error: float
    """Bound on the truncation error of the polynomials, relative to the smallest size a function may have."""
    seconds: float
    gemm_seconds: float
    flops: float


@checked(p=whole(0, LARGEST_PHI))
def phi(a, p, *, out=None, tolerance=0.0, structure="automatic", arithmetic="native", tile=0, moduli=0, progress=None,
        full_output=False):
    """Compute phi_0(a) ... phi_p(a) of a square matrix: phi_0 = exp, and phi_k(z) = sum_j z^j / (j + k)!.

    Parameters
    ----------
    a : (n, n) array, or DistributedMatrix
        Square matrix.
    p : int
        Highest order, from 0 to 8.
    out : (p + 1, n, n) array, optional
        Array for the result; for a DistributedMatrix a sequence of p + 1 matrices.
    tolerance : float
        Bound on the relative truncation error of the polynomials; 0: the unit roundoff.
    structure : str
        "automatic", or the exact structure of a: "general", "hermitian" or "skew-hermitian".
    arithmetic : "native", "emulated" or "auto"
        Arithmetic of the products. "emulated" gives the same bits on every machine, at a given tile.
    tile : int
        Tile size of the products; 0: automatic.
    progress : callable or bar of tqdm, optional
        See expm().
    full_output : bool
        Whether to return a PhiReport, too.

    Returns
    -------
    phis : (p + 1, n, n) array, or a list of p + 1 DistributedMatrix
        phis[k] is phi_k(a).
    report : PhiReport, if full_output

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.phi(np.zeros((1, 1)), 3).ravel()
    array([1.        , 1.        , 0.5       , 0.16666667])
    >>> a = np.array([[-1.0, 1.0], [0.0, -2.0]])
    >>> phis = heddle.phi(a, 1)
    >>> bool(np.allclose(a @ phis[1] + np.eye(2), phis[0]))
    True
    """
    options = _core.PhiOptions(tolerance, structure, arithmetic, tile, moduli, progress)
    if isinstance(a, DistributedMatrix):
        given = out
        if not isinstance(out, (list, tuple, type(None))):
            raise refusal("phi", "out", out, f"a list of {p + 1} matrices")
        out = [DistributedMatrix.like(a, a.shape) for _ in range(p + 1)] if out is None else list(out)
        together("phi", a=a, **{f"out[{k}]": one for k, one in enumerate(out)})
        if len(out) != p + 1:
            raise ValueError(f"phi: out has {len(out)} matrices; expected {p + 1}")
        report = PhiReport(**_core.distributed_phi(a._core, [one._core for one in out], options))
        out = out if given is None else given
        return (out, report) if full_output else out
    kind, name, (a,) = operands("phi", a=a)
    if len(a.shape) != 2:
        raise ValueError(f"phi: a has shape {tuple(a.shape)}; expected a square matrix")
    square("phi", a)
    given = out
    out = result("phi", kind, out, (p + 1, *a.shape), name, a)
    report = PhiReport(**_core.phi(a, out, options))
    out = kind.finish(out) if given is None else out
    return (out, report) if full_output else out


@checked(method=one_of("automatic", "taylor", "krylov", expected="'automatic', 'taylor' or 'krylov'"))
def phi_multiply(A, B, *, time=1.0, method="automatic", tolerance=0.0, dimension=40, full_output=False):
    """Compute the sum over k of time^k phi_k(time A) b_k, with b_k in column k of B, without forming a matrix function.

    This is a step of an exponential integrator: u(time) for u' = A u + b_1 + t b_2 + t^2 / 2 b_3 + ..., u(0) = b_0.

    Parameters
    ----------
    A : (n, n) array, DistributedMatrix, or an operator
        See expm_multiply().
    B : (n, p + 1) array
        Vectors b_0 ... b_p, p from 0 to 8. With a DistributedMatrix each rank passes all of B and receives all of u.
    time : number
        Time; a complex time makes the result complex.
    method : str
        "automatic", "taylor" or "krylov".
    tolerance, dimension
        See expm_multiply().
    full_output : bool
        Whether to return an ExpmMultiplyReport, too.

    Returns
    -------
    u : (n,) array
    report : ExpmMultiplyReport, if full_output

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = np.array([[-2.0]])  # u' = -2 u + 1, u(0) = 0
    >>> u = heddle.phi_multiply(A, np.array([[0.0, 1.0]]), time=3.0)
    >>> bool(np.allclose(u, (1 - np.exp(-6)) / 2))
    True
    """
    over_ranks = isinstance(A, DistributedMatrix)
    if over_ranks:
        kind, name, B = vectors_beside("phi_multiply", A, B, time)
    else:
        kind, name, A, B, is_array = _matrix_or_operator("phi_multiply", A, B, time)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1] or len(B.shape) != 2 or B.shape[0] != A.shape[0]:
        raise ValueError(f"phi_multiply: A has shape {tuple(A.shape)} and B {tuple(B.shape)}")
    if not 1 <= B.shape[1] <= LARGEST_PHI + 1:
        raise ValueError(f"phi_multiply: B has {B.shape[1]} columns; expected 1 to {LARGEST_PHI + 1}")
    options = _core.ExpmMultiplyOptions(method, "general", tolerance, dimension)
    u = result("phi_multiply", kind, None, (B.shape[0],), name, B)
    t = complex(time)
    if over_ranks:
        entries = _core.distributed_expm_multiply(True, t, A._core, B, u[:, None], options)
    elif is_array:
        entries = _core.expm_multiply(True, t, A, B, u[:, None], options)
    else:
        apply, adjoint = _products(kind, A, name)
        entries = _core.expm_multiply_operator(True, t, A.shape[0], apply, adjoint, B, u[:, None], options)
    u = kind.finish(u)
    return (u, ExpmMultiplyReport(**entries)) if full_output else u
