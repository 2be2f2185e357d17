"""dae and rbm against numpy and scikit-learn: networks.py RAREBIT FOLDER.

Codes and free energies of a binary rbm are those of scikit-learn's BernoulliRBM with the same parameters; a fit of
it is as probable, by the pseudo-likelihood, as one of theirs. Whole fits without any random number but the start
follow a few lines of numpy."""

import json
import subprocess
import sys

import h5py
import numpy as np
from sklearn.neural_network import BernoulliRBM

RAREBIT, FOLDER = sys.argv[1], sys.argv[2]


def run(*words):
    done = subprocess.run([RAREBIT, *map(str, words), "-q"], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"rarebit {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def parameters(model):
    with h5py.File(f"{FOLDER}/{model}") as file:
        found = {}
        file.visititems(lambda name, item: found.__setitem__(name.split("/")[-1], np.array(item))
                        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" else None)
    return found


def check(what, got, wanted, tolerance):
    error = np.max(np.abs(np.asarray(got) - wanted) / np.maximum(1, np.abs(wanted)))
    if not error <= tolerance:
        sys.exit(f"{what}: differs by {error:g}, more than {tolerance:g}")
    print(f"{what}: within {error:.2g}")


def pictures(n):
    """Bars: rows and columns of a 5 x 5 picture, each there with probability 0.2, and a little noise."""
    random = np.random.RandomState(3)
    x = np.zeros((n, 5, 5))
    for i in range(5):
        x[:, i, :] = np.maximum(x[:, i, :], (random.rand(n, 1) < 0.2))
        x[:, :, i] = np.maximum(x[:, :, i], (random.rand(n, 1) < 0.2))
    flip = random.rand(n, 5, 5) < 0.02
    return np.where(flip, 1 - x, x).reshape(n, 25)


def as_theirs(p, x):
    rbm = BernoulliRBM(n_components=p["loadings"].shape[1], random_state=0)
    rbm.components_ = p["loadings"].T.copy()
    rbm.intercept_hidden_ = p["hidden_bias"].ravel().copy()
    rbm.intercept_visible_ = p["visible_bias"].ravel().copy()
    rbm.n_features_in_ = x.shape[1]
    return rbm


def pseudo_likelihood(rbm, x):
    return np.mean([rbm.score_samples(x).mean() for _ in range(25)])


def compare_binary():
    x = pictures(1000)
    np.save(f"{FOLDER}/x.npy", x)
    run("fit", "rbm", "x.npy", "--visible", "binary", "-k", 10, "--batch-size", 10, "--eta", 0.05, "--momentum", 0,
        "--iterations", 60, "--precision", "float64", "--seed", 1, "-o", "m.h5")
    run("encode", "m.h5", "x.npy", "-o", "codes.npy")
    ours = as_theirs(parameters("m.h5"), x)
    check("probabilities of units", np.load(f"{FOLDER}/codes.npy"), ours.transform(x), 1e-9)
    metrics = json.loads(run("evaluate", "m.h5", "x.npy", "--json"))
    check("free energy", metrics["free_energy"], ours._free_energy(x).mean(), 1e-9)
    theirs = BernoulliRBM(n_components=10, learning_rate=0.05, batch_size=10, n_iter=60, random_state=1).fit(x)
    a, b = pseudo_likelihood(ours, x), pseudo_likelihood(theirs, x)
    print(f"pseudo-likelihood: {a:.3f}, theirs {b:.3f}")
    if not a > b - 0.05 * abs(b):
        sys.exit("a fit is less probable than one of scikit-learn")


def compare_autoencoder():
    """All samples at a time and no corruption: the start is all there is of chance, and a fit can begin at a model."""
    random = np.random.RandomState(5)
    x = random.randn(60, 4) @ random.randn(4, 9) + 0.3 * random.randn(60, 9)
    np.save(f"{FOLDER}/y.npy", x)
    plain = ["--corruption", 0, "--batch-size", 0, "--eta", 0.002, "--momentum", 0.7, "--precision", "float64"]
    x = x - x.mean(0)
    for weights in "tied", "untied":
        run("fit", "dae", "y.npy", "-k", 6, *plain, "--weights", weights, "--iterations", 1, "--seed", 2, "-o", "a.h5")
        run("fit", "dae", "y.npy", "--init", "a.h5", *plain, "--weights", weights, "--iterations", 50, "--seed", 2,
            "-o", "b.h5")
        p, wanted = parameters("a.h5"), parameters("b.h5")
        w, b, c = p["loadings"], p["hidden_bias"].ravel(), p["visible_bias"].ravel()
        e = p.get("weights", w).copy()
        steps = [0, 0, 0, 0]
        for _ in range(50):
            h = np.maximum(0, x @ e + b)
            d = 2 * (h @ w.T + c - x) / len(x)
            back = (d @ w) * (h > 0)
            slopes = [d.T @ h, x.T @ back, back.sum(0), d.sum(0)]
            if weights == "tied":
                slopes[0] = slopes[1] = slopes[0] + slopes[1]
            steps = [0.7 * step - 0.002 * slope for step, slope in zip(steps, slopes)]
            w, e, b, c = w + steps[0], e + steps[1], b + steps[2], c + steps[3]
        check(f"loadings of a {weights} autoencoder", wanted["loadings"], w, 1e-9)
        check(f"biases of a {weights} autoencoder", wanted["hidden_bias"].ravel(), b, 1e-9)
        if weights == "untied":
            check("weights of an untied autoencoder", wanted["weights"], e, 1e-9)


compare_binary()
compare_autoencoder()
