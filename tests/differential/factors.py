"""nmf and kmeans beside scikit-learn's: factors.py RAREBIT FOLDER."""

import subprocess
import sys
import warnings

import h5py
import numpy as np
import scipy.optimize
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF

rarebit, folder = sys.argv[1:]
warnings.filterwarnings("ignore")


def run(*words):
    subprocess.run([rarebit, *map(str, words)], check=True, cwd=folder, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def loadings_of(model):
    with h5py.File(f"{folder}/{model}") as file:
        return file["arrays/loadings"][()], file["history/objective"][()]


def near(what, ours, theirs, share=1e-3):
    print(f"{what}: {ours:.8g}, scikit-learn {theirs:.8g}")
    if abs(ours - theirs) > share * abs(theirs):
        sys.exit(f"{what}: {ours} is not {theirs} within {share}")


def divergence(v, y):
    there = v > 0
    return (v[there] * np.log(v[there] / y[there])).sum() - v.sum() + y.sum()


def compare_nmf(v, options, solver, loss):
    """The same start: loadings after an iteration, and codes for them."""
    base = ["fit", "nmf", "v.npy", "-k", "4", "--seed", "1", "--precision", "float64", *options]
    np.save(f"{folder}/v.npy", v)
    run(*base, "--iterations", "1", "-o", "start.h5")
    run("encode", "start.h5", "v.npy", "-o", "codes.npy")
    w, _ = loadings_of("start.h5")
    codes = np.load(f"{folder}/codes.npy").astype(float) + 1e-3  # rules that multiply leave no 0
    run(*base[:3], *base[7:], "--init", "start.h5", "--iterations", "5000", "-o", "end.h5")
    run("encode", "end.h5", "v.npy", "-o", "end.npy")
    found, history = loadings_of("end.h5")
    ours = np.load(f"{folder}/end.npy") @ found.T
    peer = NMF(4, init="custom", solver=solver, beta_loss=loss, max_iter=20000, tol=1e-10)
    theirs = peer.fit_transform(v, W=codes, H=np.ascontiguousarray(w.T)) @ peer.components_
    error = divergence if loss == "kullback-leibler" else lambda v, y: np.square(v - y).sum()
    near(f"nmf {' '.join(options)}", error(v, ours), error(v, theirs))
    near("its objective", -history[-1] * len(v), error(v, ours))


def compare_codes(v):
    run("fit", "nmf", "v.npy", "-k", "6", "--seed", "3", "--precision", "float64", "--iterations", "3",
        "-o", "few.h5")
    run("encode", "few.h5", "v.npy", "-o", "few.npy")
    w, _ = loadings_of("few.h5")
    ours = np.load(f"{folder}/few.npy")
    theirs = np.array([scipy.optimize.nnls(w, row)[0] for row in v])
    worst = np.abs(ours - theirs).max()
    print(f"codes of nmf: at most {worst:.3g} from scipy's nnls")
    if worst > 1e-6:
        sys.exit(f"codes of nmf are {worst} from scipy's nnls")


def compare_kmeans(x):
    base = ["--precision", "float64"]
    np.save(f"{folder}/x.npy", x)
    run("fit", "kmeans", "x.npy", "-k", "5", "--seed", "1", *base, "--iterations", "1", "-o", "start.h5")
    run("fit", "kmeans", "x.npy", "--init", "start.h5", *base, "--iterations", "500", "-o", "end.h5")
    start, _ = loadings_of("start.h5")
    found, history = loadings_of("end.h5")
    peer = KMeans(5, init=start.T + x.mean(0), n_init=1, tol=0, max_iter=500, algorithm="lloyd").fit(x)
    near("kmeans", -history[-1] * len(x), peer.inertia_, 1e-9)
    worst = np.abs(found.T + x.mean(0) - peer.cluster_centers_).max()
    if worst > 1e-9:
        sys.exit(f"centres are {worst} apart")


rng = np.random.default_rng(4)
codes = rng.gamma(0.5, 1, (200, 4))
parts = rng.gamma(0.5, 1, (30, 4))
noisy = np.maximum(codes @ parts.T + 0.1 * rng.standard_normal((200, 30)), 0)
counts = rng.poisson(3 * codes @ parts.T).astype(float)
compare_nmf(noisy, [], "cd", "frobenius")
compare_codes(noisy)
compare_nmf(noisy, ["--solver", "multiplicative"], "mu", "frobenius")
compare_nmf(counts, ["--loss", "kullback-leibler"], "mu", "kullback-leibler")
compare_kmeans(rng.standard_normal((400, 8)) + 3 * rng.integers(0, 3, (400, 8)))
