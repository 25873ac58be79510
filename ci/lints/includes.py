#!/usr/bin/env python3
"""Finds names whose header neither the source that uses them nor what it includes includes.

On CPUs no build does: precompiled headers bring the standard library along, and files of a folder are compiled as one, so
that it is builds for GPUs that stop at them. A compiler that only looks at each source by itself takes eight minutes; this
takes a second, and finds what text tells: names of the standard library, in every source, and types and functions that a
room's private headers declare, in the sources of that room, unless another name there is alike, and Kokkos and MPI in public
headers. It also finds names that two sources of src/interpose define, which some builds compile as one. When the includes of
`src` were removed one by one, it noticed 410 of 478 of the standard library and 437 of 659 of the sources' own rooms.

    ci/lints/includes.py [ROOT]         looks at the repository at ROOT
    ci/lints/includes.py --self-test    checks that planted ones are found, and right sources let through
"""
import re
import sys
import tempfile
from pathlib import Path

import command

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h"}
# The names of a header that is looked for; behind the bar, headers that bring them along in every library there is.
STANDARD = {
    "algorithm": "max min copy fill find reverse unique sort stable_sort max_element min_element minmax_element fill_n copy_n transform all_of any_of none_of"
                 " find_if count_if lower_bound upper_bound binary_search partition nth_element remove_if clamp is_sorted"
                 " equal_range rotate set_difference copy_if adjacent_find mismatch lexicographical_compare"
                 " partition_point stable_partition is_permutation next_permutation shuffle",
    "array": "array | tuple",
    "atomic": "atomic atomic_ref memory_order_relaxed memory_order_acquire",
    "bit": "bit_cast popcount countl_zero countr_zero bit_ceil bit_floor bit_width endian rotl rotr has_single_bit",
    "cctype": "isdigit isspace tolower toupper isalpha",
    "charconv": "from_chars to_chars chars_format",
    "chrono": "chrono",
    "cmath": "sqrt pow ldexp frexp isfinite isnan isinf exp log sin cos hypot ceil floor fma log2 ilogb cbrt lround round"
             " trunc copysign log1p expm1 llround",
    "complex": "complex polar",
    "concepts": "same_as convertible_to integral floating_point invocable",
    "condition_variable": "condition_variable",
    "csignal": "signal raise sig_atomic_t",
    "cstdint": "int64_t uint64_t int32_t uint32_t uint8_t int8_t uint16_t int16_t uintptr_t",
    "cstdio": "printf snprintf fputs fflush fprintf fopen fclose fread fwrite",
    "cstdlib": "getenv abort strtod system malloc",
    "cstring": "memcpy memset strlen memcmp strcmp strerror",
    "deque": "deque",
    "exception": "exception_ptr current_exception rethrow_exception uncaught_exceptions | memory stdexcept",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream fstream",
    "functional": "function plus multiplies greater less hash reference_wrapper",
    "iomanip": "setprecision setw setfill",
    "iostream": "cout cerr",
    "iterator": "back_inserter make_move_iterator distance next prev | algorithm array deque map set span string vector",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr make_unique make_shared weak_ptr enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "new": "bad_alloc align_val_t",
    "numbers": "numbers",
    "numeric": "accumulate iota inner_product partial_sum exclusive_scan inclusive_scan gcd lcm",
    "optional": "optional nullopt",
    "queue": "queue priority_queue",
    "random": "mt19937_64 mt19937 uniform_int_distribution uniform_real_distribution normal_distribution",
    "ranges": "ranges views",
    "regex": "regex",
    "set": "set multiset",
    "span": "span as_bytes as_writable_bytes",
    "sstream": "ostringstream istringstream stringstream | iomanip",
    "stdexcept": "runtime_error logic_error invalid_argument",
    "string": "string to_string getline stoi stod | filesystem fstream regex sstream",
    "string_view": "string_view | string",
    "system_error": "system_error error_code errc | charconv filesystem",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple",
    "type_traits": "is_same_v conditional_t enable_if_t decay_t remove_reference_t remove_cv_t remove_cvref_t is_const_v"
                   " is_void_v make_unsigned_t underlying_type_t type_identity_t is_invocable_v is_trivially_copyable_v"
                   " | algorithm complex concepts functional memory optional span string tuple utility vector",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "pair move forward exchange swap make_pair in_place integer_sequence index_sequence as_const declval"
               " | algorithm array functional map memory optional set string tuple vector",
    "variant": "variant visit holds_alternative monostate get_if",
    "vector": "vector",
}
# Uses of other projects in public headers, and the header that one of them takes.
OTHERS = {r"\bKokkos::": r"Kokkos_\w+\.hpp", r"\bMPI_": r"mpi\.h"}
BRINGS = {name: {header, *more.split()}
          for header, text in STANDARD.items()
          for names, _, more in [text.partition("|")]
          for name in names.split()}
