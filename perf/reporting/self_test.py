"""Checks that perf/report.py detects planted faults."""

import contextlib
import copy
import io
import json
import tempfile
from pathlib import Path

from reporting import figures, page, thresholds

MACHINES = {"small": {"name": "Small", "description": "a machine.", "cores": 2, "software": {"System": "1"}}}
MODULES = [{"id": "gemm", "about": "Products.", "notes": "notes.md"}]
FIGURE = {"module": "gemm", "operation": "product", "peer": "Other", "quantity": "speed", "unit": "TFLOP/s",
          "case": {"GPUs": 2}, "over": "n", "values": {"10": 1.5, "20": [0.8, 0.9]}, "ours": {"10": 3},
          "joules": {"10": 7, "20": 30}, "joules_theirs": {"10": 9}, "command": "run",
          "benchmark": "perf_other:gemm/n:{}/ranks:2"}
SLOW = {"module": "gemm", "operation": "slow product", "quantity": "time", "unit": "ms", "over": "n",
        "values": {"30": 0.6}, "command": "run", "benchmark": "perf_other:gemm/slow/n:{}/ranks:2"}
ENTRY = {"machine": "small", "commit": None, "date": "2026-01", "figures": [FIGURE, SLOW]}
THRESHOLDS = [{"where": {"module": "gemm", "case": {"GPUs": 2}}, "at_least": 1, "known_short": {"20": "notes.md"}}]
REPORT = {
    "context": {"date": "2026-02-03T04:05:06+00:00", "host_name": "secret", "executable": "/a/perf_other", "git": "abc",
                "ranks": "2", "kokkos": "  Kokkos Version: 5.0.0\n"},
    "benchmarks": [
        {"name": "gemm/n:10/manual_time", "real_time": 1, "ratio": 2.0, "gflops_a": 2000.0, "gflops_heddle": 4000.0,
         "joules": 6.25, "joules_a": 11.5},
        {"name": "gemm/n:20/manual_time", "real_time": 1, "error_occurred": True, "error_message": "wrong"},
        {"name": "gemm/n:20/manual_time_mean", "run_type": "aggregate", "real_time": 1, "ratio": 9.0},
        {"name": "gemm/other/n:30/manual_time", "real_time": 1, "time_unit": "ms"},
        {"name": "gemm/slow/n:30/manual_time", "real_time": 500, "time_unit": "us"}]}


def changed(entry, **fields):
    """A copy of an entry whose first figure has other fields; None takes one away."""
    entry = copy.deepcopy(entry)
    figure = entry["figures"][0]
    figure.update(fields)
    entry["figures"][0] = {name: value for name, value in figure.items() if value is not None}
    return entry


FAULTS = {  # what is planted: (file, its content, or the text that takes the place of it)
    "a number too small": ("a.json", changed(ENTRY, values={"10": 0.99, "20": 0.8})),
    "one run of two too small": ("a.json", changed(ENTRY, values={"10": [1.5, 0.99], "20": 0.8})),
    "another case": ("a.json", changed(ENTRY, case={"GPUs": 3})),
    "a new value": ("a.json", changed(ENTRY, values={"10": 1.6, "20": 0.8})),
    "a machine that nobody described": ("a.json", ENTRY | {"machine": "large"}),
    "no date": ("a.json", ENTRY | {"date": ""}),
    "no such module": ("a.json", changed(ENTRY, module="expm")),
    "no such quantity": ("a.json", changed(ENTRY, quantity="beauty")),
    "no command": ("a.json", changed(ENTRY, command=None)),
    "an unknown field": ("a.json", changed(ENTRY, ratios={"10": 1})),
    "a value that is no number": ("a.json", changed(ENTRY, values={"10": "fast", "20": 0.8})),
    "no runs": ("a.json", changed(ENTRY, values={"10": [], "20": 0.8})),
    "a rate of no column": ("a.json", changed(ENTRY, ours={"30": 1})),
    "an energy of no column": ("a.json", changed(ENTRY, joules={"30": 1})),
    "an energy that is no number": ("a.json", changed(ENTRY, joules={"10": "little"})),
    "half a file": ("a.json", '{"machine": "small", '),
    "a threshold without a reason": ("thresholds.json", [{"where": {"operation": "product"}, "at_least": 1}]),
    "a bound above all": ("thresholds.json", [THRESHOLDS[0] | {"at_least": 2}]),
    "a bound below": ("thresholds.json", [{"where": {"operation": "product"}, "at_most": 1}]),
    "a threshold of no figure": ("thresholds.json", THRESHOLDS + [{"where": {"module": "expm"}, "at_least": 1}]),
    "a threshold of no column": ("thresholds.json", [{"where": {"operation": "product"}, "at_least": {"40": 1}}]),
    "a reason for no column": ("thresholds.json", [THRESHOLDS[0] | {"known_short": {"20": "a.md", "40": "a.md"}}]),
    "a threshold without a bound": ("thresholds.json", [{"where": {"module": "gemm"}}]),
    "a threshold of everything": ("thresholds.json", [{"where": {}, "at_least": 1}]),
    "a page by hand": ("../RESULTS.md", "# What was measured\n"),
}


