#!/usr/bin/env python3
"""Finds classes that two files define by one name, of which a linker keeps either's functions.

    ci/lints/definitions.py [ROOT]        looks at the headers and sources under ROOT, by default this repository
    ci/lints/definitions.py --self-test   checks that planted ones are found, and others let through

Classes of unnamed namespaces, of classes and of functions, specialisations and declarations are no such definitions.
"""
import re
import sys
import tempfile
from pathlib import Path

import command

IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
TOKEN = re.compile(r"\bnamespace\s+(?P<space>[\w:]*)\s*\{"
                   r"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?(?:\[\[\w+\]\]\s*)?(?P<name>\w+)"
                   r"(?:\s+final)?\s*(?::(?!:)[^;{()]*)?\{"
                   r"|[{}]")


def defined(text):
    """Return the qualified names of the classes that a source defines in named namespaces."""
    found = set()
    around = []  # of each open brace, the namespace's name, or None
    for token in TOKEN.finditer(IGNORED.sub(" ", text)):
        if token[0] == "}":
            if around:
                around.pop()
            continue
        if token["name"] and all(around):
            found.add("::".join([*around, token["name"]]))
        around.append(token["space"] or None)
    return found


def check(root):
    """Return the classes of several files, and the number of all."""
    places = {}
    for folder, kinds in (("include", "[hc]pp"), ("src", "[hc]pp"), ("python", "[hc]pp"), ("perf", "[hc]pp"), ("tests", "hpp")):
        for path in sorted((Path(root) / folder).rglob(f"*.{kinds}")):
            for name in defined(path.read_text(encoding="utf-8")):
                places.setdefault(name, []).append(str(path.relative_to(root)))
    findings = [f"{name} is defined in {' and '.join(files)}" for name, files in sorted(places.items()) if len(files) > 1]
    return findings, len(places)


def lint(root):
    findings, count = check(root)
    return findings, f"definitions: {count} classes, {len(findings)} of them defined more than once"


def self_test():
    header = "namespace heddle::impl {\nstruct Run {\n  int begin;\n};\n}\n"
    cases = [("namespace heddle {\nnamespace impl {\nclass alignas(4) Run final : public Base<int> {};\n}\n}\n", 1),
             ("namespace heddle::impl {\nnamespace {\nstruct Run {};\n}\n}\n", 0),
             ("namespace heddle::impl {\nstruct Run;\nclass Other { struct Run { int a; }; };\n}\n", 0),
             ("namespace heddle::impl {\nstruct Other::Run {};\ntemplate <> struct Run<int> {};\n}\n", 0),
             ("namespace heddle::impl {\ninline void f() {\n  struct Run {};\n}\n// struct Run {\n}\n", 0),
             ("namespace heddle::impl {\nchar open = '{';\nconst char* text = \"}\";\nenum class Run { a };\n}\n", 1),
             ("namespace heddle::other {\nstruct Run {};\n}\n", 0)]
    wrong = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            for name, content in (("include/a.hpp", header), ("src/b.cpp", text)):
                path = Path(root, name)
                path.parent.mkdir(parents=True)
                path.write_text(content, encoding="utf-8")
            if len(check(root)[0]) != expected:
                print(f"definitions --self-test: expected {expected} in\n{text}", file=sys.stderr)
                wrong += 1
    print(f"definitions --self-test: {len(cases)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(command.run(__doc__, self_test, lint))
