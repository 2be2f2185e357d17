"""Pictures and labels of MNIST, CIFAR-10 and small NORB, from the files that their authors distribute: arrays of numbers
from 0 to 1, pictures x pixels, and of classes. A part is "train", "valid" or "test"; what nets are validated on is taken
from the training files."""
import gzip
import os
import sys
import zlib

import numpy


def read(folder, name):
    """A file's bytes, unpacked if only name.gz is there."""
    path = os.path.join(folder, name)
    packed = not os.path.exists(path) and os.path.exists(path + ".gz")
    try:
        with gzip.open(path + ".gz") if packed else open(path, "rb") as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        sys.exit(f"rarebit: {path} cannot be read: {getattr(error, 'strerror', None) or error}")


def idx(folder, name):
    raw = read(folder, name)
    axes = raw[3] if raw[:3] == b"\0\0\x08" and len(raw) > 3 else 0
    shape = numpy.frombuffer(raw[4:4 + 4 * axes], ">i4") if len(raw) >= 4 + 4 * axes else []
    if axes == 0 or len(shape) < axes or len(raw) != 4 + 4 * axes + numpy.prod(shape, dtype=float):
        sys.exit(f"rarebit: {os.path.join(folder, name)} is no IDX file of bytes, or not all of one")
    return numpy.frombuffer(raw, numpy.uint8, offset=4 + 4 * axes).reshape(shape[0], -1)


def digits(folder, source):
    """All of "train" or "t10k", in levels from 0 to 255."""
    return idx(folder, f"{source}-images-idx3-ubyte"), idx(folder, f"{source}-labels-idx1-ubyte")[:, 0]


def mnist(folder, part, count):
    pictures, labels = digits(folder, "t10k" if part == "test" else "train")
    first = 50000 if part == "valid" else 0
    return pictures[first:first + count] / numpy.float32(255), labels[first:first + count]


def cifar(folder, part, count):
    """The binary version: per picture a byte of class, then three planes of 32 x 32."""
    names = ["test_batch.bin"] if part == "test" else [f"data_batch_{k}.bin" for k in range(1, 6)]
    raw = b"".join(read(folder, name) for name in names)
    if len(raw) % 3073:
        sys.exit(f"rarebit: {names[0]}, ... of {folder} are not CIFAR-10's binary version, of 3073 bytes per picture")
    rows = numpy.frombuffer(raw, numpy.uint8).reshape(-1, 3073)
    if part != "test":
        rows = numpy.split(rows, [len(rows) * 4 // 5])[part == "valid"]
    return rows[:count, 1:] / numpy.float32(255), rows[:count, 0]


def norb_matrix(folder, source, kind):
    """A magic number, the number of axes and at least three lengths, little-endian; then bytes or 32-bit integers."""
    name = {"train": "5x46789x9x18x6x2x96x96-training", "test": "5x01235x9x18x6x2x96x96-testing"}[source]
    name = f"smallnorb-{name}-{kind}.mat"
    raw = read(folder, name)
    types = {0x1E3D4C55: numpy.dtype("u1"), 0x1E3D4C54: numpy.dtype("<i4")}
    magic, axes = numpy.frombuffer(raw[:8], "<i4") if len(raw) > 20 else (0, 0)
    sound = magic in types and 1 <= axes <= 4 and len(raw) >= 8 + 4 * max(3, axes)
    shape = numpy.frombuffer(raw, "<i4", axes, 8) if sound else []
    values = raw[8 + 4 * max(3, axes):]
    if not sound or len(values) != numpy.prod(shape, dtype=float) * types[magic].itemsize:
        sys.exit(f"rarebit: {os.path.join(folder, name)} is no matrix of small NORB's format, or not all of one")
    return numpy.frombuffer(values, types[magic]).reshape(shape)


def norb(folder, part, count):
    """Stereo pairs, each picture made 32 x 32 by means of 3 x 3 pixels. Nets are validated on one of the five objects of
    each class, whose number is the first column of the file `info`: 19440 pairs to train on and 4860 to validate."""
    source = "test" if part == "test" else "train"
    pairs, labels = norb_matrix(folder, source, "dat"), norb_matrix(folder, source, "cat")
    chosen = numpy.arange(len(pairs))
    if part != "test":
        objects = norb_matrix(folder, source, "info")[:, 0]
        chosen = numpy.flatnonzero((objects == objects.max()) == (part == "valid"))
    chosen = chosen[:count]
    small = numpy.stack([pairs[k].reshape(2, 32, 3, 32, 3).mean((2, 4), numpy.float32) for k in chosen])
    return small.reshape(-1, 2048) / numpy.float32(255), labels[chosen]
