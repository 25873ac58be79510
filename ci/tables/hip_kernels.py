#!/usr/bin/env python3
"""Registers, spills, scratch and shared memory of every kernel for AMD's GPUs, as the compiler notes them in object files.

    ci/tables/hip_kernels.py BUILD CSV     the kernels of all objects below BUILD into CSV, and the ten that spill most
    ci/tables/hip_kernels.py --self-test   checks that planted notes are read

LLVM's llvm-objdump takes the code out of each object, llvm-readelf prints its notes, and llvm-cxxfilt the names as the source
has them; programs with a version in their names serve too. The CSV has a row for each kernel of each object: a kernel that
several sources compile is there several times.
"""
import csv
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Column of the CSV and the compiler's field. Registers are those of a lane (VGPR, AGPR) or of a wavefront (SGPR), spills
# the registers that were stored elsewhere for a while, scratch and shared memory bytes of a lane and of a block.
FIELDS = (("vgprs", "vgpr_count"), ("agprs", "agpr_count"), ("sgprs", "sgpr_count"), ("vgpr_spills", "vgpr_spill_count"),
          ("sgpr_spills", "sgpr_spill_count"), ("scratch", "private_segment_fixed_size"), ("lds", "group_segment_fixed_size"),
          ("block", "max_flat_workgroup_size"))
COLUMNS = ("architecture", "unit", *(column for column, _ in FIELDS), "name")
TOGETHER = 64  # objects whose code is on the disk at once


def kernels(text):
    """Each kernel in the notes that llvm-readelf printed of one file, as a row without its unit."""
    target = re.search(r"^amdhsa\.target: +\S*?(gfx\w+)", text, re.MULTILINE)
    # An item of the list begins at two columns, its fields are at four, and those of its arguments farther right.
    items = re.split(r"^  - ", text.partition("amdhsa.kernels:\n")[2].partition("\namdhsa.")[0], flags=re.MULTILINE)[1:]
    for item in items:
        fields = dict(re.findall(r"^(?: {4})?\.(\w+): +'?([^'\n]+)'?$", item, re.MULTILINE))
        row = {column: int(fields.get(field, 0)) for column, field in FIELDS}
        yield {"architecture": target.group(1), **row, "name": fields["name"]}


def brief(name):
    """The functor of a kernel of Kokkos, or the kernel itself: without arguments, result and the namespaces of Heddle."""
    functor = re.search(r"::Parallel(?:For|Reduce|Scan\w*)<(?:Kokkos::Impl::CombinedFunctorReducer<)?", name)
    name = name[functor.end():] if functor else name
    kept, angles, rounds = "", 0, 0
    for character in name.replace("(anonymous namespace)::", "").replace(") const", ")"):
        rounds += character == "("
        angles += (character == "<") - (character == ">")
        if angles < 0 or (character == "," and angles == 0 and rounds == 0):
            break
        if character == " " and angles == 0 and rounds == 0 and not kept.endswith("operator"):
            kept = ""  # that was the result
        elif rounds == 0:
            kept += character
        rounds -= character == ")"
    return re.sub(r"heddle::|impl::", "", kept)


def tool(name):
    """The program of LLVM, of the newest version that is here."""
    found = shutil.which(name) or next(filter(None, (shutil.which(f"{name}-{version}") for version in range(40, 17, -1))), None)
    return found or sys.exit(f"hip_kernels.py: {name} is not here")


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def rows(build):
    """The rows of all objects below a folder."""
    objects = sorted(build.rglob("*.o"))
    for begin in range(0, len(objects), TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            units = {}
            for number, path in enumerate(objects[begin:begin + TOGETHER]):
                Path(folder, f"{number}.o").symlink_to(path.resolve())
                units[str(number)] = re.sub(r"CMakeFiles/[^/]*\.dir/|\.o$", "", str(path.relative_to(build)))
            # The code of each architecture is written beside its object.
            output(tool("llvm-objdump"), "--offloading", *(f"{number}.o" for number in units), cwd=folder)
            for code in sorted(Path(folder).glob("*amdgcn*")):
                for row in kernels(output(tool("llvm-readelf"), "--notes", str(code))):
                    yield {**row, "unit": units[code.name.partition(".")[0]]}


def summary(table):
    """The lines on the terminal: how many kernels spill, and the ten worst."""
    for architecture in sorted({row["architecture"] for row in table}):
        own = {row["name"]: row for row in table if row["architecture"] == architecture}.values()
        spilling = [row for row in own if row["vgpr_spills"]]
        yield (f"{architecture}: {len(own)} kernels; {len(spilling)} spill vector registers, "
               f"{sum(row['sgpr_spills'] > 0 for row in own)} scalar ones, {sum(row['scratch'] > 0 for row in own)} have scratch")
        if spilling:
            yield "  spilled  scratch  VGPRs  block  kernel"
        for row in sorted(spilling, key=lambda row: (-row["vgpr_spills"], -row["scratch"], row["name"]))[:10]:
            yield f"  {row['vgpr_spills']:7}  {row['scratch']:7}  {row['vgprs']:5}  {row['block']:5}  {brief(row['name'])[:110]}"


def main(build, file):
    table = list(rows(Path(build)))
    names = output(tool("llvm-cxxfilt"), input="".join(f"{row['name']}\n" for row in table)).splitlines()
    for row, name in zip(table, names, strict=True):
        row["name"] = name
    with open(file, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(table)
    print("\n".join(summary(table)) or "no kernels")


def self_test():
    notes = """\
amdhsa.kernels:
  - .agpr_count:     2
    .args:
      - .address_space:  global
        .name:           x
        .size:           8
    .group_segment_fixed_size: 4104
    .max_flat_workgroup_size: 1024
    .name:           _Z1fv
    .private_segment_fixed_size: 4000
    .sgpr_count:     12
    .sgpr_spill_count: 3
    .vgpr_count:     128
    .vgpr_spill_count: 596
  - .args:           []
    .group_segment_fixed_size: 0
    .name:           '_Z1gv$local'
    .private_segment_fixed_size: 16
    .sgpr_count:     7
    .vgpr_count:     5
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
"""
    seen = list(kernels(notes))
    first = {"architecture": "gfx90a", "vgprs": 128, "agprs": 2, "sgprs": 12, "vgpr_spills": 596, "sgpr_spills": 3, "scratch": 4000,
             "lds": 4104, "block": 1024, "name": "_Z1fv"}
    second = {**dict.fromkeys(first, 0), "architecture": "gfx90a", "vgprs": 5, "sgprs": 7, "scratch": 16, "name": "_Z1gv$local"}
    assert seen == [first, second], seen
    lines = list(summary(seen))
    assert lines[0] == "gfx90a: 2 kernels; 1 spill vector registers, 1 scalar ones, 2 have scratch", lines
    assert lines[2:] == ["      596     4000    128   1024  _Z1fv"], lines
    for parallel in ("ParallelFor<", "ParallelReduce<Kokkos::Impl::CombinedFunctorReducer<"):
        name = (f"void Kokkos::Impl::hip_parallel_launch_local_memory<Kokkos::Impl::{parallel}Kokkos::View<heddle::impl::Sum*, "
                "Kokkos::HIP> heddle::impl::f<double, 3>(int, std::pair<int, int>) const::'lambda'(int), Kokkos::RangePolicy<"
                "Kokkos::HIP>, Kokkos::HIP>>(Kokkos::HIP)")
        assert brief(name) == "f<double, 3>::'lambda'", brief(name)
    assert brief("void rocprim::sort<int>(int*)") == "rocprim::sort<int>"


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 3 and not sys.argv[1].startswith("-"):
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
