"""Random files of other programs, read by rarebit and compared: files.py RAREBIT FOLDER [CASE...].

Each case writes a file from a seed of its own and says what must come out of `rarebit convert`: every
number bit by bit, and the names where the format has them. A case that fails is named; giving its name
runs it alone and leaves its file in the folder."""

import csv
import gzip
import io
import os
import subprocess
import sys
import warnings

import anndata
import h5py
import numpy as np
import pandas
from scipy import sparse
from scipy.io import mmwrite

RAREBIT, FOLDER = sys.argv[1], sys.argv[2]
CHOSEN = sys.argv[3:]
warnings.filterwarnings("ignore")


class Case:
    """What a file must hold: values (samples x features), the type it becomes, names or None."""

    def __init__(self, path, values, samples=None, features=None, options=(), wide=None):
        self.path, self.options = path, list(options)
        self.values = np.asarray(values)
        self.samples, self.features = samples, features
        self.wide = becomes_wide(self.values.dtype) if wide is None else wide


def becomes_wide(dtype):
    """Integers of up to 16 bits and floats of up to 32 become float32, others float64."""
    return dtype.itemsize > (4 if dtype.kind == "f" else 2)


def random_values(rng, dtype, shape, sparse=0.0):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        values = rng.integers(0, 2, shape).astype(dtype)
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = rng.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True)
        values = values.astype(dtype)
    else:
        power = {2: 4, 4: 37, 8: 300}[dtype.itemsize]
        values = (rng.normal(size=shape) * 10.0 ** rng.integers(-power, power, shape)).astype(dtype)
        values[~np.isfinite(values)] = 1
        flat = values.reshape(-1)
        if flat.size > 3:
            flat[rng.integers(flat.size)] = -0.0
            flat[rng.integers(flat.size)] = np.finfo(dtype).tiny
    if sparse:
        values[rng.random(shape) < sparse] = 0
    return values


def shape_of(rng, dimensions=2):
    return tuple(int(n) for n in rng.integers(1, 23, dimensions))


def names_of(rng, count, kind=None):
    kind = rng.integers(3) if kind is None else kind
    if kind == 0:
        return [f"s{i}" for i in range(count)]
    if kind == 3: # only where names may be quoted
        return [f'say "{i}", please; or\tnot' for i in range(count)]
    if kind == 1:
        return [f"Zelle-{i} ä{'β' * int(rng.integers(3))}" for i in range(count)]
    return [f"{'ACGT'[i % 4]}_{rng.integers(1 << 40)}-{i}" for i in range(count)]


def choose(rng, options):
    return options[int(rng.integers(len(options)))]


# ---- numpy ----

NUMBERS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def any_number(rng, dtype):
    return np.dtype(choose(rng, "<>") + dtype)


def npy_case(rng, path, index):
    dtype = any_number(rng, NUMBERS[index % len(NUMBERS)])
    values = random_values(rng, dtype, shape_of(rng, choose(rng, [1, 2, 2, 3, 4])))
    if dtype.kind == "f" and values.size > 4:
        values.reshape(-1)[rng.integers(values.size)] = np.nan
    array = np.asfortranarray(values) if rng.integers(2) else values
    with open(path, "wb") as file:
        version = choose(rng, [(1, 0), (2, 0), (3, 0), None])
        np.lib.format.write_array(file, array, version=version)
    options = []
    values = values.reshape(len(values), -1)
    if rng.integers(4) == 0:
        options, values = ["--transpose"], values.T
    return Case(path, values, options=options)


# ---- h5py ----


def dataset_options(rng, shape):
    options = {}
    if rng.integers(3):
        options["chunks"] = tuple(int(rng.integers(1, n + 1)) for n in shape)
        options["compression"] = choose(rng, [None, "gzip"])
        options["shuffle"] = bool(rng.integers(2))
        options["fletcher32"] = bool(rng.integers(2))
        if rng.integers(2):
            options["maxshape"] = tuple(choose(rng, [None, n, n + 9]) for n in shape)
    return options


def hdf5_case(rng, path, index):
    dtype = any_number(rng, NUMBERS[index % len(NUMBERS)])
    values = random_values(rng, dtype, shape_of(rng))
    if dtype.kind == "f" and values.size > 4:
        values.reshape(-1)[rng.integers(values.size)] = np.nan
    place = choose(rng, ["X", "data", "a/b/c", "nets/er/still/x"])
    libver = choose(rng, ["earliest", ("v108", "v108"), ("v110", "v110")])
    with h5py.File(path, "w", libver=libver, track_order=bool(rng.integers(2))) as file:
        file.create_dataset(place, data=values, **dataset_options(rng, values.shape))
        more = bool(rng.integers(2))
        if more:
            file["other"] = np.arange(6.0).reshape(2, 3)
        file["text"] = "no numbers"
        file.attrs["note"] = "x"
    options = ["--dataset", place] if more or rng.integers(2) else []
    return Case(path, values, options=options)


def sparse_values(rng, dtype, shape):
    """Counts for integers, so that sparse files look as such files do."""
    if np.dtype(dtype).kind in "iub":
        return (rng.integers(1, 1000, shape) * (rng.random(shape) < 0.3)).astype(dtype)
    return random_values(rng, dtype, shape, sparse=0.7)


