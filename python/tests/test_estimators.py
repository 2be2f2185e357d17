"""Estimators behave as scikit-learn's do."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import ClusterMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import rarebit
from rarebit._methods import CLASSES

quiet = pytest.mark.filterwarnings("ignore:.*:UserWarning")
each = pytest.mark.parametrize("made", CLASSES.values(), ids=list(CLASSES))


def test_every_method_of_the_library_has_a_class():
    assert list(CLASSES)[:4] == ["RFN", "LinCA", "NMFET", "MCA"]
    assert set(CLASSES) <= set(rarebit.__all__)
    assert len(CLASSES) >= 15


@pytest.mark.parametrize("made", [*CLASSES.values(), rarebit.NetClassifier, rarebit.NetRegressor])
@pytest.mark.filterwarnings("ignore")
def test_check_estimator_passes_whole(made):
    check_estimator(made())


@each
@quiet
def test_codes_and_samples(made, X):
    estimator = made(3, iterations=8)
    codes = estimator.fit_transform(X)
    assert codes.shape == (120, 3) and codes.dtype == np.float64
    assert estimator.transform(X.astype("f")).dtype == np.float32
    assert estimator.components_.shape == (3, 12)
    assert np.shape(estimator.noise_variance_) in ((12,), ())
    assert np.isfinite(estimator.score(X))
    assert list(estimator.get_feature_names_out())[2] == f"{made.__name__.lower()}2"
    assert len(estimator.history_["objective"]) == estimator.n_iter_ <= 8
    assert estimator.status_ in ("iterations", "converged")
    back = estimator.inverse_transform(codes)
    assert back.shape == X.shape
    if made.__name__ != "MCA":  # its codes do not say all
        np.testing.assert_allclose(back, estimator.reconstruct(X), rtol=1e-4, atol=1e-5)


@each
def test_signature_and_docstring_come_from_the_table(made):
    parameters = list(inspect.signature(made).parameters.values())
    assert parameters[0].name == "n_components"
    assert {p.kind for p in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}
    for option in made._options:
        assert f"\n{option.parameter} : " in made.__doc__
        assert "--" not in option.sentence
    assert "\nn_jobs : " in made.__doc__
    assert made.__module__ == "rarebit"


@quiet
def test_options_are_the_library_s_by_default_so_that_presets_work(X):
    rfn = rarebit.RFN(3, preset="paper", iterations=5).fit(X)
    assert rfn.model_.attributes["eta"] == "0.1"
    assert rarebit.RFN(3, preset="paper", iterations=5, eta=0.4).fit(X).model_.attributes[
        "eta"] == "0.4"
    assert rarebit.RFN(3, iterations=5).fit(X).model_.attributes["seed"] == "1"


def test_errors_name_parameters(X):
    with pytest.raises(ValueError, match="^n_components is '0', but must be a whole number"):
        rarebit.RFN(0).fit(X)
    with pytest.raises(ValueError, match="^eta_every does nothing without eta_sched"):
        rarebit.RFN(3, eta_every=3).fit(X)
    with pytest.raises(ValueError, match="^n_components is 13, but 120 samples of 12 features"):
        rarebit.PCA(13).fit(X)
    with pytest.raises(ValueError, match='nothing without eta_schedule="step"; leave it out'):
        rarebit.RFN(3, eta_factor=0.3).fit(X)
    with pytest.raises(ValueError, match="^n_jobs is 5000"):
        rarebit.RFN(3, n_jobs=5000).fit(X)
    with pytest.raises(ValueError, match="^n_jobs is 'two', but must be a whole number, -1 to 1024$"):
        rarebit.RFN(3, n_jobs="two").fit(X)
    with pytest.raises(TypeError, match="units"):
        rarebit.RFN(units=3)
    with pytest.raises(ValueError, match="is missing"):
        rarebit.RFN(3).fit(np.full((5, 4), np.nan))
    with pytest.raises(OSError, match="no such file"):
        rarebit.RFN(3).fit("none.tsv")


def test_missing_values_where_asked_for(X):
    X[3, 4] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        rfn = rarebit.RFN(3, missing="model", iterations=5).fit(X)
    assert np.isfinite(rfn.transform(X)).all()


def test_samples_that_a_fit_leaves_out(X):
    twice = np.concatenate([X, X[:3], np.ones((1, X.shape[1]))])
    rfn = rarebit.RFN(3, iterations=5, drop_samples="duplicates,constant").fit(twice)
    assert np.array_equal(rfn.transform(twice)[:len(X)], rarebit.RFN(3, iterations=5).fit(X).transform(X))
    assert len(rfn.transform(twice)) == len(twice)


def test_arrays_as_options(X):
    fits = [rarebit.RFN(3, iterations=5, sparse_loadings=0, prior_mean=mean).fit(X).components_
            for mean in (-0.25, [-0.25, -0.25, -0.25], np.array([-0.25, -0.5, -0.25]))]
    assert np.array_equal(fits[0], fits[1]) and not np.array_equal(fits[0], fits[2])


@quiet
def test_a_file_of_values_as_an_option(X, tmp_path):
    np.save(tmp_path / "mean.npy", np.array([-0.25, -0.5, -0.25]))
    by_file, by_array = (rarebit.RFN(3, iterations=5, sparse_loadings=0, prior_mean=mean).fit(X)
                         for mean in (str(tmp_path / "mean.npy"), [-0.25, -0.5, -0.25]))
    assert np.array_equal(by_file.components_, by_array.components_)
    assert by_file.model_.attributes["prior-mean"] == str(tmp_path / "mean.npy")


def test_numbers_in_a_text(X):
    with pytest.raises(ValueError, match=r"^prior_mean is '-1,-1,0', but a text is the name of a "
                                         r"file: give numbers as a list, \[-1, -1, 0\]$"):
        rarebit.RFN(3, prior_mean="-1,-1,0").fit(X)


def test_float32_is_said_once():
    code = ("import warnings, numpy as np, rarebit\n"
            "X = np.random.default_rng(0).random((40, 5))\n"
            "def said(X, **options):\n"
            "    with warnings.catch_warnings(record=True) as found:\n"
            "        warnings.simplefilter('always')\n"
            "        rarebit.PCA(2, **options).fit(X)\n"
            "    return [str(w.message) for w in found]\n"
            "for precision in ('float32', 'float64'):\n"
            "    assert not said(X, precision=precision)\n"
            "assert not said(X.astype('f')) and not said((9 * X).astype(int))\n"
            "first = said(X)\n"
            "assert len(first) == 1 and 'precision=\"float64\"' in first[0], first\n"
            "assert not said(X)\n")
    subprocess.run([sys.executable, "-B", "-c", code], check=True, timeout=60)
    assert "float32 unless" in rarebit.PCA.fit.__doc__


@quiet
def test_a_list_where_a_text_has_numbers(X):
    data = np.abs(X)
    by_list, by_text = (rarebit.MCA(3, iterations=5, values=values).fit(data)
                        for values in ([0, 1, 2], "0,1,2"))
    assert np.array_equal(by_list.components_, by_text.components_)


@quiet
def test_random_state(X):
    def fit(state):
        return rarebit.RFN(3, iterations=5, random_state=state).fit(X).components_

    assert np.array_equal(fit(None), fit(1)) and not np.array_equal(fit(1), fit(2))
    assert np.array_equal(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
    assert np.array_equal(fit(np.random.default_rng(3)), fit(np.random.default_rng(3)))


@each
@quiet
def test_pickles_copies_and_clones(made, X):
    fitted = made(3, iterations=5).fit(X)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(other.transform(X), fitted.transform(X))
        assert np.array_equal(other.components_, fitted.components_)
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params() and not hasattr(fresh, "model_")
    with pytest.raises(Exception, match="not fitted"):
        fresh.transform(X)
    assert not hasattr(fresh, "components_")


@quiet
def test_pipeline_grid_search_and_data_frames(X):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"gene{k}" for k in range(12)])
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"),
                             rarebit.RFN(iterations=5).set_output(transform="pandas"))
    search = GridSearchCV(pipeline, {"rfn__n_components": [2, 3]}, cv=2, n_jobs=2)
    search.fit(table)
    codes = search.best_estimator_.transform(table)
    assert list(codes.columns)[:2] == ["rfn0", "rfn1"]
    rfn = search.best_estimator_[-1]
    assert list(rfn.feature_names_in_) == list(table.columns)
    assert rfn.model_.feature_names == list(table.columns)
    with pytest.raises(ValueError, match="feature names"):
        rfn.transform(table[table.columns[::-1]])


def test_selected_features_lie_among_all(X):
    rfn = rarebit.RFN(2, top_variance=5, iterations=5).fit(X)
    unused = np.setdiff1d(np.arange(12), rfn.model_.features)
    assert rfn.components_.shape == (2, 12) and not rfn.components_[:, unused].any()
    assert np.isnan(rfn.noise_variance_[unused]).all()
    assert not rfn.inverse_transform(rfn.transform(X))[:, unused].any()


def test_score_is_the_mean_log_likelihood(X):
    pca = rarebit.PCA(2, precision="float64").fit(X)
    from sklearn.decomposition import PCA
    # The noise has maximum likelihood here, and is unbiased there.
    assert pca.score(X) == pytest.approx(PCA(2).fit(X).score(X), abs=0.01)
    for estimator in rarebit.RFN(2), rarebit.LinCA(2), rarebit.SSC(2):
        estimator.set_params(iterations=5).fit(X)
        twice = estimator.score(np.concatenate([X, X]))
        assert estimator.score(X) == pytest.approx(twice, rel=1e-5)


def test_a_fit_goes_on_from_another(X):
    first = rarebit.RFN(3, iterations=20).fit(X)
    on = rarebit.RFN(3, iterations=1).fit(X, start=first)
    assert on.history_["objective"][0] > first.history_["objective"][0]
    with pytest.raises(ValueError, match="linca"):
        rarebit.RFN(3).fit(X, start=rarebit.LinCA(3, iterations=2).fit(X))


def test_covariates_are_taken_out(X):
    batch = np.where(np.arange(120) % 2, "a", "b")
    shifted = X + 5 * (batch == "a")[:, None]
    pca = rarebit.PCA(3, regress="batch").fit(shifted, covariates={"batch": batch})
    codes = pca.transform(shifted, covariates={"batch": batch})
    assert abs(codes[batch == "a"].mean(0) - codes[batch == "b"].mean(0)).max() < 1e-4
    with pytest.raises(ValueError, match="batch"):
        pca.transform(shifted)


@pytest.fixture
def batches(X):
    """A data frame of two batches, one of them shifted, with their names among its columns."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"gene{k}" for k in range(12)])
    table.loc[::2] += 5
    table["batch"] = np.where(np.arange(120) % 2, "a", "b")
    return table


