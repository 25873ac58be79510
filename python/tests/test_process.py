"""Effects on a process: import, threads, forks, signals, the end of the interpreter, and bits under other threads."""

import os
import signal
import subprocess
import sys
import threading
import time

import heddle
import numpy as np
import pytest
from conftest import run_python


def test_import_is_quick_and_starts_nothing():
    code = """
import sys, time
import numpy
begin = time.perf_counter()
import heddle
seconds = time.perf_counter() - begin
threads = len([t for t in __import__("os").listdir("/proc/self/task")])
print(seconds, heddle._core.running(), "mpi4py" in sys.modules, threads)
"""
    best = min((run_python(code, OPENBLAS_NUM_THREADS="1").split() for _ in range(3)), key=lambda words: float(words[0]))
    assert float(best[0]) < 0.3, best
    assert best[1:3] == ["False", "False"]
    # Starting CUDA opens the devices of the driver.
    opened = run_python("""
import os, heddle
links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
print(sum("nvidia" in link for link in links))
""")
    assert opened == "0\n"


@pytest.mark.skipif(heddle._core.on_gpus, reason="kernels have a GPU's threads")
def test_start_and_threads():
    out = run_python("""
import heddle
assert not heddle._core.running()
heddle.start(threads=2)
assert heddle.info()["concurrency"] == 2, heddle.info()
heddle.start(threads=2)
heddle.start()
try:
    heddle.start(threads=1)
except ValueError as error:
    print(error)
""", threads=3)
    assert out == "start: threads = 1, but heddle runs with 2 already\n"
    assert "at least 1" in run_python("import heddle; heddle.start(threads=0)", check=False).stderr


HASHES = """
import hashlib
import heddle, numpy as np
rng = np.random.default_rng(7)
def show(*arrays):
    print(hashlib.sha256(b"".join(np.asarray(a).tobytes("F") for a in arrays)).hexdigest())
for name in ("float32", "float64", "complex64", "complex128"):
    a = rng.normal(size=(150, 150))
    a = a + 1j * rng.normal(size=a.shape) if name.startswith("complex") else a
    a = a.astype(name)
    h = a + a.conj().T
    show(heddle.matmul(a, a, arithmetic="emulated"))
    show(*heddle.lu_factor(a, arithmetic="emulated"))
    show(heddle.solve(a, a[:, :3], arithmetic="emulated"))
    show(heddle.expm(a / 10, arithmetic="emulated", tile=64))
    show(*heddle.eigh(h, reproducible=True))
    show(*heddle.eigh_batched(h[:12, :12][None]))
    show(heddle.exact.sum(a), heddle.exact.dot(a[0], a[1]), heddle.exact.norm(a), heddle.exact.matmul(a, a[:, :2]))
    show(heddle.expm(a[:20, :20][None]))
"""


def test_bits_do_not_depend_on_threads():
    assert run_python(HASHES, threads=1) == run_python(HASHES, threads=3)


@pytest.fixture
def command():
    """Return the command `heddle` of this build, if it exists."""
    path = os.environ.get("HEDDLE_COMMAND")
    if not path or not os.path.exists(path):
        pytest.skip("HEDDLE_COMMAND names no command")
    return path


