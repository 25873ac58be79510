"""Tests run by every rank of `mpirun python -m mpi4py ranks.py`, which test_ranks.py starts."""

import hashlib
import importlib

import heddle
import numpy as np
from conftest import SCALARS, hermitian, random, roundoff
from mpi4py import MPI

PLACEMENTS = ("rows", "columns", "rank:0", "cyclic:3x5")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{kind} was expected")


def on_host(local):
    """Return a part as a NumPy array; on a GPU it is a CuPy array."""
    return local if isinstance(local, np.ndarray) else local.get()


def address(local):
    return local.__array_interface__["data"][0] if isinstance(local, np.ndarray) else local.data.ptr


def check_matrices(comm, rng):
    for name in SCALARS:
        for shape in ((0, 0), (1, 7), (20, 13)):
            whole = random(rng, shape, name)
            for placement in (*PLACEMENTS, f"rank:{comm.size - 1}"):
                given = whole if comm.rank == comm.size - 1 else None
                a = heddle.DistributedMatrix.from_global(comm, given, placement, root=comm.size - 1)
                assert a.shape == shape and a.dtype == name and a.comm is comm
                for root in range(comm.size):
                    found = a.gather(root)
                    assert (found is None) == (comm.rank != root)
                    assert found is None or found.tobytes() == whole.tobytes()
                b = heddle.DistributedMatrix.from_local(comm, a.local, shape, placement)
                assert address(a.local) == address(b.local)
                by_rows = np.ascontiguousarray(on_host(a.local))
                copied = heddle.DistributedMatrix.from_local(comm, by_rows, shape, placement)
                moved = copied.redistribute("columns")
                found = moved.gather()
                assert found is None or (found == whole).all()
    raises(ValueError, "expected a matrix", lambda: heddle.DistributedMatrix.from_global(comm, np.ones(3)))
    for root in (-1, comm.size):
        text = f"root = {root}; expected a rank, 0 to {comm.size - 1}"
        raises(ValueError, text, lambda: heddle.DistributedMatrix.from_global(comm, np.eye(2), root=root))
        raises(ValueError, text, lambda: heddle.DistributedMatrix.from_global(comm, np.eye(2)).gather(root))
    raises(MemoryError, "1073741824 elements", lambda: heddle.DistributedMatrix.empty(comm, (1 << 30, 1 << 30)))


def check_other_ranks(comm, rng):
    """Every operation refuses on every rank matrices of other ranks, or of the same ranks in another order."""
    a = heddle.DistributedMatrix.from_global(comm, np.eye(4))
    duplicate = heddle.DistributedMatrix.from_global(heddle.Communicator(), np.eye(4))
    assert heddle.matmul(a, duplicate).gather() is None or comm.rank == 0
    own = heddle.DistributedMatrix.from_global(heddle.Communicator(MPI.COMM_SELF), np.eye(4))
    backwards = heddle.Communicator(MPI.COMM_WORLD.Split(0, -comm.rank))
    for other in (own, heddle.DistributedMatrix.from_global(backwards, np.eye(4), root=comm.size - 1)):
        if comm.size == 1:
            continue
        for call in (lambda: heddle.matmul(a, other), lambda: heddle.matmul(a, a, out=other),
                     lambda: heddle.solve(a, other), lambda: heddle.solve(a, a, out=other),
                     lambda: heddle.expm(a, out=other), lambda: heddle.expm_frechet(a, other),
                     lambda: heddle.phi(a, 1, out=[a, other]), lambda: heddle.expm_multiply(a, other)):
            raises(ValueError, "another communicator", call)
    raises(ValueError, "out shares storage with a", lambda: heddle.matmul(a, duplicate, out=a))
    raises(ValueError, "out shares storage with b", lambda: heddle.matmul(a, duplicate, out=duplicate))
    raises(TypeError, "float16",
           lambda: heddle.DistributedMatrix.from_global(comm, np.ones((2, 2), "float16") if comm.rank == 0 else None))
    raises(ValueError, "diagonal", lambda: heddle.DistributedMatrix.empty(comm, (2, 2), "float64", "diagonal"))
    raises(ValueError, "rank", lambda: heddle.DistributedMatrix.from_local(comm, np.ones((77, 1)), (5, 1)))


