"""Makes tests/data/hdf5/* with h5py, the reference for what other programs write.

Cell (i, k) of every dense 3 x 4 matrix is 10 i + k; that of every sparse 5 x 4 one is 10 i + k + 1 where
i + k is a multiple of 3, else not stored.
"""
import os

import h5py
import numpy as np

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hdf5")
dense = np.add.outer(10 * np.arange(3), np.arange(4)).astype("f8")
stored = np.add.outer(np.arange(5), np.arange(4)) % 3 == 0
counts = np.where(stored, np.add.outer(10 * np.arange(5), np.arange(4)) + 1, 0)
text = h5py.string_dtype()
cells = ["cell%d" % i for i in range(5)]
genes = ["CD4", "CD8A", "NKG7", "MS4A1"]


def compress(matrix, shuffled=False):
    """data, indices, indptr by rows; shuffled: the columns of a row descend."""
    data, indices, indptr = [], [], [0]
    for row in matrix:
        columns = np.flatnonzero(row)
        columns = columns[::-1] if shuffled else columns
        data.extend(row[columns])
        indices.extend(columns)
        indptr.append(len(data))
    return np.array(data), np.array(indices), np.array(indptr)


def put_sparse(parent, name, matrix, kind, dtype, index="i4", old=False, shuffled=False):
    group = parent.create_group(name)
    parts = compress(matrix if kind == "csr" else matrix.T, shuffled)
    for key, part, part_type in zip(("data", "indices", "indptr"), parts, (dtype, index, index)):
        group.create_dataset(key, data=part.astype(part_type))
    if old:
        group.attrs["h5sparse_format"] = np.bytes_(kind)
        group.attrs["h5sparse_shape"] = np.array(matrix.shape)
    else:
        group.attrs["encoding-type"] = kind + "_matrix"
        group.attrs["encoding-version"] = "0.1.0"
        group.attrs["shape"] = np.array(matrix.shape)


def put_index(file, name, names):
    group = file.create_group(name)
    group.attrs["encoding-type"] = "dataframe"
    group.attrs["_index"] = "names"
    group.create_dataset("names", data=np.array(names, dtype=object), dtype=text)


def make(name):
    return h5py.File(os.path.join(here, name), "w")


with make("types.h5") as f:
    for dtype in ("f2", "f4", "f8", ">f8", "i1", "u2", "i4", "u8", ">i8"):
        f[dtype.replace(">", "be_")] = dense.astype(dtype)
    f.create_dataset("group/packed", data=dense, chunks=(2, 3), compression="gzip", shuffle=True,
                     fletcher32=True)
    f["vector"] = dense[0]
    f["words"] = np.array(["a", "b"], dtype=object).astype(text)
    f["cube"] = np.zeros((2, 2, 2))

with make("only.h5") as f:
    f.create_dataset("nets/down/matrix", data=dense.astype("f4"))
    f["note"] = np.arange(3)

with make("named.h5") as f:
    f["X"] = dense
    f["samples"] = np.array([b"a", b"bb", b"ccc"])
    f["features"] = np.array(["v", "w", "\u03b2", "z"], dtype=object).astype(text)

with make("dense.h5ad") as f:
    x = counts.astype("f4")
    x[4, 0] = np.nan
    f["X"] = x
    put_index(f, "obs", cells)
    put_index(f, "var", genes)

with make("csr.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4", shuffled=True)
    put_index(f, "obs", cells)
    put_index(f, "var", genes)
    put_sparse(f.create_group("layers"), "counts", counts, "csc", "u2", index="i8")
    raw = np.hstack([counts, counts[:, :1]])
    put_sparse(f.create_group("raw"), "X", raw, "csr", "f8", index="u2")
    put_index(f["raw"], "var", genes + ["EXTRA"])
    f.create_group("obsm")["X_pca"] = dense[:, :2].repeat(2, 0)[:5]
    f.create_group("uns")["note"] = "kept"

