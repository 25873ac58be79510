"""The script `heddle` of an environment: the command it becomes, and what that inherits from it."""

import importlib.util
import os
import signal
import subprocess
import sys
import time

import _heddle_command
import heddle
import pytest

pytestmark = pytest.mark.skipif(not os.path.exists(_heddle_command.COMMAND), reason="the command is not built")
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(_heddle_command.COMMAND))), "libheddle_blas.so")
# A sanitizer's library would have to come before the one that is preloaded.
runs = pytest.mark.skipif(not os.path.exists(LIBRARY) or os.environ.get("HEDDLE_SANITIZE") == "1",
                          reason="no libheddle_blas.so to preload")
SCRIPT = [sys.executable, "-c", "import _heddle_command; _heddle_command.main()"]


def command(*words, folder, code=0, **environment):
    """Run the script as an environment has it, expect its exit code, and return its output and its errors."""
    done = subprocess.run([*SCRIPT, *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_it_is_the_command_of_this_package(tmp_path):
    assert command("--version", folder=tmp_path)[0].split()[:2] == ["heddle", heddle.__version__]
    _, errors = command("tdse", "nowhere", folder=tmp_path, code=2)
    folder = os.path.join(os.path.dirname(_heddle_command.COMMAND), "..", "share", "heddle", "decks")
    names = [name.removesuffix(".toml") for name in os.listdir(folder)]
    assert len(names) > 5 and errors.count("\n") == 1 and all(name in errors for name in names)


@runs
def test_words_and_codes_pass_through(tmp_path):
    words = ["a b", "", "--report", "*"]
    output, _ = command("run", "--", "sh", "-c", 'printf "%s\\n" "$@"; exit 7', "sh", *words, folder=tmp_path, code=7)
    assert output == "".join(word + "\n" for word in words)


@runs
def test_a_closed_pipe_is_heard(tmp_path):
    output, _ = command("run", "grep", "SigIgn", "/proc/self/status", folder=tmp_path)
    assert not int(output.split()[1], 16) >> (signal.SIGPIPE - 1) & 1, output


@runs
def test_pictures_are_drawn_by_this_python(tmp_path):
    draws = all(importlib.util.find_spec(module) for module in ("matplotlib", "h5py"))
    show = ("run", "sh", "-c", 'echo "$HEDDLE_PYTHON"')
    assert command(*show, folder=tmp_path, HEDDLE_PYTHON="/a/python")[0] == "/a/python\n"
    clean = {name: text for name, text in os.environ.items() if name != "HEDDLE_PYTHON"}
    output = subprocess.run([*SCRIPT, *show], env=clean, capture_output=True, text=True, check=True).stdout
    assert output == f"{sys.executable if draws else ''}\n"


def test_control_c_reaches_the_command(tmp_path):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    run = subprocess.Popen([*SCRIPT, "tdse", "h2plus", "--set", "time.steps=10000000", "--checkpoint", "0.1"],
                           cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and not (tmp_path / "h2plus.partial.h5").exists():
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 1 and "interrupted after step" in errors, errors
