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
codes = rarebit.FA(3, iterations=2, solver="em").fit(X).transform(X)
print((peak("VmHWM") - before) * 1024 / bytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux tells it")
@pytest.mark.parametrize("kind", ["rows", "columns", "csr", "csc"])
def test_nothing_is_copied(kind):
    done = subprocess.run([sys.executable, "-B", "-c", MEASURE, kind], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.5, "share of the data's memory that was added"
