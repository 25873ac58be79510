"""Runs `heddle` as a user does, and reads and writes Matrix Market files without it.

Commands run in processes that are kept, one for each number of ranks (see heddle_many.cpp), since starting MPI, and far
more a GPU's runtime, takes longer than most of them. A command that is given an environment, that is asked for with
`fresh=True`, or any where HEDDLE_MANY is not set, is the real one in a process of its own.

Tests in the folders below import this file through PYTHONPATH, which CTest sets.
"""

import atexit
import csv
import importlib.util
import json
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ.get("HEDDLE_COMMAND", "heddle")
MANY = os.environ.get("HEDDLE_MANY")
MPIEXEC = os.environ.get("HEDDLE_MPIEXEC", "mpirun")
ON_GPU = os.environ.get("HEDDLE_ON_GPU") == "1"
BLAS_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(COMMAND))), "libheddle_blas.so")
# Decorator of tests of `heddle run`. A static build has no such library, and a sanitizer's would have to come before it.
runs_programs = unittest.skipUnless(os.path.exists(BLAS_LIBRARY) and os.environ.get("HEDDLE_SANITIZE") != "1",
                                    "no libheddle_blas.so to preload")


def complaints_in(errors):
    """Lines of heddle's own on standard error, warnings left out."""
    return [line for line in errors.splitlines()
            if line.startswith("heddle: ") and not line.startswith("heddle: warning: ")]


class Result:
    """Exit code, output and errors of one run."""

    def __init__(self, code, output, errors):
        self.code = code
        self.output = output
        self.errors = errors
        # mpirun has words of its own on standard error, and Open MPI may warn on some machines; heddle does where ranks
        # share a GPU.
        self.complaints = complaints_in(errors)


