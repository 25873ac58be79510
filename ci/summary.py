#!/usr/bin/env python3
"""Says in a few lines what a report of `heddle tdse --json FILE` holds, and whether it was checked.

Exit code 1 where a check failed.
"""
import json
import sys


def line(name, text):
    print(f"{name:10} {text}")


def number(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: summary.py REPORT.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)

    inputs, results, times = report["inputs"], report["results"], report["times"]
    line("computed", f"an electron in a {inputs['potential']} potential, nuclei: {inputs['motion']}; "
         f"{inputs['points']} points, {results['steps']} steps to t = {results['time']:.4g}, {inputs['ranks']} ranks")
    line("result", f"energy {results['energy']:.6f}, norm 1 {results['norm_error']:+.1e}, {results['nodes']} nodes")
    populations = [f"{100 * p:.1f} % in {k}" for k, p in enumerate(results.get("populations", [])) if p > 1e-3]
    if populations:
        line("states", ", ".join(populations))
    products = results.get("gemm_share", 0)
    share = f", {100 * products:.0f} % of it in matrix products" if products else ""
    line("time", f"{times['total']:.1f} s{share}")
    checks = report.get("checks", {})
    failed = [name for name, check in checks.items() if not check["passed"]]
    for name, check in checks.items():
        verdict = "passed" if check["passed"] else "FAILED"
        detail = ", ".join(f"{key} {number(check[key])}" for key in ("value", "bound") if check.get(key) is not None)
        line("check", f"{name.replace('_', ' ')}: {verdict}{f' ({detail})' if detail else ''}")
    if failed:
        line("checked", f"NO: {len(failed)} of {len(checks)} checks failed")
    elif checks:
        line("checked", f"yes: {len(checks)} of {len(checks)} passed")
    else:
        line("checked", "no: the report holds no check")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
