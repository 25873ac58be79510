#!/usr/bin/env python3
"""Finds folders with too many files, and sources with too many lines: those want to be two.

Every file in a folder counts, data and pages too, and none of the folders below. Lines are counted in C++, in Python, and
in scripts of Python without an ending. Functions and their parameters are clang-tidy's to count.

    ci/lints/sizes.py [ROOT]        looks at the repository at ROOT
    ci/lints/sizes.py --self-test   checks that planted ones are found, and others let through
"""
import collections
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

import command

MOST_FILES = 25
MOST_LINES = 450
SOURCES = {".cpp", ".hpp", ".h", ".py", ".pyi"}
# Folders that may hold any number of files, each with the reason why.
LEFT_OUT = {
    "docs/pictures": "one picture for each path through the code, found by the page that shows it",
    "docs/site/pictures": "one picture for each plot, found by the page that shows it",
    "perf/results": "one file for each machine and month, read by perf/report.py alone",
}


def files_of(root):
    """Return the names of the files that git has, or would have if they were added."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout.decode()
    return sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file())


def is_source(path):
    """Return whether a file is C++ or Python."""
    if path.suffix or path.is_symlink():
        return path.suffix in SOURCES and not path.is_symlink()
    with path.open("rb") as file:
        first = file.readline()
    return first.startswith(b"#!") and b"python" in first


def check(root, left_out):
    """Return the findings, and the numbers of folders and of sources."""
    files = files_of(root)
    folders = collections.Counter(str(PurePosixPath(name).parent) for name in files)
    findings = [f"{folder}: {count} files; expected at most {MOST_FILES}" for folder, count in sorted(folders.items())
                if count > MOST_FILES and folder not in left_out]
    findings += [f"ci/lints/sizes.py: LEFT_OUT names {folder}, which is gone" for folder in left_out if folder not in folders]
    sources = [name for name in files if is_source(root / name)]
    for name in sources:
        lines = (root / name).read_bytes().count(b"\n")
        if lines > MOST_LINES:
            findings.append(f"{name}: {lines} lines; expected at most {MOST_LINES}")
    return findings, len(folders), len(sources)


def self_test():
    """Compare what is found in small repositories with what was planted there."""
    script = "#!/usr/bin/env python3\n"
    full = {f"folder/part_{number}": "" for number in range(MOST_FILES)}
    cases = [({}, []),
             (full, []),
             ({**full, "folder/below/part": ""}, []),
             ({**full, "folder/more.png": ""}, ["folder"]),
             ({f"{number}.msh": "" for number in range(MOST_FILES - 1)}, []),  # and .gitignore
             ({f"{number}.msh": "" for number in range(MOST_FILES)}, ["."]),
             ({**{f"pictures/{number}.png": "" for number in range(MOST_FILES)}, "pictures/more.png": ""}, []),
             ({**full, "folder/built.ignored": ""}, [])]
    for name, first in (("a.cpp", ""), ("a.hpp", ""), ("a.h", ""), ("a.py", ""), ("a.pyi", ""), ("a", script)):
        cases += [({name: first + "x\n" * (MOST_LINES - len(first.splitlines()))}, []),
                  ({name: first + "x\n" * (MOST_LINES + 1 - len(first.splitlines()))}, [name])]
    cases += [({name: first + "x\n" * 2 * MOST_LINES}, []) for name, first in (("a.md", ""), ("a", "#!/bin/bash\n"))]
    wrong = []
    for files, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            for name, text in {"pictures/0.png": "", ".gitignore": "*.ignored\n", **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = [finding.partition(":")[0] for finding in check(root, {"pictures": "a reason"})[0]]
            if found != expected:
                wrong.append(f"found {found}; expected {expected}")
            if len(check(root, {"pictures": "", "gone": "a reason"})[0]) != len(expected) + 1:
                wrong.append("a folder that is gone was let through in LEFT_OUT")
    for line in wrong:
        print(line)
    print(f"sizes --self-test: {len(cases)} cases, {len(wrong)} wrong")
    return bool(wrong)


def lint(root):
    findings, folders, sources = check(root, LEFT_OUT)
    return findings, f"sizes: {folders} folders, {sources} sources, {len(findings)} findings"


if __name__ == "__main__":
    sys.exit(command.run(__doc__, self_test, lint))
