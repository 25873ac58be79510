"""Every command of docs/studies.md, at small sizes: that it runs, and writes what it names."""

import csv
import json
import os
import re
import shlex
import unittest

from command import ON_GPU, CommandTest

STUDIES = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "studies.md"))
# Spans of code that name a command or an option without being a whole line.
NAMED = ("heddle plot TABLE.csv", "heddle predict", "heddle expm --complex-products 3",
         "OMP_NUM_THREADS=1 mpirun --bind-to none -n 2 heddle")
# By the command: what stands in place of an option's numbers, and behind lines without the option.
REPLACED = {"study gemm": {"--tiles": "8,16"},
            "gemm": {"--size": "64", "--tile": "16"},
            "expm": {"--size": "8"},
            "transpose": {"--size": "32"},
            "study jacobi": {"--sizes": "3,5"}}
ADDED = {"study gemm": {"--sizes": "32,48"},
         "study exact": {"--sizes": "16,24", "--lengths": "500"},
         "study exact-errors": {"--size": "8", "--problems": "1", "--conditions": "10,1e20"},
         "study transpose": {"--rows": "32", "--columns": "24", "--largest": "8"},
         "study faces": {"--sizes": "2,3"},
         "study jacobi": {"--largest": "10"}}
# Whatever the command; runs are shorter.
EVERYWHERE = {"--repeat": "1", "--snapshots": "0"} | ({} if ON_GPU else {"--math": "plain"})
WRITES = ("-o", "--output", "--plot", "--trace", "--terms-file", "--save", "--save-overlap", "--vectors", "--values",
          "--animate")
# Commands that end otherwise than with success, as the page says: a part of the line, the exit code, a part of the message.
ENDS = (("time.step=0.02", 2, "degree 10"), ("--allow-growth", 1, "norm"))
INPUTS = {"m3.txt": "3\n2 -1 0\n-1 2 -1\n0 -1 2\n",
          "m5.txt": "5\n" + "\n".join(" ".join(str(max(i, j) - 2) for j in range(5)) for i in range(5)) + "\n",
          "H.txt": "2\n1 0.5\n0.5 2\n", "S.txt": "2\n1 0.25\n0.25 1\n"}


def commands():
    """The lines by the heading of their part of the page, in its order."""
    with open(STUDIES, encoding="utf-8") as file:
        text = file.read()
    _, *parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    assert not lines_of(text[:text.index("\n## ")])
    seen = set()
    lines = {}
    for heading, part in zip(parts[::2], parts[1::2]):
        lines[heading] = [line for line in lines_of(part) if line not in seen]
        seen.update(lines[heading])
    missing = [name for name in NAMED if f"`{name}`" not in text]
    assert not missing, missing
    return lines


def lines_of(text):
    """The lines of a text in its order, each once."""
    found = re.findall(r"``(.+?)``|`([^`\n]+)`|^ {4}(\S.*)$|^((?:mpirun|heddle) .*)$", text, re.MULTILINE)
    spans = [next(filter(None, groups)) for groups in found]
    lines = [span for span in spans if re.match(r"(\w+=\S+ )*(H (?:study|gemm)|heddle|mpirun|ncu|printf) ", span) and span not in NAMED]
    return list(dict.fromkeys(line for span in lines for line in re.split(r"\s*(?:;|&&)\s*", span)))


def small(words):
    """The words of a command with small numbers."""
    command = " ".join(words[:2 if words[0] == "study" else 1])
    added = ADDED.get(command, {})
    replaced = EVERYWHERE | REPLACED.get(command, {}) | added
    found = []
    for before, word in zip(["", *words], words):
        if before == "--scan":
            key, begin, _, step = re.split("[=:]", word)
            word = f"{key}={begin}:{float(begin) + float(step)}:{step}"
        found.append(replaced.get(before, word))
    for option, value in added.items():
        if option not in found:
            found += [option, value]
    if words[0] == "tdse" and "--eigen" not in words and not any("time.steps" in word for word in words):
        found += ["--set", "time.steps=6"]
    return found


