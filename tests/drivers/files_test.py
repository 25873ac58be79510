"""Files that commands read and write for other programs: NumPy's, HDF5's datasets, lists, reports and what they say of
themselves."""

import datetime
import json
import os
import socket
import subprocess
import unittest

import h5py
import numpy

from command import COMMAND, CommandTest, complaints_in, write_market
from tdse_command import TdseCommandTest, datasets

DECK = """
[grid]
xmin = -6.0
xmax = 6.0
points = 61
[potential]
charge = 1.0
softening = 1.0
[nuclei]
motion = "stretch"
[time]
step = 0.02
steps = 12
"""


class Matrices(CommandTest):
    def test_numpy_arrays_go_in_and_out(self):
        random = numpy.random.default_rng(1)
        A = random.standard_normal((30, 20))
        B = random.standard_normal((20, 7))
        for a, b in ((A, B), (numpy.asfortranarray(A), B.astype(">f8")), (A.astype("<f4"), numpy.asfortranarray(B)),
                     ((100 * A).astype(">i8"), (100 * B).astype("u1")), (A + 1j * A, B.astype(">c16"))):
            numpy.save(self.path("A a.npy"), a)
            numpy.save(self.path("B.npy"), b)
            for ranks in (1, 3):
                self.succeed("gemm", "--a", "A a.npy", "--b", "B.npy", "--output", "C.npy", ranks=ranks)
                found = numpy.load(self.path("C.npy"))
                expected = a.astype(complex) @ b.astype(complex)
                self.assertEqual(found.shape, (30, 7))
                self.assertEqual(found.dtype.kind, "c" if a.dtype.kind == "c" else "f")
                numpy.testing.assert_allclose(found, expected, atol=1e-12 * numpy.abs(expected).max() * 20)
        numpy.save(self.path("text.npy"), numpy.array(["a"]))
        self.refuse("transpose", "--input", "text.npy", message="text.npy: holds elements of type")

    def test_eigenvalues_are_a_vector(self):
        matrix = numpy.array([[2.0, 1.0], [1.0, 2.0]])
        with open(self.path("A.npy"), "wb") as file:
            numpy.lib.format.write_array(file, matrix, version=(3, 0))
        self.succeed("eig", "--input", "A.npy", "--values", "w.npy", "--vectors", "V.npy")
        values = numpy.load(self.path("w.npy"))
        self.assertEqual(values.shape, (2,))
        numpy.testing.assert_allclose(values, [1, 3], atol=1e-15)
        vectors = numpy.load(self.path("V.npy"))
        numpy.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-14)

    def test_datasets_are_named_in_paths(self):
        A = numpy.arange(12.0).reshape(3, 4)
        with h5py.File(self.path("my data.h5"), "w") as file:
            file["run/A"] = A
            file["vector"] = [0.5, 1.5, -1.0]
            file["note"] = 7
        for ranks in (1, 2):
            self.succeed("transpose", "--input", "my data.h5:/run/A", "--output", "my data.h5:/run/B", ranks=ranks)
            self.succeed("transpose", "--input", "my data.h5:run/B", "--output", "new.h5:a/b/C", ranks=ranks)
            with h5py.File(self.path("my data.h5"), "r") as file, h5py.File(self.path("new.h5"), "r") as new:
                numpy.testing.assert_array_equal(file["run/B"][:], A.T)
                numpy.testing.assert_array_equal(file["run/A"][:], A)
                self.assertEqual(file["note"][()], 7)
                numpy.testing.assert_array_equal(new["a/b/C"][:], A)
        self.assertEqual(self.succeed("sum", "--input", "my data.h5:vector")["results"]["value"], 1.0)
        self.refuse("sum", "--input", "my data.h5:none", message="my data.h5, dataset 'none': can't be opened")
        self.refuse("sum", "--input", "my data.h5:", message="expected the name of a dataset")
        self.refuse("transpose", "--size", 4, "--output", "my data.h5:run", message="'run' is no dataset")
        self.assertEqual(sorted(os.listdir(self.folder)), ["my data.h5", "new.h5", "report.json"])

    def test_lists_are_summed(self):
        self.write("list.txt", "# numbers\n1e100 1\n-1e100, 0.25\n\n")
        self.write("ones.dat", "1 1 1 1")
        for ranks in (1, 2, 3):
            results = self.succeed("sum", "--input", "list.txt", ranks=ranks)["results"]
            self.assertEqual((results["value"], results["count"]), (1.25, 4))
            self.assertEqual(self.succeed("dot", "--x", "list.txt", "--y", "ones.dat", ranks=ranks)["results"]["value"],
                             1.25)
        numpy.save(self.path("ones.npy"), numpy.ones(4))
        self.assertEqual(self.succeed("dot", "--x", "ones.npy", "--y", "list.txt", ranks=2)["results"]["value"], 1.25)
        self.write("empty", "")
        self.assertEqual(self.succeed("sum", "-i", "empty")["results"]["value"], 0)
        # A file that could be a matrix is read as a list, too, with a note.
        self.write("two.txt", "2\n1 2\n3 4\n")
        result = self.run_command("sum", "-i", "two.txt")
        self.assertEqual(result.code, 0)
        self.assertIn("sum of 5 elements", result.output)
        self.assertIn("heddle: warning: two.txt has the form of a matrix", result.errors)
        self.write("bad.txt", "1\n2 two\n")
        self.refuse("sum", "-i", "bad.txt", message="bad.txt, line 2: expected a real number, found 'two'")
        self.refuse("dot", "--x", "list.txt", "--y", "bad.txt", message="bad.txt, line 2")
        self.write("three.txt", "1 2 3")
        self.refuse("dot", "--x", "list.txt", "--y", "three.txt", message="list.txt is 4 x 1, three.txt is 3 x 1")
        self.refuse("sum", "-i", "none.txt", message="none.txt: can't be opened")


