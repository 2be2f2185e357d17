"""Seconds of an iteration of rfn by many processes: a model of it, and what is measured.

processes.py RAREBIT SAMPLES FEATURES [--estep newton] [--latencies S,S...] [--rate B] [--turns N]
    fits all samples and half of them by one process, and all by 2 and 4 of Open MPI over networks of these latencies
    (seconds) and of that many bytes per second. All take turns; of each the fastest iteration counts. Clocks show the processor
    time of a process, and what its messages would take (`slow_mpi.c`), so that neither other work of the machine nor its number
    of processors matters. Beside it stands what the model says, which knows one process and the counts of messages alone.
processes.py FEATURES --fixed S --sample S --messages N --bytes N --latency S --rate B
    prints the table that the model gives: an iteration takes `fixed` + `sample` times the samples of the process with
    most of them, and for each doubling of the processes the messages with their bytes.
"""

import argparse
import json
import math
import os
import re
import subprocess
import tempfile

UNITS = 50
MPIRUN = ("mpirun.openmpi --bind-to none --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1 "
          "-x LD_PRELOAD -x SLOW_LATENCY -x SLOW_RATE -n").split()


def write_data(samples, features):
    import numpy as np
    draws = np.random.default_rng(1)
    for name, n in (("all.npy", samples), ("half.npy", samples // 2)):
        x = draws.exponential(size=(n, 10)).astype("f") @ draws.normal(size=(10, features)).astype("f")
        np.save(name, x + draws.standard_normal(x.shape, dtype="f"))


def fit(o, data, processes=1, latency=0):
    """The fastest iteration, and of several processes the messages and bytes of one."""
    command = [o.rarebit, "fit", "rfn", data, "-k", str(UNITS), "--estep", o.estep, "--iterations", str(o.iterations), "--seed", "1",
               "--centre", "none", "--threads", "1", "-q", "--log-json", "log", "-o", "model.h5"]
    command += [] if o.estep == "newton" else ["--estep-tolerance", "1"]  # the last E-step is no iteration
    env = os.environ | {"SLOW_LATENCY": str(latency), "SLOW_RATE": str(o.rate), "LD_PRELOAD": os.path.abspath("slow_mpi.so")}
    done = subprocess.run(command if processes == 1 else MPIRUN + [str(processes)] + command, env=env, check=True,
                          capture_output=True, text=True)
    with open("log") as log:
        seconds = [json.loads(line)["seconds"] for line in log]
    os.remove("log")
    counts = [[int(x) for x in line.split()] for line in done.stderr.splitlines() if re.fullmatch(r"\d+ \d+", line)]
    return min(seconds[1:]), [b - a for a, b in zip(counts[-2], counts[-1])] if counts else None


def measure(o):
    subprocess.run(["mpicc.openmpi", "-O2", "-shared", "-fPIC", os.path.join(o.bench, "slow_mpi.c"), "-o", "slow_mpi.so", "-lm"],
                   check=True)
    write_data(o.samples, o.features)
    o.messages, o.bytes = fit(o, "all.npy", 2)[1]
    cases = [("all.npy",), ("half.npy",)] + [("all.npy", p, float(s)) for p in (2, 4) for s in o.latencies.split(",")]
    best = dict.fromkeys(cases, math.inf)
    for _ in range(o.turns):
        for case in cases:
            best[case] = min(best[case], fit(o, *case)[0])
    one, half = (best[case] for case in cases[:2])
    o.sample = 2 * (one - half) / o.samples
    o.fixed = one - o.sample * o.samples
    print(f"{o.samples} x {o.features}, {o.estep}: {one:.4f} s by one process, {half:.4f} s of half the samples; "
          f"{o.messages} messages, {o.bytes} bytes\n--fixed {o.fixed:.3g} --sample {o.sample:.3g}")
    print("| processes | latency | measured | model | ratio |\n|---|---|---|---|---|")
    for case in cases[2:]:
        _, processes, o.latency = case
        model = predict(o, o.samples, processes)
        print(f"| {processes} | {o.latency:g} | {best[case]:.4f} | {model:.4f} | {best[case] / model:.2f} |")


def groups_of(samples, features):
    """As rb_tree_groups has it."""
    values, groups = features * UNITS + UNITS * UNITS, 1
    for depth in range(1, 7):
        small = (depth + 1) * 8 * values <= 1 << 26 or depth <= 3
        if not small or samples / (2 * groups) < 4096:
            break
        groups *= 2
    return groups


def predict(o, samples, processes):
    share = samples / min(processes, groups_of(samples, o.features))
    network = o.messages * o.latency + o.bytes / o.rate
    return o.fixed + o.sample * share + math.log2(processes) * network


def table(o):
    counts = [1, 2, 8, 64, 1024]
    print("| samples x features | groups |", " | ".join(map(str, counts)), "|")
    print("|---" * (2 + len(counts)) + "|")
    for samples in (10**6, 10**7, 10**8):
        row = [f"{predict(o, samples, p):.3g}" for p in counts]
        print(f"| 1e{len(str(samples)) - 1} x {o.features} | {groups_of(samples, o.features)} |", " | ".join(row), "|")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="+", help="RAREBIT SAMPLES FEATURES, or of the table FEATURES")
    p.add_argument("--estep", default="cyclic")
    p.add_argument("--iterations", type=int, default=5)
    p.add_argument("--turns", type=int, default=3)
    p.add_argument("--latencies", default="0,1e-4,1e-3,1e-2")
    p.add_argument("--rate", type=float, default=1.25e8)
    for name in ("fixed", "sample", "messages", "bytes", "latency"):
        p.add_argument(f"--{name}", type=float)
    o = p.parse_args()
    o.features = int(o.what[-1])
    if o.fixed is not None:
        table(o)
        return
    o.rarebit, o.samples, o.bench = os.path.abspath(o.what[0]), int(o.what[1]), os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        measure(o)


if __name__ == "__main__":
    main()