OF_PAGE = {"a new value", "a page by hand"}


def write(folder, name, content):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")


def prepare(folder):
    """Right data, and the page made of them."""
    for name, content in (("machines.json", MACHINES), ("modules.json", MODULES), ("thresholds.json", THRESHOLDS),
                          ("a.json", ENTRY)):
        write(folder, name, content)
    text = page.document(figures.Results(folder), thresholds.read_thresholds(folder / "thresholds.json"))
    write(folder, "../RESULTS.md", text)
    return text


def found(check, folder):
    try:
        return check(folder, folder.parent / "RESULTS.md")
    except figures.DataError as error:
        return [str(error)]


def wrong_of_adding(add, folder):
    """Return the errors of the figures made from a report of Google Benchmark."""
    write(folder, "../report.json", REPORT)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        add(folder, "small", [folder.parent / "report.json"])
    written = (folder / "small-2026-02-03-abc.json").read_text(encoding="utf-8")
    known, new, slow = json.loads(written)["figures"]
    cells = figures.Results(folder).series[0].cells
    expected = {
        "words of the known figure": known["operation"] == "product" and known["peer"] == "Other",
        "ratio and rates, in its unit": [known[name]["10"] for name in ("values", "ours", "theirs")] == [2.0, 4.0, 2.0],
        "energies of both": [known[name]["10"] for name in ("joules", "joules_theirs")] == [6.25, 11.5],
        "no energy where none was counted": "joules" not in new and "joules" not in slow,
        "failed benchmarks left out": "20" not in known["values"] and "wrong" in said.getvalue(),
        "new benchmarks are details": new["detail"] and new["values"] == {"30": 1.0} and "new" in said.getvalue(),
        "times in the known unit": slow["values"] == {"30": 0.5},
        "no name of the host": "secret" not in written,
        "the newer value counts, the older column stays": cells["10"].runs == [2.0] and cells["20"].date == "2026-01",
    }
    return [f"adding: not so: {name}" for name, holds in expected.items() if not holds]


def run(check, add):
    """Right data, then one fault at a time; 1 where a fault passes or right data do not."""
    wrong = []
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "results"
        folder.mkdir()
        text = prepare(folder)
        wrong += [f"refused: {line}" for line in found(check, folder)]
        if "| joules a run |" not in text or "| 10: 7 (9), 20: 30 |" not in text:
            wrong.append("the page does not show energies")
        if "misses 1" not in text or "0.8 to 0.9" not in text or "1.5 (3)" not in text:
            wrong.append("the page does not show what the figures say")
        for name, (file, content) in FAULTS.items():
            write(folder, file, content)
            seen = found(check, folder)
            # Every fault also changes the page: what tells it apart has to be said too.
            if not any(("is not what the figures give" in line) == (name in OF_PAGE) for line in seen):
                wrong.append(f"let through: {name}")
            prepare(folder)
        wrong += wrong_of_adding(add, folder)
    for line in wrong:
        print(line)
    print(f"report --self-test: {len(FAULTS) + 3} cases, {len(wrong)} wrong")
    return 1 if wrong else 0
