"""Several ranks by mpi4py: ranks.py under mpirun."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks):
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("no mpirun")
    # -m mpi4py: a rank that fails ends the others.
    command = [mpirun, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(pathlib.Path(__file__).with_name("ranks.py"))]
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMP_NUM_THREADS": "1", **os.environ}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split("\n")) == ["", *(f"rank {k} done" for k in range(ranks))], done.stdout + done.stderr