def apart(codes):
    return abs(codes[::2].mean(0) - codes[1::2].mean(0)).max()


@quiet
def test_covariates_in_fit_transform_and_pipelines(batches):
    genes, covariates = batches.drop(columns="batch"), batches[["batch"]]
    pca = rarebit.PCA(3, regress="batch")
    codes = pca.fit_transform(genes, covariates=covariates)
    assert apart(codes) < 1e-4
    assert np.array_equal(codes, pca.transform(genes, covariates=covariates))
    pipeline = make_pipeline(rarebit.PCA(3, regress="batch"), rarebit.RFN(2, iterations=5))
    assert apart(pipeline.fit_transform(genes, pca__covariates=covariates)) < 1
    units = rarebit.KMeans(3, regress="batch").fit_predict(genes, covariates=covariates)
    assert units.shape == (120,)


@quiet
def test_covariates_that_are_columns_of_a_data_frame(batches):
    genes, covariates = batches.drop(columns="batch"), batches[["batch"]]
    expected = rarebit.PCA(3, regress="batch").fit_transform(genes, covariates=covariates)
    pca = rarebit.PCA(3, regress="batch:groups").fit(batches)
    assert np.array_equal(pca.transform(batches), expected)
    assert pca.n_features_in_ == 12 and list(pca.feature_names_in_) == list(genes.columns)
    assert np.isfinite(pca.score(batches))
    pipeline = make_pipeline(rarebit.PCA(regress="batch"), rarebit.RFN(2, iterations=5))
    search = GridSearchCV(pipeline, {"pca__n_components": [2, 3]}, cv=2, error_score="raise")
    search.fit(batches)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert apart(search.best_estimator_[:1].transform(batches)) < 1e-4