# Declarations at the outermost level, which is not indented.
TYPE = re.compile(r"^(?:template <.*> ?)?(?:class|struct|enum class|enum|using|concept) (\w+)\b(?!;)", re.MULTILINE)
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] |template <.*> |(?:inline|constexpr|static) )*"
                      r"(?!return|using|namespace|class|struct|enum|static_assert|extern|template)"
                      r"(?:[A-Za-z][\w:<>,&*]*(?:<[^()]*>)?(?: [\w:<>,&*]+)*|[A-Z_]+\(\w+\))[ &*]+([a-z]\w+)\(",
                      re.MULTILINE)
FILE_SCOPE = re.compile(r"^(?:static |inline )?constexpr [\w:<>,*& ]+? \*?(\w+)(?:\{| =|\[)|^(?:class|struct|enum class|enum) (\w+)\b(?!;)", re.MULTILINE)
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)([A-Za-z]\w+)\b")
CALL = re.compile(r"(?<![\w.~])(?<!->)(?<!::)([a-z]\w+)\s*(?:<[^;(){}]*>)?\(")
# Names that stand for others there: parameters of templates, and declarations of any kind and level.
LOCAL_TYPE = re.compile(r"\b(?:class|struct|enum|using|concept|typename|auto|[A-Z]\w*|int|std::\w+)\s+&?(\w+)\s*[,>=({;)]"
                        r"|\b(?:class|struct|enum|using|concept)\s+(\w+)")
LOCAL_FUNCTION = re.compile(r"(?:[\w>*&\]]\s+|[&*]|::)([a-z]\w+)\s*(?:[({=]|\[)|[\[,(&]\s*([a-z]\w+)\s*[\],=]")
NO_TYPE = re.compile(r"\b(?:return|throw|case|else|co_return|new)\b")


