"""rarebit.tl and rarebit.pl: they write what the program writes, and other tools take it."""

import os
import re
import subprocess
import warnings
from pathlib import Path

import anndata
import h5py
import matplotlib
import numpy as np
import pandas as pd
import pytest
import rarebit
from rarebit import pl, tl
from rarebit._methods import CLASSES
from scipy import sparse

matplotlib.use("agg")
TOOL = os.environ.get("RAREBIT", "")


def planted(n=90, m=24, k=3, seed=0):
    """Samples of k modules, with names."""
    rng = np.random.default_rng(seed)
    codes = np.maximum(rng.normal(-0.5, 1, (n, k)), 0)
    loadings = np.zeros((k, m))
    for j in range(k):
        loadings[j, j * m // k:(j + 1) * m // k] = 2
    return (codes @ loadings + rng.normal(0, 0.3, (n, m))).astype(np.float32)


@pytest.fixture
def adata():
    values = planted()
    made = anndata.AnnData(
        values, dtype=np.float32,
        obs=pd.DataFrame({"kind": ["a", "b", "c"] * 30}, index=[f"c{i}" for i in range(90)]),
        var=pd.DataFrame(index=[f"g{k}" for k in range(24)]))
    made.layers["double"] = 2.0 * values
    return made


def tool(*arguments):
    subprocess.run([TOOL, *map(str, arguments), "-q"], check=True)


def items(path, group):
    """All data sets below a group: name -> value."""
    found = {}
    with h5py.File(path) as file:
        file[group].visititems(lambda name, node: found.update({name: (node.dtype, node[()])})
                               if isinstance(node, h5py.Dataset) else None)
    return found


@pytest.mark.skipif(not TOOL, reason="RAREBIT names no program")
@pytest.mark.parametrize("method, options", [("rfn", []), ("nmf", ["--centre", "none"]),
                                             ("linca", []), ("fa-laplace", [])])
def test_same_as_the_program(tmp_path, adata, method, options):
    """Same keys and same bits as `rarebit fit` and `rarebit encode` from AnnData to AnnData."""
    adata.X = np.abs(adata.X)
    plain, theirs, ours, model = (tmp_path / name
                                  for name in ("x.h5ad", "t.h5ad", "o.h5ad", "m.h5"))
    adata.write_h5ad(plain)
    tool("fit", method, plain, "-k", 3, "--seed", 4, "--iterations", 20, *options, "-o", model)
    tool("encode", model, plain, "-o", theirs)
    name = method.replace("-", "_")
    chosen = {"centre": "none"} if options else {}
    getattr(tl, name)(adata, 3, random_state=4, iterations=20, **chosen)
    adata.write_h5ad(ours)
    for group in ("obsm", "varm"):
        wanted, got = items(theirs, group), items(ours, group)
        assert wanted.keys() == got.keys()
        for key, (dtype, values) in wanted.items():
            assert got[key][0] == dtype and got[key][1].tobytes() == values.tobytes(), (group, key)
    wanted, got = items(theirs, f"uns/{name}"), items(ours, f"uns/{name}")
    only_theirs = {"params/command_line", "params/data_path"}
    assert wanted.keys() - only_theirs == got.keys() - {"params/variables"}
    assert got["model"][0] == wanted["model"][0] == np.uint8
    for key in got.keys() - {"model", "params/variables"}:
        assert got[key][1] == wanted[key][1], key
    both = [rarebit.Model.from_bytes(found["model"][1].tobytes()).arrays for found in (wanted, got)]
    for key in both[0].keys() | both[1].keys():
        np.testing.assert_array_equal(both[0][key], both[1][key], err_msg=key)


@pytest.mark.skipif(not TOOL, reason="RAREBIT names no program")
def test_modules_are_those_of_the_program(tmp_path, adata):
    """modules reads what the program wrote, and gives its table."""
    plain, coded, model = tmp_path / "x.h5ad", tmp_path / "c.h5ad", tmp_path / "m.h5"
    adata.write_h5ad(plain)
    tool("fit", "rfn", plain, "-k", 3, "--seed", 4, "--iterations", 50, "-o", model)
    tool("encode", model, plain, "-o", coded)
    tool("modules", model, plain, "-o", tmp_path / "modules.tsv")
    wanted = pd.read_csv(tmp_path / "modules.tsv", sep="\t")
    read = anndata.read_h5ad(coded)
    got = tl.modules(read, members=True)
    assert list(got.columns) == list(wanted.columns) and len(got) > 50
    for column in ("module", "unit", "kind", "name", "index"):
        assert got[column].tolist() == wanted[column].tolist()
    np.testing.assert_allclose(got["weight"], wanted["weight"], rtol=1e-8)
    short = tl.modules(read)
    assert short["samples"].tolist() == [
        (wanted[wanted["unit"] == unit]["kind"] == "sample").sum() for unit in short.index]


def test_keys_copies_and_layers(adata):
    assert tl.rfn(adata, 3, iterations=10) is None
    assert adata.obsm["X_rfn"].shape == (90, 3) and adata.obsm["X_rfn"].dtype == np.float32
    assert adata.varm["rfn"].shape == (24, 3)
    copied = tl.rfn(adata, 2, iterations=10, layer="double", key_added="other", copy=True)
    assert "X_other" in copied.obsm and "X_other" not in adata.obsm
    assert copied.uns["other"]["params"]["layer"] == "double"
    # modules look at the layer of the fit, without being told
    again = tl.rfn(anndata.AnnData(adata.layers["double"], dtype=np.float32, var=adata.var), 2,
                   iterations=10, copy=True)
    pd.testing.assert_frame_equal(tl.modules(copied, "other"), tl.modules(again))
    with pytest.raises(KeyError, match="there is no layer 'none'"):
        tl.rfn(adata, 2, layer="none")
    with pytest.raises(KeyError, match="uns has no model of 'pca'"):
        tl.modules(adata, "pca")
    with pytest.raises(KeyError, match="obs has no column 'plate'; it has kind"):
        tl.modules(adata, permutations=3, blocks="plate")


def test_covariates_of_the_fit_are_found_in_obs(adata):
    adata.obs["plate"] = pd.Categorical(["a", "b", "c"] * 30)
    tl.rfn(adata, 3, regress="plate", random_state=1)
    fitted = rarebit.RFN(3, regress="plate", random_state=1).fit(adata)
    pd.testing.assert_frame_equal(tl.modules(adata), rarebit.modules(fitted, adata))
    tl.add(adata, fitted, "other")
    stack = rarebit.Stack(rarebit.RFN(regress="plate", random_state=1), [4, 3]).fit(adata)
    tl.add(adata, stack)
    np.testing.assert_array_equal(adata.obsm["X_other"], adata.obsm["X_rfn"])
    np.testing.assert_array_equal(adata.obsm["X_stack"], stack.transform(adata))
    del adata.obs["plate"]
    with pytest.raises(ValueError, match="plate"):
        tl.modules(adata)


def test_highly_variable(adata):
    with pytest.raises(KeyError, match="highly_variable"):
        tl.rfn(adata, 2, use_highly_variable=True)
    adata.var["highly_variable"] = np.arange(24) % 3 != 1
    tl.rfn(adata, 2, iterations=10, use_highly_variable=True)
    assert adata.uns["rfn"]["params"]["variables"] == "highly_variable"
    chosen = adata.var["highly_variable"].to_numpy()
    assert (adata.varm["rfn"][~chosen] == 0).all() and (adata.varm["rfn"][chosen] != 0).any()
    only = tl.rfn(adata[:, chosen].copy(), 2, iterations=10, copy=True)
    np.testing.assert_array_equal(only.obsm["X_rfn"], adata.obsm["X_rfn"])
    members = tl.modules(adata, members=True)
    assert set(members[members["kind"] == "feature"]["name"]) <= set(adata.var_names[chosen])


def test_the_variables_of_estimators_and_files(tmp_path, adata):
    """All, unless highly variable ones are asked for: by estimators, tools and from files."""
    adata.var["highly_variable"] = np.arange(24) % 3 != 1
    adata.write_h5ad(tmp_path / "x.h5ad")
    expected = rarebit.RFN(2, iterations=10).fit_transform(adata)
    assert np.array_equal(rarebit.RFN(2, iterations=10).fit_transform(tmp_path / "x.h5ad"), expected)
    with pytest.warns(UserWarning, match="all 24 variables are fitted, though var marks 16"):
        tl.rfn(adata, 2, iterations=10)
    assert np.array_equal(adata.obsm["X_rfn"], expected)
    assert adata.uns["rfn"]["params"]["variables"] == "all"
    tl.add(adata, rarebit.RFN(2, iterations=10).fit(adata), "other")
    assert adata.uns["other"]["params"]["variables"] == "all"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tl.rfn(adata, 2, iterations=10, use_highly_variable=False)


def test_sparse_and_backed_are_dense_in_memory(tmp_path, adata):
    """The same codes from compressed rows and columns, up to rounding, and from a file."""
    adata.X = np.where(adata.X > 1, adata.X, 0).astype(np.float32)
    tl.rfn(adata, 3, iterations=20)
    wanted = adata.obsm["X_rfn"].copy()
    for make in (sparse.csr_matrix, sparse.csc_matrix):
        other = anndata.AnnData(make(adata.X), dtype=np.float32, obs=adata.obs, var=adata.var)
        tl.rfn(other, 3, iterations=20)
        np.testing.assert_allclose(other.obsm["X_rfn"], wanted, atol=1e-4)
    path = tmp_path / "backed.h5ad"
    anndata.AnnData(adata.X, dtype=np.float32, var=adata.var, obs=adata.obs).write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    tl.rfn(backed, 3, iterations=20)
    np.testing.assert_array_equal(backed.obsm["X_rfn"], wanted)


def test_neighbours(adata):
    """What sc.pp.neighbors(use_rep="X_rfn") hands on: a dense array of floats, a row a cell."""
    neighbors = pytest.importorskip("sklearn.neighbors")
    tl.rfn(adata, 3)
    graph = neighbors.kneighbors_graph(adata.obsm["X_rfn"], 5)
    assert graph.shape == (90, 90) and graph.nnz == 450


def test_add_matches_names(adata):
    """A model of other data, by the names of the variables."""
    fitted = rarebit.RFN(3, iterations=20, random_state=1).fit(adata)
    order = np.random.default_rng(1).permutation(24)
    mixed = adata[:, order].copy()
    tl.add(mixed, fitted, "mine")
    np.testing.assert_array_equal(mixed.varm["mine"], fitted.components_.T[order])
    np.testing.assert_allclose(mixed.obsm["X_mine"], fitted.transform(adata), atol=1e-5)
    strange = adata.copy()
    strange.var_names = [f"other{k}" for k in range(24)]
    with pytest.raises(ValueError, match="none of the features"):
        tl.add(strange, fitted)


def test_data_with_few_of_the_features(tmp_path, adata):
    fitted = rarebit.RFN(3, iterations=20, random_state=1).fit(adata)
    few = adata.copy()
    few.var_names = [*adata.var_names[:2], *(f"other{k}" for k in range(22))]
    few.write_h5ad(tmp_path / "few.h5ad")
    for X in (few, tmp_path / "few.h5ad"):
        for call in (fitted.transform, fitted.score, fitted.reconstruct,
                     lambda X: rarebit.modules(fitted, X)):
            with pytest.raises(ValueError, match="only 2 of the model's 24 features are in the data "
                                                 "by name.* lower min_shared"):
                call(X)
    with pytest.raises(ValueError, match="only 2 of"):
        tl.add(few, fitted)
    fitted.set_params(min_shared=0.05)
    with pytest.warns(UserWarning, match="22 of the model's 24 features are not in the data"):
        codes = fitted.transform(few)
    with pytest.warns(UserWarning, match="22 of the model's 24"):
        tl.add(few, fitted)
    np.testing.assert_array_equal(few.obsm["X_rfn"], codes)


def test_every_method_has_a_function():
    for name, made in CLASSES.items():
        function = getattr(tl, made._method.replace("-", "_"))
        assert name in function.__doc__ and function.__name__ in tl.__all__
    typed = re.findall(r"^    (\w+): Fit$", Path(tl.__file__).read_text(), re.M)
    assert typed == tl.__all__[2:]


def test_results_are_written_and_read(tmp_path, adata):
    tl.rfn(adata, 3, iterations=20)
    adata.write_h5ad(tmp_path / "x.h5ad")
    read = anndata.read_h5ad(tmp_path / "x.h5ad")
    pd.testing.assert_frame_equal(tl.modules(read), tl.modules(adata))


def test_what_is_no_anndata(adata):
    fitted = rarebit.PCA(2).fit(adata)
    for call in (tl.rfn, tl.modules, pl.history, pl.modules, lambda X: tl.add(X, fitted)):
        with pytest.raises(TypeError, match="takes an AnnData, but got a ndarray"):
            call(adata.X)
    with pytest.raises(TypeError, match="tl.rfn has no n_components: it is called n_comps"):
        tl.rfn(adata, n_components=3)
    with pytest.raises(TypeError, match="'max_iter': it is called iterations"):
        tl.rfn(adata, 3, max_iter=5)
    for call in (pl.history, lambda f: pl.fields(f, 24), lambda f: tl.add(adata, f)):
        with pytest.raises(ValueError, match="not fitted"):
            call(rarebit.RFN(3))
    with pytest.raises(TypeError, match="is needed, but this is of type int"):
        tl.add(adata, 3)
