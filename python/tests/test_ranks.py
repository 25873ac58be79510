"""Several ranks by mpi4py: ranks.py under mpirun."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import GUIDE

pytest.importorskip("mpi4py")


def run_ranks(ranks, program):
    """Return the joint output of the ranks of a program."""
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("no mpirun")
    # With -m mpi4py a failing rank ends the others.
    command = [mpirun, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program)]
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", **os.environ,
                   "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_ranks(ranks):
    printed = run_ranks(ranks, pathlib.Path(__file__).with_name("ranks.py"))
    # mpirun may put the output of two ranks on one line.
    assert sorted(re.findall(r"rank \d done", printed)) == [f"rank {k} done" for k in range(ranks)], printed


def test_the_program_of_the_guide(tmp_path):
    programs = [block for block in re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
                if "MPI" in block]
    assert len(programs) == 1
    (tmp_path / "program.py").write_text(programs[0])
    assert run_ranks(2, tmp_path / "program.py") == "400 x 400 in 2 row bands True\n"
