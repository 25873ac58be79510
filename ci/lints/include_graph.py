#!/usr/bin/env python3
"""The dependency lint: reads every #include of the sources and refuses any that docs/architecture.md and docs/rooms.md
do not allow, folders that have no line on these pages, files and steps of paths that a document for developers names and
that are gone, options of rounding outside the files that decide it, elementary functions of the C library's where bits
are promised, and calls of MPI outside src/comm and what begins, ends and describes a job.

    ci/lints/include_graph.py [ROOT]         checks the repository at ROOT
    ci/lints/include_graph.py --self-test    checks that wrong includes and pages are refused, and right ones are not
"""
import re
import sys
import tempfile
from pathlib import Path

import command
import rooms

GENERATED = {"absent_libraries.hpp", "git_hash.hpp"}  # written by CMake and by the build
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h", ".in"}
# Flags that decide whether a product and a sum are rounded twice or once.
ROUNDING = re.compile(r"-ffp-contract|-{1,2}fmad|-ffast-math|-Ofast|-funsafe-math|-fassociative-math|-{1,2}use_fast_math"
                      r"|-freciprocal-math|-fno-signed-zeros|-ffinite-math|-fp-model")
ROUNDING_LISTS = "src/cmake/HeddleRounding.cmake"
ROUNDING_FILES = {ROUNDING_LISTS, "src/cmake/HeddleFlags.cmake"}
# Calls of MPI, though the public headers bring its own along: what ranks say to each other is a Communicator's to send.
MPI_CALL = re.compile(r"\b(P?MPIX?_[A-Z][a-z]\w*)\s*\(")
MPI_FILES = re.compile(r"(src|include/heddle)/comm/|src/drivers/(program|machine/info|support/ranks)\.cpp$"
                       r"|python/src/(runtime|distributed)\.cpp$")
# Elementary functions of the C library's, whose last bits differ between machines.
ELEMENTARY = re.compile(r"\bstd::((?:exp|log)(?:2|10|m1|1p)?|pow|a?(?:sin|cos|tan)h?|atan2|cbrt|hypot|polar|erfc?|tgamma)\s*\(")
ROUNDING_LIST = re.compile(r"^\s*set\((HEDDLE_ROOMS_\w+)\s+([^)]*)\)", re.MULTILINE)


def resolve(root, path, name):
    """The file of the repository that `#include "name"` in path means, or None."""
    top = path.relative_to(root).parts[0]
    folders = [path.parent, root / top, root / "src"]
    folders += [root / "tests"] if path.name.endswith("_test.cpp") else []
    folders += [root / "python/src"] if top == "python" else []
    for folder in folders:
        for candidate in (folder / name, folder / f"{name}.in"):
            if candidate.is_file():
                return candidate.resolve().relative_to(root)
    return None


def private_rooms(page, where, room):
    """The rooms whose private headers the file may include by the table of folders beside; None for files of a room."""
    folder = next((str(f) for f in where.parents if str(f) in page.beside), None)
    return None if folder is None else {room if name == "own" else name for name in page.beside[folder]}


def judge(page, root, path, bracket, name):
    """Why path may not include name, or None."""
    where = path.relative_to(root)
    top = where.parts[0]
    inner = where.parts[2:] if top == "include" else where.parts[1:]
    room = inner[0] if len(inner) > 1 else ""  # "" for a file outside any folder, as include/heddle/heddle.hpp

    if bracket == "<" and not page.may_include(str(where), name):
        return "the table of others' headers in docs/architecture.md does not have this file"
    if top == "include" and name == "iostream":
        return "public headers print nothing"

    if name.startswith("heddle/"):
        if bracket != "<":
            return f"public headers are included as <{name}>"
        if not (root / "include" / name).is_file():
            return "there is no such public header"
        target = name.split("/")[1] if name.count("/") > 1 else ""
    elif bracket == '"' and name not in GENERATED:
        if top == "include":
            return "a public header includes public headers alone, as <heddle/...>"
        found = resolve(root, path, name)
        if found is None:
            return "there is no such file"
        if (found.parts[0] == top and top in ("tests", "perf", "python")) or found.parts[:2] == ("tests", "support"):
            return None  # support headers, and those of its own folder
        target = found.parts[1] if len(found.parts) > 2 else ""
        allowed = private_rooms(page, where, room)
        if allowed is not None and target not in allowed:
            return f"of private headers only those of {', '.join(sorted(allowed)) or 'no room'} may be used here"
    else:
        return None

    if top in ("include", "src") and room in page.uses and target not in page.reach(room):
        return f"{room} may not use {target or 'the umbrella header'}"
    return None


