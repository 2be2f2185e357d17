"""rarebit.pl: what is drawn is what there is, on the axes that are given."""

import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
import rarebit
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from rarebit import pl, tl
from rarebit._draw import class_colour, classes_of

from test_scanpy import adata, planted  # noqa: F401  (a fixture)

matplotlib.use("agg")


def test_picture_of_modules(adata):
    tl.rfn(adata, 3, random_state=1, centre="none")
    ax = pl.modules(adata, labels="kind")
    shown = tl.modules(adata)
    assert len(ax.patches) == len(shown) == 3
    assert [t.get_text() for t in ax.get_yticklabels()] == [f"unit {u}" for u in shown.index]
    rows, columns = ax.images[0].get_array().shape
    assert rows <= 24 and columns <= 90
    names = [t.get_text() for t in ax.child_axes[0].get_yticklabels()]
    assert len(names) == rows and set(names) <= set(adata.var_names)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b", "c"]
    # frames are where the data are large
    values = ax.images[0].get_array()
    for frame in ax.patches:
        x, y = round(frame.get_x() + 0.5), round(frame.get_y() + 0.5)
        block = values[y:y + frame.get_height(), x:x + frame.get_width()]
        assert np.abs(block).mean() > np.abs(values).mean()
    with pytest.raises(ValueError, match="2 labels, but 90 samples"):
        pl.modules(adata, labels=["a", "b"])


def test_pictures_of_estimators(adata):
    fitted = rarebit.RFN(3, iterations=30, random_state=1).fit(adata.X)
    assert pl.modules(fitted, adata.X).images
    line = pl.history(fitted).lines[0]
    np.testing.assert_array_equal(line.get_ydata(), fitted.history_["objective"])
    assert pl.history(fitted, "kkt_residual").get_yscale() == "log"
    with pytest.raises(ValueError, match="no pressure in the history"):
        pl.history(fitted, "pressure")


def test_history_marks_where_shrinking_begins(adata, axes):
    def drawn(ax=None, **options):
        fitted = rarebit.RFN(3, random_state=1, centre="none", **options).fit(adata.X)
        ax = pl.history(fitted, ax=ax)
        words = [t.get_text() for top in ax.child_axes for t in top.get_xticklabels()]
        return [line.get_xdata()[0] for line in ax.lines[1:]], words

    assert drawn(axes, iterations=51) == ([51], ["from here on loadings are shrunk"])
    assert drawn(iterations=50) == ([], [])
    assert drawn(iterations=60, preset="paper") == ([], [])


@pytest.fixture(scope="module")
def classes():
    """A fit, its samples and 12 classes of theirs, more than there are colours; some have none."""
    X = planted(n=143)
    labels = np.repeat([f"k{letter}" for letter in "lbcaefgdhijk"] + [None], np.arange(17, 4, -1))
    return rarebit.RFN(3, iterations=60, random_state=1, centre="none").fit(X), X, labels


