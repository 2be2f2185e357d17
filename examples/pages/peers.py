"""What other methods make of the same data: peers.py DATA LABELS K [scale]

DATA: a row a sample, names in the first column and row (TSV, perhaps gzipped); LABELS: sample, class;
samples without a class are fitted and do not count.
NMF, ICA and k-means of scikit-learn get K components each, with five seeds. For each class, that
component counts whose codes mark it best (area under the ROC curve; of ICA in either sign, of
k-means the cluster); printed is the mean over classes, and over seeds: figure, tab, value.
With `scale` features are divided by their standard deviations. NMF gets the data with the least value
of each feature subtracted, where any is below 0.
"""

import gzip
import sys
import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA
from sklearn.metrics import adjusted_rand_score

SEEDS = range(5)


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return [row[0] for row in rows], np.array([row[1:] for row in rows], float)


def read_labels(path, names):
    with open(path) as file:
        table = dict(line.rstrip("\n").split("\t")[:2] for line in file)
    return np.array([table.get(name, "") for name in names])


def areas(codes, inside):
    """Areas under the ROC curves of columns, ties counted half."""
    ranks = rankdata(codes, axis=0)
    positive, negative = inside.sum(), (~inside).sum()
    return (ranks[inside].sum(0) - positive * (positive + 1) / 2) / (positive * negative)


def best_areas(codes, labels):
    codes, labels = codes[labels != ""], labels[labels != ""]
    return np.mean([areas(codes, labels == label).max() for label in np.unique(labels)])


def main(data, labels, k, scale):
    names, x = read(data)
    x = x / x.std(0) if scale else x
    labels = read_labels(labels, names)
    shifted = x - x.min(0) * (x.min(0) < 0)
    scores = {"nmf": [], "ica": [], "k-means": [], "k-means rand": []}
    for seed in SEEDS:
        nmf = NMF(k, init="random", max_iter=500, random_state=seed).fit_transform(shifted)
        ica = FastICA(k, whiten="unit-variance", max_iter=500, random_state=seed).fit_transform(x)
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(x)
        scores["nmf"].append(best_areas(nmf, labels))
        scores["ica"].append(best_areas(np.hstack([ica, -ica]), labels))
        scores["k-means"].append(best_areas(np.eye(k)[clusters], labels))
        scores["k-means rand"].append(adjusted_rand_score(labels[labels != ""], clusters[labels != ""]))
    for name, values in scores.items():
        print(f"{name}\t{np.mean(values):.3f}")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of iterations that end before they converge
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), "scale" in sys.argv[4:])
