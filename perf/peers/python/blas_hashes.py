#!/usr/bin/env python3
"""How many values the results of one program of NumPy, SciPy and scikit-learn take, by itself and under `heddle run`.

    blas_hashes.py --heddle build/openmp/src/drivers/heddle     with each kernel of OpenBLAS and each number of threads
    heddle run blas_hashes.py --here                            the hashes of this process alone, a line each

SciPy and scikit-learn are passed over where they are missing. With --json FILE the hashes go to a file, to be compared with another
machine's: --also FILE counts those in. NumPy's own loops have kernels for each processor as well; they are switched off
(NPY_DISABLE_CPU_FEATURES), since no BLAS computes them. Exit code 1 where `heddle run` has more than one value of a result that it
covers.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys

NOT_COVERED = "scipy: solve_banded, which is not covered"


def of_numpy(numpy):
    random = numpy.random.RandomState(20)
    a, b, square = random.randn(180, 130), random.randn(130, 70), random.randn(150, 150)
    symmetric, definite = square + square.T, square @ square.T + numpy.eye(150)
    linalg = numpy.linalg
    yield "numpy: products", [a @ b, a @ b[:, 0], a.T @ a, numpy.dot(b[:, 0], b[:, 1]), (a + 1j * a[::-1]) @ (b - 2j * b),
                              a.astype("f") @ b.astype("f"), numpy.vdot(a, a[::-1])]
    yield "numpy: einsum, tensordot", [numpy.einsum("ij,jk,kl->il", a, b, b.T, optimize=True),
                                       numpy.tensordot(a.reshape(18, 10, 130), b, axes=1)]
    yield "numpy: inv, solve, det", [linalg.inv(square), linalg.solve(square, a[:150]), linalg.det(square / 10),
                                     linalg.solve(square + 1j * symmetric, a[:150])]
    yield "numpy: cholesky, qr", [linalg.cholesky(definite), *linalg.qr(a), *linalg.qr(a.T + 1j * a[::-1].T)]
    yield "numpy: eigh", [*linalg.eigh(symmetric), *linalg.eigh(symmetric + 1j * (square - square.T)), linalg.eigvalsh(definite)]
    yield "numpy: svd, pinv", [*linalg.svd(a), *linalg.svd(a.T + 1j * a[::-1].T, full_matrices=False), linalg.pinv(b)]
    yield "numpy: cond, matrix_rank, lstsq", [linalg.cond(square), linalg.matrix_rank(a),
                                              *linalg.lstsq(a, random.randn(180, 4), rcond=None)]
    yield "numpy: eig", [*linalg.eig(square), *linalg.eig(square + 1j * symmetric), linalg.eigvals(definite)]
    yield "numpy: a net of one hidden layer, 50 steps", net(numpy, random)


def net(numpy, random):
    """The weights of a small regression, by gradients; rational activations, since exp() is the mathematical library's."""
    x = random.randn(300, 20)
    wanted = (x[:, :1] * x[:, 1:2]) + 0.1 * random.randn(300, 1)
    first, second = random.randn(20, 40) / 5, random.randn(40, 1) / 7
    for _ in range(50):
        inner = x @ first
        active = inner / (1 + numpy.abs(inner))
        wrong = (active @ second - wanted) / 300
        back = (wrong @ second.T) / (1 + numpy.abs(inner)) ** 2
        second -= 0.2 * (active.T @ wrong)
        first -= 0.2 * (x.T @ back)
    return [first, second]


def of_scipy(numpy, scipy):
    linalg = scipy.linalg
    random = numpy.random.RandomState(21)
    square, a = random.randn(140, 140), random.randn(160, 90)
    symmetric, definite = square + square.T, square @ square.T + numpy.eye(140)
    yield "scipy: solve, cho_solve, solve_triangular", [
        linalg.solve(square, a[:140]), linalg.cho_solve(linalg.cho_factor(definite), a[:140]),
        linalg.solve_triangular(numpy.tril(square) + 9 * numpy.eye(140), a[:140], lower=True), *linalg.lu(square)]
    yield "scipy: eig, hessenberg", [*linalg.eig(square, left=True), *linalg.hessenberg(square, calc_q=True)]
    yield "scipy: schur", [*linalg.schur(square), *linalg.schur(square, output="complex")]
    yield NOT_COVERED, [linalg.solve_banded((40, 40), numpy.vstack([square[:81] + 9]), a[:140])]
    yield "scipy: eigh, qr", [*linalg.eigh(symmetric), *linalg.eigh(symmetric, definite), *linalg.qr(a), *linalg.qr(a, pivoting=True)]
    yield "scipy: svd, pinv, orth, null_space, polar", [
        *linalg.svd(a), *linalg.svd(a, lapack_driver="gesvd"), linalg.pinv(a), linalg.orth(a), linalg.null_space(a.T), *linalg.polar(square)]
    yield "scipy: lstsq by three drivers", [
        linalg.lstsq(a, random.randn(160, 2), lapack_driver=driver)[0] for driver in ("gelsd", "gelss", "gelsy")]


