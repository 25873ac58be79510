from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import exact as exact

__version__: str

Arithmetic = Literal["native", "emulated", "auto"]
Progress = Callable[[float], object] | Any | None

@dataclass(frozen=True)
class MatmulReport:
    arithmetic: str
    moduli: int
    error_bound: float
    spread: float
    fallback: str | None

@dataclass(frozen=True)
class DistributedMatmulReport:
    arithmetic: str
    tile: int
    grid: tuple[int, int]
    layers: int
    seconds: float
    gflops: float
    bytes_received: float
    wait_seconds: float
    moduli: int
    error_bound: float

@dataclass(frozen=True)
class FactorizationReport:
    info: int
    seconds: float
    gflops: float
    arithmetic: str
    block: int
    group: int
    memory_bytes: float

@dataclass(frozen=True)
class LuReport(FactorizationReport):
    pivots: list[int]
    growth: float

@dataclass(frozen=True)
class SolveReport:
    factorization: LuReport
    equilibrated: bool
    seconds: float
    memory_bytes: float
    normwise_error: float
    componentwise_error: float
    scaled_residual: float
    condition: float
    scaled_condition: float
    ill_conditioned: bool
    overflow: int
    error_bound: float
    correctly_rounded: bool
    undecided: int
    undecided_row: int
    undecided_column: int
    distance_to_tie: float

class IllConditionedWarning(RuntimeWarning): ...
@dataclass(frozen=True)
class Determinant:
    mantissa: np.generic
    exponent: int
    correctly_rounded: bool

@dataclass(frozen=True)
class EighReport:
    converged: bool
    end: str
    method: str
    accuracy: str
    sweeps: int
    rotations: int
    off_norms: list[float]
    least_pivot: float | None = None
    growth: float | None = None
    refinement_sweeps: int | None = None

@dataclass(frozen=True)
class EighBatchedReport:
    not_converged: int
    first_failed: int
    sweeps: int
    rotations: int

@dataclass(frozen=True)
class ExpmReport:
    method: str
    structure: str
    degree: int
    squarings: int
    quintuplings: int
    products: int
    norm1: float
    alpha: float
    backward_error: float
    balanced: bool
    residual: float | None
    certificate: float | None
    seconds: float
    gemm_seconds: float
    flops: float

@dataclass(frozen=True)
class ExpmFrechetReport:
    method: str
    degree: int
    squarings: int
    products: int
    norm1: float
    beta: float
    backward_error: float
    seconds: float
    gemm_seconds: float
    flops: float

@dataclass(frozen=True)
class PhiReport:
    structure: str
    degree: int
    squarings: int
    products: int
    norm1: float
    alpha: float
    error: float
    seconds: float
    gemm_seconds: float
    flops: float

@dataclass(frozen=True)
class ExpmMultiplyReport:
    method: str
    degree: int
    steps: int
    products: int
    other_products: int
    truncation: float
    error: float
    error_is_bound: bool
    seconds: float

@dataclass(frozen=True)
class SearchReport:
    algorithm: str
    hash: str
    collisions: int
    iterations: int
    passes: int
    memory: int

@dataclass(frozen=True)
class Duplicates:
    group: Any
    first: Any
    count: Any
    report: SearchReport

@dataclass(frozen=True)
class Faces:
    cell: Any
    side: Any
    offsets: Any
    points: Any
    def __len__(self) -> int: ...
    def as_matrix(self) -> Any: ...
    def as_pyvista(self, points: ArrayLike) -> Any: ...
    def as_meshio(self, points: ArrayLike) -> Any: ...

@dataclass(frozen=True)
class ExternalFacesReport:
    search: SearchReport
    cells: int
    faces: int
    external: int
    nonmanifold_sides: int
    nonmanifold_faces: int
    degenerate_sides: int

@dataclass(frozen=True)
class ExternalFaces:
    external: Faces
    nonmanifold: Faces
    nonmanifold_face: Any
    report: ExternalFacesReport

class Communicator:
    def __init__(self, comm: Any = None) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    def barrier(self) -> None: ...

class DistributedMatrix:
    comm: Communicator
    @classmethod
    def empty(cls, comm: Communicator, shape: tuple[int, int], dtype: DTypeLike = "float64", placement: str = "rows") -> DistributedMatrix: ...
    @classmethod
    def like(cls, other: DistributedMatrix, shape: tuple[int, int], placement: str = "rows") -> DistributedMatrix: ...
    @classmethod
    def from_global(cls, comm: Communicator, array: Any, placement: str = "rows", root: int = 0) -> DistributedMatrix: ...
    @classmethod
    def from_local(cls, comm: Communicator, local: Any, shape: tuple[int, int], placement: str = "rows") -> DistributedMatrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def placement(self) -> str: ...
    @property
    def local(self) -> Any: ...
    def gather(self, root: int = 0) -> np.ndarray[Any, Any] | None: ...
    def __matmul__(self, other: DistributedMatrix) -> DistributedMatrix: ...
    def redistribute(self, placement: str) -> DistributedMatrix: ...

