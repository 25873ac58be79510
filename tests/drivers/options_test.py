"""The tables of options: what follows from them in help and reports, and the names that options had before."""

import json
import os
import re
import subprocess
import unittest

from command import MANY, CommandTest, write_market

# A small run of each command, as short as it can be.
RUNS = {
    "gemm": ["--size", "6"],
    "expm": ["--size", "4", "--method", "taylor"],
    "transpose": ["--size", "4"],
    "sum": ["--input", "x.mtx"],
    "dot": ["--x", "x.mtx", "--y", "x.mtx"],
    "lu": ["--size", "4"],
    "gemv": ["--a", "A.mtx", "--x", "x.mtx"],
    "trsv": ["--a", "A.mtx", "--b", "x.mtx"],
    "generate": ["triangular", "--size", "6", "--output", "L.mtx"],
    "solve": ["--size", "4"],
    "eig": ["--generate", "random", "--size", "4"],
    "duplicates": ["--size", "10"],
    "faces": ["--generate", "tetrahedra", "--size", "2"],
    "tdse": ["deck.toml", "--tile", "8"],
    "study transpose": ["--rows", "4", "--columns", "4", "--largest", "2", "--repeat", "1"],
    "study gemm": ["--sizes", "8", "--repeat", "1"],
    "study exact": ["--lengths", "8", "--sizes", "4", "--repeat", "1"],
    "study exact-errors": ["--size", "6", "--conditions", "10", "--problems", "1"],
    "study jacobi": ["--sizes", "3,4", "--repeat", "1"],
    "study faces": ["--sizes", "2", "--methods", "partition", "--repeat", "1"],
    "predict gemm": ["--size", "4096"],
    "predict expm": ["--size", "4096", "--norm", "10"],
    "tune": ["--seconds", "0.2"],
    "info": ["--verbose"],
    "verify": ["deck.h5"],
}
DECK = """[grid]
xmin = -6.0
xmax = 6.0
points = 31
[time]
steps = 1
"""
# Values of the options with old names, and further arguments of the command.
OLD_NAMES = {
    ("gemm", "--c"): ("C.mtx", ["--size", "4"]),
    ("eig", "--n"): ("3", ["--generate", "random"]),
    ("duplicates", "--generate"): ("5", ["--words", "2"]),
    ("duplicates", "--hash"): ("xor", ["--size", "5"]),
    ("faces", "--cubes"): ("2", ["--generate", "hexahedra"]),
    ("faces", "--hash"): ("xor", ["--generate", "hexahedra", "--size", "2"]),
    ("faces", "--save-mesh"): ("mesh.vtu", ["--generate", "hexahedra", "--size", "2"]),
    ("study jacobi", "--orders"): ("3", ["--repeat", "1"]),
    ("study jacobi", "--matrix"): ("thesis", ["--sizes", "3", "--repeat", "1"]),
    ("study faces", "--cubes"): ("2", ["--repeat", "1", "--methods", "partition"]),
    ("study faces", "--trials"): ("1", ["--sizes", "2", "--methods", "partition"]),
}


