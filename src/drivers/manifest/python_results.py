"""Results of NumPy, SciPy and scikit-learn, for `heddle verify --manifest --python python3`.

    heddle run python3 python_results.py [--store]

Prints the first 16 digits of each SHA-256 and compares it with python_expected.txt beside this script; --store writes
that file. Packages that are not installed are named and left out. Results come from routines of the BLAS and LAPACK alone: sums
that NumPy does itself, and libm, have other bits on other processors.
"""

import hashlib
import importlib
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


def digest(result):
    parts = result if isinstance(result, tuple) else (result,)
    sha = hashlib.sha256()
    for part in map(numpy.asarray, parts):
        sha.update(numpy.ascontiguousarray(part, part.dtype.newbyteorder("<")).tobytes())
    return sha.hexdigest()


def results():
    for name, compute in NUMPY.items():
        yield "numpy " + name, digest(compute())
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
