"""A class for each method that the library knows, made when this is imported."""

from __future__ import annotations

from typing import Any

from ._context import Context
from ._estimators import Estimator, make, of_model
from ._model import Model
from ._registry import methods
from ._sources import Source

with Context() as _context:
    CLASSES: dict[str, type[Estimator]] = {made.__name__: made
                                           for made in map(make, methods(_context))}
globals().update(CLASSES)


def samples_of(X: Any) -> Source:
    """Samples that no fitted estimator looks at."""
    return CLASSES["PCA"]()._source(X, None, reset=True)


def load(path: Any) -> Estimator:
    """The fitted estimator of a model file, whoever wrote it. Needs librarebit-io.

    Files have no types of classes: `classes_` of a net are texts, with which labels agree by their
    text.

    Examples
    --------
    >>> rarebit.load("model.h5").transform(X)
    """
    model = Model.load(path)
    if model.method in ("net", "stack"):
        from .nets import net_of, stack_of

        return net_of(model) if model.method == "net" else stack_of(model)
    return of_model(model, CLASSES)


__all__ = ["CLASSES", "load", *CLASSES]
