"""rarebit.modules, select and consensus: those of the library, by Python's names."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest
import rarebit

from test_scanpy import planted

TOOL = os.environ.get("RAREBIT", "")


@pytest.fixture
def table():
    return pd.DataFrame(planted(), columns=[f"g{k}" for k in range(24)],
                        index=[f"s{i}" for i in range(90)])


def test_modules(table):
    fitted = rarebit.RFN(3, random_state=1, centre="none").fit(table)
    found = rarebit.modules(fitted, table)
    assert len(found) == 3 and (found["score"].diff()[1:] <= 0).all()
    assert set(found["role"]) == {"module"}
    members = rarebit.modules(fitted, table, members=True)
    assert set(members["name"]) <= set(table.columns) | set(table.index)
    planted_in = [{f"g{k}" for k in range(8 * j, 8 * j + 8)} for j in range(3)]
    for unit in found.index:
        rows = members[(members["unit"] == unit) & (members["kind"] == "feature")]
        assert set(rows["name"]) in planted_in
    top = rarebit.modules(fitted, table, rule="top:5", best=2)
    assert top["samples"].tolist() == [5, 5]
    with pytest.raises(ValueError, match="rule"):
        rarebit.modules(fitted, table, rule="largest")


def test_both_sides():
    random = np.random.default_rng(1)
    X = random.normal(size=(100, 200))
    for u in range(4):  # higher in five samples, lower in five others
        features = random.choice(200, 30, replace=False)
        X[10 * u:10 * u + 5, features] += 3
        X[10 * u + 5:10 * u + 10, features] -= 3
    found = rarebit.modules(rarebit.ICA(6, random_state=1).fit(X), X)
    other = found[found["role"] == "other side"]
    assert len(other) == 4 and set(other.index) <= set(found.index[found["role"] == "module"])
    members = rarebit.modules(rarebit.ICA(6, random_state=1).fit(X), X, members=True)
    signs = members[members["kind"] == "sample"].groupby("module")["weight"].agg(["min", "max"])
    assert ((signs["min"] > 0) | (signs["max"] < 0)).all()
    assert set(members["role"]) == {"module", "other side"}


def test_permutations(table):
    fitted = rarebit.RFN(3, random_state=1, iterations=30, centre="mean").fit(table)
    found = rarebit.modules(fitted, table, permutations=19)
    assert set(found["role"]) == {"module", "background"}
    assert found["p"][found["role"] == "module"].max() == pytest.approx(1 / 20)
    called = rarebit.modules(fitted, table, permutations=19, significant=0.05)
    assert set(called["role"]) == {"module"}
    assert {"p", "p_family", "p_permuted", "fdr"} <= set(found.columns)


def test_blocks_are_permuted_whole(table):
    fitted = rarebit.RFN(3, random_state=1, iterations=30, centre="mean").fit(table)
    blocks = [f"family {i // 2}" for i in range(len(table))]
    found = rarebit.modules(fitted, table, permutations=19, blocks=blocks)
    assert "blocks of samples permuted" in found.attrs["tested"]
    with pytest.raises(ValueError, match="without permutations"):
        rarebit.modules(fitted, table, blocks=blocks)


def test_select(table, tmp_path):
    estimator = rarebit.RFN(random_state=1, iterations=100, n_jobs=2, centre="none")
    found = rarebit.select(estimator, table, range(1, 7), restarts=3, folds=3,
                           checkpoint=str(tmp_path / "journal"))
    assert found.table.index.tolist() == [1, 2, 3, 4, 5, 6] and found.n_components == 3
    assert found.low <= 3 <= found.high and "3" in str(found)
    same = rarebit.select(estimator, table, "1:6", restarts=3, folds=3)
    pd.testing.assert_frame_equal(same.table, found.table)
    assert not hasattr(estimator, "model_")


def test_what_is_refused(table, tmp_path):
    with pytest.raises(ValueError, match="^select does not offer regress: leave it out"):
        rarebit.select(rarebit.RFN(regress="batch"), table, [2, 3])
    for question in (rarebit.select, rarebit.consensus):
        with pytest.raises(TypeError, match="^an estimator is needed, .*, but this is <class"):
            question(rarebit.RFN, table)
    with pytest.raises(ValueError, match="^there is no option 'lables'$"):
        rarebit.methods(table, lables=["a", "b"] * 45)
    with pytest.raises(ValueError, match=r"^parts is 'p1', but must be a list of files: \['p1', ...\]$"):
        rarebit.merge("p1", tmp_path / "all")


def test_select_may_pick_none(table):
    found = rarebit.select(rarebit.KMeans(iterations=5), table, "1:2", restarts=1, folds=0)
    assert found.n_components is None and "no number is picked" in found.why


@pytest.mark.skipif(not TOOL, reason="RAREBIT names no program")
def test_select_is_that_of_the_program(table, tmp_path):
    table.to_csv(tmp_path / "x.tsv", sep="\t")
    subprocess.run([TOOL, "select", "rfn", tmp_path / "x.tsv", "--units", "2:4", "--restarts", "2",
                    "--folds", "3", "--seed", "5", "--iterations", "20", "-q", "-o",
                    tmp_path / "s.tsv"], check=True)
    wanted = pd.read_csv(tmp_path / "s.tsv", sep="\t", index_col="units", comment="#")
    read = pd.read_csv(tmp_path / "x.tsv", sep="\t", index_col=0)
    got = rarebit.select(rarebit.RFN(random_state=5, iterations=20), read, "2:4", restarts=2,
                         folds=3).table
    shared = [name for name in wanted.columns if name in got.columns]
    assert len(shared) > 5
    np.testing.assert_allclose(got[shared], wanted[shared], rtol=1e-5)


def test_consensus(table):
    estimator = rarebit.RFN(3, random_state=1, iterations=100, centre="none")
    found = rarebit.consensus(estimator, table, restarts=4)
    assert not hasattr(estimator, "model_")
    assert found.stability_.shape == (found.components_.shape[0],) and found.stability_[0] > 0.9
    assert found.transform(table).shape == (90, len(found.stability_))
    assert found.model_.feature_names == list(table.columns)
    assert "stability" in rarebit.modules(found, table)
    with pytest.raises(ValueError, match="stability"):
        rarebit.consensus(estimator, table, restarts=2, stability=2)


def test_methods(table):
    labels = ["a" if size > 4 else "b" for size in table.iloc[:89, :8].sum(axis=1)] + [None]
    found = rarebit.methods(table, labels, methods=["pca", "rfn", "nmf"], n_components=3, folds=3,
                            seeds=2, random_state=4)
    assert list(found.index) == ["pca", "rfn"]
    assert (found["entry_error"] < 1).all() and found.loc["pca", "auc"] > 0.9
    assert "To mark the classes take" in found.attrs["summary"]
    assert 'Left out: nmf: ' in found.attrs["summary"] and 'centre="none"' in found.attrs["summary"]
    assert "auc" not in rarebit.methods(table, methods="pca", folds=2, seeds=1)
    with pytest.raises(ValueError, match="methods has 'rfm', which is no method"):
        rarebit.methods(table, methods="rfm")
    with pytest.raises(ValueError, match="a class for each of the 90 samples"):
        rarebit.methods(table, labels[:3])


def test_parts_of_several_machines(table, tmp_path):
    def ask(**options):
        return rarebit.select(rarebit.RFN(random_state=1, iterations=15), table, [2, 3], restarts=2,
                              folds=2, **options)

    files = [tmp_path / "part1", tmp_path / "part2"]
    for k, path in enumerate(files):
        assert ask(part=f"{k + 1}/2", checkpoint=path) is None
    found, count = rarebit.merge(files, tmp_path / "all")
    assert found == count > 2
    whole = ask()
    assert ask(checkpoint=tmp_path / "all").table.equals(whole.table)
    fitted = rarebit.RFN(3, random_state=1, iterations=15).fit(table)
    assert rarebit.report(fitted, table, permutations=8, part="1/2",
                          checkpoint=tmp_path / "p") is None
    with pytest.raises(ValueError, match="no parts"):
        rarebit.merge([], tmp_path / "all")
    with pytest.raises(OSError, match="none"):
        rarebit.merge([tmp_path / "none"], tmp_path / "all")
