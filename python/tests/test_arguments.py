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
INTERNAL = re.compile(r"nanobind|incompatible function arguments|_heddle|_core|\b0x[0-9a-f]|Kokkos|std::")


def refused(call, *names):
    """Return whether a call is refused, in words to the user of one of these arguments."""
    try:
        call()
    except (np.linalg.LinAlgError, RuntimeError):
        return False  # the computation failed
    except (TypeError, ValueError) as error:
        text = str(error)
        assert "\n" not in text and len(text) <= 300, text
        assert re.search(rf"\b({'|'.join(names)})\b", text), f"{names} are not in: {text}"
        assert not INTERNAL.search(text), text
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
            assert refused(lambda: function(*given, **{option: wrong}), option), f"{option} = {wrong!r} is taken"
        for wrong in SOMETIMES:
            refused(lambda: function(*given, **{option: wrong}), option, *inspect.signature(function).parameters)
    with pytest.raises(TypeError, match="colour"):
        function(*given, colour=1)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if inspect.signature(FUNCTIONS[name]).parameters])
def test_wrong_arrays(arguments, name):
    function, given = FUNCTIONS[name], arguments[name]
    for place, parameter in enumerate(list(inspect.signature(function).parameters.values())[:len(given)]):
        argument = "file" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name
        for wrong in NO_ARRAYS:
            assert refused(lambda: function(*given[:place], wrong, *given[place + 1:]), argument), \
                f"{argument} = {wrong!r} is taken"


def test_errors_say_what_to_do():
    a = np.eye(2)
    for call, text in (
            (lambda: heddle.solve(a, a, refinements="x"), "solve: refinements = 'x'; expected a whole number"),
            (lambda: heddle.solve(a, a, block=-1), "solve: block = -1; expected at least 0"),
            (lambda: heddle.expm(a, degree=2**31), "expm: degree = 2147483648; expected at most 2147483647"),
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