def test_classes_have_the_colours_of_the_program(classes, program, tmp_path):
    fitted, X, labels = classes
    fitted.save(tmp_path / "m.h5")
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "labels.txt").write_text("".join(f"{name or 'NA'}\n" for name in labels))
    program("plot", "codes", tmp_path / "m.h5", tmp_path / "x.npy", "--labels",
            tmp_path / "labels.txt", "-o", tmp_path / "codes.svg")
    fills = re.findall(r"<path [^>]*fill:rgb\((.*?)%,(.*?)%,(.*?)%\)",
                       (tmp_path / "codes.svg").read_text())
    names = [*sorted({name for name in labels if name}), "(no label)"]
    told = dict(zip(names, np.array(fills[:13], float) / 100))
    assert len(told) == 13

    def drawn(ax):
        legend = ax.get_legend()
        return dict(zip([t.get_text() for t in legend.get_texts()],
                        [to_rgb(patch.get_facecolor()) for patch in legend.get_patches()]))

    strips = pl.unit(fitted, X, labels=labels)
    assert list(drawn(strips[0])) == names
    for name, colour in drawn(strips[0]).items():
        np.testing.assert_allclose(colour, told[name])
    # samples stand by class, the largest first
    dots = [told[name or "(no label)"] for name in labels]
    np.testing.assert_allclose(strips[0].collections[0].get_facecolors()[:, :3], dots)
    np.testing.assert_allclose(strips[0].child_axes[0].images[0].get_array()[0], dots)
    rows = pl.codes(fitted, X, labels=labels)
    np.testing.assert_allclose(rows.child_axes[0].images[0].get_array()[:, 0], dots)
    assert {t.get_text() for t in rows.get_yticklabels()} == set(names)
    # also where only some of the classes are shown
    members = rarebit.modules(fitted, X, members=True).query("kind == 'sample'")["index"]
    others = np.where(np.isin(np.arange(len(X)), members), "kz", "ka")
    assert drawn(pl.modules(fitted, X, labels=others)) == {"kz": pytest.approx(told["kb"])}


def test_samples_without_a_class():
    labels = ["None", 1, None, np.nan, pd.NA]
    assert list(classes_of(None, pd.Series(labels), 5)) == ["None", "1", "", "", ""]


def test_picture_of_filters():
    X = np.random.default_rng(0).random((60, 12))
    fitted = rarebit.PCA(4).fit(X)
    images = pl.filters(fitted, (3, 4))
    assert len(images) == 4
    shown = images[1].images[0].get_array()
    np.testing.assert_array_equal(shown, fitted.components_[1].reshape(3, 4))
    assert pl.filters(fitted, 12, units=[2])[0].lines
    assert pl.filters(fitted, (2, 2, 3))[0].images[0].get_array().shape == (2, 2, 3)
    with pytest.raises(ValueError, match="is not that of the 12 features"):
        pl.filters(fitted, (5, 2))


@pytest.fixture
def axes():
    """One of two in a figure, which stay two."""
    figure, both = pyplot.subplots(1, 2)
    yield both[1]
    colour_bars = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
    assert len(figure.axes) == 2 + len(colour_bars) and not both[0].has_data()
    figure.canvas.draw()
    pyplot.close(figure)


@pytest.fixture(scope="module")
def bars():
    """A traced fit to bars, and these."""
    X, fields, states = rarebit.simulate.bars(120, size=3, style="max", noise=1, random_state=1)
    return rarebit.MCA(6, sigma=1, iterations=12, trace=True, random_state=1).fit(X), X, states


def test_codes_stand_by_class(adata, axes):
    fitted = rarebit.RFN(3, iterations=30, random_state=1).fit(adata)
    codes = fitted.transform(adata)
    plain = pl.codes(fitted, adata, order="data", ax=axes)
    assert plain is axes
    np.testing.assert_array_equal(plain.images[0].get_array(), codes)
    by_unit = pl.codes(fitted, adata).images[0].get_array()
    np.testing.assert_array_equal(np.sort(by_unit, axis=0), np.sort(codes, axis=0))
    active = by_unit[by_unit.max(axis=1) > 0]
    assert (np.diff(active.argmax(axis=1)) >= 0).all()
    with pytest.raises(ValueError, match="order"):
        pl.codes(fitted, adata, order="class")
    ordered = pl.codes(fitted, adata, labels=adata.obs["kind"])
    shown = ordered.images[0].get_array()
    assert shown.sum() == pytest.approx(codes.sum()) and not (shown == codes).all()
    kinds = adata.obs["kind"].value_counts()
    assert [t.get_text() for t in ordered.get_yticklabels()] == sorted(kinds.index)
    first = shown[:kinds.iloc[0]]
    own = codes[(adata.obs["kind"] == kinds.index[0]).to_numpy()]
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(own, axis=0))


