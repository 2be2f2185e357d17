"""Which samples and features belong together? `fit` with twice the planted units, or a consensus, then `modules`."""
import json
import os
import tempfile

import numpy as np

import sets
from judge import interval, wilson

MIRRORED = ["three strong", "strengths"]  # kinds with modules so strong that centring by the mean mirrors them


class Fit:
    """A model of a set in a folder of its own, and what `modules` says of it."""

    def __init__(self, tool, made, seed, folder, *more, times=2):
        self.tool, self.made = tool, made
        self.data, self.model, self.truth = (os.path.join(folder, name) for name in ("x.npy", "m.h5", "t.json"))
        np.save(self.data, made.x)
        with open(self.truth, "w") as file:
            json.dump({"modules": [{"unit": unit, "samples": sorted(map(int, rows)), "features": sorted(map(int, columns))}
                                   for unit, (rows, columns) in enumerate(made.modules)]}, file)
        options = ["--seed", str(seed), *["--log1p"] * made.counts, *more, *tool.options]
        self.tool.call("fit", tool.method, self.data, "-k", str(times * len(made.modules)), *options, "-o", self.model)

    def modules(self, *more):
        return json.loads(self.tool.call("modules", self.model, self.data, "--json", *more))

    def rows(self, command):
        path = self.data + ".rows.npy"
        self.tool.call(command, self.model, self.data, "-o", path)
        return np.load(path)

    def score(self, number=0, *more):
        return self.modules("--truth", self.truth, "--best", str(number), *more)["consensus_score"]


def mirrors(fit):
    """Units whose codes are low where a planted module's samples are."""
    codes = fit.rows("encode")
    for unit in np.flatnonzero(codes.std(axis=0) > 0):
        inside = [np.isin(np.arange(len(codes)), rows).astype(float) for rows, _ in fit.made.modules]
        found = [np.corrcoef(codes[:, unit], of)[0, 1] for of in inside]
        if min(found) < -0.4 and max(found) < -min(found):
            yield int(unit)


def of_set(tool, what):
    name, seed = what
    made = sets.make(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(tool, made, seed, folder)
        count = len(made.modules)
        best, every = fit.score(count), fit.score()
        listed = [m for m in fit.modules("--permutations", "19")["modules"] if m["role"] in ("module", "other side")]
        called = {m["unit"] for m in listed if m["p_family"] <= 0.05}
        return best, every, len(listed), len(called), len(called.intersection(mirrors(fit)))


def judge(tool, confirm, seeds, each):
    print(f"{'':16} {'score, as many':16} {'all listed':16} listed called mirrors called")
    kinds = [k for k in sets.KINDS if confirm or k not in sets.CONFIRMED_ONLY or k in MIRRORED]
    mirrored = []
    for name in kinds:
        some = list(each(lambda what: of_set(tool, what), [(name, seed) for seed in seeds]))
        best, every, listed, called, wrong = np.transpose(some)
        mirrored += list(wrong > 0) if name in MIRRORED else []
        print(f"{name:16} {interval(best):16} {interval(every):16} {np.mean(listed):6.1f} {np.mean(called):6.1f} {sum(wrong):4.0f}"
              f"   {' '.join(f'{score:.3f}' for score in best)}", flush=True)
    print(f"sets of {' and '.join(MIRRORED)} with a mirror called: {wilson(sum(mirrored), len(mirrored))}")
