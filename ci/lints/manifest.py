#!/usr/bin/env python3
"""The stored hashes of `heddle verify --manifest`: src/drivers/manifest/expected.inc.

    heddle verify --manifest --json REPORT
    ci/lints/manifest.py REPORT [COMMIT]    stores the hashes of this report. A result whose bits are others than at COMMIT
                                            (HEAD) gets the next version, a new one version 1.
    ci/lints/manifest.py --check [COMMIT]   fails where a row's hash is another one than at COMMIT (the commit before HEAD,
                                            and HEAD), but its version is not, and where CHANGELOG.md has no line with
                                            "manifest: NAME, version N" for a version above 1.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = "src/drivers/manifest/expected.inc"
ROW = re.compile(r'^\{"([^"]+)", (\d+), "([0-9a-f]{64})"\},$')


def rows_of(text, source):
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = ROW.match(line)
        if not match or match[1] in rows:
            sys.exit(f"{source}:{number}: expected a row {{\"NAME\", VERSION, \"SHA256\"}}, of a name that no other row has")
        rows[match[1]] = (int(match[2]), match[3])
    return rows


def rows_at(commit):
    shown = subprocess.run(["git", "show", f"{commit}:{FILE}"], cwd=ROOT, capture_output=True, text=True, check=False)
    return rows_of(shown.stdout, commit) if shown.returncode == 0 else {}


def faults(now, earlier, changes):
    """Yield the faults of the rows `now`, given those of earlier commits and the text of the changelog."""
    for commit, rows in earlier.items():
        for name, (version, digest) in rows.items():
            if name in now and now[name][0] == version and now[name][1] != digest:
                yield f"{name}: other bits than at {commit}, and still version {version}"
            if name in now and now[name][0] < version:
                yield f"{name}: version {now[name][0]} after version {version}"
    for name, (version, _) in now.items():
        if version > 1 and f"manifest: {name}, version {version}" not in changes:
            yield f"{name}: CHANGELOG.md has no line with 'manifest: {name}, version {version}'"


def check(commits):
    now = rows_of((ROOT / FILE).read_text(), FILE)
    found = list(faults(now, {commit: rows_at(commit) for commit in commits}, (ROOT / "CHANGELOG.md").read_text()))
    for fault in found:
        print(f"{FILE}: {fault}", file=sys.stderr)
    return 1 if found else 0


def self_test():
    earlier = {"HEAD": {"a": (1, "x"), "b": (2, "y")}}
    said = "manifest: b, version 2"
    assert not list(faults({"a": (1, "x"), "b": (2, "y"), "c": (1, "z")}, earlier, said))
    assert len(list(faults({"a": (1, "other"), "b": (2, "y")}, earlier, said))) == 1
    assert len(list(faults({"a": (2, "other"), "b": (2, "y")}, earlier, said))) == 1
    assert len(list(faults({"a": (1, "x"), "b": (1, "y")}, earlier, said))) == 1
    return 0


def store(report, commit):
    before = rows_at(commit)
    lines = []
    for row in json.loads(pathlib.Path(report).read_text())["results"]["manifest"]:
        version, digest = before.get(row["name"], (0, ""))
        lines.append(f'{{"{row["name"]}", {version + (digest != row["sha256"])}, "{row["sha256"]}"}},\n')
    (ROOT / FILE).write_text("".join(lines))
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        sys.exit(__doc__)
    if words[0] == "--self-test":
        sys.exit(self_test())
    if words[0] == "--check":
        sys.exit(check(words[1:] or ["HEAD~1", "HEAD"]))
    sys.exit(store(words[0], words[1] if len(words) > 1 else "HEAD"))
