"""How long methods take beside other programs, at which quality: peers.py RAREBIT [METHOD...]

Both sides alternate, so many times each, in this one run, with the same data in float32 and the
same number of units, on one thread. What counts is processor time (user and system) of a whole
fit, without that of reading the data and starting the program, which a fit that does next to
nothing measures; the least of all rounds. A method is a function of METHODS that gives for a data
set what ours is called with, what the peer does, and the quality of a result (more is better).
Peers that are not installed are left out. Options: --rounds N (3), --units K (50), --small.
"""

import argparse
import os
import resource
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
    import scipy.sparse
    import sklearn
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

    def fit(self, words):
        """Processor seconds, and the arrays of the model."""
        model = f"{self.folder}/model.h5"
        spent = self.run("fit", *words, self.path, "--seed", "1", "-o", model)
        arrays = {}
        with h5py.File(model) as file:
            file.visititems(lambda n, o: arrays.update({n.split("/")[-1]: o[()]}) if hasattr(o, "shape") else None)
        return spent, arrays

    def reading(self, centre):
        """What a command takes that reads the data, fits their preprocessing and does next to nothing."""
        return self.fit(["pca", "-k", "1", "--solver", "randomized", "--iterations", "1", "--centre", centre])[0]


def measure(peer):
    before = seconds(resource.RUSAGE_SELF)
    result = peer()
    return seconds(resource.RUSAGE_SELF) - before, result


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
        peer = decomposition.TruncatedSVD(units, random_state=1)
        words = ["pca", "-k", str(units), "--centre", "none", "--iterations", "5"]  # as many as the peer
    else:
        peer = decomposition.PCA(units, random_state=1)
        words = ["pca", "-k", str(units), "--centre", "mean"]
    quality = explained(data, not scipy.sparse.issparse(data))
    return words, lambda: peer.fit(data).components_.T, lambda found: quality(
        found["loadings"] if isinstance(found, dict) else found
    )


def ica(data, units):
    """Quality: the contrast that both maximise."""
    if scipy.sparse.issparse(data):
        raise NotImplementedError("is not compared: scikit-learn takes no sparse data")
    peer = decomposition.FastICA(units, whiten="unit-variance", tol=1e-4, max_iter=200, random_state=1)

    def quality(found):
        mixing = (found["loadings"] if isinstance(found, dict) else found).astype(np.float64)
        codes = (data - data.mean(0)) @ np.linalg.pinv(mixing).T
        codes /= codes.std(0)
        return np.square(np.log(np.cosh(codes)).mean(0) - 0.374567207491438).sum()

    return ["ica", "-k", str(units)], lambda: peer.fit(data).mixing_, quality


METHODS = {"pca": pca, "ica": ica}


def bench(ours, name, method, data, units, rounds):
    words, peer, quality = method(data, units)
    centre = "none" if "none" in words else "mean"
    times, found = [], None
    for _ in range(rounds):
        spent, found = ours.fit(words)
        theirs, result = measure(peer)
        times.append((spent, ours.reading(centre), theirs))
    spent, reading, theirs = (min(column) for column in zip(*times))
    kind = "csr" if scipy.sparse.issparse(data) else "dense"
    print(
        f"{name:10} {kind:6} {spent:8.2f} {max(spent - reading, 0):8.2f} {theirs:9.2f} "
        f"{quality(found):11.5f} {quality(result):9.5f}",
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
    print("processor seconds: all of our command, that without reading; scikit-learn's fit; quality of each")
    print(f"{'method':10} {'data':6} {'command':>8} {'ours':>8} {'sklearn':>9} {'quality':>11} {'sklearn':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for kind, data in sets.items():
            ours = Ours(options.rarebit, folder, data, kind)
            for name in options.methods or METHODS:
                try:
                    bench(ours, name, METHODS[name], data, options.units, options.rounds)
                except NotImplementedError as why:  # a method says so of data that a peer does not take
                    print(f"{name:10} {kind:6} {why}")


main()
