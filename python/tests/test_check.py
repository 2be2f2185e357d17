"""rarebit.check and rarebit.simulate: what the program says and makes."""

import json

import numpy as np
import pandas as pd
import pytest
import rarebit


def test_check_says_what_the_program_says(X, program, tmp_path):
    X[3] = X[7]
    np.save(tmp_path / "X.npy", X)
    told = json.loads(program("check", tmp_path / "X.npy", "--json", "-q"))
    found = rarebit.check(X)
    kinds = [(f["name"], f["severity"]) for f in told["findings"]]
    assert list(found.findings["severity"].items()) == kinds
    assert found.findings["value"]["duplicate-samples"] == 1
    assert found.kind == told["kind"] and found.method.lower() == told["method"]
    advised = {o["option"]: o["value"] for o in told["options"]}
    assert found.advice["value"]["n_components"] == int(advised["units"])
    assert found.cost is None and "to begin with: RFN(n_components=" in str(found)


def test_what_check_advises_fits(X):
    found = rarebit.check(X, n_components=3, cost=True)
    assert found.cost["bytes"] > 1000 and found.cost["iterations"] > 0
    estimator = found.estimator(iterations=5)
    assert estimator.n_components == 3 and estimator.fit(X).n_iter_ == 5


def test_what_cannot_be_fitted():
    found = rarebit.check(np.ones((20, 3)))
    assert found.method is None and len(found.advice) == 0
    assert found.findings.iloc[0]["severity"] == "problem"
    with pytest.raises(ValueError, match="problems"):
        found.estimator()


def test_check_refuses_what_it_does_not_know(X):
    with pytest.raises(ValueError, match="depth"):
        rarebit.check(X, depth=3)


@pytest.mark.parametrize("what, options", [
    ("biclusters", {"dataset": "D3", "rest_sd": 0.5}),
    ("cells", {"samples": 60, "features": 40, "types": "0.7,0.3"})])
def test_planted(what, options, program, tmp_path):
    given = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
    program("simulate", what, *given, "--seed", 4, "-o", tmp_path / "X.npy",
            "--truth", tmp_path / "truth.json")
    truth = json.loads((tmp_path / "truth.json").read_text())["modules"]
    sizes = {f"n_{k}" if k in ("samples", "features") else k: v for k, v in options.items()}
    X, rows, columns = getattr(rarebit.simulate, what)(random_state=4, **sizes)
    assert (X == np.load(tmp_path / "X.npy")).all()
    assert rows.dtype == bool and columns.shape == (len(truth), X.shape[1])
    for row, column, module in zip(rows, columns, truth):
        assert np.flatnonzero(row).tolist() == module["samples"]
        assert np.flatnonzero(column).tolist() == module["features"]


def test_bars_are_the_sum_of_those_that_are_there():
    X, fields, states = rarebit.simulate.bars(40, size=4, noise=0, random_state=2)
    assert X.shape == (40, 16) and fields.shape == (8, 16)
    assert (X == states @ fields).all()
    again = rarebit.simulate.bars(50, size=4, noise=0, random_state=2)[0]
    assert (again[:40] == X).all()


def test_simulate_names_what_is_wrong():
    with pytest.raises(ValueError, match="D12"):
        rarebit.simulate.biclusters(dataset="D12")


def test_samples_of_a_data_frame_have_its_names(X):
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(len(X))])
    for given, named in ((frame, True), (frame.reset_index(drop=True), False)):
        said = list(rarebit.check(given).findings["sentence"])
        assert ("samples have unique names" in said) == named, said