class OtherFiles(CommandTest):
    """HDF5 files that refer to other files: whoever writes one must not choose which files are read."""

    def setUp(self):
        super().setUp()
        numpy.arange(9.0).tofile(self.path("raw.bin"))
        with h5py.File(self.path("other.h5"), "w") as file:
            file["A"] = numpy.eye(3)
            file["deep/A"] = numpy.eye(3)

    def fill(self, file):
        """Fills a file with a matrix, and with what refers to others; returns the names of these, and why not."""
        file["own"] = numpy.eye(3)
        file["again"] = h5py.SoftLink("/own")
        file.create_dataset("raw", (3, 3), "f8", external=[("raw.bin", 0, h5py.h5f.UNLIMITED)])
        file["linked"] = h5py.ExternalLink("other.h5", "/A")
        file["folder"] = h5py.ExternalLink("other.h5", "/deep")
        file["soft"] = h5py.SoftLink("/folder/A")
        layout = h5py.VirtualLayout((3, 3), "f8")
        layout[...] = h5py.VirtualSource("other.h5", "A", (3, 3))
        file.create_virtual_dataset("virtual", layout)
        return {"raw": "elements in another file, 'raw.bin'", "linked": "link to another file, 'other.h5'",
                "folder/A": "link to another file", "soft": "link to another file", "virtual": "virtual dataset"}

    def test_matrices(self):
        with h5py.File(self.path("A.h5"), "w") as file:
            reasons = self.fill(file)
        for name in ("own", "again"):
            self.succeed("transpose", "--input", f"A.h5:{name}")
        for name, reason in reasons.items():
            with self.subTest(name):
                self.refuse("transpose", "--input", f"A.h5:{name}", message=f"A.h5, dataset '/?{name}': .*{reason}")
        self.refuse("transpose", "--input", "A.h5:none", message="one of: again, own$")

    def test_new_datasets_stay_in_their_file(self):
        with h5py.File(self.path("A.h5"), "w") as file:
            self.fill(file)
        self.refuse("transpose", "--input", "A.h5:own", "--output", "A.h5:folder/new",
                    message="behind a link to another file")
        with h5py.File(self.path("other.h5"), "r") as file:
            self.assertEqual(list(file["deep"]), ["A"])

    def test_runs(self):
        self.write("deck.toml", DECK)
        self.succeed("tdse", "deck.toml", "--no-progress")
        with open(self.path("deck.h5"), "rb") as file:
            run = file.read()
        with h5py.File(self.path("names.h5"), "w") as file:
            reasons = self.fill(file)
        for name in ("raw", "linked", "virtual"):
            with self.subTest(name):
                with open(self.path("bad.h5"), "wb") as file:
                    file.write(run)
                with h5py.File(self.path("names.h5"), "r") as names, h5py.File(self.path("bad.h5"), "a") as file:
                    if name == "linked":
                        file["/more"] = h5py.ExternalLink("other.h5", "/A")
                    else:
                        h5py.h5o.copy(names.id, name.encode(), file.id, b"more")
                reason = reasons[name].split(",")[0].split("link")[-1]
                self.refuse("plot", "bad.h5", "-o", "x.png", message=f"bad.h5: dataset /more .*{reason}")
                self.refuse("verify", "bad.h5", message=f"bad.h5: dataset /more .*{reason}")
                self.refuse("tdse", "--restart", "bad.h5", message=f"bad.h5: dataset /more .*{reason}")


