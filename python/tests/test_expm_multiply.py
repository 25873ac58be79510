"""exp(t A) b: reported errors, and replacement of methods that would be wrong or never end."""

import numpy as np
import pytest
import scipy.sparse

import heddle


def error_of(x, expected):
    return np.linalg.norm(x.astype(np.clongdouble) - expected) / np.linalg.norm(x.astype(np.clongdouble))


@pytest.mark.parametrize("method", ["automatic", "krylov"])
@pytest.mark.parametrize("scalar", ["float32", "complex64", "float64", "complex128"])
def test_what_decays_less_than_what_hides_it(scalar, method):
    """The direction of the first vector decays below the smallest number; the rest is rounding beside it at first."""
    little = 1e-9 if scalar in ("float32", "complex64") else 1e-17
    for decay in (80.0, 150.0, 200.0, 400.0, 740.0, 3000.0):
        x, report = heddle.expm_multiply(np.diag([-decay, -0.25]).astype(scalar), np.array([1, little], scalar),
                                         method=method, full_output=True)
        assert abs(x[1] - little * np.exp(-0.25)) <= max(report.error, 1e-5) * little
    x = heddle.expm_multiply(np.array([[-700, 1e4], [0, 0]], scalar), np.array([0.133, 2.69e-11], scalar), method=method)
    np.testing.assert_allclose(x, [2.69e-11 * 1e4 / 700, 2.69e-11], rtol=1e-5)


@pytest.mark.parametrize("scalar", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("method", ["automatic", "chebyshev", "krylov"])
@pytest.mark.parametrize("width", [2e3, 5e3, 1e4, 1e5])
def test_one_sided_spectra(scalar, method, width):
    eigenvalues = -np.linspace(0, width, 50).astype(scalar).real
    h, ones = np.diag(eigenvalues).astype(scalar), np.ones(50, scalar)
    for sign in 1, -1:
        x, report = heddle.expm_multiply(sign * h, ones, time=sign, structure="hermitian", method=method, full_output=True)
        error = error_of(x, np.exp(eigenvalues.astype(np.longdouble)))
        assert report.error_is_bound
        assert error <= report.error <= 1000 * width * np.finfo(scalar).eps
        assert report.products < 5000


@pytest.mark.parametrize("method", ["automatic", "taylor", "krylov"])
@pytest.mark.parametrize("scalar", [np.float64, np.complex128])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e150])
def test_nilpotent(scalar, method, scale):
    a = np.array([[0, 3e6, 0, -4e6], [0, 0, -8e6, -9e6], [0, 0, 0, 8e6], [0, 0, 0, 0]], scalar)
    t = scale ** -1.0 if scale == 1e150 else 1.0
    b = np.array([6, 5, 5, 8], scalar)
    terms = [b.astype(np.clongdouble)]
    for k in 1, 2, 3:
        terms.append((a * scale).astype(np.clongdouble) @ terms[-1] * np.longdouble(t) / k)
    x, report = heddle.expm_multiply(a * scale, b, time=t, method=method, full_output=True)
    assert error_of(x, sum(terms)) <= max(report.error, 1e-15)
    assert report.error < 1e-12 and not report.error_is_bound


@pytest.mark.parametrize("structure", ["general", "hermitian"])
@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_small_subspaces_end(rng, structure, dimension):
    a = rng.standard_normal((30, 30))
    a = (a + a.T) / 2
    values, vectors = np.linalg.eigh(a)
    b = rng.standard_normal(30)
    x, report = heddle.expm_multiply(a, b, time=3.0, method="krylov", structure=structure, dimension=dimension,
                                     full_output=True)
    assert report.products < 2000
    assert np.linalg.norm(x - vectors @ (np.exp(3 * values) * (vectors.T @ b))) <= 1e-11 * np.linalg.norm(x)


def test_long_times(rng):
    a = np.array([[0.0, 3.0], [-3.0, 0.0]])
    t = 1000.0
    c, s = np.cos(np.longdouble(3) * t), np.sin(np.longdouble(3) * t)
    for method in "taylor", "krylov":
        x, report = heddle.expm_multiply(a, np.array([1.0, 2.0]), time=t, method=method, full_output=True)
        assert error_of(x, np.array([c + 2 * s, 2 * c - s])) <= report.error <= 1e-9


@pytest.mark.parametrize("method", ["taylor", "krylov"])
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_large_matrices_for_short_times(rng, method, scale):
    a, b = rng.standard_normal((6, 6)), rng.standard_normal(6)
    expected = heddle.expm_multiply(a, b, method=method)
    for given in a * scale, scipy.sparse.csr_matrix(a * scale):
        np.testing.assert_allclose(heddle.expm_multiply(given, b, time=1 / scale, method=method), expected, rtol=1e-12)


def test_phi_refuses_one_matrix_twice():
    a = heddle.DistributedMatrix.from_global(heddle.Communicator(), np.diag([1.0, 2.0]))
    x = heddle.DistributedMatrix.like(a, a.shape)
    with pytest.raises(ValueError, match="phi_0 and phi_1 share elements"):
        heddle.phi(a, 1, out=[x, x])
