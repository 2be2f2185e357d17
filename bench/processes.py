"""Seconds of an iteration of rfn by many processes: a model of it, and what is measured.

processes.py RAREBIT SAMPLES FEATURES [--estep newton] [--latencies S,S...] [--rate B] [--turns N]
    fits all samples by 2, 4 and 8 processes of Open MPI over networks of these latencies (seconds) and of that many bytes per
    second, and by one process as many samples as each of them has. All take turns; of each the fastest iteration counts. Clocks
    show the processor time of a process, and what its messages would take (`slow_mpi.c`), so that neither other work of the
    machine nor its number of processors matters. Beside it stands what the model says, which knows one process and the counts of
    messages alone.
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


def write_data(samples, features, shares):
    import numpy as np
    draws = np.random.default_rng(1)
    for share in shares:
        n = samples // share
        x = draws.exponential(size=(n, 10)).astype("f") @ draws.normal(size=(10, features)).astype("f")
        np.save(f"{share}.npy", x + draws.standard_normal(x.shape, dtype="f"))


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
    ends = [[float(x) for x in line.split()] for line in done.stderr.splitlines() if re.fullmatch(r"[\d.]+ \d+ \d+", line)]
    if processes == 1:
        return min(seconds[1:]), None
    if idle := re.search(r"come in (\d+) group", done.stderr):
        raise SystemExit(f"{processes} processes are more than the {idle[1]} groups that the samples come in: take more samples")
    return min(b[0] - a[0] for a, b in zip(ends, ends[1:])), [int(b - a) for a, b in zip(ends[-2][1:], ends[-1][1:])]


def measure(o):
    subprocess.run(["mpicc.openmpi", "-O2", "-shared", "-fPIC", os.path.join(o.bench, "slow_mpi.c"), "-o", "slow_mpi.so", "-lm"],
                   check=True)
    many = [int(p) for p in o.processes.split(",")]
    write_data(o.samples, o.features, [1, *many])
    o.messages, o.bytes = fit(o, "1.npy", 2)[1]
    alone = [(f"{share}.npy",) for share in (1, *many)]
    cases = alone + [("1.npy", p, float(s)) for p in many for s in o.latencies.split(",")]
    best = dict.fromkeys(cases, math.inf)
    for _ in range(o.turns):
        for case in cases:
            best[case] = min(best[case], fit(o, *case)[0])
    print(f"{o.samples} x {o.features}, {o.estep}, seconds by one process:",
          ", ".join(f"{best[case]:.4f} of 1/{case[0][:-4]}" for case in alone),
          f"\n--sample {best[alone[0]] / o.samples:.3g} --messages {o.messages} --bytes {o.bytes}")
    print("| processes | latency | measured | model | ratio |\n|---|---|---|---|---|")
    for case in cases[len(alone):]:
        _, processes, o.latency = case
        model = best[f"{processes}.npy",] + network(o, processes)
        print(f"| {processes} | {o.latency:g} | {best[case]:.4f} | {model:.4f} | {best[case] / model:.2f} |")


def groups_of(samples, features):
    """As the library has it (tests/property/processes_model.c)."""
    values, groups = features * UNITS + UNITS * UNITS, 1
    blocks = math.ceil(samples / min(max((1 << 22) // features, 1024), 1 << 14))
    for depth in range(1, 7):
        small = (depth + 1) * 8 * values <= 1 << 26 or depth <= 3
        if not small or 2 * groups > blocks or samples / (2 * groups) < 4096:
            break
        groups *= 2
    return groups


def network(o, processes):
    return math.log2(processes) * (o.messages * o.latency + o.bytes / o.rate)


def predict(o, samples, processes):
    return o.fixed + o.sample * samples / min(processes, groups_of(samples, o.features)) + network(o, processes)


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
    p.add_argument("--processes", default="2,4,8")
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
