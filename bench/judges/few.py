"""With 25 to 100 features: which options of `fit`, which rule of `modules`? Scores of as many best modules as planted."""
import dataclasses
import tempfile

import numpy as np

import sets
from judge import interval
from members import Fit

FITS = {
    "rfn": ("rfn", []),
    "rfn biclustering": ("rfn", ["--preset", "biclustering"]),
    "rfn paper": ("rfn", ["--preset", "paper"]),
    "rfn consensus": ("rfn", ["--consensus", "--restarts", "20"]),
    "ica": ("ica", []),
    "fabia": ("fabia", []),
}
RULES = {"test": ["--rule", "test"], "level 0.2": ["--rule", "test", "--level", "0.2"],
         "fabia": ["--rule", "fabia"]}


def of_set(tool, what):
    """For each rule the score of as many best modules as planted, of all that are listed, and how many these are."""
    name, seed, (method, options), times = what
    made = sets.make(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(dataclasses.replace(tool, method=method), made, seed, folder, *options, times=times)
        return [(fit.score(len(made.modules), *rule), fit.score(0, *rule),
                 sum(m["role"] in ("module", "other side") for m in fit.modules(*rule)["modules"]) / len(made.modules))
                for rule in RULES.values()]


def judge(tool, confirm, seeds, each):
    asked = [(name, times, fit) for name in sets.FEW if confirm or name not in sets.FEW_CONFIRMED_ONLY
             for times in (1, 2) for fit in FITS]
    answers = iter(each(lambda what: of_set(tool, what), [(name, seed, FITS[fit], times) for name, times, fit in asked for seed in seeds]))
    print(f"{'':22} {'':18} {'rule':10} {'score, as many':16} {'all listed':16} listed of planted")
    for name, times, fit in asked:
        some = np.array([next(answers) for _ in seeds])
        for rule, (best, every, listed) in zip(RULES, some.transpose(1, 2, 0)):
            print(f"{name:22} {fit + f' {times}k':18} {rule:10} {interval(best):16} {interval(every):16} {np.mean(listed):.2f}", flush=True)
