"""Does a model come out again? rarebit/rerun.h."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_size_t, c_void_p, sizeof
from typing import Any, Mapping, Optional, Union

from . import _library
from ._context import Context
from ._estimators import Estimator, _model_of, _threads
from ._library import B, ERROR, I, P, core, text
from ._model import Model
from ._sources import ArraySource, Source


class CDifference(Structure):
    """rb_model_difference."""

    _fields_ = [("size", c_size_t), ("name", c_char_p), ("history", c_bool), ("same", c_bool),
                ("difference", c_double)]


_library.declare({
    "rb_rerun": (ERROR, [P, P, P, P, P, POINTER(P)]),
    "rb_model_compare": (B, [P, P, I, POINTER(CDifference)]),
})


def rerun(estimator: Estimator, X: Any, *, covariates: Optional[Mapping[str, Any]] = None,
          start: Union[Estimator, Model, None] = None) -> Any:
    """Fits again what a model says, and compares: a data frame of its arrays and its history.

    Columns: of ("arrays" or "history"), same (the same bits), difference (relative to the largest
    value). Of a Stack each layer is fitted again to the codes below, which are in memory.

    Parameters
    ----------
    estimator : a fitted estimator
    X, covariates : the data of its fit; others are refused
    start : what the fit was started from

    Examples
    --------
    >>> assert rarebit.rerun(rarebit.RFN(5, random_state=1).fit(X), X)["same"].all()
    """
    import pandas

    source: Source = estimator._source(X, covariates, reset=False)
    layers, found = getattr(estimator, "layers_", [_model_of(estimator)]), []
    for layer in layers:
        pointer = c_void_p()
        again = Model(pointer)  # frees what there may be
        with Context(_threads(estimator.n_jobs), int(estimator.verbose),
                     estimator.callback) as context, source.lent(context) as samples:
            context.run(core.rb_rerun, layer._pointer, None, samples,
                        start and _model_of(start)._pointer, byref(pointer))
        found.append(differences(layer, again))
        if len(layers) > 1:
            found[-1] = found[-1].rename(index=f"layer{len(found)}.{{}}".format)
            source = ArraySource(layer.encode(source, threads=_threads(estimator.n_jobs)))
    return pandas.concat(found)


def differences(one: Model, other: Model) -> Any:
    """What two models have of each name."""
    import pandas

    row = CDifference(sizeof(CDifference))
    rows: list[tuple[Any, ...]] = []
    while core.rb_model_compare(one._pointer, other._pointer, len(rows), byref(row)):
        rows.append((text(row.name), "history" if row.history else "arrays", row.same,
                     row.difference))
    return pandas.DataFrame(rows, columns=["name", "of", "same", "difference"]).set_index("name")
