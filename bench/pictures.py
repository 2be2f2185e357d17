#!/usr/bin/env python3
"""Labelled pictures of 28 x 28 pixels whose class is of shape or is a digit, by the rules of Larochelle et al. 2007
(docs/howto/simulate.md): the sets of Table 2 of the RFN paper.

    bench/pictures.py rectangles|convex                     -o X.npy --labels y.npy [--samples N] [--first N] [--seed N]
    bench/pictures.py rectangles-image IMAGE...             the same, and --least-sd LEVELS
    bench/pictures.py mnist-basic|mnist-rand|mnist-rot DIGITS LABELS
    bench/pictures.py mnist-img DIGITS LABELS IMAGE...      the same, and --least-sd LEVELS

DIGITS and LABELS are files of MNIST (IDX, plain or .gz) or .npy; an IMAGE is what Pillow reads, or .npy of height x
width. A picture depends on the seed and its number alone: --first goes on where a training set ends.
"""
import argparse
import math
import os
import sys

import numpy

import picture_sets

WHITE = 255
DIGITS = ("mnist-basic", "mnist-rand", "mnist-img", "mnist-rot")
IMAGES = ("rectangles-image", "mnist-img")
KINDS = ("rectangles", "rectangles-image", "convex", *DIGITS)


# ---- random numbers: Philox4x32-10 (Salmon et al. 2011), a function of seed, purpose, restart and counter ----


