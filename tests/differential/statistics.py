"""Statistics of rarebit against scipy: statistics.py RAREBIT FOLDER. The folder has tails.so."""

import ctypes
import json
import subprocess
import sys

import mpmath
import numpy as np
from scipy import stats

RAREBIT, FOLDER = sys.argv[1], sys.argv[2]
rng = np.random.default_rng(21)
failures = 0


def check(what, got, wanted, relative=1e-10):
    global failures
    if got is None or not abs(got - wanted) <= relative * max(abs(wanted), 1e-300):
        print(f"{what}: {got!r}, scipy has {wanted!r}", file=sys.stderr)
        failures += 1


# ---- tails, to 1e-10 of the probability; beyond a double, of its logarithm ----


def tails():
    library = ctypes.CDLL(f"{FOLDER}/tails.so")

    def tail(name, *arguments):
        function = getattr(library, name)
        function.restype = ctypes.c_double
        function.argtypes = [ctypes.c_double] * len(arguments)
        return function(*arguments)

    for z in np.concatenate([np.linspace(-8, 45, 300), [100.0, 1e4]]):
        got, wanted = tail("rb_log_normal_tail", z), stats.norm.logsf(z)
        check(f"normal {z}", got if z > 35 else np.exp(got), wanted if z > 35 else stats.norm.sf(z))
    for degrees in [1, 2, 3, 5, 10, 39, 40, 41, 100, 1000, 5000]:
        for factor in [1e-6, 1e-2, 0.3, 0.8, 0.95, 1, 1.05, 1.3, 2, 5, 20, 100]:
            x = degrees * factor
            wanted = stats.chi2.sf(x, degrees)
            if wanted > 1e-280:
                check(f"chi-square {x} {degrees}", np.exp(tail("rb_log_chi_square_tail", x, degrees)), wanted)
    for degrees in [1, 2, 3, 5, 10, 59, 60, 61, 200, 1000, 1e5]:
        for t in [1e-6, 0.01, 0.3, 0.9, 1, 1.1, 2, 3, 5, 10, 30, 1e3, 1e8]:
            wanted = 2 * stats.t.sf(t, degrees)
            if wanted > 1e-280:
                check(f"t {t} {degrees}", np.exp(tail("rb_log_student_tail", t, degrees)), wanted)
    mpmath.mp.dps = 40
    for degrees, x in [(1, 1e4), (3, 5e3), (40, 2e4), (7, 1e6), (2000, 1e5)]:
        wanted = mpmath.log(mpmath.gammainc(mpmath.mpf(degrees) / 2, mpmath.mpf(x) / 2, regularized=True))
        check(f"chi-square {x} {degrees}", tail("rb_log_chi_square_tail", x, degrees), float(wanted))
    for degrees, t in [(100, 1e5), (1000, 300), (20, 1e30), (3, 1e120)]:
        nu = mpmath.mpf(degrees)
        wanted = mpmath.log(mpmath.betainc(nu / 2, mpmath.mpf(1) / 2, 0, nu / (nu + mpmath.mpf(t) ** 2), regularized=True))
        check(f"t {t} {degrees}", tail("rb_log_student_tail", t, degrees), float(wanted))


# ---- the tool ----


def adjusted(p, tests):
    """Benjamini and Hochberg's, of the smallest of `tests` p-values; the others are 1."""
    p = np.asarray(p)
    order = np.argsort(p)
    steps = p[order] * tests / np.arange(1, len(p) + 1)
    result = np.empty(len(p))
    result[order] = np.minimum(1, np.minimum.accumulate(steps[::-1])[::-1])
    return result


def run(*arguments):
    out = subprocess.run([RAREBIT, *arguments, "-q"], cwd=FOLDER, check=True, capture_output=True, text=True)
    return out.stdout


def table(path):
    with open(f"{FOLDER}/{path}") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return rows[0], rows[1:]


def write_data(samples, features):
    causes = np.maximum(0, rng.normal(size=(samples, 4)) - 0.5)
    weights = rng.normal(size=(4, features)) * (rng.random((4, features)) < 0.2) * 3
    values = causes @ weights + rng.normal(size=(samples, features))
    names = [f"g{k}" for k in range(features)]
    with open(f"{FOLDER}/x.tsv", "w") as file:
        file.write("sample\t" + "\t".join(names) + "\n")
        for i in range(samples):
            file.write(f"s{i}\t" + "\t".join(f"{v:.6g}" for v in values[i]) + "\n")
    return names