def test_a_fit_that_fails_changes_nothing(X):
    import pandas
    table = pandas.DataFrame(X, columns=list("abcdefghijkl"))
    pca = rarebit.PCA(3).fit(table)
    codes = pca.transform(table)
    for other in (X[:, :2], "none.tsv", np.full((9, 5), np.nan)):
        with pytest.raises((ValueError, OSError)):
            pca.fit(other)
        assert pca.n_features_in_ == 12 and list(pca.feature_names_in_) == list(table.columns)
        assert np.array_equal(pca.transform(table), codes)
    new = rarebit.PCA(3)
    with pytest.raises(ValueError, match="n_components is 3"):
        new.fit(X[:, :2])
    assert not hasattr(new, "n_features_in_")


def test_whole_numbers_beyond_64_bits(X):
    big = 2**64 + 2
    with pytest.raises(ValueError, match=f"^n_components is '{big}', but must be a whole number"):
        rarebit.RFN(big).fit(X)
    with pytest.raises(ValueError, match=f"^random_state is '{big}'"):
        rarebit.RFN(2, random_state=big).fit(X)
    with pytest.raises(ValueError, match=f"^n_jobs is {2**32 + 1}"):
        rarebit.RFN(2, n_jobs=2**32 + 1).fit(X)


def test_checkpoint_every_is_a_number_or_a_text(X, tmp_path):
    with pytest.raises(ValueError, match="^checkpoint_every is '2.5', but must be a number of it"):
        rarebit.RFN(2, checkpoint=tmp_path / "c", checkpoint_every=2.5).fit(X)


