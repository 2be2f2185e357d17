"""Questions about data that take a fitted model, or many fits: modules, select, consensus,
methods."""

from __future__ import annotations

import os
from ctypes import POINTER, byref, c_char_p, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

from . import _library, _modules, _tables
from ._context import Callback, Context, python_names
from ._devices import on_device
from ._estimators import Estimator, _threads, parameters_of
from ._library import ERROR, F, I, P, S, core, has_io, io, text
from ._methods import samples_of
from ._model import Model
from ._options import Options
from ._sklearn import check_is_fitted
from ._sources import is_path

__all__ = ["Selection", "consensus", "merge", "methods", "modules", "select"]

_library.declare({
    "rb_select_options": (ERROR, [P, S, POINTER(P)]),
    "rb_select": (ERROR, [P, P, P, POINTER(P)]),
    "rb_selection_free": (None, [P]),
    "rb_selection_rows": (I, [P]),
    "rb_selection_name": (S, [P, I]),
    "rb_selection_get": (F, [P, I, S]),
    "rb_selection_choice": (S, [P, POINTER(I), POINTER(I), POINTER(I)]),
    "rb_consensus_group": (P, []),
    "rb_fit_consensus": (ERROR, [P, P, P, POINTER(P)]),
    "rb_methods_options": (ERROR, [P, POINTER(P)]),
    "rb_methods_compare": (ERROR, [P, P, P, P, POINTER(P)]),
    "rb_method_comparison_table": (_tables.CTable, [P]),
    "rb_method_comparison_summary": (S, [P]),
    "rb_method_comparison_free": (None, [P]),
})


def modules(estimator: Estimator, X: Any, members: bool = False, *,
            covariates: Optional[Mapping[str, Any]] = None,
            blocks: Optional[Sequence[Any]] = None, **options: Any) -> Any:
    """The samples and features that belong to each unit of a fitted estimator: a data frame.

    Parameters
    ----------
    estimator : a fitted estimator
    X, covariates : samples x features, as for `transform`
    members : False gives a row for each module, True one for each sample and feature of each
    blocks : the block of each sample (plate, family), for samples that depend on each other: whole
        blocks are permuted
    options : rule, sample_threshold, feature_threshold, best, level; with `permutations`, chances
        that noise makes such modules (columns p, p_family, p_permuted and fdr; `attrs["tested"]` of
        the frame says what is tested): null, significant, error_rate, seed

    Examples
    --------
    >>> rfn = rarebit.RFN(10, random_state=1).fit(X)
    >>> rarebit.modules(rfn, X, permutations=200)
    """
    check_is_fitted(estimator)
    source = estimator._source(X, covariates, reset=False)
    names = source.sample_names
    if names is None and hasattr(X, "index"):
        names = list(X.index)
    found = _modules.find(estimator.model_, source, _threads(estimator.n_jobs),
                          int(estimator.verbose), blocks, **options)
    return _modules.members(found, estimator.model_, names) if members \
        else _modules.frame(found, estimator.model_)


@dataclass(frozen=True)
class Selection:
    """How many units: what `select` found."""

    table: Any
    """A data frame with a row for each number of units that was tried; docs/howto/select.md has the
    columns."""
    n_components: Optional[int]
    """How many units are stable; None: nothing is, or one fit of each number cannot tell."""
    low: int
    """The fewest that are, over the numbers that decide."""
    high: int
    """The most."""
    why: str
    """The same in a sentence."""

    def __str__(self) -> str:
        return self.why


def _anew(estimator: Estimator) -> Estimator:
    return type(estimator)(**estimator.get_params(deep=False))


def _numbers(units: Union[str, int, Sequence[int]]) -> str:
    if isinstance(units, str):
        return units
    return ",".join(str(n) for n in ([units] if isinstance(units, int) else units))


def _table(selection: c_void_p) -> Any:
    import pandas

    columns, index = {}, 0
    while True:
        name = core.rb_selection_name(selection, index)
        if name is None:
            break
        columns[name.decode()] = [core.rb_selection_get(selection, row, name)
                                  for row in range(core.rb_selection_rows(selection))]
        index += 1
    return pandas.DataFrame(columns).astype({"units": int}).set_index("units")


def select(estimator: Estimator, X: Any, units: Union[str, Sequence[int]] = "10:20:5",
           **options: Any) -> Optional[Selection]:
    """How many units are stable: they recur from other starts and without other samples.

    Parameters
    ----------
    estimator : an estimator with the parameters of the fits, but for n_components and regress
    X : samples x features, as for `fit`
    units : the numbers to try: a range, or "10:20:5", "2:20", "5,10,20"
    options : restarts (6), folds (3), permutations (0), checkpoint: a file that keeps the results
        of all fits, from which the same call goes on; with it part, "1/3": only the first of three
        equal parts is done, and the result is None until the parts are put together by `merge`

    Examples
    --------
    >>> found = rarebit.select(rarebit.RFN(random_state=1), X, "10:20:5")
    >>> rfn = rarebit.RFN(found.n_components, random_state=1).fit(X)
    """
    chosen = {**parameters_of(estimator), "n_components": _numbers(units), **options}
    selection, numbers = c_void_p(), [c_int64() for _ in range(3)]
    if estimator.regress is not None:
        raise ValueError("select does not offer regress: leave it out of the estimator")
    if "covariates" in options:
        raise TypeError("select takes no covariates, since it does not offer regress: leave them out")
    source = _anew(estimator)._source(X, None, reset=True)
    with Context(_threads(estimator.n_jobs), int(estimator.verbose),
                 estimator.callback) as context, \
            Options(context, estimator._method, make=core.rb_select_options) as handle, \
            source.lent(context) as samples, \
            on_device(context, getattr(estimator, "device", None)):
        if has_io():
            io().rb_io_use(context._pointer)
        handle.set_all(chosen)
        context.run(core.rb_select, handle.pointer, samples, byref(selection))
        if not selection:  # other parts are missing
            return None
        try:
            why = text(core.rb_selection_choice(selection, *(byref(n) for n in numbers))) or ""
            picked, low, high = (n.value for n in numbers)
            return Selection(_table(selection), picked or None, low, high, why)
        finally:
            core.rb_selection_free(selection)