def write_sets(names, sizes):
    sets = {}
    with open(f"{FOLDER}/sets.gmt", "w") as file:
        for s, size in enumerate(sizes):
            sets[f"set{s}"] = set(rng.choice(names, size, replace=False))
            file.write(f"set{s}\tna\t" + "\t".join(sorted(sets[f"set{s}"])) + "\tABSENT\n")
    return sets


def loadings(method, units, names):
    """As a module of all features has them, up to a scale: by ranks that is all the same."""
    run("modules", f"{method}.h5", "x.tsv", "--rule", "mass:1", "-o", "all.tsv")
    weights = {u: dict.fromkeys(names, 0.0) for u in range(units)}
    for _, unit, _, kind, name, _, weight, *_ in table("all.tsv")[1]:
        if kind == "feature":
            weights[int(unit)][name] = float(weight)
    return weights


def sets_agree(method, units, names, sets, ties):
    weights = loadings(method, units, names)
    run("modules", f"{method}.h5", "x.tsv", "--gmt", "sets.gmt", "--gmt-output", "sets.json", "-o", "members.tsv")
    rows = json.load(open(f"{FOLDER}/sets.json"))["rows"]
    answer = json.loads(run("modules", f"{method}.h5", "x.tsv", "--gmt", "sets.gmt", "--json"))["feature_sets"]
    assert answer["tests"] == rows
    members = {}
    for _, unit, _, kind, name, _, weight, *_ in table("members.tsv")[1]:
        if kind == "feature":
            members.setdefault((int(unit), "up" if float(weight) > 0 else "down"), set()).add(name)
    assert answer["overlap_tests"] == len(members) * len(sets)
    for row in rows:
        unit, within = row["unit"], sets[row["set"]]
        what = f"{method}, unit {unit}, {row['set']}, {row['test']}"
        assert row["set_size"] == len(within), what
        if row["test"] == "rank":
            inside = [weights[unit][g] for g in names if g in within]
            outside = [weights[unit][g] for g in names if g not in within]
            test = stats.mannwhitneyu(inside, outside, method="auto")
            check(what + " AUC", row["auc"], test.statistic / (len(inside) * len(outside)), 1e-12)
            most = max(np.unique(list(weights[unit].values()), return_counts=True)[1])
            if not ties or most <= len(names) / 2:
                check(what, row["p_value"], test.pvalue)
        else:
            found = members[unit, row["test"]]
            assert set(row["features"]) == found & within and row["size"] == len(found), what
            p = stats.hypergeom.sf(len(found & within) - 1, len(names), len(within), len(found))
            check(what, row["p_value"], p)
            check(what + " fold", row["fold"], len(found & within) / (len(within) * len(found) / len(names)))
        check(what + " log", row["log10_p_value"], np.log10(row["p_value"]), 1e-8)
    for family, tests in ((("up", "down"), "overlap_tests"), (("rank",), "rank_tests")):
        chosen = [row for row in rows if row["test"] in family]
        for row, rate in zip(chosen, adjusted([row["p_value"] for row in chosen], answer[tests])):
            check(f"{method} FDR of {row['set']}", row["fdr"], rate)
    print(f"{method}: {len(rows)} tests of sets agree")


def read_codes(method):
    run("encode", f"{method}.h5", "x.tsv", "-o", "codes.npy")
    return np.load(f"{FOLDER}/codes.npy").astype(float)


