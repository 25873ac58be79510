#!/usr/bin/env python3
"""Compares the fields of the public reports with what their operator<< writes.

    ci/reports.py               names what is missing, one a line; exit status 1 if there is any
    ci/reports.py --self-test   checks that a planted field is missed

A report is a structure of include/heddle whose name ends in Report. Its operator<< may leave out the fields that the comment above
it names: "Write the fields but the terms as ...".
"""
import pathlib
import re
import sys

STRUCTURE = re.compile(r"^(?:template <[^>]*> )?struct (\w*Report)(?: : (\w+))? \{\n(.*?)^\};\n((?:///.*\n)*)", re.DOTALL | re.MULTILINE)
MEMBER = re.compile(r"^\s*[\w:<>, ]+? (\w+)(?: = [^,;]*|\{\})?(?:, (\w+)(?: = [^;]*)?)?;", re.MULTILINE)
WRITTEN = re.compile(r'ReportLine\("(\w+)"\)((?:\s*\.field\("\w+", [^;]*?\))*);')


def missing(headers, sources):
    """Yield a line for each field of a report in the texts of headers that no operator<< in the texts of sources writes."""
    written = {}
    for text in sources:
        for name, chain in WRITTEN.findall(text):
            written.setdefault(name, []).append(set(re.findall(r'\.field\("(\w+)"', chain)))
    fields = {}
    for text in headers:
        for name, base, body, comment in STRUCTURE.findall(text):
            body = re.sub(r"//.*", "", body)
            own = {field for pair in MEMBER.findall(body) for field in pair if field}
            left_out = set(re.findall(r"\w+", " ".join(re.findall(r"fields but (?:the )?(.*?) as Name", comment))))
            fields.setdefault(name, []).append((base, own, left_out))
    for name, found in fields.items():
        for base, own, left_out in found:
            inherited = fields[base][0][1] if base in fields else set()
            candidates = written.get(name, [])
            absent = [(own | inherited) - left_out - fields_written for fields_written in candidates]
            if not candidates:
                yield f"{name} has no operator<<"
            elif all(absent):
                yield f"operator<< of {name} writes no {', '.join(sorted(min(absent, key=len)))}"


def self_test():
    header = ("struct AReport {\n  int one = 0;  ///< One.\n  double real = 0.0, imaginary = 0.0;\n  std::vector<Term> terms;\n"
              "  [[nodiscard]] bool good() const { return one == 0; }\n};\n/// Write the fields but the terms as Name(...)\n")
    source = 'return out << ReportLine("AReport")\n    .field("one", report.one)\n    .field("real", report.real){};'
    assert list(missing([header], [source.format('.field("imaginary", report.imaginary)')])) == []
    assert list(missing([header], [source.format("")])) == ["operator<< of AReport writes no imaginary"]
    assert list(missing([header], [])) == ["AReport has no operator<<"]
    print("reports --self-test: 3 cases, 0 wrong")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    found = list(missing([path.read_text() for path in sorted((root / "include").rglob("*.hpp"))],
                         [path.read_text() for path in sorted((root / "src").rglob("*.cpp"))]))
    print("\n".join(found + [f"reports: {len(found)} findings"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
