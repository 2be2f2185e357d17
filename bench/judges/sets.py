"""Data with a planted truth, by generators that are not those of `rarebit simulate`.

KINDS, FEW and NOISE map a name to a generator: make(name, seed) gives a Set. Development seeds may choose constants;
confirmation seeds, and the kinds of CONFIRMED_ONLY, are run once a rule is settled.
"""
from dataclasses import dataclass, field

import numpy as np

DEVELOPMENT, CONFIRMATION = range(1, 9), range(1001, 1011)


@dataclass
class Set:
    x: np.ndarray                                # samples x features
    modules: list = field(default_factory=list)  # (samples, features) of each
    counts: bool = False                         # to be fitted with --log1p
    blocks: np.ndarray | None = None             # of each sample: to be tested with --blocks


def normal(rng, n, m):
    return rng.standard_normal((n, m))


def heavy(rng, n, m):
    return rng.standard_t(3, (n, m)) / np.sqrt(3)


def laplace(rng, n, m):
    return rng.laplace(size=(n, m)) / np.sqrt(2)


def unequal_features(rng, n, m):
    return normal(rng, n, m) * np.exp(rng.uniform(np.log(0.3), np.log(3), m))


def unequal_samples(rng, n, m):
    return normal(rng, n, m) * np.exp(rng.uniform(np.log(0.5), np.log(2), (n, 1)))


def autoregressive(rng, n, m, r=0.6):
    """Each feature resembles the one before; transposed, each sample does."""
    e = normal(rng, n, m)
    for j in range(1, m):
        e[:, j] = r * e[:, j - 1] + np.sqrt(1 - r * r) * e[:, j]
    return e


def counts_of(rng, rates, dispersion=2.0):
    return rng.poisson(rates * rng.gamma(dispersion, 1 / dispersion, rates.shape)).astype(float)


def gene_rates(rng, m):
    return np.exp(rng.normal(0, 1.2, m))


def plant(rng, x, strengths, samples=(0.08, 0.25), features=(0.04, 0.1), signed=True):
    """Adds to x a module per strength: gamma codes times gamma loadings of both signs."""
    n, m = x.shape
    modules = []
    for strength in strengths:
        rows = rng.choice(n, max(5, round(n * rng.uniform(*samples))), False)
        columns = rng.choice(m, max(4, round(m * rng.uniform(*features))), False)
        loadings = strength * rng.gamma(8, 1 / 8, len(columns))
        loadings *= rng.choice([-1, 1], len(columns)) if signed else 1
        x[np.ix_(rows, columns)] += np.outer(rng.gamma(4, 1 / 4, len(rows)), loadings)
        modules.append((rows, columns))
    return Set(x, modules)


def medium(rng, number=5):
    return rng.uniform(2, 4, number)


def batches(rng):
    """Five modules in correlated features of unequal noise, and three batches, each with a shift of all features."""
    x = autoregressive(rng, 120, 300) * np.exp(rng.uniform(np.log(0.3), np.log(3), 300))
    found, of = plant(rng, x, medium(rng)), rng.integers(0, 3, 120)
    for b in range(3):
        found.x[of == b] += 0.8 * normal(rng, 1, 300)
        found.modules.append((np.flatnonzero(of == b), np.arange(300)))
    return found


def groups(rng):
    """Each sample is in one of four groups of unequal size, each with 40 features of its own."""
    x, of, modules = normal(rng, 120, 300), rng.choice(4, 120, p=[0.4, 0.3, 0.2, 0.1]), []
    for g in range(4):
        columns = rng.choice(300, 40, False)
        x[np.ix_(of == g, columns)] += 2 * rng.uniform(0.7, 1.3, 40)
        modules.append((np.flatnonzero(of == g), columns))
    return Set(x, modules)


def types(rng):
    """Counts of cells of types of 46, 30, 20, 3 and 1 %, each with genes of its own."""
    n, m, shares = 400, 400, [0.46, 0.3, 0.2, 0.03, 0.01]
    of = np.repeat(range(5), [round(n * s) for s in shares])
    rates, modules = np.tile(gene_rates(rng, m), (n, 1)), []
    for t in range(5):
        genes = rng.choice(m, 25, False)
        rates[np.ix_(of == t, genes)] *= rng.uniform(4, 10, 25)
        modules.append((np.flatnonzero(of == t), genes))
    return Set(counts_of(rng, rates * rng.lognormal(0, 0.2, (n, 1))), modules, True)


