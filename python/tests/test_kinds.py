"""Arrays of other libraries: results are of their kind, and nothing is copied that need not be."""

import array

import heddle
import numpy as np
import pytest


class Exporter:
    """An array of a library that only DLPack knows."""

    def __init__(self, elements):
        self.elements = elements

    def __dlpack__(self, **options):
        return self.elements.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.elements.__dlpack_device__()


def test_whatever_speaks_dlpack_or_the_buffer_protocol(rng):
    a = rng.normal(size=(5, 5))
    assert (heddle.matmul(Exporter(a), a) == heddle.matmul(a, a)).all()
    assert heddle.exact.sum(array.array("d", [1e100, 1.0, -1e100])) == 1.0
    assert heddle.exact.sum(memoryview(a)) == heddle.exact.sum(a)
    assert heddle.exact.sum([0.1] * 10) == 1.0
    assert heddle.matmul(np.asmatrix(a), a).shape == (5, 5)


class Tensors:
    """PyTorch on the host."""

    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def of(self, a):
        return self.torch.from_numpy(a.copy())

    def is_one(self, a):
        return isinstance(a, self.torch.Tensor)


class Jaxes:
    """JAX on the host, in double precision."""

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)

    def of(self, a):
        return self.jax.numpy.asarray(a)

    def is_one(self, a):
        return isinstance(a, self.jax.Array)


@pytest.fixture(params=[Tensors, Jaxes], ids=["torch", "jax"])
def library(request):
    return request.param()


def test_results_are_of_the_kind_of_the_arguments(library, rng):
    a, b = rng.normal(size=(12, 12)), rng.normal(size=(12, 3))
    h = a + a.T
    spd = a @ a.T + np.eye(12)
    keys = rng.integers(0, 4, 20)
    calls = {
        "matmul": (heddle.matmul, a, b),
        "emulated": (lambda x, y: heddle.matmul(x, y, arithmetic="emulated"), a, b),
        "transpose": (heddle.transpose, b),
        "solve": (heddle.solve, a, b),
        "vector": (heddle.solve, a, b[:, 0]),
        "lu_factor": (lambda x: heddle.lu_factor(x)[0], a),
        "lu": (lambda x: heddle.lu(x)[1], a),
        "cholesky": (heddle.cholesky, spd),
        "upper": (lambda x: heddle.cholesky(x, upper=True), spd),
        "cho_solve": (lambda x, y: heddle.cho_solve((heddle.cholesky(x, upper=True), False), y), spd, b),
        "inv": (heddle.inv, a),
        "eigenvalues": (lambda x: heddle.eigh(x, reproducible=True)[0], h),
        "eigenvectors": (lambda x: heddle.eigh(x, reproducible=True)[1], h),
        "batched": (lambda x: heddle.eigh_batched(x)[1], h.reshape(1, 12, 12)),
        "expm": (heddle.expm, a),
        "stack": (heddle.expm, np.stack([a, b @ b.T])),
        "expm_multiply": (heddle.expm_multiply, a, b),
        "expm_frechet": (lambda x: heddle.expm_frechet(x, x, compute_expm=False), a),
        "phi": (lambda x: heddle.phi(x, 2), a),
        "phi_multiply": (heddle.phi_multiply, a, b),
        "times": (lambda x, y: heddle.expm_multiply(x, y, start=0.0, stop=1.0, num=3), a, b),
        "sum": (heddle.exact.sum, a),
        "axis": (lambda x: heddle.exact.sum(x, axis=0), a),
        "dot": (heddle.exact.dot, a[0], a[1]),
        "exact.matmul": (heddle.exact.matmul, a, b),
        "duplicates": (lambda x: heddle.duplicates(x).group, keys),
        "faces": (lambda x: heddle.external_faces(x).external.points, np.array([[0, 1, 2, 3], [1, 2, 3, 4]])),
    }
    for name, (call, *arguments) in calls.items():
        found = call(*map(library.of, arguments))
        expected = call(*arguments)
        assert library.is_one(found), name
        assert tuple(found.shape) == np.shape(expected), name
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_arguments_are_not_copied(rng):
    torch = pytest.importorskip("torch")
    a = torch.from_numpy(rng.normal(size=(6, 6)))
    out = torch.zeros((6, 6), dtype=torch.float64)
    assert heddle.matmul(a.T, a, out) is out
    np.testing.assert_allclose(out.numpy(), a.numpy().T @ a.numpy(), rtol=1e-12)
    z = torch.from_numpy(rng.normal(size=(4, 4)) * 1j)
    np.testing.assert_allclose(heddle.matmul(z.conj(), z).numpy(), z.numpy().conj() @ z.numpy(), rtol=1e-12)
    with pytest.raises(TypeError, match="detach"):
        heddle.matmul(a.clone().requires_grad_(), a)


def test_jax_refuses_what_it_has_no_elements_for(rng):
    jax = pytest.importorskip("jax")
    a = jax.numpy.asarray(rng.normal(size=(3, 3)))
    with pytest.raises(TypeError, match="outside of jit"):
        jax.jit(lambda x: heddle.matmul(x, x))(a)
    with pytest.raises(TypeError, match="there is no out"):
        heddle.matmul(a, a, a)


def test_kinds_are_not_mixed(library, rng):
    a = rng.normal(size=(3, 3))
    with pytest.raises(TypeError, match="expected one kind"):
        heddle.matmul(library.of(a), a)
