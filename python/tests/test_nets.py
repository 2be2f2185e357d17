"""Stacks, nets and their layers: the bits of the program, and what scikit-learn expects."""

import numpy as np
import pandas as pd
import pytest
import rarebit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600].astype(np.float32), y[:600]


def net(**parameters):
    return rarebit.NetClassifier(layers="24", epochs=8, random_state=1, **parameters)


def test_a_stack_is_that_of_the_program(digits, program, tmp_path):
    X, _ = digits
    np.save(tmp_path / "x.npy", X)
    program("stack", "rfn", tmp_path / "x.npy", "--units", "16,6", "--iterations", "12,8", "--seed", 3,
            "-o", tmp_path / "stack.h5", "-q")
    stack = rarebit.Stack(rarebit.RFN(iterations=[12, 8], random_state=3), [16, 6]).fit(X)
    there = rarebit.Model.load(tmp_path / "stack.h5")
    for name, array in there.arrays.items():
        if name.endswith("history"):  # has seconds
            continue
        assert np.array_equal(stack.model_.array(name), array), name
    codes = stack.transform(X)
    assert codes.shape == (600, 6) and stack.components_.shape == (6, 64)
    below, above = stack.layers_
    assert (below.n_components, above.n_components) == (16, 6)
    lent = rarebit._sources.ArraySource
    assert (above.encode(lent(below.encode(lent(X)))) == codes).all()
    assert stack.reconstruct(X).shape == X.shape
    assert len(stack.history_["objective"]) == stack.n_iter_ == 8
    again = rarebit.rerun(stack, X)
    assert again["same"].all() and {"layer1.loadings", "layer2.noise"} <= set(again.index)


def test_a_stack_is_an_estimator(digits):
    X, _ = digits
    stack = rarebit.Stack(rarebit.RFN(iterations=3, random_state=1), [6, 3])
    again = clone(stack).set_params(estimator__iterations=2, n_components=(5, 2))
    assert again.fit_transform(X).shape == (600, 2) and stack.estimator.iterations == 3
    assert again.model_.method == "stack"
    with pytest.raises(AttributeError, match="colour"):
        stack.colour
    with pytest.raises(ValueError, match="start"):
        stack.fit(X, start=again)


def test_a_net_is_that_of_the_program(digits, program, tmp_path):
    X, y = digits
    for name, array in (("x", X[:400]), ("y", y[:400]), ("v", X[400:]), ("w", y[400:])):
        np.save(tmp_path / f"{name}.npy", array)
    program("finetune", "none", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "--valid",
            tmp_path / "v.npy", "--valid-labels", tmp_path / "w.npy", "--layers", 24, "--epochs", 8,
            "--seed", 1, "-o", tmp_path / "net.h5", "-q")
    here = net().fit(X[:400], y[:400], valid=(X[400:], y[400:]))
    there = rarebit.load(tmp_path / "net.h5")
    for name, array in there.model_.arrays.items():
        assert np.array_equal(here.model_.array(name), array), name
    assert isinstance(there, rarebit.NetClassifier)
    assert (there.predict(X) == here.predict(X).astype(str)).all()


def test_what_a_net_says(digits):
    X, y = digits
    fitted = net().fit(X[:400], y[:400])
    chances, said = fitted.predict_proba(X[400:]), fitted.predict(X[400:])
    assert chances.shape == (200, 10) and chances.sum(axis=1) == pytest.approx(np.ones(200))
    assert (fitted.classes_[chances.argmax(axis=1)] == said).all() and said.dtype == y.dtype
    right = (said == y[400:]).mean()
    assert fitted.score(X[400:], y[400:]) == pytest.approx(right) and right > 0.5
    assert len(fitted.history_["train_error"]) == 8
    assert fitted.history_["train_error"][-1] < fitted.history_["train_error"][0]
    scores = fitted.scores(X[400:], y[400:])
    assert scores["low"] < 1 - right < scores["high"]
    assert scores["log_loss"] == pytest.approx(log_loss(y[400:], chances.astype(float)), rel=1e-4)
    some = np.where(np.arange(400) < 300, y[:400], np.nan)
    left_out = net().fit(X[:400], some).predict(X)
    assert (left_out == net().fit(X[:400], some.tolist()[:300] + [None] * 100).predict(X)).all()
    words = net().fit(X[:400], np.array(list("abcdefghij"))[y[:400]])
    assert set(words.predict(X)) <= set("abcdefghij")


