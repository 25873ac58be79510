"""Exponentials of matrices, and their products with vectors, on one rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import kind_of, matrix, operands, require_apart, result, square
from ._distributed import DistributedMatrix, together


@dataclass(frozen=True)
class ExpmReport:
    """How an exponential was computed, and how accurate it is."""

    method: str
    structure: str
    """The structure of a that was found or given."""
    degree: int
    squarings: int
    quintuplings: int
    products: int
    """Real products of matrices in all."""
    norm1: float
    alpha: float
    """What took the place of the norm in the choice of degree and squarings."""
    backward_error: float
    """Bound of the relative backward error, in exact arithmetic."""
    balanced: bool
    residual: float | None
    """||exp(a) - exp(a/2)^2|| / ||exp(a)|| (1-norm), where it was asked for."""
    certificate: float | None
    """Proven bound of ||e - exp(a)|| / ||exp(a)|| (1-norm), where it was asked for."""
    seconds: float
    gemm_seconds: float
    flops: float


@dataclass(frozen=True)
class ExpmMultiplyReport:
    """How exp(t a) b was computed, and how accurate it is."""

    method: str
    degree: int
    steps: int
    products: int
    """Products of a with a block of all columns."""
    other_products: int
    truncation: float
    """Bound of the error of the truncation alone, which `tolerance` limits."""
    error: float
    """The error of the result, with rounding: the largest ||r - exp(t a) b|| / ||r|| (2-norm) of a column r of it."""
    error_is_bound: bool
    """Whether `error` is an upper bound, as for a known structure by "krylov" and "chebyshev"; else an estimate."""
    seconds: float


LARGEST_BATCHED = 64
LARGEST_PHI = 8


def expm(a, *, out=None, method="automatic", degree=10, tolerance=0.0, structure="automatic", balance=False,
         residual=False, certificate=False, arithmetic="native", tile=0, moduli=0, progress=None, full_output=False):
    """The exponential of a square matrix, or of each of a stack, as scipy.linalg.expm has it.

    Parameters
    ----------
    a : (..., n, n) array, or DistributedMatrix
        Of any strides; what is not column-major is copied. Stacks of matrices of up to 64 rows are computed in one
        launch, where none of the options but `tolerance` is given.
    out : (..., n, n) array, optional
        Where the exponential goes. It must not share elements with a.
    method : str
        "automatic", "taylor" (up to `degree`), "paterson-stockmeyer", "few-products", "pade" or, for skew-Hermitian a,
        "chebyshev".
    tolerance : float
        Bound for the relative backward error in the 1-norm; 0: the unit round-off.
    structure : str
        "automatic", or what a is to the last bit: "general", "hermitian" or "skew-hermitian".
    balance, residual, certificate : bool
        Whether a is balanced first, and what the report has too: a residual, and a proven bound of the error.
    arithmetic : "native", "emulated" or "auto"
        Emulated: the same bits on every machine, at a given tile.
    tile : int
        Of the products; 0: chosen.
    progress : callable or bar of tqdm, optional
        Called with the share done, from 0 to 1; or a bar, which is moved on.
    full_output : bool
        Whether an ExpmReport is returned too (of a stack a list of them).

    The first call initialises MPI, for this process alone, where nobody did it.

    Without `out` and `full_output`, gradients go through it: of tensors of PyTorch that require one, and of arrays of JAX
    under jax.grad; jax.jit, jax.vmap and torch.compile take it too. The gradient is that of expm_frechet(adjoint=True).

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.expm(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])
    >>> e, report = heddle.expm(np.diag([1.0, 2.0]), certificate=True, full_output=True)
    >>> report.certificate < 1e-14
    True
    """
    if isinstance(a, DistributedMatrix):
        together("expm", a, *(() if out is None else (out,)))
        e = DistributedMatrix.like(a, a.shape) if out is None else out
        options = _core.ExpmOptions(method, degree, tolerance, structure, balance, residual, certificate, arithmetic,
                                    tile, moduli, progress)
        report = ExpmReport(**_core.distributed_expm(a._core, e._core, options))
        return (e, report) if full_output else e
    kind, name, (a,) = operands("expm", a)
    square("expm", a)
    given = out
    out = result("expm", kind, out, a.shape, name, a)
    if given is not None and len(a.shape) > 2:
        require_apart("expm", kind, out, in_place=True, a=a)
    plain = (method, degree, structure, balance, residual, certificate, arithmetic, tile, moduli) == \
        ("automatic", 10, "automatic", False, False, False, "native", 0, 0)
    if len(a.shape) > 2 and a.shape[-1] <= LARGEST_BATCHED and plain and progress is None and not full_output:
        _batched(kind, a, out, tolerance)
        return kind.finish(out) if given is None else out
    options = _core.ExpmOptions(method, degree, tolerance, structure, balance, residual, certificate, arithmetic, tile,
                                moduli, progress)
    reports = [ExpmReport(**_core.expm(a[i], out[i], options)) for i in np.ndindex(*a.shape[:-2])]
    out = kind.finish(out) if given is None else out
    return (out, reports[0] if len(a.shape) == 2 else reports) if full_output else out


def _batched(kind, a, out, tolerance):
    n = a.shape[-1]
    for i in np.ndindex(*a.shape[:-3]):
        info = kind.empty((a.shape[-3],), "int32", a)
        if a.shape[-3] == 0 or n == 0:
            continue
        _core.expm_batched(a[i], out[i], info, tolerance)
        failed = [k for k, what in enumerate(info.tolist()) if what]
        if failed:
            why = {1: "has elements that are not finite", 2: "has an exponential beyond the range of its type"}
            raise RuntimeError(f"expm: matrix {(*i, failed[0])} {why[info.tolist()[failed[0]]]}"
                               + (f"; {len(failed)} of {a.shape[-3]} failed" if len(failed) > 1 else ""))


def expm_multiply(A, B, start=None, stop=None, num=None, endpoint=True, *, time=1.0, method="automatic",
                  structure="general", tolerance=0.0, dimension=40, full_output=False):
    """exp(time A) B for a few vectors B, without the exponential, as scipy.sparse.linalg.expm_multiply has it.

    Parameters
    ----------
    A : (n, n) array, DistributedMatrix, or an operator
        A matrix, of B's type or, where B is complex, real; one over ranks, each of which then gives all of B and gets
        all of the result; or what has a `shape` and multiplies blocks of vectors:
        sparse matrices and LinearOperators of SciPy, or any object with A @ X and A.conj().T @ X.
    B : (n,) or (n, m) array
    start, stop, num, endpoint
        With start and stop, the times t at which exp(t A) B is computed, as numpy.linspace has them.
    time : number
        One time, without start and stop; complex where B is.
    method : str
        "automatic", "taylor", "chebyshev" or "krylov"; Chebyshev's is for known structures. The report has the method
        that was taken: Krylov steps give way to a series where that takes ten times fewer products, or where two thirds
        of the digits would be lost.
    structure : str
        "general", or what A is: "hermitian" or "skew-hermitian".
    tolerance : float
        Bound for the error of the truncation; 0: the unit round-off.
    dimension : int
        The largest dimension of a Krylov subspace.
    full_output : bool
        Whether an ExpmMultiplyReport is returned too (of several times a list of them, each for the step from the time
        before).

    Returns
    -------
    R : array of B's shape; of several times one with a first axis for them
    report : ExpmMultiplyReport, if full_output

    Examples
    --------
    >>> import numpy as np, heddle
    >>> heddle.expm_multiply(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0]), time=3.0)
    array([7., 2.])
    """
    over_ranks = isinstance(A, DistributedMatrix)
    if over_ranks:
        kind, name, B = vectors_beside("expm_multiply", A, B, time)
    else:
        kind, name, A, B, is_array = _matrix_or_operator("expm_multiply", A, B, time)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1] or len(B.shape) not in (1, 2) or B.shape[0] != A.shape[0]:
        raise ValueError(f"expm_multiply: A has shape {tuple(A.shape)} and B {tuple(B.shape)}")
    options = _core.ExpmMultiplyOptions(method, structure, tolerance, dimension)

    def act(t, b, r):
        b, r = (b[:, None], r[:, None]) if len(b.shape) == 1 else (b, r)
        if over_ranks:
            return ExpmMultiplyReport(**_core.distributed_expm_multiply(False, t, A._core, b, r, options))
        if is_array:
            return ExpmMultiplyReport(**_core.expm_multiply(False, t, A, b, r, options))
        apply, adjoint = _products(kind, A, name)
        return ExpmMultiplyReport(**_core.expm_multiply_operator(False, t, A.shape[0], apply, adjoint, b, r, options))

    if start is None and stop is None:
        R = result("expm_multiply", kind, None, B.shape, name, B)
        reports = act(complex(time), B, R)
        R = kind.finish(R)
        return (R, reports) if full_output else R
    times = np.linspace(0.0 if start is None else start, stop, 50 if num is None else num, endpoint=bool(endpoint))
    R = result("expm_multiply", kind, None, (len(times), *B.shape), name, B)
    reports, now, b = [], 0.0, B
    for k, t in enumerate(times):
        reports.append(act(complex(t - now), b, R[k]))
        now, b = t, R[k]
    R = kind.finish(R)
    return (R, reports) if full_output else R


def _matrix_or_operator(function, A, B, time):
    """The kind and type of vectors B, A and B as they are taken, and whether A is an array."""
    is_array = hasattr(A, "__dlpack__") or isinstance(A, (np.ndarray, list, tuple, memoryview))
    kind = kind_of(function, *((A, B) if is_array else (B,)))
    if is_array:
        return *_matrix_and_vectors(function, A, B, time), True
    kind, name, (B,) = operands(function, B)
    if not hasattr(A, "shape"):
        raise TypeError(f"{function}: A is of type {type(A).__name__}; expected a matrix or what has a shape and @")
    if name in ("float32", "float64") and _is_complex(A, time):
        name = {"float32": "complex64", "float64": "complex128"}[name]
        B = kind.as_type(B, name)
    return kind, name, A, B, False


def vectors_beside(function, A, B, time):
    """The kind and type of vectors B for a DistributedMatrix A, and they themselves: of A's type, or where A is real and
    they, or the time, are not, of the complex type of its precision."""
    kind, of_b, (B,) = operands(function, B)
    name = A.dtype.name
    if of_b.startswith("complex") or complex(time).imag != 0:
        name = {"float32": "complex64", "float64": "complex128"}.get(name, name)
    return kind, name, B if of_b == name else kind.usable(kind.as_type(B, name))


def _is_complex(A, time):
    dtype = getattr(A, "dtype", None)
    return (dtype is not None and np.dtype(dtype).kind == "c") or complex(time).imag != 0


def _matrix_and_vectors(function, A, B, time):
    """A keeps real elements where B is complex."""
    _, of_a, (A,) = operands(function, A)
    kind, of_b, (B,) = operands(function, B)
    matrix(function, A, "A")
    common = np.result_type(of_a, of_b, *(["complex64"] if complex(time).imag != 0 else [])).name
    real = {"complex64": "float32", "complex128": "float64"}.get(common, common)
    wanted = common if of_a.startswith("complex") else real
    return (kind, common, A if of_a == wanted else kind.usable(kind.as_type(A, wanted)),
            B if of_b == common else kind.usable(kind.as_type(B, common)))


def _products(kind, A, name):
    """What sets Y to A X, and to A^H X, for blocks of vectors that the library gives."""
    adjoint_of = getattr(A, "rmatmat", None)
    if adjoint_of is None:
        adjoint = A.conj().T if hasattr(A, "conj") else A.H
        adjoint_of = adjoint.__matmul__

    def call(product):
        def into(x, y):
            kind.taken(y, None)[...] = product(kind.taken(x, None))
        return into

    return call(A.__matmul__), call(adjoint_of)
