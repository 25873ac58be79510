"""Results of NumPy, SciPy and scikit-learn, for `heddle verify --manifest --python python3`.

    heddle run --libm python3 python_results.py [--store]

Prints the first 16 digits of each SHA-256 and compares it with python_expected.txt beside this script; --store writes
that file. Packages that are not installed are named and left out, as are results with elementary functions without --libm.
NumPy has kernels of its own for a few of those on AArch64 (tanh; sin and cos of floats), so no result takes them.
"""

import hashlib
import importlib
import math
import os
import pathlib
import sys
import warnings

import numpy

EXPECTED = pathlib.Path(__file__).with_name("python_expected.txt")


def random(rows, columns, seed):
    """Multiples of 2^-23 in (-1, 1), from integers."""
    k = numpy.arange(rows * columns, dtype=numpy.uint64) + numpy.uint64(1 + 1000003 * seed)
    with numpy.errstate(over="ignore"):
        for multiplier, shift in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27), (0x9E3779B97F4A7C15, 31)):
            k = (k ^ (k >> numpy.uint64(shift))) * numpy.uint64(multiplier)
    odd = (k >> numpy.uint64(41)).astype(numpy.int64) * 2 + 1 - 8388608
    return numpy.ldexp(odd.astype(numpy.float64), -23).reshape(rows, columns)


def complex_random(rows, columns, seed):
    both = random(rows, 2 * columns, seed)
    return both.view(numpy.complex128)


A, B, S = random(70, 50, 1), random(50, 40, 2), random(60, 60, 3)
C, D = complex_random(60, 50, 4), complex_random(50, 40, 5)
H = S + S.T
Z = complex_random(60, 60, 6)
P = numpy.ldexp(H, -3)  # a positive definite matrix: its diagonal is larger than the sum of a row
P[numpy.diag_indices(60)] = 40.0

NUMPY = {
    "matmul": lambda: A @ B,
    "matmul complex": lambda: C @ D,
    "matmul float32": lambda: A.astype("f") @ B.astype("f"),
    "matmul adjoint": lambda: C.conj().T @ C,
    "matrix times vector": lambda: A @ B[:, 0],
    "dot": lambda: numpy.dot(A[:, 0], A[:, 1]),
    "solve": lambda: numpy.linalg.solve(S, A[:60, :5]),
    "solve complex": lambda: numpy.linalg.solve(Z, Z[:, :3]),
    "inv": lambda: numpy.linalg.inv(S),
    "cholesky": lambda: numpy.linalg.cholesky(P),
    "qr": lambda: numpy.linalg.qr(A),
    "svd": lambda: numpy.linalg.svd(A),
    "singular values": lambda: numpy.linalg.svd(C, compute_uv=False),
    "eigh": lambda: numpy.linalg.eigh(H),
    "eig": lambda: numpy.linalg.eig(S),
    "eigvals complex": lambda: numpy.linalg.eigvals(Z),
    "lstsq": lambda: numpy.linalg.lstsq(A, A[:, :3], rcond=None)[0],
}
SCIPY = {
    "lu_factor": lambda linalg: linalg.lu_factor(S),
    "lu_factor float32": lambda linalg: linalg.lu_factor(S.astype("f")),
    "solve_triangular": lambda linalg: linalg.solve_triangular(P, A[:60, :4], lower=True),
    "cho_solve": lambda linalg: linalg.cho_solve(linalg.cho_factor(P), A[:60, :4]),
    "qr pivoting": lambda linalg: linalg.qr(A, pivoting=True),
    "schur": lambda linalg: linalg.schur(S),
    "lstsq gelsy": lambda linalg: linalg.lstsq(A, A[:, :2], lapack_driver="gelsy")[0],
    "eigh generalised": lambda linalg: linalg.eigh(H, P),
}


def regression(model):
    return lambda linear: getattr(linear, model)().fit(A, A[:, :2] + random(70, 2, 7)).coef_


LEARN = {
    "LinearRegression": regression("LinearRegression"),
    "Ridge": regression("Ridge"),
}


def spread(k, low, high, dtype=numpy.float64):
    """300 numbers from low to high."""
    return (low + (high - low) * (numpy.ldexp(random(300, 1, k)[:, 0], -1) + 0.5)).astype(dtype)


def each(function, values):
    return numpy.array([function(x) for x in values.tolist()])


def softmax(scores):
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def logistic_regression():
    """Ten steps of Newton's method for 300 samples of 7 features, with a penalty; the weights and the logarithm of the likelihood."""
    features, weights = 3 * random(300, 7, 20), numpy.zeros(7)
    positive = features @ random(7, 1, 21)[:, 0] + random(300, 1, 22)[:, 0] > 0
    for _ in range(10):
        likely = 1 / (1 + numpy.exp(-(features @ weights)))
        curvature = features.T @ (features * (likely * (1 - likely))[:, None]) + numpy.eye(7) / 8
        weights = weights + numpy.linalg.solve(curvature, features.T @ (positive - likely) - weights / 8)
    return weights, numpy.log(numpy.where(positive, likely, 1 - likely)).sum()


