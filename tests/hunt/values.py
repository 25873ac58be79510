#!/usr/bin/env python3
"""The hunt's part for Python: every public function of the package with arguments of every kind of value.

    values.py [--seed S] [--cases N | --minutes M] [--only NAME[,NAME...]] [--case K] [--list]

For each function small arguments are drawn, and one of its arrays is changed: into another layout, type of elements, or
container, into an array of another shape, with NaN or infinity in it, or into a value that is no array. The result must
be that of the unchanged arguments where the changed array stands for the same numbers, and otherwise a result or one
exception that a user can act on: ValueError, TypeError or RuntimeError with one line of words. Arguments must stay as
they were. A failure prints the line that repeats it. Exit code 0: nothing was found; 1: something was; 2: bad usage.
"""

import argparse
import array
import sys
import time
import warnings

import heddle
import numpy as np

# ---- Functions: for each a drawing of its arrays, and the call. "numbers" arrays may become any real or complex type
# that holds their values; "integers" arrays, keys and offsets, any type of integers.


def general(rng, n=6):
    return rng.integers(-8, 9, (n, n)) + 9.0 * np.eye(n)


def hermitian(rng, n=6):
    a = rng.integers(-8, 9, (n, n)).astype(float)
    return a + a.T + 60.0 * np.eye(n)


def block(rng, n=6, k=3):
    return rng.integers(-8, 9, (n, k)).astype(float)


def vector(rng, n=40):
    return rng.integers(-8, 9, n).astype(float)


HARMONIC = {"grid": {"xmin": -5.0, "xmax": 5.0, "points": 33, "kinetic": "sinc"}, "potential": {"kind": "harmonic"}, "time": {"steps": 1}}

FUNCTIONS = {
    "matmul": (lambda r: [general(r), block(r)], lambda a, b: heddle.matmul(a, b)),
    "matmul, emulated": (lambda r: [general(r), block(r)], lambda a, b: heddle.matmul(a, b, arithmetic="emulated")),
    "matmul, stack": (lambda r: [np.stack([general(r), general(r)]), block(r)], lambda a, b: heddle.matmul(a, b)),
    "transpose": (lambda r: [block(r)], lambda a: heddle.transpose(a)),
    "solve": (lambda r: [general(r), block(r)], lambda a, b: heddle.solve(a, b)),
    "solve, vector": (lambda r: [general(r), vector(r, 6)], lambda a, b: heddle.solve(a, b)),
    "lu_factor": (lambda r: [general(r)], lambda a: heddle.lu_factor(a)[0]),
    "lu": (lambda r: [general(r)], lambda a: heddle.lu(a)[2]),
    "lu_solve": (lambda r: [general(r), block(r)], lambda a, b: heddle.lu_solve(heddle.lu_factor(a), b)),
    "cholesky": (lambda r: [hermitian(r)], lambda a: heddle.cholesky(a)),
    "cho_solve": (lambda r: [hermitian(r), block(r)], lambda a, b: heddle.cho_solve((heddle.cholesky(a), True), b)),
    "inv": (lambda r: [general(r)], lambda a: heddle.inv(a)),
    "inv, rounded": (lambda r: [general(r)], lambda a: heddle.inv(a, correctly_rounded=True)),
    "determinant": (lambda r: [general(r)], lambda a: np.array(heddle.determinant(a).mantissa)),
    "determinant, rounded": (lambda r: [general(r)],
                             lambda a: np.array(heddle.determinant(a, correctly_rounded=True).mantissa)),
    "slogdet": (lambda r: [general(r)], lambda a: np.array(heddle.slogdet(a)[1])),
    "eigh": (lambda r: [hermitian(r)], lambda a: heddle.eigh(a)[0]),
    "eigh, pairs": (lambda r: [hermitian(r), hermitian(r)], lambda a, b: heddle.eigh(a, b)[0]),
    "eigh_batched": (lambda r: [np.stack([hermitian(r), hermitian(r)])], lambda a: heddle.eigh_batched(a)[0]),
    "expm": (lambda r: [general(r) / 16], lambda a: heddle.expm(a)),
    "expm, stack": (lambda r: [np.stack([general(r), general(r)]) / 16], lambda a: heddle.expm(a)),
    "expm_multiply": (lambda r: [general(r) / 16, block(r)], lambda a, b: heddle.expm_multiply(a, b)),
    "expm_frechet": (lambda r: [general(r) / 16, general(r)], lambda a, e: heddle.expm_frechet(a, e)[1]),
    "phi": (lambda r: [general(r) / 16], lambda a: heddle.phi(a, 2)[2]),
    "phi_multiply": (lambda r: [general(r) / 16, block(r)], lambda a, b: heddle.phi_multiply(a, b)),
    "exact.sum": (lambda r: [block(r)], lambda a: np.array(heddle.exact.sum(a))),
    "exact.sum, axis": (lambda r: [block(r)], lambda a: heddle.exact.sum(a, axis=0)),
    "exact.norm": (lambda r: [vector(r)], lambda a: np.array(heddle.exact.norm(a))),
    "exact.dot": (lambda r: [vector(r), vector(r)], lambda a, b: np.array(heddle.exact.dot(a, b))),
    "exact.vdot": (lambda r: [vector(r), vector(r)], lambda a, b: np.array(heddle.exact.vdot(a, b))),
    "exact.matmul": (lambda r: [general(r), block(r)], lambda a, b: heddle.exact.matmul(a, b)),
    "exact.keyed_sum": (lambda r: [vector(r), r.integers(0, 5, 40)], lambda x, k: heddle.exact.keyed_sum(x, k)),
    "exact.segmented_sum": (lambda r: [vector(r), np.array([0, 7, 7, 40])],
                            lambda x, k: heddle.exact.segmented_sum(x, k)),
    "duplicates": (lambda r: [r.integers(0, 5, 40)], lambda k: heddle.duplicates(k).group),
    "external_faces": (lambda r: [r.permutation(30)[:20].reshape(5, 4)],
                       lambda c: heddle.external_faces(c).external.points),
    "tdse": (lambda r: [np.exp(-np.linspace(-5, 5, 33)**2) + 0.0], lambda psi: heddle.tdse(HARMONIC, psi=psi)["/restart/psi"]),
}
# Called once as they are: they take no arrays of numbers, or need ranks.
OTHERS = {
    "info": lambda: heddle.info()["version"] == heddle.__version__,
    "start": lambda: heddle.start() is None,
    "release_memory": lambda: heddle.release_memory() is None,
    "verify": lambda: refused(lambda: heddle.verify("no such file")),
    "exact.allreduce": lambda: refused(lambda: heddle.exact.allreduce(None, np.ones(2))),
}

