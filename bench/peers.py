"""How long methods take beside other programs, at which quality: peers.py RAREBIT [METHOD...]

Both sides alternate, so many times each, in this one run, with the same data in float32, the same
number of units and the seeds 1, 2, ..., on one thread. What counts is processor time (user and
system) of a whole fit, without that of reading the data and starting the program, which a fit that
does next to nothing measures: medians of the rounds, and the median of the ratios, round by round.
A method is a function of METHODS that gives for a data set what ours is called with, what the peer
does with a seed, and the quality of a result (more is better; the mean of the rounds). Peers that
are not installed are left out: RcppML is measured where R finds it (R_LIBS=FOLDER). Options:
--rounds N (3), --units K (50), --small.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

try:
    import h5py
    import scipy.io
    import scipy.optimize
    import scipy.sparse
    import sklearn
    import sklearn.cluster
    import sklearn.decomposition as decomposition
except ImportError as error:
    sys.exit(f"peers are measured with python3's h5py, scipy and scikit-learn: {error}")


# ---- data: dense 10000 x 784, compressed rows 10000 x 20000 with 0.5 % of the values ----


def dense(n, m):
    """Parts with signs switched off at random, and noise: a spectrum that decays as pictures' do."""
    rng = np.random.default_rng(1)
    parts = rng.standard_normal((200, m)) * (1 + np.arange(200)[:, None]) ** -0.7
    codes = np.maximum(rng.standard_normal((n, 200)), 0)
    return np.maximum(codes @ parts + 0.3 * rng.standard_normal((n, m)), 0).astype(np.float32)


def sparse(n, m, share):
    """Counts of 60 groups of features over a background."""
    rng = np.random.default_rng(2)
    background = rng.pareto(1.5, m) + 0.2
    profiles = background * np.where(rng.random((60, m)) < 0.02, 20, 1)
    rows = np.empty((n, m), dtype=bool)
    for i in range(n):
        rate = profiles[rng.integers(60)] + 0.5 * profiles[rng.integers(60)]
        rate *= share * m / rate.sum() * 1.15
        rows[i] = rng.random(m) < np.minimum(rate, 1)
    x = scipy.sparse.csr_matrix(rows, dtype=np.float32)
    x.data[:] = 1 + rng.poisson(1, x.nnz)
    return x


# ---- who is measured ----


def seconds(of):
    usage = resource.getrusage(of)
    return usage.ru_utime + usage.ru_stime