with make("old.h5ad") as f:
    put_sparse(f, "X", counts, "csc", "f4", old=True)
    f["obs"] = np.array([(c.encode(), 1.5) for c in cells], dtype=[("index", "S5"), ("n", "f8")])
    f["var"] = np.array([(g.encode(), i) for i, g in enumerate(genes)],
                        dtype=[("index", "S8"), ("n", "i4")])

# Columns of observations, in the layouts of new and of old files.
with make("obs.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4")
    put_index(f, "obs", cells)
    put_index(f, "var", genes)
    obs = f["obs"]
    obs["type"] = np.array(["T", "B", "", "B", "NK"], dtype=object).astype(text)
    obs["cluster"] = np.array([2, 0, 10, 0, -1], dtype="i4")
    obs["doublet"] = np.array([False, True, False, False, True])
    obs["score"] = np.linspace(0, 1, 5)
    obs["short"] = np.arange(3)
    obs["louvain/codes"] = np.array([1, 0, -1, 0, 1], dtype="i1")
    obs["louvain/categories"] = np.array(["CD4 T", "B"], dtype=object).astype(text)
    obs["batch/codes"] = np.array([0, 1, 1, 0, 0], dtype="i1")
    obs["batch/categories"] = np.array([7, 12])
    obs["broken/codes"] = np.array([0, 1, 2, 0, 0], dtype="i1")
    obs["broken/categories"] = np.array([7, 12])
    obs["masked/values"] = np.array([3, 3, 4, 4, 4])
    obs["masked/mask"] = np.array([False, False, True, False, False])
    obs["leiden"] = np.array([0, 0, 1, 1, -1], dtype="i1")
    obs["__categories/leiden"] = np.array(["a", "b"], dtype=object).astype(text)

with make("obs_old.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4", old=True)
    f["obs"] = np.array([(c.encode(), i % 2 - (i == 4), b"even" if i % 2 == 0 else b"odd", 0.5, i)
                         for i, c in enumerate(cells)],
                        dtype=[("index", "S5"), ("louvain", "i1"), ("parity", "S4"), ("score", "f8"), ("number", "i4")])
    f["var"] = np.array([(g.encode(), i) for i, g in enumerate(genes)],
                        dtype=[("index", "S8"), ("n", "i4")])
    f["uns/louvain_categories"] = np.array([b"B", b"T"])

with make("tenx_v3.h5") as f:
    group = f.create_group("matrix")
    for key, part in zip(("data", "indices", "indptr"), compress(counts)):
        group[key] = part.astype("i4" if key == "data" else "i8")
    group["shape"] = np.array([4, 5], dtype="i4")
    group["barcodes"] = np.array([c.encode() for c in cells])
    group["features/id"] = np.array([b"E1", b"E2", b"E3", b"E4"])
    group["features/name"] = np.array([b"A", b"B", b"A", b"A-1"])

with make("tenx_v2.h5") as f:
    group = f.create_group("GRCh38")
    for key, part in zip(("data", "indices", "indptr"), compress(counts)):
        group[key] = part.astype("i4" if key == "data" else "i8")
    group["shape"] = np.array([4, 5], dtype="i4")
    group["barcodes"] = np.array([c.encode() for c in cells])
    group["genes"] = np.array([b"E1", b"E2", b"E3", b"E4"])
    group["gene_names"] = np.array([g.encode() for g in genes])

# Damaged on purpose: each breaks one rule.
with make("bad_indptr.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4")
    f["X/indptr"][2] = 100
    put_index(f, "obs", cells)
    put_index(f, "var", genes)
with make("bad_indices.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4")
    f["X/indices"][3] = 4
    put_index(f, "obs", cells)
    put_index(f, "var", genes)
with make("bad_names.h5ad") as f:
    f["X"] = dense
    put_index(f, "obs", cells)
    put_index(f, "var", genes)
with make("bad_claim.h5") as f:
    f.create_dataset("huge", shape=(2**40, 2**20), dtype="f8", chunks=(1, 1024), compression="gzip")
