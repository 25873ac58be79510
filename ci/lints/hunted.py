#!/usr/bin/env python3
"""Compares the hunt (tests/hunt) with the public headers and the Python package, and names what it never calls.

Counted are the functions at namespace level of include/heddle, the plans, the enumerators that choose how something is
computed, and the public functions of the Python package. A function counts as hunted where a file of tests/hunt names
it, an enumerator where one names it or draws all values of its enumeration (`all_values<Enumeration>`, or a cast from a
number that was drawn), a function of Python where tests/hunt/values.py names it. LEFT_OUT says what is not hunted, and why.

    ci/lints/hunted.py               says what is missing, one a line; exit status 1 if there is any, or if LEFT_OUT is out of date
    ci/lints/hunted.py --self-test   checks that a planted one is found
"""
import pathlib
import re
import sys

# A header, a folder of headers, or a name, with the reason why the hunt does not draw inputs for it.
LEFT_OUT = {
    "comm/": "moves bytes; tests/comm and tests/cluster compare every byte over every transport",
    "tuning/": "measures time",
    "core/error.hpp": "makes messages",
    "core/host_memory.hpp": "asks the system",
    "core/pending_file.hpp": "names files",
    "core/version.hpp": "names this build",
    "core/random.hpp": "makes inputs, whose bits tests/core fixes",
    "core/strided.hpp": "changes types of views",
    "gemm/predict.hpp": "predicts time", "gemm/timeline.hpp": "records time", "expm/predict.hpp": "predicts time",
    "gemm/tile_model.hpp": "predicts time",
    "solve/memory.hpp": "predicts memory, which tests/solve/memory_test.cpp compares with what is allocated",
    "models/": "problems for examples; tests/models compares them with published values and closed forms",
    "io/mesh_file.hpp": "tests/fuzz draws damaged meshes for every reader, tests/search compares whole ones with VTK",
    "io/pending_hdf5.hpp": "names files",
    "io/hdf5.hpp": "hunted through read_matrix() and write_matrix()", "io/npy.hpp": "the same",
    "io/matrix_market.hpp": "the same", "io/text_matrix.hpp": "the same", "io/text_list.hpp": "the same",
    "exact/accumulator.hpp": "hunted through the sums made of it; ci/mutate plants mistakes in it",
    "exact/expansion.hpp": "the same",
    "exact/algorithm.hpp": "names of ways to one result, which tests/exact/algorithms_test.cpp compares bit by bit",
    "dist/scalapack.hpp": "descriptors, which tests/dist/scalapack_test.cpp hands to ScaLAPACK",
    "search/grid.hpp": "makes meshes",
    "sum_condition": "tests/exact/range_test.cpp compares it with MPFR", "dot_condition": "the same",
    "dotc_condition": "the same", "added_error": "a bound, which the hunt of gemm uses in words of its own",
    "dimensions_of": "a table", "real_of": "an accessor", "imaginary_of": "an accessor", "as_batch": "changes a view",
    "jacobi_generalised": "behind jacobi() of pencils, which is hunted",
    "key_array": "behind find_duplicates()", "jacobi_batched_values": "tests/eigen compares it with jacobi_batched()",
    "ExpmFrechetPlan": "behind expm_frechet(), which is hunted",
    "ExpmActionPlan": "behind expm_action() and expm_multiply of Python, which are hunted",
    "expm_certificate_tolerance": "a tolerance", "default_tile": "a size",
    "schrodinger/stability.hpp": "predicts growth",
}
# Headers whose methods are drawn from a list of all of them.
DRAWN_FROM = {"search/algorithm.hpp": "all_searches()"}
# Names that parse, print, check or describe an argument.
PLAIN = re.compile(r"(\w+_from|to_string|\w+_info|require_\w+|trouble_with|\w*description|describe|validate|\w+_memory|"
                   r"absent_libraries|runs_side_by_side|search_memory|is_exact)$")
# Enumerations that choose a method: each enumerator is a way to a result.
METHODS = re.compile(r"(Operation|Triangle|Diagonal|Norm|Arithmetic|Fallback|EmulationScheme|GemmTiles|\w*Method|\w*Structure|"
                     r"Algorithm|HashFunction|Sorting|TransposeVariant|PropagatorKind|PotentialKind|AbsorberKind|Kinetic|"
                     r"Envelope|Motion|JacobiAccuracy)$")


