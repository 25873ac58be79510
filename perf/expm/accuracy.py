#!/usr/bin/env python3
"""Errors of `heddle expm`, SciPy's expm and torch's matrix_exp, beside exponentials in 256 bits.

    perf/expm/accuracy.py --heddle B/src/drivers/heddle [--precisions double float] [--methods NAME ...]
                          [--matrices REGEX] [--table FILE.csv] [--picture FILE.png]

Each side gets the same matrix (matrices.py), rounded to the precision; the error is that of the exponential of what it
got, relative, in the Frobenius norm. The bar, for each matrix and each method of heddle's that takes it:

    error <= max(10 x SciPy's error, n u cond, u), cond the relative condition number of the exponential there

(the last u is what rounding the exact result may cost), a median of `auto` below SciPy's, and a refusal where the
exponential is beyond the range of the numbers. If n u cond reaches 1, no digit can be required: there
a finite result is enough. Matrices whose exponential is wholly below the range are left out. The methods are those
that heddle names, but `taylor`, which is a polynomial of fixed degree. One may refuse a matrix that it is not for;
`auto` takes all.

Needs numpy, scipy, python-flint; matplotlib for the picture; torch is measured where it is found. References are kept
in --cache; the first run makes them, in 10 minutes or so.
Exit status: 0 the bars hold, 1 they don't, 3 a module is missing.
"""

import argparse
import csv
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.linalg

    from matrices import matrices
    from reference import reference, relative_error
except ImportError as missing:
    print(f"accuracy: {missing}", file=sys.stderr)
    sys.exit(3)
try:
    import torch
except ImportError:
    torch = None

PRECISIONS = {"double": (np.float64, np.complex128), "float": (np.float32, np.complex64)}
REFUSED = "refused"


class Heddle:
    """The command, with files on the way in and out: their digits are all that there are."""

    def __init__(self, command):
        self.command = shlex.split(command)

    def run(self, *arguments):
        return subprocess.run([*self.command, "expm", *arguments], capture_output=True, text=True, check=False)

    def methods(self):
        """From what it says to a name that it can't know."""
        said = self.run("--size", "2", "--method", "?").stderr
        found = re.search(r"expected ([\w, -]+)", said)
        return [name for name in re.split(r", | or ", found[1].strip()) if name] if found else ["auto"]

    def exponential(self, A, method):
        """The result, or None where it refuses; and what it says then. Exit status 2: the method is not for this A."""
        scalar = ("complex-" if np.iscomplexobj(A) else "") + ("double" if A.real.dtype == np.float64 else "float")
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "A.mtx"), os.path.join(folder, "E.mtx")
            # The shortest digits that give the same double; floats are written as the doubles that they are.
            scipy.io.mmwrite(source, A.astype(complex if np.iscomplexobj(A) else float), symmetry="general")
            done = self.run("--input", source, "--output", target, "--scalar", scalar, "--method", method, "--quiet")
            if done.returncode == 0:
                return scipy.io.mmread(target), ""
            # A crash is not a refusal.
            if done.returncode not in (1, 2):
                raise RuntimeError(f"heddle expm ended with {done.returncode}: {done.stderr}")
            return None, f"{done.returncode}: {done.stderr.strip()}"


def by_scipy(A):
    with np.errstate(all="ignore"):
        return scipy.linalg.expm(A)


def by_torch(A):
    return torch.linalg.matrix_exp(torch.from_numpy(A)).numpy()