@dataclass(frozen=True)
class TdseResult(Mapping[str, np.ndarray[Any, Any]]):
    arrays: dict[str, np.ndarray[Any, Any]]
    deck: str
    steps: int
    time: float
    propagator: str
    notes: tuple[str, ...]
    def __getitem__(self, name: str) -> np.ndarray[Any, Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class TdseStep:
    @property
    def step(self) -> int: ...
    @property
    def time(self) -> float: ...
    def state(self, k: int = 0) -> np.ndarray[Any, Any]: ...

def tdse(
    deck: Mapping[str, Any] | str | PathLike[str], settings: Mapping[str, Any] | None = None, *, psi: Any = None,
    callback: Callable[[TdseStep], object] | None = None, progress: Progress = None,
    output: str | PathLike[str] | None = None, overwrite: bool = False, tile: int = 0, allow_growth: bool = False,
) -> TdseResult: ...
def verify(*files: str | PathLike[str], expect: str | None = None) -> str: ...
def start(threads: int | None = None, device: int | None = None) -> None: ...
def release_memory() -> None: ...
def info() -> dict[str, Any]: ...
def matmul(
    a: Any, b: Any, /, out: Any = None, *, arithmetic: Arithmetic = "native", moduli: int = 0, full_output: bool = False,
    placement: str | None = None, tile: int = 0,
) -> Any: ...
def transpose(a: Any, /, out: Any = None, *, conjugate: bool = False) -> Any: ...
def lu_factor(
    a: Any, overwrite_a: bool = False, *, arithmetic: Arithmetic = "native", block: int = 0, group: int = 0,
    progress: Progress = None, full_output: bool = False,
) -> Any: ...
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, p_indices: bool = False, *,
    arithmetic: Arithmetic = "native", block: int = 0, group: int = 0, progress: Progress = None,
) -> tuple[Any, ...]: ...
def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: Literal[0, 1, 2] = 0, overwrite_b: bool = False, *,
    arithmetic: Arithmetic = "native", block: int = 0, group: int = 0,
) -> Any: ...
def cholesky(
    a: Any, /, *, upper: bool = False, out: Any = None, arithmetic: Arithmetic = "native", block: int = 0, group: int = 0,
    progress: Progress = None, full_output: bool = False,
) -> Any: ...
def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, *, arithmetic: Arithmetic = "native",
    block: int = 0, group: int = 0,
) -> Any: ...
def solve(
    a: Any, b: Any, *, assume_a: str | None = "general", out: Any = None, arithmetic: Arithmetic = "native",
    equilibrate: bool = True, refinements: int = 1, certificate: bool = False, correctly_rounded: bool = False,
    block: int = 0, group: int = 0, progress: Progress = None, full_output: bool = False,
) -> Any: ...
def inv(
    a: Any, overwrite_a: bool = False, *, correctly_rounded: bool = False, arithmetic: Arithmetic = "native",
    block: int = 0, group: int = 0, progress: Progress = None,
) -> Any: ...
def determinant(
    a: Any, *, correctly_rounded: bool = False, arithmetic: Arithmetic = "native", block: int = 0, group: int = 0,
    progress: Progress = None,
) -> Determinant: ...
def slogdet(
    a: Any, *, arithmetic: Arithmetic = "native", block: int = 0, group: int = 0, progress: Progress = None,
) -> tuple[Any, Any]: ...
def eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, *, method: str = "automatic",
    accuracy: str = "automatic", tolerance: float = 0.0, sweeps: int = 40, block: int = 0, reproducible: bool = False,
    full_output: bool = False,
) -> Any: ...
def eigh_batched(
    a: Any, lower: bool = True, eigvals_only: bool = False, *, accuracy: str = "automatic", tolerance: float = 0.0,
    sweeps: int = 40, reproducible: bool = False, full_output: bool = False,
) -> Any: ...
def expm(
    a: Any, *, out: Any = None, method: str = "automatic", degree: int = 10, tolerance: float = 0.0,
    structure: str = "automatic", balance: bool = False, residual: bool = False, certificate: bool = False,
    arithmetic: Arithmetic = "native", tile: int = 0, moduli: int = 0, progress: Progress = None,
    full_output: bool = False,
) -> Any: ...
def expm_frechet(
    A: Any, E: Any, *, compute_expm: bool = True, adjoint: bool = False, method: str = "automatic",
    tolerance: float = 0.0, arithmetic: Arithmetic = "native", tile: int = 0, moduli: int = 0,
    progress: Progress = None, full_output: bool = False,
) -> Any: ...
def phi(
    a: Any, p: int, *, out: Any = None, tolerance: float = 0.0, structure: str = "automatic",
    arithmetic: Arithmetic = "native", tile: int = 0, moduli: int = 0, progress: Progress = None,
    full_output: bool = False,
) -> Any: ...
def phi_multiply(
    A: Any, B: Any, *, time: complex = 1.0, method: str = "automatic", tolerance: float = 0.0, dimension: int = 40,
    full_output: bool = False,
) -> Any: ...
def expm_multiply(
    A: Any, B: Any, start: float | None = None, stop: float | None = None, num: int | None = None,
    endpoint: bool | None = True, *, time: complex = 1.0, method: str = "automatic", structure: str = "general",
    tolerance: float = 0.0, dimension: int = 40, full_output: bool = False,
) -> Any: ...
def duplicates(keys: Any, *, algorithm: str = "automatic", hash: str = "automatic", memory: int = 0) -> Duplicates: ...
def external_faces(
    cells: Any, kind: str | int | None = None, *, kinds: ArrayLike | None = None, offsets: ArrayLike | None = None,
    ghosts: ArrayLike | None = None, ghost_cells: Literal["hide", "drop", "keep"] = "hide",
    algorithm: str = "automatic", memory: int = 0,
) -> ExternalFaces: ...
