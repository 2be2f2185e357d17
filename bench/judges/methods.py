"""In which sets does `rarebit methods` say that there may be nothing to find? Noise of independent features, and planted modules."""
import json
import tempfile
from pathlib import Path

import numpy as np

import noise
from judge import wilson

TIMES = 20  # sets of a seed
KINDS = {name: noise.NOISE[name] for name in ("gaussian", "heavy tails", "laplace", "unequal features", "unequal samples", "counts")}
KINDS |= {f"planted, {name}": noise.PLANTED[name] for name in ("weak", "medium", "strong")}


def names_one(tool, what):
    """Does it name a method?"""
    name, seed, time = what
    made = KINDS[name](np.random.default_rng([seed, list(KINDS).index(name), time]))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "x.npy"
        np.save(data, made.x[:, np.ptp(made.x, axis=0) > 0])
        counts = ["--totals", "1000", "--log1p"] * made.counts
        found = json.loads(tool.call("methods", str(data), "-k", "5", "--json", *counts, *tool.options))
    return not found["summary"].startswith("No method predicts")


def judge(tool, confirm, seeds, each):
    print(f"{'':24} sets for which a method is named")
    for name in KINDS:
        named = list(each(lambda what: names_one(tool, what), [(name, seed, time) for seed in seeds for time in range(TIMES)]))
        print(f"{name:24} {wilson(sum(named), len(named))}", flush=True)
