"""Exponentials of matrices, and their products with vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import kind_of, matrix, operands, require_apart, result, square
from ._distributed import DistributedMatrix, together
from ._options import checked, flag, optional


@dataclass(frozen=True)
class ExpmReport:
    """How an exponential was computed, and how accurate it is."""

    method: str
    structure: str
    """Structure of a, found or given."""
    degree: int
    squarings: int
    quintuplings: int
    products: int
    """Total number of real matrix products."""
    norm1: float
    alpha: float
    """Number used in place of the norm to choose degree and squarings."""
    backward_error: float
    """Bound on the relative backward error in exact arithmetic."""
    balanced: bool
    residual: float | None
    """||exp(a) - exp(a/2)^2|| / ||exp(a)|| in the 1-norm, if requested."""
    certificate: float | None
    """Proven bound on ||e - exp(a)|| / ||exp(a)|| in the 1-norm, if requested."""
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
    """Number of products of a with a block of all columns."""
    other_products: int
    truncation: float
    """Bound on the truncation error alone, which `tolerance` limits."""
    error: float
    """Error of the result, rounding included: the largest ||r - exp(t a) b|| / ||r|| (2-norm) of its columns r."""
    error_is_bound: bool
    """Whether `error` is an upper bound, as with "krylov" and "chebyshev" and a known structure, not an estimate."""
    seconds: float


LARGEST_BATCHED = 64
LARGEST_PHI = 8


def expm(a, *, out=None, method="automatic", degree=10, tolerance=0.0, structure="automatic", balance=False,
         residual=False, certificate=False, arithmetic="native", tile=0, moduli=0, progress=None, full_output=False):
    """Compute the exponential of a square matrix or of each matrix of a stack, like scipy.linalg.expm.

    Parameters
    ----------
    a : (..., n, n) array, or DistributedMatrix
        Square matrix or stack; of any strides, copied if not column-major. If no option but `tolerance` is given,
        matrices of up to 64 rows, alone or in a stack, are computed in one launch.
    out : (..., n, n) array, optional
        Array for the result. It must not share elements with a.
    method : str
        "automatic", "taylor" (up to `degree`, 1 to 10000), "paterson-stockmeyer", "few-products", "pade" or, for skew-Hermitian a,
        "chebyshev".
    tolerance : float
        Bound on the relative backward error in the 1-norm; 0: the unit roundoff.
    structure : str
        "automatic", or the exact structure of a: "general", "hermitian" or "skew-hermitian".
    balance : bool
        Whether to balance a first.
    residual, certificate : bool
        Whether the report includes a residual, and a proven bound on the error.
    arithmetic : "native", "emulated" or "auto"
        Arithmetic of the products. "emulated" gives the same bits on every machine, at a given tile.
    tile : int
        Tile size of the products; 0: automatic.
    progress : callable or bar of tqdm, optional
        Function called with the share done, from 0 to 1; or a bar, which is advanced.
    full_output : bool
        Whether to return an ExpmReport, too (for a stack a list of them).

    The first call that is not of one launch initializes MPI for this process alone, unless it is initialized.

    Without `out` and `full_output` the function is differentiable for PyTorch tensors that require gradients and JAX
    arrays under jax.grad, and works within jax.jit, jax.vmap and torch.compile. The gradient is that of
    expm_frechet(adjoint=True).

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
        together("expm", a=a, out=out)
        e = DistributedMatrix.like(a, a.shape) if out is None else out
        options = _core.ExpmOptions(method, degree, tolerance, structure, balance, residual, certificate, arithmetic,
                                     tile, moduli, progress)
        report = ExpmReport(**_core.distributed_expm(a._core, e._core, options))
        return (e, report) if full_output else e
    kind, name, (a,) = operands("expm", a=a)
    square("expm", a)
    given = out
    out = result("expm", kind, out, a.shape, name, a)
    plain = (method, degree, structure, balance, residual, certificate, arithmetic, tile, moduli) == \
        ("automatic", 10, "automatic", False, False, False, "native", 0, 0)
    batched = a.shape[-1] <= LARGEST_BATCHED and plain and progress is None and not full_output
    if given is not None and (batched or len(a.shape) > 2):
        require_apart("expm", kind, out, in_place=True, a=a)
    if batched:
        _batched(kind, a, out, tolerance, given is None)
        return kind.finish(out) if given is None else out
    options = _core.ExpmOptions(method, degree, tolerance, structure, balance, residual, certificate, arithmetic, tile,
                                 moduli, progress)
    reports = [ExpmReport(**_core.expm(a[i], out[i], options)) for i in np.ndindex(*a.shape[:-2])]
    out = kind.finish(out) if given is None else out
    return (out, reports[0] if len(a.shape) == 2 else reports) if full_output else out


def _batched(kind, a, out, tolerance, contiguous):
    """Compute the exponentials of a stack or matrix in one launch; in one for each stack of three axes if more axes of
    `out` need not be contiguous."""
    shape = tuple(a.shape)
    if 0 in shape:
        return
    if contiguous or len(shape) <= 3:
        flat = (math.prod(shape[:-2]), *shape[-2:])
        parts = [(a.reshape(flat), out.reshape(flat))]
    else:
        parts = [(a[i], out[i]) for i in np.ndindex(*shape[:-3])]
    done = 0
    for from_, to in parts:
        info = kind.empty((from_.shape[0],), "int32", a)
        _core.expm_batched(from_, to, info, tolerance)
        outcomes = info.tolist()
        if any(outcomes):
            failed = [k for k, what in enumerate(outcomes) if what]
            index = tuple(map(int, np.unravel_index(done + failed[0], shape[:-2])))
            why = {1: "has elements that are not finite", 2: "has an exponential that overflows"}
            raise RuntimeError(f"expm: {f'matrix {index}' if index else 'the matrix'} {why[outcomes[failed[0]]]}"
                               + (f"; {len(failed)} of {len(outcomes)} failed" if len(failed) > 1 else ""))
        done += len(outcomes)


