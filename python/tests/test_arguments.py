"""Wrong arguments of every public function: one line that names the argument. Public names."""

import inspect
import re
import warnings

import heddle
import numpy as np
import pytest
from conftest import plain_arguments

FUNCTIONS = {prefix + name: getattr(module, name) for prefix, module in (("", heddle), ("exact.", heddle.exact))
             for name in module.__all__ if inspect.isfunction(getattr(module, name)) and name != "allreduce"}
# No option takes these.
NEVER = [object(), ["x"], {1: object()}, np.ones((2, 2), "float16"), b"\xff"]
# Some options take some of these.
SOMETIMES = [None, "no such name", "two\nlines", "\udc80", -1, 2.5, 1j, float("nan"), float("inf"), 2**63, 10**5000, True,
             np.float32(-3), np.ones(3), (0, 9)]
NO_ARRAYS = [None, object(), "text", {"a": 1}, ["a", "b"], [[1.0], [1.0, 2.0]], np.array([1.0, None]),
             np.ones((12, 12), "float16"), np.ma.masked_equal([1.0, 2.0], 1.0), (x for x in "ab")]
# Arrays of which every function takes some.
ODD_ARRAYS = [np.ones((3, 4)), np.ones(5), np.zeros((12, 12)), np.ones((0, 0)), np.ones((2, 12, 12)), np.ones((12, 3)), -np.eye(12),
              np.float64(3), np.arange(12), *(np.full((12, 12), x) for x in (np.nan, np.inf, 800.0, 1e300)), np.full((12, 3), np.inf)]
INTERNAL = re.compile(r"nanobind|incompatible function arguments|_heddle|_core|\b0x[0-9a-f]|Kokkos|std::|\w::\w|Jacobi|"
                      r"_action\b|_batched:|cholesky_solve|Options\b|Settings\b|View\b|\b[A-Z]\w*(Plan|Matrix<)")
# Values that single functions refuse in C++.
ODD = {"group": [3], "sweeps": [0], "dimension": [1, 101], "tolerance": [1.0, 1e300], "degree": [0, 10001, 2**31 - 1],
       "method": ["chebyshev", "blocked"], "structure": ["hermitian", "skew-hermitian"], "moduli": [1, 99], "block": [2**31 - 1],
       "axis": [9], "time": [1e300], "tile": [2**62]}


def check_words(text, label):
    assert "\n" not in text and len(text) <= 300, text
    assert not INTERNAL.search(text.replace("eigh_batched:", "")), text
    assert label is None or text.startswith(f"{label}: ") or text.startswith("axis "), f"{label} is not the beginning of: {text}"


def refused(call, *names, label=None):
    """Return whether a call is refused, in words to the user of one of these arguments."""
    try:
        call()
    except (np.linalg.LinAlgError, RuntimeError, MemoryError) as error:
        check_words(str(error), label)
        return False  # the computation failed
    except (TypeError, ValueError) as error:
        text = str(error)
        check_words(text, label)
        assert re.search(rf"\b({'|'.join(names)})\b", text), f"{names} are not in: {text}"
        return True
    except FileNotFoundError as error:
        assert error.filename == "text"
        return True
    return False


def options_of(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.default is not p.empty]


@pytest.fixture
def arguments(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = plain_arguments(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        heddle.tdse(*found["tdse"], output=found["verify"][0])
    return found


def test_every_function_has_arguments(arguments):
    assert set(arguments) == {name for name, function in FUNCTIONS.items() if inspect.signature(function).parameters}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if options_of(function)])
def test_wrong_options(arguments, name):
    function, given = FUNCTIONS[name], arguments[name]
    for option in options_of(function):
        if option in list(inspect.signature(function).parameters)[:len(given)]:
            continue
        for wrong in NEVER:
            assert refused(lambda: function(*given, **{option: wrong}), option, label=name), f"{option} = {wrong!r} is taken"
        for wrong in SOMETIMES + ODD.get(option, []):
            refused(lambda: function(*given, **{option: wrong}), option, *inspect.signature(function).parameters, label=name)
    with pytest.raises(TypeError, match="colour"):
        function(*given, colour=1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if inspect.signature(FUNCTIONS[name]).parameters])
def test_wrong_arrays(arguments, name):
    function, given = FUNCTIONS[name], arguments[name]
    for place, parameter in enumerate(list(inspect.signature(function).parameters.values())[:len(given)]):
        argument = "file" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name
        for wrong in NO_ARRAYS:
            assert refused(lambda: function(*given[:place], wrong, *given[place + 1:]), argument, label=name), \
                f"{argument} = {wrong!r} is taken"
        for wrong in ODD_ARRAYS:
            refused(lambda: function(*given[:place], wrong, *given[place + 1:]), *inspect.signature(function).parameters,
                    "file", label=name)


