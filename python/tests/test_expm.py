"""Exponentials and their products with vectors, against SciPy, closed forms and certificates."""

import heddle
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from conftest import random, roundoff


@pytest.mark.parametrize("arithmetic", ["native", "emulated"])
@pytest.mark.parametrize("n", [0, 1, 2, 20, 90])
def test_expm(rng, scalar, n, arithmetic):
    a = random(rng, (n, n), scalar)
    e, report = heddle.expm(a, arithmetic=arithmetic, full_output=True)
    assert e.shape == (n, n) and e.dtype == scalar
    if n:
        expected = scipy.linalg.expm(a.astype("complex128"))
        assert np.linalg.norm(e - expected, 1) <= 200 * (n + 1) * roundoff(scalar) * np.linalg.norm(expected, 1)
        assert report.products > 0 or n == 1


def test_layouts_have_the_same_bits(rng, scalar, layout):
    a = random(rng, (30, 30), scalar)
    assert heddle.expm(layout(a)).tobytes() == heddle.expm(a).tobytes()
    out = layout(np.zeros((30, 30), scalar))
    if out.flags.writeable and all(s > 0 for s in out.strides) and out.flags.aligned and out.dtype.isnative:
        assert heddle.expm(a, out=out) is out and out.tobytes() == heddle.expm(a).tobytes()


@pytest.mark.parametrize("shape", [(0, 3, 3), (3, 0, 0), (5, 1, 1), (4, 16, 16), (2, 3, 8, 8), (2, 70, 70)])
def test_stacks(rng, scalar, shape):
    a = random(rng, shape, scalar)
    e = heddle.expm(a)
    assert e.shape == shape
    for i in np.ndindex(*shape[:-2]):
        expected = scipy.linalg.expm(a[i].astype("complex128")) if shape[-1] else a[i]
        assert np.linalg.norm(e[i] - expected) <= 200 * (shape[-1] + 1) * roundoff(scalar) * np.linalg.norm(expected)


def test_small_matrices_have_the_bits_of_stacks(rng, scalar):
    a = random(rng, (2, 3, 8, 8), scalar)
    e = heddle.expm(a)
    out = np.zeros((2, 6, 8, 9), scalar)[:, ::2, :, :8]
    assert heddle.expm(a, out=out) is out and np.array_equal(out, e)
    for i in np.ndindex(2, 3):
        assert heddle.expm(a[i]).tobytes() == e[i].tobytes()
        np.testing.assert_allclose(heddle.expm(a[i], full_output=True)[0], e[i], rtol=1e3 * roundoff(scalar), atol=1e2 * roundoff(scalar))
    one = np.array(a[0, 0])
    assert heddle.expm(one, out=one) is one and np.array_equal(one, e[0, 0])
    with pytest.raises(ValueError, match="out shares storage with a"):
        heddle.expm(one[:4, :4], out=one[1:5, :4])
    a[1, 0] = np.inf
    with pytest.raises(RuntimeError, match=r"expm: matrix \(1, 0\) has elements that are not finite"):
        heddle.expm(a)


@pytest.mark.parametrize("method", ["automatic", "taylor", "paterson-stockmeyer", "few-products", "pade"])
def test_structure_is_kept(scalar, method):
    size = 2.0 ** (60 if scalar in ("float32", "complex64") else 1000)
    for nilpotent in ([[0, 1], [0, 0]], [[0, 0], [1, 0]], [[1, 1], [-1, -1]]):
        a = np.array(nilpotent, scalar) * np.array(size, scalar)
        e, report = heddle.expm(a, method=method, full_output=True)
        assert np.array_equal(e, np.eye(2, dtype=scalar) + a) and report.squarings == 0
    lower = np.array(np.diag(np.full(4, 1e4), -1) + np.eye(5), scalar)
    if method != "taylor":
        e = heddle.expm(lower, method=method)
        assert np.all(np.triu(e, 1) == 0)
        expected = [np.e * 1e4**k / np.prod(np.arange(1, k + 1)) for k in range(5)]
        assert np.allclose(e[:, 0], expected, rtol=2000 * roundoff(scalar), atol=0)


def test_certificate_holds(rng):
    t = 2.5
    a = np.array([[0.0, -t], [t, 0.0]])
    e, report = heddle.expm(a, certificate=True, residual=True, full_output=True)
    exact = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    assert np.linalg.norm(e - exact, 1) / np.linalg.norm(exact, 1) <= report.certificate + 3e-16
    assert report.certificate < 1e-14 and report.residual < 1e-14
    assert report.structure == "skew-hermitian"