def check_folders(page, root):
    """Folders without a line, and lines without a folder."""
    beside = {name.removeprefix("src/") for name in page.beside if name.startswith("src/")}
    known = set(page.uses) | beside | set(page.folders)
    there = {str(child.relative_to(root / "src")) for child in (root / "src").rglob("*") if child.is_dir()}
    there = {name for name in there if "__pycache__" not in name}
    findings = [f"src/{name}: has no line in {rooms.PAGES[1]}" for name in sorted(there - known)]
    findings += [f"{rooms.PAGES[1]}: there is no folder src/{name}" for name in sorted(known - there)]
    public = {child.name for child in (root / "include/heddle").glob("*") if child.is_dir()}
    findings += [f"include/heddle/{name}: has no line in {rooms.PAGES[0]}" for name in sorted(public - set(page.uses))]
    findings += [f"{rooms.PAGES[1]}: there is no folder {name}" for name in sorted(page.beside) if not (root / name).is_dir()]
    return findings


def documents_of(root):
    """The documents for developers. docs/studies.md and docs/site name files of users and of other projects."""
    pages = [path for folder in ("docs", rooms.PATHS, "docs/notes") for path in sorted((root / folder).glob("*.md"))]
    pages += [root / name for name in ("CONTRIBUTING.md", "README.md")]
    return [path for path in pages if path.is_file() and path.name != "studies.md"]


def check_names(root):
    """Return files that documents name, by path or the end of it, and that do not exist."""
    there = {f"/{path.relative_to(root)}" for top in ("include", "src", "tests", "perf", "python", "examples", "ci", "docs")
             for path in (root / top).rglob("*")} | {f"/{path.name}" for path in root.glob("*")}
    ends = {path[at:] for path in there for at, letter in enumerate(path) if letter == "/"}
    return [f"{page.relative_to(root)}:{number}: there is no file {name}" for page in documents_of(root)
            for number, name in rooms.files_named(page.read_text(encoding="utf-8")) if f"/{name}" not in ends]


def check_paths(root):
    """Return steps of paths whose file is gone, or has no such function."""
    findings = []
    for step in (step for steps in rooms.read_paths(root).values() for step in steps):
        file, name = root / step.file, step.function.split("::")[-1]
        if not file.is_file():
            findings.append(f"{step.place}: there is no file {step.file}")
        elif not re.search(rf"\b{re.escape(name)}\b", file.read_text(encoding="utf-8")):
            findings.append(f"{step.place}: {step.file} has no {name}")
    return findings


def check_rounding(page, root):
    """Return misplaced options of rounding, and lists of rooms that differ from the page."""
    findings = []
    files = [path for top in ("src", "tests", "perf", "ci") for path in (root / top).rglob("*")
             if path.name == "CMakeLists.txt" or path.suffix == ".cmake"]
    for path in sorted(files + [root / "CMakeLists.txt", root / "CMakePresets.json"]):
        where = str(path.relative_to(root))
        if where in ROUNDING_FILES or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            code = line.partition("#")[0]
            of_fast_math = where.startswith("tests/") and "_fast_math " in code
            if (option := ROUNDING.search(code)) and not of_fast_math:
                findings.append(f"{where}:{number}: {option[0]}: rounding is decided in {' and '.join(sorted(ROUNDING_FILES))},"
                                " and in programs of tests whose names end in _fast_math")
    lists = root / ROUNDING_LISTS
    text = lists.read_text(encoding="utf-8") if lists.is_file() else ""
    found = {name: set(members.split()) for name, members in ROUNDING_LIST.findall(text)}
    for name in sorted(set(found) | set(page.rounding)):
        if found.get(name) != set(page.rounding.get(name, [])):
            findings.append(f"{ROUNDING_LISTS}: {name} is not what {rooms.PAGES[0]} has")
        findings += [f"{ROUNDING_LISTS}: {name}: there is no folder src/{member}"
                     for member in sorted(found.get(name, [])) if not (root / "src" / member).is_dir()]
    return findings


