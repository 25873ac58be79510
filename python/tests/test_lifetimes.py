"""Lifetimes and memory: arrays that outlive what they were made from and the other way round, and errors that leave nothing."""

import gc
import weakref

import heddle
import numpy as np
import pytest
from conftest import run_python


def test_results_outlive_what_they_came_with():
    found = heddle.duplicates(np.arange(100_000) % 5)
    group, tail = found.group, found.first[2:]
    del found
    gc.collect()
    for _ in range(20):
        heddle.duplicates(np.arange(100_000) % 11)  # reuses released memory
    assert (group == np.arange(100_000) % 5).all() and tail.tolist() == [2, 3, 4]
    group += 1  # the result is writable


def test_no_references_are_kept(rng):
    arrays = [rng.normal(size=(20, 20)) for _ in range(2)]
    references = [weakref.ref(a) for a in arrays]

    class Progress:
        def __call__(self, share):
            pass

    progress = Progress()
    references.append(weakref.ref(progress))
    heddle.matmul(*arrays)
    heddle.lu_factor(arrays[0], progress=progress)
    heddle.expm(arrays[0], progress=progress)
    heddle.expm_multiply(arrays[0], arrays[1])
    heddle.duplicates(np.arange(4))
    del arrays, progress
    gc.collect()
    assert all(reference() is None for reference in references)


def test_nothing_leaks(rng):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def work():
        a = rng.normal(size=(256, 256))
        heddle.duplicates(np.arange(200_000))
        heddle.expm(a)
        heddle.solve(a, a)
        heddle.matmul(a, a, arithmetic="emulated")
        for call in (lambda: heddle.matmul(a, a[:3]), lambda: heddle.expm(a * np.inf), lambda: heddle.cholesky(-a)):
            with pytest.raises((ValueError, RuntimeError)):
                call()

    for _ in range(10):
        work()
    gc.collect()
    before = resident()
    for _ in range(60):
        work()
    gc.collect()
    assert resident() - before < 30 << 20


def test_references_to_none_and_types_are_balanced(rng):
    import sys

    a = rng.normal(size=(4, 4))
    heddle.matmul(a, a)
    before = sys.getrefcount(a), sys.getrefcount(a.dtype)
    for _ in range(1000):
        heddle.matmul(a, a)
        heddle.exact.sum(a)
    after = sys.getrefcount(a), sys.getrefcount(a.dtype)
    assert after[0] == before[0] and abs(after[1] - before[1]) < 10


@pytest.mark.skipif(heddle._core.on_gpus, reason="CUDA reserves more addresses than the limit of this test")
def test_no_memory_is_a_memory_error():
    pytest.importorskip("resource")
    code = """
import resource
import heddle, numpy as np
heddle.expm(np.eye(70))
a = np.eye(3000)
out = np.empty_like(a)
pages = int(open("/proc/self/statm").read().split()[0])
_, most = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 20_000_000, most))
for call in (lambda: heddle.expm(a, out=out), lambda: heddle.matmul(a, a, out, arithmetic="emulated"),
             lambda: heddle.duplicates(a.reshape(-1).view("int64"))):
    try:
        call()
        print("done")
    except MemoryError as error:
        print("MemoryError", "allocate" in str(error))
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print(heddle.exact.sum(heddle.expm(np.zeros((2, 2)))))
"""
    assert run_python(code, threads=1) == "MemoryError True\n" * 3 + "2.0\n"


def test_what_a_refused_construction_leaves():
    """Constructors that throw behind the bindings leave nothing to release at the end of the interpreter."""
    pytest.importorskip("mpi4py")
    out = run_python("""
import gc
import heddle, numpy as np
deck = {"grid": {"xmin": -5.0, "xmax": 5.0, "points": 201}, "potential": {"kind": "harmonic"}, "time": {"steps": 2}}
assert heddle.tdse(deck, psi=np.exp(-np.linspace(-5, 5, 201) ** 2)).steps == 2
refused = 0
for n in list(range(1, 60)) + [1 << 40]:
    for call in (lambda: heddle.tdse(deck, psi=np.full(201, np.nan + 0j)),
                 lambda: heddle.tdse(deck, psi=np.ones(min(n, 60) + 40, complex)),
                 lambda: heddle.DistributedMatrix.empty(heddle.Communicator(), (1 << 31, n << 31)),
                 lambda: heddle.DistributedMatrix.empty(heddle.Communicator(), (-n, 3)),
                 lambda: heddle.DistributedMatrix.empty(heddle.Communicator(), (n, 3), placement="rank:7")):
        try:
            call()
        except (ValueError, MemoryError, RuntimeError, OverflowError):
            refused += 1
    kept = [bytearray(8 * k) for k in range(200)]  # memory that was released is used again
print(refused, heddle.exact.sum(np.ones(3)))
""", timeout=100)
    assert out == "300 3.0\n"


def test_what_is_dropped_during_another_threads_call():
    pytest.importorskip("mpi4py")
    out = run_python("""
import threading
import heddle, numpy as np
comm = heddle.Communicator()
a = np.random.default_rng(1).normal(size=(600, 600))
inside, dropped = threading.Event(), threading.Event()

def hook(share):
    inside.set()
    dropped.wait(20)  # the other thread drops its matrix meanwhile, with the interpreter's lock

worker = threading.Thread(target=lambda: heddle.lu_factor(a, block=64, progress=hook))
matrix = heddle.DistributedMatrix.from_global(comm, a)
other = heddle.Communicator()
worker.start()
assert inside.wait(20)
del matrix, other
dropped.set()
worker.join()
print(heddle.exact.sum(np.ones(3)))
""", timeout=60)
    assert out == "3.0\n"