def check_operations(comm, rng):
    for name in SCALARS:
        a, b = random(rng, (40, 30), name), random(rng, (30, 25), name)
        for placement in PLACEMENTS:
            A = heddle.DistributedMatrix.from_global(comm, a, placement)
            B = heddle.DistributedMatrix.from_global(comm, b, "columns")
            c, report = heddle.matmul(A, B, arithmetic="emulated", placement=placement, full_output=True)
            c = c.gather()
            assert report.arithmetic == "emulated" and report.moduli > 0
            if c is not None:
                assert c.tobytes("C") == heddle.matmul(a, b, arithmetic="emulated").tobytes()
            found, expected = (A @ B).gather(), heddle.matmul(A, B).gather()
            assert found is None or found.tobytes() == expected.tobytes()
        square = random(rng, (32, 32), name)
        S = heddle.DistributedMatrix.from_global(comm, square)
        derivative = heddle.expm_frechet(S, S, compute_expm=False, tile=8).gather()  # S exp(S), as they commute
        if derivative is not None:
            expected = square @ heddle.expm(square)
            assert np.linalg.norm(derivative - expected) <= 1e4 * roundoff(name) * np.linalg.norm(expected)
        phis, report = heddle.phi(S, 3, full_output=True, tile=8)
        assert len(phis) == 4 and report.products > 0
        phis = [one.gather() for one in phis]
        if comm.rank == 0:
            for found, expected in zip(phis, heddle.phi(square, 3)):
                assert np.abs(found - expected).max() <= 1e3 * roundoff(name) * np.abs(expected).max()
        b = random(rng, (square.shape[0], 3), name)  # the same on all ranks
        for call in (heddle.phi_multiply, heddle.expm_multiply):
            found, expected = call(S, b), call(square, b)
            assert found.dtype == name and found.shape == expected.shape
            assert np.abs(found - expected).max() <= 1e4 * roundoff(name) * np.abs(expected).max()
        real = heddle.DistributedMatrix.from_global(comm, square.real.copy())
        turned = heddle.expm_multiply(real, b, time=0.5j)
        assert np.abs(turned - heddle.expm_multiply(square.real, b, time=0.5j)).max() <= 1e4 * roundoff(name)
        e, report = heddle.expm(S, full_output=True, tile=8)
        e = e.gather()
        if e is not None:
            expected = heddle.expm(square)
            assert np.abs(e - expected).max() <= 1e3 * roundoff(name) * np.abs(expected).max()
        h = hermitian(rng, 32, name, 70)
        H = heddle.DistributedMatrix.from_global(comm, h)
        R = heddle.DistributedMatrix.from_global(comm, square[:, :3])
        for method in ("general", "positive definite"):
            x, report = heddle.solve(H, R, assume_a=method, arithmetic="emulated", full_output=True)
            x = x.gather()
            assert report.normwise_error < 10 * roundoff(name)
            if x is not None:
                alone = heddle.solve(h, square[:, :3], assume_a=method, arithmetic="emulated")
                assert x.tobytes("F") == alone.tobytes("F")
        x, report = heddle.solve(H, R, correctly_rounded=True, full_output=True)
        x = x.gather()
        assert report.correctly_rounded
        if x is not None:
            assert x.tobytes("F") == heddle.solve(h, square[:, :3], correctly_rounded=True).tobytes("F")
        w, v = heddle.eigh(H)
        v = v.gather()
        assert np.abs(w - np.linalg.eigvalsh(h)).max() < 1e3 * roundoff(name) * 100
        if v is not None:
            assert np.abs(h @ v - v * w).max() < 1e3 * roundoff(name) * 100