with make("bad_shape.h5ad") as f:
    put_sparse(f, "X", counts, "csr", "f4")
    f["X"].attrs["shape"] = np.array([2**62, 4])
    put_index(f, "obs", cells)
    put_index(f, "var", genes)

# Packed with LZF, alone and with what h5py puts beside it; texts of any length as well.
with make("lzf.h5ad") as f:
    f.attrs["encoding-type"] = "anndata"
    f.create_dataset("X", data=counts.astype("f4"), chunks=(2, 3), compression="lzf")
    layers = f.create_group("layers")
    layers.create_dataset("shuffled", data=counts.astype("i2"), chunks=(2, 3), compression="lzf",
                          shuffle=True)
    layers.create_dataset("checked", data=counts.astype(">f8"), chunks=(5, 4), compression="lzf",
                          shuffle=True, fletcher32=True)
    holes = layers.create_dataset("holes", shape=(5, 4), dtype="f4", chunks=(2, 2),
                                  compression="lzf", fillvalue=7)
    holes[:2, :2] = 1
    noise = np.random.default_rng(0).integers(0, 256, size=(5, 4)).astype("u1")
    layers.create_dataset("noise", data=noise, chunks=(5, 4), compression="lzf")  # stored as it is
    parts = compress(counts)
    group = layers.create_group("sparse")
    for key, part, dtype in zip(("data", "indices", "indptr"), parts, ("f4", "i4", "i4")):
        group.create_dataset(key, data=part.astype(dtype), chunks=(3,), compression="lzf")
    group.attrs["encoding-type"] = "csr_matrix"
    group.attrs["shape"] = np.array(counts.shape)
    for name, names in (("obs", cells), ("var", genes)):
        table = f.create_group(name)
        table.attrs["_index"] = "_index"
        table.create_dataset("_index", data=np.array(names, dtype=object), dtype=text, chunks=(2,),
                             compression="lzf")

# As anndata 0.6 (2018) wrote: tables of one compound data set, obsm too.
with make("old2018.h5ad") as f:
    f["X"] = counts.astype("f4")
    f["obs"] = np.array([(c, i % 2, 1.5) for i, c in enumerate(cells)],
                        dtype=[("index", text), ("louvain", "i1"), ("n_counts", "f4")])
    f["var"] = np.array([(g.encode(), i) for i, g in enumerate(genes)],
                        dtype=[("index", "S8"), ("n_cells", "i4")])
    f["obsm"] = np.array([((i, 2 * i), i) for i in range(5)],
                         dtype=[("X_pca", "f4", (2,)), ("time", "f8")])
    f.create_group("uns")["louvain_categories"] = np.array([b"a", b"b"])

# Numbers in other files: some that are there, one that is not.
with make("elsewhere.h5") as f:
    layout = h5py.VirtualLayout(shape=(3, 4), dtype="f8")
    layout[:] = h5py.VirtualSource("only.h5", "nets/down/matrix", shape=(3, 4))
    f.create_virtual_dataset("virtual", layout)
    layout = h5py.VirtualLayout(shape=(3, 4), dtype="f8")
    layout[:] = h5py.VirtualSource("absent.h5", "x", shape=(3, 4))
    f.create_virtual_dataset("missing", layout)
    layout = h5py.VirtualLayout(shape=(3, 4), dtype="f8")
    layout[:] = h5py.VirtualSource(".", "here", shape=(3, 4))
    f.create_virtual_dataset("same_file", layout)
    f["here"] = dense
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_external(b"only.h5", 0, 96)
    h5py.h5d.create(f.id, b"external", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((3, 4)), properties)
    f["link"] = h5py.ExternalLink("only.h5", "/deep/down/matrix")
with make("virtual.h5") as f:
    layout = h5py.VirtualLayout(shape=(3, 4), dtype="f8")
    layout[:] = h5py.VirtualSource("only.h5", "nets/down/matrix", shape=(3, 4))
    f.create_virtual_dataset("X", layout)
with make("link.h5") as f:
    f["X"] = h5py.ExternalLink("only.h5", "/deep/down/matrix")
