"""Eigenproblems: residuals, layouts, triangles, pencils, stacks and what does not converge."""

import heddle
import numpy as np
import pytest
import scipy.linalg
from conftest import hermitian, random, roundoff


def assert_eigen(a, w, v, scalar, b=None):
    n = len(w)
    size = np.linalg.norm(a.astype("complex128")) if n else 0.0
    assert (np.diff(w) >= 0).all()
    bv = v if b is None else b @ v
    assert np.abs(a @ v - bv * w).max(initial=0) <= 30 * (n + 1) * roundoff(scalar) * (size + 1)
    assert np.abs(v.conj().T @ bv - np.eye(n)).max(initial=0) <= 100 * (n + 1) * roundoff(scalar)


@pytest.mark.parametrize("n", [0, 1, 2, 33, 100])
@pytest.mark.parametrize("reproducible", [False, True])
def test_eigh(rng, scalar, n, reproducible):
    a = hermitian(rng, n, scalar)
    w, v, report = heddle.eigh(a, reproducible=reproducible, full_output=True)
    assert w.dtype == np.zeros(1, scalar).real.dtype and v.dtype == scalar and report.converged
    assert_eigen(a, w, v, scalar)
    values = heddle.eigh(a, eigvals_only=True, reproducible=reproducible)
    size = np.abs(w).max(initial=1)
    assert np.abs(values - w).max(initial=0) <= 30 * (n + 1) * roundoff(scalar) * size
    assert np.abs(w - scipy.linalg.eigvalsh(a) if n else w).max(initial=0) <= 30 * (n + 1) * roundoff(scalar) * size


def test_layouts_have_the_same_bits(rng, scalar, layout):
    a = hermitian(rng, 40, scalar)
    plain = heddle.eigh(a, reproducible=True)
    other = heddle.eigh(layout(a), reproducible=True)
    assert plain[0].tobytes() == other[0].tobytes() and plain[1].tobytes("F") == other[1].tobytes("F")


@pytest.mark.parametrize("lower", [True, False])
def test_one_triangle_is_read(rng, scalar, lower):
    a = hermitian(rng, 20, scalar)
    given = np.where(np.tri(20, dtype=bool) if lower else np.tri(20, dtype=bool).T, a, np.nan).astype(scalar)
    w, v = heddle.eigh(given, lower=lower)
    assert_eigen(a, w, v, scalar)


@pytest.mark.parametrize("n", [0, 1, 30])
def test_pencil(rng, scalar, n):
    a, b = hermitian(rng, n, scalar), hermitian(rng, n, scalar, 2 * n + 1)
    w, v, report = heddle.eigh(a, b, full_output=True)
    assert_eigen(a, w, v, scalar, b)
    assert 0 < report.least_pivot <= 1
    if n:
        np.testing.assert_allclose(heddle.eigh(a, b, eigvals_only=True), w, rtol=0, atol=1e3 * roundoff(scalar))


def test_graded_matrix_keeps_small_eigenvalues():
    d = 10.0 ** -np.arange(0, 60, 6)
    a = d[:, None] * (np.eye(10) + 0.1) * d
    w, _, report = heddle.eigh(a, full_output=True)
    assert report.accuracy == "relative"
    # Against the same problem in twice the digits: powers of ten are scaled by a similarity that mpmath would need; here
    # the determinant, the product of all, is known to the last digits.
    exact = np.sum(np.log(d)) * 2 + np.log(np.linalg.det(np.eye(10) + 0.1))
    assert abs(np.sum(np.log(w)) - exact) < 1e-12 * abs(exact)


@pytest.mark.parametrize("shape", [(0, 3, 3), (5, 0, 0), (1, 1, 1), (7, 8, 8), (2, 3, 64, 64), (4, 4)])
def test_batched(rng, scalar, shape):
    a = random(rng, shape, scalar)
    a = a + a.conj().swapaxes(-1, -2)
    w, v = heddle.eigh_batched(a)
    assert w.shape == shape[:-1] and v.shape == shape
    for i in np.ndindex(*shape[:-2]):
        assert_eigen(a[i], w[i], v[i], scalar)
    again = heddle.eigh_batched(a, reproducible=True)
    assert np.array_equal(again[0], heddle.eigh_batched(a, reproducible=True)[0])
    assert np.allclose(again[0], w)
    only = heddle.eigh_batched(a, eigvals_only=True)
    assert np.abs(only - w).max(initial=0) <= 1e3 * roundoff(scalar) * 100


def test_batched_layouts(rng, scalar, layout):
    a = random(rng, (6, 9, 9), scalar)
    a = a + a.conj().swapaxes(-1, -2)
    w, v = heddle.eigh_batched(a)
    other = heddle.eigh_batched(layout(a))
    assert w.tobytes() == other[0].tobytes() and v.tobytes() == other[1].tobytes()


def test_a_bad_matrix_spoils_no_other(rng):
    a = rng.normal(size=(5, 6, 6))
    a = a + a.swapaxes(-1, -2)
    good = heddle.eigh_batched(a)
    a[2, 0, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="1 of 5 matrices failed, first number 2"):
        heddle.eigh_batched(a)
    w, v, report = heddle.eigh_batched(a, full_output=True)
    assert (report.not_converged, report.first_failed) == (1, 2)
    for k in (0, 1, 3, 4):
        assert w[k].tobytes() == good[0][k].tobytes() and v[k].tobytes() == good[1][k].tobytes()


def test_a_batch_of_larger_matrices(rng, scalar):
    a = np.stack([hermitian(rng, 70, scalar) for _ in range(3)])
    w, v = heddle.eigh_batched(a)
    scale = 1e3 * roundoff(scalar) * np.abs(w).max()
    assert np.abs(w - np.linalg.eigvalsh(a)).max() <= scale
    assert np.abs(a @ v - v * w[:, None, :]).max() <= scale


def test_wrong_arguments(rng):
    a = hermitian(rng, 70, "float64")
    with pytest.raises(ValueError, match="square"):
        heddle.eigh(a[:3])
    with pytest.raises(ValueError, match="relative"):
        heddle.eigh(-np.eye(3), accuracy="relative")
    with pytest.raises(ValueError, match="preconditioned"):
        heddle.eigh(a, method="qr")
    with pytest.raises(ValueError, match="S is not positive definite"):
        heddle.eigh(np.eye(2), np.diag([1.0, -1.0]))
    with pytest.raises(ValueError, match="[Nn]a[Nn]|finite"):
        heddle.eigh(np.full((3, 3), np.nan))
    with pytest.raises(np.linalg.LinAlgError, match="not converged after 1 sweeps"):
        heddle.eigh(a, method="cyclic", sweeps=1)
