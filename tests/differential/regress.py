"""--regress against numpy.linalg.lstsq: regress.py RAREBIT FOLDER.

The coefficients in the model file, the values that are left and what batches leave in the codes, of dense, sparse
and incomplete data, with covariates from text tables and from AnnData."""

import subprocess
import sys

import anndata
import h5py
import numpy as np
import pandas
import scipy.sparse

RAREBIT, FOLDER = sys.argv[1], sys.argv[2]
N, M = 90, 12


def run(*words):
    done = subprocess.run([RAREBIT, *words, "-q"], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"rarebit {' '.join(words)}: {done.stderr}")


def write_tables(values, batch, age):
    samples = [f"s{i}" for i in range(len(values))]
    with open(f"{FOLDER}/data.tsv", "w") as file:
        print("sample", *(f"G{k}" for k in range(values.shape[1])), sep="\t", file=file)
        for name, row in zip(samples, values):
            print(name, *("NA" if np.isnan(x) else repr(float(x)) for x in row), sep="\t", file=file)
    with open(f"{FOLDER}/covariates.tsv", "w") as file:
        print("sample", "batch", "age", sep="\t", file=file)
        for name, b, a in zip(samples, batch, age):
            print(name, b, repr(float(a)), sep="\t", file=file)


def columns_of(batch, age):
    levels = sorted(set(batch))
    indicators = [[b == level for b in batch] for level in levels[1:]]
    return np.array([*indicators, age], float).T


def least_squares(values, columns):
    """Coefficients by lstsq, features x columns, each feature by the samples that have it."""
    coefficients = np.zeros((values.shape[1], columns.shape[1]))
    for k, y in enumerate(values.T):
        there = ~np.isnan(y)
        design = np.column_stack([np.ones(there.sum()), columns[there]])
        coefficients[k] = np.linalg.lstsq(design, y[there], rcond=None)[0][1:]
    return coefficients


def check(what, got, expected):
    worst = np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected)))
    if not worst < 1e-10:
        sys.exit(f"{what}: differs from numpy by {worst:g}")


def model_of(path):
    with h5py.File(f"{FOLDER}/{path}") as file:
        return {name: file[f"preprocess/{name}"][()] for name in
                ("centre", "scale", "regress/means", "regress/coefficients")}


def compare(rng):
    batch = [f"batch{b}" for b in rng.integers(0, 4, N)]
    age = rng.normal(60, 12, N)
    columns = columns_of(batch, age)
    effects = rng.normal(0, 0.4, (4, M)) * [[1], [1], [1], [0.02]]
    counts = rng.poisson(np.exp(rng.normal(1, 0.4, (N, M)) + columns @ effects)).astype(float)
    incomplete = np.where(rng.random((N, M)) < 0.1, np.nan, counts)
    for values, missing in (counts, "refuse"), (incomplete, "mean"):
        write_tables(values, batch, age)
        run("fit", "rfn", "data.tsv", "-k", "2", "--iterations", "2", "--seed", "1", "--log1p", "--scale", "sd",
            "--missing", missing, "--covariates", "covariates.tsv", "--regress", "batch,age", "-o", "model.h5")
        model = model_of("model.h5")
        logs = np.log1p(values)
        expected = least_squares(logs, columns)
        check(f"coefficients ({missing})", model["regress/coefficients"], expected)
        check("means", model["regress/means"], columns.mean(axis=0))
        left = logs - (columns - columns.mean(axis=0)) @ expected.T
        left = np.where(np.isnan(left), np.nanmean(left, axis=0), left)
        check(f"centre ({missing})", model["centre"], left.mean(axis=0))
        check(f"scale ({missing})", model["scale"], left.std(axis=0))
    obs = pandas.DataFrame({"batch": pandas.Categorical(batch), "age": age}, [f"s{i}" for i in range(N)])
    sparse = anndata.AnnData(scipy.sparse.csr_matrix(counts), obs=obs)
    sparse.write_h5ad(f"{FOLDER}/cells.h5ad")
    run("fit", "rfn", "cells.h5ad", "-k", "2", "--iterations", "2", "--seed", "1", "--log1p", "--scale", "sd",
        "--regress", "batch,age", "-o", "model.h5")
    check("coefficients (AnnData)", model_of("model.h5")["regress/coefficients"],
          least_squares(np.log1p(counts), columns))


def auc(codes, first):
    """The largest distance of a unit's AUC for the first group from 0.5."""
    ranks = np.array([np.searchsorted(np.sort(c), c, "left") + np.searchsorted(np.sort(c), c, "right") + 1
                      for c in codes.T]) / 2
    n = first.sum()
    each = (ranks[:, first].sum(axis=1) - n * (n + 1) / 2) / (n * (len(first) - n))
    return np.max(np.abs(each - 0.5))


def batches(rng):
    """Planted modules, balanced over two batches of which one is shifted."""
    units, n, m = 4, 400, 50
    active = np.where(rng.random((n // 2, units)) < 0.15, rng.gamma(4, 0.5, (n // 2, units)), 0)
    active = np.vstack([active, active])
    loadings = np.where(rng.random((m, units)) < 0.2, rng.choice([-2, 2], (m, units)), 0)
    values = active @ loadings.T + rng.normal(0, 0.5, (n, m))
    batch = np.repeat(["one", "two"], n // 2)
    shift = (batch == "two")[:, None] * rng.normal(0, 1.5, m)
    fit = ("fit", "rfn", "data.tsv", "-k", "6", "--iterations", "300", "--seed", "1")
    distances = {}
    for name, data, options in (("as it is", values, ()), ("shifted", values + shift, ()),
                                ("regressed", values + shift,
                                 ("--covariates", "covariates.tsv", "--regress", "batch"))):
        write_tables(data, batch, np.zeros(n))
        run(*fit, *options, "-o", "model.h5")
        run("encode", "model.h5", "data.tsv", *options[:2], "-o", "codes.npy")
        distances[name] = auc(np.load(f"{FOLDER}/codes.npy"), batch == "one")
    print("largest |AUC - 0.5| of a unit for the batch:",
          ", ".join(f"{name} {d:.3f}" for name, d in distances.items()))
    if not (distances["shifted"] > 0.25 and distances["regressed"] < 0.1):
        sys.exit("the batch was not taken out of the codes")


compare(np.random.default_rng(1))
batches(np.random.default_rng(2))