def test_a_unit_and_its_features(adata, axes):
    tl.rfn(adata, 3, iterations=30, random_state=1)
    strips = pl.unit(adata, unit=1, n_features=4, labels="kind", ax=axes)
    assert len(strips) == 5
    loadings = adata.varm["rfn"][:, 1]
    named = [strip.get_ylabel().split()[0] for strip in strips[1:]]
    assert named == [adata.var_names[k] for k in np.argsort(-np.abs(loadings))[:4]]
    heights = strips[0].collections[0].get_offsets()[:, 1]
    assert sorted(heights) == pytest.approx(sorted(adata.obsm["X_rfn"][:, 1]))
    with pytest.raises(ValueError, match="no unit 7"):
        pl.unit(adata, unit=7)


def test_fields_over_time(bars, axes):
    fitted, _, _ = bars
    grid = pl.fields(fitted, (3, 3), ax=axes)
    at = fitted.model_.array("trace_fields_at")[:, 0]
    assert grid.shape == (len(at), 6) and at[-1] == 11
    assert [row[0].get_ylabel() for row in grid] == [str(int(t) + 1) for t in at]
    last = np.stack([cell.images[0].get_array().ravel() for cell in grid[-1]])
    assert np.abs(last - fitted.components_).max() < np.abs(fitted.components_).max()
    untraced = rarebit.PCA(2).fit(np.random.default_rng(0).random((30, 9)))
    assert pl.fields(untraced, (3, 3)).shape == (2,)


def test_filters_in_given_axes(bars, axes):
    cells = pl.filters(bars[0], (3, 3), units=[4, 0], ax=axes)
    assert [cell.get_title() for cell in cells] == ["4", "0"]
    assert set(axes.child_axes) >= set(cells)


def test_data_model_and_samples(bars, axes):
    fitted, X, _ = bars
    grid = pl.samples(fitted, X, (3, 3), count=4, ax=axes)
    assert grid.shape == (3, 4)
    shown = [[cell.images[0].get_array().ravel() for cell in row] for row in grid]
    np.testing.assert_array_equal(shown[0], X[:4])
    np.testing.assert_array_equal(shown[1], fitted.reconstruct(X[:4].astype(np.float32)))
    np.testing.assert_array_equal(shown[2], fitted.sample(4))
    with pytest.raises(ValueError, match="X is needed"):
        pl.samples(fitted)


def test_quality_of_the_truncation(bars, axes):
    ax = pl.quality(bars[0], ax=axes)
    shares = bars[0].model_.array("trace_quality")
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], shares.T)
    with pytest.raises(ValueError, match="trace=True"):
        pl.quality(rarebit.PCA(2).fit(bars[1]))


def test_evidence_is_that_of_the_program(bars, axes, program, tmp_path):
    fitted, X, states = bars
    fitted.save(tmp_path / "m.h5")
    np.save(tmp_path / "x.npy", X)
    program("encode", tmp_path / "m.h5", tmp_path / "x.npy", "-o", tmp_path / "codes.npy",
            "--map", tmp_path / "states.tsv")
    lines = (tmp_path / "states.tsv").read_text().splitlines()
    told = [float(line.split("\t")[0]) for line in lines]
    ax = pl.evidence(fitted, X, states, ax=axes)
    heights = np.concatenate([dots.get_offsets()[:, 1] for dots in ax.collections])
    assert sorted(heights) == pytest.approx(sorted(told))
    probable, evidence = fitted.states(X)
    assert evidence == pytest.approx(told)
    assert [list(np.flatnonzero(row)) for row in probable] == \
        [[int(cause) for cause in line.split("\t")[1:]] for line in lines]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == \
        [str(k) for k in np.unique(states.sum(axis=1).astype(int))]
    for dots, count in zip(ax.collections, np.unique(states.sum(axis=1).astype(int))):
        np.testing.assert_allclose(dots.get_facecolor()[0, :3], class_colour(count))
    with pytest.raises(ValueError, match="3 states, but 120 samples"):
        pl.evidence(fitted, X, states[:3])
