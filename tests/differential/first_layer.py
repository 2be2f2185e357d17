"""The augmentation of examples/torch/first_layer.py: each picture moved by whole pixels and flipped, by hand."""

import sys

import numpy as np
import torch

sys.path.insert(0, sys.argv[1] + "/examples/torch")
import first_layer  # noqa: E402

COUNT, SIDE, MOVE = 200, 6, 2
x = torch.arange(1.0, COUNT * 2 * SIDE * SIDE + 1).reshape(COUNT, 2, SIDE, SIDE)


def moved(picture, down, right):
    out = np.zeros_like(picture)
    for i in range(SIDE):
        for k in range(SIDE):
            if 0 <= i - down < SIDE and 0 <= k - right < SIDE:
                out[:, i, k] = picture[:, i - down, k - right]
    return out


def ways(picture):
    """Every picture that may come of one, by how."""
    for down in range(-MOVE, MOVE + 1):
        for right in range(-MOVE, MOVE + 1):
            for turned in range(4):
                out = moved(picture, down, right)
                out = out[:, ::-1] if turned & 1 else out
                yield (down, right, turned), out[:, :, ::-1] if turned & 2 else out


seen = {}
for before, after in zip(x.numpy(), first_layer.distort(x, MOVE, True, np.random.default_rng(1)).numpy()):
    how = [way for way, picture in ways(before) if np.array_equal(picture, after)]
    assert how, "a picture is neither moved nor flipped"
    seen[how[0]] = seen.get(how[0], 0) + 1
for place, values in ((0, range(-MOVE, MOVE + 1)), (1, range(-MOVE, MOVE + 1)), (2, range(4))):
    counts = [sum(count for how, count in seen.items() if how[place] == value) for value in values]
    assert min(counts) > COUNT / len(counts) / 2, f"not all ways are as likely: {counts}"
assert torch.equal(first_layer.distort(x, 0, False, np.random.default_rng(1)), x)
padded = first_layer.pad(x, 4)
assert padded.shape[2:] == (SIDE + 8, SIDE + 8) and torch.equal(padded[:, :, 4:-4, 4:-4], x)
assert padded.sum() == x.sum()