@checked(endpoint=optional(flag))
def expm_multiply(A, B, start=None, stop=None, num=None, endpoint=True, *, time=1.0, method="automatic",
                  structure="general", tolerance=0.0, dimension=40, full_output=False):
    """Compute exp(time A) B for a few vectors B without the exponential, like scipy.sparse.linalg.expm_multiply.

    Parameters
    ----------
    A : (n, n) array, DistributedMatrix, or an operator
        Matrix of B's type, or real with complex B. With a DistributedMatrix each rank passes all of B and receives the
        whole result. An operator has a `shape` and multiplies blocks of vectors: sparse matrices and LinearOperators
        of SciPy, or any object with A @ X and A.conj().T @ X.
    B : (n,) or (n, m) array
        Vector, or the columns of a matrix.
    start, stop, num, endpoint
        Times t at which to compute exp(t A) B, as numpy.linspace(start, stop, num, endpoint) gives them.
    time : number
        Single time, without start and stop; a complex time makes the result complex.
    method : str
        "automatic", "taylor", "chebyshev" or "krylov"; "chebyshev" requires a known structure. The report has the
        method used: a series replaces Krylov steps if it takes ten times fewer products, or if two thirds of the
        digits would be lost.
    structure : str
        Structure of A: "general", "hermitian" or "skew-hermitian".
    tolerance : float
        Bound on the truncation error; 0: the unit roundoff.
    dimension : int
        Largest dimension of a Krylov subspace.
    full_output : bool
        Whether to return an ExpmMultiplyReport, too (for several times a list of them, each for the step from the
        previous time).

    Returns
    -------
    R : array of B's shape
        exp(t A) B; several times have a first axis of their own.
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
    if stop is None:
        raise ValueError(f"expm_multiply: start = {start} without stop")
    times = np.linspace(0.0 if start is None else start, stop, 50 if num is None else num,
                        endpoint=endpoint is None or endpoint)
    R = result("expm_multiply", kind, None, (len(times), *B.shape), name, B)
    reports, now, b = [], 0.0, B
    for k, t in enumerate(times):
        reports.append(act(complex(t - now), b, R[k]))
        now, b = t, R[k]
    R = kind.finish(R)
    return (R, reports) if full_output else R


def _matrix_or_operator(function, A, B, time):
    """Return the library and type of the vectors B, A and B as the library takes them, and whether A is an array."""
    is_array = hasattr(A, "__dlpack__") or isinstance(A, (np.ndarray, list, tuple, memoryview))
    kind = kind_of(function, *((A, B) if is_array else (B,)))
    if is_array:
        return *_matrix_and_vectors(function, A, B, time), True
    kind, name, (B,) = operands(function, B=B)
    if not hasattr(A, "shape"):
        raise TypeError(f"{function}: A is of type {type(A).__name__}; expected a matrix or what has a shape and @")
    if name in ("float32", "float64") and _is_complex(A, time):
        name = {"float32": "complex64", "float64": "complex128"}[name]
        B = kind.as_type(B, name)
    return kind, name, A, B, False


def vectors_beside(function, A, B, time):
    """Return the library and type of the vectors B for a DistributedMatrix A, and B in that type: A's type, or the
    complex type of its precision if A is real and B or the time is complex."""
    kind, of_b, (B,) = operands(function, B=B)
    name = A.dtype.name
    if of_b.startswith("complex") or time.imag != 0:
        name = {"float32": "complex64", "float64": "complex128"}.get(name, name)
    return kind, name, B if of_b == name else kind.usable(kind.as_type(B, name))


def _is_complex(A, time):
    dtype = getattr(A, "dtype", None)
    return (dtype is not None and np.dtype(dtype).kind == "c") or time.imag != 0


def _matrix_and_vectors(function, A, B, time):
    """Return A and B in a common precision; a real A stays real if B is complex."""
    _, of_a, (A,) = operands(function, A=A)
    kind, of_b, (B,) = operands(function, B=B)
    matrix(function, A, "A")
    common = np.result_type(of_a, of_b, *(["complex64"] if time.imag != 0 else [])).name
    real = {"complex64": "float32", "complex128": "float64"}.get(common, common)
    wanted = common if of_a.startswith("complex") else real
    return (kind, common, A if of_a == wanted else kind.usable(kind.as_type(A, wanted)),
            B if of_b == common else kind.usable(kind.as_type(B, common)))


def _products(kind, A, name):
    """Return two functions that set Y to A X and to A^H X for blocks of vectors given by the library."""
    adjoint_of = getattr(A, "rmatmat", None)
    if adjoint_of is None:
        adjoint = A.conj().T if hasattr(A, "conj") else A.H
        adjoint_of = adjoint.__matmul__

    def call(product):
        def into(x, y):
            kind.taken(y, None)[...] = product(kind.taken(x, None))
        return into

    return call(A.__matmul__), call(adjoint_of)