class Kept:
    """A job of heddle_many that waits for commands."""

    jobs = {}  # by their number of ranks; 0 is one rank under mpirun
    # Processes that share a GPU are few (60 with NVIDIA's Multi-Process Service), and other tests run beside this one.
    most_ranks = 5 if ON_GPU else 64

    @classmethod
    def of(cls, ranks):
        if ranks not in cls.jobs:
            while cls.jobs and sum(max(kept, 1) for kept in [ranks, *cls.jobs]) > cls.most_ranks:
                next(iter(cls.jobs.values())).end()
            cls.jobs[ranks] = cls(ranks)
        return cls.jobs[ranks]

    @classmethod
    def end_all(cls):
        for job in list(cls.jobs.values()):
            job.end()

    def __init__(self, ranks):
        self.ranks = ranks
        self.folder = tempfile.mkdtemp(prefix="heddle-many-")
        path = os.path.join(self.folder, "socket")
        words = [MANY, path]
        if ranks != 1:
            words = [MPIEXEC, "-n", str(max(ranks, 1)), *words]
        with socket.socket(socket.AF_UNIX) as listener, open(self.file("log"), "wb") as log:
            listener.bind(path)
            listener.listen(16)
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            listener.settimeout(1)
            self.connections = []
            deadline = time.monotonic() + 300
            while len(self.connections) < max(ranks, 1):
                try:
                    self.connections.append(listener.accept()[0])
                except socket.timeout:
                    if self.process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError("heddle_many does not start: " + self.text("log")) from None
        for connection in self.connections:
            connection.recv(64)  # its rank

    def file(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        try:
            # As subprocess reads them: a line may end in a carriage return, too.
            with open(self.file(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def run(self, arguments, folder, timeout):
        for name in ("output", "errors"):
            if os.path.exists(self.file(name)):
                os.remove(self.file(name))
        request = {"folder": os.path.abspath(folder or os.getcwd()), "output": self.file("output"),
                   "errors": self.file("errors"), "arguments": arguments}
        line = (json.dumps(request) + "\n").encode()
        answers = {}
        try:
            for connection in self.connections:
                connection.sendall(line)
            deadline = time.monotonic() + timeout
            while len(answers) < len(self.connections):
                waiting = [connection for connection in self.connections if connection not in answers]
                for connection in select.select(waiting, [], [], max(deadline - time.monotonic(), 0))[0]:
                    answer = connection.recv(64)
                    if not answer:
                        raise ConnectionResetError
                    answers[connection] = int(answer)
                if len(answers) < len(self.connections) and time.monotonic() >= deadline:
                    self.end()
                    raise subprocess.TimeoutExpired(arguments, timeout, self.text("output"), self.text("errors"))
        except (ConnectionResetError, BrokenPipeError):
            # A rank has crashed, or failed alone and ended the job.
            return self.crashed(timeout)
        codes = set(answers.values())
        if len(codes) != 1:
            raise RuntimeError(f"ranks ended {arguments} with exit codes {sorted(codes)}")
        return Result(codes.pop(), self.text("output"), self.text("errors"))

    def crashed(self, timeout):
        try:
            code = self.process.wait(timeout)
            return Result(code, self.text("output"), self.text("errors") + self.text("log"))
        finally:
            self.end()

    def end(self):
        Kept.jobs.pop(self.ranks, None)
        for connection in self.connections:
            connection.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()  # mpirun ends its ranks
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


atexit.register(Kept.end_all)


def heddle(*arguments, ranks=1, folder=None, environment=None, timeout=300, fresh=False):
    """Runs the command; ranks=0 also goes through mpirun, with one rank."""
    words = list(map(str, arguments))
    if MANY and not fresh and environment is None:
        return Kept.of(ranks).run(words, folder, timeout)
    words = [COMMAND, *words]
    if ranks != 1:
        words = [MPIEXEC, "-n", str(max(ranks, 1)), *words]
    process = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=timeout,
                             env={**os.environ, **(environment or {})}, check=False)
    return Result(process.returncode, process.stdout, process.stderr)


class Started(subprocess.Popen):
    """A process that ends with a test that fails: `with` alone would wait for it for ever."""

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, in which the command runs; `fresh` in a class is heddle()'s for all of it."""

    fresh = False

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="heddle-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def need(self, *modules):
        """Skips the test where Python has not all of these."""
        for module in modules:
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"no {module}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def assert_picture(self, name, least=8000):
        """That this file is a PNG with more than `least` bytes: an empty frame has fewer."""
        with open(self.path(name), "rb") as file:
            content = file.read()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n", name)
        self.assertGreater(len(content), least, name)

    def run_command(self, *arguments, **options):
        return heddle(*arguments, folder=self.folder, **{"fresh": self.fresh, **options})

    def start(self, words, **options):
        """A process that the test may kill: not a client of a GPU's Multi-Process Service, which loses all its others
        when one is killed amid its work."""
        environment = {**os.environ, "CUDA_MPS_PIPE_DIRECTORY": "/nonexistent"}
        return Started(words, cwd=self.folder, env=environment, **options)

    def study_rows(self, study, name):
        """The rows of a table that `heddle study` wrote, by the columns' names."""
        with open(self.path(name), encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith(f"# heddle study {study}, heddle "))
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def succeed(self, *arguments, **options):
        """Runs with --json and expects exit code 0 and a well-formed report, which it gives."""
        result = self.run_command(*arguments, "--json", "report.json", **options)
        self.assertEqual(result.code, 0, result.errors + result.output)
        self.assertEqual(result.complaints, [])
        report = self.report()
        self.assertTrue(all(check["passed"] for check in report["checks"].values()), report["checks"])
        printed = re.findall(r"sha256 ([0-9a-f]{64})", result.output)
        if "sha256" in report["results"]:
            self.assertLessEqual(set(printed), {report["results"]["sha256"]})
        return report

    def report(self):
        """report.json, whose form is checked."""
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file, parse_constant=self.fail)
        # The report of a failed command has the reason, too.
        self.assertEqual([key for key in report if key != "failure"],
                         ["command", "provenance", "inputs", "results", "checks", "times"])
        self.assertEqual(list(report["provenance"]), ["version", "commit", "host", "date", "command_line"])
        self.assertTrue(all(report["provenance"].values()), report["provenance"])
        self.check_keys(report)
        for check in report["checks"].values():
            self.assertEqual(set(check), {"passed", "value", "bound"})
            self.assertIsInstance(check["passed"], bool)
        for seconds in report["times"].values():
            self.assertGreaterEqual(seconds, 0)
        return report

    def check_keys(self, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                self.assertRegex(key, r"^[a-z][a-z0-9_]*$")
                self.check_keys(inner)
        elif isinstance(value, list):
            for inner in value:
                self.check_keys(inner)

    def refuse(self, *arguments, code=2, message=None, **options):
        """Expects this exit code and exactly one line that says why."""
        result = self.run_command(*arguments, **options)
        self.assertEqual(result.code, code, result.errors + result.output)
        self.assertEqual(len(result.complaints), 1, result.errors)
        if options.get("ranks", 1) == 1:
            self.assertEqual(result.errors, result.complaints[0] + "\n")
        if message is not None:
            self.assertRegex(result.complaints[0], message)
        return result

    def assert_close(self, found, expected, tolerance):
        """Matrices, as lists of rows, whose elements differ by at most `tolerance`."""
        self.assertEqual(len(found), len(expected))
        for found_row, expected_row in zip(found, expected):
            self.assertEqual(len(found_row), len(expected_row))
            for one, other in zip(found_row, expected_row):
                # Both matrices as text, for every element, take longer than all else.
                if not abs(one - other) <= tolerance:
                    self.fail(f"{one} is not {other}: {found} is not {expected}")


def write_market(path, rows, columns=None):
    """Writes a matrix, given as a list of rows, in array format."""
    columns = len(rows[0]) if columns is None else columns
    is_complex = any(isinstance(value, complex) for row in rows for value in row)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"%%MatrixMarket matrix array {'complex' if is_complex else 'real'} general\n")
        file.write(f"{len(rows)} {columns}\n")
        for j in range(columns):
            for row in rows:
                value = row[j]
                file.write(f"{complex(value).real!r} {complex(value).imag!r}\n" if is_complex else f"{value!r}\n")


def read_market(path):
    """Reads an array file as `heddle` writes it, as a list of rows."""
    with open(path, encoding="utf-8") as file:
        banner, sizes, *lines = file.read().splitlines()
    kind = re.fullmatch(r"%%MatrixMarket matrix array (real|complex) general", banner)
    assert kind, banner
    rows, columns = map(int, sizes.split())
    assert len(lines) == rows * columns
    values = [complex(*map(float, line.split())) if kind[1] == "complex" else float(line) for line in lines]
    return [[values[i + rows * j] for j in range(columns)] for i in range(rows)]


def random_matrix(random, rows, columns, is_complex=False):
    def number():
        return random.uniform(-1, 1)

    return [[complex(number(), number()) if is_complex else number() for _ in range(columns)] for _ in range(rows)]


def transpose(rows, conjugate=False):
    return [[complex(value).conjugate() if conjugate and isinstance(value, complex) else value for value in column]
            for column in zip(*rows)]


def product(left, right):
    """A product summed in the plainest way there is."""
    columns = list(zip(*right))
    return [[sum(one * other for one, other in zip(row, column)) for column in columns] for row in left]
