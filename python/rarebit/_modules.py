"""Modules of a model in samples: rarebit/modules.h and rarebit/significance.h."""

from __future__ import annotations

from contextlib import contextmanager
from ctypes import POINTER, Structure, byref, c_bool, c_double, c_int64, c_size_t, \
    c_void_p, sizeof
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from . import _library, _tables
from ._context import Context
from ._library import ERROR, I, P, S, core, text
from ._model import Array, Model
from ._options import Options
from ._sources import Source, groups_of


class CMember(Structure):
    """rb_member."""

    _fields_ = [("index", c_int64), ("weight", c_double)]


class CModule(Structure):
    """rb_module."""

    _fields_ = [("unit", c_int64), ("information", c_double), ("samples", POINTER(CMember)),
                ("n_samples", c_int64), ("features", POINTER(CMember)), ("n_features", c_int64),
                ("stability", c_double)]


class CView(Structure):
    """rb_view."""

    _fields_ = [("size", c_size_t), ("samples", c_void_p), ("features", c_void_p),
                ("n_samples", c_int64), ("n_features", c_int64), ("values", c_void_p)]


_library.declare({
    "rb_modules_group": (P, []),
    "rb_significance_group": (P, []),
    "rb_modules_find": (ERROR, [P, P, P, P, POINTER(P)]),
    "rb_covariates_new": (ERROR, [P, I, POINTER(P)]),
    "rb_covariates_add_groups": (ERROR, [P, P, S, P]),
    "rb_covariates_add_numbers": (ERROR, [P, P, S, POINTER(c_double)]),
    "rb_covariates_free": (None, [P]),
    "rb_modules_permute": (ERROR, [P, P, P, P, P, P, POINTER(c_bool)]),
    "rb_modules_free": (None, [P]),
    "rb_modules_count": (I, [P]),
    "rb_modules_get": (POINTER(CModule), [P, I]),
    "rb_modules_rule": (S, [P]),
    "rb_modules_tested": (S, [P]),
    "rb_view_fill": (ERROR, [P, P, P, POINTER(CView)]),
})


@dataclass(frozen=True)
class Module:
    """Samples and features that one unit ties together, with their weights, heaviest first."""

    unit: int
    """Of the model, from 0."""
    information: float
    """Of the unit, in nats."""
    samples: Array
    """Rows of the data, from 0."""
    sample_weights: Array
    features: Array
    """Of those in use of the model, from 0."""
    feature_weights: Array
    stability: float
    """Share of the models of a consensus that have the unit; 0: of no consensus."""
    significance: Optional[dict[str, float]]
    """p, p_family, p_permuted and fdr, where data were permuted."""
    tested: Optional[str]
    """What these are about, and what not."""
    score: float
    """What modules are ranked by, in nats: docs/howto/modules.md."""
    role: str
    """"module"; "other side" of a unit whose codes have signs; "spare", no more than noise may be,
    or "background", what centring leaves: these are no modules and come last."""

    @property
    def name(self) -> str:
        """ "3", or "3-" for the other side of unit 3."""
        return f"{self.unit}-" if self.role == "other side" else str(self.unit)


def _members(members: Any, count: int) -> tuple[Array, Array]:
    if count == 0:
        return np.empty(0, np.int64), np.empty(0)
    pairs = np.ctypeslib.as_array(members, shape=(count,))
    return pairs["index"].copy(), pairs["weight"].copy()


def members_of(modules: c_void_p) -> list[tuple[Array, Array]]:
    """Samples and features of each module."""
    found = (core.rb_modules_get(modules, rank).contents
             for rank in range(core.rb_modules_count(modules)))
    return [(_members(m.samples, m.n_samples)[0], _members(m.features, m.n_features)[0])
            for m in found]


def each(modules: c_void_p) -> list[Module]:
    """Modules of the library as those of Python."""
    return list(_each(modules))


def _each(modules: c_void_p) -> Iterator[Module]:
    columns = _tables.columns(core.rb_modules_table(modules))
    chances = [name for name in ("p", "p_family", "p_permuted", "fdr") if name in columns]
    for rank in range(core.rb_modules_count(modules)):
        row = {name: column[rank] for name, column in columns.items()}
        m = core.rb_modules_get(modules, rank).contents
        yield Module(row["unit"], row["information"], *_members(m.samples, m.n_samples),
                     *_members(m.features, m.n_features), row.get("stability") or 0.0,
                     {name: row[name] for name in chances} or None,
                     text(core.rb_modules_tested(modules)), row["score"], row["role"])


def classes(context: Context, labels: Optional[Sequence[Any]]) -> Any:
    """Classes as an rb_covariates; NULL without labels."""
    return covariates(context, None if labels is None else {"class": labels}, ("class",))


