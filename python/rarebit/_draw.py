"""What the plots of rarebit.pl share: axes, colours, and where model and samples come from."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import tl
from ._estimators import Estimator, _model_of, _threads
from ._model import Array, Model
from ._sources import Source, groups_of

INK, BLUE, FAINT = "#262626", "#214d8c", "#cccccc"
# As of the tool's plots: rb_class_colour in src/plot/plot_draw.c.
NO_CLASS = np.array([0.7, 0.7, 0.7])
CLASSES = np.array([[0.00, 0.42, 0.68], [0.90, 0.60, 0.05], [0.00, 0.58, 0.44], [0.80, 0.33, 0.05],
                    [0.42, 0.72, 0.90], [0.78, 0.45, 0.64], [0.50, 0.33, 0.64], [0.93, 0.86, 0.30],
                    [0.56, 0.38, 0.24], [0.55, 0.75, 0.35]])


def model_of(fitted: Any, key: str) -> Model:
    """The model of an estimator, or of what is kept in an AnnData."""
    if isinstance(fitted, Model):
        return fitted
    return _model_of(fitted) if isinstance(fitted, Estimator) else tl.stored(fitted, key)[0]


def samples_of(fitted: Any, X: Any, key: str) -> tuple[Model, Source, int]:
    """Model and samples: X of an estimator, or those of an AnnData; and the threads."""
    if not isinstance(fitted, Estimator):
        return (*tl.stored(fitted, key), 1)
    if X is None:
        raise ValueError("X is needed with an estimator: the samples to draw")
    return _model_of(fitted), fitted._source(X, None, reset=False), _threads(fitted.n_jobs)


def classes_of(fitted: Any, labels: Any, count: int) -> Optional[Array]:
    """Labels as texts, one a sample, "" for none; a name is that of a column of obs."""
    if labels is None:
        return None
    found = np.asarray(fitted.obs[labels] if isinstance(labels, str) else labels)
    if len(found) != count:
        raise ValueError(f"there are {len(found)} labels, but {count} samples")
    return np.array([(name or b"").decode() for name in groups_of(found)])


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes to draw on: those that are given, or those of a figure of their own."""
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def plain(ax: Any) -> Any:
    """Without a frame at top and right."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def panels(ax: Any, down: int, across: int, size: tuple[float, float], gap: float = 0.12) -> Array:
    """A grid of axes within one, row by row."""
    outer = new_axes(ax, size)
    outer.set_axis_off()
    made = [outer.inset_axes([column / across, 1 - (row + 1) / down,
                              (1 - gap) / across, (1 - gap) / down])
            for row in range(down) for column in range(across)]
    return np.asarray(made, dtype=object).reshape(down, across)


def class_colour(place: int) -> Array:
    """The colour of a class by its place among all, from 0; they repeat, paler."""
    pale = min(0.25 * (place // len(CLASSES)), 0.75)
    return np.asarray(CLASSES[place % len(CLASSES)] * (1 - pale) + pale)


def colours_of(classes: Array) -> dict[str, Array]:
    """The colour of each class by its name, in alphabetical order; at the end that of none."""
    names = np.unique(classes[classes != ""]).tolist()
    return {**{name: class_colour(place) for place, name in enumerate(names)}, "": NO_CLASS}


def class_strip(ax: Any, classes: Array, colours: dict[str, Array],
                place: tuple[float, float, float, float]) -> None:
    """The class of each sample above a plot, and what the colours mean."""
    from matplotlib.patches import Patch

    _strip(ax, np.array([[colours[name] for name in classes]]), place)
    shown = [name for name in colours if name in classes]
    ax.legend([Patch(color=colours[name]) for name in shown],
              [name or "(no label)" for name in shown], fontsize=7, frameon=False,
              ncols=4, loc="lower left", bbox_to_anchor=(0, 1.02))


def class_rows(ax: Any, classes: Array, colours: dict[str, Array]) -> None:
    """The class of each sample at the left of a plot whose rows stand by class, with its name."""
    _strip(ax, np.array([[colours[name]] for name in classes]), (-0.03, 0, 0.02, 1))
    shown = [name for name in colours if name in classes]
    ax.set_yticks([np.flatnonzero(classes == name).mean() for name in shown],
                  [name or "(no label)" for name in shown], fontsize=7)
    ax.tick_params(axis="y", length=0, pad=12)


def _strip(ax: Any, colours: Array, place: tuple[float, float, float, float]) -> None:
    strip = ax.inset_axes(place)
    strip.imshow(colours, aspect="auto", interpolation="nearest")
    strip.set_axis_off()
