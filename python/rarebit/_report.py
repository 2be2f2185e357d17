"""What a model says of data, as one document: rarebit/document.h."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_size_t, c_void_p, sizeof
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _library, _modules, _tables
from ._context import Context
from ._estimators import Estimator, _model_of, _threads
from ._library import CReport, ERROR, I, P, S, core, io
from ._model import Model, metrics_of
from ._options import Options
from ._sources import column, is_path

PARTS = ("modules", "classes", "best_units", "unit_classes", "sets", "covariates")
Sets = Union[Mapping[str, Sequence[str]], str, "os.PathLike[str]", Sequence[Any]]


class CDocument(Structure):
    """rb_document; of what is found in between, nothing is looked at but its size."""

    _fields_ = [("size", c_size_t), ("model", c_void_p), ("source", c_void_p),
                ("options", c_void_p), ("sets", c_void_p), ("labels", c_void_p),
                ("covariates", c_void_p), ("with_codes", c_bool), ("with_metrics", c_bool),
                ("only_metrics", c_bool), ("modules", c_void_p), ("complete", c_bool),
                ("set_tests", c_size_t * 10), ("classes", c_size_t * 6), ("aucs", c_size_t * 6),
                ("covariate_tests", c_size_t * 4), ("metrics", c_void_p), ("codes", c_void_p),
                ("values", c_void_p), ("blocks", c_void_p)]


_library.declare({
    "rb_sets_group": (P, []),
    "rb_document_make": (ERROR, [P, POINTER(CDocument)]),
    "rb_document_clear": (None, [POINTER(CDocument)]),
    "rb_document_table": (_tables.CTable, [POINTER(CDocument), c_int]),
    "rb_feature_sets_new": (ERROR, [P, POINTER(P)]),
    "rb_feature_sets_free": (None, [P]),
    "rb_feature_sets_add": (ERROR, [P, P, S, POINTER(S), I]),
})


@dataclass(frozen=True)
class Report:
    """What `report` found: data frames, None where they were not asked for."""

    modules: Any
    """A row for each module, as of rarebit.modules."""
    members: Any
    """A row for each sample and feature of each module."""
    metrics: dict[str, float]
    """As of `evaluate`."""
    classes: Any = None
    """The class that each module goes with: overlap, precision, recall, p-value."""
    best_units: Any = None
    """The unit that marks each class best, by its AUC."""
    unit_classes: Any = None
    """Every unit with every class."""
    sets: Any = None
    """The sets of features that modules are enriched in."""
    covariates: Any = None
    """Every unit with every covariate."""


def report(estimator: Estimator, X: Any, *, labels: Any = None, sets: Optional[Sets] = None,
           covariates: Optional[Mapping[str, Any]] = None,
           covariate_groups: Union[str, Sequence[str]] = (),
           blocks: Optional[Sequence[Any]] = None, page: Optional[Any] = None,
           title: Optional[str] = None, **options: Any) -> Optional[Report]:
    """What a model says of data: modules, and the classes, sets of features and covariates that
    they go with. docs/howto/enrichment.md and covariates.md explain the columns.

    Parameters
    ----------
    estimator : a fitted estimator
    X : samples x features, as for `transform`
    labels : the class of each sample; None, and NaN, for a sample without. Of AnnData also a column
        of obs
    sets : names of features by the name of their set, or GMT files
    covariates : mapping or data frame of a value for each sample: numbers or groups. What `regress`
        of the fit needs is found there too. Of AnnData also a list of columns of obs
    covariate_groups : covariates that are numbers and stand for groups, such as "batch"
    blocks : as of rarebit.modules
    page : a file for a page of HTML that shows all of it, to look at and to send: report.html
    title : of the page
    options : those of rarebit.modules; with checkpoint and part the result is None until the parts
        are put together by rarebit.merge; gmt_min, gmt_max: smaller and larger sets are left out

    Examples
    --------
    >>> told = rarebit.report(rfn, cells, labels=types, covariates=samples[["age", "batch"]])
    >>> told.best_units
    >>> rarebit.report(rfn, cells, labels=types, page="report.html")
    """
    model = _model_of(estimator)
    labels = column(X, labels, "labels") if isinstance(labels, str) else labels
    if isinstance(covariates, (list, tuple)):
        covariates = {name: column(X, name, "covariates") for name in covariates}
    groups = [covariate_groups] if isinstance(covariate_groups, str) else covariate_groups
    given = [] if covariates is None else list(covariates)
    for name in groups:
        if name not in given:
            raise ValueError(f"covariate_groups names '{name}', but there is no such covariate; "
                             f"there are {', '.join(map(str, given)) or 'none'}")
    source = estimator._source(X, covariates, reset=False)
    asked = CDocument(sizeof(CDocument), model._pointer, with_metrics=True,
                      with_codes=page is not None)
    with ExitStack() as stack:
        enter = stack.enter_context
        context = enter(Context(_threads(estimator.n_jobs), int(estimator.verbose)))
        chosen = enter(Options(context, group=core.rb_modules_group()))
        for group in (core.rb_significance_group(), core.rb_sets_group()):
            context.call(core.rb_options_add, chosen.pointer, group)
        chosen.set_all(options)
        asked.source = enter(source.lent(context)).value
        asked.options = chosen.pointer
        asked.labels = enter(_modules.classes(context, labels)).value
        asked.blocks = enter(_modules.classes(context, blocks)).value
        asked.sets = enter(_sets(context, sets)).value
        asked.covariates = enter(_modules.covariates(context, covariates, groups)).value
        stack.callback(core.rb_document_clear, byref(asked))
        context.run(core.rb_document_make, byref(asked))
        if not asked.complete:
            return None
        if page is not None:
            _write(context, asked, page, title, getattr(source, "path", None), type(estimator))
        names = source.sample_names
        told = _told(asked, model, list(X.index) if names is None and hasattr(X, "index")
                     else names)
    return told


def _told(document: CDocument, model: Model, sample_names: Any) -> Report:
    found = _modules.each(c_void_p(document.modules))
    tables = {}
    for part, key in enumerate(PARTS):
        asked = {"modules": False, "sets": document.sets, "covariates": document.covariates}
        if asked.get(key, document.labels):
            tables[key] = _tables.frame(core.rb_document_table(byref(document), part),
                                        model.feature_names)
    return Report(_modules.frame(found, model), _modules.members(found, model, sample_names),
                  metrics_of(c_void_p(document.metrics)), **tables)


def _write(context: Context, document: CDocument, page: Any, title: Optional[str],
           data: Optional[str], made: type) -> None:
    told = CReport(sizeof(CReport), title and title.encode(), made.__name__.encode(),
                   data and os.fsencode(data))
    told.warnings, told.notes = texts(context.warnings), texts(context.notes)
    context.run(io().rb_report_write, byref(document), byref(told), os.fsencode(page))


def texts(messages: Sequence[str]) -> Any:
    """With a NULL at the end."""
    return (c_char_p * (len(messages) + 1))(*[message.encode() for message in messages])


@contextmanager
def _sets(context: Context, sets: Optional[Sets]) -> Iterator[c_void_p]:
    """Sets of features as an rb_feature_sets; NULL without any."""
    made = c_void_p()
    try:
        if sets is not None:
            context.call(core.rb_feature_sets_new, byref(made))
        if isinstance(sets, Mapping):
            for name, features in sets.items():
                texts = [str(feature).encode() for feature in features]
                context.call(core.rb_feature_sets_add, made, str(name).encode(),
                             (c_char_p * len(texts))(*texts), len(texts))
        elif sets is not None:
            paths: Any = [sets] if is_path(sets) else sets
            for path in paths:
                context.call(io().rb_feature_sets_read, os.fsencode(path), made)
        yield made
    finally:
        core.rb_feature_sets_free(made)
