#!/usr/bin/env python3
"""Compares the fields of the public reports with what their operator<< writes.

    ci/lints/reports.py               names what is missing, one a line; exit status 1 if there is any
    ci/lints/reports.py --self-test   checks that a planted field is missed

A report is a structure of include/heddle whose name ends in Report. Its operator<< may leave out the fields that the comment above
it names: "Write the fields but the terms as ...".
"""
import pathlib
import re
import sys

STRUCTURE = re.compile(r"^(?:template <[^>]*> )?struct (\w*Report)(?: : ([\w, ]+))? \{\n(.*?)^\};\n((?:///[^\n]*\n)*)", re.DOTALL | re.MULTILINE)
MEMBER = re.compile(r"^\s*[\w:<>, ]+? (\w+)(?: = [^,;]*|\{\})?(?:, (\w+)(?: = [^;]*)?)?;", re.MULTILINE)
WRITER = re.compile(r"\b(operator<<|line_of)\([^()]*const (\w+)(?:<T>)?& \w+\) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


def missing(headers, sources):
    """Yield a line for each field of a report in `headers` that no operator<< of the same room in `sources` writes; both are
    pairs of a room and a text. The fields of a base are written by a call of line_of() with the report as that base."""
    bodies = {}
    for room, text in sources:
        for function, name, body in WRITER.findall(text):
            bodies.setdefault((room, name), {})[function] = body

    def written(room, name):
        body = "".join(bodies.get((room, name), {}).values())
        return set(re.findall(r'\.field\("(\w+)"', body)).union(*(written(room, base) for base in re.findall(r"static_cast<const (\w+)&>", body)))

    reports = {}
    for room, text in headers:
        for name, bases, body, comment in STRUCTURE.findall(text):
            members = {field for pair in MEMBER.findall(re.sub(r"//.*", "", body)) for field in pair if field}
            left_out = set(re.findall(r"\w+", " ".join(re.findall(r"fields but (?:the )?(.*?) as Name", comment))))
            reports[room, name] = (re.findall(r"\w+", bases), members - left_out)

    def expected(room, name):
        bases, members = reports.get((room, name), ([], set()))
        return members.union(*(expected(room, base) for base in bases))

    for room, name in reports:
        if "operator<<" not in bodies.get((room, name), {}):
            yield f"{room}: {name} has no operator<<"
        elif absent := expected(room, name) - written(room, name):
            yield f"{room}: operator<< of {name} writes no {', '.join(sorted(absent))}"


def self_test():
    header = ("struct AReport {\n  int one = 0;  ///< One.\n  double real = 0.0, imaginary = 0.0;\n  std::vector<Term> terms;\n"
              "  [[nodiscard]] bool good() const { return one == 0; }\n};\n/// Write the fields but the terms as Name(...)\n"
              "struct BReport : AReport, NoReport {\n  int two = 0;\n};\n")
    base = ('ReportLine line_of(std::string_view name, const AReport& report) {\n  return ReportLine(name).field("one", 1)%s;\n}\n'
            'std::ostream& operator<<(std::ostream& out, const AReport& report) {\n  return out << line_of("AReport", report);\n}\n')
    derived = 'std::ostream& operator<<(std::ostream& out, const BReport& report) {\n  return out << line_of("B", %s).field("two", 2);\n}\n'
    as_base = "static_cast<const AReport&>(report)"
    whole = base % '.field("real", 1).field("imaginary", 1)'
    cases = (
        (("a", whole + derived % as_base), []),
        (("a", base % '.field("real", 1)' + derived % as_base),
         ["a: operator<< of AReport writes no imaginary", "a: operator<< of BReport writes no imaginary"]),
        (("a", whole + derived % "report"), ["a: operator<< of BReport writes no imaginary, one, real"]),
        (("b", whole + derived % as_base), ["a: AReport has no operator<<", "a: BReport has no operator<<"]),
    )
    for source, findings in cases:
        assert list(missing([("a", header)], [source])) == findings, findings
    print(f"reports --self-test: {len(cases)} cases, 0 wrong")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(__file__).resolve().parents[2]

    def texts(folder, suffix):
        return [(path.relative_to(root / folder).parts[0], path.read_text()) for path in sorted((root / folder).rglob(f"*{suffix}"))]

    found = list(missing(texts("include/heddle", ".hpp"), texts("src", ".cpp")))
    print("\n".join(found + [f"reports: {len(found)} findings"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
