"""Plans kept for later calls: their results are those of a first call."""

import threading

import heddle
import numpy as np
import pytest


def matrices(n, dtype, count=3, seed=1):
    rng = np.random.default_rng(seed)
    for k in range(count):
        a = rng.standard_normal((n, n)) * (k + 0.5) / np.sqrt(n)
        if np.dtype(dtype).kind == "c":
            a = a + 1j * rng.standard_normal((n, n))
        yield a.astype(dtype)


def alone(call, *arguments, **options):
    heddle.release_memory()
    return call(*arguments, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 5, 70])
def test_calls_find_what_first_calls_find(n, dtype):
    given = list(matrices(n, dtype))
    hermitian = [a + a.conj().T for a in given]
    first = [alone(heddle.expm, a) for a in given]
    derived = [alone(heddle.expm_frechet, a, given[0]) for a in given]
    adjoint = [alone(heddle.expm_frechet, a, given[0], compute_expm=False, adjoint=True) for a in given]
    solved = [alone(heddle.eigh, a) for a in hermitian]
    heddle.release_memory()
    for _ in range(2):
        for k, a in enumerate(given):
            assert np.array_equal(heddle.expm(a), first[k])
            for found, expected in zip(heddle.expm_frechet(a, given[0]), derived[k]):
                assert np.array_equal(found, expected)
            assert np.array_equal(heddle.expm_frechet(a, given[0], compute_expm=False, adjoint=True), adjoint[k])
            for found, expected in zip(heddle.eigh(hermitian[k]), solved[k]):
                assert np.array_equal(found, expected)


def test_options_are_those_of_the_call():
    a = next(matrices(40, "float64"))
    for method in ("taylor", "pade", "few-products"):
        for _ in range(2):
            assert heddle.expm(a, method=method, full_output=True)[1].method == method
    loose, tight = (heddle.expm(a, tolerance=t, full_output=True)[1] for t in (1e-3, 0.0))
    assert loose.products < tight.products
    # Tolerances that print alike may differ.
    reports = [heddle.expm(a, tolerance=t, full_output=True)[1].backward_error for t in (1e-9, np.nextafter(1e-9, 1))]
    assert all(0 < bound <= 1.1e-9 for bound in reports)
    assert not np.allclose(heddle.eigh(a)[0], heddle.eigh(a, lower=False)[0])


def test_progress_is_that_of_the_call():
    a = next(matrices(30, "float64"))
    shares = [[], []]
    heddle.expm(a, progress=shares[0].append)
    heddle.expm(a, progress=shares[1].append)
    heddle.expm(a)
    assert shares[0] and shares[0] == shares[1]


def test_calls_within_calls_and_after_failures():
    a, b, c = matrices(70, "float64")
    expected = [alone(heddle.expm, x) for x in (a, b)]
    inner = []
    outer = heddle.expm(a, progress=lambda share: inner.append(heddle.expm(b)))
    assert inner and all(np.array_equal(found, expected[1]) for found in inner)
    assert np.array_equal(outer, expected[0])

    class Stop(Exception):
        pass

    def stop(share):
        raise Stop

    for _ in range(2):
        with pytest.raises(Stop):
            heddle.expm(a, progress=stop)
        with pytest.raises(RuntimeError, match="overflows"):
            heddle.expm(1e4 * np.abs(c))
        assert np.array_equal(heddle.expm(a), expected[0])


def test_threads_have_plans_of_their_own_one_after_the_other():
    given = list(matrices(70, "float64", count=4))
    expected = [heddle.expm(a) for a in given]
    wrong = []

    def work(k):
        for _ in range(20):
            if not np.array_equal(heddle.expm(given[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    heddle.release_memory()
    for thread in threads:
        thread.join()
    assert not wrong


def test_more_shapes_than_are_kept():
    for _ in range(2):
        for n in range(65, 79):
            assert np.allclose(heddle.expm(np.zeros((n, n))), np.eye(n))
