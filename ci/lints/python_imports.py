#!/usr/bin/env python3
"""Finds modules of a Python package that import each other in a circle, imports within functions included.

    ci/lints/python_imports.py [FOLDER]       looks at the package in FOLDER, python/heddle by default
    ci/lints/python_imports.py --self-test    checks that planted ones are found, and others let through
"""
import ast
import graphlib
import sys
import tempfile
from pathlib import Path


def imported(source, modules):
    """The modules of the package that a source imports; `from . import name` is of a module where there is one."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
            found.update(name for name in names if name in modules)
    return found


def circle(folder):
    """The names of modules in a circle, the first once more at the end; nothing if there is no circle."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.py")}
    try:
        graphlib.TopologicalSorter({name: imported(text, sources) for name, text in sources.items()}).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def self_test():
    cases = [({"a": "from .b import x", "b": "import numpy"}, False),
             ({"a": "from .b import x", "b": "def f():\n    from .a import y"}, True),
             ({"a": "from . import b", "b": "from . import c", "c": "from .a import f"}, True),
             ({"a": "from . import b, _core", "b": "from . import _core"}, False),
             ({"a": "from b import x", "b": "from .a import x"}, False)]
    wrong = 0
    for files, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name + ".py").write_text(text, encoding="utf-8")
            wrong += bool(circle(folder)) != expected
    print(f"python_imports --self-test: {len(cases)} cases, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(bool(self_test()))
    FOUND = circle(sys.argv[1] if sys.argv[1:] else Path(__file__).resolve().parents[2] / "python" / "heddle")
    print("python_imports: " + (" -> ".join(FOUND) if FOUND else "no circle"))
    sys.exit(bool(FOUND))