def without_comments(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def names(pattern, text):
    return {name for match in pattern.finditer(text) for name in match.groups() if name}


def room_of(path):
    """The room whose private or public file this is, or None."""
    parts = path.parts[1:] if path.parts[0] == "src" else path.parts[2:] if path.parts[0] == "include" else ()
    return parts[0] if len(parts) > 1 else None


class Sources:
    def __init__(self, root):
        self.text = {path.relative_to(root): path.read_text(encoding="utf-8")
                     for top in ("include", "src", "tests", "perf", "python")
                     for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES}
        self.code = {path: INCLUDE.sub("", without_comments(text)) for path, text in self.text.items()}
        self.seen = {}
        self.declared = {}  # Name to headers.
        for path, code in self.code.items():
            if path.suffix == ".hpp" and room_of(path):
                for name in names(TYPE, code) | names(FUNCTION, code):
                    self.declared.setdefault(name, set()).add(path)

    def resolve(self, path, name):
        top = Path(path.parts[0])
        for folder in (path.parent, top, *([top / "src"] if top.name == "python" else []), Path("src"), Path("include")):
            if folder / name in self.text:
                return folder / name
        return None

    def reached(self, path):
        """Headers of others, and files of the repository, that the file includes, and those do."""
        if path not in self.seen:
            others, own = set(), {path}
            self.seen[path] = (others, own)  # As far as it is known, where files include one another.
            for name in INCLUDE.findall(self.text[path]):
                found = self.resolve(path, name)
                if found is None:
                    others.add(name)
                else:
                    more = self.reached(found)
                    others |= more[0]
                    own |= more[1]
        return self.seen[path]

    def findings(self, path):
        """(name, header) of what is used without its header."""
        code = self.code[path]
        others, own = self.reached(path)
        for name in sorted(set(re.findall(r"\bstd::(\w+)", code)) & BRINGS.keys()):
            if not BRINGS[name] & others:
                header = next(header for header, text in STANDARD.items() if name in text.partition("|")[0].split())
                yield f"std::{name}", f"<{header}>"
        if room_of(path) is None:
            return
        if path.parts[0] != "src":
            for use, header in OTHERS.items():
                if re.search(use, code) and not any(re.fullmatch(header, name) for name in others):
                    yield use.strip("\\b"), f"<{header}>"
            return
        used = {name for name in names(WORD, code) if name[0].isupper()} | names(CALL, code)
        missing = [name for name in sorted(used & self.declared.keys())
                   if not self.declared[name] & own and all(room_of(one) == room_of(path) for one in self.declared[name])]
        if not missing:
            return
        # Members of what is included may have the name without any word before it.
        around = "\n".join(self.code[one] for one in own)
        local = names(LOCAL_TYPE, around) | names(LOCAL_FUNCTION, NO_TYPE.sub("@", code))
        members = set(re.findall(r"^ +[\w\[\]:<>,&* ]*[ &*]([a-z]\w+)\(", around, re.MULTILINE))
        for name in missing:
            if name not in local and name not in members:
                yield name, f'"{min(self.declared[name]).as_posix()}"'


def twice(sources):
    """(path, name, other path) of names that two sources of src/interpose define outside functions: builds for any
    processor compile all of them as one, those for this machine some apart, by their flags."""
    first = {}
    for path, code in sources.code.items():
        if path.parts[:2] != ("src", "interpose") or path.suffix != ".cpp":
            continue
        for name in names(FILE_SCOPE, code):
            if first.setdefault(name, path) != path:
                yield path, name, first[name]


def check(root):
    sources = Sources(root)
    return [f"{path}: uses {name} without {header}" for path in sources.text for name, header in sources.findings(path)] + [
        f"{path}: defines {name} as {other} does, which is compiled with it" for path, name, other in twice(sources)]


def self_test():
    private = '#pragma once\n#include <vector>\nnamespace a {\nstruct Basket {};\n[[nodiscard]] int weigh(const Basket&);\n}\n'
    right = ('#include "room/basket.hpp"\nstd::vector<int> all;  // std::map\nint b = weigh(Basket());\n',
             'struct Other { int weigh(int); };\nint Other::weigh(int x) { return x; }\n',
             'template <class Basket> void f(const Basket& b) { b.weigh(); }\n',
             '#include <memory>\nauto f = std::move(g);\nconst char* text = "std::vector";\n')
    wrong = ('std::vector<int> all;\n', '#include <vector>\nstd::optional<int> one;\n', 'int b = weigh(3);\n',
             'void f(const Basket& b);\n', '#include "room/other.hpp"\nvoid f() { g(weigh(1), Third()); }\n')
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src/room").mkdir(parents=True)
        (root / "src/room/basket.hpp").write_text(private, encoding="utf-8")
        (root / "src/room/other.hpp").write_text("#pragma once\nstruct Third {};\n", encoding="utf-8")
        source = root / "src/room/source.cpp"
        for texts, expected in ((right, 0), (wrong, 1)):
            for text in texts:
                source.write_text(text, encoding="utf-8")
                if min(len(check(root)), 1) != expected:
                    failed.append(f"{'let through' if expected else 'refused'}: {text!r}")
        header = root / "include/heddle/room/public.hpp"
        header.parent.mkdir(parents=True)
        source.write_text("", encoding="utf-8")
        public = (("#include <Kokkos_Core.hpp>\nKokkos::View<int*> a;\n", 0), ("Kokkos::View<int*> a;\n", 1), ("MPI_Comm b;\n", 1))
        for text, expected in public:
            header.write_text(text, encoding="utf-8")
            if len(check(root)) != expected:
                failed.append(f"{'let through' if expected else 'refused'}: {text!r}")
        header.write_text("", encoding="utf-8")
        (root / "src/interpose").mkdir()
        for file, text, expected in (("a", "constexpr int most = 3;\n", 0), ("b", "constexpr int least = 3;\n", 0), ("c", "constexpr int most = 4;\n", 1)):
            (root / f"src/interpose/{file}.cpp").write_text(text, encoding="utf-8")
            if len(check(root)) != expected:
                failed.append(f"{'let through' if expected else 'refused'}: {text!r}")
    for line in failed:
        print(line)
    print(f"includes --self-test: {len(right) + len(wrong) + len(public) + 3} cases, {len(failed)} wrong")
    return 1 if failed else 0


def lint(root):
    findings = check(root)
    return findings, f"includes: {len(findings)} findings"


if __name__ == "__main__":
    sys.exit(command.run(__doc__, self_test, lint))