def sample_effect(rng):
    """Five modules, and a brightness of each sample that all features share, of a third of the variance."""
    found = plant(rng, normal(rng, 120, 300), medium(rng))
    found.x += 0.7 * normal(rng, 120, 1) * rng.uniform(0.5, 1.5, 300)
    return found


KINDS = {
    "gaussian": lambda rng: plant(rng, normal(rng, 120, 300), medium(rng)),
    "heavy tails": lambda rng: plant(rng, heavy(rng, 120, 300), medium(rng)),
    "batches": batches,
    "overlapping": lambda rng: plant(rng, normal(rng, 120, 300), np.full(5, 3.0), (0.05, 0.4), (0.02, 0.2), False),
    "strengths": lambda rng: plant(rng, normal(rng, 120, 300), np.geomspace(0.6, 6, 5), (0.15, 0.3), (0.15, 0.3)),
    "correlated": lambda rng: plant(rng, autoregressive(rng, 120, 300), medium(rng, 3)),
    "three strong": lambda rng: plant(rng, normal(rng, 100, 200), np.full(3, 5.0), signed=False),
    "eight": lambda rng: plant(rng, heavy(rng, 200, 200), medium(rng, 8)),
    "sample effect": sample_effect,
    "types": types,
    "wide": lambda rng: plant(rng, normal(rng, 60, 5000), np.full(5, 3.0), features=(0.005, 0.03)),
    "tall": lambda rng: plant(rng, normal(rng, 3000, 60), np.full(5, 3.0), features=(0.1, 0.2)),
    "groups": groups,  # the last: seeds go by the place
}
CONFIRMED_ONLY = ["three strong", "eight", "sample effect", "types", "wide", "tall", "groups"]



def few(noise, m, samples=(0.08, 0.25)):
    """Three to six modules of 4 to 15 of m features, a third of them at most, in 100 to 500 samples."""
    def make_set(rng):
        x = noise(rng, int(rng.choice([100, 200, 500])), m)
        return plant(rng, x, medium(rng, int(rng.integers(3, 7))), samples, (4 / m, min(15 / m, 1 / 3)))
    return make_set


FEW = {
    "25 features": few(normal, 25),
    "50 features": few(normal, 50),
    "100 features": few(normal, 100),
    "25, large groups": few(normal, 25, (0.25, 0.5)),
    "50, large groups": few(normal, 50, (0.25, 0.5)),
    "25, heavy tails": few(heavy, 25),
    "50, unequal features": few(unequal_features, 50),
    "100, correlated": few(autoregressive, 100),
}
FEW_CONFIRMED_ONLY = ["25, heavy tails", "50, unequal features", "100, correlated"]

NOISE = {
    "gaussian": lambda rng: Set(normal(rng, 120, 300)),
    "heavy tails": lambda rng: Set(heavy(rng, 120, 300)),
    "laplace": lambda rng: Set(laplace(rng, 120, 300)),
    "unequal features": lambda rng: Set(unequal_features(rng, 120, 300)),
    "unequal samples": lambda rng: Set(unequal_samples(rng, 120, 300)),
    "counts": lambda rng: Set(counts_of(rng, np.tile(gene_rates(rng, 300), (120, 1))), counts=True),
    "depths": lambda rng: Set(counts_of(rng, rng.lognormal(0, 0.5, (120, 1)) * gene_rates(rng, 300)), counts=True),
    "correlated features": lambda rng: Set(autoregressive(rng, 120, 300)),
    "correlated samples": lambda rng: Set(autoregressive(rng, 300, 120, 0.7).T.copy()),
}


def make(name, seed, noise=False):
    group = NOISE if noise else FEW if name in FEW else KINDS
    return group[name](np.random.default_rng([seed, list(group).index(name), 2 if group is FEW else noise]))
