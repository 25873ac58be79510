"""Systems of linear equations, inverses and determinants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from . import _core
from ._arrays import operands, real_name, require_apart, result, square, stack_of
from ._distributed import DistributedMatrix, together
from ._factorizations import LuReport, columns
from ._options import checked, one_of, warn
from ._stacks import index_of, parts


class IllConditionedWarning(RuntimeWarning):
    """The matrix is so close to singular that no digit of the result need be right, or a requested error bound or
    correct rounding could not be proven.

    Examples
    --------
    >>> import warnings, numpy as np, heddle
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", heddle.IllConditionedWarning)
    ...     print(heddle.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.ones(2)))
    [0.5  0.25]
    """


@dataclass(frozen=True)
class SolveReport:
    """How a system was solved, and how well."""

    factorization: LuReport
    equilibrated: bool
    """Whether rows and columns were scaled by powers of two."""
    seconds: float
    memory_bytes: float
    normwise_error: float
    """Largest |b - a x| / (|a| |x| + |b|) of a right-hand side in infinity norms, from exact residuals."""
    componentwise_error: float
    """Largest |b - a x|_i / (|a| |x| + |b|)_i."""
    scaled_residual: float
    """Residual of High-Performance Linpack: normwise_error / (n u), u the unit roundoff, if x is not denormal."""
    condition: float
    """Condition number |a| |a^-1| in 1-norms, estimated from below; infinite beyond the range of float64."""
    scaled_condition: float
    """Condition number of a with rows and columns scaled to one size by powers of two."""
    ill_conditioned: bool
    """Whether scaled_condition is above 1 / (n u), u the unit roundoff, and neither a finite error_bound nor, up to
    1 / u, corrections by exact residuals show that digits of x are right."""
    overflow: int
    """0, or the first right-hand side, counted from 1, whose solution is beyond the range of its type."""
    error_bound: float
    """Proven bound on |x - a^-1 b| / |x|, if `certificate` requests it; infinite if none could be proven."""
    correctly_rounded: bool
    """Whether every element of x is proven to be the number nearest to the exact solution, if `correctly_rounded` requests
    it."""
    undecided: int
    """Number of elements of which that could not be proven; -1 if no error bound could be proven."""
    undecided_row: int
    """Row of the first of these, column by column; -1 if there is none."""
    undecided_column: int
    """Its column."""
    distance_to_tie: float
    """Proven bound on the distance of its exact value from the nearest point half way between two numbers, in units of the
    distance of these two."""


_METHODS = {"general": False, "gen": False, None: False, "positive definite": True, "pos": True}


@checked(assume_a=one_of(*_METHODS, expected="'general' or 'positive definite'"))
def solve(a, b, *, assume_a="general", out=None, arithmetic="native", equilibrate=True, refinements=1,
          certificate=False, correctly_rounded=False, block=0, group=0, progress=None, full_output=False):
    """Solve a x = b, and refine x with exact residuals.

    Parameters
    ----------
    a : (..., n, n) array, or DistributedMatrix
        Matrix or stack; of any strides, copied if not column-major. The matrices of a stack have the bits of x that they
        have alone. Those of up to 64 rows are dealt out to the threads, without full_output, certificate and
        correctly_rounded at a rate near that of numpy.linalg.solve.
    b : (n,) or (..., n, k) array, or DistributedMatrix
        Right-hand sides: one vector for all matrices, or matrices, whose stack and that of a broadcast, as in NumPy 2.
    assume_a : "general" or "positive definite"
        Structure of a: solved by LU or, in half the time, by Cholesky. Both triangles of a must be set. "gen" and
        "pos" are accepted, as in scipy.linalg.solve.
    out : array of b's shape, optional
        Array for x. It must not share elements with a or b, but a stack may be overwritten, each matrix in its own place.
    arithmetic : "native", "emulated" or "auto"
        With "emulated", x has the same bits on every machine and with any number of threads.
    equilibrate : bool
        Whether to scale rows and columns of very different sizes by powers of two first.
    refinements : int
        Number of corrections by exact residuals. One makes the backward error of each element small if the condition
        number allows it.
    certificate : bool
        Whether to prove a bound on the error of x, at about four times the work; the report has it. If none can be
        proven, IllConditionedWarning is issued.
    correctly_rounded : bool
        Whether to round each element of x to the number nearest to the exact solution (each part of a complex number), at
        about the work of certificate. x then has the same bits on every machine, for any arithmetic, block and number of
        threads. If that cannot be proven of all elements, IllConditionedWarning is issued and names the first of them.
    block, group, progress
        See lu_factor().
    full_output : bool
        Whether to return a SolveReport with backward errors, too (for a stack a list of them).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is singular, or not positive definite; the first such matrix of a stack is named by its index.

    Warns
    -----
    heddle.IllConditionedWarning
        If the condition number of a, with rows and columns scaled to one size, is above 1 / (n u), u the unit roundoff.
        Condition numbers take O(n^2) operations. Also if a certificate or correct rounding could not be proven.
    RuntimeWarning
        If x is beyond the range of its type.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> heddle.solve(a, np.array([9.0, 8.0]))
    array([2., 3.])
    >>> x, report = heddle.solve(a, np.eye(2), certificate=True, full_output=True)
    >>> bool(report.error_bound < 1e-14)
    True
    >>> x, report = heddle.solve(a, np.ones(2), correctly_rounded=True, full_output=True)
    >>> x.tolist() == [1 / 5, 2 / 5], report.correctly_rounded
    (True, True)
    """
    options = _core.FactorOptions(arithmetic, block, group, progress)
    if isinstance(a, DistributedMatrix) or isinstance(b, DistributedMatrix):
        together("solve", a=a, b=b, out=out)
        x = DistributedMatrix.like(a, b.shape) if out is None else out
        report = _report(_core.distributed_solve(a._core, b._core, x._core, _METHODS[assume_a], equilibrate,
                                                 refinements, full_output, certificate, correctly_rounded, options),
                         _METHODS[assume_a], certificate, correctly_rounded)
        return (x, report) if full_output else x
    kind, name, (a, b) = operands("solve", a=a, b=b)
    square("solve", a)
    vector = len(b.shape) == 1
    if len(b.shape) == 0 or b.shape[0 if vector else -2] != a.shape[-1]:
        raise ValueError(f"solve: a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    stack = stack_of("solve", a, b)
    tail = tuple(b.shape) if vector else tuple(b.shape[-2:])
    given = out
    out = result("solve", kind, out, stack + tail, name, a, "F" if not stack else "C")
    if given is not None:
        require_apart("solve", kind, out, in_place=bool(stack), a=a, b=b)
    positive = _METHODS[assume_a]
    if full_output or certificate or correctly_rounded or not (stack or a.shape[-1] <= _core.largest_small_system):
        reports = _one_by_one(kind, stack, a, b, out, positive, equilibrate, refinements, full_output, certificate,
                              correctly_rounded, options)
    else:
        _in_one_call(kind, stack, a, b, out, vector, positive, equilibrate, refinements, options)
        reports = []
    out = kind.finish(out) if given is None else out
    return (out, reports if stack else reports[0]) if full_output else out


def _one_by_one(kind, stack, a, b, out, positive, equilibrate, refinements, measure, certificate, correctly_rounded,
                options):
    """Solve a system or a stack with a report for each."""
    if stack:
        a = kind.broadcast(a, stack + tuple(a.shape[-2:]))
        b = kind.broadcast(b, stack + tuple(out.shape[len(stack):]))
    reports = []
    for i in np.ndindex(*stack):
        entries = _core.solve(a[i], columns(b[i]), columns(out[i]), positive, equilibrate, refinements, measure,
                              certificate, correctly_rounded, options)
        reports.append(_report(entries, positive, certificate, correctly_rounded, i))
    return reports


def _in_one_call(kind, stack, a, b, out, vector, positive, equilibrate, refinements, options):
    """Solve a system or a stack, with no more than a tuple for each matrix that is to be mentioned."""
    if vector:
        b, out = b[..., None], out[..., None]
    many = stack or (1,)
    a = kind.broadcast(a, many + tuple(a.shape[-2:]))
    b = kind.broadcast(b, many + tuple(b.shape[-2:]))
    out = out if stack else out[None]
    for first, (from_, right, to) in parts(kind, many, a, b, out):
        for matrix, *found in _core.solve_stack(from_, right, to, positive, equilibrate, refinements, options):
            _judge("solve", index_of(first + matrix, stack), *found, positive=positive)


def _report(entries, positive, certificate, correctly_rounded, index=()):
    """Return the report of a system and issue its warnings; raise LinAlgError if it was not solved."""
    report = SolveReport(**{**entries, "factorization": LuReport(**entries["factorization"])})
    _judge("solve", index, report.factorization.info, report.ill_conditioned, report.scaled_condition, report.overflow,
           positive=positive, no_bound=certificate and math.isinf(report.error_bound),
           unproven=report if correctly_rounded and not report.correctly_rounded else None)
    return report


def _judge(function, index, info, ill_conditioned, condition, overflow, *, positive=False, no_bound=False,
           unproven=None, of="x"):
    """Raise LinAlgError for a matrix that has no factors; issue the warnings for one that has."""
    place = f" {index}" if index else ""
    if info:
        raise np.linalg.LinAlgError(f"{function}: the matrix{place} is " + (
            f"not positive definite: pivot {info} is not, counted from 1" if positive
            else f"singular: U({info}, {info}) is zero, counted from 1"))
    if ill_conditioned:
        warn(IllConditionedWarning, f"{function}: the matrix{place} is ill-conditioned, with condition {condition:.3g}: "
                                    "no digit of the result need be right")
    elif no_bound:
        warn(IllConditionedWarning, f"{function}: the matrix{place} has condition {condition:.3g}: no bound of the error of "
                                    "x could be proven")
    if unproven and unproven.undecided > 0:
        warn(IllConditionedWarning, f"{function}: element ({unproven.undecided_row}, {unproven.undecided_column}) of {of}{place} is "
                                    f"within {unproven.distance_to_tie:.3g} ULP of a tie and not proven to be the nearest "
                                    f"number; undecided elements: {unproven.undecided}")
    elif unproven and not (ill_conditioned or no_bound):
        warn(IllConditionedWarning, f"{function}: the matrix{place} has condition {condition:.3g}: no element of {of} could be "
                                    "proven to be the nearest number")
    if overflow:
        warn(RuntimeWarning, f"{function}: column {overflow - 1} of x{place} overflows")


@checked()
def inv(a, overwrite_a=False, *, correctly_rounded=False, arithmetic="native", block=0, group=0, progress=None):
    """Invert a square matrix or each matrix of a stack, like numpy.linalg.inv, without refinement. See lu_factor() for the
    options.

    Each matrix of a stack has the bits that it has alone. A stack of small matrices (up to 64 rows) takes one call of C++
    and all threads.

    Parameters
    ----------
    a : (..., n, n) array
        Matrix or stack; of any strides.
    overwrite_a : bool
        Whether to overwrite a with the inverse.
    correctly_rounded : bool
        Whether to round each element to the number nearest to the exact inverse (each part of a complex number), at 5 to 15
        times the work. The inverse then has the same bits on every machine, for any arithmetic, block and number of threads.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is singular; the first such matrix of a stack is named by its index.

    Warns
    -----
    heddle.IllConditionedWarning
        If the condition number of a, with rows and columns scaled to one size, is above 1 / (n u), u the unit roundoff. Also
        if correct rounding could not be proven of all elements; the first of them is named.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    >>> heddle.inv(np.array([[3.0, 1.0], [1.0, 2.0]]), correctly_rounded=True).tolist() == [[2/5, -1/5], [-1/5, 3/5]]
    True
    """
    given = a
    kind, name, (a,) = operands("inv", a=a)
    square("inv", a)
    stack = tuple(a.shape[:-2])
    overwrite_a = overwrite_a and a is given
    out = result("inv", kind, a if overwrite_a else None, a.shape, name, a, "C" if stack else "F")
    options = _core.FactorOptions(arithmetic, block, group, progress)
    if correctly_rounded:
        for i in np.ndindex(*stack):
            found = _core.inverse(a[i], columns(out[i]), options, True)
            _judge("inv", i, found["info"], found["ill_conditioned"], found["scaled_condition"], 0,
                   unproven=None if found["correctly_rounded"] else SimpleNamespace(**found), of="the inverse")
    elif stack or a.shape[-1] <= _core.largest_small_system:
        for first, (from_, to) in parts(kind, stack or (1,), *((a, out) if stack else (a[None], out[None]))):
            for matrix, *found in _core.inverse_stack(from_, to, options):
                _judge("inv", index_of(first + matrix, stack), *found)
    else:
        found = _core.inverse(a, out, options, False)
        _judge("inv", (), found["info"], found["ill_conditioned"], found["scaled_condition"], 0)
    return out if overwrite_a else kind.finish(out)


@dataclass(frozen=True)
class Determinant:
    """A determinant, mantissa * 2**exponent, which may be beyond the range of its type."""

    mantissa: np.generic
    """Number of the matrix's type, of which the larger part is in [1/2, 1), or zero, infinite or NaN."""
    exponent: int
    correctly_rounded: bool
    """Whether the mantissa is proven to be the number nearest to the exact one (each part of a complex number), if
    `correctly_rounded` requests it."""


