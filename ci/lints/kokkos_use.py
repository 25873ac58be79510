#!/usr/bin/env python3
"""Finds uses of Kokkos that g++ takes and that fail elsewhere: on GPUs, under nvcc, or when memory is short.

    reductions   parallel_reduce() with several results, in src/ and include/. Since version 4 Kokkos declares that overload
                 noexcept: where its kernel does not start, the process ends, and no Error tells the caller. A struct with
                 += as the one result does the same and may throw. Reductions within a team run inside a kernel and are
                 not meant.
    instances    device memory that is allocated without an instance, in src/ (but for drivers) and include/: Kokkos then
                 initialises it on the default instance, which may be at other work. view_alloc() takes the instance.
    lambdas      KOKKOS_LAMBDA or KOKKOS_CLASS_LAMBDA where nvcc has none: in the body of a test (a private member
                 function), in other private or protected members, and in generic lambdas.
    headers      KOKKOS_LAMBDA or KOKKOS_CLASS_LAMBDA in a header that several sources of src/ or tests/ include. nvcc wraps such
                 a lambda in a class that is copied through pointers, which each source sets for itself, and the linker
                 keeps one source's copy of what Kokkos makes of the class: the pointers may be those that nobody has set.
                 A class with a call operator works everywhere.
    vectors      a View of the library's memory over the elements of a std::vector, in tests/, perf/ and examples/: GPUs do
                 not reach them. Views of Kokkos::HostSpace are meant for that.

    ci/lints/kokkos_use.py               says where they are, one a line; exit status 1 if there are any
    ci/lints/kokkos_use.py --self-test   checks that planted ones are found
"""
import pathlib
import re
import sys

OPENING, CLOSING = "([{", ")]}"
CALL = re.compile(r"\bparallel_reduce\(")
TEMPLATE_ARGUMENTS = re.compile(r"<[\w:\s,*]*>")
EXTENDED = re.compile(r"\bKOKKOS(_CLASS)?_LAMBDA\b")
DEVICE_MEMORY = re.compile(r"\b(?:Kokkos::View|LocalMatrix|Vector)<(?:[^;(){}]*)>\s+\w+\(\s*\"heddle::")
MEMBER = re.compile(r"^\s*(?:\w[^;{}\"]*\)\s*:|:|,)?\s*\w+\(\"heddle::[^\"]*\"\)", re.M)
VECTOR = re.compile(r"\bstd::vector<[^;(){}]*>\s*&?\s*(\w+(?:\s*,\s*\w+)*)\s*[;({=,)]")
# The type's arguments, and what the constructor's first argument names, be it a member, and how its elements are meant.
VIEW = re.compile(r"\b(?:MatrixView|Strided(?:Vector|Matrix|Batch)|Kokkos::View)<([^;(){}]*)>(?:\s+\w+)?\s*[({]"
                  r"\s*&?(?:\w+(?:\.|->))*?(\w+)(\.data\(\)|\[0\])?\s*[,)}+]")


def code_of(text):
    """The text with comments, strings and literals of characters as blanks; lines keep their numbers."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def end_of(text, begin):
    """Return the position at which the bracket that opens at `begin` closes."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in OPENING) - (text[at] in CLOSING)
        if depth == 0:
            return at
    return len(text)


def without_template_arguments(text):
    """Their commas part no arguments of a call; lines keep their numbers."""
    while (shorter := TEMPLATE_ARGUMENTS.sub(lambda match: "\n" * match[0].count("\n"), text)) != text:
        text = shorter
    return text


def arguments(text, begin):
    """The arguments of the call whose opening bracket ends at `begin`."""
    found, depth, start = [], 1, begin
    for at in range(begin, end_of(text, begin - 1) + 1):
        depth += (text[at] in OPENING) - (text[at] in CLOSING)
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[start:at].strip())
            start = at + 1
    return found


def reductions(text):
    """Lines of calls with more than one result behind the functor."""
    text = without_template_arguments(text)
    for call in CALL.finditer(text):
        given = arguments(text, call.end())
        in_team = re.match(r"Kokkos::(Team|Thread)\w*Range\(", given[0])
        labelled = given[0][0] == '"' or given[0] == "label"
        functor = next((k for k, one in enumerate(given) if "KOKKOS_LAMBDA" in one), 2 if labelled else 1)
        if not in_team and len(given) > functor + 2:
            yield line_of(text, call.start())


def instances(text):
    """Return lines of Views of device memory that are not initialized by an instance."""
    for found in DEVICE_MEMORY.finditer(text):
        if "Host" not in found[0]:
            yield line_of(text, found.start())
    for found in MEMBER.finditer(text):
        yield line_of(text, found.end())


