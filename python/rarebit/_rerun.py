"""Does a model come out again? rarebit/rerun.h."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_size_t, c_void_p, sizeof
from typing import Any, Mapping, Optional, Union

from . import _library
from ._context import Context
from ._estimators import Estimator, _model_of, _threads
from ._library import B, ERROR, I, P, core, text
from ._model import Model


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
    value).

    Parameters
    ----------
    estimator : a fitted estimator
    X, covariates : the data of its fit; others are refused
    start : what the fit was started from

    Examples
    --------
    >>> assert rarebit.rerun(rarebit.RFN(5, random_state=1).fit(X), X)["same"].all()
    """
    model, pointer = _model_of(estimator), c_void_p()
    source = estimator._source(X, covariates, reset=False)
    again = Model(pointer)  # frees what there may be
    with Context(_threads(estimator.n_jobs), int(estimator.verbose),
                 estimator.callback) as context, source.lent(context) as samples:
        context.run(core.rb_rerun, model._pointer, None, samples,
                    start and _model_of(start)._pointer, byref(pointer))
    return differences(model, again)


def differences(one: Model, other: Model) -> Any:
    """What two models have of each name."""
    import pandas

    row = CDifference(sizeof(CDifference))
    rows: list[tuple[Any, ...]] = []
    while core.rb_model_compare(one._pointer, other._pointer, len(rows), byref(row)):
        rows.append((text(row.name), "history" if row.history else "arrays", row.same,
                     row.difference))
    return pandas.DataFrame(rows, columns=["name", "of", "same", "difference"]).set_index("name")
