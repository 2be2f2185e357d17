"""Do answers about one half of the samples of a real table hold in the other half? `select`, `modules`, `compare`."""
import json
import os
import tempfile

import numpy as np
import pandas
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from judge import interval, wilson

LISTED = ("module", "other side")


def read(folder):
    """Samples x features, and the class of each sample, from NAME.tsv.gz and NAME.classes.tsv."""
    values = pandas.read_csv(folder + ".tsv.gz", sep="\t", index_col=0)
    classes = pandas.read_csv(folder + ".classes.tsv", sep="\t", index_col=0).iloc[:, 0]
    return values.to_numpy(), classes.reindex(values.index).to_numpy()


def area(codes, others, here, there):
    """The mean over classes of the area under the ROC curve in the second half, by what is best in the first."""
    found = []
    for name in set(here) & set(there):
        areas = [roc_auc_score(here == name, code) for code in codes.T]
        best = int(np.argmax(areas))
        found.append(roc_auc_score(there == name, others[:, best]))
    return np.mean(found)


def of_table(tool, what):
    path, seed = what
    x, classes = read(path)
    rng = np.random.default_rng([seed, len(x)])
    order = rng.permutation(len(x))
    a, b = order[: len(x) // 2], order[len(x) // 2:]
    how = ["--seed", str(seed)]
    with tempfile.TemporaryDirectory() as folder:
        first, second, nothing, model, codes = (os.path.join(folder, name) for name in
                                                ("a.npy", "b.npy", "n.npy", "m.h5", "codes.npy"))
        np.save(first, x[a])
        np.save(second, x[b])
        np.save(nothing, rng.permuted(x, axis=0))
        stable = [json.loads(tool.call("select", "rfn", data, "--json", *how))["units"] or 0
                  for data in (first, second, nothing)]
        tool.call("fit", "rfn", first, "-k", str(2 * len(set(classes))), "-o", model, *how)
        asked = json.loads(tool.call("modules", model, first, "--permutations", "19", "--json", *how))
        called = {m["unit"]: m["p_family"] <= 0.05 for m in asked["modules"] if m["role"] in LISTED}
        again = json.loads(tool.call("compare", model, first, second, "--permutations", "99", "--json", *how))
        held = {u["unit"] for u in again["units"] if u["p_value_family_b"] <= 0.05}
        halves = []
        for data in (first, second):
            tool.call("encode", model, data, "-o", codes)
            halves.append(np.load(codes))
    pca = PCA(2 * len(set(classes)), random_state=seed).fit(x[a])
    signed = [np.hstack([c, -c]) for c in (pca.transform(x[a]), pca.transform(x[b]))]
    return (*stable, [unit in held for unit, yes in called.items() if yes],
            [unit in held for unit, yes in called.items() if not yes],
            area(*halves, classes[a], classes[b]), area(*signed, classes[a], classes[b]))


def judge(tool, _, seeds, each):
    names = sorted(name[: -len(".tsv.gz")] for name in os.listdir(tool.tables) if name.endswith(".tsv.gz"))
    print("stable: in both halves, and in the table with each feature permuted. area: of the best unit for each class")
    for name in names:
        some = list(each(lambda what: of_table(tool, what), [(os.path.join(tool.tables, name), seed) for seed in seeds]))
        here, there, nothing, called, others, rfn, pca = zip(*some)
        print(name)
        print(f"  stable {' '.join(f'{n}:{m}' for n, m in zip(here, there))}, within one in both halves:",
              wilson(sum(abs(n - m) <= 1 for n, m in zip(here, there)), len(some)))
        print("  nothing stable where each feature is permuted:", wilson(sum(n == 0 for n in nothing), len(some)))
        for title, units in (("called", sum(called, [])), ("not called", sum(others, []))):
            print(f"  modules {title} that replicate:", wilson(sum(units), len(units)) if units else "none")
        print(f"  area in the other half: rfn {interval(rfn)}, pca {interval(pca)}", flush=True)
