"""Matrices distributed over the ranks of an mpi4py communicator."""

from __future__ import annotations

import numpy as np

from . import _core
from ._arrays import SCALARS, matrix, operands
from ._options import checked, refusal, whole


class Communicator:
    """Group of ranks: a duplicate of an mpi4py communicator, which keeps the library's messages apart from others.

    All ranks construct it together, and together call the functions that use it. The first Communicator chooses the
    GPU of each rank.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Communicator to duplicate; MPI.COMM_WORLD by default.

    Examples
    --------
    >>> import heddle
    >>> comm = heddle.Communicator()
    >>> comm.size
    1
    """

    def __init__(self, comm=None):
        from mpi4py import MPI

        if comm is None:
            comm = MPI.COMM_WORLD
        if not isinstance(comm, MPI.Comm):
            raise TypeError(f"Communicator: comm is of type {type(comm).__name__}; expected a communicator of mpi4py")
        if comm == MPI.COMM_NULL:
            raise ValueError("Communicator: MPI.COMM_NULL has no ranks")
        self._mpi = comm
        self._core = _core.communicator(comm.py2f(), MPI.Get_library_version().rstrip("\0"))

    def _agreed(self, mine, root, trouble):
        """Return the value of rank `root` on every rank, or raise its exception there."""
        found, trouble = self._mpi.bcast((mine, trouble), root)
        if trouble is not None:
            raise trouble
        return found

    @property
    def rank(self):
        """Number of this rank, from 0."""
        return self._core.rank

    @property
    def size(self):
        """Number of ranks."""
        return self._core.size

    @property
    def nodes(self):
        """Number of nodes of the ranks."""
        return self._core.nodes

    def barrier(self):
        """Wait until every rank has called it."""
        self._core.barrier()

    def __repr__(self):
        return f"<heddle.Communicator: rank {self.rank} of {self.size}>"


def require_communicator(function, comm):
    """Refuse objects that are not a heddle.Communicator, such as a communicator of mpi4py."""
    if not isinstance(comm, Communicator):
        raise TypeError(f"{function}: comm is of type {type(comm).__name__}; expected a heddle.Communicator")


def _extents(function, shape):
    try:
        rows, columns = shape
    except (TypeError, ValueError):
        raise refusal(function, "shape", shape, "a pair of numbers of rows and columns") from None
    return whole(0)(function, "shape[0]", rows), whole(0)(function, "shape[1]", columns)


def _require_rank(function, root, comm):
    """Refuse a root that is not the number of a rank."""
    if not 0 <= whole()(function, "root", root) < comm.size:
        raise ValueError(f"{function}: root = {root}; expected a rank, 0 to {comm.size - 1}")


