"""rarebit.compare, replicate and rerun: what the program says."""

import json

import numpy as np
import pytest
import rarebit


@pytest.fixture
def cohorts():
    X, _, _ = rarebit.simulate.biclusters(120, 60, dataset="D1", random_state=3)
    return X[:60].astype(np.float32), X[60:].astype(np.float32)


def fit(X, seed=1):
    return rarebit.RFN(5, random_state=seed, iterations=40).fit(X)


def same(table, told):
    for row in told:
        for key, value in row.items():
            if key != "unit" and isinstance(value, (int, float)):
                assert table[key][row["unit"]] == pytest.approx(value, rel=1e-6), key


def test_two_models(cohorts, program, tmp_path):
    one, other = (fit(X) for X in cohorts)
    one.save(tmp_path / "a.h5")
    other.save(tmp_path / "b.h5")
    found = rarebit.compare(one, other.model_, permutations=50, random_state=2)
    told = json.loads(program("compare", tmp_path / "a.h5", tmp_path / "b.h5", "--permutations", 50,
                              "--seed", 2, "--json"))
    same(found, told["units"])
    assert len(found) == 5 and found.attrs["n_features"] == 60 and not found.attrs["same_data"]
    assert rarebit.compare(one, fit(cohorts[0], 2), permutations=9).attrs["same_data"]


def test_two_cohorts(cohorts, program, tmp_path):
    fitted = fit(cohorts[0])
    fitted.save(tmp_path / "a.h5")
    for name, X in zip("XY", cohorts):
        np.save(tmp_path / f"{name}.npy", X)
    found = rarebit.replicate(fitted, *cohorts, permutations=20)
    told = json.loads(program("compare", tmp_path / "a.h5", tmp_path / "X.npy", tmp_path / "Y.npy",
                              "--permutations", 20, "--json"))
    same(found, told["units"])
    assert 0 <= found.attrs["found"] <= 5
    with pytest.raises(ValueError, match="features"):
        rarebit.replicate(fitted, cohorts[0], cohorts[1][:, :50])


def test_a_fit_comes_out_again(cohorts):
    X, other = cohorts
    fitted = fit(X)
    found = rarebit.rerun(fitted, X)
    assert found["same"].all() and set(found["of"]) == {"arrays", "history"}
    assert "loadings" in found.index and (found["difference"] == 0).all()
    with pytest.raises(ValueError, match="checksum|data"):
        rarebit.rerun(fitted, other)
    further = rarebit.RFN(5, random_state=1, iterations=5).fit(X, start=fitted)
    assert rarebit.rerun(further, X, start=fitted)["same"].all()
    with pytest.raises(ValueError, match="start"):
        rarebit.rerun(further, X)
