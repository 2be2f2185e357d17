"""Whatever samples come from, the fit is the same, and arrays are not copied."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sparse

import rarebit

warned = pytest.mark.filterwarnings("ignore:.*:UserWarning")


def fit(X, **options):
    return rarebit.RFN(3, iterations=5, **options).fit(X)


def near(a, b):
    """The same to rounding: products of another layout are summed in another order."""
    np.testing.assert_allclose(a.components_, b.components_, rtol=1e-4, atol=1e-5)


def same(a, b, X=None):
    assert np.array_equal(a.components_, b.components_)
    if X is not None:
        assert np.array_equal(a.transform(X), b.transform(X))


@warned
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_arrays_of_any_layout(X, dtype):
    plain = np.ascontiguousarray(X, dtype=dtype)
    wide = np.zeros((240, 36), dtype)
    wide[::2, ::3] = plain
    unaligned = np.zeros(plain.nbytes + 1, "u1")[1:].view(dtype).reshape(plain.shape)
    unaligned[...] = plain
    layouts = [np.asfortranarray(plain), wide[::2, ::3], plain[::-1][::-1], unaligned,
               plain.astype(plain.dtype.newbyteorder())]
    for layout in layouts:
        near(fit(layout), fit(plain))
    backwards = plain[::-1].copy()
    near(fit(backwards[::-1]), fit(plain))


@warned
def test_other_types_become_numbers(X):
    counts = np.minimum(10 * X, 255).astype(int)
    for other in (counts, counts.astype("u1"), counts.tolist(), sparse.coo_matrix(counts),
                  sparse.csr_matrix(counts)):
        near(fit(other), fit(counts.astype(float)))


@warned
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_compressed_rows_and_columns(dtype):
    rows = sparse.random(300, 40, 0.1, "csr", dtype=dtype, random_state=1)
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype("q"), wide.indptr.astype("q")
    shuffled = sparse.csr_matrix((rows.data[::-1].copy(), rows.indices[::-1].copy(),
                                  rows.nnz - rows.indptr[::-1]), shape=rows.shape)[::-1]
    starts = rows.copy()
    starts.indptr = starts.indptr.astype("q")
    for other in (rows.tocsc(), wide, shuffled, starts, sparse.csr_array(rows)):
        same(fit(other), fit(rows), rows)
    assert np.array_equal(fit(rows).transform(rows.tocsc()), fit(rows).transform(rows))


@warned
def test_streams(X):
    asked = []

    def rows(first, count):
        asked.append(count)
        return X[first:first + count]

    stream = rarebit.stream(rows, *X.shape, dtype=float)
    same(fit(stream), fit(X), X)
    assert np.array_equal(fit(X).transform(stream), fit(X).transform(X))
    assert sum(asked) >= 120
    with pytest.raises(ValueError, match=r"\(120, 11\) for samples 0 to 119"):
        fit(rarebit.stream(lambda first, count: X[:, 1:], *X.shape))
    rows = sparse.csr_matrix(np.where(X > 1, X, 0))
    by_rows = rarebit.stream(lambda first, count: rows[first:first + count], *X.shape, float, True)
    same(fit(by_rows), fit(rows), rows)
    with pytest.raises(ValueError, match="no X"):
        fit(pytest.importorskip("anndata").AnnData(shape=(3, 4)))
    with pytest.raises(ZeroDivisionError):
        fit(rarebit.stream(lambda first, count: 1 / 0, *X.shape))


@warned
def test_files(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    same(fit(tmp_path / "x.npy"), fit(X), X)
    same(fit(str(tmp_path / "x.npy")), fit(X))
    parts = [tmp_path / "a.npy", str(tmp_path / "b.npy")]
    for part, rows in zip(parts, (X[:50], X[50:])):
        np.save(part, rows)
    same(fit(rarebit.open(parts)), fit(X), X)
    np.savetxt(tmp_path / "x.tsv", X.T, delimiter="\t", comments="",
               header="\t".join(f"sample{i}" for i in range(120)))
    turned = rarebit.open(tmp_path / "x.tsv", transpose=True)
    assert turned.shape == (120, 12)
    with pytest.raises(ValueError, match="but must be"):
        rarebit.open(tmp_path / "x.tsv", header="perhaps")


@warned
@pytest.mark.parametrize("storage", ["dense", "csr", "csc"])
def test_annotated_data(X, storage, tmp_path):
    anndata = pytest.importorskip("anndata")
    import pandas
    X = X.astype("f")
    X[X < 0.5] = 0
    stored = {"dense": X, "csr": sparse.csr_matrix(X), "csc": sparse.csc_matrix(X)}[storage]
    data = anndata.AnnData(
        stored, obs=pandas.DataFrame({"batch": ["a", "b"] * 60}, [f"cell{i}" for i in range(120)]),
        var=pandas.DataFrame(index=[f"gene{k}" for k in range(12)]), dtype=X.dtype)
    expected = fit(stored)
    same(fit(data), expected)
    assert list(fit(data).feature_names_in_) == list(data.var_names)
    assert fit(data).model_.feature_names == list(data.var_names)
    fit(data, regress="batch")
    data.write_h5ad(tmp_path / "x.h5ad")
    same(fit(tmp_path / "x.h5ad"), expected)
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    same(fit(backed), expected)
    assert fit(backed).model_.feature_names == list(data.var_names)
    turned = data[:, ::-1].copy()
    np.testing.assert_allclose(fit(data).transform(turned), fit(data).transform(data), rtol=1e-4,
                               atol=1e-5)
    backed.file.close()


@warned
def test_hdf5_datasets(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = X
        same(fit(file["x"]), fit(X), X)


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["f", "d", "i"])
def test_compressed_arrays_that_do_not_fit_are_refused(kind, dtype):
    def matrix(**arrays):
        made = sparse.random(200, 200, 0.1, kind, dtype="d", random_state=1)
        made = (9 * made).astype(dtype)
        for name, change in arrays.items():
            setattr(made, name, change(getattr(made, name)))
        return made

    def jump(starts):
        starts[7] = 1 << 30
        return starts

    broken = [{"data": lambda a: a[:5]}, {"indices": lambda a: a[:5]},
              {"indptr": lambda a: a[:50]}, {"indptr": jump}, {"indptr": lambda a: a - 1},
              {"indices": lambda a: a + 1}, {"indices": lambda a: a + (1 << 32)}]
    for arrays in broken:
        with pytest.raises(ValueError, match="of the sparse matrix"):
            fit(matrix(**arrays))
        with pytest.raises(ValueError, match="of the sparse matrix"):
            fit(rarebit.stream(lambda first, count: matrix(**arrays), 200, 200, sparse=True))


@warned
@pytest.mark.parametrize("name", ["data", "indices", "indptr"])
def test_compressed_arrays_of_any_stride(name):
    rows = sparse.random(300, 40, 0.1, "csr", random_state=1)
    strided = rows.copy()
    setattr(strided, name, np.repeat(getattr(rows, name), 2)[::2])
    same(fit(strided), fit(rows), rows)


@warned
@pytest.mark.parametrize("dtype", ["f", "d", "i"])
def test_masked_values_are_missing(X, dtype):
    X = (10 * X).astype(dtype)
    masked = np.ma.masked_array(X, np.zeros(X.shape, bool))
    same(fit(masked), fit(X))
    masked[3, 4] = np.ma.masked
    with pytest.raises(ValueError, match="missing"):
        fit(masked)
    holed = X.astype("f" if dtype == "f" else "d")
    holed[3, 4] = np.nan
    same(fit(masked, missing="mean"), fit(holed, missing="mean"))
    rows = rarebit.stream(lambda first, count: masked[first:first + count], *X.shape, holed.dtype)
    same(fit(rows, missing="mean"), fit(holed, missing="mean"))


def test_times_are_no_numbers():
    import pandas
    days = np.arange(40).astype("M8[D]").reshape(10, 4)
    with pytest.raises(ValueError, match="^X has values of type datetime64.D., but must have num"):
        fit(days)
    with pytest.raises(ValueError, match="type timedelta64"):
        fit(days - days[0, 0])
    with pytest.raises(ValueError, match="^column b has values of type datetime64"):
        fit(pandas.DataFrame({"a": np.arange(10.0), "b": days[:, 0].astype("M8[ns]")}))


def test_streams_of_no_shape():
    for shape in ((-1, 3), (2.5, 3), (4, "a"), (2**64, 3)):
        with pytest.raises(ValueError, match="but must be a whole number"):
            rarebit.stream(lambda first, count: None, *shape)
    with pytest.raises(ValueError, match="gave no sparse matrix for samples 0 to 2"):
        fit(rarebit.stream(lambda first, count: np.zeros((3, 2)), 3, 2, sparse=True))


MEASURE = """
import sys
import numpy as np, scipy.sparse as sparse
import rarebit
kind = sys.argv[1]
small = np.random.default_rng(0).random((200, 100)).astype("f")
rarebit.FA(3, iterations=2, solver="em").fit(small).transform(small)
random = np.random.default_rng(1)
if kind in ("csr", "csc"):
    n, m = 100_000, 1_000
    columns = np.arange(0, m, 10, dtype="i") + random.integers(0, 10, (n, 100), dtype="i")
    X = sparse.csr_matrix((random.random(100 * n, "f"), columns.ravel(),
                           np.arange(0, 100 * n + 1, 100, dtype="i")), shape=(n, m))
    del columns
    X = X.tocsc() if kind == "csc" else X
    bytes = X.data.nbytes + X.indices.nbytes
else:
    X = random.random((100_000, 100), "f")
    X = np.asfortranarray(X) if kind == "columns" else X
    bytes = X.nbytes
with open("/proc/self/clear_refs", "w") as file: # the peak begins anew
    file.write("5")
def peak(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if what in line)
before = peak("VmRSS")
codes = rarebit.FA(3, iterations=2, solver="em", cache=0).fit(X).transform(X)
print((peak("VmHWM") - before) * 1024 / bytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux tells it")
@pytest.mark.parametrize("kind", ["rows", "columns", "csr", "csc"])
def test_nothing_is_copied(kind):
    done = subprocess.run([sys.executable, "-B", "-c", MEASURE, kind], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.5, "share of the data's memory that was added"