@checked()
def determinant(a, *, correctly_rounded=False, arithmetic="native", block=0, group=0, progress=None):
    """Compute a determinant as a number times a power of two. See lu_factor() for the options.

    Parameters
    ----------
    a : (n, n) array
        Matrix; of any strides.
    correctly_rounded : bool
        Whether to round the mantissa to the number nearest to the exact one, at 7 to 25 times the work. The determinant
        then has the same bits on every machine, for any arithmetic, block and number of threads.

    Warns
    -----
    heddle.IllConditionedWarning
        If correct rounding could not be proven, as of large singular matrices; the determinant is then computed from
        factors.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> found = heddle.determinant(np.diag([1e200, -3e200]), correctly_rounded=True)
    >>> float(found.mantissa), found.exponent, found.correctly_rounded
    (-0.6400251292149902, 1331, True)
    """
    _, name, (a,) = operands("determinant", a=a)
    square("determinant", a)
    if len(a.shape) != 2:
        raise ValueError(f"determinant: a has shape {tuple(a.shape)}; expected a matrix")
    real, imaginary, exponent, proven = _core.determinant(
        a, _core.FactorOptions(arithmetic, block, group, progress), correctly_rounded)
    if correctly_rounded and not proven:
        warn(IllConditionedWarning, "determinant: the number nearest to the exact determinant could not be proven")
    kind = np.dtype(name).type
    return Determinant(kind(complex(real, imaginary) if np.dtype(name).kind == "c" else real), exponent, proven)


