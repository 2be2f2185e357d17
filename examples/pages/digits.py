"""The first 3000 images of MNIST: digits-images-idx3-ubyte, the same as digits.tsv, and classes.tsv.

digits.py FOLDER, which has train-images-idx3-ubyte and train-labels-idx1-ubyte.
"""

import struct
import sys

import numpy as np

COUNT, SIZE = 3000, 28

with open(sys.argv[1] + "/train-images-idx3-ubyte", "rb") as file:
    pixels = np.frombuffer(file.read(16 + COUNT * SIZE**2)[16:], np.uint8)
with open(sys.argv[1] + "/train-labels-idx1-ubyte", "rb") as file:
    digits = np.frombuffer(file.read(8 + COUNT)[8:], np.uint8)
with open("digits-images-idx3-ubyte", "wb") as file:
    file.write(struct.pack(">4i", 2051, COUNT, SIZE, SIZE) + pixels.tobytes())
with open("digits.tsv", "w") as file, open("classes.tsv", "w") as classes:
    print("image", *(f"pixel{p}" for p in range(SIZE**2)), sep="\t", file=file)
    print("image", "class", sep="\t", file=classes)
    for i, (image, digit) in enumerate(zip(pixels.reshape(COUNT, -1), digits)):
        print(f"i{i}", *image, sep="\t", file=file)
        print(f"i{i}", digit, sep="\t", file=classes)