def merge(parts: Sequence[Any], path: Any) -> tuple[int, int]:
    """Puts the files of several machines into one checkpoint, from which the same call without
    `part` goes on: how many results are there, and how many there are to be.

    Parameters
    ----------
    parts : checkpoints of the same call with different parts
    path : where to write

    Examples
    --------
    >>> rarebit.select(rarebit.RFN(random_state=1), X, part="1/2", checkpoint="part1")
    >>> rarebit.select(rarebit.RFN(random_state=1), X, part="2/2", checkpoint="part2")
    >>> rarebit.merge(["part1", "part2"], "all")
    >>> rarebit.select(rarebit.RFN(random_state=1), X, checkpoint="all")
    """
    if is_path(parts):
        raise ValueError(f"parts is {parts!r}, but must be a list of files: [{parts!r}, ...]")
    names = [os.fsencode(part) for part in parts]
    if not names:
        raise ValueError("there are no parts to merge; name one or more")
    found, count = c_int64(), c_int64()
    with Context() as context:
        context.run(io().rb_journal_merge, (c_char_p * len(names))(*names), len(names),
                    os.fsencode(path), byref(found), byref(count))
    return found.value, count.value


def consensus(estimator: Estimator, X: Any, restarts: int = 20, *,
              covariates: Optional[Mapping[str, Any]] = None, checkpoint: Optional[Any] = None,
              **options: Any) -> Estimator:
    """What many fits of the same data have in common: a fitted estimator.

    Its units are those that come back, the most stable first; `stability_` says in what share of
    the fits each is.

    Parameters
    ----------
    estimator : an estimator with the parameters of the fits
    X, covariates : samples x features, as for `fit`
    restarts : how many fits
    checkpoint : a file that keeps each fit once it is made, from which the same call goes on
    options : stability, similarity, representative, refit

    Examples
    --------
    >>> stable = rarebit.consensus(rarebit.RFN(12), X, restarts=20)
    >>> stable.stability_
    """
    chosen = {**parameters_of(estimator), **options, "restarts": restarts,
              "checkpoint": None if checkpoint is None else os.fspath(checkpoint)}
    result = _anew(estimator)
    source, pointer = result._source(X, covariates, reset=True), c_void_p()
    with Context(_threads(estimator.n_jobs), int(estimator.verbose),
                 estimator.callback) as context, \
            Options(context, estimator._method, core.rb_consensus_group()) as handle, \
            source.lent(context) as samples, \
            on_device(context, getattr(estimator, "device", None)):
        if has_io():
            io().rb_io_use(context._pointer)
        handle.set_all(chosen)
        context.run(core.rb_fit_consensus, handle.pointer, samples, byref(pointer))
    result._keep(Model(pointer))
    result.stability_ = result._array("stability")[:, 0]
    return result


def methods(X: Any, labels: Optional[Sequence[Any]] = None, *,
            methods: Union[str, Sequence[str], None] = None, n_jobs: Optional[int] = None,
            verbose: int = 0, callback: Optional[Callback] = None, **options: Any) -> Any:
    """Every method that takes the data, on one scale: a data frame with a row for each.

    docs/howto/methods.md has the columns. `attrs["summary"]` says what the differences mean,
    and which methods are left out.

    Parameters
    ----------
    X : samples x features, as for `fit`
    labels : the class of each sample; None, and NaN, for a sample without
    methods : names of methods, as a list or a text; None: all but slow ones
    n_jobs, verbose, callback : as of an estimator
    options : n_components (10), folds (5), seeds (3), random_state (1), and those of preprocessing

    Examples
    --------
    >>> found = rarebit.methods(X, labels=types, methods=["rfn", "pca", "nmf"])
    >>> print(found.attrs["summary"])
    """
    names = methods if methods is None or isinstance(methods, str) else ",".join(methods)
    source, found = samples_of(X), c_void_p()
    with Context(_threads(n_jobs), verbose, callback) as context, \
            Options(context, make=lambda pointer, _, handle:
                    core.rb_methods_options(pointer, handle)) as handle, \
            source.lent(context) as samples, _modules.classes(context, labels) as classes:
        handle.set_all({"methods": names, **options})
        context.run(core.rb_methods_compare, handle.pointer, samples, classes, byref(found))
        try:
            import pandas

            table = pandas.DataFrame(_tables.columns(core.rb_method_comparison_table(found)))
            said = text(core.rb_method_comparison_summary(found)) or ""
            table.attrs["summary"] = python_names(said)
            return table.set_index("method")
        finally:
            core.rb_method_comparison_free(found)
