#!/usr/bin/env python3
"""Lets shared libraries that were linked with a newer C and C++ runtime be loaded with this system's.

    ci/older_runtime.py [--compiler CXX] LIBRARY...

A library names the versions of the symbols that it needs, and the loader refuses it where the system's libc or
libstdc++ does not define such a version, whatever symbols it is for. This looks which symbols of LIBRARY have versions
that the system lacks. If there are none, nothing is changed. If ci/older_runtime.cpp defines all of them, that is
built beside LIBRARY, which then takes these symbols from there, without a version, and no longer names the versions.
If one is not known, nothing is changed either, and it is named.

Sound it is because all other symbols keep their versions, each of which this system's runtime defines, and the ones
defined here do what their newer originals do. Needs g++ and patchelf, and 64-bit ELF. With the compiler of another
machine, "the system" is what that compiler links to, and nothing is loaded as a check. Exit status: 0 the libraries
load, 1 they do not, and why.
"""

import argparse
import collections
import pathlib
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")
HELPER = "libheddle_older_runtime.so"
KNOWN = {
    "__isoc23_strtol",
    "_ZSt21ios_base_library_initv",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm",
}
DYNSYM, VERDEF, VERNEED, VERSYM = 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF  # types of sections

Need = collections.namedtuple("Need", "file version index offset")


class Failure(Exception):
    """Error whose message is printed in place of a traceback."""


class Elf:
    """The versions and the symbols that a shared library defines and needs."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = bytearray(self.path.read_bytes())
        if self.data[:5] != b"\x7fELF\x02":
            raise Failure(f"{path} is no 64-bit library")
        self.order = "<" if self.data[5] == 1 else ">"
        start, size, count = (self.unpack("Q", 40)[0], *self.unpack("HH", 58))
        headers = [self.unpack("IIQQQQIIQQ", start + i * size) for i in range(count)]
        self.headers = headers
        self.by_type = {header[1]: header for header in headers}

    def unpack(self, form, offset):
        return struct.unpack_from(self.order + form, self.data, offset)

    def text(self, section, offset):
        begin = self.headers[section[6]][4] + offset
        return self.data[begin : self.data.index(0, begin)].decode()

    def definitions(self):
        """Names of the versions that it defines."""
        section = self.by_type.get(VERDEF)
        names = set()
        offset = section[4] if section else None
        while offset is not None:
            _, _, _, _, _, first, following = self.unpack("HHHHIII", offset)
            names.add(self.text(section, self.unpack("I", offset + first)[0]))
            offset = offset + following if following else None
        return names

    def needs(self):
        """Versions that it needs, each with the library that is to define it."""
        section = self.by_type.get(VERNEED)
        offset = section[4] if section else None
        while offset is not None:
            _, count, file, first, following = self.unpack("HHIII", offset)
            place = offset + first
            for _ in range(count):
                _, _, index, name, step = self.unpack("IHHII", place)
                yield Need(self.text(section, file), self.text(section, name), index & 0x7FFF, place)
                place += step
            offset = offset + following if following else None

    def symbols(self, indices):
        """Names of the symbols whose versions have these indices."""
        table, versions = self.by_type[DYNSYM], self.by_type[VERSYM]
        for i in range(table[5] // 24):
            index = self.unpack("H", versions[4] + 2 * i)[0] & 0x7FFF
            if index in indices:
                yield self.text(table, self.unpack("I", table[4] + 24 * i)[0])

    def rename(self, need, other):
        """Replace a version that no symbol uses by one that is needed anyway."""
        self.data[need.offset : need.offset + 4] = self.data[other.offset : other.offset + 4]  # the hash
        self.data[need.offset + 8 : need.offset + 12] = self.data[other.offset + 8 : other.offset + 12]  # the name


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.strip()


def system_library(name, compiler):
    path = run(compiler, f"-print-file-name={name}")
    if not pathlib.Path(path).is_absolute():
        raise Failure(f"{name} is needed, and {compiler} knows no such library here")
    return Elf(path)


def lacking(library, systems, compiler):
    """Return the symbols that the library needs and the system's libraries do not define."""
    for need in library.needs():
        if need.file not in systems:
            systems[need.file] = system_library(need.file, compiler).definitions()
        if need.version not in systems[need.file]:
            yield need


def loads(path):
    check = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)"
    try:
        run(sys.executable, "-c", check, path)
    except Failure as failure:
        raise Failure(f"{path} does not load: {failure}") from None


def mend(path, symbols, systems, compiler):
    clear = [word for symbol in sorted(symbols) for word in ("--clear-symbol-version", symbol)]
    run("patchelf", *clear, "--add-needed", HELPER, path)
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN", path)  # in one call the two share a string
    library = Elf(path)
    for need in list(lacking(library, systems, compiler)):
        if any(library.symbols({need.index})):
            raise Failure(f"{path}: a symbol of {need.version} is left")
        others = [one for one in library.needs() if one.file == need.file and one.version in systems[need.file]]
        if not others:
            raise Failure(f"{path} needs nothing of {need.file} but {need.version}")
        library.rename(need, others[0])
    # In place of the old file, not into it: a program may be running with that.
    new = path.with_name(path.name + ".new")
    new.write_bytes(library.data)
    new.chmod(path.stat().st_mode)
    new.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--compiler", default="g++", metavar="CXX", help="g++, or that of another machine")
    given = parser.parse_args()
    libraries, compiler = given.libraries, given.compiler

    systems = {}
    wanted = {}
    for path in libraries:
        library = Elf(path)
        indices = {need.index for need in lacking(library, systems, compiler)}
        wanted[path] = set(library.symbols(indices)) if indices else set()
    unknown = sorted(set().union(*wanted.values()) - KNOWN)
    if unknown:
        raise Failure("this system's C and C++ runtime is too old for it, and lacks " + ", ".join(unknown))
    changed = [path for path in libraries if wanted[path]]
    if changed and not shutil.which("patchelf"):
        raise Failure("patchelf is needed: install Debian's package of that name")
    for folder in {path.parent for path in changed}:
        run(compiler, "-std=c++17", "-O2", "-shared", "-fPIC", "-o", folder / HELPER, SOURCE)
    for path in changed:
        mend(path, wanted[path], systems, compiler)
        print(f"{path.name}: {', '.join(sorted(wanted[path]))} from {HELPER}")
    for path in libraries if compiler == "g++" else ():
        loads(path)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"older_runtime: {failure}", file=sys.stderr)
        sys.exit(1)
