"""Data with planted causes, for experiments and tests: rarebit/simulate.h."""

from __future__ import annotations

from ctypes import POINTER, byref, c_void_p
from typing import Any, Optional

import numpy as np

from . import _library
from ._context import Context
from ._estimators import _seed
from ._library import ERROR, I, P, core
from ._model import Array
from ._modules import members_of
from ._options import Options
from ._sources import array_of

__all__ = ["bars", "biclusters", "cells"]

_library.declare({
    "rb_biclusters_group": (P, []),
    "rb_cells_group": (P, []),
    "rb_bars_group": (P, []),
    "rb_simulate_biclusters": (ERROR, [P, P, POINTER(P), POINTER(P)]),
    "rb_simulate_cells": (ERROR, [P, P, POINTER(P), POINTER(P)]),
    "rb_simulate_bars": (ERROR, [P, P, POINTER(P), POINTER(P), POINTER(P)]),
    "rb_matrix_samples": (I, [P]),
    "rb_matrix_features": (I, [P]),
})


def biclusters(n_samples: Optional[int] = None, n_features: Optional[int] = None, *,
               random_state: Any = None, **options: Any) -> tuple[Array, Array, Array]:
    """Data with planted biclusters, as sklearn.datasets.make_biclusters gives them.

    Parameters
    ----------
    n_samples, n_features : None: as the generator's paper has it
    random_state : int, Generator, RandomState or None
    options : generator ("rfn", "fabia", "constant", "shift", "scale", "plaid"), dataset ("D1" to
        "D9"), rest_sd, noise

    Returns
    -------
    X : array of n_samples x n_features
    rows : bool, biclusters x n_samples: which samples are in each
    columns : bool, biclusters x n_features

    Examples
    --------
    >>> X, rows, columns = rarebit.simulate.biclusters(dataset="D1", random_state=1)
    """
    return _planted(core.rb_simulate_biclusters, core.rb_biclusters_group(),
                    {"samples": n_samples, "features": n_features,
                     "random_state": _seed(random_state), **options})


def cells(n_samples: Optional[int] = None, n_features: Optional[int] = None, *,
          random_state: Any = None, **options: Any) -> tuple[Array, Array, Array]:
    """Counts of single cells of several types, by the model of Splat (Zappia et al. 2017).

    Parameters
    ----------
    n_samples, n_features : cells and genes
    random_state : int, Generator, RandomState or None
    options : types (shares of the types, "0.5,0.4,0.1"), counts, de_probability, de_location,
        de_scale

    Returns
    -------
    X : array of n_samples x n_features
    rows : bool, types x n_samples: the cells of each type
    columns : bool, types x n_features: the genes that the type expresses more than the others

    Examples
    --------
    >>> X, rows, columns = rarebit.simulate.cells(300, 200, types="0.6,0.3,0.1", random_state=1)
    """
    return _planted(core.rb_simulate_cells, core.rb_cells_group(),
                    {"samples": n_samples, "features": n_features,
                     "random_state": _seed(random_state), **options})


def bars(n_samples: Optional[int] = None, *, random_state: Any = None,
         **options: Any) -> tuple[Array, Array, Array]:
    """Images of crossing bars, which a method is to find.

    Parameters
    ----------
    n_samples : images
    random_state : int, Generator, RandomState or None
    options : style ("linear", "max", "signed"), size (of an image, in pixels), width, value,
        heights, probability, noise

    Returns
    -------
    X : array of n_samples x pixels, row by row
    fields : array of bars x pixels: each bar alone
    states : array of n_samples x bars: which bars are in which image

    Examples
    --------
    >>> X, fields, states = rarebit.simulate.bars(500, size=5, random_state=1)
    """
    made = [c_void_p() for _ in range(3)]
    with Context() as context, Options(context, group=core.rb_bars_group()) as chosen:
        chosen.set_all({"samples": n_samples, "random_state": _seed(random_state), **options})
        try:
            context.run(core.rb_simulate_bars, chosen.pointer, *(byref(m) for m in made))
            X, fields, states = (array_of(context, matrix) for matrix in made)
            return X, fields, states
        finally:
            for matrix in made:
                core.rb_matrix_free(matrix)


def _planted(make: Any, group: int, options: dict[str, Any]) -> tuple[Array, Array, Array]:
    matrix, modules = c_void_p(), c_void_p()
    with Context() as context, Options(context, group=group) as chosen:
        chosen.set_all(options)
        try:
            context.run(make, chosen.pointer, byref(matrix), byref(modules))
            X = array_of(context, matrix)
            sides = members_of(modules)
        finally:
            core.rb_modules_free(modules)
            core.rb_matrix_free(matrix)
    rows, columns = (np.zeros((len(sides), length), dtype=bool) for length in X.shape)
    for row, column, (samples, features) in zip(rows, columns, sides):
        row[samples], column[features] = True, True
    return X, rows, columns