def uniforms(seed, restart, first, count):
    low = numpy.uint64(0xFFFFFFFF)
    index = numpy.arange(first, first + count, dtype=numpy.uint64)
    words = [index & low, index >> numpy.uint64(32), numpy.full_like(index, 51), numpy.full_like(index, restart)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = numpy.uint64(0xD2511F53) * words[0], numpy.uint64(0xCD9E8D57) * words[2]
        words = [(b >> numpy.uint64(32)) ^ words[1] ^ numpy.uint64(key[0]), b & low,
                 (a >> numpy.uint64(32)) ^ words[3] ^ numpy.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return ((words[0] << numpy.uint64(32) | words[1]) >> numpy.uint64(11)).astype(float) * 2.0**-53


class Draws:
    """Numbers of one picture, as many as it takes."""

    def __init__(self, seed, restart, first):
        self.stream, self.after, self.kept, self.at = (seed, restart), first, [], 0

    def uniforms(self, count):
        if self.at + count > len(self.kept):
            more = max(32 if self.kept == [] else 512, count)
            self.kept = self.kept[self.at:] + uniforms(*self.stream, self.after, more).tolist()
            self.after, self.at = self.after + more, 0
        self.at += count
        return self.kept[self.at - count:self.at]

    def uniform(self):
        return self.uniforms(1)[0]

    def integer(self, low, high):
        return low + int(self.uniform() * (high - low + 1))

    def geometric(self, probability):
        """Failures before the first success."""
        count = 0
        while self.uniform() >= probability:
            count += 1
        return count


# ---- shapes ----


def draw_rectangle(draws, least, apart, low, high):
    while True:
        height, width = draws.integer(least, 28), draws.integer(least, 28)
        if abs(height - width) >= apart and low <= height * width / 784 <= high:
            top, left = draws.integer(0, 28 - height), draws.integer(0, 28 - width)
            return slice(top, top + height), slice(left, left + width), int(width > height)


def draw_border(draws):
    levels = numpy.zeros((28, 28))
    rows, columns, label = draw_rectangle(draws, 1, 3, 0, 1)
    levels[rows, columns] = WHITE
    levels[rows.start + 1:rows.stop - 1, columns.start + 1:columns.stop - 1] = 0
    return levels, label


def draw_convex(draws, probability, least):
    """Pixels whose centres lie in random half-planes, all of them."""
    centres = numpy.arange(28) + 0.5
    while True:
        planes = numpy.reshape(draws.uniforms(3 * draws.geometric(probability)), (-1, 3, 1))
        angles = (2 * math.pi * planes[:, 2, 0]).tolist()
        u, v = (numpy.reshape([of(angle) for angle in angles], (-1, 1)) for of in (math.cos, math.sin))
        across, down = (centres - 28 * planes[:, 0]) * u, (centres - 28 * planes[:, 1]) * v
        inside = (across[:, None, :] + down[:, :, None] > 0).all(0)
        if inside.sum() >= least:
            return inside


def is_convex(inside):
    """Has a set of pixels all those whose centres lie in its convex hull? Pixels of a row are between the ends of any
    two rows around it, in whole numbers."""
    rows = numpy.flatnonzero(inside.any(1))
    if len(rows) == 0:
        return True
    first = inside[rows].argmax(1)
    last = inside.shape[1] - 1 - inside[rows, ::-1].argmax(1)
    if (inside.sum(1)[rows] <= last - first).any():
        return False
    for row in range(rows[0], rows[-1] + 1):
        above, below = (rows <= row).nonzero()[0], (rows >= row).nonzero()[0]
        after, before = rows[below] - row, (row - rows[above])[:, None]
        apart = numpy.maximum(after + before, 1)
        on_row = (after + before) == 0
        low = -((-(first[above][:, None] * after + first[below] * before)) // apart)
        high = (last[above][:, None] * after + last[below] * before) // apart
        low = numpy.where(on_row, first[above][:, None], low).min()
        high = numpy.where(on_row, last[above][:, None], high).max()
        if not inside[row, low:high + 1].all():
            return False
    return True


def draw_shape(draws):
    """1: convex; 0: a union of convex sets that is not."""
    label = int(draws.uniform() < 0.5)
    if label:
        inside = draw_convex(draws, 0.195, 19)
    while not label:
        parts = [draw_convex(draws, 0.07, 10) for _ in range(draws.integer(2, 4))]
        inside = numpy.logical_or.reduce(parts)
        if not is_convex(inside):
            break
    return WHITE * inside, label


# ---- patches and digits ----


def draw_patch(draws, images, least_sd):
    """A random patch of a random image that is not all grey."""
    for _ in range(100000):
        image = images[draws.integer(0, len(images) - 1)]
        top, left = draws.integer(0, image.shape[0] - 28), draws.integer(0, image.shape[1] - 28)
        patch = image[top:top + 28, left:left + 28].astype(float)
        mean = patch.sum() / 784
        if (patch * patch).sum() / 784 - mean * mean >= least_sd * least_sd:
            return rounded(patch)
    sys.exit(f"pictures.py: hardly a patch of the images has a standard deviation of {least_sd:g} grey levels or more: "
             "take other images, or a smaller --least-sd")


def rounded(values):
    """Halves away from 0."""
    return numpy.floor(values + 0.5)


def draw_image_rectangle(draws, images, least_sd):
    rows, columns, label = draw_rectangle(draws, 10, 5, 0.25, 0.75)
    levels, inside = (draw_patch(draws, images, least_sd) for _ in range(2))
    levels[rows, columns] = inside[rows, columns]
    return levels, label


def turn(digit, angle):
    """About the middle of the picture; between pixels, linear in both directions."""
    u, v = math.cos(angle), math.sin(angle)
    y, x = numpy.indices((28, 28)) - 13.5
    x, y = 13.5 + u * x + v * y, 13.5 - v * x + u * y
    column, row = numpy.floor(x).astype(int), numpy.floor(y).astype(int)
    rx, ry = x - column, y - row
    around = numpy.pad(digit, 16)
    row, column = row + 16, column + 16
    upper = (1 - rx) * around[row, column] + rx * around[row, column + 1]
    lower = (1 - rx) * around[row + 1, column] + rx * around[row + 1, column + 1]
    return rounded((1 - ry) * upper + ry * lower)


def draw_digit(draws, kind, digit, images, least_sd):
    """The lighter of digit and background counts."""
    if kind == "mnist-rot":
        return turn(digit, 2 * math.pi * draws.uniform())
    if kind == "mnist-rand":
        return numpy.maximum(digit, numpy.floor(numpy.reshape(draws.uniforms(784), (28, 28)) * (WHITE + 1)))
    return digit if kind == "mnist-basic" else numpy.maximum(digit, draw_patch(draws, images, least_sd))


def shuffled(count, seed):
    draws = Draws(seed, 1, 0)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        other = draws.integer(0, i)
        order[i], order[other] = order[other], order[i]
    return order


# ---- all of them ----


def make(kind, samples, first=0, seed=1, digits=None, labels=None, images=(), least_sd=10):
    """Pictures of levels from 0 to 1, samples x 784, and their labels, samples x 1, in float32. Digits and images have
    levels from 0 to 255. No digit is taken twice."""
    if kind in DIGITS and first + samples > len(digits):
        sys.exit(f"pictures.py: there are {len(digits)} digits, too few for pictures {first} to {first + samples - 1}: no "
                 "digit is taken twice")
    order = shuffled(len(digits), seed) if kind in DIGITS else []
    pictures, classes = numpy.empty((samples, 784), numpy.float32), numpy.empty((samples, 1), numpy.float32)
    divide = WHITE if kind in ("rectangles", "convex") else WHITE + 1
    for k in range(samples):
        draws = Draws(seed, 0, (first + k) << 24)
        if kind == "rectangles":
            levels, label = draw_border(draws)
        elif kind == "rectangles-image":
            levels, label = draw_image_rectangle(draws, images, least_sd)
        elif kind == "convex":
            levels, label = draw_shape(draws)
        else:
            digit = order[first + k]
            levels = draw_digit(draws, kind, digits[digit].reshape(28, 28).astype(float), images, least_sd)
            label = labels[digit]
        pictures[k], classes[k] = levels.reshape(784) / divide, label
    return pictures, classes


def read_image(path):
    """Grey levels from 0 to 255: channels count as much as each other."""
    try:
        if path.endswith(".npy"):
            image = numpy.load(path)
        else:
            from PIL import Image
            image = numpy.asarray(Image.open(path))
    except (OSError, ValueError, ImportError) as error:
        sys.exit(f"pictures.py: {path} cannot be read: {error}")
    image = image if image.ndim == 2 else image.mean(2, float)
    if min(image.shape) < 28 or not image.max() > 1 or not (0 <= image.min() and image.max() <= 255):
        sys.exit(f"pictures.py: {path} must be at least 28 x 28, of grey levels from 0 to 255")
    return image.astype(numpy.float32)


def read_rows(path):
    if path.endswith(".npy"):
        rows = numpy.load(path)
    else:
        rows = picture_sets.idx(os.path.dirname(path), os.path.basename(path).removesuffix(".gz"))
    return rows.reshape(len(rows), -1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least-sd", type=float, default=10)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--labels")
    chosen = parser.parse_args()
    own = 2 if chosen.kind in DIGITS else 0
    if len(chosen.files) < own + (chosen.kind in IMAGES) or len(chosen.files) > own and chosen.kind not in IMAGES:
        takes = "DIGITS LABELS " * (own > 0) + "IMAGE..." * (chosen.kind in IMAGES)
        parser.error(f"{chosen.kind} takes {takes or 'no files'}")
    digits, labels = map(read_rows, chosen.files[:2]) if own else (None, None)
    if own and (digits.shape[1] != 784 or labels.shape != (len(digits), 1)):
        sys.exit("pictures.py: digits must have 28 x 28 pixels, and each of them one label")
    pictures, classes = make(chosen.kind, chosen.samples, chosen.first, chosen.seed, digits, labels,
                             [read_image(path) for path in chosen.files[own:]], chosen.least_sd)
    numpy.save(chosen.output, pictures)
    if chosen.labels:
        numpy.save(chosen.labels, classes)


if __name__ == "__main__":
    main()
