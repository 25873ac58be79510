"""Products and transposes of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import kind_of, operands, require_apart, result, stack_of
from ._distributed import DistributedMatrix, product
from ._options import checked


@dataclass(frozen=True)
class MatmulReport:
    """How a product was computed."""

    arithmetic: str
    """"native" or "emulated"."""
    moduli: int
    """Number of moduli of an emulated product; 0 for a native one and for the fallback."""
    error_bound: float
    """Emulated: |c - a b|_ij <= error_bound |a_i|_2 |b_j|_2 + u |c_ij|, with row a_i of a and column b_j of b."""
    spread: float
    """Largest |a_i|_2 |b_j|_2 / sum_k |a_ik b_kj| that a probe found, approximately; 0 without a probe."""
    fallback: str | None
    """Method that replaced integers because the exponents spread too far: "exact" or "native"."""


@dataclass(frozen=True)
class DistributedMatmulReport:
    """How a product over ranks was computed, and how long it took."""

    arithmetic: str
    tile: int
    """Number of rows and of columns of a tile of the product."""
    grid: tuple[int, int]
    """Numbers of rows and columns of the grid of ranks."""
    layers: int
    """Number of ranges of the inner dimension that were multiplied separately."""
    seconds: float
    gflops: float
    bytes_received: float
    """Bytes received from other ranks, summed over all ranks."""
    wait_seconds: float
    moduli: int
    error_bound: float


def stacked(function, kind, a, b, name, out):
    """Split a product by the rules of numpy.matmul: return a list of two matrices and the place of their product, and
    the whole result."""
    if len(a.shape) == 0 or len(b.shape) == 0:
        raise ValueError(f"{function}: a has shape {tuple(a.shape)} and b {tuple(b.shape)}; expected vectors or matrices")
    row, column = len(a.shape) == 1, len(b.shape) == 1
    a = a[None, :] if row else a
    b = b[:, None] if column else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{function}: {a.shape[-1]} columns of a and {b.shape[-2]} rows of b; expected as many")
    stack = stack_of(function, a, b)
    shape = stack + (() if row else (a.shape[-2],)) + (() if column else (b.shape[-1],))
    c = result(function, kind, out, shape, name, a)
    whole = c
    if column:
        whole = whole[..., None]
    if row:
        whole = whole[..., None, :]
    if not stack:
        return [(a, b, whole)], c
    if out is not None:
        require_apart(function, kind, c, a=a, b=b)
    a = kind.broadcast(a, stack + tuple(a.shape[-2:]))
    b = kind.broadcast(b, stack + tuple(b.shape[-2:]))
    return [(a[i], b[i], whole[i]) for i in np.ndindex(*stack)], c


@checked()
def matmul(a, b, /, out=None, *, arithmetic="native", moduli=0, full_output=False, placement=None, tile=0):
    """Multiply two matrices, stacks of matrices, or a vector and a matrix by the rules of numpy.matmul.

    Parameters
    ----------
    a, b : (..., m, k) and (..., k, n) arrays
        Factors; of any strides, copied if neither row-major nor column-major. Integers are refused.
    out : (..., m, n) array, optional
        Array for the product. It must not share elements with a or b.
    arithmetic : "native", "emulated" or "auto"
        "native" calls the BLAS. "emulated" multiplies 8-bit integers, as accurately, and gives the same bits on every
        machine and with any number of threads. "auto" takes the one expected to be faster on this kind of machine.
    moduli : int
        Number of moduli of an emulated product, 7 to 31; each adds 4 bits. 0: enough for the accuracy of the type.
    full_output : bool
        Whether to return a MatmulReport, too (for a stack a list of them).
    placement : str, optional
        Placement of the product of two DistributedMatrix, "rows" by default. The report is then a
        DistributedMatmulReport.
    tile : int
        Tile size of the product of two DistributedMatrix; 0: automatic.

    Returns
    -------
    c : (..., m, n) array
        Product, an array of the library of a and b.
    report : MatmulReport, if full_output

    Examples
    --------
    >>> import numpy as np, heddle
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> heddle.matmul(a, a.T)
    array([[ 5., 14.],
           [14., 50.]])
    >>> c, report = heddle.matmul(a, a.T, arithmetic="emulated", full_output=True)
    >>> report.arithmetic, report.moduli
    ('emulated', 14)
    """
    if isinstance(a, DistributedMatrix) or isinstance(b, DistributedMatrix):
        c, entries = product(a, b, out, arithmetic, moduli, placement or "rows", tile)
        return (c, DistributedMatmulReport(**entries)) if full_output else c
    if placement is not None or tile:
        raise TypeError("matmul: placement and tile are for a DistributedMatrix alone")
    kind, name, (a, b) = operands("matmul", a=a, b=b, integers=False)
    of_a, of_b = a.shape, b.shape
    if len(of_a) == len(of_b) == 2 and of_a[1] == of_b[0]:
        c = result("matmul", kind, out, (of_a[0], of_b[1]), name, a)
        reports = (_core.matmul(a, b, c, arithmetic, moduli, full_output),)
    else:
        parts, c = stacked("matmul", kind, a, b, name, out)
        reports = [_core.matmul(*part, arithmetic, moduli, full_output) for part in parts]
    c = c if out is not None else kind.finish(c)
    if not full_output:
        return c
    reports = [MatmulReport(**report) for report in reports]
    return c, reports[0] if len(c.shape) <= 2 else reports


_INTEGERS = ("int32", "int64")


@checked()
def transpose(a, /, out=None, *, conjugate=False):
    """Transpose a matrix, or each matrix of a stack, in memory at about the speed of a copy.

    numpy.transpose returns a strided view instead.

    Parameters
    ----------
    a : (m, n) or (k, m, n) array
        Matrix or stack of any strides, of type float32, float64, complex64, complex128, int32 or int64.
    out : (n, m) or (k, n, m) array, optional
        Array for the result, of any strides. It must not share elements with a.
    conjugate : bool
        Whether to conjugate the elements, too.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.transpose(np.arange(6.0).reshape(2, 3))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    """
    kind = kind_of("transpose", a)
    a = kind.array("transpose", "a", a)
    name = kind.dtype_name(a)
    if name in _INTEGERS:
        a = kind.usable(a)
    else:
        kind, name, (a,) = operands("transpose", a=a, integers=False)
    if len(a.shape) not in (2, 3):
        raise ValueError(f"transpose: a has shape {tuple(a.shape)}; expected a matrix or a stack of them")
    shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
    given = out is not None
    out = result("transpose", kind, out, shape, name, a)
    _core.transpose(a, out, "C" if conjugate else "T")
    return out if given else kind.finish(out)
