"""Which units are found again, in another model or in other samples: rarebit/replication.h."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_bool, c_int64, c_size_t, c_void_p, sizeof
from typing import Any, Mapping, Optional, Union

from . import _library, _tables
from ._context import Context
from ._estimators import Estimator, _model_of, _threads
from ._library import ERROR, I, P, core
from ._model import Model
from ._options import Options


class CReplication(Structure):
    """rb_replication."""

    _fields_ = [("size", c_size_t), ("n_units", c_int64), ("n_others", c_int64),
                ("n_features", c_int64), ("permutations", c_int64), ("by_name", c_bool),
                ("no_signs", c_bool), ("units", c_void_p), ("same_data", c_bool)]


class CCohorts(Structure):
    """rb_cohorts."""

    _fields_ = [("size", c_size_t), ("n_units", c_int64), ("permutations", c_int64),
                ("n_samples", c_int64 * 2), ("units", c_void_p)]


_library.declare({
    "rb_replication_group": (P, []),
    "rb_compare_models": (ERROR, [P, P, P, P, POINTER(CReplication)]),
    "rb_replication_clear": (None, [POINTER(CReplication)]),
    "rb_replication_table": (_tables.CTable, [POINTER(CReplication)]),
    "rb_replication_found": (I, [POINTER(CReplication)]),
    "rb_compare_cohorts": (ERROR, [P, P, P, P, P, POINTER(CCohorts)]),
    "rb_cohorts_clear": (None, [POINTER(CCohorts)]),
    "rb_cohorts_table": (_tables.CTable, [POINTER(CCohorts)]),
    "rb_cohorts_found": (I, [POINTER(CCohorts)]),
})


def compare(first: Union[Estimator, Model], second: Union[Estimator, Model], *,
            n_jobs: Optional[int] = None, **options: Any) -> Any:
    """Which units of a model are found again in another one: a data frame with a row for each.

    docs/howto/replication.md has the columns. `attrs` has found (how many units are), n_features
    (that both have), by_name, and same_data: both were fitted to the same values, which is no
    replication.

    Parameters
    ----------
    first, second : fitted estimators, or Models
    options : permutations (1000), random_state (1), signs ("keep", "ignore", "auto")

    Examples
    --------
    >>> one, other = rarebit.RFN(5, random_state=1).fit(X), rarebit.RFN(5, random_state=2).fit(Y)
    >>> rarebit.compare(one, other, permutations=200)
    """
    found = CReplication(sizeof(CReplication))
    with Context(_threads(n_jobs)) as context, \
            Options(context, group=core.rb_replication_group()) as chosen:
        chosen.set_all(options)
        context.run(core.rb_compare_models, _model_of(first)._pointer, _model_of(second)._pointer,
                    chosen.pointer, byref(found))
        try:
            table = _tables.frame(core.rb_replication_table(byref(found))).set_index("unit")
            table.attrs = {"found": core.rb_replication_found(byref(found)),
                           "n_features": found.n_features, "by_name": found.by_name,
                           "same_data": found.same_data}
            return table
        finally:
            core.rb_replication_clear(byref(found))


def replicate(estimator: Estimator, X: Any, Y: Any, *,
              covariates: Optional[tuple[Mapping[str, Any], Mapping[str, Any]]] = None,
              **options: Any) -> Any:
    """Which units of a model live in both of two cohorts: a data frame with a row for each.

    Nothing is fitted. docs/howto/replication.md has the columns; `attrs["found"]` says how many
    units are found in both.

    Parameters
    ----------
    estimator : a fitted estimator
    X, Y : samples x features of the cohorts, as for `transform`
    covariates : those of X and those of Y
    options : permutations (1000), random_state (1)

    Examples
    --------
    >>> rarebit.replicate(rarebit.RFN(5, random_state=1).fit(X), X, Y, permutations=200)
    """
    model, beside = _model_of(estimator), covariates or (None, None)
    cohorts = [estimator._source(samples, table, reset=False)
               for samples, table in zip((X, Y), beside)]
    found = CCohorts(sizeof(CCohorts))
    with Context(_threads(estimator.n_jobs), int(estimator.verbose)) as context, \
            Options(context, group=core.rb_replication_group()) as chosen, \
            cohorts[0].lent(context) as one, cohorts[1].lent(context) as other:
        chosen.set_all(options)
        context.run(core.rb_compare_cohorts, model._pointer, one, other, chosen.pointer,
                    byref(found))
        try:
            table = _tables.frame(core.rb_cohorts_table(byref(found))).set_index("unit")
            table.attrs = {"found": core.rb_cohorts_found(byref(found))}
            return table
        finally:
            core.rb_cohorts_clear(byref(found))
