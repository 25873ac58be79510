"""Sums, inner products, norms and products in which each number is rounded once from its exact value.

The bits are the same for any order of the elements, any number of threads and any machine. Integers of any type and
truth values count exactly, also together with floating-point numbers; the result is then the float64 (or, with complex
numbers, the complex128) nearest to the exact sum. norm(), matmul() and allreduce() refuse integers that no double
equals.
"""

from __future__ import annotations

import numpy as np

from . import _core
from ._arrays import exact_operands, kind_of, one_device, operands, real_name, result
from ._distributed import require_communicator
from ._integers import is_integer, narrowed
from ._options import checked, one_of
from ._products import stacked

__all__ = ["allreduce", "dot", "keyed_sum", "matmul", "norm", "segmented_sum", "sum", "vdot"]


def __dir__():
    return __all__


# Algorithms that round intermediate results.
_ROUNDED = ("twice", "plain")


@checked()
def sum(x, axis=None, *, keepdims=False, algorithm="auto"):
    """Sum the elements, rounding once.

    Parameters
    ----------
    x : array
        Elements, of any shape and strides; each part of a complex sum is rounded once. Integers are summed exactly, and
        the sum is rounded once to float64: unlike that of numpy.sum(), it does not wrap around and is not an integer.
    axis : int or tuple of ints, optional
        Axes along which to sum; None: all.
    keepdims : bool
        Whether to keep these axes, with one element.
    algorithm : str
        "auto", or for comparisons "accumulator", "expansion-2" to "expansion-8", "twice" or "plain"; the last two are
        not exact, and round each integer to float64.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> x = np.array([1e100, 1.0, -1e100])
    >>> print(np.sum(x), heddle.exact.sum(x))
    0.0 1.0
    >>> print(heddle.exact.sum(np.array([2**53 + 1, -(2**53)])))
    1.0
    """
    kind, name, ((x, rest),) = exact_operands("exact.sum", x=x)
    if algorithm in _ROUNDED:
        rest = None
    return _reduced(kind, name, x, axis, keepdims, lambda v: _core.exact_sum(v, algorithm), rest)


@checked(ord=one_of(1, 2, expected="1 or 2"))
def norm(x, ord=2, axis=None, *, keepdims=False):
    """Compute the 2-norm, or with ord=1 the sum of absolute values, of the elements, rounded once from the exact value.

    Complex elements count as |real| + |imaginary| in the sum, as in BLAS.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> print(heddle.exact.norm(np.array([3e300, 4e300])))
    5e+300
    """
    kind, name, (x,) = operands("exact.norm", x=x)
    return _reduced(kind, real_name(name), x, axis, keepdims, lambda v: _core.exact_norm(v, ord))


def _reduced(kind, name, x, axis, keepdims, reduce, rest=None):
    """Apply reduce() along some axes to the elements of x and of `rest`, which has the shape of x."""
    dimensions = len(x.shape)
    if axis is None:
        terms = kind.flat(x) if rest is None else kind.xp.concatenate([kind.flat(x), kind.flat(rest)])
        value = kind.scalar(reduce(terms), name, x)
        return value.reshape((1,) * dimensions) if keepdims else value
    axes = sorted(np.lib.array_utils.normalize_axis_tuple(axis, dimensions))
    others = [k for k in range(dimensions) if k not in axes]
    if rest is not None:
        x = kind.xp.stack([x, rest], -1)
        axes = [*axes, dimensions]
    x = x.transpose(*others, *axes) if kind.name != "torch" else x.permute(*others, *axes)
    shape = tuple(x.shape[:len(others)])
    out = kind.empty(shape, name, x)
    for i in np.ndindex(*shape):
        out[i] = reduce(kind.flat(x[i]))
    out = kind.finish(out)
    if keepdims:
        sizes = iter(shape)
        out = out.reshape(tuple(1 if k in axes else next(sizes) for k in range(dimensions)))
    return out


@checked()
def dot(x, y, *, algorithm="auto"):
    """Compute the inner product sum_k x_k y_k of two vectors, rounded once; products that underflow count, too.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> x = np.array([1e200, 1.0, 1e200])
    >>> print(heddle.exact.dot(x, np.array([1e200, 2.0, -1e200])))
    2.0
    """
    return _dot("exact.dot", x, y, False, algorithm)


@checked()
def vdot(x, y, *, algorithm="auto"):
    """Compute the inner product sum_k conj(x_k) y_k of two vectors, rounded once.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> print(heddle.exact.vdot(np.array([1j]), np.array([1j])))
    (1+0j)
    """
    return _dot("exact.vdot", x, y, True, algorithm)


def _dot(function, x, y, conjugated, algorithm):
    kind, name, ((x, x_rest), (y, y_rest)) = exact_operands(function, x=x, y=y)
    if len(x.shape) != 1 or len(y.shape) != 1 or x.shape != y.shape:
        raise ValueError(f"{function}: x has shape {tuple(x.shape)} and y {tuple(y.shape)}; expected vectors of one length")
    if algorithm not in _ROUNDED:
        x, y = _factors(kind, (x, x_rest), (y, y_rest))
    return kind.scalar(_core.exact_dot(x, y, conjugated, algorithm), name, x)


