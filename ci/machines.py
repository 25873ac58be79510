#!/usr/bin/env python3
"""Writes the table of machines in docs/site/bits.md from what `heddle verify --manifest --python` printed on each.

    heddle verify --manifest --python >x86-64.txt
    ci/other-machine aarch64 >aarch64.txt
    ci/other-machine aarch64 heddle run --libm python3 src/drivers/manifest/python_results.py >>aarch64.txt
    ci/machines.py x86-64.txt aarch64.txt ...     the columns, by the files' names
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/site/bits.md"
BEGIN, END = "<!-- table of machines, by ci/machines.py -->\n", "<!-- end of the table -->\n"
ROW = re.compile(r"^([0-9a-f]{16})  (.*?)(?:  (?:differs|not stored).*)?$")


def results_of(path):
    rows = {}
    for line in path.read_text().splitlines():
        match = ROW.match(line)
        if match:
            rows[match[2]] = match[1]
    if not rows:
        sys.exit(f"{path}: no line with 16 digits, two spaces and the name of a result")
    return rows


def table(machines):
    first = next(iter(machines.values()))
    lines = ["| result | SHA-256 begins | " + " | ".join(machines) + " |", "|---|---|" + "---|" * len(machines)]
    different = 0
    for name, digest in first.items():
        cells = []
        for rows in machines.values():
            cells.append("not run" if name not in rows else "same" if rows[name] == digest else rows[name])
        different += sum(cell not in ("same", "not run") for cell in cells)
        lines.append(f"| {name} | `{digest}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n", different


def main():
    paths = [pathlib.Path(word) for word in sys.argv[1:]]
    if not paths or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    text, different = table({path.stem: results_of(path) for path in paths})
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])
    print(f"{PAGE.relative_to(ROOT)}: {len(text.splitlines()) - 2} results, {len(paths)} machines, {different} with other bits")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
