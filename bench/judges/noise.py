"""Which modules are more than noise? `rarebit modules --permutations 19`: sets of noise with a call, and planted modules found."""
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import sets
from judge import wilson

N, M, TIMES = 60, 100, 20  # small: a set is 39 fits; sets of a seed

WIDE = 2000  # features


def noise(m):
    return {
        "gaussian": lambda rng: sets.Set(sets.normal(rng, N, m)),
        "heavy tails": lambda rng: sets.Set(sets.heavy(rng, N, m)),
        "laplace": lambda rng: sets.Set(sets.laplace(rng, N, m)),
        "unequal features": lambda rng: sets.Set(sets.unequal_features(rng, N, m)),
        "unequal samples": lambda rng: sets.Set(sets.unequal_samples(rng, N, m)),
        "counts": lambda rng: sets.Set(sets.counts_of(rng, np.tile(sets.gene_rates(rng, m), (N, 1))), counts=True),
        "depths": lambda rng: sets.Set(sets.counts_of(rng, rng.lognormal(0, 0.5, (N, 1)) * sets.gene_rates(rng, m)), counts=True),
        "correlated features": lambda rng: sets.Set(sets.autoregressive(rng, N, m)),
    }


NOISE = noise(M)
WIDE_NOISE = {name: noise(WIDE)[name] for name in ("gaussian", "heavy tails", "unequal samples", "depths", "correlated features")}
BEYOND = {  # what neither null keeps: reported, not judged
    "correlated heavy tails": lambda rng: sets.Set(np.sinh(sets.autoregressive(rng, N, M))),
    "correlated samples": lambda rng: sets.Set(sets.autoregressive(rng, M, N, 0.7).T.copy()),
}


def three(strength, noise=sets.normal, m=M, share=(0.08, 0.2)):
    return lambda rng: sets.plant(rng, noise(rng, N, m), np.full(3, strength), (0.1, 0.25), share)


def three_wide(strength, noise=sets.normal):
    return three(strength, noise, WIDE, (0.005, 0.03))


def families(rng, size=5):
    """Samples of a family share half of their variance; families are shuffled."""
    of = rng.permutation(np.repeat(range(N // size), size))
    return (sets.normal(rng, N // size, M)[of] + sets.normal(rng, N, M)) / np.sqrt(2), of


def runs(rng, size, apart):
    """Samples follow each other in time: runs that are apart, or one that is cut."""
    chains = [sets.autoregressive(rng, M, size if apart else N, 0.7).T for _ in range(N // size if apart else 1)]
    return np.concatenate(chains).copy(), np.repeat(range(N // size), size)


BLOCKS = {  # samples depend on each other: judged with --blocks
    "families of 5": lambda rng: in_blocks(sets.Set, *families(rng)),
    "runs of 10": lambda rng: in_blocks(sets.Set, *runs(rng, 10, True)),
    "a run cut in six": lambda rng: in_blocks(sets.Set, *runs(rng, 10, False)),
}


def in_blocks(make, x, of):
    made = make(x)
    made.blocks = of
    return made


def planted_in(rng, x, of):
    return in_blocks(lambda x: sets.plant(rng, x, np.full(3, 2.5), (0.1, 0.25), (0.08, 0.2)), x, of)


PLANTED = {
    "weak": three(1.5),
    "medium": three(2.5),
    "strong": three(5.0),
    "in heavy tails": three(2.5, sets.heavy),
    "in correlated features": three(2.5, sets.autoregressive),
    "in families of 5": lambda rng: planted_in(rng, *families(rng)),
    "in runs of 10": lambda rng: planted_in(rng, *runs(rng, 10, True)),
}

def two_sides(rng):
    """Features that are up in some samples and down in others, and neither in the rest: two modules."""
    x, rows, columns = sets.normal(rng, N, M), rng.choice(N, 16, False), rng.choice(M, 15, False)
    ups, downs, size = rows[:8], rows[8:], 2.5 * rng.choice([-1, 1], 15)
    x[np.ix_(ups, columns)] += size
    x[np.ix_(downs, columns)] -= size
    return sets.Set(x, [(ups, columns), (downs, columns)])


HARD = {
    "of five samples": lambda rng: sets.plant(rng, sets.normal(rng, N, M), np.full(3, 4.0), (0.08, 0.08), (0.08, 0.2)),
    "up here and down there": two_sides,
}

WIDE_PLANTED = {
    "weak": three_wide(1.5),
    "medium": three_wide(2.5),
    "in heavy tails": three_wide(2.5, sets.heavy),
    "in correlated features": three_wide(2.5, sets.autoregressive),
}


def calls(tool, made, seed):
    """The modules that are called, family-wise at 5 %: samples and features of each."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "x.npy", Path(folder) / "m.h5"
        np.save(data, made.x[:, np.ptp(made.x, axis=0) > 0])
        how = ["-q", "--threads", "1"]
        counts = ["--totals", "1000", "--log1p"] * made.counts
        subprocess.run([tool.path, "fit", "rfn", data, "-k", "5", "--seed", str(seed), *counts, "-o", model, *how], check=True)
        if made.blocks is not None:
            Path(folder, "blocks").write_text("block\n" + "".join(f"b{b}\n" for b in made.blocks))
            how += ["--blocks", Path(folder) / "blocks"]
        out = subprocess.run([tool.path, "modules", model, data, "--permutations", "19", "--json", *how, *tool.options],
                             check=True, stdout=subprocess.PIPE).stdout
    return [(m["samples"], m["features"]) for m in json.loads(out)["modules"]
            if m["p_family"] <= 0.05 + 1e-9 and m["role"] in ("module", "other side")]


def overlap(a, b):
    """Of the cells of two modules."""
    both = len(np.intersect1d(a[0], b[0])) * len(np.intersect1d(a[1], b[1]))
    return both / (len(a[0]) * len(a[1]) + len(b[0]) * len(b[1]) - both)


def judge(tool, confirm, seeds, each):
    def answer(what):
        generators, name, seed, time = what
        rng = np.random.default_rng([seed, list(generators).index(name), time, len(generators)])
        made = generators[name](rng)
        called = calls(tool, made, time)
        near = [max((overlap(c, m) for m in made.modules), default=0) >= 0.25 for c in called]
        found = sum(any(overlap(c, m) >= 0.25 for c in called) for m in made.modules)
        return len(called), found, len(called) - sum(near), len(made.modules)

    def rows(generators, times):
        for name in generators:
            yield name, list(each(answer, [(generators, name, seed, t) for seed in seeds for t in range(times)]))

    print(f"{'noise':30} sets with a call, family-wise at 5 %", flush=True)
    for some, what, times in (NOISE, "", TIMES), (BEYOND, "", TIMES // 4), (BLOCKS, "", TIMES), (WIDE_NOISE, "wide, ", TIMES // 2):
        for name, answers in rows(some, times):
            print(f"{what + name:30} {wilson(sum(a[0] > 0 for a in answers), len(answers))}", flush=True)
    print(f"\n{'planted':30} {'found':32} calls that are none of them")
    for some, what in (PLANTED, ""), (HARD, ""), (WIDE_PLANTED, "wide, "):
        for name, answers in rows(some, TIMES // 4):
            found, false, there = (sum(a[i] for a in answers) for i in (1, 2, 3))
            print(f"{what + name:30} {wilson(found, there):32} {false} in {len(answers)} sets", flush=True)