def bodies(code, opening, arguments=""):
    """(begin, end) of the braces that follow each match of `opening`, which ends at an opening bracket; of those alone whose
    brackets hold a match of `arguments`."""
    for match in re.finditer(opening, code):
        closing = end_of(code, match.end() - 1)
        brace = re.compile(r"[^{};]*\{").match(code, closing + 1)
        if brace and re.search(arguments, code[match.end():closing]):
            yield brace.end() - 1, end_of(code, brace.end() - 1)


def hidden_members(code):
    """(begin, end) of what is private or protected in each class."""
    for match in re.finditer(r"\b(class|struct)\s+\w+(?:\s+final)?(?:\s*:[^{};()]*)?\s*\{", code):
        if re.search(r"\benum\s*$|<[^>]*$", code[max(0, match.start() - 40):match.start()]):
            continue
        hidden = match[1] == "class"
        begin, depth = match.end(), 1
        for step in re.finditer(r"[{}]|\b(public|private|protected)\s*:(?!:)", code[match.end():]):
            at = match.end() + step.start()
            if step[0] in "{}":
                depth += 1 if step[0] == "{" else -1
                if depth == 0:
                    if hidden:
                        yield begin, at
                    break
            elif depth == 1:
                if hidden:
                    yield begin, at
                hidden, begin = step[1] != "public", at


def lambdas(text):
    """Return lines of extended lambdas in places where nvcc does not allow them."""
    code = code_of(text)
    ranges = [*bodies(code, r"\b(?:TYPED_)?TEST(?:_F|_P)?\("), *bodies(code, r"\](?:<[^;{}()]*>\s*)\("),
              *bodies(code, r"\]\s*\(", r"\bauto\b"), *hidden_members(code)]
    found = {line_of(code, lambda_.start()) for lambda_ in EXTENDED.finditer(code)
             if any(begin < lambda_.start() < end for begin, end in ranges)}
    yield from sorted(found)


def vectors(text):
    """Lines of Views of the library's memory over a std::vector, or of calls of a function that makes one of a pointer."""
    code = code_of(text)
    names = {name for found in VECTOR.finditer(code) for name in re.split(r"\s*,\s*", found[1])}
    lines = set()
    makers = set()
    for found in VIEW.finditer(code):
        named = "Kokkos::View" in found[0] and "Space" in found[1]
        if "HostSpace" in found[1] or (named and "MemorySpace" not in found[1]):
            continue
        if found[3]:
            lines |= {line_of(code, found.start())} if found[2] in names else set()
        else:
            # The function, whose parameter it is.
            before = code[:found.start()]
            makers |= set(re.findall(rf"(\w+)\([^(){{}};]*\*\s*{found[2]}\b[^(){{}};]*\)[^(){{}};]*\{{[^{{}}]*$", before))
    for maker in makers:
        for call in re.finditer(rf"\b{maker}(?:<[^;(){{}}]*>)?\(\s*(\w+)\.data\(\)", code):
            if call[1] in names:
                lines.add(line_of(code, call.start()))
    yield from sorted(lines)


def shared_headers(files):
    """(path, line) of extended lambdas in headers that several sources include; `files` are texts by path below the root."""
    def included(path):
        for name in re.findall(r"^#include [<\"]([\w/.]+\.hpp)[>\"]", files[path], re.M):
            for folder in ("include/", "src/", "tests/", str(pathlib.PurePosixPath(path).parent) + "/"):
                if folder + name in files:
                    yield folder + name

    below = {path: set(included(path)) for path in files}
    sources = dict.fromkeys(files, 0)
    for source in files:
        if source.endswith(".cpp"):
            reached, ahead = set(), [source]
            while ahead:
                new = below[ahead.pop()] - reached
                reached |= new
                ahead += new
            for path in reached:
                sources[path] += 1
    for path, count in sources.items():
        if count > 1:
            code = code_of(files[path])
            yield from ((path, line_of(code, lambda_.start())) for lambda_ in EXTENDED.finditer(code))


CHECKS = ((reductions, "several results", ("include", "src")),
          (instances, "device memory without an instance", ("include", "src")),
          (lambdas, "an extended lambda where nvcc has none", ("include", "src", "tests", "perf", "examples")),
          (vectors, "a View of the library's memory over a std::vector", ("tests", "perf", "examples")))