def check_failures(comm, rng):
    S = heddle.DistributedMatrix.from_global(comm, np.zeros((4, 4)))
    raises(np.linalg.LinAlgError, "singular", lambda: heddle.solve(S, S))
    for call in (lambda: heddle.matmul(S, np.eye(4)), lambda: S @ np.eye(4), lambda: np.eye(4) @ S):
        raises(TypeError, "ndarray", call)
    raises(ValueError, "p = 9", lambda: heddle.phi(S, 9))
    raises(ValueError, "out has 1 matrices", lambda: heddle.phi(S, 2, out=[S]))
    raises(ValueError, "phi_multiply: A has shape", lambda: heddle.phi_multiply(S, np.ones((3, 2))))
    raises(TypeError, "neither b nor eigvals_only", lambda: heddle.eigh(S, eigvals_only=True))

    def stop(share):
        if comm.rank == comm.size - 1:
            raise KeyError("on one rank")

    big = heddle.DistributedMatrix.from_global(comm, np.eye(300))
    raises(KeyError if comm.rank == comm.size - 1 else RuntimeError, "",
           lambda: heddle.solve(big, big, block=16, progress=stop))
    comm.barrier()  # it can be used again
    assert heddle.solve(big, big).gather() is None or comm.rank == 0


def check_lifetimes(comm):
    part = heddle.DistributedMatrix.from_global(heddle.Communicator(MPI.COMM_WORLD), np.full((8, 8), 3.0)).local
    for _ in range(5):
        heddle.DistributedMatrix.from_global(comm, np.zeros((8, 8)))
    assert (part == 3.0).all()
    xp = np if isinstance(part, np.ndarray) else importlib.import_module("cupy")
    mine = xp.full((2, 3), float(comm.rank), order="F")
    a = heddle.DistributedMatrix.from_local(comm, mine, (2 * comm.size, 3))
    mine[...] = 7.0  # shared
    whole = a.gather()
    assert whole is None or (whole == 7.0).all()
    del mine
    assert (a.local == 7.0).all()
    return part, a, comm  # alive when the interpreter ends


def check_allreduce(comm, rng):
    everything = np.random.default_rng(3).normal(size=(12, 5)) * 10.0 ** np.arange(5) * 1e-3
    mine = np.array([heddle.exact.sum(everything[comm.rank::comm.size][:, k]) for k in range(5)])
    sums = heddle.exact.allreduce(comm, mine)
    parts = [np.array([heddle.exact.sum(everything[r::comm.size][:, k]) for k in range(5)]) for r in range(comm.size)]
    assert sums.tobytes() == heddle.exact.sum(np.stack(parts), axis=0).tobytes()
    assert heddle.exact.allreduce(comm, np.ones((2, 2), "complex64")).tolist() == [[comm.size] * 2] * 2


def main():
    comm = heddle.Communicator(MPI.COMM_WORLD)
    assert (comm.rank, comm.size) == (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size) and comm.nodes == 1
    raises(TypeError, "int", lambda: heddle.Communicator(3))
    raises(ValueError, "COMM_NULL", lambda: heddle.Communicator(MPI.COMM_NULL))
    for call in (lambda c: heddle.exact.allreduce(c, np.ones(2)), lambda c: heddle.DistributedMatrix.empty(c, (2, 2)),
                 lambda c: heddle.DistributedMatrix.from_global(c, np.eye(2)),
                 lambda c: heddle.DistributedMatrix.from_local(c, np.eye(2), (2, 2))):
        raises(TypeError, "expected a heddle.Communicator", lambda: call(MPI.COMM_WORLD))
    rng = np.random.default_rng(5)
    check_matrices(comm, rng)
    check_operations(comm, rng)
    check_failures(comm, rng)
    check_allreduce(comm, rng)
    kept = check_lifetimes(comm)
    half = heddle.Communicator(MPI.COMM_WORLD.Split(comm.rank % 2, comm.rank))
    assert heddle.matmul(*[heddle.DistributedMatrix.from_global(half, np.eye(5))] * 2).shape == (5, 5)
    globals()["kept"] = kept
    digest = hashlib.sha256(heddle.matmul(np.eye(3), np.eye(3)).tobytes()).hexdigest()
    assert MPI.COMM_WORLD.allgather(digest) == [digest] * comm.size
    print(f"rank {comm.rank} done", flush=True)


main()
