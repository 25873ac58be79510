"""Factorizations, and systems of linear equations with given factors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import matrix, operands, require_apart, result, square
from ._options import checked, flag, one_of, refusal, warn, whole


@dataclass(frozen=True)
class FactorizationReport:
    """How a matrix was factored."""

    info: int
    """0, or the first step that found no pivot, counted from 1."""
    seconds: float
    gflops: float
    """Flops of the algorithm in 10^9 per second; a complex multiply-add counts eight."""
    arithmetic: str
    """"native" or "emulated"."""
    block: int
    """Number of columns of a panel."""
    group: int
    """Number of panels of a group."""
    memory_bytes: float
    """Memory used besides the matrix."""


@dataclass(frozen=True)
class LuReport(FactorizationReport):
    """How an LU factorization was computed."""

    pivots: list[int]
    """Step k exchanged row k with row pivots[k]."""
    growth: float
    """Largest |u_ij| divided by the largest |a_ij|."""


@checked()
def lu_factor(a, overwrite_a=False, *, arithmetic="native", block=0, group=0, progress=None, full_output=False):
    """Compute the LU factorization P a = L U with partial pivoting, like scipy.linalg.lu_factor.

    Parameters
    ----------
    a : (m, n) array
        Matrix; of any strides. Integers become float64.
    overwrite_a : bool
        Whether to overwrite a with the factors.
    arithmetic : "native", "emulated" or "auto"
        Arithmetic of the updates. With "emulated", factors and pivots have the same bits on every machine and with any
        number of threads.
    block, group : int
        Number of columns of a panel, and number of panels applied together, a power of two; 0: automatic. The bits of
        the result depend on them.
    progress : callable or bar of tqdm, optional
        Function called with the share done, from 0 to 1; or a bar, which is advanced.
    full_output : bool
        Whether to return a LuReport, too.

    Returns
    -------
    lu : (m, n) array
        U on and above the diagonal, the unit lower triangular L below it; column-major.
    piv : (min(m, n),) array of int64, in host memory
        Step k exchanged row k with row piv[k].
    report : LuReport, if full_output

    Warns
    -----
    RuntimeWarning
        If the matrix is exactly singular; it is factored to the end, as by SciPy.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> lu, piv = heddle.lu_factor(np.array([[1.0, 2.0], [4.0, 2.0]]))
    >>> lu
    array([[4.  , 2.  ],
           [0.25, 1.5 ]])
    >>> piv
    array([1, 1])
    """
    given = a
    kind, name, (a,) = operands("lu_factor", a=a)
    matrix("lu_factor", a)
    overwrite_a = overwrite_a and a is given
    out = result("lu_factor", kind, a if overwrite_a else None, a.shape, name, a, "F")
    report = LuReport(**_core.lu_factor(a, out, _core.FactorOptions(arithmetic, block, group, progress)))
    if report.info:
        warn(RuntimeWarning, f"lu_factor: the matrix is singular: U({report.info}, {report.info}) is zero, counted from 1")
    factors = (out if overwrite_a else kind.finish(out), np.array(report.pivots, np.int64))
    return (*factors, report) if full_output else factors


def _permutation(pivots, rows):
    """Return for each i the row of a that is row i of P a."""
    order = np.arange(rows)
    for k, pivot in enumerate(pivots):
        order[[k, pivot]] = order[[pivot, k]]
    return order


@checked()
def lu(a, permute_l=False, overwrite_a=False, p_indices=False, *, arithmetic="native", block=0, group=0,
       progress=None):
    """Compute the factors of a = P L U, like scipy.linalg.lu.

    Return P, L and U; P L and U with permute_l; or p, L and U with a = L[p] U with p_indices. P and p are NumPy arrays.
    See lu_factor() for the options.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.array([[1.0, 2.0], [4.0, 2.0]])
    >>> p, l, u = heddle.lu(a)
    >>> np.array_equal(p @ l @ u, a)
    True
    """
    kind, _, (a,) = operands("lu", a=a)
    matrix("lu", a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        factors, pivots = lu_factor(a, overwrite_a, arithmetic=arithmetic, block=block, group=group, progress=progress)
    m, n = a.shape
    k = min(m, n)
    lower = kind.xp.tril(factors[:, :k], -1)
    for i in range(k if kind.name != "jax" else 0):
        lower[i, i] = 1
    if kind.name == "jax":
        lower = lower.at[np.arange(k), np.arange(k)].set(1)
    upper = kind.xp.triu(factors[:k, :])
    order = np.argsort(_permutation(pivots, m))
    if permute_l:
        return lower[kind.xp.asarray(order) if kind.name == "cupy" else order], upper
    if p_indices:
        return order, lower, upper
    return np.eye(m)[:, _permutation(pivots, m)], lower, upper


def columns(b):
    """Return right-hand sides as a matrix."""
    return b[:, None] if len(b.shape) == 1 else b


@checked(trans=one_of(0, 1, 2, expected="0, 1 or 2"))
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, *, arithmetic="native", block=0, group=0):
    """Solve a x = b, a^T x = b (trans=1) or a^H x = b (trans=2) with the factors of lu_factor().

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.array([[1.0, 2.0], [4.0, 2.0]])
    >>> heddle.lu_solve(heddle.lu_factor(a), np.array([3.0, 6.0]))
    array([1., 1.])
    """
    try:
        factors, pivots = lu_and_piv
        pivots = list(pivots)
    except (TypeError, ValueError):
        raise refusal("lu_solve", "lu_and_piv", lu_and_piv, "the pair that lu_factor() returns") from None
    pivots = [whole(0)("lu_solve", "a pivot of lu_and_piv", pivot) for pivot in pivots]
    return _factored_solve("lu_solve", "lu_and_piv[0]", factors, pivots, b, "NTC"[trans], overwrite_b,
                           _core.FactorOptions(arithmetic, block, group, None))


def _factored_solve(function, what, factors, pivots, b, operation, overwrite_b, options):
    given = b
    kind, name, (factors, b) = operands(function, **{what: factors, "b": b})
    matrix(function, factors, what)
    square(function, factors, what)
    if len(b.shape) not in (1, 2) or b.shape[0] != factors.shape[0]:
        raise ValueError(f"{function}: factors of {factors.shape[0]} rows, and b has shape {tuple(b.shape)}")
    overwrite_b = overwrite_b and b is given
    x = result(function, kind, b if overwrite_b else None, b.shape, name, b, "F")
    _core.factored_solve(factors, pivots, columns(b), columns(x), operation, options)
    return x if overwrite_b else kind.finish(x)


@checked()
def cholesky(a, /, *, upper=False, out=None, arithmetic="native", block=0, group=0, progress=None, full_output=False):
    """Compute the Cholesky factor L of a = L L^H, like numpy.linalg.cholesky, or with `upper` U = L^H.

    Parameters
    ----------
    a : (..., n, n) array
        Hermitian, positive definite matrix or stack; of any strides. Only the lower triangle is read; with `upper` only
        the upper one.
    out : (..., n, n) array, optional
        Array for the factor; it may be a itself.
    arithmetic, block, group, progress
        See lu_factor().
    full_output : bool
        Whether to return a FactorizationReport, too (for a stack a list of them).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is not positive definite.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.cholesky(np.array([[4.0, 2.0], [2.0, 10.0]]))
    array([[2., 0.],
           [1., 3.]])
    """
    kind, name, (a,) = operands("cholesky", a=a)
    square("cholesky", a)
    given = out
    out = result("cholesky", kind, out, a.shape, name, a, "F" if len(a.shape) == 2 else "C")
    if given is not None and len(a.shape) > 2:
        require_apart("cholesky", kind, out, in_place=True, a=a)
    options = _core.FactorOptions(arithmetic, block, group, progress)
    reports = []
    # The lower triangle of a^T is the upper one of a, and the transpose of its factor is U.
    from_, to = (kind.swapped(a), kind.swapped(out)) if upper else (a, out)
    for i in np.ndindex(*a.shape[:-2]):
        report = FactorizationReport(**_core.cholesky(from_[i], to[i], options))
        if report.info:
            raise np.linalg.LinAlgError(f"cholesky: the matrix{f' {i}' if i else ''} is not positive definite: "
                                        f"pivot {report.info} is not, counted from 1")
        reports.append(report)
    out = kind.finish(out) if given is None else out
    return (out, reports[0] if len(a.shape) == 2 else reports) if full_output else out


@checked()
def cho_solve(c_and_lower, b, overwrite_b=False, *, arithmetic="native", block=0, group=0):
    """Solve a x = b with the factor (c, lower) of a = L L^H: c is L if lower is true, and U = L^H otherwise.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> l = heddle.cholesky(np.array([[4.0, 2.0], [2.0, 10.0]]))
    >>> heddle.cho_solve((l, True), np.array([6.0, 12.0]))
    array([1., 1.])
    """
    try:
        factor, lower = c_and_lower
    except (TypeError, ValueError):
        raise refusal("cho_solve", "c_and_lower", c_and_lower, "the pair of a factor of cholesky() and True or False") from None
    what = "c_and_lower[0]"
    if not flag("cho_solve", "c_and_lower[1]", lower):
        kind, _, (factor,) = operands("cho_solve", **{what: factor})
        matrix("cho_solve", factor, what)
        factor = kind.xp.conj(kind.swapped(factor))
    return _factored_solve("cho_solve", what, factor, None, b, "N", overwrite_b,
                           _core.FactorOptions(arithmetic, block, group, None))