def hdf5_sparse_case(rng, path, index):
    """AnnData's groups, written by h5py: index types and byte orders that anndata itself would not take."""
    values = sparse_values(rng, ["f4", "f8", "i4", "u2", "i8", "f2", "b1"][index % 7], shape_of(rng))
    by_rows = bool(rng.integers(2))
    matrix = (sparse.csr_matrix if by_rows else sparse.csc_matrix)(values.astype("f8"))
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix" if by_rows else "csc_matrix"
        group.attrs["encoding-version"] = "0.1.0"
        group.attrs["shape"] = np.array(values.shape, choose(rng, ["<i8", ">i8", "<i4"]))
        chunks = {"compression": "gzip", "chunks": (1 + matrix.nnz // 3,)} if matrix.nnz and rng.integers(2) else {}
        group.create_dataset("data", data=matrix.data.astype(values.dtype), **chunks)
        group.create_dataset("indices", data=matrix.indices.astype(choose(rng, ["i4", "i8", ">i4", "u4"])), **chunks)
        group.create_dataset("indptr", data=matrix.indptr.astype(choose(rng, ["i4", "i8", ">i8"])))
    return Case(path, values, options=["--dataset", "X"])


# ---- anndata ----


def anndata_case(rng, path, index):
    shape = shape_of(rng)
    samples, features = names_of(rng, shape[0]), names_of(rng, shape[1], 0)
    kinds = [np.asarray, sparse.csr_matrix, sparse.csc_matrix]
    layers = {"X": sparse_values(rng, ["f4", "f8", "i4", "i8"][index % 4], shape),
              "layers/counts": sparse_values(rng, choose(rng, ["i4", "f4", "i8", "b1"]), shape)}
    obs = pandas.DataFrame(index=samples)
    obs["type"] = pandas.Categorical([choose(rng, ["B", "T", "NK cell"]) for _ in samples])
    obs["batch"] = [choose(rng, ["one", "zwei"]) for _ in samples]
    obs["score"] = rng.normal(size=len(samples))
    obs.index.name = choose(rng, [None, "cell", "barcode"])
    var = pandas.DataFrame({"length": rng.integers(1, 99, len(features))}, index=features)
    made = {name: choose(rng, kinds)(values) for name, values in layers.items()}
    data = anndata.AnnData(made["X"], obs=obs, var=var, dtype=layers["X"].dtype)
    data.layers["counts"] = made["layers/counts"]
    data.obsm["X_pca"] = rng.normal(size=(shape[0], 3))
    data.uns["settings"] = {"a": 1, "list": ["x", "y"]}
    if rng.integers(3) == 0:
        data.raw = data
        layers["raw/X"] = layers["X"]
    data.write_h5ad(path, compression=choose(rng, [None, "gzip"]))
    place = choose(rng, list(layers))
    options = ["--dataset", place] if place != "X" or rng.integers(2) else []
    return Case(path, layers[place], samples, features, options)


# ---- scipy ----


def mtx_case(rng, path, index):
    field = ["real", "integer", "pattern"][index % 3]
    symmetry = choose(rng, ["general", "general", "symmetric", "skew-symmetric"])
    shape = shape_of(rng)
    if symmetry != "general":
        shape = (shape[0], shape[0])
    if field == "real":
        values = random_values(rng, "f8", shape, sparse=0.6)
        values[np.abs(values) > 1e300] = 1
    else:
        values = (rng.integers(-99, 99, shape) * (rng.random(shape) < 0.4)).astype("i8")
    if symmetry != "general":
        lower = np.tril(values, -1 if symmetry == "skew-symmetric" else 0)
        upper = np.tril(values, -1).T
        values = lower - upper if symmetry == "skew-symmetric" else lower + upper
    array = field != "pattern" and bool(rng.integers(2))
    if field == "pattern":
        values = (values != 0).astype("i8")
        if symmetry == "skew-symmetric":
            symmetry, values = "general", np.tril(values)
    made = values if array else choose(rng, [sparse.coo_matrix, sparse.csr_matrix])(values)
    buffer = io.BytesIO()
    mmwrite(buffer, made, comment=choose(rng, ["", "made by scipy", "two\nlines"]), field=field,
            precision=17 if field == "real" else None, symmetry=symmetry)
    text = buffer.getvalue()
    if rng.integers(3) == 0:
        text = text.replace(b"\n", b"\r\n")
    if rng.integers(3) == 0:
        path += ".gz"
        text = gzip.compress(text)
    with open(path, "wb") as file:
        file.write(text)
    return Case(path, values, wide=array or field == "real")


# ---- text ----


def text_values(rng, shape):
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-1000, 1000, shape).astype("f8")
    values = random_values(rng, "f8", shape) if kind == 1 else rng.normal(size=shape).round(3)
    if values.size > 4:
        values.reshape(-1)[rng.integers(values.size)] = np.nan
    return values


def write_text(rng, path, text):
    if rng.integers(2):
        text = text.replace("\n", "\r\n")
    if rng.integers(4) == 0:
        text = text.rstrip("\r\n")
    data = text.encode("utf-8-sig" if rng.integers(4) == 0 else "utf-8")
    if rng.integers(3) == 0:
        path += ".gz"
        data = gzip.compress(data)
    with open(path, "wb") as file:
        file.write(data)
    return path


def pandas_case(rng, path, index):
    shape = tuple(n + 1 for n in shape_of(rng))
    values = text_values(rng, shape)
    samples = names_of(rng, shape[0], choose(rng, range(4))) if rng.integers(2) else None
    features = names_of(rng, shape[1], choose(rng, range(4))) if rng.integers(4) else None
    table = pandas.DataFrame(values, index=samples, columns=features)
    table.index.name = choose(rng, [None, "id"]) if features else None
    text = table.to_csv(sep=choose(rng, ",\t;"), index=samples is not None, header=features is not None,
                        na_rep=choose(rng, ["", "NA", "nan"]) if shape[1] > 1 else "NA",
                        quoting=choose(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
    return Case(write_text(rng, path, text), values, samples, features, wide=True)


def savetxt_case(rng, path, index):
    values = text_values(rng, shape_of(rng))
    buffer = io.StringIO()
    np.savetxt(buffer, values, fmt="%.17g", delimiter=choose(rng, [",", "\t", " ", ";"]))
    return Case(write_text(rng, path, buffer.getvalue()), values, wide=True)


def r_case(rng, path, index):
    """As write.table of R: the header has no field above the names of the rows, texts are quoted."""
    shape = tuple(n + 1 for n in shape_of(rng))
    values = text_values(rng, shape)
    samples, features = names_of(rng, shape[0]), names_of(rng, shape[1])
    separator = choose(rng, " \t")
    lines = [separator.join(f'"{name}"' for name in features)]
    for name, row in zip(samples, values):
        lines.append(separator.join([f'"{name}"'] + ["NA" if np.isnan(v) else repr(float(v)) for v in row]))
    return Case(write_text(rng, path, "\n".join(lines) + "\n"), values, samples, features, wide=True)


# ---- comparing ----


def read_tsv(path, wide):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    features = samples = None
    if rows[0][0] == "" or not is_value(rows[0][-1]):
        features = rows.pop(0)
    if not is_value(rows[0][0]) or (features and features[0] == "" and len(features) == len(rows[0])):
        samples = [row.pop(0) for row in rows]
        features = features and features[len(features) - len(rows[0]):]
    values = [[np.nan if cell == "NA" else float(cell) for cell in row] for row in rows]
    return np.array(values, "f8" if wide else "f4"), samples, features


def is_value(text):
    try:
        float(text)
    except ValueError:
        return text == "NA"
    return True


def difference(case, folder):
    """None, or what differs."""
    named = case.samples is not None or case.features is not None
    out = os.path.join(folder, "out.tsv" if named else "out.npy")
    run = subprocess.run([RAREBIT, "convert", case.path, *case.options, "-o", out, "-q"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode:
        return f"exit code {run.returncode}: {run.stdout.strip()}"
    wanted = case.values.astype("f8" if case.wide else "f4")
    if named:
        values, samples, features = read_tsv(out, case.wide)
        if case.samples is not None and samples != case.samples:
            return f"names of samples are {samples}, not {case.samples}"
        if case.features is not None and features != case.features:
            return f"names of features are {features}, not {case.features}"
    else:
        values = np.load(out)
    if values.dtype != wanted.dtype or values.shape != wanted.shape:
        return f"{values.dtype} {values.shape}, not {wanted.dtype} {wanted.shape}"
    same = (values == wanted) | (np.isnan(values) & np.isnan(wanted))
    if not same.all():
        place = tuple(int(i) for i in np.argwhere(~same)[0])
        return f"{(~same).sum()} values differ, the first at {place}: {values[place]!r}, not {wanted[place]!r}"
    return None


def main():
    kinds = [("npy", ".npy", npy_case, 60),
             ("hdf5", ".h5", hdf5_case, 36),
             ("hdf5-sparse", ".h5", hdf5_sparse_case, 18),
             ("anndata", ".h5ad", anndata_case, 32),
             ("mtx", ".mtx", mtx_case, 36),
             ("pandas", ".csv", pandas_case, 32),
             ("savetxt", ".txt", savetxt_case, 12),
             ("r", ".txt", r_case, 12)]
    count = failures = 0
    for kind, suffix, make, number in kinds:
        for index in range(number):
            name = f"{kind}-{index}"
            if CHOSEN and name not in CHOSEN:
                continue
            rng = np.random.default_rng([sum(kind.encode()), index])
            case = make(rng, os.path.join(FOLDER, name + suffix), index)
            count += 1
            wrong = difference(case, FOLDER)
            if wrong:
                failures += 1
                print(f"{name} ({os.path.basename(case.path)} {' '.join(case.options)}): {wrong}")
            elif not CHOSEN:
                os.remove(case.path)
    print(f"{count} files compared, {failures} differ")
    return 1 if failures else 0


sys.exit(main())