def measure(name, A, heddle, methods, exact, precision):
    """One row of the table, and what is wrong with it. None: nothing to compare."""
    unit = float(np.finfo(A.dtype).eps) / 2
    largest = np.abs(exact.high).max()
    if largest < np.finfo(A.dtype).tiny:
        return None, []
    overflows = not largest <= np.finfo(A.dtype).max
    row = {"precision": precision, "matrix": name, "n": len(A), "norm1": float(np.abs(A).sum(axis=0).max()),
           "condition": exact.condition, "overflows": int(overflows)}
    for side, work in (("scipy", by_scipy), ("torch", by_torch if torch else None)):
        if work:
            row[side] = np.inf if overflows else relative_error(work(A), exact)
    known = len(A) * unit * exact.condition
    row["bar"] = np.inf if known >= 1 else max(unit, known, 10 * row["scipy"] if np.isfinite(row["scipy"]) else 0)
    wrong = []
    for method in methods:
        found, said = heddle.exponential(A, method)
        if overflows:
            row[method] = REFUSED if found is None else np.inf
            if found is not None:
                wrong.append(f"{method}: gave {np.abs(found).max():.3g}, where the exponential overflows")
        elif found is not None:
            row[method] = relative_error(found, exact)
            if not (np.isfinite(row[method]) and row[method] <= row["bar"]):
                wrong.append(f"{method}: error {row[method]:.2e} above {row['bar']:.2e} (SciPy {row['scipy']:.2e}, "
                             f"n u cond {known:.2e})")
        else:
            row[method] = REFUSED
            if method == "auto" or said.startswith("1"):
                wrong.append(f"{method}: refused, {said}")
    return row, wrong


def median_error(rows, side):
    errors = [row[side] for row in rows if not row["overflows"] and row.get(side) not in (None, REFUSED)]
    return statistics.median(errors) if errors else np.nan


def summary(rows, sides):
    """Figures of each side, in Markdown."""
    head = ["precision", "side", "matrices", "median error", "that over n u cond", "largest error / bar", "refused"]
    print("\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for precision in dict.fromkeys(row["precision"] for row in rows):
        unit = float(np.finfo(PRECISIONS[precision][0]).eps) / 2
        finite = [row for row in rows if row["precision"] == precision and not row["overflows"]]
        for side in sides:
            with_it = [row for row in finite if row[side] != REFUSED]
            if not with_it:
                continue
            over = [row[side] / max(unit, row["n"] * unit * row["condition"]) for row in with_it]
            worst = max(row[side] / row["bar"] for row in with_it if np.isfinite(row["bar"]))
            print(f"| {precision} | {side} | {len(with_it)} | {median_error(with_it, side):.2e} | "
                  f"{statistics.median(over):.2g} | {worst:.3g} | {len(finite) - len(with_it)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", required=True, metavar="COMMAND", help="the command")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="all that heddle has, but taylor")
    parser.add_argument("--matrices", default="", metavar="REGEX", help="those whose names it is found in")
    parser.add_argument("--cache", metavar="FOLDER",
                        default=os.path.join(tempfile.gettempdir(), "heddle-expm-references"))
    parser.add_argument("--table", metavar="FILE", help="write a row for each matrix, as CSV")
    parser.add_argument("--picture", metavar="FILE", help="draw them")
    arguments = parser.parse_args()

    heddle = Heddle(arguments.heddle)
    methods = arguments.methods or [name for name in heddle.methods() if name != "taylor"]
    sides = ["scipy", *(["torch"] if torch else []), *methods]
    rows, offenders = [], []
    for precision in arguments.precisions:
        for name, wide in matrices().items():
            if not re.search(arguments.matrices, name):
                continue
            dtype = PRECISIONS[precision][int(np.iscomplexobj(wide))]
            if np.abs(wide).max() > np.finfo(dtype).max:
                continue
            A = wide.astype(dtype)
            exact = reference(A.astype(wide.dtype), arguments.cache)
            row, wrong = measure(name, A, heddle, methods, exact, precision)
            if row is None:
                continue
            rows.append(row)
            offenders += [f"{precision}, {name}: {line}" for line in wrong]
            print(f"{precision:6}  {name:30} n {row['n']:3}  cond {row['condition']:.1e}  bar {row['bar']:.1e}",
                  *(f" {side} {row[side] if row[side] == REFUSED else format(row[side], '.1e')}" for side in sides),
                  flush=True)
        # A median of few matrices says nothing.
        these = [row for row in rows if row["precision"] == precision]
        if "auto" in methods and not arguments.matrices:
            ours, theirs = (median_error(these, side) for side in ("auto", "scipy"))
            if not ours < theirs:
                offenders.append(f"{precision}: median error of auto {ours:.2e}, SciPy's {theirs:.2e}")

    summary(rows, sides)
    if arguments.table:
        with open(arguments.table, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if arguments.picture:
        from accuracy_picture import draw  # matplotlib is needed for nothing else

        draw(rows, sides, arguments.picture)
    print(f"\n{len(rows)} cases, {len(offenders)} against the bars", *offenders, sep="\n")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
