"""Dense linear algebra whose digits are right, from NumPy, CuPy, PyTorch and JAX: the library Heddle.

Arrays are taken where they lie, by DLPack or the buffer protocol, and results are of the kind of the arrays given.
Importing starts nothing. The first use starts Kokkos, with as many threads as OMP_NUM_THREADS says or start() is told;
MPI is initialised by expm() and its relatives and arithmetic="auto" alone, for this process by itself, where mpi4py has
not done it. Calls of several threads come one after the other, each with all of Kokkos' threads, and without the GIL.

A wrong argument raises ValueError or TypeError, a computation that fails RuntimeError, one without the memory for it
MemoryError, and a matrix that is singular, or not positive definite, numpy.linalg.LinAlgError. One that is close to
singular is warned of, by IllConditionedWarning.
"""

import atexit as _atexit

from . import _core, exact
from ._distributed import Communicator, DistributedMatrix
from ._eigen import EighBatchedReport, EighReport, eigh, eigh_batched
from ._expm import ExpmMultiplyReport, ExpmReport, expm_multiply
from ._frechet import ExpmFrechetReport, expm_frechet
from ._gradients import expm
from ._phi import PhiReport, phi, phi_multiply
from ._products import DistributedMatmulReport, MatmulReport, matmul, transpose
from ._search import Duplicates, ExternalFaces, ExternalFacesReport, Faces, SearchReport, duplicates, external_faces
from ._solve import (FactorizationReport, IllConditionedWarning, LuReport, SolveReport, cho_solve, cholesky, inv, lu,
                     lu_factor, lu_solve, slogdet, solve)
from ._tdse import TdseResult, TdseStep, tdse, verify

__all__ = [
    "Communicator", "DistributedMatmulReport", "DistributedMatrix", "Duplicates", "EighBatchedReport", "EighReport",
    "ExpmFrechetReport", "ExpmMultiplyReport", "ExpmReport", "ExternalFaces", "ExternalFacesReport", "Faces",
    "FactorizationReport", "IllConditionedWarning", "LuReport", "MatmulReport", "PhiReport", "SearchReport", "SolveReport", "TdseResult",
    "TdseStep", "cho_solve", "cholesky", "duplicates", "eigh", "eigh_batched", "exact", "expm", "expm_frechet",
    "expm_multiply", "external_faces", "info", "inv", "lu", "lu_factor", "lu_solve", "matmul", "phi", "phi_multiply",
    "release_memory", "slogdet", "solve", "start", "tdse", "transpose", "verify",
]

__version__ = _core.version()

# Before modules are taken apart: Kokkos has to end while its libraries are all there.
_atexit.register(_core.end)


def start(threads=None, device=None):
    """Starts Kokkos before its first use would: with a number of threads, and on the GPU of a number. Raises ValueError
    where it runs with another number of threads."""
    _core.start(threads, device)


def release_memory():
    """Gives back what calls left for the next ones like them: plans of expm(), expm_frechet() and eigh() with vectors, the
    latest eight of at most 512 MiB together, most of it memory of the device.

    Examples
    --------
    >>> import heddle, numpy
    >>> values, vectors = heddle.eigh(numpy.eye(3))
    >>> heddle.release_memory()
    """
    _core.release_memory()


def info():
    """What this build and this process consist of: a dict of versions, the backend, its threads and devices, the BLAS,
    and optional libraries that are absent.

    Examples
    --------
    >>> import heddle
    >>> heddle.info()["version"] == heddle.__version__
    True
    """
    return _core.info()