def self_test():
    one = 'Kokkos::parallel_reduce("a", Policy<E, I<J>>(s, 0, n), KOKKOS_LAMBDA(int i, S& x) { f(i, x); }, Kokkos::Max<T>(a));'
    two = 'Kokkos::parallel_reduce(\n"a", Policy(s, 0, n), KOKKOS_LAMBDA(int i, S& x, S& y) { f(i, x); }, a, b);'
    named = "Kokkos::parallel_reduce(label, Policy(s, 0, n), Functor<T>{a, b}, Kokkos::Max<T>(most));"
    team = "Kokkos::parallel_reduce(Kokkos::TeamVectorRange(t, n), [&](int i, S& x, S& y) { f(i, x); }, a, b);"
    assert not list(reductions(one)), "one result is taken for several"
    assert not list(reductions(named)), "a label that is not a literal is taken for the policy"
    assert list(reductions("\n" + two)) == [2], "several results are not found"
    assert not list(reductions(team)), "a reduction within a team is taken for one over all"
    assert list(instances('\nconst Kokkos::View<T*, MemorySpace> a("heddle::a", n);')) == [2]
    assert list(instances('Solver::Solver() : info("heddle::info") {')) == [1]
    assert not list(instances('const Kokkos::View<T*, Kokkos::HostSpace> a("heddle::a", n);'))
    assert not list(instances('const Kokkos::View<T*, MemorySpace> a(Kokkos::view_alloc(space, "heddle::a"), n);'))
    kernel = "\n f(KOKKOS_LAMBDA(int i) { a(i) = 0; });\n"
    for before, after in (("TEST(A, B) {", "}"), ("TYPED_TEST(A, B) {", "}"), ("class A { void f() {", "} };"),
                          ("struct A { private: void f() {", "} };"), ("void f() { g([&](auto x) {", "}); }"),
                          ("void f() { g([&]<class T>(int x) {", "}); }")):
        assert list(lambdas(before + kernel + after)) == [2], before
    for before, after in (("void f() {", "}"), ("class A { public: void f() {", "} private: int b; };"),
                          ("struct A { void f() {", "} };"), ("void f() { g([&](int x) {", "}); }"),
                          ("TEST(A, B) { f(); }\nvoid g() {", "}"), ("template <class T> void f() {", "}")):
        assert not list(lambdas(before + kernel + after)), before
    header = "#pragma once\nvoid f() { g(KOKKOS_LAMBDA(int i) { a(i) = 0; }); }  // KOKKOS_LAMBDA\n"
    files = {"src/a/a.hpp": header, "include/heddle/b.hpp": '#include "a/a.hpp"\n', "src/c.cpp": "#include <heddle/b.hpp>\n",
             "tests/d.cpp": "void d();\n"}
    assert not list(shared_headers(files)), "one source alone"
    files["tests/d.cpp"] = '#include "a/a.hpp"\n'
    assert list(shared_headers(files)) == [("src/a/a.hpp", 2)]
    declared = "std::vector<T> x(n);\nstd::vector<R> y, z;\n"
    maker = "template <class U> MatrixView<U> matrix(U* data, Index m) {\n return MatrixView<U>(data, layout(m)); }\n"
    for use, lines in (("MatrixView<T>(x.data(), m);", [3]), ("const StridedVector<R> w(z.data(), n);", [3]),
                       ("Kokkos::View<T*, MemorySpace>(x.data(), n);", [3]), ("Kokkos::View<T*>(x.data(), n);", [3]),
                       ("MatrixView<T>{x.data(), m};", [3]), ("StridedVector<T>(&x[0], m);", [3]),
                       ("MatrixView<T>(c.y.data() + m, m);", [3]),
                       ("void f(const std::vector<T>& w, int n) { StridedVector<T>(w.data(), n); }", [3]),
                       ("Kokkos::View<T*, Space>(x.data(), n);", []), (maker + "f(matrix<T>(x.data(), m));", [5]),
                       ("Kokkos::View<T*, Kokkos::HostSpace>(x.data(), n);", []), ("MatrixView<T>(a.data(), m);", []),
                       (maker + "f(matrix<T>(a.data(), m));", [])):
        assert list(vectors(declared + use)) == lines, use


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        return 0
    root = pathlib.Path(__file__).resolve().parents[2]
    found = False
    files = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for folder in ("include", "src", "tests")
             for path in sorted((root / folder).rglob("*.[ch]pp"))}
    for name, line in shared_headers(files):
        print(f"{name}:{line}: an extended lambda in a header of several sources (ci/lints/kokkos_use.py says why)")
        found = True
    for check, what, folders in CHECKS:
        for folder in folders:
            for path in sorted((root / folder).rglob("*.[ch]pp")):
                name = path.relative_to(root)
                if check is instances and str(name).startswith("src/drivers"):
                    continue
                for line in check(path.read_text(encoding="utf-8")):
                    print(f"{name}:{line}: {what} (ci/lints/kokkos_use.py says why)")
                    found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
