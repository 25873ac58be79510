"""Arrays on GPUs, of PyTorch, CuPy and JAX: in and out without a copy, ordered after their producers and before their
consumers, and refused if they are on several devices."""

import gc
import threading

import heddle
import numpy as np
import pytest
from conftest import every_call, hermitian, random, roundoff

pytestmark = pytest.mark.skipif(not heddle._core.on_gpus, reason="this Heddle was built for CPUs")


class Tensors:
    """PyTorch on a GPU."""

    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch sees no GPU")

    def of(self, a):
        return self.torch.from_numpy(np.array(a)).cuda()

    def back(self, a):
        return a.cpu().numpy()

    def is_one(self, a):
        return isinstance(a, self.torch.Tensor) and a.is_cuda

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def wait(self, cycles):
        """Keep the current stream busy."""
        self.torch.cuda._sleep(cycles)

    def copy_into(self, to, a):
        to.copy_(a)

    def copy(self, a):
        return a.clone()

    def synchronize(self):
        self.torch.cuda.synchronize()


class CuPys:
    """CuPy."""

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy sees no GPU")
        self._wait = self.cupy.RawKernel(r'''
extern "C" __global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}''', "wait_for")

    def of(self, a):
        return self.cupy.asarray(np.array(a))

    def back(self, a):
        return self.cupy.asnumpy(a)

    def is_one(self, a):
        return isinstance(a, self.cupy.ndarray)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def wait(self, cycles):
        self._wait((1,), (1,), (np.int64(cycles),))

    def copy_into(self, to, a):
        to[...] = a

    def copy(self, a):
        return a.copy()

    def synchronize(self):
        self.cupy.cuda.runtime.deviceSynchronize()


class Jaxes:
    """JAX on a GPU, in double precision."""

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)
        try:
            self.device = self.jax.devices("gpu")[0]
        except RuntimeError:
            pytest.skip("JAX sees no GPU")

    def of(self, a):
        return self.jax.device_put(np.array(a), self.device)

    def back(self, a):
        return np.asarray(a)

    def is_one(self, a):
        return isinstance(a, self.jax.Array) and a.devices() == {self.device}


@pytest.fixture(params=[Tensors, CuPys, Jaxes], ids=["torch", "cupy", "jax"])
def library(request):
    return request.param()


@pytest.fixture(params=[Tensors, CuPys], ids=["torch", "cupy"])
def writable(request):
    """Libraries with writable arrays and streams."""
    return request.param()


@pytest.fixture
def torch():
    return Tensors().torch


LONG = 300_000_000  # cycles, 0.15 s or more


