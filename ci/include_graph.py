#!/usr/bin/env python3
"""The dependency lint: reads every #include of the sources and refuses any that the design does not allow.

    ci/include_graph.py [ROOT]         checks the repository at ROOT
    ci/include_graph.py --self-test    checks that wrong includes are refused, and right ones are not
"""
import re
import sys
import tempfile
from pathlib import Path

# A module, and those that it may depend on directly; what these depend on, it may use too.
MODULES = {
    "core": [],
    "comm": ["core"],
    "dist": ["comm"],
    "blas": ["core"],
    "io": ["dist"],
    "transpose": ["dist"],
    "exact": ["dist"],
    "gemm": ["dist", "blas", "transpose", "exact"],
    "tuning": ["gemm"],
    "expm": ["gemm"],
    "eigen": ["dist", "blas", "exact"],
    "models": ["eigen"],
    "schrodinger": ["expm", "eigen"],
    "search": ["comm"],
}
VENDOR = re.compile(r"cuda|cublas|cufft|curand|cusolver|cusparse|nccl|nvml|nvToolsExt|hip|roc|rccl|fftw3"
                    r"|cub/|cblas|f77blas|lapack|mkl|openblas|oneapi/")
VENDOR_FILES = re.compile(r"src/(blas|comm|search)/(cuda|hip|host)\.cpp|src/schrodinger/hamiltonian/fourier_(cuda|hip|host)\.cpp"
                          r"|src/blas/integer_host\.cpp"
                          r"|perf/peers/.*")
VTK = re.compile(r"vtk\w*\.h")
VTK_FILES = re.compile(r"src/io/mesh/vtk_(mesh|quiet|xml)\.cpp|src/io/mesh/vtk_quiet\.hpp|tests/search/vtk_agreement_test\.cpp|perf/peers/.*")
# Beside comm/: the main programs of tests and benchmarks, which start MPI, and the other libraries in a comparison.
MPI_FILES = re.compile(r"(include/heddle|src|tests|perf)/comm/.*|(tests|perf)/support/.*|(perf/peers|tests/install)/.*")
GENERATED = {"git_hash.hpp"}  # written at build time
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h", ".in"}


def reach(module):
    """The module and all that it may use."""
    return {module}.union(*(reach(m) for m in MODULES[module]))


def resolve(root, path, name):
    """The file of the repository that `#include "name"` in path means, or None."""
    top = path.relative_to(root).parts[0]
    for folder in (path.parent, root / top, root / "src"):
        for candidate in (folder / name, folder / f"{name}.in"):
            if candidate.is_file():
                return candidate.resolve().relative_to(root)
    return None


def judge(root, path, bracket, name):
    """Why path may not include name, or None."""
    where = path.relative_to(root)
    top = where.parts[0]
    inner = where.parts[2:] if top == "include" else where.parts[1:]
    module = inner[0] if len(inner) > 1 else ""  # "" for a file outside any folder, as include/heddle/heddle.hpp
    public_only = top == "perf" or module == "drivers" and top == "src" or where.parts[:2] == ("tests", "install")

    if name == "mpi.h" and not MPI_FILES.fullmatch(str(where)):
        return "mpi.h belongs to comm/ alone"
    if bracket == "<" and VENDOR.match(name) and not VENDOR_FILES.fullmatch(str(where)):
        return ("a vendor's header belongs to src/{blas,comm,search}/{cuda,hip,host}.cpp and"
                " src/schrodinger/hamiltonian/fourier_{cuda,hip,host}.cpp alone")
    if bracket == "<" and VTK.fullmatch(name) and not VTK_FILES.fullmatch(str(where)):
        return "VTK's headers belong to src/io/mesh/vtk_{mesh,quiet,xml}.cpp alone"
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
        if found.parts[0] == top and top in ("tests", "perf"):
            return None  # support headers, and those of its own folder
        target = found.parts[1] if len(found.parts) > 2 else ""
        if public_only and (top, target) != ("src", "drivers"):
            return "only public headers may be used here"
        if top == "tests" and target != module and (module, target) not in (("fuzz", "drivers"), ("fuzz", "io")):
            return "a test may use the private headers of its own module alone"
    else:
        return None

    if top in ("include", "src") and module in MODULES and target not in reach(module):
        return f"{module} may not depend on {target or 'the umbrella header'}"
    return None