def without_comments(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return "\n".join("" if line.lstrip().startswith("#") else line for line in text.split("\n"))


def declarations(text):
    """The declarations at namespace level; bodies of functions are cut off, those of types are kept."""
    current, depth = "", 0
    for c in without_comments(text):
        if depth == 0 and c == "{" and re.search(r"namespace(\s+[\w:]+)?\s*$", current):
            current = ""
        elif depth == 0 and c == "}":
            current = ""
        elif depth == 0 and c == ";":
            yield current.strip()
            current = ""
        else:
            current += c
            depth += (c == "{") - (c == "}")
            if c == "}" and depth == 0 and not TYPE.match(current.strip()):
                yield current.partition("{")[0].strip()
                current = ""


TEMPLATE = r"(?:template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*(?:requires\s*\([^{;]*?\)\s*(?=class|struct))?)?"
TYPE = re.compile(TEMPLATE + r"\s*(?:enum class|class|struct|union)\s+(?:\[\[\w+\]\]\s*)?(\w+)", re.S)


def operations(text):
    """The names that a header declares and the hunt should know."""
    for declaration in declarations(text):
        enumeration = re.match(r"enum class\s+(\w+)[^{]*\{(.*)\}", declaration, re.S)
        kind = TYPE.match(declaration)
        if enumeration:
            if METHODS.match(enumeration[1]):
                for value in enumeration[2].split(","):
                    if name := value.partition("=")[0].strip():
                        yield f"{enumeration[1]}::{name}"
        elif kind:
            if kind[1].endswith("Plan"):
                yield kind[1]
        elif not declaration.startswith(("using", "extern", "friend", "static_assert", "inline constexpr")):
            plain = re.sub(r"^" + TEMPLATE, "", declaration)
            plain = re.sub(r"^\s*requires\s*\((?:[^()]|\([^()]*\))*\)", "", plain)
            function = re.search(r"([\w:]+)\s*\(", plain)
            if function and "::" not in function[1] and not PLAIN.match(function[1]):
                yield function[1]


def is_hunted(name, hunt):
    if re.search(rf"\b{name}\b", hunt):
        return True
    enumeration = name.partition("::")[0] if "::" in name else None
    return enumeration is not None and re.search(rf"(all_values|static_cast)<(\w+::)*{enumeration}>", hunt) is not None


def python_functions(package):
    """The functions that the package exports: lower-case names of __all__, and those of its module `exact`."""
    names = re.findall(r'"([a-z_]\w*)"', re.search(r"__all__ = \[(.*?)\]", (package / "__init__.py").read_text(), re.S)[1])
    exact = re.findall(r"^def ([a-z]\w*)", (package / "exact.py").read_text(), re.M)
    return [name for name in names if name != "exact"] + [f"exact.{name}" for name in exact]


def findings(root):
    hunt = "\n".join(path.read_text() for path in sorted((root / "tests/hunt").rglob("*.[ch]pp")))
    used = set()
    for header in sorted((root / "include/heddle").rglob("*.hpp")):
        where = str(header.relative_to(root / "include/heddle"))
        skipped = next((key for key in (where, where.partition("/")[0] + "/") if key in LEFT_OUT), None)
        if skipped:
            used.add(skipped)
            continue
        for name in dict.fromkeys(operations(header.read_text())):
            if name in LEFT_OUT:
                used.add(name)
            elif not (is_hunted(name, hunt) or (where in DRAWN_FROM and DRAWN_FROM[where] in hunt)):
                yield f"include/heddle/{where}: the hunt does not know {name}"
    values = (root / "tests/hunt/values.py").read_text()
    for name in python_functions(root / "python/heddle"):
        if f"python:{name}" in LEFT_OUT:
            used.add(f"python:{name}")
        elif f'"{name}"' not in values:
            yield f"python/heddle: tests/hunt/values.py does not know {name}"
    yield from (f"ci/lints/hunted.py: LEFT_OUT names {key}, which is gone" for key in LEFT_OUT if key not in used)


def self_test():
    text = """
namespace heddle {
/// void in_a_comment();
enum class ThingMethod { one, two };
enum class Colour { red };
template <Scalar T> class ThingPlan { public: void execute(); };
template <Scalar T>
[[nodiscard]] ThingReport thing(const A& a, std::function<void(int)> f = {});
inline double half(double x) { return twice(x) / 4; }
template <class T>
  requires(is_real<T>)
void third(const T& x);
ThingMethod thing_method_from(std::string_view name);
}"""
    expected = ["ThingMethod::one", "ThingMethod::two", "ThingPlan", "thing", "half", "third"]
    assert list(operations(text)) == expected, list(operations(text))
    hunt = "thing(a); ThingPlan<T> p; static_cast<ThingMethod>(one.knob(0)); third(x);"
    assert [name for name in expected if not is_hunted(name, hunt)] == ["half"]
    assert not is_hunted("thing", "anything(a); thing_method_from(b);")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    found = list(findings(pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join([*found, f"hunted: {len(found)} missing"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