def test_results_are_on_the_gpu(library, rng):
    for name, (call, *arguments) in every_call(rng).items():
        found = call(*map(library.of, arguments))
        expected = call(*arguments)
        assert library.is_one(found), name
        assert tuple(found.shape) == np.shape(expected), name
        np.testing.assert_allclose(library.back(found), expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_scalars(library, rng, scalar):
    a, b = random(rng, (70, 50), scalar), random(rng, (50, 30), scalar)
    found = library.back(heddle.matmul(library.of(a), library.of(b)))
    assert found.dtype == scalar
    assert np.abs(found - a @ b).max() <= 100 * roundoff(scalar) * 50
    assert library.back(heddle.exact.sum(library.of(a))) == heddle.exact.sum(a)
    exact = heddle.matmul(library.of(a), library.of(b), arithmetic="emulated")
    assert library.back(exact).tobytes() == heddle.matmul(a, b, arithmetic="emulated").tobytes()


def test_pivots_permutations_and_factors(library, rng):
    a = rng.normal(size=(20, 20))
    p, l, u = heddle.lu(library.of(a), p_indices=True)
    np.testing.assert_allclose(library.back(l)[p] @ library.back(u), a, atol=1e-13)
    l, u = heddle.lu(library.of(a), permute_l=True)
    np.testing.assert_allclose(library.back(l) @ library.back(u), a, atol=1e-13)
    x = heddle.lu_solve(heddle.lu_factor(library.of(a)), library.of(a[:, 0]))
    np.testing.assert_allclose(library.back(x), np.eye(20)[0], atol=1e-11)


def test_strides(writable, rng):
    big = rng.normal(size=(40, 60))
    on_gpu = writable.of(big)
    a, b = big[1:31:2, 3:33:3], big.T[5:15, ::4]
    found = heddle.matmul(on_gpu[1:31:2, 3:33:3], on_gpu.T[5:15, ::4])
    np.testing.assert_allclose(writable.back(found), a @ b, rtol=1e-12, atol=1e-12)
    assert writable.back(heddle.exact.sum(on_gpu[::3, 1::2])) == heddle.exact.sum(big[::3, 1::2])
    out = writable.of(np.full((31, 21), np.nan))
    assert heddle.matmul(on_gpu[1:31:2, 3:33:3], on_gpu.T[5:15, ::4], out[1::2, ::2][:, :10]) is not None
    whole = writable.back(out)
    np.testing.assert_allclose(whole[1::2, ::2][:, :10], a @ b, rtol=1e-12, atol=1e-12)
    assert np.isnan(whole).sum() == whole.size - 150  # no other element was written


def test_out_is_filled_where_it_lies(writable, rng):
    a, h = rng.normal(size=(30, 30)), hermitian(rng, 30, "float64")
    for call in (lambda x, out: heddle.matmul(x, x, out), lambda x, out: heddle.expm(x, out=out),
                 lambda x, out: heddle.solve(x, x, out=out), lambda x, out: heddle.transpose(x, out)):
        out = writable.of(np.zeros((30, 30)))
        assert call(writable.of(a), out) is out
        expected = np.zeros((30, 30))
        call(a, expected)
        np.testing.assert_allclose(writable.back(out), expected, rtol=1e-9, atol=1e-9)
    factor = writable.of(h @ h.T + np.eye(30))
    assert heddle.cholesky(factor, out=factor) is factor


def test_large_arrays_are_not_copied(torch):
    """An array of more than half of the free memory leaves no room for a copy."""
    free, _ = torch.cuda.mem_get_info()
    n = int(0.6 * free) // 8
    x = torch.ones(n, dtype=torch.float64, device="cuda")
    try:
        assert heddle.exact.sum(x).item() == n
        columns = x[:n // 1000 * 1000].view(1000, -1)
        assert heddle.exact.dot(columns[3], columns[7]).item() == n // 1000
    finally:
        del x
        torch.cuda.empty_cache()


def test_work_comes_after_its_producers(writable, rng):
    a = rng.normal(size=(200, 200))
    values, given = writable.of(a), writable.of(np.zeros((200, 200)))
    writable.synchronize()
    for call in (lambda x: heddle.matmul(x, x), lambda x: heddle.exact.sum(x), lambda x: heddle.expm(x / 20),
                 lambda x: heddle.eigh_batched(x[None, :8, :8])[0], lambda x: heddle.duplicates(x.reshape(-1).view("int64")
                 if hasattr(x, "get") else x.reshape(-1).view(writable.torch.int64)).count):
        writable.copy_into(given, 0 * values)
        writable.synchronize()
        with writable.stream():
            writable.wait(LONG)
            writable.copy_into(given, values)
            found = call(given)
        writable.synchronize()
        expected = call(values)
        writable.synchronize()
        assert writable.back(found).tobytes() == writable.back(expected).tobytes()


def test_results_come_before_their_consumers(writable, rng):
    a = rng.normal(size=(200, 200))
    x, out = writable.of(a), writable.of(np.full((200, 200), 7.0))
    writable.synchronize()
    with writable.stream():
        writable.wait(LONG)
        before = writable.copy(out)  # reads what out had
        heddle.matmul(x, x, out)
    with writable.stream():
        after = writable.copy(out)
    writable.synchronize()
    assert (writable.back(before) == 7.0).all()
    np.testing.assert_allclose(writable.back(after), a @ a, rtol=1e-9, atol=1e-9)


def test_jax_arrays_that_are_not_computed_yet(rng):
    library = Jaxes()
    jax, a = library.jax, rng.normal(size=(1500, 1500)) / 40
    powers = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda _, y: jax.numpy.tanh(y @ x), x))
    expected = np.asarray(powers(library.of(a)))  # compiled, too
    found = heddle.matmul(powers(library.of(a)), library.of(np.eye(1500)))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-12)


def test_threads_with_streams_of_their_own(writable, rng):
    a = rng.normal(size=(100, 100))
    expected, found = a @ a, [None] * 4

    def work(k):
        with writable.stream():
            x = writable.of(a)
            for _ in range(20):
                found[k] = writable.back(heddle.matmul(x, x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 1), (24, 24), (3, 8, 8), (300, 300)])
def test_torch_gradients(torch, rng, scalar, shape):
    given = random(rng, shape, scalar) / np.sqrt(shape[-1])
    gradients = []
    for exponential in (heddle.expm, torch.linalg.matrix_exp):
        a = torch.from_numpy(given.copy()).cuda().requires_grad_()
        with torch.cuda.stream(torch.cuda.Stream()):
            (abs(exponential(a)) ** 2).sum().backward()
        torch.cuda.synchronize()
        assert a.grad.is_cuda
        gradients.append(a.grad)
    found, expected = gradients
    assert torch.linalg.norm(found - expected) <= 3e3 * roundoff(scalar) * torch.linalg.norm(expected)


def test_torch_compile(torch, rng):
    a = torch.from_numpy(rng.normal(size=(20, 20))).cuda().requires_grad_()
    compiled = torch.compile(lambda x: (2 * heddle.expm(x) + 1).sum(), backend="aot_eager", fullgraph=True)
    found, = torch.autograd.grad(compiled(a), a)
    expected, = torch.autograd.grad((2 * torch.linalg.matrix_exp(a) + 1).sum(), a)
    assert torch.linalg.norm(found - expected) <= 1e-10 * torch.linalg.norm(expected)