def _factors(kind, x, y):
    """Return vectors with the inner product of x and y, each of which is the sum of a pair of arrays."""
    xs, ys = [x[0]], [y[0]]
    for p, q in ((x[1], y[0]), (x[0], y[1]), (x[1], y[1])):
        if p is None or q is None:
            continue
        # Products with zeros, infinities and NaNs are determined by the nearest doubles alone.
        counts = (p != 0) & (q != 0) & kind.xp.isfinite(p) & kind.xp.isfinite(q)
        xs.append(p[counts])
        ys.append(q[counts])
    return (xs[0], ys[0]) if len(xs) == 1 else (kind.xp.concatenate(xs), kind.xp.concatenate(ys))


@checked()
def matmul(a, b, /, out=None, *, algorithm="auto"):
    """Multiply matrices, stacks of matrices, or a vector and a matrix by the rules of numpy.matmul, rounding each
    element once.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.array([[1e16, 1.0, -1e16]])
    >>> b = np.ones((3, 1))
    >>> print(a @ b, heddle.exact.matmul(a, b))
    [[0.]] [[1.]]
    """
    kind, name, (a, b) = operands("exact.matmul", a=a, b=b, integers=False)
    parts, c = stacked("exact.matmul", kind, a, b, name, out)
    for part in parts:
        _core.exact_matmul(*part, algorithm)
    return c if out is not None else kind.finish(c)


@checked()
def keyed_sum(x, keys, size=None, *, out=None):
    """Sum the elements with equal keys, rounding once: sums[k] is the sum of all x[i] with keys[i] == k.

    This is numpy.bincount(keys, weights=x), or numpy.add.at(zeros, keys, x), with the same bits for any order of the
    elements, and also for complex elements.

    Parameters
    ----------
    x : (n,) array
        Elements. Each part of a complex sum is rounded once. Integers are summed exactly, and the sums rounded to
        float64.
    keys : (n,) array of integers >= 0, in any order
        Key of each element.
    size : int, optional
        Number of sums, greater than the largest key. None: the largest key plus one.
    out : (size,) array, optional
        Array for the sums. It must not share elements with x or keys.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.exact.keyed_sum([1e100, 1.0, 2.0, -1e100], [1, 1, 0, 1])
    array([2., 1.])
    """
    kind, name, x, rest, keys = _groups("exact.keyed_sum", x, keys, "keys")
    if x.shape[0] != keys.shape[0]:
        raise ValueError(f"exact.keyed_sum: {x.shape[0]} elements and {keys.shape[0]} keys")
    if size is None:
        if out is not None:
            kind.writable("exact.keyed_sum", out)
        of_out = out is not None and len(out.shape) == 1
        size = out.shape[0] if of_out else int(keys.max()) + 1 if keys.shape[0] else 0
    sums = result("exact.keyed_sum", kind, out, (size,), name, x)
    if rest is not None:
        x, keys = kind.xp.concatenate([x, rest]), kind.xp.concatenate([keys, keys])
    _core.exact_sums_of_groups(x, keys, sums, True)
    return sums if out is not None else kind.finish(sums)


@checked()
def segmented_sum(x, offsets, *, out=None):
    """Sum consecutive elements, rounding once: sums[s] is the sum of x[offsets[s]:offsets[s + 1]].

    Unlike in numpy.add.reduceat, an empty segment has the sum 0, and the last offset ends the last segment.

    Parameters
    ----------
    x : (n,) array
        See keyed_sum().
    offsets : (m + 1,) array of integers from 0 to n in ascending order
        Bounds of the segments.
    out : (m,) array, optional
        Array for the sums. It must not share elements with x or offsets.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.exact.segmented_sum([1e100, 1.0, -1e100, 5.0], [0, 3, 3, 4])
    array([1., 0., 5.])
    """
    kind, name, x, rest, offsets = _groups("exact.segmented_sum", x, offsets, "offsets")
    sums = result("exact.segmented_sum", kind, out, (max(offsets.shape[0] - 1, 0),), name, x)
    if rest is not None and not bool((offsets > x.shape[0]).any()):  # offsets out of range are refused below
        x, offsets = kind.xp.stack([x, rest], -1).reshape(-1), 2 * kind.as_type(offsets, "int64")
    _core.exact_sums_of_groups(x, offsets, sums, False)
    return sums if out is not None else kind.finish(sums)


def _groups(function, x, groups, what):
    """Return the library and element type of x, x, the remainders of its integers or None, and its keys or offsets as
    int32 or int64."""
    kind, name, ((x, rest),) = exact_operands(function, x=x)
    if len(x.shape) != 1:
        raise ValueError(f"{function}: x has shape {tuple(x.shape)}; expected a vector")
    groups = kind_of(function, x, groups).array(function, what, groups)
    one_device(function, kind, x, groups)
    given = kind.dtype_name(groups)
    if len(groups.shape) != 1 or (groups.shape[0] and not is_integer(given)):
        raise TypeError(f"{function}: {what} of shape {tuple(groups.shape)} and type {given}; expected a vector of integers")
    if given != "int32":
        groups = narrowed(function, kind, groups, "int64", what, "integers below 2^63")
    return kind, name, x, rest, kind.usable(groups)


@checked()
def allreduce(comm, values):
    """Sum the arrays of all ranks of a Communicator element by element, rounding once.

    The bits are the same for any number and order of ranks. All ranks call it with arrays of one shape in host memory.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.exact.allreduce(heddle.Communicator(), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    require_communicator("exact.allreduce", comm)
    _, _, (values,) = operands("exact.allreduce", values=values)
    sums = np.array(values, order="C", copy=True)
    _core.allreduce(comm._core, sums.reshape(-1))
    return sums