def tables():
    done = subprocess.run([MANY, "--options"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def names_of(option):
    """As they are typed: without the mark of a flag that says no, and positional names."""
    return [name.lstrip("!") for name in option["names"] if name.lstrip("!").startswith("-")]


def help_lines(text):
    """Return for each name the text after the names on its line, and on the next one."""
    lines = text.splitlines()
    found = {}
    for line, following in zip(lines, lines[1:] + [""]):
        if line.startswith("  -"):
            names, _, rest = line[2:].partition(" ")
            for name in re.sub(r"\{\w+\}", "", names).split(","):
                found[name] = rest + "\n" + following
    return found


@unittest.skipUnless(MANY, "the tables come from heddle_many")
class Options(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.tables = tables()

    def own_process(self, command):
        """Commands that keep rates, or run themselves once more."""
        if command in ("tune", "study jacobi"):
            return {"environment": {"XDG_CACHE_HOME": self.path("cache"), "OMP_NUM_THREADS": "1"}}
        return {}

    def test_help_has_every_option_with_its_default(self):
        for command, options in self.tables.items():
            lines = help_lines(self.run_command(*command.split(), "--help").output)
            for option in options:
                with self.subTest(command=command, names=option["names"]):
                    for name in names_of(option):
                        if option["hidden"]:
                            self.assertNotIn(name, lines)
                            continue
                        said = lines[name].strip()
                        if option["type"]:
                            # CLI11 from 2.4 on writes TYPE [DEFAULT], others TYPE=DEFAULT.
                            default = re.escape(option["default"])
                            expected = re.escape(option["type"]) + (rf"(={default}| \[{default}\])" if default else "")
                            self.assertTrue(re.match(expected + r"(\s|$)", said), said)
                        elif option["default"] == "true":
                            self.assertIn("(on by default)", said)
                        self.assertTrue(" ".join(said.split()).find(option["help"][:20]) >= 0, said)
                    for name in option["was"]:
                        self.assertNotIn(name, lines)

    def test_help_names_all_that_an_option_takes(self):
        for command, options in self.tables.items():
            text = " ".join(self.run_command(*command.split(), "--help").output.split())
            for option in options:
                for choice in option["choices"]:
                    with self.subTest(command=command, names=option["names"], choice=choice):
                        said = " ".join((option["help"], option["type"], option["default"]))
                        self.assertRegex(said, rf"(^|[^\w-]){re.escape(choice)}($|[^\w-])")
                        if not option["hidden"]:
                            self.assertIn(option["help"], text)

    def test_what_means_the_same_is_called_the_same(self):
        for command, options in self.tables.items():
            if command == "run":  # Its program has the rest of the command line.
                continue
            with self.subTest(command):
                names = [name for option in options for name in names_of(option)]
                self.assertEqual(len(names), len(set(names)))
                for name in ("--json", "--quiet", "--progress", "--no-progress"):
                    self.assertIn(name, names)
                for short, long in (("-i", "--input"), ("-o", "--output")):
                    self.assertEqual(short in names, long in names)
                for option in options:
                    self.assertNotIn("automatic", option["default"])

    def test_reports_have_the_inputs_that_the_tables_say(self):
        write_market(self.path("x.mtx"), [[1.0], [2.0]])
        write_market(self.path("A.mtx"), [[3.0, 1.0], [1.0, 2.0]])
        self.write("deck.toml", DECK)
        self.assertEqual(set(RUNS), set(self.tables) - {"plot", "run"})  # which need matplotlib, and another program
        for command, arguments in RUNS.items():
            inputs = self.succeed(*command.split(), *arguments, **self.own_process(command))["inputs"]
            for option in self.tables[command]:
                with self.subTest(command=command, names=option["names"]):
                    given = any(name in arguments for name in names_of(option))
                    if option["key"] is None or not (given or option["always"]):
                        continue
                    if given:
                        self.assertIn(option["key"], inputs)
                    elif option["value"] is not None:
                        self.assertEqual(inputs[option["key"]], option["value"])

    def test_defaults_are_those_of_the_structs(self):
        # Named here once more, so that no table can say anything of itself.
        def default(command, name):
            return next(option["value"] for option in self.tables[command] if name in names_of(option))

        self.assertEqual((default("gemm", "--seed"), default("gemm", "--tile")), (1, "auto"))
        self.assertEqual((default("gemm", "--check"), default("gemm", "--size")), (True, None))
        self.assertEqual((default("expm", "--method"), default("expm", "--norm")), ("auto", 1.0))
        self.assertEqual((default("eig", "--mixing"), default("eig", "--sweeps")), (0.5, 40))
        self.assertEqual(default("study jacobi", "--methods"), ["auto"])

    def test_old_names_work_and_warn(self):
        have = {(command, old) for command, options in self.tables.items() for option in options
                for old in option["was"]}
        self.assertEqual(have, set(OLD_NAMES))
        for (command, old), (value, others) in OLD_NAMES.items():
            with self.subTest(command=command, old=old):
                option = next(option for option in self.tables[command] if old in option["was"])
                result = self.run_command(*command.split(), *others, old, value, "--json", "report.json",
                                          **self.own_process(command))
                warning = (f"heddle: warning: {old} is called {names_of(option)[0]} now; "
                           "the next release drops the old name")
                self.assertEqual(result.errors.count(warning), 1, result.errors)
                self.assertEqual((result.code, result.complaints), (0, []), result.errors)
                self.assertIn(option["key"], self.report()["inputs"])
                new = self.run_command(*command.split(), *others, names_of(option)[0], value,
                                       **self.own_process(command))
                self.assertEqual((new.code, new.errors), (0, ""))

    def test_errors_are_short(self):
        for text in ("9" * 5000, "\N{GREEK SMALL LETTER PSI}" * 2501, "a b\n" * 3000):
            for words in (("gemm", "--size", text), ("eig", "--input", text + ".npy"), ("tdse", text)):
                with self.subTest(words=[word[:9] for word in words]):
                    result = self.run_command(*words)
                    self.assertEqual(result.code, 2)
                    line = result.errors.removesuffix("\n")
                    self.assertNotIn("\n", line)
                    self.assertLessEqual(len(line.encode()), 308)
                    self.assertTrue(line.startswith("heddle: "))
                    self.assertIn(" ... ", line)

    def test_old_names_are_warned_of_once(self):
        for fresh in (False, True):
            result = self.run_command("gemm", "--size", 4, "--c=C.mtx", ranks=2, fresh=fresh)
            self.assertEqual(result.code, 0, result.errors)
            self.assertEqual(result.errors.count("warning: --c is called --output now"), 1)
            self.assertTrue(os.path.exists(self.path("C.mtx")))
        self.refuse("eig", "--generate", "random", "--n", 0, message="--size: '0': expected a number >= 1")

    def test_automatic_is_taken_for_auto(self):
        for command, option in (("gemm --size 4", "--tile"), ("gemm --size 4", "--arithmetic"),
                                ("expm --size 4", "--method"), ("expm --size 4", "--structure"),
                                ("eig --generate random --size 3", "--method"),
                                ("eig --generate random --size 3", "--accuracy"),
                                ("duplicates --size 5", "--algorithm"), ("duplicates --size 5", "--hash-function")):
            with self.subTest(command=command, option=option):
                for word in ("auto", "automatic"):
                    inputs = self.succeed(*command.split(), option, word)["inputs"]
                    self.assertEqual(inputs[option[2:].replace("-", "_")], "auto")
        self.write("deck.toml", DECK)
        for word in ("auto", "automatic"):
            self.assertIn('kind = "automatic"', self.succeed("tdse", "deck.toml", "--force", "--propagator",
                                                             word)["inputs"]["deck"])

    def test_operands_may_be_named(self):
        self.write("deck.toml", DECK)
        self.succeed("tdse", "--input", "deck.toml")
        by_place = self.succeed("verify", "deck.h5")
        self.assertEqual(self.succeed("verify", "-i", "deck.h5")["results"], by_place["results"])
        self.write("a,b.h5", "")
        self.refuse("verify", "deck.h5", "a,b.h5", message="a,b.h5: is not a readable HDF5 file")
        self.refuse("tdse", message="DECK is required")
        self.refuse("verify", message="no file; expected files of `heddle tdse`, or --manifest")
        self.refuse("plot", message="required")
        self.refuse("plot", "--input", "none.h5", message="none.h5: there is no such file")

    def test_numbers_that_are_none(self):
        self.refuse("gemm", "--size", "1.5", message="--size: '1.5': expected a number >= 0")
        self.refuse("gemm", "--size", 4, "--arithmetic", "emulated", "--moduli", 32,
                    message="--moduli: '32': expected a whole number, 7 to 31")
        self.refuse("gemm", "--size", 4, "--seed", "seven", message="--seed: 'seven': expected a whole number")
        self.assertEqual(self.succeed("gemm", "--size", 4, "--seed", "0x10")["inputs"]["seed"], 16)
        for text, number in (("1e2", 100), ("2.5E1", 25), ("1200e-2", 12), ("0.4e1", 4), ("1e+1", 10), ("0e5", 0)):
            self.assertEqual(self.succeed("transpose", "--size", text)["inputs"]["size"], number)
        for text in ("1.5e0", "1e-1", "e3", "1e", "1e3x", "1e99", "1e3e3", "-1e3", "1.2.3e4", "0x1e3g"):
            self.refuse("transpose", "--size", text, message="--size: '" + text + "': expected a number >= 0")
        self.assertEqual(self.succeed("gemm", "--size", 4, "--seed", "0x1e3")["inputs"]["seed"], 0x1e3)
        self.assertEqual(self.succeed("gemm", "--size", 4, "--seed", "1e18")["inputs"]["seed"], 10**18)
        self.refuse("gemm", "--size", 4, "--json", "", message="--json: needs a file name")
        self.refuse("gemm", "--size", 4, "--sweep", "--tiles", "2,0", message="--tiles: '0': expected a number >= 1")


if __name__ == "__main__":
    unittest.main()