def calls_of_mpi(where, source):
    """Return calls of MPI in files of the library or the command that must not make any. Comments are ignored."""
    if not where.startswith(("src/", "include/")) or MPI_FILES.match(where):
        return []
    return [f"{where}:{number}: {call[1]}: MPI is called in src/comm and by the command's beginning and end alone"
            for number, line in enumerate(source.splitlines(), start=1)
            if (call := MPI_CALL.search(line.partition("//")[0]))]


def elementary_functions(page, where, source):
    """Return calls of the C library's elementary functions in rooms that must not make any. Comments are ignored."""
    parts = where.removeprefix("include/heddle/").removeprefix("src/").split("/")
    if not where.startswith(("src/", "include/")) or parts[0] not in page.elementary:
        return []
    return [f"{where}:{number}: std::{call[1]}: its bits depend on the C library; expected one of heddle::libm"
            for number, line in enumerate(source.splitlines(), start=1)
            if (call := ELEMENTARY.search(line.partition("//")[0]))]


def check(root):
    """Every finding, as text, and the number of files read."""
    try:
        page = rooms.read_pages(root)
        findings = check_folders(page, root) + check_paths(root)
    except (OSError, rooms.Wrong) as error:
        return [str(error)], 0
    findings += check_names(root) + check_rounding(page, root)
    files = 0
    for top in ("include", "src", "tests", "perf", "examples", "python"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            files += 1
            source = path.read_text(encoding="utf-8")
            findings += calls_of_mpi(str(path.relative_to(root)), source)
            findings += elementary_functions(page, str(path.relative_to(root)), source)
            for match in INCLUDE.finditer(source):
                if reason := judge(page, root, path, match[1], match[2]):
                    line = source.count("\n", 0, match.start(2)) + 1
                    findings.append(f"{path.relative_to(root)}:{line}: {match[2]}: {reason}")
    return findings, files


# ---- the self-test: a small repository, to which one thing at a time is done

SAMPLE_PATH = """# A product
<!-- read: path -->
| step | function | file | how often | what it does | marks |
|---|---|---|---|---|---|
| 1 | `Plan::execute` | `src/gemm/plan.hpp` | once | begins | nothing |
| 2 | `multiply` | `src/gemm/plan.hpp` | each step | a tile | `bits`, `memory` |
"""
PATH_PAGE = f"{rooms.PATHS}/product.md"
PATH_FILE = ("src/gemm/plan.hpp", "void Plan::execute();\nvoid multiply();\n")
WRONG_PATHS = [  # what is replaced, by what
    ("`multiply`", "`multiplies`"),
    ("`Plan::execute`", "execute"),
    ("src/gemm/plan.hpp` | each", "src/gemm/gone.hpp` | each"),
    ("| 2 |", "| 3 |"),
    ("`bits`, `memory`", "`bits`, `time`"),
    ("| nothing |", "|"),
    ("<!-- read: path -->", ""),
    ("# A product", "# A product\nIt ends in `gemm/gone.cpp`."),
]
SAMPLE = """# Architecture
<!-- read: rooms -->
| room | what it does | may use |
|---|---|---|
| `core` | errors | nothing |
| `comm` | ranks | `core` |
| `blas` | one rank | `core` |
| `io` | files | `comm` |
| `gemm` | products | `comm`, `blas` |
| `schrodinger` | waves | `gemm` |

<!-- read: folders -->
| folder | what it does |
|---|---|
| `io/mesh` | meshes |
| `schrodinger/hamiltonian` | H |
| `drivers/support` | options |

<!-- read: beside -->
| folder | what it holds | private headers |
|---|---|---|
| `src/drivers` | the command | `drivers` |
| `src/cmake` | helpers | nothing |
| `tests` | tests | `own` |
| `tests/fuzz` | fuzzers | `drivers`, `io` |
| `tests/install` | a user | nothing |
| `perf` | benchmarks | nothing |

<!-- read: headers -->
| of | headers | files |
|---|---|---|
| MPI | `mpi.h` | `{include/heddle,src,tests}/comm/*`, `perf/peers/*` |
| others | `cublas*`, `cblas*`, `fftw3*` | `src/blas/{cuda,host}.cpp`, `src/schrodinger/hamiltonian/fourier_*.cpp`, `perf/peers/*` |
| VTK | `vtk*.h` | `src/io/mesh/vtk_mesh.cpp`, `perf/peers/*` |

<!-- read: elementary -->
| what it means | rooms |
|---|---|
| no function of the C library's | `schrodinger`, `core` |

<!-- read: rounding -->
| list | what its rooms promise | rooms |
|---|---|---|
| `HEDDLE_ROOMS_UNFUSED` | bits | `schrodinger` |
"""
FILES = ["include/heddle/core/error.hpp", "src/gemm/private.hpp", "src/io/mesh/vtk_mesh.hpp", "src/core/core.cpp",
         "src/drivers/support/options.hpp", "src/blas/host.cpp", "tests/install/main.cpp", "tests/fuzz/main.cpp",
         "tests/gemm/CMakeLists.txt"]
ALLOWED = [
    ("include/heddle/heddle.hpp", "<heddle/gemm/gemm.hpp>"),
    ("include/heddle/gemm/gemm.hpp", "<heddle/core/error.hpp>"),
    ("include/heddle/gemm/gemm.hpp", "<vector>"),
    ("include/heddle/comm/communicator.hpp", "<mpi.h>"),
    ("src/comm/communicator.cpp", "<mpi.h>"),
    ("src/gemm/gemm.cpp", '"gemm/private.hpp"'),
    ("src/gemm/gemm.cpp", "<iostream>"),
    ("src/blas/cuda.cpp", "<cublas_v2.h>"),
    ("src/schrodinger/hamiltonian/fourier_host.cpp", "<fftw3.h>"),
    ("src/drivers/main.cpp", '"drivers/support/options.hpp"'),
    ("tests/gemm/test.cpp", '"gemm/private.hpp"'),
    ("tests/core/test.cpp", "<heddle/gemm/gemm.hpp>"),
    ("tests/fuzz/main.cpp", '"drivers/support/options.hpp"'),
    ("perf/peers/peer.cpp", "<cblas.h>"),
    ("perf/peers/peer.cpp", "<vtkPoints.h>"),
    ("src/io/mesh/vtk_mesh.cpp", "<vtkPoints.h>"),
    ("src/io/mesh/vtk_mesh.cpp", '"vtk_mesh.hpp"'),
]
REFUSED = [
    ("include/heddle/core/error.hpp", "<heddle/comm/communicator.hpp>"),
    ("include/heddle/blas/blas.hpp", "<heddle/comm/communicator.hpp>"),
    ("include/heddle/gemm/gemm.hpp", "<heddle/heddle.hpp>"),
    ("include/heddle/gemm/gemm.hpp", "<heddle/gemm/absent.hpp>"),
    ("include/heddle/gemm/gemm.hpp", "<iostream>"),
    ("include/heddle/gemm/gemm.hpp", '"gemm/private.hpp"'),
    ("include/heddle/gemm/gemm.hpp", "<mpi.h>"),
    ("src/core/error.cpp", '"gemm/private.hpp"'),
    ("src/core/error.cpp", '"absent.hpp"'),
    ("src/gemm/gemm.cpp", '"heddle/gemm/gemm.hpp"'),
    ("src/gemm/gemm.cpp", "<cblas.h>"),
    ("src/gemm/gemm.cpp", '"mpi.h"'),
    ("src/schrodinger/grid.cpp", "<fftw3.h>"),
    ("src/comm/communicator.cpp", "<cublas_v2.h>"),
    ("include/heddle/io/mesh.hpp", "<vtkPoints.h>"),
    ("src/io/mesh.cpp", "<vtkPoints.h>"),
    ("tests/io/mesh_test.cpp", "<vtkPoints.h>"),
    ("src/drivers/main.cpp", '"gemm/private.hpp"'),
    ("src/drivers/main.cpp", "<mpi.h>"),
    ("tests/core/test.cpp", '"gemm/private.hpp"'),
    ("tests/fuzz/main.cpp", '"gemm/private.hpp"'),
    ("tests/install/use.cpp", '"gemm/private.hpp"'),
    ("perf/gemm/gemm.cpp", '"gemm/private.hpp"'),
    ("perf/gemm/gemm.cpp", '"drivers/support/options.hpp"'),
    ("src/unknown/file.cpp", "<vector>"),
    ("src/gemm/unknown/file.cpp", "<vector>"),
    ("include/heddle/unknown/file.hpp", "<vector>"),
]
WRONG_PAGES = [  # what is replaced, by what
    ("| `blas` | one rank | `core` |\n", ""),
    ("`comm`, `blas`", "`comm`, `bals`"),
    ("`comm`, `blas`", "`comm`, blas"),
    ("`comm`, `blas`", "`comm`, `blas` | more"),
    ("| `core` | errors | nothing |", "| `core` | errors | `gemm` |"),
    ("# Architecture", "# Architecture\nBegins in `gemm/gone.cpp`."),
    ("| `io` | files | `comm` |", "| `io` | files | `comm` |\n| `io` | files | `core` |"),
    ("| `io/mesh` | meshes |\n", ""),
    ("| `io/mesh` | meshes |", "| `io/mesh` | meshes |\n| `io/matrix` | matrices |"),
    ("| `io` | files | `comm` |", "| `io` | files | `comm` |\n| `music` | notes | `core` |"),
    ("| `src/cmake` | helpers | nothing |\n", ""),
    ("| `perf` | benchmarks | nothing |", "| `perf` | benchmarks | nothing |\n| `pref` | spelt wrong | nothing |"),
    ("<!-- read: headers -->", ""),
    ("<!-- read: headers -->", "<!-- read: haeders -->"),
    ("| bits | `schrodinger` |", "| bits | `gemm` |"),
    ("library's | `schrodinger`, `core` |", "library's | `schroedinger`, `core` |"),
    ("| `HEDDLE_ROOMS_UNFUSED` | bits | `schrodinger` |", "| `HEDDLE_ROOMS_UNFUSED` | bits | `schrodinger`, `io` |"),
]
LISTS = "set(HEDDLE_ROOMS_UNFUSED schrodinger)\nheddle_rounding(--fmad=false)\n"
ROUNDINGS = [  # a file, its text, whether it is right
    ("tests/gemm/CMakeLists.txt", "target_compile_options(test_sum_fast_math PRIVATE -ffast-math)\n", True),
    ("tests/gemm/CMakeLists.txt", "# not -ffast-math\n", True),
    ("tests/gemm/CMakeLists.txt", "target_compile_options(test_sum PRIVATE -ffast-math)\n", False),
    ("src/gemm/CMakeLists.txt", "set_source_files_properties(a.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)\n", False),
    ("src/gemm/CMakeLists.txt", "target_compile_options(a_fast_math PRIVATE --fmad=false)\n", False),
    ("CMakeLists.txt", 'set(CMAKE_CXX_FLAGS "-Ofast")\n', False),
    ("src/cmake/HeddleRounding.cmake", LISTS.replace("schrodinger", "shrodinger"), False),
    ("src/cmake/HeddleRounding.cmake", LISTS + "set(HEDDLE_ROOMS_FUSED gemm)\n", False),
]

CALLS = [  # a file, its text, whether it is right
    ("src/comm/turns.cpp", "void f() { MPI_Barrier(MPI_COMM_WORLD); }\n", True),
    ("src/drivers/program.cpp", "int main() { MPI_Finalize(); }\n", True),
    ("src/gemm/bands.cpp", "// what MPI_Barrier(comm) does\n", True),
    ("tests/gemm/bands_test.cpp", "void f() { MPI_Barrier(MPI_COMM_WORLD); }\n", True),
    ("src/gemm/bands.cpp", "void f() { MPI_Barrier(MPI_COMM_WORLD); }\n", False),
    ("include/heddle/gemm/bands.hpp", "inline void f() { PMPI_Barrier (MPI_COMM_WORLD); }\n", False),
    ("src/drivers/support/options.cpp", "void f() { MPIX_Query_cuda_support(); }\n", False),
    ("src/gemm/bands.cpp", "double f(double x) { return std::exp(x); }\n", True),
    ("src/schrodinger/grid.cpp", "double f(double x) { return libm::exp(x) + std::sqrt(x) + std::expx(x); }\n", True),
    ("src/schrodinger/grid.cpp", "// as std::exp(x)\n", True),
    ("src/schrodinger/grid.cpp", "double f(double x) { return std::log1p(x); }\n", False),
    ("src/schrodinger/grid.cpp", "double f(double x) { return std::atanh (x); }\n", False),
    ("include/heddle/core/error.hpp", "inline double f(double x) { return std::pow(x, 2.5); }\n", False),
]


def finds_with(root, name, text):
    """Return whether a fault is found with this text in the file; the file is restored afterwards."""
    path = root / name
    before = path.read_text(encoding="utf-8") if path.exists() else None
    fresh = [parent for parent in path.parents if not parent.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    found = bool(check(root)[0])
    if before is None:
        path.unlink()
        for parent in fresh:
            parent.rmdir()
    else:
        path.write_text(before, encoding="utf-8")
    return found


def self_test():
    """Apply each fault to the repository, and undo it."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in FILES + [file for file, _ in ALLOWED]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        for name, text in ((rooms.PAGES[0], SAMPLE), (rooms.PAGES[1], "# Rooms\n"), (PATH_PAGE, SAMPLE_PATH), PATH_FILE,
                           (ROUNDING_LISTS, LISTS)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        wrong += [f"of the repository itself: {finding}" for finding in check(root)[0]]
        for cases, expected in ((ALLOWED, False), (REFUSED, True)):
            wrong += [f"{name}: #include {include} was {'let through' if expected else 'refused'}"
                      for name, include in cases
                      if finds_with(root, name, f"#pragma once\n#include {include}\n") != expected]
        for cases, name, text in ((WRONG_PAGES, rooms.PAGES[0], SAMPLE), (WRONG_PATHS, PATH_PAGE, SAMPLE_PATH)):
            wrong += [f"a page with '{new.strip()}' for '{old.strip()}' was let through" for old, new in cases
                      if old not in text or not finds_with(root, name, text.replace(old, new))]
        wrong += [f"{name}: {text.strip()} was {'refused' if right else 'let through'}"
                  for name, text, right in ROUNDINGS + CALLS if finds_with(root, name, text) == right]
    for line in wrong:
        print(line)
    cases = sum(len(cases) for cases in (ALLOWED, REFUSED, WRONG_PAGES, WRONG_PATHS, ROUNDINGS, CALLS))
    print(f"include_graph --self-test: {cases} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def lint(root):
    findings, files = check(root)
    return findings, f"include graph: {files} files, {len(findings)} findings"


if __name__ == "__main__":
    sys.exit(command.run(__doc__, self_test, lint))
