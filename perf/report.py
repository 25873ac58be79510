#!/usr/bin/env python3
"""Makes perf/RESULTS.md from the figures under perf/results/, adds figures to them, and checks both."""

import argparse
import sys
from pathlib import Path

from reporting import figures, google_benchmark, page, self_test, thresholds

HERE = Path(__file__).resolve().parent


def read(folder):
    return figures.Results(folder), thresholds.read_thresholds(Path(folder) / "thresholds.json")


def check(folder, document):
    """Return the problems of the figures in a folder and of the document made from them."""
    results, wanted = read(folder)
    found = thresholds.problems(results, wanted)
    text = page.document(results, wanted)
    if not Path(document).is_file() or Path(document).read_text(encoding="utf-8") != text:
        found.append(f"{Path(document).name} is not what the figures give: run perf/report.py")
    return found


def add(folder, machine, reports):
    """Write the figures of Google Benchmark reports into one file per machine, date and commit."""
    results, _ = read(folder)
    if machine not in results.machines:
        raise figures.DataError(f"machines.json has no {machine}: describe the machine there first")
    for report in reports:
        entry, warnings = google_benchmark.convert(report, machine, results)
        for warning in warnings:
            print(f"{Path(report).name}: {warning}", file=sys.stderr)
        if not entry["figures"]:
            print(f"{Path(report).name}: no figures", file=sys.stderr)
            continue
        path = Path(folder) / f"{machine}-{entry['date']}-{entry['commit'] or 'unknown'}.json"
        count = len(entry["figures"])
        figures.write_entry(path, figures.joined(path, entry))
        print(f"{Path(report).name}: {count} figures into {path.name}")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Without options it writes RESULTS.md. perf/results/README.md says what the files of figures hold.\n\n"
               "  B/perf/peers/perf_cublas --benchmark_out=cublas.json --benchmark_out_format=json\n"
               "  perf/report.py --add cublas.json --machine h200 && perf/report.py")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--add", nargs="+", metavar="FILE",
                      help="add what Google Benchmark wrote as JSON; needs --machine")
    what.add_argument("--check", action="store_true",
                      help="fail where RESULTS.md is not what the figures give, or where one misses its threshold and "
                           "thresholds.json does not say why")
    what.add_argument("--all", action="store_true", help="print every figure, also those that RESULTS.md leaves out")
    what.add_argument("--self-test", action="store_true", help="check that --check sees planted faults")
    parser.add_argument("--machine", metavar="ID", help="the machine of --add, as perf/results/machines.json names it")
    options = parser.parse_args()
    if bool(options.add) != bool(options.machine):
        parser.error("--add and --machine go together")
    return options


def main():
    options = arguments()
    folder, document = HERE / "results", HERE / "RESULTS.md"
    if options.self_test:
        return self_test.run(check, add)
    if options.add:
        add(folder, options.machine, options.add)
    elif options.check:
        found = check(folder, document)
        for line in found:
            print(line)
        print(f"report: {len(found)} problems")
        return 1 if found else 0
    elif options.all:
        print(page.document(*read(folder), details=True), end="")
    else:
        text = page.document(*read(folder))
        document.write_text(text, encoding="utf-8")
        for line in page.too_long(text):
            print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except figures.DataError as error:
        sys.exit(f"report.py: {error}")