class Ours:
    def __init__(self, rarebit, folder, data, name):
        self.rarebit, self.folder = rarebit, folder
        self.path = f"{folder}/{name}.{'h5ad' if scipy.sparse.issparse(data) else 'npy'}"
        if scipy.sparse.issparse(data):
            import anndata

            anndata.AnnData(data).write_h5ad(self.path)
        else:
            np.save(self.path, data)

    def run(self, *words):
        before = seconds(resource.RUSAGE_CHILDREN)
        command = [self.rarebit, *words, "--threads", "1", "--quiet"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return seconds(resource.RUSAGE_CHILDREN) - before

    def fit(self, words, seed=1):
        """Processor seconds, and the arrays of the model."""
        model = f"{self.folder}/model.h5"
        spent = self.run("fit", *words, self.path, "--seed", str(seed), "-o", model)
        arrays = {}
        with h5py.File(model) as file:
            file.visititems(lambda n, o: arrays.update({n.split("/")[-1]: o[()]}) if hasattr(o, "shape") else None)
        return spent, arrays

    def reading(self, centre):
        """What a command takes that reads the data, fits their preprocessing and does next to nothing."""
        return self.fit(["pca", "-k", "1", "--solver", "randomized", "--iterations", "1", "--centre", centre])[0]


def measure(peer, seed):
    """Processor seconds, and the result; a peer that is a program tells them itself."""
    before = seconds(resource.RUSAGE_SELF)
    result = peer(seed)
    spent = seconds(resource.RUSAGE_SELF) - before
    return result if isinstance(result, tuple) else (spent, result)


# ---- methods ----


def explained(data, centred):
    """Quality of loadings (features x units): the share of the squares that their span explains."""
    mean = np.asarray(data.mean(0)).ravel() if centred else np.zeros(data.shape[1])
    power = data.multiply(data).sum() if scipy.sparse.issparse(data) else np.square(data, dtype=np.float64).sum()
    total = power - data.shape[0] * np.square(mean).sum()

    def quality(loadings):
        q, _ = np.linalg.qr(loadings.astype(np.float64))
        return np.square(np.asarray(data @ q.astype(np.float32)) - mean @ q).sum() / total

    return quality


def pca(data, units):
    if scipy.sparse.issparse(data):  # scikit-learn centres no sparse data
        peer = decomposition.TruncatedSVD(units)
        words = ["pca", "-k", str(units), "--centre", "none", "--iterations", "5"]  # as many as the peer
    else:
        peer = decomposition.PCA(units)
        words = ["pca", "-k", str(units), "--centre", "mean"]
    quality = explained(data, not scipy.sparse.issparse(data))
    return words, lambda seed: peer.set_params(random_state=seed).fit(data).components_.T, lambda found: quality(
        found["loadings"] if isinstance(found, dict) else found
    )


def rotated(words, **how):
    """ica. Quality: the contrast that both maximise."""

    def ica(data, units):
        if scipy.sparse.issparse(data):
            raise NotImplementedError("is not compared: scikit-learn takes no sparse data")
        peer = decomposition.FastICA(units, whiten="unit-variance", tol=1e-4, **how)

        def quality(found):
            mixing = (found["loadings"] if isinstance(found, dict) else found).astype(np.float64)
            codes = (data - data.mean(0)) @ np.linalg.pinv(mixing).T
            codes /= codes.std(0)
            return np.square(np.log(np.cosh(codes)).mean(0) - 0.374567207491438).sum()

        return (
            ["ica", "-k", str(units), *words],
            lambda seed: peer.set_params(random_state=seed).fit(data).mixing_,
            quality,
        )

    return ica


def fa(data, units):
    """Quality: the log likelihood of a sample, the mean."""
    if scipy.sparse.issparse(data):
        raise NotImplementedError("is not compared: scikit-learn takes no sparse data")
    peer = decomposition.FactorAnalysis(units)
    centred = (data - data.mean(0)).astype(np.float64)
    covariance = centred.T @ centred / data.shape[0]

    def fit(seed):
        model = peer.set_params(random_state=seed).fit(data)
        return {"loadings": model.components_.T, "noise": model.noise_variance_}

    def quality(found):
        w, noise = found["loadings"].astype(np.float64), np.ravel(found["noise"])
        model = w @ w.T + np.diag(noise)
        fit = np.trace(np.linalg.solve(model, covariance))
        return -(np.linalg.slogdet(2 * np.pi * model)[1] + fit) / 2

    return ["fa", "-k", str(units)], fit, quality


def squared_error(data):
    """Quality of loadings: what non-negative codes explain of the squares of 500 samples."""
    rows = data[:: max(1, data.shape[0] // 500)]
    rows = (rows.toarray() if scipy.sparse.issparse(rows) else rows).astype(np.float64)
    total = np.square(rows).sum()

    def quality(found):
        w = np.asarray(found["loadings"] if isinstance(found, dict) else found, np.float64)
        w = w[:, np.square(w).sum(0) > 0]
        w /= np.sqrt(np.square(w).sum(0))
        root = np.linalg.cholesky(w.T @ w + 1e-12 * np.eye(w.shape[1])).T
        targets = np.linalg.solve(root.T, (rows @ w).T).T
        left = sum(scipy.optimize.nnls(root, t)[1] ** 2 - np.square(t).sum() for t in targets)
        return -left / total

    return quality


def nmf(data, units):
    """The peer as it is called, which stops by its tolerance; ours takes so many iterations."""
    peer = decomposition.NMF(units, max_iter=200)
    iterations = 50 if scipy.sparse.issparse(data) else 200
    return (
        ["nmf", "-k", str(units), "--iterations", str(iterations)],
        lambda seed: peer.set_params(random_state=seed).fit(data).components_.T,
        squared_error(data),
    )


def nmf_rcppml(data, units):
    """So many iterations of each, from random starts."""
    if not scipy.sparse.issparse(data):
        raise NotImplementedError("is compared on sparse data")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_rcppml.R")
    asks = ["Rscript", "-e", "library(RcppML)"]
    if not shutil.which("Rscript") or subprocess.run(asks, capture_output=True).returncode:
        raise NotImplementedError("is not compared: R has no package RcppML")
    folder = tempfile.mkdtemp()
    scipy.io.mmwrite(f"{folder}/data.mtx", data)

    def fit(seed):
        words = [f"{folder}/data.mtx", str(units), "50", f"{folder}/w", str(seed)]
        said = subprocess.run(["Rscript", script, *words], check=True, capture_output=True, text=True)
        return float(said.stdout.split()[-1]), np.loadtxt(f"{folder}/w")

    return ["nmf", "-k", str(units), "--iterations", "50", "--start", "random"], fit, squared_error(data)


def kmeans(data, units):
    """Quality: minus the mean squared distance from the nearest centre."""
    peer = sklearn.cluster.KMeans(units, n_init=1)
    mean = np.asarray(data.mean(0)).ravel()

    def quality(found):
        centres = found["loadings"].T + mean if isinstance(found, dict) else found
        squares = np.square(centres).sum(1)[None] - 2 * np.asarray(data @ centres.T)
        power = data.multiply(data).sum(1) if scipy.sparse.issparse(data) else np.square(data).sum(1)
        return -(squares.min(1) + np.asarray(power).ravel()).mean()

    return (
        ["kmeans", "-k", str(units)],
        lambda seed: peer.set_params(random_state=seed).fit(data).cluster_centers_,
        quality,
    )


METHODS = {
    "pca": pca,
    "fa": fa,
    "whitening": rotated(["--iterations", "1"], max_iter=1),  # what both of ica begin with
    "ica": rotated([], max_iter=200),
    "deflation": rotated(["--algorithm", "deflation", "--iterations", "10000"], algorithm="deflation", max_iter=200),
    "nmf": nmf,
    "nmf/RcppML": nmf_rcppml,
    "kmeans": kmeans,
}


def bench(ours, name, method, data, units, rounds):
    words, peer, quality = method(data, units)
    centre = "none" if "none" in words else "mean"
    times, good = [], []
    for seed in range(1, rounds + 1):
        spent, found = ours.fit(words, seed)
        theirs, result = measure(peer, seed)
        net = max(spent - ours.reading(centre), 0)
        times.append((spent, net, theirs, net / theirs))
        good.append((quality(found), quality(result)))
    spent, net, theirs, ratio = (statistics.median(column) for column in zip(*times))
    better, other = (statistics.mean(column) for column in zip(*good))
    kind = "csr" if scipy.sparse.issparse(data) else "dense"
    print(
        f"{name:10} {kind:6} {spent:8.2f} {net:8.2f} {theirs:9.2f} {ratio:6.2f} {better:11.5f} {other:11.5f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rarebit")
    parser.add_argument("methods", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--small", action="store_true", help="a tenth of the samples")
    options = parser.parse_args()
    n = 1000 if options.small else 10000
    sets = {"dense": dense(n, 784), "csr": sparse(n, 20000, 0.005)}
    version = subprocess.run([options.rarebit, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"{version}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, {time.strftime('%Y-%m-%d')}")
    print(f"{n} x 784 dense, {n} x 20000 csr ({sets['csr'].nnz / n / 200:.2f} % stored), {options.units} units")
    print("processor seconds: all of our command, that without reading; the peer's fit, scikit-learn's but where")
    print("another is named; the second over the third; quality of each")
    print(f"{'method':10} {'data':6} {'command':>8} {'ours':>8} {'peer':>9} {'ratio':>6} {'quality':>11} {'peer':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for kind, data in sets.items():
            ours = Ours(options.rarebit, folder, data, kind)
            for name in options.methods or METHODS:
                try:
                    bench(ours, name, METHODS[name], data, options.units, options.rounds)
                except NotImplementedError as why:  # a method says so of data that a peer does not take
                    print(f"{name:10} {kind:6} {why}")


main()