def neural_network():
    """The weights of a classifier with a hidden layer of 16 units, x / (1 + exp(-x)) each, after forty steps by gradients."""
    inputs, first, second = 4 * random(250, 6, 23), random(6, 16, 24), random(16, 3, 25)
    wanted = numpy.eye(3)[numpy.arange(250) % 3]
    for _ in range(40):
        inner = inputs @ first
        gate = 1 / (1 + numpy.exp(-inner))
        hidden = inner * gate
        wrong = (softmax(hidden @ second) - wanted) / 250
        back = (wrong @ second.T) * gate * (1 + inner * (1 - gate))
        second, first = second - hidden.T @ wrong, first - inputs.T @ back
    return first, second


LIBM = {
    "exp, log": lambda: (numpy.exp(spread(10, -700, 700)), numpy.exp2(spread(11, -1000, 1000)), numpy.expm1(spread(12, -2, 2)),
                         numpy.log(spread(13, 0, 9)), numpy.log2(spread(14, 0, 9)), numpy.log10(spread(15, 0, 9)),
                         numpy.log1p(spread(16, -0.9, 0.9))),
    "power, cbrt, hypot": lambda: (numpy.power(spread(30, 0, 20), spread(31, -90, 90)), numpy.cbrt(spread(32, -9, 9)),
                                   numpy.hypot(spread(33, -9, 9), spread(34, -1, 1))),
    "sin, cos, tan": lambda: (numpy.sin(spread(35, -1e6, 1e6)), numpy.cos(spread(36, -9, 9)), numpy.tan(spread(37, -9, 9))),
    "inverse functions": lambda: (numpy.arcsin(spread(38, -1, 1)), numpy.arccos(spread(39, -1, 1)), numpy.arctan(spread(40, -9, 9)),
                                  numpy.arctan2(spread(41, -9, 9), spread(42, -9, 9)), numpy.arcsinh(spread(43, -9, 9)),
                                  numpy.arccosh(spread(44, 1, 9)), numpy.arctanh(spread(45, -1, 1))),
    "sinh, cosh, tanh": lambda: (numpy.sinh(spread(46, -9, 9)), numpy.cosh(spread(47, -9, 9)), each(math.tanh, spread(48, -9, 9))),
    "erf, erfc": lambda: (each(math.erf, spread(49, -3, 3)), each(math.erfc, spread(50, -3, 20))),
    "float32": lambda: (numpy.exp(spread(51, -80, 80, "f")), numpy.log(spread(52, 0, 9, "f")), numpy.tan(spread(53, -9, 9, "f")),
                        numpy.power(spread(54, 0, 9, "f"), spread(55, -9, 9, "f"))),
    "softmax": lambda: softmax(9 * random(90, 40, 56)),
    "logistic regression": logistic_regression,
    "neural network": neural_network,
}


def digest(result):
    parts = result if isinstance(result, tuple) else (result,)
    sha = hashlib.sha256()
    for part in map(numpy.asarray, parts):
        sha.update(numpy.ascontiguousarray(part, part.dtype.newbyteorder("<")).tobytes())
    return sha.hexdigest()


def results():
    for name, compute in NUMPY.items():
        yield "numpy " + name, digest(compute())
    if "libheddle_libm" in os.environ.get("LD_PRELOAD", ""):
        for name, compute in LIBM.items():
            yield "libm " + name, digest(compute())
    else:
        print(f"no --libm: {len(LIBM)} results are left out")
    for package, module, table in (("scipy", "scipy.linalg", SCIPY), ("sklearn", "sklearn.linear_model", LEARN)):
        try:
            found = importlib.import_module(module)
        except ImportError:
            print(f"{package} is not installed: {len(table)} results are left out")
            continue
        for name, compute in table.items():
            yield f"{package} {name}", digest(compute(found))


def main():
    warnings.simplefilter("ignore")
    computed = dict(results())
    if "--store" in sys.argv[1:]:
        EXPECTED.write_text("".join(f"{sha}  {name}\n" for name, sha in computed.items()), encoding="ascii")
    expected = {line[66:]: line[:64] for line in EXPECTED.read_text(encoding="ascii").splitlines()}
    different = 0
    for name, sha in computed.items():
        same = expected.get(name) == sha
        different += not same
        print(f"{sha[:16]}  {name}" + ("" if same else f"  differs: expected {expected.get(name, 'nothing')[:16]}"))
    print(f"{len(computed)} results of Python, {different} with other bits than stored")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