class Reports(CommandTest):
    def check_provenance(self, found, words):
        self.assertRegex(found["heddle_version"], r"^\d+\.\d+\.\d+")
        self.assertTrue(found["git_hash"])
        self.assertEqual(found["host"], socket.gethostname())
        then = datetime.datetime.strptime(found["date"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
        self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()), 600)
        for word in words:
            self.assertIn(word, found["command_line"])

    def test_results_say_where_they_come_from(self):
        self.write("my deck.toml", DECK)
        for name, arguments in (("C.h5", ["gemm", "--size", 4, "--output", "C.h5"]),
                                ("w.h5", ["eig", "--generate", "random", "--size", 4, "--values", "w.h5"]),
                                ("run.h5", ["tdse", "my deck.toml", "--output", "run.h5"])):
            report = self.succeed(*arguments)["provenance"]
            words = ["heddle " + arguments[0], name]
            with h5py.File(self.path(name), "r") as file:
                self.check_provenance(file.attrs, words)
            self.check_provenance({**report, "heddle_version": report["version"], "git_hash": report["commit"]}, words)
        self.assertIn("'my deck.toml'", report["command_line"])

    def test_a_report_on_standard_output(self):
        for ranks in (1, 2):
            result = self.run_command("gemm", "--size", 8, "--json", "-", ranks=ranks)
            self.assertEqual(result.code, 0, result.errors)
            self.assertEqual(json.loads(result.output)["command"], "gemm")
            self.assertIn("check product: passed", result.errors)
        result = self.run_command("gemm", "--size", 8, "--json", "-", "--quiet")
        self.assertEqual(json.loads(result.output)["inputs"]["rows"], 8)
        self.assertEqual(result.errors, "")
        self.write("deck.toml", DECK)
        self.succeed("tdse", "deck.toml", "--output", "run.h5")
        result = self.run_command("verify", "run.h5", "--json", "-")
        self.assertEqual(json.loads(result.output)["command"], "verify")
        self.assertIn("sha256 ", result.errors)
        self.assertFalse(os.path.exists(self.path("-")))

    def test_a_failed_computation_writes_its_report(self):
        write_market(self.path("A.mtx"), [[800.0]])
        failing = ["expm", "--input", "A.mtx"]
        for ranks in (1, 2):
            self.refuse(*failing, "--json", "report.json", code=1, ranks=ranks, message="overflow")
            report = self.report()
            self.assertEqual(report["command"], "expm")
            self.assertEqual(report["failure"]["exit_code"], 1)
            self.assertIn("overflow", report["failure"]["message"])
            self.assertEqual(report["inputs"]["input"], "A.mtx")
            os.remove(self.path("report.json"))
        self.assertEqual(json.loads(self.run_command(*failing, "--json", "-").output)["failure"]["exit_code"], 1)
        # Bad usage is no computation.
        self.refuse("gemm", "--a", "none.mtx", "--b", "none.mtx", "--json", "report.json", message="none.mtx")
        self.assertFalse(os.path.exists(self.path("report.json")))


