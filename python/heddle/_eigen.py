"""Eigenvalues and eigenvectors on one rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from . import _core
from ._arrays import operands, real_name, result, square, stack_of
from ._distributed import DistributedMatrix
from ._options import checked


@dataclass(frozen=True)
class EighReport:
    """How an eigenproblem was solved."""

    converged: bool
    end: str
    """Reason why the iteration ended: "diagonal", "tolerance", "quadratic", "sweep-limit" or "rotation-limit"."""
    method: str
    accuracy: str
    """Accuracy of the eigenvalues: "relative" to each eigenvalue, or to the "norm" of the matrix."""
    sweeps: int
    rotations: int
    off_norms: list[float] = field(repr=False)
    """Distance of the matrix from diagonal form, one number per sweep."""
    least_pivot: float | None = None
    """With b: smallest ratio of a pivot of the Cholesky factorization of b to its diagonal element."""
    growth: float | None = None
    """With b: growth of the elements in the reduction."""
    refinement_sweeps: int | None = None


@dataclass(frozen=True)
class EighBatchedReport:
    """How a stack of small eigenproblems was solved."""

    not_converged: int
    first_failed: int
    """Number of the first matrix that failed; -1 if none did."""
    sweeps: int
    """Largest number of sweeps of a matrix."""
    rotations: int


@checked()
def eigh(a, b=None, lower=True, eigvals_only=False, *, method="automatic", accuracy="automatic", tolerance=0.0,
         sweeps=40, block=0, reproducible=False, full_output=False):
    """Compute eigenvalues and eigenvectors of a Hermitian matrix or of a pencil a v = w b v, like scipy.linalg.eigh.

    Parameters
    ----------
    a : (..., n, n) array, or DistributedMatrix
        Hermitian matrix or stack; of any strides. Only one triangle is read: the lower one, unless `lower` is false. A
        stack without b, method and block is that of eigh_batched(). A DistributedMatrix is read whole, and excludes b,
        eigvals_only, and methods other than "automatic" and "blocked".
    b : (..., n, n) array, optional
        Hermitian, positive definite matrix or stack. Pairs with backward errors above a few roundings are refined in twice the
        precision, with any method.
    eigvals_only : bool
        Whether to compute eigenvalues only.
    method : str
        "automatic", "classical", "cyclic", "round-robin", "blocked" or "preconditioned".
    accuracy : "automatic", "relative" or "norm"
        "relative" makes each eigenvalue accurate relative to its own size, which positive definite matrices allow; with
        b it uses the method "blocked" in place of any other.
    tolerance : float
        Largest off-diagonal element, in the measure of `accuracy`; 0: 2 sqrt(n) u.
    reproducible : bool
        Whether the results have the same bits for any number of threads; those of a DistributedMatrix also for any number of
        ranks.
    full_output : bool
        Whether to return an EighReport, too (for a stack a list of them, or the report of eigh_batched()).

    Returns
    -------
    w : (..., n) array of reals
        Eigenvalues in ascending order.
    v : (..., n, n) array, unless eigvals_only
        Eigenvectors: column k belongs to w[k]. They are orthonormal; with b, v^H b v = 1.
    report : EighReport, if full_output

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iteration does not converge.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> w, v = heddle.eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(w.round(12))
    [1. 3.]
    """
    options = _core.EighOptions(method, accuracy, not lower, tolerance, sweeps, block, reproducible)
    if isinstance(a, DistributedMatrix):
        if b is not None or eigvals_only:
            raise TypeError("eigh: of a DistributedMatrix neither b nor eigvals_only is there")
        v = DistributedMatrix.like(a, a.shape)
        w, entries = _core.distributed_eigh(a._core, v._core, options)
        return _solution(np.asarray(w), v, _converged(entries), full_output)
    kind, name, given = operands("eigh", a=a, **({} if b is None else {"b": b}))
    a, b = given[0], None if b is None else given[1]
    square("eigh", a)
    if len(a.shape) > 2 and b is None and method == "automatic" and block == 0:
        return _stack("eigh", kind, name, a, eigvals_only, options, full_output)
    n = a.shape[-1]
    if b is not None:
        square("eigh", b, "b")
        if b.shape[-1] != n:
            raise ValueError(f"eigh: a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    stack = tuple(a.shape[:-2]) if b is None else stack_of("eigh", a, b)
    w = result("eigh", kind, None, (*stack, n), real_name(name), a)
    v = None if eigvals_only else result("eigh", kind, None, (*stack, n, n), name, a, "C" if stack else "F")
    if stack:
        a = kind.broadcast(a, (*stack, n, n))
        b = None if b is None else kind.broadcast(b, (*stack, n, n))
    reports = [_converged(_core.eigh(a[i], None if b is None else b[i], w[i], None if v is None else v[i], options), i)
               for i in np.ndindex(*stack)]
    return _solution(kind.finish(w), None if v is None else kind.finish(v), reports if stack else reports[0], full_output)


def _converged(entries, index=()):
    """Return the report of an eigenproblem; raise LinAlgError if it was not solved."""
    report = EighReport(**entries)
    if not report.converged:
        raise np.linalg.LinAlgError(f"eigh:{f' matrix {index}' if index else ''} not converged after {report.sweeps} sweeps")
    return report


def _solution(w, v, report, full_output):
    found = [part for part in (w, v) if part is not None] + ([report] if full_output else [])
    return tuple(found) if len(found) > 1 else found[0]


@checked()
def eigh_batched(a, lower=True, eigvals_only=False, *, accuracy="automatic", tolerance=0.0, sweeps=40,
                 reproducible=False, full_output=False):
    """Compute eigenvalues and eigenvectors of a stack of Hermitian matrices at once, like numpy.linalg.eigh.

    Parameters
    ----------
    a : (..., n, n) array
        Hermitian matrices; of any strides.
    reproducible : bool
        Whether the bits of a result are independent of the rest of the stack on NVIDIA GPUs, too, at a cost for
        n >= 65. Elsewhere they always are.
    lower, eigvals_only, accuracy, tolerance, sweeps, full_output
        See eigh().

    Returns
    -------
    w : (..., n) array of reals
        Eigenvalues in ascending order.
    v : (..., n, n) array, unless eigvals_only
    report : EighBatchedReport, if full_output

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix does not converge or has elements that are not finite; with full_output the report tells instead.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.eigh_batched(np.array([[[2.0, 0.0], [0.0, 1.0]], [[5.0, 0.0], [0.0, 7.0]]]), eigvals_only=True)
    array([[1., 2.],
           [5., 7.]])
    """
    kind, name, (a,) = operands("eigh_batched", a=a)
    square("eigh_batched", a)
    options = _core.EighOptions("automatic", accuracy, not lower, tolerance, sweeps, 0, reproducible)
    return _stack("eigh_batched", kind, name, a, eigvals_only, options, full_output)


def _stack(function, kind, name, a, eigvals_only, options, full_output):
    shape = tuple(a.shape)
    stack = a.reshape((math.prod(shape[:-2]), *shape[-2:]))
    w = result(function, kind, None, tuple(stack.shape[:2]), real_name(name), a)
    v = None if eigvals_only else result(function, kind, None, tuple(stack.shape), name, a)
    report = EighBatchedReport(**_core.eigh_batched(stack, w, v, options))
    if report.not_converged and not full_output:
        raise np.linalg.LinAlgError(f"{function}: {report.not_converged} of {stack.shape[0]} matrices failed, first "
                                    f"number {report.first_failed}")
    v = None if v is None else kind.finish(v).reshape(shape)
    return _solution(kind.finish(w).reshape(shape[:-1]), v, report, full_output)
