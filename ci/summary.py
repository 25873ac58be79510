#!/usr/bin/env python3
"""Says in a few lines what a report of heddle (--json FILE) holds: the results, and each check.

Exit code 1 where a check failed.
"""
import json
import sys


def text(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = ", ".join(text(x) for x in value[:6])
        return f"[{shown}{', ...' if len(value) > 6 else ''}]"
    return str(value)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: summary.py REPORT.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)

    print(f"{'computed':20} heddle {report['command']}")
    for name, value in report.get("results", {}).items():
        if not isinstance(value, dict):
            print(f"{name.replace('_', ' '):20} {text(value)}")
    for name, seconds in report.get("times", {}).items():
        if isinstance(seconds, (int, float)):
            print(f"{'time, ' + name.replace('_', ' '):20} {seconds:.3g} s")

    checks = report.get("checks", {})
    failed = [name for name, check in checks.items() if not check["passed"]]
    for name, check in checks.items():
        verdict = "passed" if check["passed"] else "FAILED"
        detail = ", ".join(f"{key} {text(check[key])}" for key in ("value", "bound") if check.get(key) is not None)
        print(f"{'check, ' + name.replace('_', ' '):20} {verdict}{f' ({detail})' if detail else ''}")
    if failed:
        print(f"{'checked':20} NO: {len(failed)} of {len(checks)} checks failed")
    elif checks:
        print(f"{'checked':20} yes: {len(checks)} of {len(checks)} checks passed")
    else:
        print(f"{'checked':20} no: the report holds no check")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