def test_jax_gradients(rng):
    library = Jaxes()
    jax, a = library.jax, library.of(rng.normal(size=(30, 30)) / 5)
    for function in (heddle.expm, jax.jit(heddle.expm)):
        found = jax.grad(lambda x: (function(x) ** 2).sum())(a)
        expected = jax.grad(lambda x: (jax.scipy.linalg.expm(x) ** 2).sum())(a)
        assert library.is_one(found)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)


class Operator:
    """Operator that multiplies blocks of vectors by a library's own products."""

    def __init__(self, a):
        self.a, self.shape, self.dtype = a, tuple(a.shape), np.dtype("float64")

    def __matmul__(self, x):
        return self.a @ x

    def rmatmat(self, x):
        return self.a.T @ x


def test_operators_of_python(writable, rng):
    a, b = rng.normal(size=(60, 60)) / 8, rng.normal(size=(60, 3))
    expected = heddle.expm(a) @ b
    with writable.stream():
        found = heddle.expm_multiply(Operator(writable.of(a)), writable.of(b))
    np.testing.assert_allclose(writable.back(found), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(heddle.expm_multiply(Operator(a), b), expected, rtol=1e-10, atol=1e-10)


def test_host_memory_goes_there_and_back(torch, rng):
    a = rng.normal(size=(20, 20))
    c = heddle.matmul(torch.from_numpy(a), torch.from_numpy(a))
    assert not c.is_cuda
    np.testing.assert_allclose(c.numpy(), a @ a, rtol=1e-12, atol=1e-12)
    pinned = torch.from_numpy(a).pin_memory()
    np.testing.assert_allclose(heddle.matmul(pinned, pinned).numpy(), a @ a, rtol=1e-12, atol=1e-12)
    assert heddle.duplicates(torch.tensor([3, 1, 3])).group.tolist() == [0, 1, 0]


def test_devices_are_not_mixed(torch, rng):
    a = rng.normal(size=(4, 4))
    here, there = torch.from_numpy(a), torch.from_numpy(a).cuda()
    calls = [lambda: heddle.matmul(here, there), lambda: heddle.matmul(there, there, here),
             lambda: heddle.solve(there, here), lambda: heddle.exact.keyed_sum(there[0], torch.zeros(4, dtype=torch.int64)),
             lambda: heddle.external_faces(torch.zeros(4, dtype=torch.int64).cuda(), kinds=torch.full((1,), 10, dtype=torch.uint8),
                                           offsets=torch.tensor([0, 4]))]
    for call in calls:
        with pytest.raises(TypeError, match="expected one device"):
            call()
    with pytest.raises(TypeError, match="expected one kind"):
        heddle.matmul(a, there)
    with pytest.raises(TypeError, match="expected one kind"):
        heddle.matmul(pytest.importorskip("cupy").asarray(a), there)


def test_other_gpus_are_refused(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    a = torch.eye(3, device="cuda:1")
    with pytest.raises(TypeError, match="arrays on cuda:1; heddle runs on cuda:0"):
        heddle.matmul(a, a)


def test_jax_devices(rng):
    library = Jaxes()
    a = rng.normal(size=(4, 4))
    host = library.jax.device_put(a, library.jax.devices("cpu")[0])
    with pytest.raises(TypeError, match="expected one device"):
        heddle.matmul(host, library.of(a))
    np.testing.assert_allclose(np.asarray(heddle.matmul(host, host)), a @ a, rtol=1e-12, atol=1e-12)


def test_memory_is_given_back(torch):
    def call():
        x = torch.ones((300, 300), dtype=torch.float64, device="cuda")
        keys = torch.arange(100_000, device="cuda") % 97
        found = heddle.duplicates(keys)
        group = found.group
        del found
        assert int(group[98]) == 1  # outlives what it came with
        heddle.matmul(x, x, arithmetic="emulated")

    call()
    gc.collect()
    torch.cuda.synchronize()
    before, _ = torch.cuda.mem_get_info()
    for _ in range(50):
        call()
    gc.collect()
    torch.cuda.synchronize()
    after, _ = torch.cuda.mem_get_info()
    assert before - after < 32 << 20


def test_matrices_of_ranks(rng):
    pytest.importorskip("mpi4py")
    cupy = pytest.importorskip("cupy")
    comm = heddle.Communicator()
    a = rng.normal(size=(30, 30))
    whole = heddle.DistributedMatrix.from_global(comm, cupy.asarray(a))
    assert isinstance(whole.local, cupy.ndarray)
    np.testing.assert_allclose(heddle.matmul(whole, whole).gather(), a @ a, rtol=1e-12, atol=1e-12)
    mine = cupy.asfortranarray(cupy.asarray(a))
    shared = heddle.DistributedMatrix.from_local(comm, mine, (30, 30))
    assert shared.local.data.ptr == mine.data.ptr
    copied = heddle.DistributedMatrix.from_local(comm, a, (30, 30))
    np.testing.assert_allclose(copied.gather(), a)
    w, _ = heddle.eigh(heddle.DistributedMatrix.from_global(comm, a + a.T))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a + a.T), rtol=1e-10, atol=1e-10)
