#!/usr/bin/env python3
"""exp(A) by `heddle expm`, scipy.linalg.expm and torch.linalg.matrix_exp, in turn, in one run.

    perf/peers/python/expm_peers.py [--heddle B/src/drivers/heddle] [--sizes 1000 2000] [--cases REGEX] [--threads N]
                             [--ranks 1 ...] [--peers scipy torch] [--json FILE]

Cases: real and complex matrices with normal entries, of 1-norm 1 and 10 and with entries of variance 1/n; exp(-i A),
A real symmetric with normal entries, of spectral radius 1, 10 and 100 (to a hundredth). All sides get the same numbers.
Heddle reads them from a file, complex ones as complex, so that -i A comes with a real part of zeros; reading isn't
timed. torch works on a GPU where it finds one. Peers that aren't installed are left out; without --heddle, the peers
alone.

In each round every side works once or several times after a run to warm up, and gives its median; the ratio is the
peer's time over Heddle's, the median of the rounds. Each side has --threads threads, Heddle's ranks a share each.
Results are compared in the first round.
Exit status: 0 done and checked, 1 results differ, 3 a module is missing.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"expm_peers: {missing}", file=sys.stderr)
    sys.exit(3)
try:
    import scipy.linalg
    import threadpoolctl
except ImportError:
    scipy = None
try:
    import torch
except ImportError:
    torch = None


def normal(n, seed):
    return np.random.RandomState(seed).standard_normal((n, n))


def of_norm(A, norm):
    return A * (norm / np.abs(A).sum(axis=0).max())


def minus_i_symmetric(n, radius):
    A = normal(n, 3)
    A += A.T
    x = np.ones(n)
    for _ in range(200):
        x = A @ (x / np.linalg.norm(x))
    return -1j * (A * (radius / np.linalg.norm(x)))


CASES = {
    "real, norm 1": lambda n: of_norm(normal(n, 1), 1),
    "real, norm 10": lambda n: of_norm(normal(n, 1), 10),
    "real, variance 1/n": lambda n: normal(n, 1) / n**0.5,
    "complex, norm 1": lambda n: of_norm(normal(n, 1) + 1j * normal(n, 2), 1),
    "complex, norm 10": lambda n: of_norm(normal(n, 1) + 1j * normal(n, 2), 10),
    "complex, variance 1/n": lambda n: (normal(n, 1) + 1j * normal(n, 2)) / (2 * n) ** 0.5,
    "exp(-i A), radius 1": lambda n: minus_i_symmetric(n, 1),
    "exp(-i A), radius 10": lambda n: minus_i_symmetric(n, 10),
    "exp(-i A), radius 100": lambda n: minus_i_symmetric(n, 100),
}


class Scipy:
    name = "scipy"

    def __init__(self, A):
        self.A = A

    def exponential(self):
        return scipy.linalg.expm(self.A)

    def product(self):
        return self.A @ self.A

    def array(self, result):
        return result

    def seconds(self, work, runs):
        work()
        return statistics.median(self.once(work) for _ in range(runs))

    def once(self, work):
        start = time.perf_counter()
        work()
        return time.perf_counter() - start


class Torch(Scipy):
    name = "torch"

    def __init__(self, A):
        super().__init__(torch.from_numpy(A).to("cuda" if torch.cuda.is_available() else "cpu"))

    def exponential(self):
        result = torch.linalg.matrix_exp(self.A)
        self.wait()
        return result

    def product(self):
        result = self.A @ self.A
        self.wait()
        return result

    def array(self, result):
        return result.cpu().numpy()

    def wait(self):
        if self.A.is_cuda:
            torch.cuda.synchronize()

    def seconds(self, work, runs):
        seconds = super().seconds(work, runs)
        if self.A.is_cuda:
            torch.cuda.empty_cache()  # Heddle's turn on this GPU
        return seconds


PEERS = {**({"scipy": Scipy} if scipy else {}), **({"torch": Torch} if torch else {})}


def environment_of(arguments, ranks):
    return {**os.environ, "OMP_NUM_THREADS": str(max(1, arguments.threads // ranks))}


class Heddle:
    """The command on so many ranks; A lies in a file."""

    def __init__(self, arguments, ranks, folder):
        self.name = f"heddle, {ranks} rank" + "s" * (ranks > 1)
        mpirun = [*shlex.split(arguments.mpirun), "-n", str(ranks)] if ranks > 1 else []
        self.command = [*mpirun, *shlex.split(arguments.heddle), "expm", "--input", os.path.join(folder, "A.h5"),
                        "--quiet", "--method", arguments.method]
        self.environment = environment_of(arguments, ranks)
        self.folder = folder
        self.results = None

    def run(self, *more):
        subprocess.run([*self.command, *more], env=self.environment, check=True)

    def exponential(self):
        path = os.path.join(self.folder, "E.h5")
        self.run("--output", path)
        with h5py.File(path) as file:
            return file["matrix"][:]

    def seconds(self, runs):
        path = os.path.join(self.folder, "report.json")
        self.run("--repeat", str(runs + 1), "--json", path)
        with open(path, encoding="utf-8") as file:
            self.results = json.load(file)["results"]
        return statistics.median(self.results["seconds_of_each"][1:])


def measure(arguments, n, case):
    """One row of the table."""
    A = CASES[case](n)
    flops = (8 if np.iscomplexobj(A) else 2) * n**3
    with tempfile.TemporaryDirectory() as folder:
        with h5py.File(os.path.join(folder, "A.h5"), "w") as file:
            file["matrix"] = A
        ours = [Heddle(arguments, ranks, folder) for ranks in arguments.ranks]
        peers = [PEERS[name](A) for name in arguments.peers]
        times = {side.name: [] for side in (*ours, *peers)}
        rates = {peer.name: [] for peer in peers}
        differences = {}
        for turn in range(arguments.rounds):
            for side in ours:
                times[side.name].append(side.seconds(arguments.runs))
            for peer in peers:
                times[peer.name].append(peer.seconds(peer.exponential, arguments.runs))
                rates[peer.name].append(flops / peer.seconds(peer.product, arguments.runs) / 1e9)
            if turn == 0 and peers:
                theirs = peers[0].array(peers[0].exponential())
                for side in ours:
                    differences[side.name] = float(np.abs(side.exponential() - theirs).max() / np.abs(theirs).max())
    # Both are accurate to about the norm times the rounding errors of a product, each a few units of sqrt(n) u.
    bound = 100 * max(1.0, np.abs(A).sum(axis=0).max()) * n**0.5 * 2.0**-53
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    row = {"n": n, "case": case, "seconds": medians, "rounds": times, "differences": differences, "bound": bound,
           "gflops_of_products": {name: statistics.median(each) for name, each in rates.items()},
           "heddle": {side.name: side.results for side in ours},
           "right": all(difference <= bound for difference in differences.values())}
    row["ratios"] = {f"{peer.name} / {side.name}": statistics.median(
        theirs / mine for theirs, mine in zip(times[peer.name], times[side.name])) for side in ours for peer in peers}
    return row


def header(arguments):
    """Return the head of the table, in Markdown."""
    cells = ["n", "case"]
    for ranks in arguments.ranks:
        cells += [f"heddle s, {ranks} rank" + "s" * (ranks > 1), "how"]
    for peer in arguments.peers:
        cells += [f"{peer} s", *["over heddle's"] * len(arguments.ranks)]
    return "| " + " | ".join(cells) + " |\n" + "|---" * len(cells) + "|"


def line(row, arguments):
    cells = [str(row["n"]), row["case"]]
    for name, results in row["heddle"].items():
        counts = [f"degree {results['degree']}"] if results.get("degree") else []
        counts += [f"{results[key]} {key}" for key in ("squarings", "products") if results.get(key)]
        cells += [f"{row['seconds'][name]:.3f}", ", ".join([results["method"], *counts])]
    for peer in arguments.peers:
        cells.append(f"{row['seconds'][peer]:.3f}")
        cells += [f"**{row['ratios'][f'{peer} / {name}']:.2f}**" for name in row["heddle"]]
    return "| " + " | ".join(cells) + " |" + ("" if row["right"] else f" DIFFERS: {row['differences']}")


def libraries(arguments):
    """Yield the library that multiplies on each side."""
    if "scipy" in arguments.peers:
        yield f"scipy {scipy.__version__}"
    for pool in threadpoolctl.threadpool_info() if scipy else []:
        if pool["user_api"] == "blas":
            kernels = pool.get("architecture", "")
            yield f"scipy or numpy: {pool['internal_api']} {pool['version']} {kernels}, {pool['num_threads']} threads"
    if "torch" in arguments.peers:
        config = torch.__config__.show()
        blas = re.search(r"oneAPI Math Kernel Library Version \S+|BLAS_INFO=\w+", config)
        where = torch.cuda.get_device_name(0) if torch.cuda.is_available() else f"{torch.get_num_threads()} threads"
        yield f"torch {torch.__version__}: {blas[0] if blas else 'BLAS unknown'}, {where}"
    if not arguments.heddle:
        return
    said = subprocess.run([*shlex.split(arguments.heddle), "info"], env=environment_of(arguments, arguments.ranks[0]),
                          capture_output=True, text=True, check=True).stdout
    for text in said.splitlines():
        if re.match("commit|Kokkos|BLAS", text):
            yield "heddle: " + " ".join(text.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", metavar="COMMAND", help="the command, with `env X=Y` before it if need be")
    parser.add_argument("--method", default="auto", metavar="NAME", help="of heddle expm")
    parser.add_argument("--mpirun", default="mpirun --bind-to none", metavar="COMMAND", help="with its options")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1], metavar="N", help="numbers of ranks to run with")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="of each side")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000], metavar="N")
    parser.add_argument("--cases", default="", metavar="REGEX", help="those that it is found in")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="timed runs of each side in a round")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    arguments = parser.parse_args()
    if not arguments.heddle:
        arguments.ranks = []
    if not any(re.search(arguments.cases, case) for case in CASES):
        parser.error(f"--cases {arguments.cases}: none of {', '.join(CASES)}")

    if scipy:
        threadpoolctl.threadpool_limits(arguments.threads)
    if torch:
        torch.set_num_threads(arguments.threads)
    used = list(libraries(arguments))
    print(*used, "", header(arguments), sep="\n")
    rows = []
    for n in arguments.sizes:
        for case in CASES:
            if re.search(arguments.cases, case):
                rows.append(measure(arguments, n, case))
                print(line(rows[-1], arguments), flush=True)
    print()
    for n in arguments.sizes:
        for peer in arguments.peers:
            rates = [row["gflops_of_products"][peer] for row in rows if row["n"] == n]
            print(f"one product of {peer}'s library, n = {n}: {min(rates):.0f} to {max(rates):.0f} GFLOP/s")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"libraries": used, "results": rows}, file, indent=2)
            file.write("\n")
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