def test_a_net_begins_with_layers(digits, tmp_path):
    X, y = digits
    rfn = rarebit.RFN(20, iterations=15, random_state=1).fit(X)
    begun = rarebit.NetClassifier(epochs=1, rate=1e-9, random_state=1).fit(X, y, start=rfn)
    rarebit.export(rfn, tmp_path / "rfn.npz", filter="plain")
    rarebit.export(begun, tmp_path / "net.npz")
    layers = [np.load(tmp_path / f"{name}.npz")["weights1"] for name in ("rfn", "net")]
    assert layers[1] == pytest.approx(layers[0], abs=1e-6) and layers[0].shape == (20, 64)
    further = rarebit.NetClassifier(epochs=5, random_state=1).fit(X, y, start=begun)
    assert further.score(X, y) > 0.5 > begun.score(X, y)


@pytest.mark.filterwarnings("ignore")
def test_a_net_learns_from_batches(digits):
    X, y = digits
    batches = [slice(first, first + 100) for first in range(0, 600, 100)]
    some = rarebit.NetClassifier(layers="24", batch_size=20, random_state=1)
    with pytest.raises(ValueError, match="classes must be given"):
        some.partial_fit(X[:100], y[:100])
    for _ in range(4):
        for batch in batches:
            some.partial_fit(X[batch], y[batch], classes=range(10))
    assert some.n_iter_ == 24 and some.score(X, y) > 0.9
    once = rarebit.NetClassifier(layers="24", epochs=1, random_state=1).fit(X, y)
    again = rarebit.NetClassifier(layers="24", random_state=1).partial_fit(X, y, classes=range(10))
    assert (again.predict_proba(X) == once.predict_proba(X)).all()
    once.partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="63 features"):
        once.partial_fit(X[:, :63], y)
    with pytest.raises(ValueError, match="class 11"):
        once.partial_fit(X, np.full(600, 11))
    with pytest.raises(ValueError, match="at the first call"):
        once.partial_fit(X, y, classes=range(9))
    with pytest.raises(ValueError, match="predicts one class a sample"):
        once.partial_fit(X, np.stack([y > 4, y > 5], axis=1))
    with pytest.raises(ValueError, match="keeps no checkpoint"):
        rarebit.NetClassifier(checkpoint="c.h5").partial_fit(X, y, classes=range(10))
    assert once.set_params(patience=3).partial_fit(X, y).n_iter_ == 3
    with pytest.raises(ValueError, match="infinite"):
        once.set_params(patience=None).fit(np.where(X == X.max(), np.inf, X), y > 4)
    assert list(once.classes_) == list(range(10)) and set(once.predict(X)) <= set(range(10))
    with pytest.raises(ValueError, match="set rate between calls"):
        once.set_params(schedule="cosine").partial_fit(X, y)
    both = np.stack([y > 4, y % 2 == 0], axis=1).astype(int)
    several = net()
    for _ in range(8):
        several.partial_fit(X, both)
    assert (several.predict(X) == both).mean() > 0.8
    values = rarebit.NetRegressor(layers="16", batch_size=20, rate=0.01, random_state=1)
    for _ in range(20):
        values.partial_fit(X, y / 10)
    assert values.predict(X).shape == (600,) and values.score(X, y / 10) > 0.5
    with pytest.raises(ValueError, match="predicts 1 values a sample"):
        values.partial_fit(X, both)


def test_classes_that_do_not_exclude_each_other(digits):
    X, y = digits
    both = np.stack([y > 4, y % 2 == 0], axis=1).astype(int)
    fitted = net().fit(X, both)
    assert fitted.predict(X).shape == (600, 2) and (fitted.predict(X) == both).mean() > 0.8


