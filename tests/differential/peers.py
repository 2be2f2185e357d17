"""Methods of rarebit against scikit-learn: peers.py RAREBIT FOLDER. A method is a function."""

import subprocess
import sys
import warnings

import anndata
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn import decomposition

warnings.simplefilter("ignore")
RAREBIT, FOLDER = sys.argv[1], sys.argv[2]
rng = np.random.default_rng(17)
failures = 0


def check(what, got, wanted, relative):
    global failures
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    if not np.all(np.abs(got - wanted) <= relative * np.abs(wanted)):
        print(f"{what}: {got}, scikit-learn has {wanted}", file=sys.stderr)
        failures += 1


def check_span(what, got, wanted, most=1e-4):
    """The sine of the largest angle between the spans of two matrices of columns."""
    global failures
    sine = np.sin(scipy.linalg.subspace_angles(got, wanted).max())
    if not sine <= most:
        print(f"{what}: the spans differ by a sine of {sine}", file=sys.stderr)
        failures += 1


def tool(*words):
    done = subprocess.run([RAREBIT, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def fit(x, *words):
    """The arrays of a model, and its codes."""
    np.save(f"{FOLDER}/x.npy", x)
    tool("fit", *words, f"{FOLDER}/x.npy", "-o", f"{FOLDER}/m.h5", "--seed", 1, "--precision", "float64", "-q")
    tool("encode", f"{FOLDER}/m.h5", f"{FOLDER}/x.npy", "-o", f"{FOLDER}/codes.npy", "-q")
    arrays = {"codes": np.load(f"{FOLDER}/codes.npy")}
    with h5py.File(f"{FOLDER}/m.h5") as file:
        file.visititems(lambda n, o: arrays.update({n.split("/")[-1]: o[()]}) if hasattr(o, "shape") else None)
    return arrays


def metric(name):
    for line in tool("evaluate", f"{FOLDER}/m.h5", f"{FOLDER}/x.npy", "-q").splitlines():
        if line.startswith(name):
            return float(line[len(name) :].split()[0])


def mixture(n, m, parts, noise=0.3):
    sources = rng.laplace(size=(n, parts)) * np.linspace(2, 1, parts)
    return sources @ rng.standard_normal((parts, m)) + noise * rng.standard_normal((n, m)) + 1


def pca():
    for n, m, solver in [(300, 40, "exact"), (300, 40, "randomized"), (50, 200, "exact"), (400, 1200, "auto")]:
        x, k = mixture(n, m, 6), 6
        what = f"pca {n} x {m} {solver}"
        ours = fit(x, "pca", "-k", k, "--solver", solver, *([] if solver == "exact" else ["--tolerance", 1e-9]))
        theirs = decomposition.PCA(k, svd_solver="full").fit(x)
        # Theirs divides by n - 1, ours by n.
        check(f"{what}: variances", ours["variance"].ravel() * n / (n - 1), theirs.explained_variance_, 1e-6)
        check(f"{what}: shares", ours["explained"].ravel(), theirs.explained_variance_ratio_, 1e-6)
        check_span(what, ours["loadings"], theirs.components_.T)
        check(f"{what}: codes", np.abs(ours["codes"]).sum(0), np.abs(theirs.transform(x)).sum(0), 1e-4)
        rebuilt = theirs.inverse_transform(theirs.transform(x))
        check(f"{what}: error", metric("mean squared error"), np.mean((x - rebuilt) ** 2), 1e-5)
        if n > m:  # theirs averages what is left over min(n, m) - k directions
            check(f"{what}: noise", ours["noise"].ravel()[0] * n / (n - 1), theirs.noise_variance_, 1e-5)
            # Variances that are n / (n - 1) too large cost about m / (4 n^2).
            check(f"{what}: likelihood", metric("log likelihood"), theirs.score(x), 1e-5)


def sparse():
    """Truncated SVD of compressed rows, which nothing is subtracted from."""
    x = scipy.sparse.random(400, 1500, 0.02, "csr", random_state=3)
    x = scipy.sparse.csr_matrix(x.multiply(1 + 5 * rng.random((400, 1)) * (np.arange(1500) < 100)))
    anndata.AnnData(x.astype(np.float64)).write_h5ad(f"{FOLDER}/x.h5ad")
    more = {"exact": [], "randomized": ["--tolerance", "1e-8", "--iterations", "60"]}
    for solver, arguments in more.items():
        words = ["pca", f"{FOLDER}/x.h5ad", "-k", 8, "--solver", solver, "-o", f"{FOLDER}/m.h5", "--seed", 1, "-q"]
        tool("fit", *words, "--centre", "none", "--precision", "float64", *arguments)
        theirs = np.linalg.svd(x.toarray(), compute_uv=False)[:8] ** 2 / 400
        with h5py.File(f"{FOLDER}/m.h5") as file:
            found = {}
            file.visititems(lambda n, o: found.update({n.split("/")[-1]: o[()]}) if hasattr(o, "shape") else None)
        check(f"sparse {solver}", found["variance"].ravel(), theirs, 1e-5)


def contrast(codes):
    return np.square(np.log(np.cosh(codes / codes.std(0))).mean(0) - 0.374567207491438).sum()


def ica():
    x, k = mixture(3000, 20, 5, 0.1), 5
    for algorithm, theirs in [("symmetric", "parallel"), ("deflation", "deflation")]:
        for name in ["logcosh", "exp", "cube"] if algorithm == "symmetric" else ["logcosh"]:
            what = f"ica {algorithm} {name}"
            ours = fit(x, "ica", "-k", k, "--algorithm", algorithm, "--contrast", name, "--rotation-tolerance", 1e-10)
            peer = decomposition.FastICA(
                k, algorithm=theirs, fun=name, whiten="unit-variance", tol=1e-10, max_iter=1000, random_state=1
            ).fit(x)
            mixing = peer.mixing_
            check_span(what, ours["loadings"], mixing)
            check(f"{what}: variance", ours["codes"].std(0), np.ones(k), 1e-3)
            # Unit by unit, whatever order and signs; those of deflation depend on which comes first.
            near = 1e-4 if algorithm == "symmetric" else 0.03
            cosines = np.abs((ours["loadings"] / np.linalg.norm(ours["loadings"], axis=0)).T
                             @ (mixing / np.linalg.norm(mixing, axis=0)))
            check(f"{what}: loadings", cosines.max(1), np.ones(k), near)
            check(f"{what}: contrast", contrast(ours["codes"]), contrast(peer.transform(x)), 10 * near)


def fa():
    n, m, k = 400, 30, 4
    x = mixture(n, m, k)
    theirs = decomposition.FactorAnalysis(k, svd_method="lapack", tol=1e-12, max_iter=5000).fit(x)
    for words in (["--solver", "fixed-point", "--iterations", 500], ["--solver", "em", "--iterations", 5000]):
        what = f"fa {words[1]}"
        ours = fit(x, "fa", "-k", k, "--noise-min", 0, *words)
        check(f"{what}: likelihood", metric("log likelihood"), theirs.score(x), 1e-5)
        check_span(what, ours["loadings"], theirs.components_.T)
        check(f"{what}: noise", ours["noise"].ravel(), theirs.noise_variance_, 1e-3)
        rebuilt = theirs.transform(x) @ theirs.components_ + theirs.mean_
        check(f"{what}: error", metric("mean squared error"), np.mean((x - rebuilt) ** 2), 1e-4)


for compare in (pca, sparse, ica, fa):
    compare()
sys.exit(failures > 0)
