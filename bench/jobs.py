"""Whole jobs as users run them, through the tool: jobs.py RAREBIT [--rounds N] [--small]

Each job is a process of one thread. Reported are the medians over the rounds of its processor time
(user and system) and of its wall time, reading and writing included. Data: counts of cells of the
tool's own simulation, 5000 x 2000, sparse (.h5ad) and dense (.npy). Beside nmf stands
scikit-learn's, to its own stop, where it is installed.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

NMF = """
import sys, h5py, numpy, scipy.sparse
from sklearn.decomposition import NMF
g = h5py.File(sys.argv[1])["X"]
x = scipy.sparse.csr_matrix((g["data"][:], g["indices"][:], g["indptr"][:]), g.attrs["shape"])
NMF(int(sys.argv[2]), init="nndsvda", random_state=1).fit(x.astype(numpy.float32))
"""
COUNTS = ["--totals", "1e4", "--log1p"]


def jobs(tool):
    """Names and commands, in an order in which each finds the files that it needs."""
    def fit(method, data, units, *more, to="m.h5"):
        return [tool, "fit", method, data, "-k", str(units), *more, "--seed", "1", "-o", to, "-q"]

    for units in (10, 20, 50):
        for data, form in (("cells.h5ad", "sparse"), ("cells.npy", "dense")):
            yield f"fit rfn -k {units}, {form}", fit("rfn", data, units)
            yield f"the same with {' '.join(COUNTS)}", fit("rfn", data, units, *COUNTS)
    yield "fit nmf -k 10, sparse", fit("nmf", "cells.h5ad", 10, to="nmf.h5")
    yield "scikit-learn's NMF of 10, sparse", [sys.executable, "-c", NMF, "cells.h5ad", "10"]
    yield "fit rfn -k 10 --consensus, sparse", fit("rfn", "cells.h5ad", 10, "--consensus", *COUNTS)
    yield "select rfn, sparse", [tool, "select", "rfn", "cells.h5ad", *COUNTS, "--seed", "1", "-q"]
    modules = ["modules", "m.h5", "cells.h5ad", "--permutations", "19", "--seed", "1"]
    yield "modules --permutations 19", [tool, *modules, "-o", "modules.tsv", "-q"]
    yield "encode, sparse", [tool, "encode", "m.h5", "cells.h5ad", "-o", "codes.npy", "-q"]
    yield "encode a sample", [tool, "encode", "m.h5", "one.npy", "-o", "one-code.npy", "-q"]
    for data in ("cells.npy", "cells.h5ad", "cells.tsv"):
        yield f"read {data}", [tool, "info", data]


def seconds(command):
    """Processor and wall time of a process; None: it failed, as where scikit-learn is missing."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (cpu, ended - began) if done.returncode == 0 else None


def make_data(tool, small):
    size = ["--samples", "500" if small else "5000", "--features", "200" if small else "2000"]
    counts = ["--counts", "60" if small else "600", "--seed", "1"]
    subprocess.check_call([tool, "simulate", "cells", *size, *counts, "-o", "cells.h5ad", "-q"])
    for name in ("cells.npy", "cells.tsv"):
        subprocess.check_call([tool, "convert", "cells.h5ad", "-o", name, "-q"])
    import numpy as np
    np.save("one.npy", np.load("cells.npy")[:1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    tool = os.path.abspath(chosen.tool)
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[variable] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data(tool, chosen.small)
        print("| job | processor, s | wall, s |\n|---|---|---|")
        for name, command in jobs(tool):
            one_thread = ["--threads", "1"] if command[0] == tool else []
            times = [seconds(command + one_thread) for _ in range(chosen.rounds)]
            if None in times:
                print(f"| {name} | failed | |", flush=True)
                continue
            cpu, wall = (statistics.median(column) for column in zip(*times))
            print(f"| {name} | {cpu:.2f} | {wall:.2f} |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