# ---- Changes. Each returns the changed argument, and whether it stands for the same numbers.


def padded(a):
    big = np.full(tuple(2 * n + 1 for n in a.shape), -99, a.dtype)
    view = big[tuple(slice(1, None, 2) for _ in a.shape)]
    view[...] = a
    return view


def turned(a):
    back = tuple(slice(None, None, -1) for _ in a.shape)
    return np.ascontiguousarray(a[back])[back]


def unaligned(a):
    view = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


class Exporter:
    """An array of a library that only DLPack knows."""

    def __init__(self, elements):
        self.elements = elements

    def __dlpack__(self, **options):
        return self.elements.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.elements.__dlpack_device__()


def read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


def broken(a, value):
    a = a.astype(complex if isinstance(value, complex) else float)
    a.flat[a.size // 2] = value
    return a


def wide(a):
    """Integers that no double equals."""
    a = a.astype(np.int64)
    a.flat[0] = (1 << 53) + 1
    return a


SAME = {
    "rows": np.ascontiguousarray, "columns": np.asfortranarray, "padded": padded, "turned": turned,
    "unaligned": unaligned, "read-only": read_only, "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "list": lambda a: a.tolist(), "tuple": lambda a: tuple(a.tolist()), "DLPack": Exporter, "buffer": memoryview,
    "own class": lambda a: a.view(type("Own", (np.ndarray,), {})),
}
NUMBERS = {
    "complex128": lambda a: a.astype(complex), "int64": lambda a: a.astype(np.int64),
    "int8": lambda a: a.astype(np.int8), "bool": lambda a: a.astype(bool), "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble), "uint64": lambda a: np.abs(a).astype(np.uint64),
    "float32": lambda a: a.astype(np.float32), "clongdouble": lambda a: a.astype(np.clongdouble),
}
INTEGERS = {"int32": lambda a: a.astype(np.int32), "uint64": lambda a: a.astype(np.uint64),
            "uint8": lambda a: a.astype(np.uint8), "int16": lambda a: a.astype(np.int16)}
# Arguments that may be refused or accepted, but must end in a result or a plain exception.
STRANGE = {
    "masked": lambda a: np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) == 0),
    "masked rows": lambda a: list(np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) == 0)),
    "NaN": lambda a: broken(a, np.nan), "infinity": lambda a: broken(a, np.inf),
    "complex NaN": lambda a: broken(a, complex(0.0, np.nan)), "huge": lambda a: broken(a, 1e308),
    "denormal": lambda a: broken(a, 5e-324), "wide integers": wide, "empty": lambda a: a[:0],
    "one axis more": lambda a: a[None], "one axis less": lambda a: a[0], "0-d": lambda a: np.array(1.0),
    "number": lambda a: 1.5, "none": lambda a: None, "text": lambda a: "abc", "texts": lambda a: a.astype(str),
    "objects": lambda a: a.astype(object), "ragged": lambda a: [[1.0], [1.0, 2.0]], "dict": lambda a: {"a": 1},
    "dates": lambda a: np.abs(a).astype("datetime64[s]"), "records": lambda a: np.zeros(a.shape, "f8,i4"),
    "generator": lambda a: (x for x in a), "negative": lambda a: -a - 1, "longer": lambda a: np.concatenate([a, a]),
    "fractions": lambda a: a + 0.5, "scalar list": lambda a: [1.0], "array of bytes": lambda a: array.array("b", [1, 2]),
}