def of_sklearn(numpy):
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

    random = numpy.random.RandomState(22)
    x = random.randn(400, 30)
    y = x @ random.randn(30) + 0.1 * random.randn(400)
    yield "sklearn: Ridge, PCA by a covariance", [
        Ridge(alpha=0.5).fit(x, y).coef_, PCA(5, svd_solver="covariance_eigh").fit(x).components_]
    yield "sklearn: LinearRegression, PCA by singular values", [
        LinearRegression().fit(x, y).coef_, PCA(5, svd_solver="full").fit(x).components_]
    # Its loss takes exp() and log().
    yield "sklearn: LogisticRegression", [LogisticRegression(max_iter=200).fit(x, y > 0).coef_]


def results():
    import numpy

    yield from of_numpy(numpy)
    try:
        import scipy.linalg
    except ImportError:
        return
    yield from of_scipy(numpy, scipy)
    try:
        yield from of_sklearn(numpy)
    except ImportError:
        return


def hashes():
    import numpy

    return {name: hashlib.sha256(b"".join(numpy.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()
            for name, arrays in results()}


def settings(cores, threads):
    """Environments for the program, by what they are called."""
    dispatched = subprocess.run(
        [sys.executable, "-c", "from numpy._core._multiarray_umath import __cpu_dispatch__ as all\nprint(*all)"],
        capture_output=True, text=True, check=True).stdout.strip()
    for core in cores:
        for count in threads:
            yield f"{core}, {count}", {**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": count,
                                       "OMP_NUM_THREADS": count, "NPY_DISABLE_CPU_FEATURES": dispatched}


def run(command, environment):
    process = subprocess.run([*command, sys.executable, os.path.abspath(__file__), "--here", "--json", "-"], env=environment,
                             capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"blas_hashes.py: {' '.join(command) or 'the program'} failed:\n{process.stderr}")
    return json.loads(process.stdout)


def values(runs):
    """How many hashes each result has."""
    return {name: len({one[name] for one in runs if name in one}) for name in runs[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", metavar="PATH", help="the command")
    parser.add_argument("--device", action="store_true", help="heddle run --device as well")
    parser.add_argument("--cores", default="Prescott,Haswell,SkylakeX", help="kernels of OpenBLAS; those that the processor can run")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--also", metavar="FILE", action="append", default=[], help="hashes that --json wrote, elsewhere perhaps")
    parser.add_argument("--here", action="store_true", help="this process's hashes")
    parser.add_argument("--json", metavar="FILE", help="write hashes, - for the standard output")
    given = parser.parse_args()
    if given.here:
        found = hashes()
        if given.json is None:
            for name, value in found.items():
                print(f"{name:50} {value[:16]}")
    else:
        if given.heddle is None:
            parser.error("--heddle or --here is wanted")
        alone, over = [], []
        for name, environment in settings(given.cores.split(","), given.threads.split(",")):
            print(f"OpenBLAS's {name} threads", file=sys.stderr)
            alone.append(run([], environment))
            over.append(run([given.heddle, "run"], environment))
            if given.device:
                over.append(run([given.heddle, "run", "--device"], environment))
        found = over[0]
        for path in given.also:
            with open(path, encoding="utf-8") as file:
                over.append(json.load(file))
        one, other = values(alone), values(over)
        print(f"{'hashes of':50} alone  heddle run")
        for name in one:
            print(f"{name:50} {one[name]:5}  {other[name]:10}")
    if given.json == "-":
        json.dump(found, sys.stdout, indent=1)
    elif given.json is not None:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    if not given.here and any(count > 1 for name, count in other.items() if name != NOT_COVERED):
        sys.exit(1)


if __name__ == "__main__":
    main()
