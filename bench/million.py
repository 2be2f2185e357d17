"""A million cells as one file, to see what a fit of so many takes: `python3 bench/million.py FOLDER [CELLS]`.

Counts of 2000 genes, about 7 % non-zeros. Each of 25 programs of 60 genes is on in 6 % of the cells; depths of cells
vary. Writes FOLDER/cells.h5ad, uncompressed, and FOLDER/truth.npz: which cells and genes a program has. With truth and
`rarebit modules ... --json` on stdin, `python3 bench/million.py FOLDER --compare` tells how well they agree.
"""

import json
import sys

import h5py
import numpy as np

GENES, PROGRAMS, SIZE, SHARE, AT_ONCE = 2000, 25, 60, 0.06, 20_000


def make_programs(random):
    base = random.gamma(0.6, 1, GENES)
    programs = np.zeros((PROGRAMS, GENES))
    for program in programs:
        genes = random.choice(GENES, SIZE, replace=False)
        program[genes] = random.gamma(2, 1, SIZE)
        program /= program.sum()
    return base / base.sum(), programs


def table_of_names(group, prefix, size):
    text = h5py.string_dtype()
    group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
    group.attrs["column-order"] = np.array([], dtype=text)
    names = group.create_dataset("_index", data=[f"{prefix}{i}" for i in range(size)], dtype=text)
    names.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def write(folder, cells):
    random = np.random.default_rng(11)
    base, programs = make_programs(random)
    has = np.zeros((cells, PROGRAMS), bool)
    starts = np.zeros(cells + 1, np.int64)
    with h5py.File(f"{folder}/cells.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        x = file.create_group("X")
        x.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": np.array([cells, GENES])})
        stored = [x.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(1 << 20,))
                  for name, kind in (("data", "f4"), ("indices", "i4"))]
        for first in range(0, cells, AT_ONCE):
            some = slice(first, min(first + AT_ONCE, cells))
            has[some] = random.random(has[some].shape) < SHARE
            strength = has[some] * random.gamma(3, 0.12, has[some].shape)
            depth = np.exp(random.normal(np.log(110), 0.35, len(strength)))[:, None]
            counts = random.poisson((depth * (base + strength @ programs)).astype("f4"))
            rows, columns = np.nonzero(counts)
            starts[some.start + 1:some.stop + 1] = starts[some.start] + np.cumsum(
                np.bincount(rows, minlength=len(counts)))
            for dataset, values in zip(stored, (counts[rows, columns], columns)):
                dataset.resize((starts[some.stop],))
                dataset[starts[some.start]:] = values
        x.create_dataset("indptr", data=starts)
        table_of_names(file.create_group("obs"), "c", cells)
        table_of_names(file.create_group("var"), "g", GENES)
    np.savez_compressed(f"{folder}/truth.npz", has=has, genes=programs > 0)
    print(f"{starts[-1]} counts, {starts[-1] / cells / GENES:.3f} of all")


def compare(folder):
    truth = np.load(f"{folder}/truth.npz")["genes"]
    found = []
    for module in json.load(sys.stdin)["modules"]:
        up = [gene for gene, weight in zip(module["features"], module["feature_weights"]) if weight > 0]
        if module["role"] == "module":
            found.append(np.isin(np.arange(GENES), up))
    both = np.array(found).astype(int) @ truth.T.astype(int)
    either = np.sum(found, 1)[:, None] + truth.sum(1) - both
    best = (both / either).max(0)
    print(f"{len(found)} modules; of {PROGRAMS} programs {np.sum(best > 0.5)} have one whose genes agree by more than "
          f"half (Jaccard index), {best.mean():.2f} on average")


if __name__ == "__main__":
    if "--compare" in sys.argv:
        compare(sys.argv[1])
    else:
        write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
