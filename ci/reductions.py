#!/usr/bin/env python3
"""Finds Kokkos::parallel_reduce() with several results in src/ and include/.

Since version 4 Kokkos declares that overload noexcept: where its kernel does not start, the process ends, and no Error
tells the caller. A struct with += as the one result does the same and may throw. Reductions within a team are not meant:
they run inside a kernel.

    ci/reductions.py               says where they are, one a line; exit status 1 if there are any
    ci/reductions.py --self-test   checks that a planted one is found
"""
import pathlib
import re
import sys

OPENING, CLOSING = "([{", ")]}"
CALL = re.compile(r"\bparallel_reduce\(")
TEMPLATE_ARGUMENTS = re.compile(r"<[\w:\s,*]*>")


def without_template_arguments(text):
    """Their commas part no arguments of a call; lines keep their numbers."""
    while (shorter := TEMPLATE_ARGUMENTS.sub(lambda match: "\n" * match[0].count("\n"), text)) != text:
        text = shorter
    return text


def arguments(text, begin):
    """The arguments of the call whose opening bracket ends at `begin`."""
    found, depth, start = [], 1, begin
    for at in range(begin, len(text)):
        c = text[at]
        if c in OPENING:
            depth += 1
        elif c in CLOSING:
            depth -= 1
        if depth == 0 or (depth == 1 and c == ","):
            found.append(text[start:at].strip())
            start = at + 1
        if depth == 0:
            break
    return found


def several(text):
    """Line numbers of calls with more than one result behind the functor."""
    text = without_template_arguments(text)
    for call in CALL.finditer(text):
        given = arguments(text, call.end())
        in_team = re.match(r"Kokkos::(Team|Thread)\w*Range\(", given[0])
        functor = next((k for k, one in enumerate(given) if "KOKKOS_LAMBDA" in one), 2 if given[0][0] == '"' else 1)
        if not in_team and len(given) > functor + 2:
            yield text.count("\n", 0, call.start()) + 1


def self_test():
    one = 'Kokkos::parallel_reduce("a", Policy<E, I<J>>(s, 0, n), KOKKOS_LAMBDA(int i, S& x) { f(i, x); }, Kokkos::Max<T>(a));'
    two = 'Kokkos::parallel_reduce(\n"a", Policy(s, 0, n), KOKKOS_LAMBDA(int i, S& x, S& y) { f(i, x); }, a, b);'
    team = "Kokkos::parallel_reduce(Kokkos::TeamVectorRange(t, n), [&](int i, S& x, S& y) { f(i, x); }, a, b);"
    assert not list(several(one)), "one result is taken for several"
    assert list(several("\n" + two)) == [2], "several results are not found"
    assert not list(several(team)), "a reduction within a team is refused"


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    root = pathlib.Path(__file__).resolve().parent.parent
    found = [
        f"{path.relative_to(root)}:{line}"
        for folder in ("include", "src")
        for path in sorted((root / folder).rglob("*.[ch]pp"))
        for line in several(path.read_text())
    ]
    for where in found:
        print(f"{where}: a reduction with several results, which can't throw; expected one result, a struct with +=")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
