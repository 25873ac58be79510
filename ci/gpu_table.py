#!/usr/bin/env python3
"""The short table that ci/gpu prints last, from the folder that holds its logs and the benchmarks' JSON."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "perf"))

from reporting import google_benchmark  # noqa: E402
from reporting.figures import DataError  # noqa: E402


def suite_line(log):
    """'52 of 52 tests passed' of a CTest log, or None."""
    match = re.search(r"(\d+)% tests passed, (\d+) tests? failed out of (\d+)", log.read_text(errors="replace"))
    return f"{int(match[3]) - int(match[2])} of {match[3]} tests passed" if match else None


def rows(results):
    """(benchmark, ranks, ours in TFLOP/s, theirs, peer, ratio, error) of every benchmark that compared two."""
    for path in sorted(results.glob("*-[0-9]*.json")):
        peer, ranks = path.stem.rsplit("-", 1)
        try:
            _, benchmarks = google_benchmark.read(path)
        except DataError as error:
            print(error)
            continue
        for benchmark in benchmarks:
            rates = benchmark.ours_and_theirs()
            if benchmark.error or rates:
                _, ours, theirs = rates or ("", None, None)
                yield benchmark.name, ranks, ours, theirs, peer, benchmark.ratio, benchmark.error


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: gpu_table.py RESULTS")
    results = Path(sys.argv[1])
    for name in ("suite", "shared"):
        log = results / f"{name}.log"
        if log.is_file() and (line := suite_line(log)):
            print(f"{name:8} {line}")
    head = False
    for name, ranks, ours, theirs, peer, ratio, error in rows(results):
        if not head:
            print(f"{'benchmark':44} {'ranks':>5} {'TFLOP/s':>9} {'peer':>9} {'':9} {'ratio':>6}")
            head = True
        if error:
            print(f"{name:44} {ranks:>5} failed: {error}")
            continue
        number = [f"{value / 1e3:9.1f}" if value is not None else " " * 9 for value in (ours, theirs)]
        print(f"{name:44} {ranks:>5} {number[0]} {number[1]} {peer:9} {ratio:6.3f}")


if __name__ == "__main__":
    main()
