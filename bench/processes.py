"""Seconds of an iteration of rfn by many processes: a model of it, and what is measured.

mpirun -n 2 python3 bench/processes.py SAMPLES FEATURES [--estep newton] [--latency S] [--bandwidth B]
    prints the fastest of the iterations, its processor time, and the messages and bytes of one. Each message waits as long as it would take
    on a network of that latency (seconds) and bandwidth (bytes per second). --threads N: of each process (1).
python3 bench/processes.py FEATURES --fixed S --sample S --rounds N --bytes N
    prints the table that the model gives: an iteration takes `fixed` + `sample` times the samples of the process with
    most of them, and for each doubling of the processes `rounds` messages with `bytes` together.
"""

import argparse
import math
import time

UNITS = 50


class Network:
    """A communicator whose messages take time."""

    def __init__(self, comm, latency, bandwidth):
        self.comm, self.latency, self.bandwidth = comm, latency, bandwidth
        self.messages = self.bytes = 0

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def Dup(self):
        return self

    def Free(self):
        pass

    def Sendrecv(self, send, *others):
        self.messages += 1
        self.bytes += send.nbytes
        end = time.perf_counter() + self.latency + send.nbytes / self.bandwidth
        self.comm.Sendrecv(send, *others)
        time.sleep(max(0, end - time.perf_counter()))


def measure(o):
    import numpy as np
    from mpi4py import MPI
    import rarebit
    draws = np.random.default_rng(1)
    x = draws.exponential(size=(o.samples, 10)).astype("f") @ draws.normal(size=(10, o.features)).astype("f")
    x += draws.standard_normal(x.shape, dtype="f")
    net, at = Network(MPI.COMM_WORLD, o.latency, o.bandwidth), []
    fit = rarebit.RFN(UNITS, estep=o.estep, iterations=o.iterations, random_state=1, n_jobs=o.threads, callback=lambda p: at.append(
        (time.perf_counter(), time.process_time(), net.messages, net.bytes)))
    with rarebit.processes(net):
        fit.fit(x)
    if net.Get_rank() == 0:
        seconds, processor = (min(b[i] - a[i] for a, b in zip(at[1:], at[2:])) for i in (0, 1))
        messages, size = (b - a for a, b in zip(at[-2][2:], at[-1][2:]))
        print(f"{o.samples} x {o.features}, {o.estep}, {net.Get_size()} processes, {o.threads} threads: "
              f"{seconds:.4f} s, {processor:.4f} s of processors, {messages} messages, {size} bytes")


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
    network = o.rounds * o.latency + o.bytes / o.bandwidth
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
    p.add_argument("size", type=int, nargs="+", help="SAMPLES FEATURES, or of the table FEATURES")
    p.add_argument("--estep", default="cyclic")
    p.add_argument("--iterations", type=int, default=8)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--latency", type=float, default=0)
    p.add_argument("--bandwidth", type=float, default=math.inf)
    for name in ("fixed", "sample", "rounds", "bytes"):
        p.add_argument(f"--{name}", type=float)
    o = p.parse_args()
    o.samples, o.features = o.size[0], o.size[-1]
    table(o) if o.fixed is not None else measure(o)


if __name__ == "__main__":
    main()