def test_values(digits):
    X, y = digits
    fitted = rarebit.NetRegressor(layers="16", epochs=10, rate=1e-3, random_state=1).fit(X, y / 10)
    said = fitted.predict(X)
    assert said.shape == (600,)
    assert fitted.score(X, y / 10) == pytest.approx(r2_score(y / 10, said), abs=1e-4)
    layers = [rarebit.NetRegressor(layers=as_, epochs=1, random_state=1).fit(X, y).predict(X)
              for as_ in (8, "8", [8])]
    assert (layers[0] == layers[1]).all() and (layers[0] == layers[2]).all()
    two = rarebit.NetRegressor(epochs=2, random_state=1).fit(X, np.stack([y, -y], axis=1) / 10)
    assert two.predict(X).shape == (600, 2)


def test_in_pipelines_and_searches(digits):
    X, y = digits
    piped = make_pipeline(StandardScaler(), net(precision="float32"))
    found = GridSearchCV(piped, {"netclassifier__rate": [1e-9, 0.05]}, cv=2).fit(X, y)
    assert found.best_params_ == {"netclassifier__rate": 0.05}


def test_layers_go_out_and_come_back(digits, tmp_path):
    X, y = digits
    fitted = net().fit(X, y)
    rarebit.export(fitted, tmp_path / "net.npz")
    arrays = dict(np.load(tmp_path / "net.npz"))
    hidden = (X - arrays["centre"]) / arrays["scale"] @ arrays["weights1"].T + arrays["bias1"]
    logits = np.maximum(hidden, 0) @ arrays["weights2"].T + arrays["bias2"]
    assert (fitted.classes_[logits.argmax(axis=1)] == fitted.predict(X)).all()
    arrays["bias2"][3] += 1000
    np.savez(tmp_path / "tuned.npz", **arrays)
    tuned = rarebit.import_net(tmp_path / "tuned.npz", like=fitted)
    assert (tuned.predict(X) == 3).all()
    rarebit.export(fitted, tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").stat().st_size > 1000
    with pytest.raises(ValueError, match="onnx"):
        rarebit.export(fitted, tmp_path / "net.txt")
    with pytest.raises(ValueError, match="one rectified layer"):
        rarebit.export(fitted, tmp_path / "net.npz", kernels="8x8x1")
    with pytest.raises(ValueError, match="give both"):
        rarebit.export(fitted, tmp_path / "net.npz", whitening="zca.npz")


def test_loaded_nets_and_stacks_know_names(digits, tmp_path):
    X, y = digits
    table = pd.DataFrame(X, columns=[f"g{k}" for k in range(64)])
    table["batch"] = ["a", "b"] * 300
    parameters = {"regress": "batch", "random_state": 1}
    fitted = rarebit.NetClassifier(layers="8", epochs=2, **parameters).fit(table, y)
    stack = rarebit.Stack(rarebit.RFN(iterations=5, **parameters), [6, 3]).fit(table)
    for made in (fitted, stack):
        made.save(tmp_path / "model.h5")
        again = rarebit.load(tmp_path / "model.h5")
        assert list(again.feature_names_in_) == list(made.feature_names_in_)
        assert (again.transform(table) == made.transform(table)).all()
        with pytest.raises(ValueError, match="same order"):
            again.transform(table[table.columns[::-1]])
    rfn = rarebit.RFN(8, iterations=5, random_state=1).fit(X)
    net().set_params(layers=None).fit(X, y, start=rfn).save(tmp_path / "model.h5")
    begun = rarebit.load(tmp_path / "model.h5")
    assert begun.fit(X, y, start=rfn).epochs == 8 and begun.layers is None
    plain = net().fit(table.drop(columns="batch"), y)
    rarebit.export(plain, tmp_path / "net.npz")
    for like in (plain, plain.model_):
        tuned = rarebit.import_net(tmp_path / "net.npz", like=like)
        assert tuned.layers == "24" and (tuned.feature_names_in_ == plain.feature_names_in_).all()


@pytest.mark.parametrize("labels", [lambda y: y, lambda y: y > 4, lambda y: y.astype(float)])
def test_labels_match_classes_of_files_by_text(digits, labels, tmp_path):
    X, y = digits[0], labels(digits[1])
    fitted = net().fit(X, y)
    fitted.save(tmp_path / "net.h5")
    rarebit.export(fitted, tmp_path / "net.npz")
    loaded = rarebit.load(tmp_path / "net.h5")
    for again in (loaded, rarebit.import_net(tmp_path / "net.npz", like=loaded)):
        assert (again.predict(X) == fitted.predict(X).astype(str)).all()
        assert again.score(X, y) == again.score(X, y.astype(str)) == fitted.score(X, y)
        assert again.partial_fit(X, y, classes=np.unique(y)).score(X, y) > 0.5
        with pytest.raises(ValueError, match="class 11, which"):
            again.score(X, np.full(600, 11))
        with pytest.raises(ValueError, match="at the first call"):
            again.partial_fit(X, y, classes=[7, 11])
    if y.dtype != bool:
        some = np.where(np.arange(600) < 500, y, np.nan)
        assert loaded.score(X, some) == loaded.score(X[:500], y[:500].astype(int))


def test_kernels_are_those_of_the_program(digits, program, tmp_path):
    rfn = rarebit.RFN(20, iterations=15, random_state=1, estep="newton").fit(digits[0])
    rfn.save(tmp_path / "rfn.h5")
    program("export", tmp_path / "rfn.h5", "--conv", "8x8x1", "-o", tmp_path / "theirs.npz", "-q")
    rarebit.export(rfn, tmp_path / "ours.npz", kernels="8x8x1")
    assert (tmp_path / "ours.npz").read_bytes() == (tmp_path / "theirs.npz").read_bytes()


def test_settings_with_the_fewest_errors_are_chosen(digits):
    X, y = digits
    valid = X[400:], y[400:]
    grid = {"rate": [1e-5, 0.01], "batch_size": [20, 50]}
    fitted = net(n_jobs=2).fit(X[:400], y[:400], valid=valid, grid=grid)
    tried = fitted.grid_
    assert list(tried.point[:2]) == ["rate=1e-05 batch-size=20", "rate=1e-05 batch-size=50"]
    best = tried[tried.chosen].iloc[0]
    assert len(tried) == 4 and tried.chosen.sum() == 1 and best.valid_error == tried.valid_error.min()
    rate, size = (part.split("=")[1] for part in best.point.split())
    alone = net(rate=float(rate), batch_size=int(size)).fit(X[:400], y[:400], valid=valid)
    assert (alone.predict_proba(X) == fitted.predict_proba(X)).all()
    with pytest.raises(ValueError, match="^grid needs valid: "):
        net().fit(X, y, grid={"rate": [0.1]})
    with pytest.raises(ValueError, match="layers"):
        net().fit(X, y, valid=valid, grid={"layers": [3, 4]})


def test_what_nets_refuse(digits):
    X, y = digits
    with pytest.raises(ValueError, match="y has 3 values, but X has 600 samples"):
        net().fit(X, y[:3])
    with pytest.raises(ValueError, match="class 11"):
        net().fit(X, y, valid=(X, np.full(600, 11)))
    for made in (net(), rarebit.NetRegressor()):
        for refused in (made.fit, made.partial_fit):
            with pytest.raises(ValueError, match="^Net.* requires y to be passed, but "):
                refused(X)
            with pytest.raises(TypeError, match="takes no sample_weight"):
                refused(X, y, sample_weight=y)
            with pytest.raises(TypeError, match=f"^{refused.__name__} of Net.* no argument 'colour'"):
                refused(X, y, colour=3)
    with pytest.raises(TypeError, match="^an estimator is needed, .*, but this is 'rfn'"):
        rarebit.Stack("rfn", [4, 2]).fit(X)
    for grid in ({"rate": 0.1}, {"rate": "0.1"}):
        with pytest.raises(ValueError, match="^rate of the grid is .*0.1.*, but must be a list"):
            net().fit(X, y, valid=(X, y), grid=grid)
    with pytest.raises(ValueError, match="0.5.*NetRegressor"):
        net().fit(X, y / 2)
    with pytest.raises(TypeError, match="no parameter 'outputs'"):
        rarebit.NetClassifier(outputs="linear")
