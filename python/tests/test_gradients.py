"""Gradients of exponentials in PyTorch and JAX, and compiled code that calls the package."""

import heddle
import numpy as np
import pytest
from conftest import random, roundoff


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def weighted(x, w):
    """Return a real function of real or complex elements."""
    return (w * abs(x) ** 2).sum() + (w * (x + x.conj()).real).sum()


@pytest.mark.parametrize("shape", [(1, 1), (12, 12), (3, 8, 8), (2, 2, 5, 5)])
def test_torch_has_the_gradient_of_its_own_exponential(torch, rng, scalar, shape):
    given = random(rng, shape, scalar)
    w = torch.from_numpy(rng.uniform(size=shape).astype(scalar.replace("complex128", "float64").replace("complex64", "float32")))
    gradients = []
    for exponential in (heddle.expm, torch.linalg.matrix_exp):
        a = torch.from_numpy(given.copy()).requires_grad_()
        weighted(exponential(a), w).backward()
        gradients.append(a.grad)
    found, expected = gradients
    assert torch.linalg.norm(found - expected) <= 3e3 * roundoff(scalar) * torch.linalg.norm(expected)


def test_torch_checks_it(torch, rng):
    a = torch.from_numpy(random(rng, (4, 4), "complex128")).requires_grad_()
    assert torch.autograd.gradcheck(heddle.expm, (a,))
    assert torch.autograd.gradcheck(lambda x: heddle.expm(x, arithmetic="emulated"), (a,))


def test_torch_without_gradients_is_as_before(torch, rng):
    a = torch.from_numpy(random(rng, (6, 6), "float64"))
    e = heddle.expm(a)
    assert not e.requires_grad
    with torch.no_grad():
        assert torch.equal(heddle.expm(a.detach()), e)
    wanting = a.clone().requires_grad_()
    assert torch.equal(heddle.expm(wanting).detach(), e)
    with pytest.raises(TypeError, match="detach"):
        heddle.expm(wanting, full_output=True)


def test_torch_compile(torch, rng):
    def function(x):
        return (2 * heddle.expm(x) + 1).sum()

    a = torch.from_numpy(random(rng, (6, 6), "float64")).requires_grad_()
    expected, = torch.autograd.grad(function(a), a)
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(a), function(a))
    found, = torch.autograd.grad(compiled(a), a)
    assert torch.allclose(found, expected)
    # A call that is not an operator breaks the graph in two, with the same results.
    broken = torch.compile(lambda x: heddle.matmul(x, x) + 1, backend="aot_eager")
    assert torch.allclose(broken(a.detach()), a.detach() @ a.detach() + 1)


def test_torch_knows_its_operators(torch, rng):
    a = torch.from_numpy(random(rng, (5, 5), "float64")).requires_grad_()
    heddle.expm(a)  # registers them
    torch.library.opcheck(torch.ops.heddle.expm.default, (a, "automatic", 10, 0.0, "automatic", False, "native", 0, 0))


@pytest.mark.parametrize("shape", [(1, 1), (12, 12), (3, 8, 8)])
def test_jax_has_the_gradient_of_its_own_exponential(jax, rng, scalar, shape):
    a = jax.numpy.asarray(random(rng, shape, scalar))
    w = rng.uniform(size=shape).astype(scalar.replace("complex128", "float64").replace("complex64", "float32"))
    expected = jax.grad(lambda x: weighted(jax.scipy.linalg.expm(x), w))(a)
    for function in (heddle.expm, jax.jit(heddle.expm)):
        found = jax.grad(lambda x: weighted(function(x), w))(a)
        assert np.linalg.norm(found - expected) <= 1e4 * roundoff(scalar) * np.linalg.norm(expected)


def test_jax_transforms(jax, rng):
    a = jax.numpy.asarray(rng.normal(size=(4, 6, 6)))
    expected = heddle.expm(a)
    np.testing.assert_allclose(jax.jit(heddle.expm)(a), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(jax.vmap(heddle.expm)(a), expected, rtol=1e-12, atol=1e-12)
    each = jax.vmap(jax.grad(lambda x: heddle.expm(x).sum()))(a)
    for k in range(4):
        np.testing.assert_allclose(each[k], jax.grad(lambda x: heddle.expm(x).sum())(a[k]), rtol=1e-11, atol=1e-11)


def test_jax_larger_arrays_in_compiled_code(jax, rng):
    a = jax.numpy.asarray(rng.normal(size=(300, 300)) / 17)
    gradient = jax.jit(jax.grad(lambda x: heddle.expm(x).sum()))(a)
    expected = heddle.expm_frechet(np.asarray(a), np.ones((300, 300)), compute_expm=False, adjoint=True)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
