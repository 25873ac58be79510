#!/usr/bin/env python3
"""The table that ci/gpu prints last, from the folder that holds CTest's results and the benchmarks' JSON.

    ci/tables/gpu_table.py RESULTS             RESULTS/*.xml are CTest's, RESULTS/left_out.txt says what was not run, a line each
    ci/tables/gpu_table.py RESULTS memcheck    of RESULTS/memcheck.xml alone
    ci/tables/gpu_table.py --self-test         checks that a planted failure and planted skips are shown
"""
import collections
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "perf"))

from reporting import google_benchmark  # noqa: E402
from reporting.figures import DataError  # noqa: E402


# Output of GoogleTest, Python's unittest and pytest for a skipped test.
SKIPPED = re.compile(r": Skipped\n(.*?)\n+\S*\[  SKIPPED \]|\.\.\. skipped ['\"](.*?)['\"]$|^SKIPPED \[(\d+)\] \S+ (.*?)$",
                     re.DOTALL | re.MULTILINE)


def entries(text):
    """(name, passed, seconds, reasons of skipped tests) of each entry that CTest ran, from its XML."""
    for case in ElementTree.fromstring(text).iter("testcase"):
        output = case.findtext("system-out") or ""
        reasons = [" ".join((ours + unittest + pytest).split()) for ours, unittest, count, pytest in SKIPPED.findall(output)
                   for _ in range(int(count or 1))]
        yield case.get("name"), case.get("status") == "run", float(case.get("time")), reasons


def suite_lines(name, text):
    """Return the numbers of entries run, passed and failed, the skipped tests with reasons, and the slowest ones."""
    found = list(entries(text))
    failed = [entry for entry, passed, _, _ in found if not passed]
    yield f"{name:8} {len(found)} entries, {len(found) - len(failed)} passed, {sum(seconds for _, _, seconds, _ in found):.0f} s of tests"
    if failed:
        yield f"  failed   {' '.join(failed)}"
    reasons = collections.Counter(reason for _, _, _, skipped in found for reason in skipped)
    for reason, count in reasons.most_common():
        yield f"  skipped  {count:4} {reason}"
    for entry, _, seconds, _ in sorted(found, key=lambda one: -one[2])[:5]:
        yield f"  longest  {seconds:4.0f} s {entry}"


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


def self_test():
    text = """<testsuite>
<testcase name="gemm" time="2.5" status="run"><system-out>[ RUN      ] A.b
a.cpp:7: Skipped
of one
rank

[  SKIPPED ] A.b (0 ms)</system-out></testcase>
<testcase name="plot" time="1" status="fail"><system-out>test_a (B.test_a) ... skipped 'no zsh'
test_b (B.test_b) ... ok</system-out></testcase>
<testcase name="python_gpu" time="1" status="run"><system-out>..s
SKIPPED [2] python/tests/test_gpu.py:342: one GPU</system-out></testcase></testsuite>"""
    lines = list(suite_lines("suite", text))
    assert lines[:5] == ["suite    3 entries, 2 passed, 4 s of tests", "  failed   plot", "  skipped     2 one GPU",
                         "  skipped     1 of one rank", "  skipped     1 no zsh"], lines


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    results = Path(sys.argv[1])
    for name in sys.argv[2:] or ("suite", "timed", "shared"):
        if (path := results / f"{name}.xml").is_file():
            print("\n".join(suite_lines(name, path.read_text(errors="replace"))))
    if len(sys.argv) == 3:
        return
    if (left_out := results / "left_out.txt").is_file():
        print(left_out.read_text().rstrip())
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