@pytest.mark.parametrize("wrong, right", [("max_iter", "iterations"), ("seed", "random_state"),
                                          ("units", "n_components")])
def test_names_of_parameters_elsewhere(wrong, right):
    with pytest.raises(TypeError, match=f"^RFN has no parameter '{wrong}': it is called {right}$"):
        rarebit.RFN(**{wrong: 3})
    with pytest.raises(TypeError, match=r"no parameter 'colour'; help\(rarebit.RFN\) has all"):
        rarebit.RFN(colour=3)


def test_start_that_is_none(X):
    with pytest.raises(TypeError, match="a fitted estimator or a rarebit.Model is needed"):
        rarebit.RFN(2).fit(X, start=3)
    with pytest.raises(ValueError, match="not fitted"):
        rarebit.RFN(2).fit(X, start=rarebit.RFN(2))


def test_words_in_messages_are_quoted(X):
    holes = X.copy()
    holes[3, 1] = np.nan
    for method in (rarebit.NMF, rarebit.PCA):
        with pytest.raises(ValueError, match='fill it with missing="mean" or missing="median"'):
            method(2).fit(holes)


@quiet
def test_clusters(X):
    kmeans = rarebit.KMeans(3, random_state=1).fit(X)
    unit = kmeans.predict(X)
    assert np.array_equal(np.eye(3)[unit], kmeans.transform(X))
    assert np.array_equal(kmeans.labels_, unit)
    assert np.array_equal(kmeans.fit(X[:20]).labels_, kmeans.predict(X[:20]))
    with pytest.raises(ValueError):  # what was found before stays
        kmeans.fit(X[:2])
    assert np.array_equal(kmeans.labels_, kmeans.predict(X[:20]))
    kmeans.fit(X)
    assert "labels_ : array" in rarebit.KMeans.__doc__ and "labels_" not in rarebit.PCA.__doc__
    for k in range(3):
        np.testing.assert_allclose(kmeans.cluster_centers_[k], X[unit == k].mean(0), rtol=1e-4)


