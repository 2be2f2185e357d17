"""Model files, and the same bits from program and package."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rarebit

quiet = pytest.mark.filterwarnings("ignore:.*:UserWarning")


@quiet
@pytest.mark.parametrize("method, made", [("rfn", rarebit.RFN), ("mca", rarebit.MCA),
                                          ("fa", rarebit.FA)])
def test_program_and_package_agree_bit_by_bit(method, made, X, program, tmp_path):
    data, model, codes = (tmp_path / name for name in ("x.npy", "m.h5", "codes.npy"))
    np.save(data, X)
    program("fit", method, data, "-k", 3, "--iterations", 30, "--seed", 7, "--centre",
            "none", "-o", model, "-q")
    program("encode", model, data, "-o", codes, "-q")
    here = made(3, iterations=30, random_state=7, centre="none").fit(X)
    there = rarebit.load(model)
    assert type(there) is made and there.n_iter_ == 30 and there.n_features_in_ == 12
    arrays = there.model_.arrays
    for name, array in here.model_.arrays.items():
        assert np.array_equal(array, arrays[name]), name
    for name, column in here.history_.items():
        assert name == "seconds" or np.array_equal(column, there.history_[name], equal_nan=True)
    assert np.array_equal(np.load(codes), here.transform(X).astype("f"))
    assert here.model_.attributes["data_checksum"] == there.model_.attributes["data_checksum"]
    # And back: what the package wrote the program reads.
    here.save(tmp_path / "n.h5")
    program("encode", tmp_path / "n.h5", data, "-o", tmp_path / "again.npy", "-q")
    assert (tmp_path / "again.npy").read_bytes() == codes.read_bytes()
    assert "the same bits" in program("rerun", tmp_path / "n.h5", data)


@quiet
def test_a_model_knows_its_file(X, program, tmp_path):
    np.savetxt(tmp_path / "x.csv", X.T, delimiter=",")
    source = rarebit.open(tmp_path / "x.csv", transpose=True, header="no")
    rarebit.RFN(2, iterations=4).fit(source).save(tmp_path / "m.h5")
    assert "the same bits" in program("rerun", tmp_path / "m.h5")


@quiet
def test_what_is_loaded_has_its_parameters(X, tmp_path):
    import pandas
    table = pandas.DataFrame(X, columns=list("abcdefghijkl"))
    fitted = rarebit.RFN(3, iterations=6, eta=0.25, log1p=True, missing="mean").fit(table)
    fitted.save(tmp_path / "m.h5")
    loaded = rarebit.load(tmp_path / "m.h5")
    assert (loaded.n_components, loaded.iterations, loaded.eta) == (3, 6, 0.25)
    assert loaded.log1p is True and loaded.missing == "mean" and loaded.psi_min is None
    assert list(loaded.feature_names_in_) == list(table.columns)
    assert np.array_equal(loaded.transform(table), fitted.transform(table))
    again = loaded.fit(table)
    assert np.array_equal(again.components_, fitted.components_)


@quiet
def test_totals_are_a_number_or_their_median(X):
    counts = np.round(np.abs(X) * 9)
    fitted = rarebit.RFN(3, iterations=6, totals="median", log1p=True).fit(counts)
    total = float(np.median(counts.sum(axis=1)))
    same = rarebit.RFN(3, iterations=6, totals=total, log1p=True).fit(counts)
    assert np.array_equal(same.components_, fitted.components_)


def test_models_come_from_fits_and_files(recwarn):
    for arguments in ((), (5,)):
        with pytest.raises(TypeError):
            rarebit.Model(*arguments)


def test_a_stack_of_the_program(X, program, tmp_path):
    np.save(tmp_path / "x.npy", X)
    program("stack", "rfn", tmp_path / "x.npy", "--units", "3,2", "--iterations", 3, "--seed", 1,
            "-o", tmp_path / "stack.h5", "-q")
    loaded = rarebit.load(tmp_path / "stack.h5")
    assert isinstance(loaded, rarebit.Stack) and loaded.n_components == [3, 2]
    again = rarebit.Stack(rarebit.RFN(iterations=3, random_state=1), [3, 2]).fit(X)
    assert np.array_equal(loaded.transform(X), again.transform(X))


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "m.h5").write_text("no model")
    with pytest.raises(ValueError, match="m.h5"):
        rarebit.load(tmp_path / "m.h5")
    with pytest.raises(OSError, match="there is no such"):
        rarebit.load(tmp_path / "none.h5")
    with pytest.raises(ValueError, match="not a model"):
        rarebit.Model.from_bytes(b"no model")


@quiet
def test_a_model_has_arrays_and_attributes(X):
    model = rarebit.LinCA(3, iterations=4).fit(X).model_
    assert model.method == "linca" and model.n_components == 3 and model.dtype == np.float32
    assert model.array("loadings").shape == (12, 3) and model.array("none such") is None
    assert model.attributes["units"] == "3"
    assert {"loadings", "sigma", "prior"} <= set(model.arrays)
    assert len(model.history["temperature"]) == 4


@quiet
def test_checkpoints(X, tmp_path):
    whole = rarebit.RFN(3, iterations=30).fit(X)
    options = {"checkpoint": tmp_path / "c", "checkpoint_every": "10"}
    stopped = rarebit.RFN(3, iterations=30, callback=lambda progress: progress.iteration == 17,
                          **options).fit(X)
    assert stopped.n_iter_ == 17 and (tmp_path / "c").exists()
    options["checkpoint_every"] = 10  # a number is as good as its text
    on = rarebit.RFN(3, iterations=30, **options).fit(X)
    assert np.array_equal(on.components_, whole.components_)


def test_a_device_computes_the_same_model(X):
    try:
        found = rarebit.devices()
    except NotImplementedError as error:
        pytest.skip(str(error))
    if not found:
        pytest.skip("no device of OpenCL; install pocl-opencl-icd")
    assert found[0]["device"] == "cl:0" and found[0]["memory"] > 0
    data = np.asarray(X, np.float32)
    settings = {"random_state": 1, "iterations": 20}
    here = rarebit.RFN(4, **settings).fit(data)
    there = rarebit.RFN(4, device="cl:0", **settings).fit(data)
    assert there.model_.attributes["device"].startswith("cl:0 ") and "device" not in here.model_.attributes
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-4)
    np.testing.assert_allclose(there.transform(data), here.transform(data), atol=1e-4)
    for wrong, error in [("gpu", ValueError), ("cl:99", NotImplementedError)]:
        with pytest.raises(error, match=wrong):
            rarebit.RFN(4, device=wrong).fit(data)
    with pytest.raises(NotImplementedError, match='noise="diagonal"'):
        rarebit.RFN(4, device="cl", noise="full").fit(data)
    with pytest.raises(TypeError, match="device"):
        rarebit.PCA(2, device="cl")
    together = rarebit.consensus(rarebit.RFN(4, device="cl", **settings), data, restarts=4)
    assert together.model_.attributes["device"].startswith("cl:")
    stack = rarebit.Stack(rarebit.RFN(device="cl", **settings), [4, 2]).fit(data)
    assert stack.transform(data).shape == (len(data), 2)


@quiet
def test_a_loaded_model_of_some_features_finds_them_by_name(X, tmp_path):
    table = pd.DataFrame(X, columns=[f"g{k}" for k in range(12)])
    fitted = rarebit.PCA(2, top_variance=8).fit(table)
    fitted.save(tmp_path / "m.h5")
    loaded = rarebit.load(tmp_path / "m.h5")
    assert np.array_equal(loaded.transform(table[table.columns[::-1]]), fitted.transform(table))


@quiet
def test_no_samples_are_refused(X):
    fitted = rarebit.PCA(2).fit(X)
    for draw in (fitted.sample, lambda count: fitted.model_.sample(count, {})):
        with pytest.raises(ValueError, match="^n_samples is 0, but must be at least 1$"):
            draw(0)
