"""Objects of an R data file, without R: read("golub.RData") gives a dict of numpy arrays and lists.

Vectors of logicals, integers, reals and texts with their dimensions, as save() writes them
(R Internals, section "Serialization Formats": RDX2 or RDX3, XDR). No other kinds of objects.
"""

import bz2
import gzip
import lzma
import struct

import numpy as np

NOTHING, REFERENCE = 254, 255
SYMBOL, PAIRS, TEXT, LOGICALS, INTEGERS, REALS, TEXTS, LIST = 1, 2, 9, 10, 13, 14, 16, 19


class Reader:
    def __init__(self, content):
        self.content, self.at, self.symbols = content, 0, []

    def take(self, count):
        self.at += count
        return self.content[self.at - count : self.at]

    def integer(self):
        return struct.unpack(">i", self.take(4))[0]

    def pairs(self, flags):
        """A linked list: (name, value) for each link."""
        found = []
        while flags & 0xFF == PAIRS:
            if flags & 0x200:
                self.item()  # attributes of the link
            name = self.item() if flags & 0x400 else None
            found.append((name, self.item()))
            flags = self.integer()
        return found

    def item(self):
        flags = self.integer()
        kind = flags & 0xFF
        if kind == NOTHING:
            return None
        if kind == REFERENCE:
            return self.symbols[(flags >> 8 or self.integer()) - 1]
        if kind == SYMBOL:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == PAIRS:
            return self.pairs(flags)
        return self.vector(flags, kind, self.integer())

    def vector(self, flags, kind, length):
        if kind == TEXT:
            return self.take(max(length, 0)).decode("latin-1")
        if kind in (LOGICALS, INTEGERS):
            value = np.frombuffer(self.take(4 * length), ">i4").astype(int)
        elif kind == REALS:
            value = np.frombuffer(self.take(8 * length), ">f8").astype(float)
        elif kind in (TEXTS, LIST):
            value = np.empty(length, object)
            for i in range(length):
                value[i] = self.item()
        else:
            raise ValueError(f"an object of kind {kind} is not read here")
        attributes = dict(self.item() or []) if flags & 0x200 else {}
        return value.reshape(attributes["dim"], order="F") if "dim" in attributes else value


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    for magic, unpack in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ", lzma)):
        content = unpack.decompress(content) if content.startswith(magic) else content
    if content[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise ValueError(f"{path} is no R data file in XDR")
    reader = Reader(content[7:])
    version = reader.integer()
    reader.take(8)
    if version == 3:
        reader.take(reader.integer())
    return dict(reader.item())