class DistributedMatrix:
    """Matrix distributed over ranks, each of which stores a part.

    The placement is "rows" (a band of rows for each rank), "columns", "rank:R" (whole on one rank), or
    "cyclic:64x64:2x2" (blocks dealt out over a grid, as in ScaLAPACK; "cyclic:64x64" takes the squarest grid).

    heddle.matmul, expm, solve and eigh take these matrices, too, and a @ b is heddle.matmul(a, b). All ranks call them
    with the same arguments, and their results are distributed matrices.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> comm = heddle.Communicator()
    >>> a = heddle.DistributedMatrix.from_global(comm, np.eye(3))
    >>> (a @ a).gather()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, comm, core, storage=None):
        self.comm = comm
        self._core = core
        self._storage = storage

    # NumPy's operators leave operands of this class to the class.
    __array_ufunc__ = None

    def __matmul__(self, other):
        """Return heddle.matmul(self, other)."""
        return product(self, other)[0]

    def __rmatmul__(self, other):
        return product(other, self)[0]

    @classmethod
    @checked()
    def empty(cls, comm, shape, dtype="float64", placement="rows"):
        """Return a matrix with uninitialized elements. All ranks call it with the same arguments."""
        require_communicator("empty", comm)
        rows, columns = _extents("empty", shape)
        try:
            name = np.dtype(dtype).name
        except (TypeError, ValueError):
            name = None
        if name not in SCALARS:
            raise refusal("empty", "dtype", dtype, "float32, float64, complex64 or complex128")
        return cls(comm, _core.empty(comm._core, name, rows, columns, placement))

    @classmethod
    def like(cls, other, shape, placement="rows"):
        """Return an uninitialized matrix of `shape` with the element type and the ranks of `other`."""
        if not isinstance(other, DistributedMatrix):
            raise refusal("like", "other", other, "a heddle.DistributedMatrix")
        return cls.empty(other.comm, shape, other.dtype, placement)

    @classmethod
    @checked()
    def from_global(cls, comm, array, placement="rows", root=0):
        """Distribute the matrix `array` of rank `root`, in host memory; the arrays of other ranks are ignored. All
        ranks call it."""
        require_communicator("from_global", comm)
        _require_rank("from_global", root, comm)
        mine, trouble = (None, None), None
        if comm.rank == root:
            try:
                kind, name, (array,) = operands("from_global", array=array)
                matrix("from_global", array, "array")
                array = np.asfortranarray(kind.to_host(array))
                mine = (name, array.shape)
            except (TypeError, ValueError) as error:
                trouble = error
        name, shape = comm._agreed(mine, root, trouble)
        made = cls.empty(comm, shape, name, placement)
        made._core.fill_from(array if comm.rank == root else None, root)
        return made

    @classmethod
    @checked()
    def from_local(cls, comm, local, shape, placement="rows"):
        """Return the matrix of `shape` whose parts the ranks pass as `local`. A column-major, writable part is shared,
        not copied; on GPUs only parts of CuPy or PyTorch are shared, and parts in host memory are copied. All ranks
        call it."""
        require_communicator("from_local", comm)
        kind, _, (usable,) = operands("from_local", local=local)
        matrix("from_local", usable, "local")
        usable = kind.columns(usable)
        rows, columns = _extents("from_local", shape)
        return cls(comm, _core.in_storage(comm._core, usable, rows, columns, placement), usable)

    @property
    def shape(self):
        """Rows and columns of the whole matrix."""
        return self._core.shape

    @property
    def dtype(self):
        """Type of the elements."""
        return np.dtype(self._core.dtype)

    @property
    def placement(self):
        """Placement of the elements, in words."""
        return self._core.placement

    @property
    def local(self):
        """Column-major part of this rank: an array of NumPy or, on a GPU, of CuPy, which shares the elements."""
        part = self._core.local()
        if hasattr(part, "__dlpack_device__") and part.__dlpack_device__()[0] != 1:
            import cupy

            return cupy.from_dlpack(part)
        return np.asarray(part)

    def gather(self, root=0):
        """Return the whole matrix as a NumPy array on rank `root`, and None on the others. All ranks call it."""
        _require_rank("gather", root, self.comm)
        whole = self._core.gather(root)
        return None if whole is None else np.asarray(whole)

    @checked()
    def redistribute(self, placement):
        """Return a copy of the matrix in another placement. All ranks call it."""
        other = DistributedMatrix.empty(self.comm, self.shape, self.dtype, placement)
        self._core.redistribute_to(other._core)
        return other

    def __repr__(self):
        return f"<heddle.DistributedMatrix: {self.placement}, {self.dtype}>"


def together(function, out=None, **named):
    """Refuse operands that are not all DistributedMatrix of one element type."""
    named = named if out is None else {**named, "out": out}
    for name, one in named.items():
        if not isinstance(one, DistributedMatrix):
            raise refusal(function, name, one, "a heddle.DistributedMatrix as the others")
    (first, one), *others = named.items()
    for name, other in others:
        if other.dtype != one.dtype:
            raise TypeError(f"{function}: {first} has elements of type {one.dtype} and {name} of {other.dtype}; expected one "
                            "type")


def product(a, b, out=None, arithmetic="native", moduli=0, placement="rows", tile=0):
    """Return the product of two DistributedMatrix, and the entries of its report."""
    together("matmul", a=a, b=b, out=out)
    c = DistributedMatrix.like(a, (a.shape[0], b.shape[1]), placement) if out is None else out
    return c, _core.distributed_matmul(a._core, b._core, c._core, "N", "N", arithmetic, tile, moduli)
