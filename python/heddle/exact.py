"""Sums, inner products, norms and products of which each number is rounded once from its exact value.

The bits are the same for any order of the elements, any number of threads and any machine.
"""

from __future__ import annotations

import numpy as np

from . import _core
from ._arrays import operands, real_name
from ._products import stacked

__all__ = ["allreduce", "dot", "matmul", "norm", "sum", "vdot"]


def sum(x, axis=None, *, keepdims=False, algorithm="auto"):
    """The sum of the elements, rounded once.

    Parameters
    ----------
    x : array
        Of any shape and strides; complex sums have each part rounded once. Integers become float64.
    axis : int or tuple of ints, optional
        Axes along which sums are formed; None: all.
    keepdims : bool
        Whether these axes stay, with one element.
    algorithm : str
        "auto", or how sums are formed, to compare: "accumulator", "expansion-2" to "expansion-8", "twice" or "plain";
        the last two are not exact.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> x = np.array([1e100, 1.0, -1e100])
    >>> print(np.sum(x), heddle.exact.sum(x))
    0.0 1.0
    """
    kind, name, (x,) = operands("exact.sum", x)
    return _reduced(kind, name, x, axis, keepdims, lambda v: _core.exact_sum(v, algorithm))


def norm(x, ord=2, axis=None, *, keepdims=False):
    """The 2-norm, or with ord=1 the sum of sizes, of the elements, rounded once from the exact value.

    Of complex elements, the sum of sizes is that of |real| + |imaginary|, as in BLAS.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> print(heddle.exact.norm(np.array([3e300, 4e300])))
    5e+300
    """
    if ord not in (1, 2):
        raise ValueError(f"exact.norm: ord = {ord}; expected 1 or 2")
    kind, name, (x,) = operands("exact.norm", x)
    return _reduced(kind, real_name(name), x, axis, keepdims, lambda v: _core.exact_norm(v, ord))


def _reduced(kind, name, x, axis, keepdims, reduce):
    """reduce() of all elements along some axes."""
    dimensions = len(x.shape)
    if axis is None:
        value = kind.scalar(reduce(kind.flat(x)), name, x)
        return value.reshape((1,) * dimensions) if keepdims else value
    axes = sorted(np.lib.array_utils.normalize_axis_tuple(axis, dimensions))
    others = [k for k in range(dimensions) if k not in axes]
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


def dot(x, y, *, algorithm="auto"):
    """The inner product sum_k x_k y_k of two vectors, rounded once; products that underflow count too.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> x = np.array([1e200, 1.0, 1e200])
    >>> print(heddle.exact.dot(x, np.array([1e200, 2.0, -1e200])))
    2.0
    """
    return _dot("exact.dot", x, y, False, algorithm)


def vdot(x, y, *, algorithm="auto"):
    """The inner product sum_k conj(x_k) y_k of two vectors, rounded once.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> print(heddle.exact.vdot(np.array([1j]), np.array([1j])))
    (1+0j)
    """
    return _dot("exact.vdot", x, y, True, algorithm)


def _dot(function, x, y, conjugated, algorithm):
    kind, name, (x, y) = operands(function, x, y)
    if len(x.shape) != 1 or len(y.shape) != 1 or x.shape != y.shape:
        raise ValueError(f"{function}: shapes {tuple(x.shape)} and {tuple(y.shape)}; expected vectors of one length")
    return kind.scalar(_core.exact_dot(x, y, conjugated, algorithm), name, x)


def matmul(a, b, /, out=None, *, algorithm="auto"):
    """The product of matrices, stacks of them, or of a vector and a matrix, by the rules of numpy.matmul, with each
    element rounded once.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.array([[1e16, 1.0, -1e16]])
    >>> b = np.ones((3, 1))
    >>> print(a @ b, heddle.exact.matmul(a, b))
    [[0.]] [[1.]]
    """
    kind, name, (a, b) = operands("exact.matmul", a, b, integers=False)
    parts, c = stacked("exact.matmul", kind, a, b, name, out)
    for part in parts:
        _core.exact_matmul(*part, algorithm)
    return c if out is not None else kind.finish(c)


def allreduce(comm, values):
    """The sums, element by element, of the arrays of all ranks of a Communicator, each rounded once: the same bits for
    any number of ranks and any order of them. All ranks call it with arrays of one shape, in host memory.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.exact.allreduce(heddle.Communicator(), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    _, _, (values,) = operands("exact.allreduce", values)
    sums = np.array(values, order="C", copy=True)
    _core.allreduce(comm._core, sums.reshape(-1))
    return sums