def classes_agree(method, samples):
    """Classes of 3 (exact where codes are different) to many samples; some samples have none."""
    codes = read_codes(method)
    groups = rng.choice(["a", "b", "c", ""], samples, p=[0.5, 0.3, 0.1, 0.1])
    groups[:3] = "rare"
    with open(f"{FOLDER}/labels.tsv", "w") as file:
        file.write("sample\tclass\n" + "".join(f"s{i}\t{g}\n" for i, g in enumerate(groups)))
    run("modules", f"{method}.h5", "x.tsv", "--labels", "labels.tsv", "--labels-output", "labels.json")
    rows = json.load(open(f"{FOLDER}/labels.json"))["rows"]
    assert len(rows) == 4 * codes.shape[1]
    for row in rows:
        code = codes[:, row["unit"]]
        inside, outside = code[groups == row["class"]], code[(groups != row["class"]) & (groups != "")]
        test = stats.mannwhitneyu(inside, outside, method="auto")
        check(f"{method} AUC", row["auc"], test.statistic / (len(inside) * len(outside)), 1e-12)
        if np.mean(code == 0) < 0.5:
            check(f"{method}, unit {row['unit']}, {row['class']}", row["p_value"], test.pvalue)
    for row, rate in zip(rows, adjusted([row["p_value"] for row in rows], len(rows))):
        check(f"{method} FDR of {row['class']}", row["fdr"], rate)
    print(f"{method}: {len(rows)} classes agree")


def covariates_agree(method, samples):
    codes = read_codes(method)
    missing = rng.random(samples) < 0.1
    numbers = {
        "age": np.where(missing, np.nan, rng.normal(50, 10, samples)),
        "tied": rng.integers(0, 4, samples).astype(float),
        "like": np.round(codes[:, 0] + 0.3 * rng.normal(size=samples), 3),
    }
    groups = {
        "site": rng.choice(["A", "B", "C", "NA"], samples),
        "batch": np.array([str(b) for b in 1 + (codes[:, 1] > np.median(codes[:, 1])) + rng.integers(0, 2, samples)]),
    }
    columns = {**numbers, **groups}
    with open(f"{FOLDER}/covariates.csv", "w") as file:
        file.write("sample," + ",".join(columns) + "\n")
        for i in rng.permutation(samples):
            cells = [c[i] if isinstance(c[i], str) else "" if np.isnan(c[i]) else repr(float(c[i])) for c in columns.values()]
            file.write(f"s{i}," + ",".join(cells) + "\n")
    run("modules", f"{method}.h5", "x.tsv", "--covariates", "covariates.csv", "--covariate-groups", "batch",
        "--covariates-output", "covariates.json")
    rows = json.load(open(f"{FOLDER}/covariates.json"))["rows"]
    assert len(rows) == len(columns) * codes.shape[1]
    for row in rows:
        name, code = row["covariate"], codes[:, row["unit"]]
        what = f"{method}, unit {row['unit']}, {name}"
        if name in numbers:
            there = ~np.isnan(numbers[name])
            test = stats.spearmanr(code[there], numbers[name][there])
            check(what + " share", row["explained"], np.corrcoef(code[there], numbers[name][there])[0, 1] ** 2, 1e-8)
        else:
            there = groups[name] != "NA"
            parts = [code[groups[name] == g] for g in np.unique(groups[name][there])]
            test = stats.kruskal(*parts)
            within = sum(((p - p.mean()) ** 2).sum() for p in parts)
            total = ((code[there] - code[there].mean()) ** 2).sum()
            n, k = there.sum(), len(parts)
            check(what + " share", row["explained"], 1 - within / total, 1e-8)
            check(what + " adjusted", row["explained_adjusted"], 1 - within / (n - k) / (total / (n - 1)), 1e-7)
            assert row["groups"] == k
        assert row["samples"] == there.sum()
        check(what + " statistic", row["value"], test.statistic, 1e-9)
        check(what, row["p_value"], test.pvalue, 1e-8)  # scipy rounds rho before
    for row, rate in zip(rows, adjusted([row["p_value"] for row in rows], len(rows))):
        check(f"{method} FDR of {row['covariate']}", row["fdr"], rate)
    print(f"{method}: {len(rows)} covariates agree")


tails()
SAMPLES, FEATURES, UNITS = 120, 300, 4
names = write_data(SAMPLES, FEATURES)
sets = write_sets(names, [5, 6, 7, 8, 9, 12, 30, 80, 150, 290])
for method, options in (("sparse", []), ("dense", ["--preset", "paper"])):
    run("fit", "rfn", "x.tsv", "-k", str(UNITS), "--iterations", "40", "--seed", "1", *options, "-o", f"{method}.h5")
    sets_agree(method, UNITS, names, sets, method == "sparse")
    classes_agree(method, SAMPLES)
    covariates_agree(method, SAMPLES)
sys.exit(failures > 0)
