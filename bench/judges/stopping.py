"""Does a fit that stops by itself find what one finds that makes all its iterations? `fit` twice, then `modules`."""
import dataclasses
import re
import tempfile

import numpy as np

import sets
from members import Fit

GOES_ON = ["--tolerance", "0", "--parameter-tolerance", "0"]


def found(tool, made, seed, *more):
    """Iterations, explained variance, score of the modules."""
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(tool, made, seed, folder, *more)
        x = np.log1p(made.x) if made.counts else made.x
        rebuilt = np.log1p(fit.rows("reconstruct")) if made.counts else fit.rows("reconstruct")
        iterations = int(re.search(r"iterations\s+(\d+)", tool.call("info", fit.model)).group(1))
        explained = 1 - np.square(x - rebuilt).sum() / np.square(x - x.mean(0)).sum()
        return iterations, explained, fit.score(len(made.modules))


def of_set(tool, what):
    name, seed = what
    made = sets.make(name, seed)
    if tool.method == "nmf" and not made.counts:
        made = dataclasses.replace(made, x=made.x - made.x.min(0))
    return found(tool, made, seed), found(tool, made, seed, *GOES_ON)


def judge(tool, confirm, seeds, each):
    print(f"{'':16} iterations  all   explained     all  change, most   score    all  change, most")
    for name in sets.KINDS:
        some = np.array(list(each(lambda what: of_set(tool, what), [(name, seed) for seed in seeds])))
        stopped, all_of = some[:, 0].T, some[:, 1].T
        print(f"{name:16} {np.mean(stopped[0]):10.0f} {np.mean(all_of[0]):4.0f} {np.mean(stopped[1]):11.4f} {np.mean(all_of[1]):7.4f}"
              f" {100 * np.max(np.abs(stopped[1] / all_of[1] - 1)):11.3f} % {np.mean(stopped[2]):7.3f} {np.mean(all_of[2]):6.3f}"
              f" {np.max(np.abs(stopped[2] - all_of[2])):13.3f}", flush=True)
