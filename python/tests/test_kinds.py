"""Arrays of other libraries: results are arrays of the same library, and nothing is copied needlessly."""

import array

import heddle
import numpy as np
import pytest
from conftest import every_call


class Exporter:
    """Array of a library known only through DLPack."""

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
    for name, (call, *arguments) in every_call(rng).items():
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


def masked_calls(rng):
    """Return every call with each of its arrays in turn as a masked array, and as a list that holds one."""
    for name, (function, *arrays) in every_call(rng).items():
        for k in range(len(arrays)):
            mask = np.zeros(arrays[k].shape, bool)
            mask.flat[0] = True
            masked = np.ma.array(arrays[k], mask=mask)
            for given in (masked, np.ma.array(arrays[k]), list(masked)):
                yield name, function, [*arrays[:k], given, *arrays[k + 1:]]


def test_masks_are_refused(rng):
    for name, function, arrays in masked_calls(rng):
        with pytest.raises(ValueError, match="masked"):
            function(*arrays)
            raise AssertionError(name)
    out = np.ma.zeros((3, 3))
    with pytest.raises(TypeError, match="MaskedArray"):
        heddle.matmul(np.eye(3), np.eye(3), out=out)
