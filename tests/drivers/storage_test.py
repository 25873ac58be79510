"""Bad days: full disks, limits, signals, lost output, no home. Messages to users, and files left behind."""

import ctypes
import contextlib
import os
import resource
import signal
import subprocess
import time
import unittest

from command import COMMAND, MANY, MPIEXEC, ON_GPU, CommandTest, Kept, complaints_in

DECK = """
[grid]
xmin = -6.0
xmax = 6.0
points = 121
[time]
step = 0.02
steps = 20
[propagator]
kind = "chebyshev"
"""
# Files with more bytes than the limits below, and the commands that write them.
WRITERS = (
    ("C.mtx", ["gemm", "--size", 48, "--output", "C.mtx"]),
    ("C.h5", ["gemm", "--size", 48, "--output", "C.h5"]),
    ("C.npy", ["gemm", "--size", 48, "--output", "C.npy"]),
    ("C.txt", ["gemm", "--size", 48, "--output", "C.txt"]),
    ("trace.json", ["gemm", "--size", 512, "--tile", 64, "--trace", "trace.json"]),
    ("E.h5", ["expm", "--size", 48, "--output", "E.h5"]),
    ("B.h5", ["transpose", "--size", 48, "--output", "B.h5"]),
    ("V.h5", ["eig", "--generate", "random", "--size", 48, "--vectors", "V.h5"]),
    ("w.txt", ["eig", "--generate", "random", "--size", 512, "--values-only", "--values", "w.txt"]),
    ("scf.csv", ["eig", "--scf", "--size", 256, "--output", "scf.csv"]),
    ("L.h5", ["lu", "--size", 48, "--l", "L.h5"]),
    ("groups.csv", ["duplicates", "--size", 4000, "--output", "groups.csv"]),
    ("each.txt", ["duplicates", "--size", 4000, "--groups", "each.txt"]),
    ("run.h5", ["tdse", "deck.toml", "--force", "--output", "run.h5"]),
    ("report.json", ["verify", *["small.h5"] * 40, "--quiet", "--json", "report.json"]),
)