def refused(call):
    try:
        call()
    except Exception as error:
        return plain(error) is None
    return False


def plain(error):
    """Why an exception is none that a user can act on; None where it is."""
    if not isinstance(error, (ValueError, TypeError, RuntimeError, MemoryError, OSError)):
        return f"an exception of type {type(error).__name__}"
    text = str(error)
    for internal in ("incompatible function arguments", "std::", "nanobind", "Traceback", "_core.", "Kokkos::"):
        if internal in text:
            return f"words of the inside: {text[:200]!r}"
    if "\n" in text.strip() or not text.strip():
        return f"no line of words: {text[:200]!r}"
    return None


def bytes_of(value):
    return value.tobytes() if isinstance(value, np.ndarray) and value.dtype != object else None


def judge(kind, arrays, k, changed, call, must_work, same):
    """Return the error in the call's behaviour, or None. `must_work`: it may not be refused; `same`: a
    result must be that of the unchanged arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = np.asarray(call(*arrays))
    given = [*arrays[:k], changed, *arrays[k + 1:]]
    before = [bytes_of(value) for value in given]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, error = call(*given), None
        except Exception as raised:
            found, error = None, raised
    if [bytes_of(value) for value in given] != before:
        return "an argument was changed"
    for warning in caught:
        if not str(warning.message).startswith(tuple(f"{one.partition(',')[0]}:" for one in FUNCTIONS)):
            return f"a warning: {warning.category.__name__}: {warning.message}"
    if kind.startswith("masked") and error is None:
        return "a mask was dropped"
    if error is not None:
        return f"refused: {error}" if must_work else plain(error)
    if same:
        digits = 1e-3 if kind in ("float32", "float16") else 1e-11
        bound = digits * np.max(np.abs(base), initial=0.0)
        if found.shape != base.shape or not np.allclose(found, base, rtol=0, atol=bound):
            return f"another result: {np.asarray(found).ravel()[:4]}, expected {base.ravel()[:4]}"
    return None


def exact_in(values, changed):
    """Whether the changed array has the values of the first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array_equal(np.asarray(changed), values)


def one_case(name, seed, number):
    """The kind of change of a case, and what is wrong; None where nothing is."""
    rng = np.random.default_rng([seed, number, *name.encode()])
    draw, call = FUNCTIONS[name]
    arrays = draw(rng)
    k = int(rng.integers(len(arrays)))
    integers = arrays[k].dtype.kind == "i"
    group = (SAME, INTEGERS if integers else NUMBERS, STRANGE)[int(rng.integers(3))]
    kind = list(group)[int(rng.integers(len(group)))]
    changed = group[kind](arrays[k])
    wrong = judge(kind, arrays, k, changed, call, must_work=group is SAME,
                  same=group is not STRANGE and exact_in(arrays[k], changed))
    return f"array {k} as {kind}", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100, help="of each function")
    parser.add_argument("--minutes", type=float, default=0.0, help="for so long instead")
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = options.only.split(";") if options.only else [*FUNCTIONS, *OTHERS]
    unknown = [name for name in names if name not in FUNCTIONS and name not in OTHERS]
    if unknown:
        parser.error(f"no function {unknown[0]!r}; --list names them, and ';' parts several")
    if options.list:
        print("\n".join(names))
        return 0
    end = time.monotonic() + 60 * options.minutes
    failures, cases, number = {}, 0, options.case or 0
    while True:
        for name in names:
            if name in OTHERS:
                kind, wrong = "as it is", None if number or OTHERS[name]() else "another result"
            else:
                kind, wrong = one_case(name, options.seed, number)
            cases += 1
            if wrong and (name, kind) not in failures:
                failures[name, kind] = wrong
                print(f"FAILURE {name}, {kind}: {wrong}\n  repeat: {sys.argv[0]} --seed {options.seed} "
                      f"--only '{name}' --case {number}", flush=True)
        number += 1
        if options.case is not None or (time.monotonic() > end if options.minutes else number >= options.cases):
            break
    print(f"seed {options.seed}: {cases} cases of {len(names)} functions, {len(failures)} kinds of failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
