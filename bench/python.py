"""What Python costs on top of C: python.py FOLDER OF THE LIBRARIES [--rounds N]

Fit and transform by rarebit.RFN, and the same calls from C (bench/python_cost.c), alternate in one
process, on one library, one thread, with the same array of float32. Medians over the rounds, of
processor time and of the clock; the last column is the median difference of a round.
"""

import argparse
import ctypes
import os
import statistics
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("folder")
parser.add_argument("--rounds", type=int, default=15)
given = parser.parse_args()
os.environ.update(RAREBIT_LIBRARY=os.path.join(given.folder), OPENBLAS_NUM_THREADS="1",
                  OMP_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import numpy as np  # noqa: E402
import rarebit  # noqa: E402

c = ctypes.CDLL(os.path.join(given.folder, "bench", "libpython_cost.so"))
free = rarebit._library.core.rb_model_free


class InC:
    def __init__(self, units, iterations):
        self.units, self.iterations, self.model = units, iterations, ctypes.c_void_p()

    def fit(self, X):
        free(self.model)
        c.bench_fit(ctypes.c_void_p(X.ctypes.data), ctypes.c_int64(X.shape[0]),
                    ctypes.c_int64(X.shape[1]), self.units, self.iterations,
                    ctypes.byref(self.model))

    def transform(self, X):
        codes = np.empty((len(X), self.units), np.float32)
        c.bench_encode(self.model, ctypes.c_void_p(X.ctypes.data), ctypes.c_int64(X.shape[0]),
                       ctypes.c_int64(X.shape[1]), ctypes.c_void_p(codes.ctypes.data))
        return codes


def seconds(call, X, times):
    """Processor time and time by the clock of one call."""
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(times):
        call(X)
    return ((time.process_time() - processor) / times, (time.perf_counter() - clock) / times)


def compare(n, m, units, iterations, times):
    """Prints a line for fit and one for transform."""
    X = np.random.default_rng(1).standard_normal((n, m)).astype(np.float32)
    sides = (InC(units, iterations),
             rarebit.RFN(units, iterations=iterations, random_state=1))
    for side in sides:
        side.fit(X)
    if not np.array_equal(sides[0].transform(X), sides[1].transform(X)):
        sys.exit("C and Python do not give the same codes")
    for name in ("fit", "transform"):
        rounds = []
        for turn in range(given.rounds):  # each side is the first one in every other round
            order = (0, 1) if turn % 2 else (1, 0)
            took = {side: seconds(getattr(sides[side], name), X, times) for side in order}
            rounds.append((took[0], took[1]))
        for which, kind in enumerate(("processor", "clock")):
            in_c, in_python = ([r[side][which] for r in rounds] for side in (0, 1))
            more = statistics.median(p - q for p, q in zip(in_python, in_c))
            at_c = statistics.median(in_c)
            print(f"{n} x {m}, {units} units, {name:9} {kind:9} C {1e3 * at_c:9.3f} ms  Python "
                  f"{1e3 * statistics.median(in_python):9.3f} ms  more {1e3 * more:7.3f} ms "
                  f"({100 * more / at_c:.2f} %)", flush=True)


print(f"rarebit {rarebit.library_version()}, numpy {np.__version__}, Python "
      f"{sys.version.split()[0]}, {given.rounds} rounds")
compare(100, 100, 10, 20, 20)
compare(10000, 784, 50, 5, 1)
