"""Eigenproblems: residuals, layouts, triangles, pencils, stacks and failures to converge."""

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


def test_graded_pencil_keeps_small_eigenvalues():
    b = np.array([[1.0, 1 - 2.0**-10], [1 - 2.0**-10, 1.0]])
    for off, least, high in ((1.0, 3 * 2.0**-80, 1.6543612251060553e-24), (0.0, 2.0**-80, 8.271806125530277e-25)):
        a = np.array([[2.0**80, off], [off, least]])
        w, v, report = heddle.eigh(a, b, full_output=True)
        assert report.accuracy == "relative" and report.refinement_sweeps > 0
        np.testing.assert_allclose(w[0], high, rtol=1e-14)
        np.testing.assert_allclose(heddle.eigh(a, b, eigvals_only=True), w, rtol=1e-14)
        assert np.abs(a @ v - b @ v * w).max() <= 20 * roundoff("float64") * (2.0**80 + w[1])


@pytest.mark.parametrize("method", ["automatic", "cyclic", "blocked"])
def test_ordinary_pencils_have_small_residuals(rng, scalar, method):
    for n in range(2, 13):
        a = hermitian(rng, n, scalar)
        q, _ = np.linalg.qr(hermitian(rng, n, scalar).astype("complex128" if "complex" in scalar else "float64"))
        b = (q * np.geomspace(1, 1e-3, n)) @ q.conj().T
        b = ((b + b.conj().T) / 2).astype(scalar)
        w, v = heddle.eigh(a, b, method=method)
        wide = "complex128" if "complex" in scalar else "float64"
        # Backward errors are those of the pencil scaled to a unit diagonal.
        d = np.sqrt(np.diag(b).real)
        ha, hb, c = a.astype(wide) / np.outer(d, d), b.astype(wide) / np.outer(d, d), d[:, None] * v.astype(wide)
        left = np.linalg.norm(ha @ c - hb @ c * w, axis=0)
        size = (np.linalg.norm(ha) + np.abs(w) * np.linalg.norm(hb)) * np.linalg.norm(c, axis=0)
        assert (left <= 20 * n * roundoff(scalar) * size).all()


@pytest.mark.parametrize("reproducible", [False, True])
def test_signs_of_zeros_in_a_stack(rng, scalar, reproducible):
    for n in (6, 50, 60):
        a = np.full((n, n), -0.0, scalar)
        np.fill_diagonal(a, np.linspace(n / 2, n, n))
        a[3, 5] = a[5, 3] = 1
        stack = np.stack([hermitian(rng, n, scalar) for _ in range(9)])
        stack[::2] += 5 * n * np.eye(n, dtype=scalar)
        stack[4] = a
        w, v = heddle.eigh_batched(stack, reproducible=reproducible)
        alone = heddle.eigh_batched(a[None], reproducible=reproducible)
        assert w[4].tobytes() == alone[0][0].tobytes() and v[4].tobytes() == alone[1][0].tobytes()


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


def test_stacks(rng, scalar):
    a = random(rng, (2, 3, 7, 7), scalar)
    a = a + a.conj().swapaxes(-1, -2)
    w, v, report = heddle.eigh(a, full_output=True)
    batched = heddle.eigh_batched(a)
    assert w.tobytes() == batched[0].tobytes() and v.tobytes() == batched[1].tobytes() and report.not_converged == 0
    b = hermitian(rng, 7, scalar, 15)
    for options in ({"method": "cyclic"}, {"b": b}, {"b": np.stack([b, 2 * b, 3 * b])}):
        w, v, reports = heddle.eigh(a, **options, full_output=True)
        assert w.shape == (2, 3, 7) and v.shape == a.shape and len(reports) == 6
        right = np.broadcast_to(options.get("b", np.eye(7, dtype=scalar)), a.shape)
        scale = 1e3 * roundoff(scalar) * np.abs(right).max() * np.abs(w).max()
        assert np.abs(a @ v - right @ v * w[..., None, :]).max() <= scale
        assert np.abs(heddle.eigh(a, **options, eigvals_only=True) - w).max() <= scale
    assert heddle.eigh(a[0, 0], np.stack([b, b]))[0].shape == (2, 7)
    assert heddle.eigh(np.zeros((0, 3, 3), scalar), np.eye(3, dtype=scalar))[1].shape == (0, 3, 3)
    a[1, 2] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="eigh: 1 of 6 matrices failed, first number 5"):
        heddle.eigh(a)


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
