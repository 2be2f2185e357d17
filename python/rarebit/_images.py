"""Plots of rarebit.pl that are made of images: loadings, fields over time, samples."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from ._draw import BLUE, FAINT, model_of, panels, samples_of
from ._model import Array, Model
from ._sources import ArraySource, read_first

Shape = Union[int, Sequence[int]]


def filters(fitted: Any, shape: Shape, units: Optional[Sequence[int]] = None, key: str = "rfn",
            columns: Optional[int] = None, ax: Any = None) -> Array:
    """What each unit looks for: its loadings as an image, or as a curve.

    Each image has a scale of its own: white is 0, red above and blue below it; where no loading is
    negative, black is 0.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    shape : rows x columns of an image, perhaps x 3 channels; one length for curves
    units : which ones; None: all
    key : of the results in an AnnData
    columns : of the grid

    Returns
    -------
    array of Axes, one a unit, within `ax`

    Examples
    --------
    >>> X, bars, _ = rarebit.simulate.bars(500, style="max", random_state=1)
    >>> rarebit.pl.filters(rarebit.RFN(10, random_state=1).fit(X), (5, 5))
    """
    model = model_of(fitted, key)
    loadings = _loadings(model)
    chosen = list(range(loadings.shape[1])) if units is None else list(units)
    images = _wide(model, loadings[:, chosen])
    across = columns or max(1, int(np.ceil(np.sqrt(len(chosen)))))
    return _grid(images, _size(model, shape), [str(unit) for unit in chosen], across, ax)


def fields(fitted: Any, shape: Shape, units: Optional[Sequence[int]] = None, key: str = "rfn",
           columns: Optional[int] = None, ax: Any = None) -> Array:
    """The fields of a traced fit over time: a row of images for each of some iterations, whose
    numbers (from 1) are at the left. Of other fits the final ones alone, as of `filters`.

    Parameters are those of `filters`; `columns` is for fits without a trace.

    Examples
    --------
    >>> mca = rarebit.MCA(10, trace=True, sigma=2, temperature="13:1.05", random_state=1).fit(X)
    >>> rarebit.pl.fields(mca, (5, 5))
    """
    model = model_of(fitted, key)
    traced, at = model.array("trace_fields"), model.array("trace_fields_at")
    if traced is None or at is None:
        return filters(fitted, shape, units, key, columns, ax)
    size, count = _size(model, shape), model.n_components
    chosen = list(range(count)) if units is None else list(units)
    columns_of = [count * k + unit for k in range(len(at)) for unit in chosen]
    images = _wide(model, traced[:, columns_of])
    names = [str(unit) for unit in chosen] + [""] * (len(chosen) * (len(at) - 1))
    axes = _grid(images, size, names, len(chosen), ax).reshape(len(at), len(chosen))
    for row, iteration in zip(axes, at[:, 0]):
        row[0].set_ylabel(f"{int(iteration) + 1}", rotation=0, ha="right", va="center", fontsize=8)
    return axes


def samples(fitted: Any, X: Any = None, shape: Optional[Shape] = None, count: int = 10,
            random_state: Optional[int] = None, noise: float = 1.0, key: str = "rfn",
            ax: Any = None) -> Array:
    """Data, what the model makes of them, and samples drawn from it: three rows of images or
    curves, all on one scale.

    Parameters
    ----------
    fitted : a fitted estimator, or an AnnData with the results of rarebit.tl
    X : samples x features, of an estimator; the first ones are drawn
    shape : as of `filters`; None: curves
    count : how many of each
    random_state, noise : as of the method `sample` of estimators
    key : of the results in an AnnData

    Returns
    -------
    array of Axes, 3 x count, within `ax`

    Examples
    --------
    >>> rarebit.pl.samples(rarebit.RFN(10, random_state=1).fit(X), X, (5, 5))
    """
    model, source, threads = samples_of(fitted, X, key)
    size = _size(model, model.n_inputs if shape is None else shape)
    count = min(count, source.shape[0])
    data = read_first(source, count)
    first = ArraySource(data)
    first.feature_names, first.min_shared = source.feature_names, source.min_shared
    drawn = model.sample(count, {"noise": noise, "random_state": random_state}, threads=threads)
    if data.shape[1] != model.n_inputs:
        data = _wide(model, data.T).T
    blocks = [data, _wide(model, model.reconstruct(first).T).T, _wide(model, drawn.T).T]
    axes = panels(ax, 3, count, (min(1.1 * count, 12), 3.5))
    largest, signed = float(np.nanmax(np.abs(data))) or 1.0, bool((data < 0).any())
    for row, block, name in zip(axes, blocks, ("data", "model", "samples")):
        for cell, values in zip(row, block):
            _image(cell, values.reshape(size), signed, largest)
        row[0].set_ylabel(name)
    return axes


# -- pieces


def _loadings(model: Model) -> Array:
    loadings = model.array("loadings")
    if loadings is None:
        raise ValueError(f"a model of {model.method} has no loadings to show")
    return loadings


def _size(model: Model, shape: Shape) -> tuple[int, ...]:
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    if np.prod(size) != model.n_inputs or len(size) > 3 or (len(size) == 3 and size[2] != 3):
        raise ValueError(f"shape {size} is not that of the {model.n_inputs} features of the model")
    return size


def _wide(model: Model, columns: Array) -> Array:
    """Features in use among all features, features x images."""
    wide = np.zeros((model.n_inputs, columns.shape[1]))
    wide[model.features] = columns
    return wide


def _grid(images: Array, size: tuple[int, ...], names: Sequence[str], across: int,
          ax: Any) -> Array:
    """Each image on a scale of its own."""
    down = -(-len(names) // across)
    grid = panels(ax, down, across, (min(1.1 * across, 12), min(1.25 * down, 30)))
    for cell in grid.flat[len(names):]:
        cell.remove()
    signed = bool((images < 0).any())
    for cell, name, values in zip(grid.flat, names, images.T):
        _image(cell, values.reshape(size), signed, float(np.abs(values).max()) or 1.0)
        cell.set_title(name, fontsize=8, pad=2)
    return np.asarray(grid.flat[:len(names)], dtype=object)


def _image(ax: Any, values: Array, signed: bool, largest: float) -> None:
    if values.ndim == 1:
        ax.axhline(0, color=FAINT, linewidth=0.5)
        ax.plot(values, color=BLUE, linewidth=0.8)
    elif values.ndim == 3:
        ax.imshow(np.clip(0.5 + values / largest / 2 if signed else values / largest, 0, 1))
    else:
        ax.imshow(values, cmap="RdBu_r" if signed else "gray",
                  vmin=-largest if signed else 0, vmax=largest, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
