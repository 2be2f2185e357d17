"""Plots by matplotlib: of a fitted estimator, or of what rarebit.tl put into an AnnData.

Each function draws on `ax`, or on a figure of its own, and returns the axes. docs/howto/plots.md
says how to read them.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _modules
from ._draw import BLUE, FAINT, INK, class_colour, class_rows, class_strip, classes_of, \
    colours_of, model_of, new_axes, panels, plain, samples_of
from ._images import fields, filters, samples
from ._model import Array, Model
from ._modules import Module
from ._sources import Source

__all__ = ["codes", "evidence", "fields", "filters", "history", "modules", "quality", "samples",
           "unit"]

MOST_MODULES, ROWS, COLUMNS = 20, 100, 600  # modules


def history(fitted: Any, what: str = "objective", key: str = "rfn", ax: Any = None) -> Any:
    """How the fit went: a figure of history_ over the iterations. A line marks from where on
    loadings are shrunk.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    what : objective (to be maximised), estep_objective, seconds, or what else the method tells
    key : of the results in an AnnData

    Examples
    --------
    >>> rarebit.pl.history(rarebit.RFN(10, random_state=1).fit(X))
    """
    model = model_of(fitted, key)
    told = model.history
    if what not in told:
        raise ValueError(f"there is no {what} in the history; there are {', '.join(told)}")
    ax = new_axes(ax, (6, 3.5))
    values = told[what]
    ax.plot(np.arange(1, len(values) + 1), values, color=BLUE, linewidth=1.5)
    if what == "kkt_residual":
        ax.set_yscale("log")
    start = int(model.attributes.get("shrinks_from", 0))
    if 0 < start <= len(values):
        ax.axvline(start, color=INK, linewidth=0.8)
        top = plain(ax.secondary_xaxis("top"))
        top.set_xticks([start], ["from here on loadings are shrunk"], fontsize=8,
                       ha="left" if start < len(values) / 2 else "right")
        top.tick_params(length=0)
    ax.set_xlabel("iteration")
    ax.set_ylabel(what.replace("_", " "))
    return plain(ax)


# -- codes and units


def codes(fitted: Any, X: Any = None, labels: Any = None, key: str = "rfn", order: str = "unit",
          ax: Any = None) -> Any:
    """Codes as a heat map, samples x units.

    With labels samples stand by class, the most frequent class first. Codes above the 99.5th
    percentile of those that are not 0 share a colour.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    X : samples x features, of an estimator
    labels : classes of samples: one a sample, or the name of a column of obs
    key : of the results in an AnnData
    order : "unit": samples, within a class, by their strongest unit; "data": as the data have them

    Examples
    --------
    >>> rarebit.pl.codes(rfn, cells, labels=types)
    """
    model, source, threads = samples_of(fitted, X, key)
    classes = classes_of(fitted, labels, source.shape[0])
    values = model.encode(source, threads=threads)
    if order not in ("unit", "data"):
        raise ValueError(f'order is {order!r}, but must be "unit" or "data"')
    size, rows = np.abs(values), np.arange(len(values))
    if order == "unit":
        rows = np.lexsort((-size.max(axis=1), size.argmax(axis=1), size.max(axis=1) == 0))
    if classes is not None:
        rows = _by_class(rows, classes)
    shown, there = values[rows], np.abs(values[values != 0])
    high = float(np.percentile(there, 99.5)) if there.size else 1.0
    signed = bool((values < 0).any())
    ax = new_axes(ax, (6, 6))
    image = ax.imshow(shown, cmap="RdBu_r" if signed else "Blues", vmin=-high if signed else 0,
                      vmax=high, aspect="auto", interpolation="nearest")
    ax.set_xlabel("unit")
    ax.set_ylabel(f"{len(values)} samples")
    ax.set_yticks([])
    ax.figure.colorbar(image, ax=ax, shrink=0.4, label="code")
    if classes is not None:
        class_rows(ax, classes[rows], colours_of(classes))
    return ax


def unit(fitted: Any, X: Any = None, unit: int = 0, labels: Any = None, n_features: int = 10,
         key: str = "rfn", ax: Any = None) -> Array:
    """A unit: its codes over the samples, below them the values of its features of largest loading.

    Samples stand by class, within a class by code, the largest first. Values are what the model
    sees, each feature on a scale of its own.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    X : samples x features, of an estimator
    unit : which one, from 0
    labels : classes of samples: one a sample, or the name of a column of obs
    n_features : at most so many
    key : of the results in an AnnData

    Returns
    -------
    array of Axes, that of the codes first, within `ax`

    Examples
    --------
    >>> rarebit.pl.unit(rfn, cells, 3, labels=types)
    """
    model, source, threads = samples_of(fitted, X, key)
    loadings = model.array("loadings")
    if loadings is None or not 0 <= unit < loadings.shape[1]:
        raise ValueError(f"there is no unit {unit} with loadings: the model has "
                         f"{model.n_components} units, counted from 0")
    classes = classes_of(fitted, labels, source.shape[0])
    code = model.encode(source, threads=threads)[:, unit]
    chosen = np.argsort(-np.abs(loadings[:, unit]), kind="stable")[:n_features]
    chosen = chosen[loadings[chosen, unit] != 0]
    order = _by_class(np.argsort(-code, kind="stable"), classes)
    values = _modules.view(model, source, np.arange(len(code)), chosen)[:, order]
    colours = {} if classes is None else colours_of(classes)
    dots: Any = BLUE if classes is None else [colours[name] for name in classes[order]]
    axes = panels(ax, len(chosen) + 1, 1, (8, 0.6 * len(chosen) + 1.5)).ravel()
    names_of = _feature_names(model)
    for row, (strip, heights) in enumerate(zip(axes, [code[order], *values])):
        strip.scatter(np.arange(len(code)), heights, s=3, c=dots, linewidths=0)
        strip.axhline(0, color=FAINT, linewidth=0.5, zorder=0)
        strip.set_xticks([])
        strip.set_yticks([])
        name = f"unit {unit}" if row == 0 else \
            f"{names_of[chosen[row - 1]]}  {loadings[chosen[row - 1], unit]:.2g}"
        strip.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    axes[-1].set_xlabel(f"{len(code)} samples")
    if classes is not None:
        class_strip(axes[0], classes[order], colours, (0, 1.02, 1, 0.08))
    return np.asarray(axes)


# -- expectation truncation


def quality(fitted: Any, key: str = "rfn", ax: Any = None) -> Any:
    """How good the truncation was: the share of the evidence of each traced sample that is in the
    states looked at, over the iterations of a fit with trace=True.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    key : of the results in an AnnData

    Examples
    --------
    >>> rarebit.pl.quality(rarebit.MCA(10, trace=True, random_state=1).fit(X))
    """
    model = model_of(fitted, key)
    shares = model.array("trace_quality")
    if shares is None:
        raise ValueError("the fit kept no quality of its truncation; fit an LinCA, NMFET or MCA "
                         "with trace=True and at most 20 units")
    ax = plain(new_axes(ax, (6, 3.5)))
    ax.plot(np.arange(1, len(shares) + 1), shares, linewidth=0.8, alpha=0.7)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("iteration")
    ax.set_ylabel("Q")
    ax.set_title(f"quality of the truncation for {shares.shape[1]} samples", fontsize=9)
    return ax


def evidence(fitted: Any, X: Any = None, states: Any = None, key: str = "rfn",
             ax: Any = None) -> Any:
    """Log evidences of samples by expectation truncation, sorted; a line where the data were cut.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    X : samples x features, of an estimator
    states : samples x causes, which causes were active (the third array of
        rarebit.simulate.bars): colours say how many
    key : of the results in an AnnData

    Examples
    --------
    >>> X, _, states = rarebit.simulate.bars(500, style="max", random_state=1)
    >>> rarebit.pl.evidence(rarebit.MCA(10, random_state=1).fit(X), X, states)
    """
    model, source, threads = samples_of(fitted, X, key)
    values = model.states(source, threads)[1]
    order = np.argsort(-values, kind="stable")
    ax = plain(new_axes(ax, (6, 3.5)))
    active = None if states is None else (np.asarray(states) != 0).sum(axis=1)
    if active is not None and len(active) != len(values):
        raise ValueError(f"there are {len(active)} states, but {len(values)} samples")
    for count in [0] if active is None else np.unique(active):
        place = np.arange(len(order)) if active is None else np.flatnonzero(active[order] == count)
        ax.scatter(place, values[order][place], s=6, linewidths=0, label=str(count),
                   color=class_colour(min(int(count), 9)))  # as in the tool
    used = model.evaluate(source, threads).get("samples_used", np.nan)
    if used < len(values) and model.attributes.get("data_samples") == str(len(values)):
        ax.axvline(used - 0.5, color=INK, linewidth=0.8)
    if active is not None:
        ax.legend(title="active causes", fontsize=7, frameon=False)
    ax.set_xlabel("sample")
    ax.set_ylabel("log evidence")
    return ax


# -- modules


def _stay(members: Sequence[tuple[Array, Array]], total: int, most: int) -> list[Array]:
    """Who stands where: each member with the module in which its weight is largest, relative to the
    root mean square there; of each module the heaviest."""
    home, best = np.full(total, -1), np.zeros(total)
    for rank, (index, weight) in enumerate(members):
        strength = np.abs(weight) / np.sqrt(np.mean(weight**2)) if len(weight) else weight
        wins = strength > best[index]
        home[index[wins]], best[index[wins]] = rank, strength[wins]
    return [index[home[index] == rank][:most] for rank, (index, _) in enumerate(members)]


def _by_class(samples: Array, classes: Optional[Array]) -> Array:
    """Samples of a class together, the most frequent class first, those without one last."""
    if classes is None:
        return samples
    of = classes[samples]
    _, code, count = np.unique(of, return_inverse=True, return_counts=True)
    return np.asarray(samples[np.lexsort((np.arange(len(samples)), code, -count[code], of == ""))])


def modules(fitted: Any, X: Any = None, labels: Any = None, key: str = "rfn",
            ax: Any = None, **options: Any) -> Any:
    """Modules as a heat map of the data: features x samples, in blocks along the diagonal.

    Each feature has mean 0 and standard deviation 1. A sample or feature of several modules stands
    with the one in which it weighs most; of large modules the heaviest members are shown, of many
    the first 20.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    X : samples x features, of an estimator
    labels : classes of samples, for the strip above: one a sample, or the name of a column of obs
    key : of the results in an AnnData
    options : as of rarebit.modules

    Examples
    --------
    >>> rarebit.pl.modules(rfn, cells, labels=types)
    """
    model, source, threads = samples_of(fitted, X, key)
    classes = classes_of(fitted, labels, source.shape[0])
    found = [m for m in _modules.find(model, source, threads, **options)
             if m.role in ("module", "other side")]
    return _draw(model, source, found[:MOST_MODULES], classes, ax)


def _draw(model: Model, source: Source, found: list[Module], classes: Optional[Array],
          ax: Any) -> Any:
    count = max(len(found), 1)
    features = _stay([(m.features, m.feature_weights) for m in found], model.n_features,
                     int(np.clip(ROWS // count, 4, 12)))
    samples = _stay([(m.samples, m.sample_weights) for m in found], source.shape[0],
                    int(np.clip(COLUMNS // count, 15, 80)))
    shown = [r for r in range(len(found)) if len(features[r]) and len(samples[r])]
    if not shown:
        raise ValueError("there are no modules to draw")
    rows = np.concatenate([features[r] for r in shown])
    columns = np.concatenate([_by_class(samples[r], classes) for r in shown])
    ordered = np.sort(columns)
    values = _modules.view(model, source, ordered, rows)[:, np.searchsorted(ordered, columns)]
    ax = new_axes(ax, (9, float(np.clip(0.125 * len(rows) + 1, 3, 14))))
    image = ax.imshow(values, cmap="RdBu_r", vmin=-2.5, vmax=2.5, aspect="auto",
                      interpolation="nearest")
    _frames(ax, [(found[r].name, len(features[r]), len(samples[r])) for r in shown])
    _names(ax, model, rows)
    ax.set_xlabel(f"{len(columns)} of {source.shape[0]} samples")
    ax.figure.colorbar(image, ax=ax, shrink=0.4, pad=0.01, label="standardised value")
    if classes is not None:
        class_strip(ax, classes[columns], colours_of(classes), (0, 1.005, 1, 0.015))
    return ax


def _frames(ax: Any, blocks: Sequence[tuple[str, int, int]]) -> None:
    from matplotlib.patches import Rectangle

    row = column = 0
    middles = []
    for name, down, across in blocks:
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), across, down, fill=False,
                               edgecolor=INK, linewidth=1.2, clip_on=False))
        middles.append((row + (down - 1) / 2, f"unit {name}"))
        row, column = row + down, column + across
    ax.set_yticks([place for place, _ in middles], [name for _, name in middles], fontsize=8)
    ax.tick_params(length=0)
    ax.set_xticks([])


def _feature_names(model: Model) -> Array:
    return model.features if model.feature_names is None else \
        np.asarray(model.feature_names, dtype=object)


def _names(ax: Any, model: Model, rows: Array) -> None:
    """Names of the features at the right."""
    names = _feature_names(model)
    right = ax.secondary_yaxis("right")
    right.set_yticks(np.arange(len(rows)), [str(name) for name in names[rows]], fontsize=6)
    right.tick_params(length=0)
