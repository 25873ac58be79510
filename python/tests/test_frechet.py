"""Derivatives of exponentials and phi functions, against SciPy, closed forms and finite differences."""

import math

import heddle
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from conftest import random, roundoff


@pytest.mark.parametrize("arithmetic", ["native", "emulated"])
@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_expm_frechet(rng, scalar, n, arithmetic):
    a, d = random(rng, (n, n), scalar), random(rng, (n, n), scalar)
    e, derivative, report = heddle.expm_frechet(a, d, arithmetic=arithmetic, full_output=True)
    assert e.shape == derivative.shape == (n, n) and e.dtype == derivative.dtype == scalar
    assert report.backward_error <= roundoff(scalar)
    if n:
        whole = scipy.linalg.expm(np.block([[a, d], [np.zeros((n, n)), a]]).astype("complex128"))
        for found, expected in ((e, whole[:n, :n]), (derivative, whole[:n, n:])):
            assert np.linalg.norm(found - expected) <= 500 * (n + 1) * roundoff(scalar) * np.linalg.norm(expected)
    alone = heddle.expm_frechet(a, d, compute_expm=False, arithmetic=arithmetic)
    assert alone.tobytes() == derivative.tobytes()


def test_it_is_scipys(rng):
    a, d = rng.normal(size=(25, 25)), rng.normal(size=(25, 25))
    for found, expected in zip(heddle.expm_frechet(a, d), scipy.linalg.expm_frechet(a, d)):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * abs(expected).max())


def test_the_adjoint(rng, scalar, layout):
    a, d, f = (random(rng, (20, 20), scalar) for _ in range(3))
    to = heddle.expm_frechet(layout(a), layout(d), compute_expm=False)
    back = heddle.expm_frechet(layout(a), layout(f), compute_expm=False, adjoint=True)
    scale = np.linalg.norm(to) * np.linalg.norm(f)
    assert abs(np.vdot(to, f) - np.vdot(d, back)) <= 2000 * roundoff(scalar) * scale


def test_integers_and_what_is_wrong(rng):
    np.testing.assert_allclose(heddle.expm_frechet(np.zeros((2, 2), int), np.eye(2), compute_expm=False), np.eye(2))
    with pytest.raises(ValueError, match="square matrices of one size"):
        heddle.expm_frechet(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="square"):
        heddle.expm_frechet(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="pade"):
        heddle.expm_frechet(np.eye(2), np.eye(2), method="pade")
    with pytest.raises(RuntimeError, match="the direction holds NaN"):
        heddle.expm_frechet(np.eye(2), np.full((2, 2), np.nan))


def test_progress_of_both(rng):
    for call in (lambda **more: heddle.expm_frechet(rng.normal(size=(60, 60)), np.eye(60), **more),
                 lambda **more: heddle.phi(rng.normal(size=(60, 60)), 2, **more)):
        seen = []
        call(progress=seen.append)
        assert seen and 0 < seen[0] <= 1 and seen[-1] == 1.0

        def stop(share):
            raise KeyError("stop")

        with pytest.raises(KeyError, match="stop"):
            call(progress=stop)


@pytest.mark.parametrize("arithmetic", ["native", "emulated"])
def test_phi(rng, scalar, layout, arithmetic):
    a = 3 * random(rng, (12, 12), scalar)
    phis, report = heddle.phi(layout(a), 4, arithmetic=arithmetic, full_output=True)
    assert phis.shape == (5, 12, 12) and phis.dtype == scalar and report.error <= roundoff(scalar)
    n, p = 12, 4
    whole = np.zeros((n * (p + 1), n * (p + 1)), complex)
    whole[:n, :n] = a
    whole[np.arange(n * p), np.arange(n, n * (p + 1))] = 1
    whole = scipy.linalg.expm(whole)
    for k in range(p + 1):
        expected = whole[:n, k * n:(k + 1) * n]
        assert np.linalg.norm(phis[k] - expected) <= 5e3 * roundoff(scalar) * np.linalg.norm(expected), k


def test_phi_of_numbers_and_into_out():
    z = -7.5
    out = np.full((4, 1, 1), np.nan)
    assert heddle.phi([[z]], 3, out=out) is out
    expected = [np.exp(z), np.expm1(z) / z, (np.expm1(z) - z) / z**2, (np.expm1(z) - z - z * z / 2) / z**3]
    np.testing.assert_allclose(out.ravel(), expected, rtol=1e-13)
    np.testing.assert_allclose(heddle.phi(np.zeros((2, 2)), 8)[8], np.eye(2) / math.factorial(8), rtol=1e-15)
    with pytest.raises(ValueError, match="p = 9"):
        heddle.phi(np.eye(2), 9)
    with pytest.raises(ValueError, match="square"):
        heddle.phi(np.ones((3, 2, 2)), 1)


@pytest.mark.parametrize("p", [0, 1, 3, 8])
def test_phi_multiply(rng, scalar, p):
    a, b = random(rng, (25, 25), scalar), random(rng, (25, p + 1), scalar)
    time = 0.5
    expected = sum(time**k * f @ b[:, k] for k, f in enumerate(heddle.phi(time * a.astype("complex128"), p)))
    for method in ("automatic", "krylov"):
        u, report = heddle.phi_multiply(a, b, time=time, method=method, full_output=True)
        assert u.shape == (25,) and u.dtype == scalar and report.products > 0
        assert np.linalg.norm(u - expected) <= 1e4 * roundoff(scalar) * np.linalg.norm(expected)


def test_phi_multiply_by_operators(rng):
    n = 50
    a = scipy.sparse.diags([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], [-1, 0, 1], format="csr")
    b = rng.normal(size=(n, 3))
    expected = heddle.phi_multiply(a.toarray(), b, time=2.0)
    for given in (a, scipy.sparse.linalg.aslinearoperator(a)):
        np.testing.assert_allclose(heddle.phi_multiply(given, b, time=2.0), expected, atol=1e-12)
    turned = heddle.phi_multiply(a.toarray(), b.astype(complex), time=1j)
    np.testing.assert_allclose(heddle.phi_multiply(a, b.astype(complex), time=1j), turned, atol=1e-12)
    with pytest.raises(ValueError, match="10 columns"):
        heddle.phi_multiply(a, np.ones((n, 10)))
    with pytest.raises(ValueError, match="B"):
        heddle.phi_multiply(a, np.ones(n))
