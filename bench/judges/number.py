"""How many modules are there? `rarebit select`, beside the parallel analysis of `rarebit check`."""
import numpy as np

import sets
from judge import wilson


def timed(tool):
    for n, m in ((120, 300), (102, 5565)):
        made = sets.plant(np.random.default_rng(1), sets.normal(np.random.default_rng(2), n, m), np.full(5, 3.0))
        print(f"{n} x {m}: {tool.ask(made, ['select', 'rfn'], '--seed', '1', *tool.options)[1]:.2f} s of processor")


def judge(tool, confirm, each):
    seeds = sets.CONFIRMATION if confirm else sets.DEVELOPMENT

    def answer(what):
        name, seed, noise = what
        made = sets.make(name, seed, noise)
        how = ["--seed", str(seed)] + ["--log1p"] * made.counts
        found, seconds = tool.ask(made, ["select", "rfn"], *how, *tool.options)
        beside = next(f for f in tool.ask(made, ["check"])[0]["findings"] if f["name"] == "structure")
        return name, len(made.modules), found["units"] or 0, beside["value"] or 0, seconds

    def rows(names, noise):
        answers = list(each(answer, [(name, seed, noise) for name in names for seed in seeds]))
        for name in names:
            yield name, [a for a in answers if a[0] == name]

    def near(answers, at, by):
        return wilson(sum(abs(a[1] - a[at]) <= by for a in answers), len(answers))

    def planted(names, title):
        every = []
        for name, some in rows(names, False):
            every += some
            line(name, some)
        line(title, every)

    def line(name, some):
        picked = " ".join(str(a[2]) for a in some) if len(some) == len(seeds) else ""
        print(f"{name:22} {near(some, 2, 0):30} {near(some, 2, 1):30} {near(some, 3, 0):30} {near(some, 3, 1):30}"
              f" {np.mean([a[4] for a in some]):5.2f} s  {picked}", flush=True)

    print(f"{'planted':22} {'exact':30} {'within one':30} {'parallel analysis, exact':30} {'within one':30}  time  picked")
    planted([k for k in sets.KINDS if k not in sets.CONFIRMED_ONLY], "all six")
    if confirm:
        planted(sets.CONFIRMED_ONLY, "other kinds")
    print(f"\n{'noise':22} {'none picked':30} {'none by parallel analysis':30}")
    for name, some in rows(list(sets.NOISE), True):
        print(f"{name:22} {near(some, 2, 0):30} {near(some, 3, 0):30}  {' '.join(str(a[2]) for a in some)}", flush=True)
    timed(tool)