@contextmanager
def covariates(context: Context, table: Optional[Mapping[str, Any]],
               groups: Sequence[str] = ()) -> Iterator[c_void_p]:
    """A mapping or data frame as an rb_covariates; NULL without one. Numbers are groups where
    `groups` names them."""
    made, count = c_void_p(), -1
    try:
        table = {} if table is None else table
        for name in table:
            column = np.asarray(table[name])
            if count < 0:
                count = len(column)
                context.call(core.rb_covariates_new, count, byref(made))
            if len(column) != count:
                raise ValueError(f"{name} has {len(column)} values, but there are {count} samples")
            if column.dtype.kind in "biuf" and name not in groups:
                context.call(core.rb_covariates_add_numbers, made, str(name).encode(),
                             column.astype(np.float64).ctypes.data_as(POINTER(c_double)))
            else:
                context.call(core.rb_covariates_add_groups, made, str(name).encode(),
                             groups_of(column))
        yield made
    finally:
        core.rb_covariates_free(made)


def find(model: Model, source: Source, threads: int = 1, verbose: int = 0,
         blocks: Optional[Sequence[Any]] = None, **options: Any) -> list[Module]:
    """Modules of a model in samples, of largest score first."""
    if blocks is not None and not options.get("permutations"):
        raise ValueError("blocks does nothing without permutations; give both, or neither")
    modules = c_void_p()
    with Context(threads, verbose) as context, \
            Options(context, group=core.rb_modules_group()) as chosen, \
            source.lent(context) as samples, classes(context, blocks) as groups:
        context.call(core.rb_options_add, chosen.pointer, core.rb_significance_group())
        chosen.set_all(options)
        try:
            context.run(core.rb_modules_find, model._pointer, samples, chosen.pointer,
                        byref(modules))
            context.run(core.rb_modules_permute, model._pointer, samples, chosen.pointer, groups,
                        modules, None)
            return each(modules)
        finally:
            core.rb_modules_free(modules)


def _called(members: Array, names: Any, indices: Array) -> Array:
    """Names of members, or their indices where there are no names."""
    return indices if names is None else np.asarray(names, dtype=object)[members]


def frame(modules: list[Module], model: Model) -> Any:
    """A row for each module, as `rarebit modules` prints it."""
    import pandas

    labels: Any = model.features if model.feature_names is None else model.feature_names

    def heaviest(m: Module, above: bool, most: int = 5) -> str:
        chosen = m.features[(m.feature_weights > 0) == above][:most]
        return " ".join(str(labels[k]) for k in chosen)

    table = pandas.DataFrame({
        "unit": [m.unit for m in modules],
        "information": [m.information for m in modules],
        "score": [m.score for m in modules],
        "role": [m.role for m in modules],
        "samples": [len(m.samples) for m in modules],
        "features": [len(m.features) for m in modules]})
    for name in ("p", "p_family", "p_permuted", "fdr"):
        if modules and modules[0].significance:
            table[name] = [m.significance[name] for m in modules if m.significance]
    if modules and modules[0].tested:
        table.attrs["tested"] = modules[0].tested
    if modules and modules[0].stability > 0:
        table["stability"] = [m.stability for m in modules]
    table["up"] = [heaviest(m, True) for m in modules]
    table["down"] = [heaviest(m, False) for m in modules]
    return table.set_index("unit")


def members(modules: list[Module], model: Model, sample_names: Any) -> Any:
    """A row for each member of each module, as `rarebit modules -o modules.tsv` writes it."""
    import pandas

    columns = model.features
    parts = []
    for rank, m in enumerate(modules):
        sides: tuple[tuple[str, Array, Array, Array, Any], ...] = (
            ("sample", m.samples, m.samples, m.sample_weights, sample_names),
            ("feature", m.features, columns[m.features], m.feature_weights, model.feature_names))
        for kind, which, index, weight, names in sides:
            part: dict[str, Any] = {"module": rank, "unit": m.unit,
                                    "information": m.information, "kind": kind,
                                    "name": _called(which, names, index), "index": index,
                                    "weight": weight}
            if m.stability > 0:
                part["stability"] = m.stability
            parts.append(pandas.DataFrame({**part, **(m.significance or {}), "score": m.score,
                                           "role": m.role}))
    if not parts:
        return pandas.DataFrame(columns=["module", "unit", "information", "kind", "name", "index",
                                         "weight", "score", "role"])
    return pandas.concat(parts, ignore_index=True)


def view(model: Model, source: Source, samples: Array, features: Array) -> Array:
    """The data as the model sees them, each feature at mean 0 and standard deviation 1 over all
    samples: features x samples. Samples ascend; features are of those in use."""
    samples = np.ascontiguousarray(samples, dtype=np.int64)
    features = np.ascontiguousarray(features, dtype=np.int64)
    values = np.empty((len(features), len(samples)), dtype=np.float32)
    asked = CView(sizeof(CView), samples.ctypes.data, features.ctypes.data, len(samples),
                  len(features), values.ctypes.data)
    with Context() as context, source.lent(context) as lent:
        context.run(core.rb_view_fill, model._pointer, lent, byref(asked))
    return values
