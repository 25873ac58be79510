"""Help, bad usage, exit codes and messages that all commands share."""

import os
import signal
import subprocess
import time
import unittest

from command import COMMAND, MPIEXEC, ON_GPU, CommandTest, complaints_in, read_market, write_market

COMMANDS = ["gemm", "expm", "eig", "tdse", "tune", "info", "run", "plot", "verify"]


class Usage(CommandTest):
    def test_help_lists_the_commands(self):
        result = self.run_command("--help", fresh=True)
        self.assertEqual((result.code, result.errors), (0, ""))
        for command in COMMANDS:
            self.assertIn(command, result.output)

    def test_each_help_has_an_example(self):
        for command in COMMANDS:
            with self.subTest(command):
                result = self.run_command(command, "--help")
                self.assertEqual((result.code, result.errors), (0, ""))
                self.assertRegex(result.output, r"Example[^\n]*:\n(.*\n)*.*heddle " + command)

    def test_help_is_printed_once(self):
        result = self.run_command("gemm", "--help", ranks=4, fresh=True)
        self.assertEqual(result.code, 0)
        self.assertEqual(result.output.count("Usage:"), 1)

    def test_version(self):
        result = self.run_command("--version", fresh=True)
        self.assertEqual(result.code, 0)
        self.assertRegex(result.output, r"^heddle \d+\.\d+\.\d+ \(.+\)\n$")

    def test_one_process_needs_no_ssh_and_no_temporary_folder(self):
        environment = {**os.environ, "OMPI_MCA_plm_rsh_agent": "no-such-agent", "OMPI_MCA_orte_no_session_dirs": "/"}
        for name in ("OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_orte_create_session_dirs"):
            environment.pop(name, None)
        batch_script = {"SLURM_PROCID": "0"}  # Slurm's, outside of srun.
        for more in ({}, batch_script):
            result = subprocess.run([COMMAND, "gemm", "--size", "16"], env={**environment, **more}, capture_output=True,
                                    text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""), more)

    def test_bad_usage(self):
        self.refuse(message="subcommand is required", fresh=True)
        self.refuse("weave", message="'weave' is no command")
        self.refuse("gemm", "--sice", 4, message="not expected.*--sice")
        self.refuse("gemm", "--size", message="--size")
        self.refuse("gemm", "--size", -1, message="--size: '-1': expected a number >= 0")
        self.refuse("gemm", "--size", "many", message="--size")
        self.refuse("gemm", "--size", 4, "--tile", 0, message="--tile: '0': expected auto or a number >= 1")
        self.refuse("gemm", "--size", 4, "--scalar", "half", message="--scalar: 'half': expected double, float")
        self.refuse("gemm", "--size", 4, "--op-a", "X", message="'X': expected N, T or C")
        self.refuse("gemm", "--size", 4, "--alpha", "nan", message="--alpha: 'nan': expected a finite number")
        self.refuse("gemm", "--size", 4, "--alpha", "0,1", "--scalar", "double", message="--alpha: 0,1 is not real")
        self.refuse("gemm", "--size", 4, "--place-a", "rank:1", message="placement 'rank:1'")
        self.refuse("gemm", "--size", 4, "--place-a", "everywhere", message="placement 'everywhere'")
        self.refuse("gemm", message="--size", fresh=True)
        self.refuse("expm", "--size", 4, "--input", "A.mtx", message="not both")
        self.refuse("expm", "--size", 4, "--method", "magic", message="--method: 'magic': expected auto, taylor, paterson-stockmeyer")
        self.refuse("expm", "--size", 4, "--tolerance", "-1", message="--tolerance")
        self.refuse("expm", "--size", 4, "--norm", "inf", message="--norm")
        self.refuse("tune", "--seconds", 0, message="--seconds: '0': expected a number >= 0.2")

    def test_bad_usage_on_several_ranks_is_said_once(self):
        self.refuse("gemm", "--sice", 4, ranks=2, message="--sice", fresh=True)
        self.refuse("gemm", ranks=4, message="--size", fresh=True)
        self.refuse("gemm", "--size", 4, "--place-a", "rank:2", ranks=2, message="rank:2", fresh=True)

    def test_environment_that_names_nothing(self):
        self.refuse("gemm", "--size", 4, environment={"HEDDLE_TRANSPORT": "pigeon"}, message="HEDDLE_TRANSPORT")
        self.refuse("gemm", "--size", 4, ranks=2, environment={"HEDDLE_TRANSPORT": "pigeon"}, message="pigeon")

    def test_output_that_cant_be_written_is_found_before_the_work(self):
        self.write("file", "")
        for target in ("none/out.mtx", "file/out.mtx"):
            with self.subTest(target):
                self.refuse("gemm", "--size", 4, "--output", target, message=f"{target}: can't be written: ")
                self.refuse("expm", "--size", 4, "--output", target, ranks=2, message=f"{target}: can't be written: ")
        self.refuse("gemm", "--size", 4, "--json", "none/out.json", message="none/out.json: can't be written: ")
        self.refuse("gemm", "--size", 4, "--json", ".", message="it is a folder")
        self.refuse("gemm", "--size", 4, "--output", "out.dat", message="must end in .mtx .*, .h5 .* or .txt")

    def test_quiet_prints_nothing(self):
        result = self.run_command("gemm", "--size", 8, "--quiet", fresh=True)
        self.assertEqual((result.code, result.output, result.errors), (0, "", ""))

    def test_progress_bar_on_request(self):
        # Long enough, on a GPU too, for a bar that is not drawn in the first tenth of a second.
        long = ["expm", "--size", 200, "--norm", 100, "--repeat", 300]
        result = self.run_command(*long, "--progress")
        self.assertEqual(result.code, 0)
        self.assertIn("expm [", result.errors)
        self.assertEqual(self.run_command(*long, "--no-progress").errors, "")

    def test_a_killed_run_leaves_the_old_output(self):
        write_market(self.path("E.mtx"), [[1.0]])
        process = self.start([COMMAND, "expm", "--size", "3000", "--norm", "1000", "--repeat", "100000",
                              "--output", "E.mtx", "--quiet"])
        time.sleep(1.0)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertEqual(read_market(self.path("E.mtx")), [[1.0]])

    def test_a_rank_that_fails_alone_ends_the_job(self):
        if os.environ.get("HEDDLE_SANITIZE") == "1":
            self.skipTest("AddressSanitizer needs the address space")
        if ON_GPU:
            self.skipTest("a GPU's runtime needs the address space")
        limited = f"ulimit -v 600000; exec {COMMAND} gemm --size 6000"
        # If two ranks fail at once, one prints its error.
        for failing in ("1", "2"):
            words = [os.environ.get("HEDDLE_MPIEXEC", "mpirun"), "-n", "1", COMMAND, "gemm", "--size", "6000",
                     ":", "-n", failing, "sh", "-c", limited]
            result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(result.returncode, 1, result.stderr)
            complaints = complaints_in(result.stderr)
            self.assertEqual(len(complaints), 1, result.stderr)
            self.assertRegex(complaints[0], "^heddle: rank 1: ")

    def test_a_killed_rank_ends_the_job_within_seconds(self):
        seed = str(time.time_ns() % 10**9)  # tells this run's processes from others
        words = [MPIEXEC, "-n", "2", COMMAND, "gemm", "--size", "1500", "--repeat", "1000000", "--no-check", "--seed", seed]
        job = self.start(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)

        def ranks():
            found = []
            for entry in os.listdir("/proc"):
                try:
                    with open(f"/proc/{entry}/cmdline", "rb") as file:
                        arguments = file.read().decode(errors="replace").split("\0")
                except OSError:
                    continue
                if arguments[0] == COMMAND and seed in arguments:
                    found.append(int(entry))
            return found

        deadline = time.monotonic() + 60
        while len(ranks()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(5 if ON_GPU else 2)  # well into its products
        self.assertEqual(len(ranks()), 2)
        os.kill(max(ranks()), signal.SIGKILL)
        start = time.monotonic()
        errors = job.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - start, 20)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(errors, "(?i)killed|signal 9")
        self.assertEqual(ranks(), [])

    def test_more_than_the_memory_of_the_gpus_is_said(self):
        if not ON_GPU:
            self.skipTest("there is no GPU in this build")
        result = self.refuse("gemm", "--size", 200000, "--tile", 1024, "--no-check", code=1)
        self.assertRegex(result.complaints[0], r"needs [0-9.]+ GiB of device memory .* are free; .* would fit")


