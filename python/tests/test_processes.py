"""Processes of mpi4py, by mpirun: each has the model of one."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rarebit

FIT = """
import numpy as np, rarebit, sys
from contextlib import nullcontext
from mpi4py import MPI
x = np.load("x.npy")
with rarebit.processes(MPI.COMM_WORLD):
    rfn = rarebit.RFN(3, random_state=1, iterations=6).fit(x)
    np.save(f"codes{MPI.COMM_WORLD.Get_rank()}.npy", rfn.transform(x))
print(rfn.score(x))
"""


def test_each_process_has_the_model_of_one(tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if not mpirun:
        pytest.skip("no mpirun; install openmpi-bin")
    x = np.random.default_rng(1).normal(size=(9000, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    monkeypatch.setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
    done = subprocess.run([mpirun, "-n", "2", sys.executable, "-c", FIT], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    one = rarebit.RFN(3, random_state=1, iterations=6).fit(x)
    for rank in range(2):
        np.testing.assert_array_equal(np.load(tmp_path / f"codes{rank}.npy"), one.transform(x))
    # The number of one and its end of line may have that of the other between them.
    assert "".join(done.stdout.split()) == 2 * str(one.score(x))
