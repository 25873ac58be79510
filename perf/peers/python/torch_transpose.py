#!/usr/bin/env python3
"""torch's A.t().contiguous() beside heddle::transpose(), in turn, double, on the GPU (or the CPU) at hand.

    perf/peers/python/torch_transpose.py --perf B/perf/transpose/perf_transpose [--shape 8192x8192 ...] [--rounds 3] [--json FILE]

Rates are bytes read and written over seconds, medians of the runs; each round runs both sides. The ratio is Heddle's
rate over torch's, the median over the rounds. Exit status: 0 done and checked, 1 a wrong transpose, 3 no torch.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError as error:
    print(f"torch_transpose: {error}", file=sys.stderr)
    sys.exit(3)

DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
RUNS = 9
# In a row, as the benchmark does: one alone is as short as the way to the GPU and back.
TIMES = 10 if DEVICE.type == "cuda" else 1


def synchronize():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def torch_rate(rows, columns):
    """GB/s of a row-major matrix's transpose, and of a copy."""
    A = torch.rand((rows, columns), dtype=torch.float64, device=DEVICE)
    B = torch.empty((columns, rows), dtype=torch.float64, device=DEVICE)
    C = torch.empty_like(A)
    rates = []
    for work in (lambda: B.copy_(A.t()), lambda: C.copy_(A)):
        seconds = []
        for run in range(RUNS + 1):
            synchronize()
            start = time.perf_counter()
            for _ in range(TIMES):
                work()
            synchronize()
            seconds.append((time.perf_counter() - start) / TIMES)
        rates.append(16e-9 * rows * columns / statistics.median(seconds[1:]))
    if not torch.equal(B.t(), A):
        print("torch_transpose: torch's is not the transpose", file=sys.stderr)
        sys.exit(1)
    return rates


def heddle_rate(program, shape):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, f"--benchmark_filter=/automatic/{shape}/", f"--benchmark_out={out.name}",
                   "--benchmark_out_format=json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
            sys.exit(1)
        return json.load(out)["benchmarks"][0]["gbytes_transpose"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--perf", required=True, metavar="PROGRAM", help="perf_transpose")
    parser.add_argument("--shape", nargs="+", default=["8192x8192", "8191x8193"], metavar="MxN")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    figures = []
    for shape in options.shape:
        rows, columns = (int(extent) for extent in shape.split("x"))
        rounds = []
        for _ in range(options.rounds):
            theirs, copy = torch_rate(rows, columns)
            rounds.append((heddle_rate(options.perf, shape), theirs, copy))
            if DEVICE.type == "cuda":
                torch.cuda.empty_cache()
        ours, theirs, copy = (statistics.median(column) for column in zip(*rounds))
        ratio = statistics.median(r[0] / r[1] for r in rounds)
        figures.append({"shape": shape, "heddle": ours, "torch": theirs, "torch_copy": copy, "ratio": ratio})
        print(f"{shape}: heddle {ours:.0f} GB/s, torch {theirs:.0f} GB/s (its copy {copy:.0f}), ratio {ratio:.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