def test_what_fails(rng):
    with pytest.raises(RuntimeError, match="finite|infinity|NaN"):
        heddle.expm(np.full((3, 3), np.inf))
    with pytest.raises(RuntimeError, match="overflow"):
        heddle.expm(np.diag([1000.0, 0.0]))
    stack = rng.normal(size=(3, 4, 4))
    stack[1, 0, 0] = np.nan
    with pytest.raises(RuntimeError, match=r"matrix \(1,\) has elements that are not finite"):
        heddle.expm(stack)
    with pytest.raises(ValueError, match="square"):
        heddle.expm(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="skew-Hermitian|skew-hermitian"):
        heddle.expm(rng.normal(size=(4, 4)), method="chebyshev")
    with pytest.raises(ValueError, match="few-products"):
        heddle.expm(np.eye(2), method="magic")


def test_progress(rng):
    seen = []
    heddle.expm(rng.normal(size=(80, 80)), progress=seen.append)
    assert seen and 0 < seen[0] <= 1 and seen[-1] <= 1

    def stop(share):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        heddle.expm(rng.normal(size=(80, 80)), progress=stop)
    np.testing.assert_allclose(heddle.expm(np.zeros((2, 2))), np.eye(2))  # the communicator is unchanged


@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 5)])
@pytest.mark.parametrize("method", ["automatic", "taylor", "krylov"])
def test_expm_multiply(rng, scalar, shape, method):
    a, b = random(rng, (40, 40), scalar), random(rng, shape, scalar)
    r, report = heddle.expm_multiply(a, b, time=0.5, method=method, full_output=True)
    expected = scipy.linalg.expm(0.5 * a.astype("complex128")) @ b
    assert r.shape == shape and r.dtype == scalar
    assert np.linalg.norm(r - expected) <= 1e3 * roundoff(scalar) * np.linalg.norm(expected) * 10
    assert report.products > 0


def test_real_matrix_and_complex_vectors(rng):
    a = rng.normal(size=(30, 30))
    a = a + a.T
    psi = random(rng, (30,), "complex128")
    r, report = heddle.expm_multiply(a, psi, time=-0.3j, structure="hermitian", full_output=True)
    np.testing.assert_allclose(r, scipy.linalg.expm(-0.3j * a) @ psi, atol=1e-12)
    assert abs(np.linalg.norm(r) - np.linalg.norm(psi)) < 1e-13


def test_times_are_scipys(rng):
    a, b = rng.normal(size=(12, 12)), rng.normal(size=(12, 2))
    r = heddle.expm_multiply(a, b, start=0.1, stop=1.0, num=4, endpoint=True)
    expected = scipy.sparse.linalg.expm_multiply(a, b, start=0.1, stop=1.0, num=4, endpoint=True)
    np.testing.assert_allclose(r, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["float64", "complex128"])
def test_operators(rng, name):
    n = 60
    a = scipy.sparse.diags([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], [-1, 0, 1], format="csr").astype(name)
    if name == "complex128":
        a = a * (1 + 1j)
    b = random(rng, (n, 3), name)
    expected = scipy.linalg.expm(a.toarray()) @ b
    for given in (a, scipy.sparse.linalg.aslinearoperator(a)):
        for method in ("taylor", "krylov"):
            np.testing.assert_allclose(heddle.expm_multiply(given, b, method=method), expected, atol=1e-12)


def test_an_operator_that_raises(rng):
    def product(x):
        raise ZeroDivisionError("in the operator")

    a = scipy.sparse.linalg.LinearOperator((5, 5), matvec=product, matmat=product, dtype=float)
    with pytest.raises(ZeroDivisionError, match="in the operator"):
        heddle.expm_multiply(a, np.ones(5), method="krylov")
    with pytest.raises(TypeError, match="expected a matrix or what has a shape"):
        heddle.expm_multiply(object(), np.ones(5))
    with pytest.raises(ValueError, match="B"):
        heddle.expm_multiply(np.eye(3), np.ones(4))


def test_a_tile_beyond_32_bits_is_refused():
    with pytest.raises(ValueError, match="tile 9223372036854775807; expected at most 2147483647"):
        heddle.expm(np.eye(3) + 1, tile=2**63 - 1)
