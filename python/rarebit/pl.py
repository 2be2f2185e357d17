"""Pictures by matplotlib: of a fitted estimator, or of what rarebit.tl put into an AnnData.

Each function draws on `ax`, or on a figure of its own, and returns the axes.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _modules, tl
from ._estimators import Estimator, _model_of, _threads
from ._model import Array, Model
from ._modules import Module
from ._sources import Source

__all__ = ["fields", "history", "modules"]

MOST_MODULES, ROWS, COLUMNS = 20, 100, 600
INK = "#262626"


def _model(fitted: Any, key: str) -> Model:
    if isinstance(fitted, Model):
        return fitted
    return _model_of(fitted) if isinstance(fitted, Estimator) else tl.stored(fitted, key)[0]


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def history(fitted: Any, what: str = "objective", key: str = "rfn", ax: Any = None) -> Any:
    """How the fit went: a figure of history_ over the iterations.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    what : objective (to be maximised), estep_objective, seconds, or what else the method tells
    key : of the results in an AnnData
    """
    model = _model(fitted, key)
    told = model.history
    if what not in told:
        raise ValueError(f"there is no {what} in the history; there are {', '.join(told)}")
    ax = _axes(ax, (6, 3.5))
    values = told[what]
    ax.plot(np.arange(1, len(values) + 1), values, color="#214d8c", linewidth=1.5)
    if what == "kkt_residual":
        ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel(what.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


# -- fields


def fields(fitted: Any, shape: Union[int, Sequence[int]], units: Optional[Sequence[int]] = None,
           key: str = "rfn", columns: Optional[int] = None) -> Array:
    """What each unit looks for: its loadings as an image, or as a curve.

    Each image has a scale of its own: white is 0, red above and blue below it; where no loading is
    negative, black is 0.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    shape : rows x columns of an image, perhaps x 3 channels; one length for curves
    units : which ones; None: all
    columns : of the grid

    Returns
    -------
    array of Axes, one a unit
    """
    from matplotlib import pyplot

    model = _model(fitted, key)
    loadings = model.array("loadings")
    if loadings is None:
        raise ValueError(f"a model of {model.method} has no loadings to show")
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    if np.prod(size) != model.n_inputs or len(size) > 3 or (len(size) == 3 and size[2] != 3):
        raise ValueError(f"shape {size} is not that of the {model.n_inputs} features of the model")
    wide = np.zeros((model.n_inputs, loadings.shape[1]))
    wide[model.features] = loadings
    chosen = range(loadings.shape[1]) if units is None else units
    across = columns or max(1, int(np.ceil(np.sqrt(len(chosen)))))
    down = -(-len(chosen) // across)
    _, grid = pyplot.subplots(down, across, squeeze=False, layout="constrained",
                              figsize=(min(1.1 * across, 12), min(1.25 * down, 30)))
    for ax in grid.flat[len(chosen):]:
        ax.remove()
    for ax, unit in zip(grid.flat, chosen):
        _field(ax, wide[:, unit].reshape(size), bool((loadings < 0).any()))
        ax.set_title(str(unit), fontsize=8, pad=2)
    return np.asarray(grid.flat[:len(chosen)], dtype=object)


def _field(ax: Any, values: Array, signed: bool) -> None:
    largest = np.abs(values).max() or 1.0
    if values.ndim == 1:
        ax.axhline(0, color="#cccccc", linewidth=0.5)
        ax.plot(values, color="#214d8c", linewidth=0.8)
    elif values.ndim == 3:
        ax.imshow(0.5 + values / largest / 2 if signed else values / largest)
    else:
        ax.imshow(values, cmap="RdBu_r" if signed else "gray",
                  vmin=-largest if signed else 0, vmax=largest, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])


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
    """Samples of a class together, the most frequent class first."""
    if classes is None:
        return samples
    _, code, count = np.unique(classes[samples].astype(str), return_inverse=True,
                               return_counts=True)
    return np.asarray(samples[np.lexsort((np.arange(len(samples)), code, -count[code]))])


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
    """
    if isinstance(fitted, Estimator):
        model, source = _model_of(fitted), fitted._source(X, None, reset=False)
        threads = _threads(fitted.n_jobs)
    else:
        (model, source), threads = tl.stored(fitted, key), 1
        labels = fitted.obs[labels] if isinstance(labels, str) else labels
    classes = None if labels is None else np.asarray(labels)
    if classes is not None and len(classes) != source.shape[0]:
        raise ValueError(f"there are {len(classes)} labels, but {source.shape[0]} samples")
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
    ax = _axes(ax, (9, float(np.clip(0.125 * len(rows) + 1, 3, 14))))
    image = ax.imshow(values, cmap="RdBu_r", vmin=-2.5, vmax=2.5, aspect="auto",
                      interpolation="nearest")
    _frames(ax, [(found[r].name, len(features[r]), len(samples[r])) for r in shown])
    _names(ax, model, rows)
    ax.set_xlabel(f"{len(columns)} of {source.shape[0]} samples")
    ax.figure.colorbar(image, ax=ax, shrink=0.4, pad=0.01, label="standardised value")
    if classes is not None:
        _strip(ax, classes[columns])
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


def _names(ax: Any, model: Model, rows: Array) -> None:
    """Names of the features at the right."""
    names = model.features if model.feature_names is None else \
        np.asarray(model.feature_names, dtype=object)
    right = ax.secondary_yaxis("right")
    right.set_yticks(np.arange(len(rows)), [str(name) for name in names[rows]], fontsize=6)
    right.tick_params(length=0)


def _strip(ax: Any, classes: Array) -> None:
    """The class of each sample above the map."""
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    names, codes = np.unique(classes.astype(str), return_inverse=True)
    colours = colormaps["tab20"](np.arange(len(names)) % 20)
    strip = ax.inset_axes([0, 1.005, 1, 0.015])
    strip.imshow(colours[codes][None, :, :], aspect="auto", interpolation="nearest")
    strip.set_axis_off()
    ax.legend([Patch(color=colour) for colour in colours], names, fontsize=7, frameon=False,
              ncols=4, loc="lower left", bbox_to_anchor=(0, 1.02))