class Information(CommandTest):
    def test_info(self):
        for ranks in (1, 2):
            report = self.succeed("info", ranks=ranks, fresh=True)
            results = report["results"]
            self.assertEqual(report["command"], "info")
            self.assertEqual((results["ranks"], results["nodes"]), (ranks, 1))
            self.assertEqual([device["rank"] for device in results["devices"]], list(range(ranks)))
            self.assertIn(results["transport"]["kind"], ("peer", "direct", "nccl", "staged"))
            self.assertEqual([t["kind"] for t in results["transports"]], ["peer", "direct", "nccl", "staged"])
            self.assertTrue(all(t["reason"] for t in results["transports"]))
            matrix = results["transport"]["matrix"]
            self.assertEqual([len(row) for row in matrix], [ranks] * ranks)
            self.assertEqual({kind for row in matrix for kind in row}, {way["kind"] for way in results["transport"]["ways"]})
            for key in ("version", "git_hash", "kokkos", "blas", "integers", "mpi", "rates", "kokkos_configuration"):
                self.assertTrue(results[key], key)
        output = self.run_command("info").output
        for word in ("heddle", "Kokkos", "BLAS", "MPI", "transport", "rank 0"):
            self.assertIn(word, output)

    def test_tune_keeps_what_it_measured(self):
        environment = {"XDG_CACHE_HOME": self.path("cache")}
        report = self.succeed("tune", "--seconds", 0.2, environment=environment)
        results = report["results"]
        self.assertGreater(results["gemm_gflops"], 0)
        self.assertGreater(results["memory_gbytes_per_second"], 0)
        self.assertEqual([line["n"] for line in results["tiles"]], [1024 * 2**i for i in range(6)])
        for line in results["tiles"]:
            self.assertGreaterEqual(line["tile"], 1)
        self.assertTrue(results["file"].startswith(self.path("cache")))
        self.assertTrue(os.path.exists(results["file"]))
        rates = self.succeed("info", environment=environment)["results"]["rates"]
        self.assertTrue(rates["double"]["known"])
        self.assertFalse(rates["float"]["known"])

    def test_tune_where_the_cache_cant_be_written(self):
        self.write("file", "")
        environment = {"XDG_CACHE_HOME": self.path("file")}
        self.refuse("tune", "--seconds", 0.2, environment=environment, message="file")
        report = self.succeed("gemm", "--size", 4, environment=environment)
        self.assertEqual(report["inputs"]["rows"], 4)


if __name__ == "__main__":
    unittest.main()
