#!/usr/bin/env python3
"""exp(A) of a complex matrix by torch.linalg.matrix_exp on one GPU beside `heddle expm`, in turn.

    perf/peers/torch_expm.py --heddle B/src/drivers/heddle [--ranks 1 4] [--size 8192] [--norm 10] [--json FILE]

A is the random matrix of `heddle expm --size N --norm X --seed S --scalar complex-double`, made here by the same
formula (its norm's last bits aside). First the two exponentials of a smaller one are compared. Then both sides run in
turn, in rounds of a few runs each after one to warm up; the ratio is torch's time over Heddle's, of the medians.
Without --heddle, torch alone. Exit status: 0 done and checked, 1 the results differ, 3 a module is missing.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import torch
except ImportError as error:
    print(f"torch_expm: {error}", file=sys.stderr)
    sys.exit(3)

DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def signed(bits):
    """The 64-bit number as torch keeps it; its products wrap."""
    return bits - 2**64 if bits >= 2**63 else bits


def shifted(bits, by):
    """A logical shift to the right of signed numbers."""
    return (bits >> by) & (2 ** (64 - by) - 1)


def mixed(bits):
    bits = bits + signed(0x9E3779B97F4A7C15)
    bits = (bits ^ shifted(bits, 30)) * signed(0xBF58476D1CE4E5B9)
    bits = (bits ^ shifted(bits, 27)) * signed(0x94D049BB133111EB)
    return bits ^ shifted(bits, 31)


def uniform(bits):
    return (shifted(bits, 41) * 2 + 1 - 2**23).to(torch.float64) / 2**23


def random_matrix(n, norm, seed):
    """src/drivers/support/matrices.hpp, scaled to the 1-norm."""
    index = torch.arange(n, dtype=torch.int64, device=DEVICE)
    key = mixed(mixed(index + seed)[:, None] + index[None, :])
    A = torch.complex(uniform(key), uniform(mixed(key)))
    return A * (norm / A.abs().sum(dim=0).max().item())


def seconds_of(work):
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    result = work()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, result


class Torch:
    def __init__(self, arguments):
        self.A = random_matrix(arguments.size, arguments.norm, arguments.seed)
        self.times, self.times_product = [], []

    def run(self, runs):
        for i in range(runs + 1):
            seconds, _ = seconds_of(lambda: torch.linalg.matrix_exp(self.A))
            seconds_product, _ = seconds_of(lambda: self.A @ self.A)
            if i > 0:
                self.times.append(seconds)
                self.times_product.append(seconds_product)
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()  # Heddle's turn on this GPU


class Heddle:
    def __init__(self, arguments, ranks):
        self.arguments, self.ranks = arguments, ranks
        self.times, self.last = [], None

    def command(self, size, *more):
        a = self.arguments
        return [*shlex.split(a.mpirun), "-n", str(self.ranks), a.heddle, "expm", "--size", str(size), "--norm",
                str(a.norm), "--seed", str(a.seed), "--scalar", "complex-double", "--quiet", *map(str, more)]

    def run(self, runs):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            subprocess.run(self.command(self.arguments.size, "--repeat", runs + 1, "--json", path), check=True)
            with open(path, encoding="utf-8") as file:
                self.last = json.load(file)["results"]
        self.times += self.last["seconds_of_each"][1:]

    def difference(self, size):
        """Largest difference between the two exponentials of a smaller matrix, over the largest element."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "E.h5")
            subprocess.run(self.command(size, "--output", path), check=True)
            with h5py.File(path) as file:
                ours = torch.from_numpy(file["matrix"][:]).to(DEVICE)
        theirs = torch.linalg.matrix_exp(random_matrix(size, self.arguments.norm, self.arguments.seed))
        return ((ours - theirs).abs().max() / theirs.abs().max()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", metavar="FILE", help="the command")
    parser.add_argument("--mpirun", default="mpirun", metavar="COMMAND", help="with its options")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1], metavar="N", help="numbers of ranks to run with")
    parser.add_argument("--size", type=int, default=8192, metavar="N")
    parser.add_argument("--norm", type=float, default=10.0, metavar="X", help="1-norm of A")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="timed runs of each side in a round")
    parser.add_argument("--check-size", type=int, default=512, metavar="N", help="size at which results are compared")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    arguments = parser.parse_args()

    name = torch.cuda.get_device_name(DEVICE) if DEVICE.type == "cuda" else "CPU"
    print(f"torch {torch.__version__} on {name}, exp(A), n = {arguments.size}, complex double, norm {arguments.norm:g}")
    sides = [Heddle(arguments, ranks) for ranks in arguments.ranks] if arguments.heddle else []
    report = {"torch": torch.__version__, "device": name, "size": arguments.size, "norm": arguments.norm,
              "seed": arguments.seed, "heddle": []}
    good = True
    # Both are accurate to about the norm times the rounding errors of a product, each a few units of sqrt(n) u.
    bound = 100 * max(1.0, arguments.norm) * arguments.check_size**0.5 * 2.0**-53
    for side in sides:
        difference = side.difference(arguments.check_size)
        good = good and difference <= bound
        print(f"n = {arguments.check_size}, {side.ranks} ranks: largest difference {difference:.2e} of the largest "
              f"element, bound {bound:.2e}")
        report["heddle"].append({"ranks": side.ranks, "check_size": arguments.check_size, "difference": difference,
                                 "bound": bound})

    theirs = Torch(arguments)
    for _ in range(arguments.rounds):
        theirs.run(arguments.runs)
        for side in sides:
            side.run(arguments.runs)

    median = statistics.median(theirs.times)
    product = statistics.median(theirs.times_product)
    rate = 8 * arguments.size**3 / product / 1e9
    report["torch_seconds"] = {"median": median, "best": min(theirs.times), "each": theirs.times}
    report["torch_product_seconds"] = product
    print(f"{'':18} {'median s':>10} {'best s':>10} {'ratio':>7}")
    print(f"{'torch, one device':18} {median:10.4f} {min(theirs.times):10.4f}          "
          f"(as long as {median / product:.1f} complex products at {rate:.0f} GFLOP/s)")
    for side, entry in zip(sides, report["heddle"]):
        entry["seconds"] = {"median": statistics.median(side.times), "best": min(side.times), "each": side.times}
        entry["ratio"] = median / entry["seconds"]["median"]
        for key in ("degree", "squarings", "products", "gflops", "tile"):
            entry[key] = side.last[key]
        print(f"{f'Heddle, {side.ranks} ranks':18} {entry['seconds']['median']:10.4f} {min(side.times):10.4f} "
              f"{entry['ratio']:7.3f}  ({entry['products']} real products, {entry['gflops']:.0f} GFLOP/s)")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
