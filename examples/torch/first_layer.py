"""Convolutional nets whose first layer starts from a rectified factor network of patches, or at random.

    first_layer.py FOLDER               MNIST, or pictures in the same four IDX files
    first_layer.py --cifar FOLDER       CIFAR-10 as data_batch_1.bin, ... and test_batch.bin

After supplement S14 of Clevert et al. 2015: patches of 5 x 5 pixels out of the training pictures, contrast of each
picture normalised, ZCA; 32 units for a small or AlexNet-like net, 192 for NIN-like ones. Nets of a seed have the same
other layers and see the same batches. Needs PyTorch, numpy and the tool: RAREBIT says where it is.
"""

import argparse
import glob
import gzip
import os
import subprocess
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

TOOL = os.environ.get("RAREBIT", "rarebit")


# ---- nets: the first layer, then the rest ----


def small(channels, side):
    """32 kernels, then one more convolution."""
    left = ((side - 4) // 2 - 4) // 2
    return nn.Conv2d(channels, 32, 5), nn.Sequential(
        nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(32 * left * left, 10))


def nin(channels, side):
    """192 kernels and perceptrons between convolutions (M. Lin, Q. Chen, S. Yan, "Network in network", 2014), small."""
    return nn.Conv2d(channels, 192, 5), nn.Sequential(
        nn.ReLU(), nn.Conv2d(192, 32, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.ReLU(),
        nn.Conv2d(64, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def alexnet(channels, side):
    """The net of cuda-convnet for CIFAR (A. Krizhevsky): 32, 32 and 64 kernels."""
    left = side // 8
    return nn.Conv2d(channels, 32, 5, padding=2), nn.Sequential(
        nn.MaxPool2d(3, 2, 1), nn.ReLU(), nn.LocalResponseNorm(3, 5e-5), nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(),
        nn.AvgPool2d(3, 2, 1), nn.LocalResponseNorm(3, 5e-5), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
        nn.AvgPool2d(3, 2, 1), nn.Flatten(), nn.Linear(64 * left * left, 10))


def five_c_nin(channels, side):
    """5C-NIN as S14 tells of it: five convolutions of ReLU, each with max-pooling 2 x 2 of stride 1 and a layer of
    perceptrons, dropout. It gives the first number of kernels, 192; the other sizes are ours."""
    layers, width = [], 192
    for k, wider in enumerate([192, 224, 256, 288]):
        layers += [nn.ReLU(), nn.MaxPool2d(2, 1), nn.Conv2d(width, wider, 1), nn.ReLU(), nn.Dropout(0.1 * (k + 1)),
                   nn.Conv2d(wider, wider, 5 if k == 0 else 3, stride=2 if k < 3 else 1, padding=1)]
        width = wider
    layers += [nn.ReLU(), nn.MaxPool2d(2, 1), nn.Conv2d(width, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Conv2d(channels, 192, 5, padding=2), nn.Sequential(*layers)


NETS = {"small": small, "nin": nin, "alexnet": alexnet, "5c-nin": five_c_nin}


# ---- data: float32, pictures x height x width x channels ----


def idx(folder, name):
    path = glob.glob(os.path.join(folder, "**", name + "*"), recursive=True)[0]
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        raw = file.read()
    shape = np.frombuffer(raw, ">i4", raw[3], 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def mnist(folder):
    return [(idx(folder, part + "-images")[..., None].astype(np.float32), idx(folder, part + "-labels").astype(int))
            for part in ("train", "t10k")]


def cifar(folder):
    parts = []
    for names in "data_batch_*.bin", "test_batch.bin":
        rows = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3073)
                               for path in sorted(glob.glob(os.path.join(folder, names)))])
        x = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        parts.append((x.astype(np.float32), rows[:, 0].astype(int)))
    return parts


# ---- the first layer by rarebit ----


def pretrain(x, units, seed, patches, filters, work):
    """Kernels and biases of an RFN on patches of the pictures, and the constant of their contrast."""
    side, channels = x.shape[1], x.shape[3]
    run = lambda *words: subprocess.run([TOOL, *words, "-q"], check=True)
    at = lambda name: os.path.join(work, name)
    np.save(at("pictures.npy"), x.reshape(len(x), -1))
    run("patches", at("pictures.npy"), "--pictures", f"{side}x{x.shape[2]}", "--channels", str(channels), "--size", "5x5",
        "--count", str(patches), "--seed", str(seed), "--contrast", "global", "--whiten", "zca", "--whitening",
        at("zca.npz"), "-o", at("patches.npy"))
    run("fit", "rfn", at("patches.npy"), "-k", str(units), "--preset", "paper", "--iterations", "100", "--seed", str(seed),
        "-o", at("rfn.h5"))
    run("export", at("rfn.h5"), "--filter", filters, "--conv", f"5x5x{channels}", "--whitening", at("zca.npz"), "-o", at("kernels.npz"))
    kernels = np.load(at("kernels.npz"))
    return torch.from_numpy(kernels["kernels"]), torch.from_numpy(kernels["bias"]), float(np.load(at("zca.npz"))["constant"])


def contrast(x, constant):
    """As `--contrast global`; channels first, as PyTorch has them."""
    axes = (1, 2, 3)
    x = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + constant)
    return torch.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))


# ---- augmentation (S14): pictures channels first ----


def pad(x, pixels):
    """Zeros at all borders."""
    return functional.pad(x, (pixels,) * 4)


def distort(x, translate, flip, draws):
    """Moves each picture by up to `translate` pixels in either direction, with zeros where it was; flips it left to
    right and upside down, each with probability 1/2."""
    moves = draws.integers(-translate, translate + 1, (len(x), 2))
    flips = draws.random((len(x), 2)) < 0.5
    height, width = x.shape[2:]
    wide = pad(x, translate)
    pictures = []
    for picture, (down, right), turns in zip(wide, moves, flips):
        top, left = translate - down, translate - right
        axes = [axis + 1 for axis in (0, 1) if flip and turns[axis]]
        pictures.append(picture[:, top:top + height, left:left + width].flip(axes))
    return torch.stack(pictures)


# ---- training ----


def make(name, channels, side, seed):
    torch.manual_seed(seed)
    first, rest = NETS[name](channels, side)
    for layer in [first, *rest]:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    return first, rest


def start_from(first, kernels, bias, x):
    """Takes over kernels and biases, times one number: what the layer gives is as large as before."""
    with torch.no_grad():
        before = functional.relu(first(x)).pow(2).mean().sqrt()
        first.weight.copy_(kernels)
        first.bias.copy_(bias)
        factor = before / functional.relu(first(x)).pow(2).mean().sqrt()
        first.weight *= factor
        first.bias *= factor


def train(net, x, y, epochs, seed, translate=0, flip=False):
    step = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9, nesterov=True)
    order = np.random.default_rng(seed)
    net.train()
    for epoch in range(epochs):
        for group in step.param_groups:
            group["lr"] = 0.01 * (1 + np.cos(np.pi * epoch / epochs)) / 2
        seen = distort(x, translate, flip, order) if translate or flip else x
        for rows in np.array_split(order.permutation(len(x)), max(1, len(x) // 50)):
            loss = functional.cross_entropy(net(seen[rows]), y[rows])
            step.zero_grad()
            loss.backward()
            step.step()


def errors(net, x, y):
    net.eval()
    with torch.no_grad():
        return sum(int((net(x[k:k + 500]).argmax(1) != y[k:k + 500]).sum()) for k in range(0, len(x), 500))


def wilson(share, n, z=1.959964):
    """The 95 % interval of E. B. Wilson, 1927."""
    centre, half = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def compare(name, train_set, test_set, args):
    (x, y), (x_test, y_test) = train_set, test_set
    units = 192 if name.endswith("nin") else 32
    rates = {"random": [], "rfn": []}
    for seed in range(1, args.seeds + 1):
        with tempfile.TemporaryDirectory() as work:
            kernels, bias, constant = pretrain(x, units, seed, args.patches, args.filter, work)
        inputs, tests = (pad(contrast(pictures, constant), args.padding) for pictures in (x, x_test))
        for start in rates:
            first, rest = make(name, x.shape[3], x.shape[1] + 2 * args.padding, seed)
            if start == "rfn":
                start_from(first, kernels, bias, inputs[:500])
            net = nn.Sequential(first, rest)
            train(net, inputs, torch.from_numpy(y), args.epochs, seed, args.translate, args.flip)
            rates[start].append(errors(net, tests, torch.from_numpy(y_test)) / len(y_test))
    for start, of in rates.items():
        low, high = wilson(np.mean(of), len(y_test))
        print(f"| {name} | {start} | {100 * np.mean(of):.2f} | {100 * low:.2f} to {100 * high:.2f} | "
              f"{100 * min(of):.2f} to {100 * max(of):.2f} |", flush=True)
    better = np.array(rates["random"]) - np.array(rates["rfn"])
    print(f"  {name}: random minus rfn, by seed: {', '.join(f'{100 * d:+.2f}' for d in better)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--cifar", action="store_true", help="the folder has CIFAR-10 in its binary form")
    parser.add_argument("--nets", default=None, help="small,nin; alexnet,5c-nin for CIFAR")
    parser.add_argument("--train", type=int, default=1000, help="so many training pictures, the first ones")
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--patches", type=int, default=20000)
    parser.add_argument("--filter", default="posterior", help="or plain: the directions of the loadings alone")
    parser.add_argument("--padding", type=int, default=0, help="zeros around each picture")
    parser.add_argument("--translate", type=int, default=0, help="move training pictures by up to so many pixels")
    parser.add_argument("--flip", action="store_true", help="flip training pictures in both directions")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    (x, y), (x_test, y_test) = (cifar if args.cifar else mnist)(args.folder)
    print("| net | first layer | test error in % | 95 % interval | of seeds |\n| --- | --- | --- | --- | --- |", flush=True)
    began = time.process_time()
    for name in (args.nets or ("alexnet,5c-nin" if args.cifar else "small,nin")).split(","):
        compare(name, (x[: args.train], y[: args.train]), (x_test[: args.test], y_test[: args.test]), args)
    print(f"{time.process_time() - began:.0f} s of processor time besides rarebit's")


if __name__ == "__main__":
    main()
