#!/usr/bin/env python3
"""Finds sentences that begin with a relative clause without its noun, and sources without a first sentence.

A sentence of a comment, a docstring or a page begins with its subject, or with "If", "With", "On" and the like, and not
with "Of", "What", "Where", "Who", "Whose", "In which", "To which", "By which" or "For which". Every .cpp opens with a comment
that says what is in the file.

    ci/lints/words.py [ROOT]        looks at the repository at ROOT
    ci/lints/words.py --self-test   checks that planted mistakes are found, and right sentences let through
"""
import ast
import re
import subprocess
import sys
from pathlib import Path

import links

OPENING = re.compile(r"(?:^\s*|[.;]\s+|\n\s*\n\s*)((?:Of|What|Where|Who|Whose|In which|To which|By which|For which)\s[^.\n]{0,60})")
CPP = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
# Pages that are written by programs.
LEFT_OUT = re.compile(r"^(docs/site/(commands|deck-keys)\.md|perf/RESULTS\.md)$")


def blocks(lines, pattern):
    """Comments of consecutive lines, each with the number of its first line."""
    first, words = 0, []
    for number, line in enumerate([*lines, ""], 1):
        found = pattern(line)
        if found is not None:
            first = first if words else number
            words.append(found.strip())
        elif words:
            yield first, " ".join(words)
            words = []


def comment_of_cpp(line):
    found = re.match(r"\s*///?<? ?(.*)", line) or re.search(r"[;,{] ///?<? (.*)$", line)
    return found and found[1]


def comment_of_script(line):
    found = re.match(r"\s*# ?(?!!)(.*)", line) or re.search(r"\S\s+# (.*)$", line)
    return found and found[1]


def texts_of(name, text):
    """The texts of a file that people read, each with the number of its line."""
    path = Path(name)
    if path.suffix in CPP:
        yield from blocks(text.splitlines(), comment_of_cpp)
    elif path.suffix == ".md":
        yield 1, links.FENCE.sub(links.blank, text)
    elif path.suffix in {".py", ".pyi"}:
        for node in ast.walk(ast.parse(text)):
            body = getattr(node, "body", None)
            for inner in body if isinstance(body, list) else []:
                if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant) and isinstance(inner.value.value, str):
                    yield inner.lineno, inner.value.value
        yield from blocks(text.splitlines(), comment_of_script)
    elif path.suffix in {".sh", ".cmake"} or path.name == "CMakeLists.txt" or text.startswith("#!"):
        yield from blocks(text.splitlines(), comment_of_script)


def findings(name, text):
    if name.endswith(".cpp") and not re.match(r"\s*//", text):
        yield f"{name}:1: no first sentence: a comment says what is in the file"
    for line, words in texts_of(name, text):
        for match in OPENING.finditer(words):
            number = line + words.count("\n", 0, match.start(1))
            yield f"{name}:{number}: begins with a relative clause: \"{match[1].strip()}\""


def self_test():
    cases = [("a.cpp", "// Solves systems.\n#include <a>\n// Of rows the first.\n", 1),
             ("a.cpp", "#include <a>\n", 1),
             ("a.cpp", "// Solves systems. What is left is\n// the rest.\nint a; ///< Where it lies.\n", 2),
             ("a.hpp", "/// Rows of a tile, of which the first is whole.\nint a;\n", 0),
             ("a.hpp", 'auto text = "Of rows. What else";\n', 0),
             ("a.py", '"""Sums.\n\nWhat it takes.\n"""\nx = 1  #' " Where y is.\n", 2),
             ("a.py", '"""Sums whatever it gets."""\n', 0),
             ("a.md", "# Head\n\nText. Who reads it.\n\n```sh\n# What\n```\n", 1),
             ("CMakeLists.txt", "# Where it is\nset(a b)\n", 1)]
    wrong = sum(len(list(findings(name, text))) != expected for name, text, expected in cases)
    print(f"words --self-test: {len(cases)} cases, {wrong} wrong")
    return wrong


def main(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    found = []
    for name in names:
        path = Path(root, name)
        if not name or LEFT_OUT.match(name) or not path.is_file() or path.is_symlink():
            continue
        if path.suffix in CPP | {".md", ".py", ".pyi", ".sh", ".cmake"} or path.name == "CMakeLists.txt" or "." not in path.name:
            try:
                found += findings(name, path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                continue
    for line in found:
        print(line)
    print(f"words: {len(found)} findings")
    return bool(found)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(bool(self_test()))
    sys.exit(main(sys.argv[1] if sys.argv[1:] else str(Path(__file__).resolve().parents[2])))
