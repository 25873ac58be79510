"""Lifetimes: arrays that outlive the objects they were made from, and the other way round."""

import gc
import weakref

import heddle
import numpy as np
import pytest


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