def test_errors_say_what_to_do():
    a = np.eye(2)
    for call, text in (
            (lambda: heddle.solve(a, a, refinements="x"), "solve: refinements = 'x'; expected a whole number"),
            (lambda: heddle.solve(a, a, block=-1), "solve: block = -1; expected at least 0"),
            (lambda: heddle.expm(a, degree=2**31), "expm: degree = 2147483648; expected 1 to 10000"),
            (lambda: heddle.expm(a, method="taylor", degree=10001), "expm: degree = 10001; expected 1 to 10000"),
            (lambda: heddle.expm(a, degree=0), "expm: degree = 0; expected 1 to 10000"),
            (lambda: heddle.eigh(a, method="x"),
             "eigh: method = 'x'; expected one of automatic, classical, cyclic, round-robin, blocked, preconditioned"),
            (lambda: heddle.eigh(a, sweeps=0), "eigh: 0 sweeps; expected at least 1"),
            (lambda: heddle.slogdet(a, arithmetic="x"), "slogdet: arithmetic = 'x'; expected one of native, emulated, auto"),
            (lambda: heddle.lu(a, group=3), "lu: group 3; expected a power of two, or 0"),
            (lambda: heddle.duplicates([1], hash="x"), "duplicates: hash = 'x'; expected automatic, xor, fnv1a, morton, mixer"),
            (lambda: heddle.phi_multiply(a, a, dimension=1), "phi_multiply: dimension 1; expected 2 to 100"),
            (lambda: heddle.phi_multiply(a, a, method="chebyshev"),
             "phi_multiply: method = 'chebyshev'; expected 'automatic', 'taylor' or 'krylov'"),
            (lambda: heddle.exact.keyed_sum(np.ones(2), [0, 3], 2), "exact.keyed_sum: keys[1] = 3; expected 0 to 1"),
            (lambda: heddle.exact.sum(a, algorithm="x"), "exact.sum: algorithm = 'x'; expected one of auto,"),
            (lambda: heddle.solve(a, [[1.0], [1.0, 2.0]]), "solve: b has rows of different lengths; expected an array of numbers"),
            (lambda: heddle.solve(None, a), "solve: a = None; expected an array of numbers"),
            (lambda: heddle.solve(a, a.astype("float16")),
             "solve: b has elements of type float16; expected float32, float64, complex64 or complex128, as "
             "b.astype(numpy.float64) has"),
            (lambda: heddle.matmul(a.astype(int), a),
             "matmul: a has elements of type int64; expected float32, float64, complex64 or complex128, as "
             "a.astype(numpy.float64) has"),
            (lambda: heddle.inv([["1", "2"], ["3", "4"]]), "as numpy.array(a, numpy.float64) has"),
            (lambda: heddle.duplicates(np.ones(3)), "as keys.astype(numpy.int64) has")):
        with pytest.raises((TypeError, ValueError), match=re.escape(text)):
            call()


def test_errors_of_callbacks_are_not_reworded(rng):
    def fail(_):
        raise ValueError("exact::of the caller: A")

    with pytest.raises(ValueError, match="^exact::of the caller: A$"):
        heddle.solve(rng.normal(size=(80, 80)), np.ones(80), progress=fail)
    with pytest.raises(ValueError, match="^exact::of the caller: A$"):
        heddle.inv(rng.normal(size=(3, 4, 4)), progress=fail)


def test_series_of_the_highest_degree():
    assert np.allclose(heddle.expm(np.array([[1.0]]), method="taylor", degree=10000), np.e)


def test_wrong_arguments_of_matrices_over_ranks():
    pytest.importorskip("mpi4py")
    comm = heddle.Communicator()
    made = heddle.DistributedMatrix.from_global(comm, np.eye(3))
    for call, name in ((lambda x: heddle.Communicator(x), "comm"), (lambda x: made.gather(x), "root"),
                       (lambda x: made.redistribute(x), "placement"),
                       (lambda x: heddle.DistributedMatrix.empty(comm, x), "shape"),
                       (lambda x: heddle.DistributedMatrix.empty(comm, (2, x)), "shape"),
                       (lambda x: heddle.DistributedMatrix.empty(comm, (2, 2), x), "dtype"),
                       (lambda x: heddle.DistributedMatrix.empty(comm, (2, 2), placement=x), "placement"),
                       (lambda x: heddle.DistributedMatrix.like(x, (2, 2)), "other"),
                       (lambda x: heddle.DistributedMatrix.from_global(comm, x), "array"),
                       (lambda x: heddle.DistributedMatrix.from_global(comm, np.eye(2), root=x), "root"),
                       (lambda x: heddle.DistributedMatrix.from_local(comm, x, (2, 2)), "local"),
                       (lambda x: heddle.exact.allreduce(comm, x), "values"),
                       (lambda x: heddle.matmul(made, x), "b"), (lambda x: heddle.solve(x, made), "a"),
                       (lambda x: made @ x, "b"), (lambda x: x @ made, "a"),
                       (lambda x: heddle.phi(made, 1, out=[made, x]), "out"),
                       (lambda x: heddle.eigh(made, method=x), "method")):
        for wrong in (object(), ["x"], {"a": 1}, "no such name", *((-1, np.ones(3)) if name != "values" else ())):
            assert refused(lambda: call(wrong), name), f"{name} = {wrong!r} is taken"


def test_public_names_alone_are_listed():
    for module in (heddle, heddle.exact):
        hidden = {name for name in dir(module) if name.startswith("_") and not (name.startswith("__") and name.endswith("__"))}
        assert not hidden and set(module.__all__) <= set(dir(module))
        assert [name for name in dir(module) if inspect.ismodule(getattr(module, name))] == ["exact"] * (module is heddle)
        assert all(hasattr(module, name) for name in dir(module))
