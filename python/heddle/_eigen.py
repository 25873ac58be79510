"""Eigenvalues and eigenvectors on one rank."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import _core
from ._arrays import matrix, operands, real_name, result, square
from ._distributed import DistributedMatrix


@dataclass(frozen=True)
class EighReport:
    """How an eigenproblem was solved."""

    converged: bool
    end: str
    """Why the iteration ended: "diagonal", "tolerance", "quadratic", "sweep-limit" or "rotation-limit"."""
    method: str
    accuracy: str
    """The accuracy that was kept: "relative", of each eigenvalue by itself, or "norm"."""
    sweeps: int
    rotations: int
    off_norms: list[float] = field(repr=False)
    """How far from diagonal the matrix was, a number for each sweep."""
    least_pivot: float | None = None
    """With b: the least share that a pivot of b's Cholesky factorization has of its diagonal element."""
    growth: float | None = None
    """With b: how much larger elements became in the reduction."""
    refinement_sweeps: int | None = None


@dataclass(frozen=True)
class EighBatchedReport:
    """How many small eigenproblems were solved."""

    not_converged: int
    first_failed: int
    """The number of the first matrix that failed; -1 where none did."""
    sweeps: int
    """The most that a matrix took."""
    rotations: int


def eigh(a, b=None, lower=True, eigvals_only=False, *, method="automatic", accuracy="automatic", tolerance=0.0,
         sweeps=40, block=0, reproducible=False, full_output=False):
    """Eigenvalues, and eigenvectors, of a Hermitian matrix, or of a pencil a v = w b v, as scipy.linalg.eigh has it.

    Parameters
    ----------
    a : (n, n) array, or DistributedMatrix
        Hermitian; of any strides. One triangle is read: the lower one, unless `lower` is false. Of a DistributedMatrix
        all is read, and b, eigvals_only, and methods other than "automatic" and "blocked" are refused.
    b : (n, n) array, optional
        Hermitian and positive definite. Pairs whose backward errors are more than some roundings are refined in twice
        the precision, whatever the method.
    eigvals_only : bool
        Whether eigenvectors are left out.
    method : str
        "automatic", "classical", "cyclic", "round-robin", "blocked" or "preconditioned".
    accuracy : "automatic", "relative" or "norm"
        Whether each eigenvalue is accurate relative to its own size, which positive definite matrices allow; with b,
        "relative" takes the method "blocked" in the place of others.
    tolerance : float
        What an element off the diagonal may be, as the accuracy measures it; 0: 2 sqrt(n) u.
    reproducible : bool
        Whether the bits are the same for any number of threads.
    full_output : bool
        Whether an EighReport is returned too.

    Returns
    -------
    w : (n,) array of reals, ascending
    v : (n, n) array, unless eigvals_only
        Column k belongs to w[k]; orthonormal, with b: v^H b v = 1.
    report : EighReport, if full_output

    Raises numpy.linalg.LinAlgError where the iteration did not converge.

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
        return _solution(EighReport(**entries), np.asarray(w), v, full_output)
    kind, name, given = operands("eigh", *((a,) if b is None else (a, b)))
    a, b = given[0], None if b is None else given[1]
    matrix("eigh", a)
    square("eigh", a)
    n = a.shape[0]
    if b is not None and tuple(b.shape) != (n, n):
        raise ValueError(f"eigh: a has shape {(n, n)} and b {tuple(b.shape)}")
    w = result("eigh", kind, None, (n,), real_name(name), a)
    v = None if eigvals_only else result("eigh", kind, None, (n, n), name, a, "F")
    report = EighReport(**_core.eigh(a, b, w, v, options))
    return _solution(report, kind.finish(w), None if v is None else kind.finish(v), full_output)


def _solution(report, w, v, full_output):
    if not report.converged:
        raise np.linalg.LinAlgError(f"eigh: not converged after {report.sweeps} sweeps")
    found = [part for part in (w, v) if part is not None] + ([report] if full_output else [])
    return tuple(found) if len(found) > 1 else found[0]


def eigh_batched(a, lower=True, eigvals_only=False, *, accuracy="automatic", tolerance=0.0, sweeps=40,
                 reproducible=False, full_output=False):
    """Eigenvalues, and eigenvectors, of many Hermitian matrices at once, as numpy.linalg.eigh has it for stacks.

    Parameters
    ----------
    a : (..., n, n) array
        Of any strides.
    reproducible : bool
        Results have the same bits whatever else is in the stack, on NVIDIA GPUs too, where that takes longer from n =
        65 on; elsewhere they have them always. The other parameters are those of eigh().

    Returns
    -------
    w : (..., n) array of reals, ascending
    v : (..., n, n) array, unless eigvals_only
    report : EighBatchedReport, if full_output

    Raises numpy.linalg.LinAlgError where a matrix did not converge or has elements that are not finite, unless
    full_output is asked for, whose report then tells of them.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.eigh_batched(np.array([[[2.0, 0.0], [0.0, 1.0]], [[5.0, 0.0], [0.0, 7.0]]]), eigvals_only=True)
    array([[1., 2.],
           [5., 7.]])
    """
    kind, name, (a,) = operands("eigh_batched", a)
    square("eigh_batched", a)
    shape, n = tuple(a.shape), a.shape[-1]
    stack = a.reshape((-1, n, n)) if n else a.reshape((int(np.prod(shape[:-2])), 0, 0))
    w = result("eigh_batched", kind, None, tuple(stack.shape[:2]), real_name(name), a)
    v = None if eigvals_only else result("eigh_batched", kind, None, tuple(stack.shape), name, a)
    options = _core.EighOptions("automatic", accuracy, not lower, tolerance, sweeps, 0, reproducible)
    report = EighBatchedReport(**_core.eigh_batched(stack, w, v, options))
    if report.not_converged and not full_output:
        raise np.linalg.LinAlgError(f"eigh_batched: {report.not_converged} of {stack.shape[0]} matrices failed, first "
                                    f"number {report.first_failed}")
    found = [kind.finish(w).reshape(shape[:-1])]
    if v is not None:
        found.append(kind.finish(v).reshape(shape))
    if full_output:
        found.append(report)
    return tuple(found) if len(found) > 1 else found[0]