@pytest.mark.parametrize("name", ["float64", "complex64"])
def test_bits_are_those_of_the_command(command, tmp_path, rng, name):
    import hashlib

    def hash_of(*arguments):
        scalar = {"float64": "double", "complex64": "complex-float"}[name]
        done = subprocess.run([command, *map(str, arguments), "--scalar", scalar, "--hash"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.split("sha256", 1)[1].split()[0]

    a = rng.normal(size=(60, 60)) + (1j * rng.normal(size=(60, 60)) if name == "complex64" else 0)
    a, b = a.astype(name), a[:, :3].astype(name)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    x = heddle.solve(a, b, arithmetic="emulated")
    assert hash_of("solve", "--a", tmp_path / "a.npy", "--b", tmp_path / "b.npy", "--arithmetic", "emulated") == \
        hashlib.sha256(x.tobytes("F")).hexdigest()
    c = heddle.matmul(a, a, arithmetic="emulated")
    assert hash_of("gemm", "--a", tmp_path / "a.npy", "--b", tmp_path / "a.npy", "--arithmetic", "emulated") == \
        hashlib.sha256(c.tobytes("F")).hexdigest()


def test_calls_of_many_threads(rng):
    a = rng.normal(size=(6, 80, 80))
    expected = [heddle.matmul(m, m, arithmetic="emulated") for m in a]
    wrong, begun = [], threading.Barrier(6)

    def work(k):
        begun.wait()
        for _ in range(15):
            if heddle.matmul(a[k], a[k], arithmetic="emulated").tobytes() != expected[k].tobytes():
                wrong.append(k)
            heddle.lu_factor(a[k])
            heddle.exact.sum(a[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_released(rng):
    a = rng.normal(size=(1200, 1200))
    heddle.matmul(a[:2], a)  # Kokkos has started
    steps, done = [0], threading.Event()

    def count():
        while not done.is_set():
            steps[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    before = steps[0]
    heddle.exact.matmul(a[:300], a)
    during = steps[0] - before
    done.set()
    counter.join()
    assert during > 1000


def test_a_hook_may_call_heddle(rng):
    a = rng.normal(size=(100, 100))
    sums = []
    heddle.lu_factor(a, progress=lambda share: sums.append(float(heddle.exact.sum(a))))
    assert sums and set(sums) == {float(heddle.exact.sum(a))}


def test_ctrl_c_is_heard():
    code = """
import signal, threading, os, time
import heddle, numpy as np
a = np.random.default_rng(1).normal(size=(3000, 3000))
heddle.start()
threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(100):
        heddle.lu_factor(a, arithmetic="emulated", block=32, group=1)
    print("finished")
except KeyboardInterrupt:
    print("heard")
assert abs(heddle.exact.sum(np.ones(10)) - 10) == 0
"""
    begin = time.time()
    assert run_python(code) == "heard\n"
    assert time.time() - begin < 60


LONG_WORK = {
    "eigh": "heddle.eigh(h)",
    "duplicates": "heddle.duplicates(keys, algorithm='sort-by-id')",
    "external_faces": "heddle.external_faces(cells, algorithm='hash-fight')",
    "solve": "heddle.solve(h, h[:, :10], arithmetic='emulated')",
    "expm": "heddle.expm(h / 30, arithmetic='emulated')",
    "exact.matmul": "heddle.exact.matmul(h[:40], h)",
    "keyed_sum": "heddle.exact.keyed_sum(h.ravel(), keys)",
}


@pytest.mark.skipif(heddle._core.on_gpus, reason="on GPUs Ctrl-C is heard by hooks alone")
@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_is_heard_between_kernels(work):
    """After each of many interruptions at any point, the next call works as usual."""
    code = f"""
import _thread, time, signal, threading, os
import heddle, numpy as np
rng = np.random.default_rng(1)
h = rng.normal(size=(1000, 1000)); h = h + h.T
keys = rng.integers(0, 10**5, 10**6)
cells = rng.integers(0, 10**5, (10**6, 4))
def work():
    return {LONG_WORK[work]}
def bits(found):
    arrays = found if isinstance(found, tuple) else (found,)
    return [np.asarray(getattr(getattr(a, "external", a), "points", getattr(a, "group", a))).tobytes() for a in arrays]
heard = 0
for wait in (0.02, 0.11, 0.3):
    threading.Timer(wait, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            work()
    except KeyboardInterrupt:
        heard += 1
small = h[:50, :50]
print(heard, abs(heddle.matmul(small, heddle.solve(small, np.eye(50))) - np.eye(50)).max() < 1e-8, bits(work()) == bits(work()))
"""
    # The bits of a native eigensolver depend on the number of threads.
    assert run_python(code, threads=1, timeout=240) == "3 True True\n"


@pytest.mark.skipif(heddle._core.on_gpus, reason="a product on a GPU is over before a signal comes")
def test_ctrl_c_is_heard_within_a_product():
    code = """
import signal, threading, os
import heddle, numpy as np
a = np.ones((9000, 9000))
heddle.matmul(np.eye(2), np.eye(2))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    heddle.matmul(a, a)
    print("finished")
except KeyboardInterrupt:
    print("heard")
"""
    assert run_python(code) == "heard\n"


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_in_panels(rng, order):
    """Return a matrix large enough for several panels of columns, or of rows if the product is made by rows."""
    a = rng.normal(size=(3800, 3800)).astype("float32")
    b, out = np.asarray(a[::-1], order=order), np.empty(a.shape, a.dtype, order)
    heddle.matmul(a, b, out)
    some = [0, 1000, 2047, 3799]
    np.testing.assert_allclose(out[:, some], a @ b[:, some], atol=1e-2)
    np.testing.assert_allclose(out[some], a[some] @ b, atol=1e-2)


FORK = """
import os, sys
import heddle, numpy as np
a = np.eye(3)
BEFORE
child = os.fork()
if child == 0:
    try:
        print("child", heddle.matmul(a, a).sum(), flush=True)
    except RuntimeError as error:
        print("child", error, flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print("parent", heddle.matmul(a, a).sum())
"""


def test_fork_before_the_first_use():
    assert run_python(FORK.replace("BEFORE", "")) == "child 3.0\nparent 3.0\n"


def test_fork_after_the_first_use():
    done = run_python(FORK.replace("BEFORE", "heddle.matmul(a, a)"), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("child heddle was used before this process was forked")
    assert done.stdout.endswith("parent 3.0\n")
    # On GPUs Python warns of the driver's threads, and Kokkos of the child's state, which cannot be finalized.
    expected = ("DeprecationWarning", "failed to call kokkos::cuda::finalize()") if heddle._core.on_gpus else ()
    said = [line for line in done.stderr.splitlines() if not any(text.lower() in line.lower() for text in expected)]
    assert said == []


def test_multiprocessing():
    code = """
import multiprocessing, sys
import numpy as np
def work(k):
    import heddle
    return float(heddle.exact.sum(np.ones(k)))
if __name__ == "__main__":
    import heddle
    heddle.exact.sum(np.ones(2))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [1, 2, 3]))
"""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(code)
    try:
        done = subprocess.run([sys.executable, file.name], capture_output=True, text=True, timeout=120, check=False)
    finally:
        os.unlink(file.name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1.0, 2.0, 3.0]\n", "")


@pytest.mark.parametrize("keep", [
    "found = heddle.duplicates(np.arange(1000) % 7)",
    "import builtins; builtins.found = heddle.duplicates(np.arange(1000) % 7)",
    "heddle.found = heddle.duplicates(np.arange(1000) % 7).group[1:]",
    "e = heddle.expm(np.eye(70)); r = heddle.matmul(np.eye(3), np.eye(3), arithmetic='auto')",
    "sys.modules['kept'] = heddle.external_faces(np.array([[0, 1, 2, 3]]))",
    "class Late:\n    def __del__(self):\n        heddle.exact.sum(np.ones(3))\nlate = Late()",
    "atexit.register(lambda: print(heddle.exact.sum(np.ones(2))))",
    "threading.Thread(target=lambda: [heddle.exact.sum(np.ones(9999)) for _ in range(300)]).start()",
    "threading.Thread(target=lambda: [heddle.exact.sum(np.ones(9999)) for _ in range(10**9)], daemon=True).start()",
    # Some of several threads wait for the calling one, and get their turn after the end.
    "for _ in range(8): threading.Thread(target=lambda: [heddle.exact.sum(np.ones(9999)) for _ in range(10**9)], "
    "daemon=True).start()",
    "sys.exit(0)",
    "del sys.modules['heddle'], sys.modules['heddle._core']; heddle.exact.sum(np.ones(2))",
])
def test_the_interpreter_ends(keep):
    code = f"import atexit, sys, threading\nimport numpy as np\nimport heddle\nheddle.exact.sum(np.ones(2))\n{keep}\n"
    done = run_python(code, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    # Code of the main thread that runs while the interpreter ends gets an error from heddle or from Python, whose message may
    # be cut off; threads that are left then sleep.
    assert done.stderr == "" or ("Late" in keep and done.stderr.startswith("Exception"))
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_an_exception_ends_the_interpreter():
    done = run_python("import heddle, numpy as np\nheddle.expm(np.eye(70))\nraise SystemError('on purpose')", check=False)
    assert done.returncode == 1 and "on purpose" in done.stderr and "terminate" not in done.stderr


def test_after_the_end():
    done = run_python("""
import heddle, numpy as np
heddle.exact.sum(np.ones(2))
heddle._core.end()
heddle._core.end()
try:
    heddle.exact.sum(np.ones(2))
except RuntimeError as error:
    print(error)
""")
    assert done == "heddle has ended with the interpreter\n"


def test_double_import():
    out = run_python("""
import importlib, sys, warnings
warnings.simplefilter("ignore")  # nanobind's, of classes that are there already
import numpy as np
import heddle
a = np.arange(4.0).reshape(2, 2)
first = heddle.matmul(a, a)
importlib.reload(heddle)
second = heddle.matmul(a, a)
for name in [name for name in sys.modules if name.split(".")[0] == "heddle"]:
    del sys.modules[name]
import heddle as again
third = again.matmul(a, a)
try:
    again.matmul(a, np.ones(3))
except ValueError:
    print((first == second).all() and (second == third).all())
""")
    assert out == "True\n"


def test_mpi_of_others_is_left_alone():
    pytest.importorskip("mpi4py")
    for order in ("from mpi4py import MPI; e = heddle.expm(np.eye(70))", "e = heddle.expm(np.eye(70)); from mpi4py import MPI"):
        out = run_python(f"import heddle, numpy as np\n{order}\nprint(MPI.Is_initialized(), MPI.Is_finalized())")
        assert out == "True False\n"


def test_signals_keep_their_handlers():
    before = signal.getsignal(signal.SIGINT)
    heddle.expm(np.eye(70))
    assert signal.getsignal(signal.SIGINT) is before