def mounts(folder, bytes_each):
    """Whether a small file system could be put on a folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"size={bytes_each}".encode()
    return libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, options) == 0


class Storage(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("deck.toml", DECK)

    def small_file(self):
        self.succeed("tdse", "deck.toml", "--set", "time.steps=1", "--output", "small.h5")
        os.remove(self.path("report.json"))

    def expect_lost(self, name, arguments, reason, **options):
        """The command says in one line that its file can't be written; the older one and no other file is there."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("old")
        before = sorted(os.listdir(self.folder))
        result = self.run_command(*arguments, **options)
        with self.subTest(command=arguments[0], file=name):
            self.assertEqual(result.code, 1, result.errors + result.output)
            self.assertEqual(len(result.complaints), 1, result.errors)
            self.assertRegex(result.complaints[0], f"^heddle: {name}.*: can't be written: {reason}$")
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        os.remove(self.path(name))

    @unittest.skipIf(not MANY, "a limit of a running process needs heddle_many")
    @unittest.skipIf(ON_GPU, "a GPU's runtime writes files of its own")
    def test_files_beyond_a_limit(self):
        self.small_file()
        for ranks in (1, 0):
            job = Kept.of(ranks)
            pids = [job.process.pid] if ranks == 1 else children_of(job.process.pid)
            limits = [(pid, resource.prlimit(pid, resource.RLIMIT_FSIZE)) for pid in pids]
            for pid, (_, hard) in limits:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
            try:
                for name, arguments in WRITERS:
                    self.expect_lost(name, arguments, "File too large", ranks=ranks)
            finally:
                for pid, limit in limits:
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)

    @unittest.skipIf(ON_GPU, "a GPU's runtime writes files of its own")
    def test_a_process_under_ulimit(self):
        words = f"ulimit -f 40; exec {COMMAND} gemm --size 128 --quiet --output C.h5"
        done = subprocess.run(["sh", "-c", words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(complaints_in(done.stderr), ["heddle: C.h5: can't be written: File too large"])
        self.assertEqual(os.listdir(self.folder), ["deck.toml"])

    @unittest.skipIf(ON_GPU, "a GPU's runtime maps more than any such limit")
    @unittest.skipIf(os.environ.get("HEDDLE_SANITIZE") == "1", "sanitizers map more than any such limit")
    def test_address_space_under_ulimit(self):
        # Without room for a buffer OpenBLAS tries forever: from its start, and from its first product.
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        for kibibytes in (400_000, 800_000, 1_200_000):
            for arguments in ("gemm --size 512 --tile 512", "tdse deck.toml --force --no-progress"):
                with self.subTest(limit=kibibytes, command=arguments):
                    words = f"ulimit -v {kibibytes}; exec {COMMAND} {arguments} --quiet"
                    done = subprocess.run(["sh", "-c", words], cwd=self.folder, env=environment, capture_output=True,
                                          text=True, check=False, timeout=60)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertEqual(len(complaints_in(done.stderr)), done.returncode, done.stderr)
                    if kibibytes < 500_000:
                        self.assertRegex(done.stderr, "^heddle: out of memory: .*ulimit -v.*\n$")

    def test_a_full_disk(self):
        home = self.folder
        self.folder = os.path.join(home, "full")
        os.mkdir(self.folder)
        if not mounts(self.folder, 512 << 10):
            self.folder = home
            self.skipTest("no file system can be mounted here")
        try:
            self.write("deck.toml", DECK)
            self.small_file()
            with open(self.path("filler"), "wb") as file:
                free = os.statvfs(self.folder)
                file.write(b"x" * (free.f_bavail - 2) * free.f_frsize)
            for name, arguments in WRITERS:
                self.expect_lost(name, arguments, "No space left on device")
            for name, arguments in (("run.h5", ["tdse", "deck.toml", "--force", "--output", "run.h5"]),
                                    ("C.npy", ["gemm", "--size", 48, "--output", "C.npy"])):
                self.expect_lost(name, arguments, "No space left on device", ranks=2)
                self.expect_lost(name, arguments, "No space left on device", fresh=True)
        finally:
            Kept.end_all()  # They may stand in it.
            ctypes.CDLL(None).umount2(self.folder.encode(), 2)
            self.folder = home

    def test_a_lost_standard_output_is_an_error(self):
        for arguments in (["info"], ["--help"], ["--version"], ["gemm", "--help"], ["gemm", "--size", "4"],
                          ["gemm", "--size", "4", "--quiet", "--json", "-"], ["tdse", "--keys"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                      cwd=self.folder, timeout=120)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(complaints_in(done.stderr),
                                 ["heddle: standard output can't be written: No space left on device"])
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([COMMAND, "gemm", "--size", "4", "--quiet", "--output", "C.mtx"], stdout=full,
                                  cwd=self.folder, check=False, timeout=120)
        self.assertEqual(done.returncode, 0)

    def test_without_a_home_nothing_is_kept_in_a_shared_folder(self):
        environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME")}
        environment["TMPDIR"] = self.path("tmp")
        os.mkdir(self.path("tmp"))
        done = subprocess.run([COMMAND, "gemm", "--size", "4"], cwd=self.folder, env=environment, capture_output=True,
                              text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([name for name in os.listdir(self.path("tmp")) if "heddle" in name], [])
        self.assertIn("rates not kept: rates have no place: set HOME", done.stdout)
        done = subprocess.run([COMMAND, "info"], cwd=self.folder, env=environment, capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertIn("neither HOME nor XDG_CACHE_HOME is set", done.stdout)

    def test_sizes_beyond_any_memory_are_refused(self):
        if ON_GPU:
            self.skipTest("a GPU has its own words for it")
        for command in (["gemm"], ["expm"], ["transpose"], ["lu"]):
            for size in ("1e8", "3000000000"):
                for ranks in (1, 2) if command != ["lu"] else (1,):
                    self.refuse(*command, "--size", size, ranks=ranks, code=1,
                                message=r"needs [0-9.]+ GiB of memory for .* this machine has")
        self.refuse("study", "transpose", "--rows", "1e8", "--columns", "1e8", code=1, message="GiB of memory")
        for size in ("1e14", "1e17"):
            self.refuse("duplicates", "--size", size, "--words", 64, message="more than this machine's memory")


def children_of(pid):
    """Return the processes that a launcher started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


class Signals(CommandTest):
    fresh = True

    def killed_while_writing(self, ending, ranks):
        """A signal in the middle of writing leaves the older file alone."""
        with open(self.path("C.mtx"), "w", encoding="utf-8") as file:
            file.write("old")
        # It writes for seconds: a launcher may take one to pass a signal on.
        words = [COMMAND, "transpose", "--size", "7000", "--output", "C.mtx", "--quiet"]
        if ranks > 1:
            words = [MPIEXEC, "-n", str(ranks), *words]
        process = self.start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            # A file that only tests whether it can be written vanishes at once.
            with os.scandir(self.folder) as entries, contextlib.suppress(FileNotFoundError):
                if any(entry.name.startswith("C.mtx.") and entry.stat().st_size > 0 for entry in entries):
                    break
            time.sleep(0.01)
        self.assertIsNone(process.poll())
        process.send_signal(ending)
        self.assertNotEqual(process.wait(60), 0)
        while ranks > 1 and time.monotonic() < deadline and len(os.listdir(self.folder)) > 1:
            time.sleep(0.1)  # mpirun may be gone before its ranks
        self.assertEqual(os.listdir(self.folder), ["C.mtx"])
        with open(self.path("C.mtx"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        return process.returncode

    def test_a_signal_leaves_no_temporary_file(self):
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=ending):
                self.assertEqual(self.killed_while_writing(ending, 1), -ending)

    def test_a_signal_to_the_launcher_leaves_no_temporary_file(self):
        for ending in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=ending):
                self.killed_while_writing(ending, 2)

    def test_the_second_signal_ends_a_run_without_a_trace(self):
        self.write("deck.toml", DECK)
        words = [COMMAND, "tdse", "deck.toml", "--set", "time.steps=100000000", "--checkpoint", "0", "--quiet",
                 "--output", "run.h5"]
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start([*words, "--force"], stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("run.partial.h5")) and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(ending)
            errors = process.communicate(timeout=60)[1]
            with self.subTest(signal=ending):
                self.assertEqual(process.returncode, 1)
                self.assertRegex(errors, "interrupted after step")
                self.assertEqual(sorted(os.listdir(self.folder)), ["deck.toml", "run.partial.h5"])
            os.remove(self.path("run.partial.h5"))


if __name__ == "__main__":
    unittest.main()