def check(root):
    """Every finding, as text, and the number of files read."""
    findings, files = [], 0
    for folder in ("include/heddle", "src"):
        known = set(MODULES) | ({"drivers", "cmake"} if folder == "src" else set())
        for child in sorted((root / folder).glob("*/")):
            if child.is_dir() and child.name not in known:
                findings.append(f"{child.relative_to(root)}: an unknown module: give it a line in ci/include_graph.py")
    for top in ("include", "src", "tests", "perf"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            files += 1
            source = path.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(source):
                if reason := judge(root, path, match[1], match[2]):
                    line = source.count("\n", 0, match.start(2)) + 1
                    findings.append(f"{path.relative_to(root)}:{line}: {match[2]}: {reason}")
    return findings, files


def self_test():
    """Lays out a small repository, and adds one include at a time."""
    allowed = [
        ("include/heddle/heddle.hpp", "<heddle/gemm/gemm.hpp>"),
        ("include/heddle/gemm/gemm.hpp", "<heddle/core/error.hpp>"),
        ("include/heddle/gemm/gemm.hpp", "<vector>"),
        ("include/heddle/comm/communicator.hpp", "<mpi.h>"),
        ("src/gemm/gemm.cpp", '"gemm/private.hpp"'),
        ("src/gemm/gemm.cpp", "<iostream>"),
        ("src/blas/cuda.cpp", "<cublas_v2.h>"),
        ("src/schrodinger/hamiltonian/fourier_host.cpp", "<fftw3.h>"),
        ("src/drivers/main.cpp", '"drivers/support/options.hpp"'),
        ("tests/gemm/test.cpp", '"gemm/private.hpp"'),
        ("tests/core/test.cpp", "<heddle/gemm/gemm.hpp>"),
        ("perf/peers/peer.cpp", "<cblas.h>"),
        ("perf/peers/peer.cpp", "<vtkPoints.h>"),
        ("src/io/mesh/vtk_mesh.cpp", "<vtkPoints.h>"),
        ("src/io/mesh/vtk_mesh.cpp", '"vtk_mesh.hpp"'),
    ]
    refused = [
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
        ("src/schrodinger/grid.cpp", "<fftw3.h>"),
        ("src/comm/communicator.cpp", "<cuda_runtime.h>"),
        ("include/heddle/io/mesh.hpp", "<vtkPoints.h>"),
        ("src/io/mesh.cpp", "<vtkPoints.h>"),
        ("tests/io/mesh_test.cpp", "<vtkPoints.h>"),
        ("src/drivers/main.cpp", '"gemm/private.hpp"'),
        ("src/drivers/main.cpp", "<mpi.h>"),
        ("tests/core/test.cpp", '"gemm/private.hpp"'),
        ("tests/install/use.cpp", '"gemm/private.hpp"'),
        ("perf/gemm/gemm.cpp", '"gemm/private.hpp"'),
        ("perf/gemm/gemm.cpp", '"drivers/support/options.hpp"'),
        ("src/unknown/file.cpp", "<vector>"),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        existing = ["include/heddle/core/error.hpp", "src/gemm/private.hpp", "src/io/mesh/vtk_mesh.hpp",
                    "src/drivers/support/options.hpp"]
        for name in existing + [file for file, _ in allowed]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        for cases, expected in ((allowed, False), (refused, True)):
            for name, include in cases:
                path = root / name
                new = not path.exists()
                fresh = [p for p in path.parents if not p.exists()]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"#pragma once\n#include {include}\n", encoding="utf-8")
                if bool(check(root)[0]) != expected:
                    wrong.append(f"{name}: #include {include} was {'let through' if expected else 'refused'}")
                if new:
                    path.unlink()
                    for parent in fresh:
                        parent.rmdir()
                else:
                    path.write_text("", encoding="utf-8")
    for line in wrong:
        print(line)
    print(f"include_graph --self-test: {len(allowed) + len(refused)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) > 2 or sys.argv[1:2] and sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    findings, files = check(root)
    for finding in findings:
        print(finding)
    print(f"include graph: {files} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