class Studies(CommandTest):
    def setUp(self):
        super().setUp()
        self.need("matplotlib", "h5py")  # for `heddle plot`

    def check_written(self, name):
        path = self.path(name)
        self.assertTrue(os.path.exists(path), name)
        with open(path, "rb") as file:
            content = file.read()
        kind = os.path.splitext(name)[1]
        if kind in (".png", ".gif", ".h5"):
            self.assertTrue(content.startswith({".png": b"\x89PNG", ".gif": b"GIF8", ".h5": b"\x89HDF"}[kind]), name)
            self.assertGreater(len(content), 2000, name)
        elif kind == ".json":
            self.assertTrue(json.loads(content), name)
        elif kind == ".csv":
            rows = [row for row in csv.reader(content.decode().splitlines()) if row and not row[0].startswith("#")]
            self.assertGreater(len(rows), 1, name)
        else:
            numbers = re.findall(r"^\s*[-+\d].*$", content.decode(), re.MULTILINE)
            self.assertTrue(numbers, name)
            self.assertNotRegex(content.decode(), r"(?i)\b(nan|inf)\b")

    def run_line(self, line):
        words = shlex.split(line)
        if words[0] == "printf":
            self.write(words[-1], words[1].replace("\\n", "\n"))
            return
        ranks = 2 if words[0] == "H" else 1
        if "mpirun" in words:
            ranks = int(words[words.index("-n") + 1])
        words = small(words[1 + (words.index("H") if "H" in words else words.index("heddle")):])
        for name in INPUTS.keys() & set(words):
            self.write(name, INPUTS[name])
        written = [words[k + 1] for k, word in enumerate(words) if word in WRITES]
        for name in written:
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        result = self.run_command(*words, ranks=ranks)
        if "--peers" in words and result.code == 2:  # a library that this build or machine lacks
            self.assertRegex(result.complaints[0],
                             r"^heddle: --peers \w+: (not found; (build|install) it |expected a build for CPUs)")
            return
        code, message = next(((code, message) for text, code, message in ENDS if text in line), (0, None))
        self.assertEqual(result.code, code, f"{words}\n{result.errors}{result.output}")
        if code != 0:
            self.assertIn(message, result.complaints[0])
            return
        for name in written:
            self.check_written(name)
            if words[0] == "study" and name.endswith(".csv"):
                for row in self.study_rows(words[1], name):
                    self.assertEqual(len([value for value in row.values() if value is not None]), len(row), name)
                    self.assertGreater(float(row.get("seconds", 1)), 0, name)

    def run_part(self, *headings):
        for heading, lines in commands().items():
            if heading.startswith(headings):
                for line in lines:
                    with self.subTest(line):
                        self.run_line(line)


# Parts of the page are entries of their own, since all of them take minutes where a command starts slowly.
class Products(Studies):
    PART = ("Products over several GPUs",)

    def test_every_command_runs_and_writes_what_it_names(self):
        self.run_part(*self.PART)


class WaveFunctions(Studies):
    PART = ("The Schrödinger equation", "Kohn-Sham")

    def test_every_command_runs_and_writes_what_it_names(self):
        self.run_part(*self.PART)


class Others(Studies):
    PART = ("Exact sums", "The transpose", "Equal keys", "J. A. Ayala Barbosa", "On one H200")

    def test_every_command_runs_and_writes_what_it_names(self):
        self.run_part(*self.PART)

    def test_the_parts_have_all_lines(self):
        all_parts = commands()
        self.assertGreater(sum(map(len, all_parts.values())), 85)
        for heading in all_parts:
            tests = [test for test in (Products, WaveFunctions, Others) if heading.startswith(test.PART)]
            self.assertEqual(len(tests), 1, heading)


if __name__ == "__main__":
    unittest.main()