@checked()
def slogdet(a, *, arithmetic="native", block=0, group=0, progress=None):
    """Compute the sign of a determinant and the logarithm of its absolute value, like numpy.linalg.slogdet. See
    lu_factor() for the options.

    Parameters
    ----------
    a : (..., n, n) array
        Matrix or stack; of any strides. Each matrix of a stack has the bits that it has alone.

    Returns
    -------
    sign, logarithm
        Numbers of NumPy; for a stack two arrays of the library of a, of the shape of the stack. The sign of a singular
        matrix is 0 and its logarithm -inf.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> sign, logarithm = heddle.slogdet(np.diag([1e200, -1e200]))
    >>> print(sign, round(logarithm / np.log(10), 6))
    -1.0 400.0
    """
    kind, name, (a,) = operands("slogdet", a=a)
    square("slogdet", a)
    options = _core.FactorOptions(arithmetic, block, group, progress)
    stack = tuple(a.shape[:-2])
    if not stack:
        sign, logarithm = np.empty(1, name), np.empty(1, real_name(name))
        _core.slogdet(a[None], sign, logarithm, options)
        return sign[0], logarithm[0]
    signs = result("slogdet", kind, None, stack, name, a)
    logarithms = result("slogdet", kind, None, stack, real_name(name), a)
    for _, (from_, sign, logarithm) in parts(kind, stack, a, signs, logarithms):
        _core.slogdet(from_, sign, logarithm, options)
    return kind.finish(signs), kind.finish(logarithms)