class Runs(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("deck.toml", DECK)

    def test_results_are_not_replaced_silently(self):
        run = ["tdse", "deck.toml", "--output", "run.h5", "--set", "output.table=run.txt"]
        self.succeed(*run)
        before = datasets(self.path("run.h5"))
        for ranks in (1, 2):
            self.refuse(*run, ranks=ranks, message="run.h5: is there already; --force replaces it")
        os.remove(self.path("run.h5"))
        self.refuse(*run, message="run.txt: is there already; --force replaces it")
        self.succeed(*run, "--force")
        self.assertEqual(datasets(self.path("run.h5")), before)
        # An interrupted run has more to lose.
        os.remove(self.path("run.txt"))
        os.rename(self.path("run.h5"), self.path("run.partial.h5"))
        self.refuse(*run, message="run.partial.h5: holds an unfinished run; --restart run.partial.h5 continues it")
        self.succeed(*run, "--restart", "run.partial.h5", "--set", "time.steps=14")
        self.assertFalse(os.path.exists(self.path("run.partial.h5")))
        # A run may be continued in its own file.
        self.succeed(*run, "--restart", "run.h5", "--set", "time.steps=16")
        self.succeed("tdse", "deck.toml", "--eigen", 2)

    def test_a_run_is_continued_without_its_deck(self):
        os.mkdir(self.path("decks"))
        self.write("decks/V.txt", "".join(f"{x} {0.1 * x * x}\n" for x in range(-6, 7)))
        self.write("decks/deck.toml", DECK.replace('motion = "stretch"', "").replace(
            "charge = 1.0\nsoftening = 1.0", 'kind = "file"\nfile = "V.txt"'))
        for deck in ("deck.toml", "decks/deck.toml"):
            with self.subTest(deck=deck):
                self.tdse(deck, "--output", "straight.h5")
                self.tdse(deck, "--output", "half.h5", "--set", "time.steps=5")
                for ranks in (1, 2):
                    self.tdse("--restart", "half.h5", "--output", "whole.h5", "--set", "time.steps=12", ranks=ranks)
                    self.assertEqual(datasets(self.path("whole.h5")), datasets(self.path("straight.h5")))
                # From elsewhere, and to where the run was to write.
                os.makedirs(self.path("elsewhere"), exist_ok=True)
                done = subprocess.run([COMMAND, "tdse", "--restart", "../half.h5", "--set", "time.steps=12"],
                                      cwd=self.path("elsewhere"), capture_output=True, text=True, check=False)
                self.assertEqual(complaints_in(done.stderr), [])
                self.assertEqual(datasets(self.path("elsewhere/half.h5")), datasets(self.path("straight.h5")))
                os.remove(self.path("elsewhere/half.h5"))
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = 1
        self.refuse("tdse", "--restart", "other.h5", message="other.h5: has no attribute deck")
        self.refuse("tdse", "--restart", "none.h5", ranks=2, message="none.h5: there is no such file")
        self.refuse("tdse", message="DECK is required")

    def test_the_cheapest_propagator_is_the_default(self):
        def choice(path):
            with h5py.File(self.path(path), "r") as file:
                return [file.attrs[name] for name in ("propagator", "propagator_order", "propagator_substeps",
                                                      "propagator_tolerance")]

        self.tdse("deck.toml", "--output", "one.h5")
        self.tdse("deck.toml", "--output", "named.h5", "--propagator", "auto")
        self.assertNotEqual(choice("one.h5")[0], "automatic")
        self.assertEqual(datasets(self.path("named.h5")), datasets(self.path("one.h5")))
        for ranks in (2, 3):
            self.tdse("deck.toml", "--output", "many.h5", ranks=ranks)
            self.assertEqual(choice("many.h5"), choice("one.h5"))
            self.assertEqual(datasets(self.path("many.h5")), datasets(self.path("one.h5")))
        # Options of an exponential require one.
        for settings in (["--arithmetic", "emulated"], ["--set", "propagator.degree=10"],
                         ["--set", "propagator.substeps=2"], ["--certificate"]):
            self.tdse("deck.toml", "--output", "exponential.h5", *settings)
            self.assertEqual(choice("exponential.h5")[0], "expm", settings)
        self.assertRegex(self.run_command("tdse", "--keys").output, r"(?m)^  propagator.kind +\"automatic\" ")


if __name__ == "__main__":
    unittest.main()
