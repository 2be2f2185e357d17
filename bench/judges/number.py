"""How many modules are there? `rarebit select`, beside the parallel analysis of `rarebit check`."""
import numpy as np

import sets
from judge import wilson


def timed(tool):
    for n, m in ((120, 300), (102, 5565)):
        made = sets.plant(np.random.default_rng(1), sets.normal(np.random.default_rng(2), n, m), np.full(5, 3.0))
        print(f"{n} x {m}: {tool.ask(made, ['select', 'rfn'], '--seed', '1', *tool.options)[1]:.2f} s of processor")


def judge(tool, confirm, seeds, each):
    def answer(what):
        name, seed, noise = what
        made = sets.make(name, seed, noise)
        how = ["--seed", str(seed)] + ["--log1p"] * made.counts
        found, seconds = tool.ask(made, ["select", "rfn"], *how, *tool.options)
        beside = next(f for f in tool.ask(made, ["check"])[0]["findings"] if f["name"] == "structure")
        picked, low, high = (found[key] or 0 for key in ("units", "low", "high"))
        return len(made.modules), picked, low, high, beside["value"] or 0, seconds

    def rows(names, noise):
        for name in names:
            yield name, list(each(answer, [(name, seed, noise) for seed in seeds]))

    def near(answers, by, at=1):
        return wilson(sum(abs(a[0] - a[at]) <= by for a in answers), len(answers))

    def line(name, some):
        covered = wilson(sum(a[2] <= a[0] <= a[3] for a in some), len(some))
        picked = " ".join(str(a[1]) for a in some) if len(some) == len(seeds) else ""
        print(f"{name:22} {near(some, 0):29} {near(some, 1):29} {covered:29} {near(some, 0, 4):29}"
              f" {near(some, 1, 4):29} {np.mean([a[5] for a in some]):5.2f} s  {picked}", flush=True)

    def planted(names, title):
        every = []
        for name, some in rows(names, False):
            every += some
            line(name, some)
        line(title, every)

    print(f"{'planted':22} {'exact':29} {'within one':29} {'in the range':29} {'parallel analysis, exact':29}"
          f" {'within one':29}  time  picked")
    planted([k for k in sets.KINDS if k not in sets.CONFIRMED_ONLY], "all six")
    if confirm:
        planted(sets.CONFIRMED_ONLY, "other kinds")
    print(f"\n{'noise':22} {'none picked':29} {'none by parallel analysis':29}")
    for name, some in rows(list(sets.NOISE), True):
        print(f"{name:22} {near(some, 0):29} {near(some, 0, 4):29}  {' '.join(str(a[1]) for a in some)}", flush=True)
    timed(tool)