@quiet
def test_kmeans_is_a_clusterer(X):
    assert isinstance(rarebit.KMeans(), ClusterMixin)
    for options in ({}, {"iterations": 1}):
        kmeans = rarebit.KMeans(3, random_state=1, **options)
        assert np.array_equal(kmeans.fit_predict(X), kmeans.labels_)
        squares = ((X - kmeans.cluster_centers_[kmeans.labels_]) ** 2).sum()
        assert kmeans.inertia_ == pytest.approx(squares, rel=1e-5)
    assert not hasattr(rarebit.PCA(2).fit(X), "inertia_")


def test_variances_of_principal_components(X):
    from sklearn.decomposition import PCA
    theirs = PCA(3).fit(X)
    for whiten in (False, True):
        ours = rarebit.PCA(3, whiten=whiten, precision="float64").fit(X)
        np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
        np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_ * 119 / 120)
        np.testing.assert_allclose(ours.mean_, theirs.mean_)


def test_sample_draws_from_the_distribution():
    X = np.random.default_rng(0).normal(size=(400, 6)) @ np.diag([3, 2, 1, 1, 1, 1]) + 5
    pca = rarebit.PCA(n_components=2).fit(X)
    drawn = pca.sample(20000, random_state=1)
    assert drawn.shape == (20000, 6)
    np.testing.assert_allclose(drawn.mean(0), X.mean(0), atol=0.1)
    np.testing.assert_allclose(drawn.std(0), X.std(0), rtol=0.1)
    assert np.array_equal(pca.sample(3, random_state=1), pca.sample(3, random_state=1))
    assert not np.array_equal(pca.sample(3, random_state=1), pca.sample(3, random_state=2))
    np.testing.assert_allclose(pca.sample(400, noise=0, X=X), pca.reconstruct(X), atol=1e-4)
    with pytest.raises(ValueError, match="drawn without a chain; leave it"):
        pca.sample(2, steps=3)


@quiet
def test_batches_one_after_the_other():
    X, _, _ = rarebit.simulate.biclusters(600, 30, dataset="D1", random_state=1)
    X, unseen = X[:400].astype("f"), X[400:].astype("f")
    rfn = rarebit.RFN(6, random_state=1, prior_mean=0, sparse_loadings=0, centre="mean")
    scores = []
    for _ in range(12):
        for first in range(0, 400, 100):
            rfn.partial_fit(X[first:first + 100])
        scores.append(rfn.score(unseen))
    whole = rarebit.RFN(6, random_state=1, prior_mean=0, sparse_loadings=0, centre="mean").fit(X)
    assert scores[0] < scores[-1] and abs(scores[-1] - whole.score(unseen)) < 0.05 * abs(scores[-1])
    assert rfn.n_iter_ == 48
    once = rarebit.RFN(6, random_state=1, iterations=1).fit(X)
    again = rarebit.RFN(6, random_state=1).partial_fit(X)
    assert np.array_equal(once.components_, again.components_)
    with pytest.raises(ValueError, match="29 features"):
        rfn.partial_fit(X[:, :29])
    with pytest.raises(TypeError, match="^RFN takes no sample_weight"):
        rfn.partial_fit(X, sample_weight=np.ones(len(X)))
    assert [name for name, made in CLASSES.items() if hasattr(made, "partial_fit")] == \
        ["RFN", "DAE", "RBM"]


def test_weights_of_samples_are_refused(X):
    for fit in (rarebit.RFN(2).fit, rarebit.PCA(2).fit_transform, rarebit.KMeans(2).fit_predict,
                rarebit.Stack(rarebit.PCA(), [2]).fit):
        with pytest.raises(TypeError, match="no sample_weight"):
            fit(X, sample_weight=np.ones(len(X)))
    with pytest.raises(TypeError, match="no sample_weight"):
        rarebit.NetClassifier().fit(X, X[:, 0] > 1, sample_weight=np.ones(len(X)))
    with pytest.raises(TypeError, match="no argument 'colour'"):
        rarebit.RFN(2).fit(X, colour=1)
    assert rarebit.PCA(2).fit(X, sample_weight=None).n_iter_ >= 0
