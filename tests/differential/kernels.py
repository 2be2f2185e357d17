"""Convolutions of pictures with exported kernels: what the encoder gives for each patch, with contrast and whitening."""

import os
import subprocess
import sys

import numpy as np
import torch

tool, work = sys.argv[1:3]
os.chdir(work)
rng = np.random.default_rng(2)
N, H, W, C, P = 30, 14, 12, 3, 5


def run(*words, status=0):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


def close(a, b, what, tolerance):
    worst = np.abs(np.asarray(a, float) - np.asarray(b, float)).max()
    print(f"{what}: {worst:.2g}")
    assert worst <= tolerance, (what, worst)


pictures = np.cumsum(rng.normal(0, 20, (N, H, W, C)), 1) + 128
np.save("pictures.npy", pictures.reshape(N, -1))
constant = 10 / 255**2 * np.ptp(pictures.astype(np.float32)) ** 2


def contrast(x, axes):
    """Mean 0 and variance nearly 1 over these axes."""
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + constant)


def all_patches(x):
    """Picture by picture, row by row: patches of 5 x 5 x C, channels of a pixel together."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (P, P), (1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, P * P * C)


places = N * (H - P + 1) * (W - P + 1)
cut = ["patches", "pictures.npy", "--pictures", f"{H}x{W}", "--channels", str(C), "--size", f"{P}x{P}", "--seed", "1", "-q"]
for kind in "none", "global", "local":
    run(*cut, "--count", str(places), "--contrast", kind, "--whiten", "zca", "--whitening", "zca.npz", "-o", "p.npy")
    zca, got = np.load("zca.npz"), np.load("p.npy")
    x = contrast(pictures, (1, 2, 3)) if kind == "global" else pictures
    raw = all_patches(x)
    if kind == "local":
        raw = contrast(raw, 1)
    if kind != "none":
        close(zca["constant"], constant, f"{kind}: constant", 1e-3)

    # ZCA by its definition, of all patches, which are in an order of their own in the file.
    covariance = np.cov(raw.T, bias=True)
    values, vectors = np.linalg.eigh(covariance + 0.1 * np.trace(covariance) / len(covariance) * np.eye(len(covariance)))
    matrix = vectors / np.sqrt(values) @ vectors.T
    close(zca["matrix"], matrix, f"{kind}: matrix", 2e-3 * np.abs(matrix).max())
    whitened = (raw - raw.mean(0)) @ matrix
    close(got[np.lexsort(np.round(got[:, :2], 2).T)].mean(0), whitened.mean(0), f"{kind}: mean", 1e-3)
    close(np.cov(got.T, bias=True), np.cov(whitened.T, bias=True), f"{kind}: covariance", 5e-3)
    close(np.sort(got[:, 7]), np.sort(whitened[:, 7]), f"{kind}: a feature", 5e-3)

    # The kernels against the encoder.
    run("fit", "rfn", "p.npy", "-k", "6", "--estep", "newton", "--iterations", "10", "--seed", "1", "-q", "-o", "rfn.h5")
    said = run("export", "rfn.h5", "--conv", f"{P}x{P}x{C}", "--whitening", "zca.npz", "-o", "kernels.npz")
    assert ("warning" in said) == (kind == "local"), said
    kernels = np.load("kernels.npz")
    assert kernels["kernels"].shape == (6, C, P, P)
    flat = kernels["kernels"].transpose(0, 2, 3, 1).reshape(6, -1)  # as a patch has its values
    run("export", "rfn.h5", "-o", "layer.npz", "-q")
    layer = np.load("layer.npz")
    done = (raw - zca["centre"]) @ zca["matrix"].T
    wanted = (done - layer["centre"]) / layer["scale"] @ layer["weights1"].T + layer["bias1"]
    if kind == "local":
        # The mean of a patch may be there or not; its deviation is divided by before.
        patches = all_patches(pictures)
        deviations = np.sqrt(patches.var(1, keepdims=True) + constant)
        close(patches / deviations @ flat.T + kernels["bias"], wanted, "local: kernels", 2e-3)
        continue
    with torch.no_grad():
        maps = torch.nn.functional.conv2d(torch.from_numpy(x.transpose(0, 3, 1, 2)),
                                          torch.from_numpy(kernels["kernels"]).double(),
                                          torch.from_numpy(kernels["bias"]).double())
    maps = maps.permute(0, 2, 3, 1).reshape(-1, 6).numpy()
    scale = max(1, np.abs(wanted).max())
    close(maps, wanted, f"{kind}: convolution and pre-activation", 2e-4 * scale)
    np.save("whitened.npy", done)
    run("encode", "rfn.h5", "whitened.npy", "-o", "codes.npy", "-q")
    close(np.maximum(maps, 0), np.load("codes.npy"), f"{kind}: convolution and codes", 2e-4 * scale)

# Without a whitening, grey, with centring and scaling of the fit alone.
np.save("grey.npy", pictures[..., 0].reshape(N, -1))
run("patches", "grey.npy", "--pictures", f"{H}x{W}", "--size", "5x5", "--count", "500", "-o", "p.npy", "-q")
run("fit", "rfn", "p.npy", "-k", "4", "--scale", "sd", "--estep", "newton", "--iterations", "10", "--seed", "1", "-q", "-o",
    "grey.h5")
run("export", "grey.h5", "--conv", "5x5", "-o", "kernels.npz", "-q")
kernels, patches = np.load("kernels.npz"), np.load("p.npy")
run("encode", "grey.h5", "p.npy", "-o", "codes.npy", "-q")
close(np.maximum(patches @ kernels["kernels"].reshape(4, -1).T + kernels["bias"], 0), np.load("codes.npy"), "grey", 1e-3)


# ---- what is refused ----

def refused(sentence, status, *words):
    said = run(*words, status=status)
    assert sentence in said and said.count("\n") == 1, said


refused("have 75 values, but the samples of the model 25", 2, "export", "grey.h5", "--conv", "5x5x3", "-o", "no.npz")
refused("conv is 'five'", 2, "export", "grey.h5", "--conv", "five", "-o", "no.npz")
refused("the whitening is for patches of 5x5x3", 2, "export", "grey.h5", "--conv", "5x5", "--whitening", "zca.npz", "-o",
        "no.npz")
refused("kernels are written as .npz", 2, "export", "grey.h5", "--conv", "5x5", "-o", "no.onnx")
refused("is not a whitening", 1, "export", "grey.h5", "--conv", "5x5", "--whitening", "layer.npz", "-o", "no.npz")
np.savez("wrong.npz", **{**zca, "shape": np.array([5, 5, 1e9])})
refused("is not a whitening", 1, "export", "grey.h5", "--conv", "5x5", "--whitening", "wrong.npz", "-o", "no.npz")
refused("504 values per sample", 2, "patches", "pictures.npy", "--pictures", "14x12",
        "--size", "5x5", "-o", "no.npy")
refused("do not fit", 2, "patches", "grey.npy", "--pictures", "14x12", "--size", "15x5", "-o", "no.npy")
refused("does nothing without --whiten", 2, "patches", "grey.npy", "--pictures", "14x12", "--size", "5x5", "--whitening",
        "no.npz", "-o", "no.npy")
refused("scale is given", 2, "patches", "grey.npy", "--pictures", "14x12", "--size", "5x5", "--scale", "0:1", "--whiten",
        "zca", "-o", "no.npy")
np.save("flat.npy", np.ones((9, 36)))
refused("cannot be whitened", 1, "patches", "flat.npy", "--pictures", "6x6", "--size", "2x2", "--count", "20", "--whiten",
        "zca", "-o", "no.npy")
assert not [name for name in os.listdir(".") if name.startswith("no.")]
