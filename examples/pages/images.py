"""What other methods make of patches: images.py PATCHES OTHERS CLASSES K REBUILT.npy...

K components each of scikit-learn's NMF, FastICA and k-means are fitted to PATCHES (TSV without
names). Printed are the share of the squares of OTHERS, less the means of PATCHES, that they explain,
and that which each REBUILT.npy of OTHERS explains; the share of their codes that is zero; and the
mean over classes (a class a line) of the area under the ROC curve of the component that marks the
class best, as in peers.py.
"""

import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA

from peers import best_areas


def main(patches, others, classes, k, *rebuilt_files):
    x, new, labels = np.loadtxt(patches), np.loadtxt(others), np.loadtxt(classes, dtype=str)

    def explain(name, rebuilt):
        explained = 1 - ((new - rebuilt) ** 2).sum() / ((new - x.mean(0)) ** 2).sum()
        print(f"{name}\t{explained:.3f}")

    def tell(name, codes, rebuilt, marks):
        explain(name, rebuilt)
        print(f"{name} zeros\t{np.mean(codes == 0):.3f}")
        print(f"{name} area\t{best_areas(marks, labels):.3f}")

    for file in rebuilt_files:
        explain(file.removesuffix(".npy"), np.load(file))
    nmf = NMF(k, init="nndsvda", max_iter=400, random_state=0).fit(x)
    codes = nmf.transform(new)
    tell("nmf", codes, codes @ nmf.components_, nmf.transform(x))
    ica = FastICA(k, whiten="unit-variance", max_iter=200, random_state=0).fit(x)
    codes = ica.transform(new)
    signed = ica.transform(x)
    tell("ica", codes, ica.inverse_transform(codes), np.hstack([signed, -signed]))
    clusters = KMeans(k, n_init=3, random_state=0).fit(x)
    one = np.eye(k)
    nearest = clusters.predict(new)
    tell("k-means", one[nearest], clusters.cluster_centers_[nearest], one[clusters.labels_])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of iterations that end before they converge
    main(*sys.argv[1:4], int(sys.argv[4]), *sys.argv[5:])
