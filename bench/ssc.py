"""Spike and slab sparse coding beside others: ssc.py RAREBIT [IMAGE...]

Without pictures: 10 bars of 5 x 5 pixels whose strengths are N(mu, psi^2), mu^2 + psi^2 = 1, each
in a sample with probability 0.2, fields of value 5 and noise of standard deviation sqrt(2), 1000
samples. For mu = 0, 0.7, 1 the bars found (cosine of the best unit above 0.95, each bar a unit of
its own), the mean cosine, and the noise and prior that were learned, means over the seeds 1 ..
--seeds (3).

With pictures: patches of 10 x 10 pixels, each less its mean and all whitened (principal components
of the covariance, with a thousandth of their mean added), a fit of 100 units and its filters and
samples as pictures in --to (a folder).
"""

import argparse
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

BARS, SIZE, SAMPLES = 10, 5, 1000
METHODS = {
    "ssc": "--max-active 4",
    "linca": "--max-active 4 --learn-prior",
    "ica": "",
    "fa-laplace": "",
}


def run(program, *words):
    subprocess.run([program, *words, "--quiet"], check=True, stderr=subprocess.DEVNULL)


def planted(mean, seed):
    random = np.random.default_rng(seed)
    fields = np.zeros((BARS, SIZE, SIZE))
    for h in range(SIZE):
        fields[h, h, :] = fields[h + SIZE, :, h] = 5
    fields = fields.reshape(BARS, SIZE * SIZE)
    strengths = mean + np.sqrt(1 - mean**2) * random.normal(size=(SAMPLES, BARS))
    codes = (random.random((SAMPLES, BARS)) < 0.2) * strengths
    return codes @ fields + np.sqrt(2) * random.normal(size=(SAMPLES, SIZE * SIZE)), fields


def array(path, name):
    found = []
    with h5py.File(path) as model:
        model.visititems(lambda key, item: found.append(item[()])
                         if key.split("/")[-1] == name and isinstance(item, h5py.Dataset) else None)
    return found[0] if found else np.array(np.nan)


def recovered(path, fields):
    loadings = array(path, "loadings")
    unit = loadings / np.maximum(np.linalg.norm(loadings, axis=0), 1e-12)
    cosines = np.abs(fields @ unit) / np.linalg.norm(fields, axis=1)[:, None]
    best = cosines.argmax(1)
    alone = np.array([np.sum(best == unit) == 1 for unit in best])
    return (np.sum((cosines.max(1) > 0.95) & alone), cosines.max(1).mean(),
            np.mean(array(path, "sigma")), np.mean(array(path, "prior")))


def compare(program, folder, seeds):
    print("| slab | method | bars found of 10 | mean cosine | sigma (1.414) | prior (0.2) |")
    print("| --- | --- | --- | --- | --- | --- |")
    for mean in (0, 0.7, 1):
        results = {name: [] for name in METHODS}
        for seed in range(1, seeds + 1):
            samples, fields = planted(mean, seed)
            data, model = os.path.join(folder, "Y.npy"), os.path.join(folder, "model.h5")
            np.save(data, samples)
            for name, options in METHODS.items():
                run(program, "fit", name, data, "-k", str(BARS), "--seed", str(seed),
                    *options.split(), "-o", model)
                results[name].append(recovered(model, fields))
        for name, rows in results.items():
            found, cosine, sigma, prior = np.mean(rows, axis=0)
            told = [f"{value:.3f}" if np.isfinite(value) else "" for value in (sigma, prior)]
            print(f"| N({mean}, {1 - mean**2:.2g}) | {name} | {found:.1f} | {cosine:.3f} "
                  f"| {told[0]} | {told[1]} |", flush=True)


def whitened(patches):
    patches = patches - patches.mean(1, keepdims=True)
    patches -= patches.mean(0)
    values, vectors = np.linalg.eigh(patches.T @ patches / len(patches))
    scale = 1 / np.sqrt(values + 1e-3 * values.mean())
    return patches @ (vectors * scale) @ vectors.T


def of_pictures(program, folder, pictures, to):
    raw, data = os.path.join(folder, "raw.npy"), os.path.join(to, "patches.npy")
    model = os.path.join(to, "ssc.h5")
    run(program, "patches", *pictures, "--size", "10x10", "--count", "10000", "--seed", "1", "-o",
        raw)
    np.save(data, whitened(np.load(raw)).astype(np.float32))
    run(program, "fit", "ssc", data, "-k", "100", "--slab-mean", "zero", "--max-active", "4",
        "--iterations", "60", "--seed", "1", "-o", model)
    run(program, "plot", "filters", model, "--shape", "10x10", "-o", os.path.join(to, "ssc.png"))
    run(program, "plot", "samples", model, data, "--shape", "10x10", "--count", "30", "-o",
        os.path.join(to, "ssc-samples.png"))
    subprocess.run([program, "evaluate", model, data], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("pictures", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--to", default=".")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.pictures:
            of_pictures(given.program, folder, given.pictures, given.to)
        else:
            compare(given.program, folder, given.seeds)


if __name__ == "__main__":
    sys.exit(main())
