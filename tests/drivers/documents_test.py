"""Documents of the command: man pages, completions, the reference pages, README's lines and the guides' programs."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from command import COMMAND, MANY, ON_GPU, CommandTest, write_market

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SITE = os.path.join(ROOT, "docs", "site")
# Lines that build or want another machine: quickstart, the tests of the installation and the whole suite do the former.
ELSEWHERE = re.compile(r"^(\./ci/|cmake |srun |spack |Kokkos_ROOT=|mpirun -n 2 build/)")


def text_of(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def fences(text, language):
    """The blocks of code of a document."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Manual(CommandTest):
    def manual(self, form):
        done = subprocess.run([COMMAND, "manual", "--format", form, "--output", self.path(form)], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.path(form)

    def test_reference_pages_are_those_of_the_tables(self):
        folder = self.manual("markdown")
        self.assertEqual(sorted(os.listdir(folder)), ["commands.md", "deck-keys.md"])
        for name in os.listdir(folder):
            self.assertTrue(text_of(folder, name) == text_of(SITE, name),
                            f"docs/site/{name} is old: heddle manual --format markdown --output docs/site")

    def test_code_is_not_quoted_twice(self):
        folder = self.manual("markdown")
        page = text_of(folder, "commands.md")
        self.assertNotRegex(page.replace("```", ""), "``")
        self.assertIn("`heddle eig --scf`", page)
        self.assertIn("| `HEDDLE_PYTHON` |", page)
        self.assertIn("| `points` | `(points or dx)` |", text_of(folder, "deck-keys.md"))

    def test_keys_of_decks_are_all_there(self):
        page = text_of(self.manual("markdown"), "deck-keys.md")
        keys = re.findall(r"^  (\w+)\.(\w+) ", self.run_command("tdse", "--keys").output, re.MULTILINE)
        self.assertGreater(len(keys), 50)
        for table, key in keys:
            section = page.split(f"\n## {table}\n")[1].split("\n## ")[0]
            self.assertIn(f"\n| `{key}` |", section)

    @unittest.skipUnless(MANY, "the tables come from heddle_many")
    def test_man_pages_have_every_option(self):
        tables = json.loads(subprocess.run([MANY, "--options"], capture_output=True, text=True, check=True).stdout)
        folder = self.manual("man")
        names = {"heddle-" + command.replace(" ", "-") + ".1" for command in tables}
        self.assertEqual(set(os.listdir(folder)), names | {"heddle.1", "heddle-study.1", "heddle-predict.1"})
        overview = text_of(folder, "heddle.1").replace("\\-", "-")
        for command, options in tables.items():
            page = text_of(folder, "heddle-" + command.replace(" ", "-") + ".1").replace("\\-", "-")
            self.assertIn(f"\n\\fBheddle {command}\\fR\n", overview)
            for option in options:
                for name in option["names"]:
                    if name.lstrip("!").startswith("-"):
                        self.assertEqual(f"\\fB{name.lstrip('!')}\\fR" in page, not option["hidden"], (command, name))
        if shutil.which("groff"):
            for name in os.listdir(folder):
                done = subprocess.run(["groff", "-man", "-ww", "-z", os.path.join(folder, name)], capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def completed(self, *words):
        """Return bash's completions of the last word."""
        script = (f"source '{self.path('bash')}/heddle'; COMP_WORDS=({' '.join(repr(word) for word in words)})\n"
                  f"COMP_CWORD={len(words) - 1}; _heddle; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.manual("bash")
        self.write("matrix.mtx", "")
        self.assertEqual(self.completed("heddle", "tra"), ["transpose"])
        self.assertNotIn("manual", self.completed("heddle", ""))
        self.assertEqual(self.completed("heddle", "gemm", "--place-"), ["--place-a", "--place-b", "--place-c"])
        self.assertIn("--no-check", self.completed("heddle", "gemm", "--"))
        self.assertEqual(self.completed("heddle", "gemm", "--arithmetic", "e"), ["emulated"])
        self.assertEqual(self.completed("heddle", "gemm", "--a", "mat"), ["matrix.mtx"])
        self.assertEqual(self.completed("heddle", "gemm", "--size", ""), [])
        self.assertEqual(self.completed("heddle", "study", "ja"), ["jacobi"])
        self.assertIn("--sizes", self.completed("heddle", "study", "jacobi", "--si"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_completion(self):
        done = subprocess.run(["zsh", "-n", os.path.join(self.manual("zsh"), "_heddle")], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bad_usage(self):
        self.refuse("manual", "--format", "html", "--output", "x", fresh=True, message="expected man, bash, zsh or markdown")
        self.refuse("manual", "--format", "man", fresh=True, message="--output is required")
        self.write("file", "")
        self.refuse("manual", "--format", "man", "--output", "file/folder", fresh=True, message="file/folder: can't be made")


class Lines(CommandTest):
    """The lines of shell in documents, as printed: in a folder as the repository is after ci/quickstart, and with an
    environment that has nothing of the suite's."""

    def setUp(self):
        super().setUp()
        self.need("matplotlib", "h5py")  # for `heddle plot`
        os.makedirs(self.path("build/openmp/src"))
        os.symlink(os.path.dirname(os.path.realpath(COMMAND)), self.path("build/openmp/src/drivers"))
        self.readme = [line for block in fences(text_of(ROOT, "README.md"), "sh") for line in block.splitlines()]

    def run_lines(self, lines):
        kept = ("PATH", "HOME", "LANG", "XDG_CACHE_HOME", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "TMPDIR")
        # How this machine's Open MPI starts ranks and connects them, where somebody had to say.
        machine = ("OMPI_MCA_plm", "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_oob_")
        environment = {name: text for name, text in os.environ.items() if name in kept or name.startswith(machine)}
        environment["HEDDLE_PYTHON"] = sys.executable  # which has what setUp asked for
        done = subprocess.run(["bash", "-euxo", "pipefail", "-c", "\n".join(lines)], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])

    def test_readme(self):
        here = [line for line in self.readme if not ELSEWHERE.match(line)]
        self.assertGreater(len(here), 10)
        for line in self.readme:
            if ELSEWHERE.match(line):
                for path in re.findall(r"(?:\./|-S )(\S+)", line):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)), line)
        self.run_lines(here)
        for name in ("trace.png", "run.json", "h2plus.png", "H.h5", "V.h5", "faces.json"):
            self.assertGreater(os.path.getsize(self.path(name)), 0, name)

    @unittest.skipIf(ON_GPU, "some 200 starts of the command, of a second each on a GPU, for lines that other tests run there")
    def test_pages_of_the_site(self):
        exports = [line for line in self.readme if line.startswith("export ")]
        write_market(self.path("A.mtx"), [[0.0, 1.0], [-1.0, 0.0]])
        for name in sorted(os.listdir(SITE)):
            if not name.endswith(".md") or name == "commands.md":  # whose files are the reader's
                continue
            lines = [line for block in fences(text_of(SITE, name), "sh") for line in block.splitlines()]
            here = [line for line in lines if not ELSEWHERE.match(line)]
            with self.subTest(name):
                self.run_lines(exports + here)


class Datasets(CommandTest):
    """The page of datasets beside files that the command writes."""

    page = text_of(SITE, "tdse-files.md")

    def rows(self, heading):
        """{dataset: (extents, unit)} of the table below a heading."""
        section = self.page[self.page.index(f"## {heading}\n"):].split("\n## ")[0]
        return {name: (extents.split(", "), unit) for name, extents, unit in
                re.findall(r"^\| `(/[^`]+)` \| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE)}

    def check(self, table, path, symbols):
        """Each dataset of the file has a row, with its unit and extents; return their names."""
        import h5py
        found = set()
        with h5py.File(self.path(path), "r") as file:
            def check_one(name, item):
                if not isinstance(item, h5py.Dataset):
                    return
                found.add("/" + name)
                extents, unit = table["/" + name]
                self.assertEqual(item.attrs["unit"], unit, name)
                self.assertEqual(item.ndim, len(extents), name)
                for symbol, size in zip(extents, item.shape):
                    self.assertEqual(size, int(symbol) if symbol.isdigit() else symbols.get(symbol, size), name)
            file.visititems(check_one)
        return found

    def test_every_dataset_has_its_row(self):
        self.need("h5py")
        table = self.rows("Datasets of a run")
        there = set()
        for deck, more, symbols in (
                ("h2plus", ("--set", "output.state=true", "--set", "grid.points=151"), {"T": 13, "F": 4, "N": 151, "S": 6}),
                ("h2plus-laser", ("--set", "output.states=4"), {"T": 13, "N": 301, "S": 4}),
                ("harmonic-spectrum", (), {"T": 13, "N": 81})):
            self.succeed("tdse", deck, "--set", "time.steps=12", "--set", "output.every=4", *more, "--output", f"{deck}.h5")
            there |= self.check(table, f"{deck}.h5", symbols)
        self.assertEqual(there, set(table))
        table = self.rows("Datasets of a scan")
        self.assertEqual(table["/scan/value"], (["P"], "of the key"))
        table["/scan/value"] = (["P"], "bohr")
        self.succeed("tdse", "h2plus-laser", "--set", "time.steps=4", "--set", "output.states=4",
                     "--scan", "nuclei.separation=2:4:1", "--output", "scan.h5")
        self.assertEqual(self.check(table, "scan.h5", {"P": 3, "S": 4}), set(table))

    def test_examples_run(self):
        self.need("h5py")
        self.succeed("tdse", "h2plus-laser", "--set", "time.steps=12", "--output", "pulse.h5")
        self.succeed("tdse", "h2plus", "--scan", "nuclei.omega=1:2:0.5", "--set", "time.steps=4",
                     "--output", "omega.scan.h5")
        programs = fences(self.page, "python")
        self.assertEqual(len(programs), 3)
        for program in programs:
            with self.subTest(program):
                if "import xarray" in program:
                    self.need("xarray")
                done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout)


class Guides(unittest.TestCase):
    def test_each_example_is_quoted_by_a_guide(self):
        quoted = [program for name in os.listdir(SITE) if name.startswith("guide-")
                  for program in fences(text_of(SITE, name), "cpp")]
        examples = [name for name in os.listdir(os.path.join(ROOT, "examples"))
                    if os.path.isdir(os.path.join(ROOT, "examples", name))]
        self.assertEqual(len(examples), 9)
        for example in examples:
            self.assertIn(text_of(ROOT, "examples", example, "main.cpp"), quoted, example)

    def test_the_index_leads_to_every_page(self):
        index = text_of(SITE, "index.md")
        for name in os.listdir(SITE):
            if name.endswith(".md") and name != "index.md":
                self.assertIn(f"({name})", index)


if __name__ == "__main__":
    unittest.main()
