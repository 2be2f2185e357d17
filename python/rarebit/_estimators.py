"""Estimators in scikit-learn's way, one a method of the library, made from its option tables."""

from __future__ import annotations

import inspect
import re
import textwrap
import time
import warnings
from typing import Any, Mapping, Optional

import numpy as np

from ._library import core, text
from ._context import Context
from ._model import Array, Model
from ._options import Option, options_of
from ._sklearn import BaseEstimator, ConvergenceWarning, TransformerMixin, check_is_fitted, \
    check_random_state, validate
from ._sources import ArraySource, Source, source_of

# What methods are called here; others by their name, Like This.
NAMES = {"rfn": "RFN", "linca": "LinCA", "nmf-et": "NMFET", "mca": "MCA", "pca": "PCA",
         "ica": "ICA", "fa": "FA", "sfa": "SFA", "fa-laplace": "FALaplace",
         "fa-jeffreys": "FAJeffreys", "fabia": "FABIA", "nmf": "NMF", "kmeans": "KMeans",
         "dae": "DAE", "rbm": "RBM"}

# Parameters that are no options of the library.
OWN = ("n_jobs", "verbose", "callback")


def class_name(method: str) -> str:
    """The class of a method: "fa-laplace" is FALaplace."""
    return NAMES.get(method) or "".join(part.title() for part in method.split("-"))


class Estimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all methods share."""

    _method: str = ""
    _options: tuple[Option, ...] = ()

    # -- fitting

    def fit(self, X: Any, y: Any = None) -> "Estimator":
        """Fits to samples x features."""
        source = self._source(X, reset=True)
        parameters = {option.parameter: getattr(self, option.parameter)
                      for option in self._options}
        parameters["random_state"] = _seed(self.random_state)
        model, stopped = Model.fit(self._method, source, parameters, threads=_threads(self.n_jobs),
                                   verbose=int(self.verbose), callback=self.callback)
        self.model_ = model
        self.n_iter_ = model.n_iter
        return self

    def transform(self, X: Any) -> Array:
        """Codes of samples, samples x components."""
        check_is_fitted(self)
        source = self._source(X, reset=False)
        return self.model_.encode(source, source.dtype, _threads(self.n_jobs))

    def _source(self, X: Any, reset: bool) -> Source:
        source = source_of(X)
        if source is None:
            names = getattr(X, "columns", None)
            source = ArraySource(validate(self, X, reset))
            if hasattr(self, "feature_names_in_") and names is not None:
                source.feature_names = list(self.feature_names_in_)
        elif reset:
            self.n_features_in_ = source.shape[1]
            if source.feature_names is not None:
                self.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        return source

    # -- what was found

    @property
    def components_(self) -> Array:
        """Loadings, components x features."""
        return self._array("loadings").T

    def _array(self, name: str) -> Array:
        array = self.model_.array(name)
        if array is None:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return array

    @property
    def history_(self) -> dict[str, Array]:
        """One value for each iteration, by name."""
        return self.model_.history


def _seed(random_state: Any) -> Any:
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _threads(n_jobs: Optional[int]) -> int:
    return 1 if n_jobs is None else max(int(n_jobs), 0)


def _make(method: str, title: str) -> type:
    options = options_of(method)
    ordered = sorted(options, key=lambda o: o.name != "units")
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for option in ordered:
        first = option.name == "units"
        parameters.append(inspect.Parameter(
            option.parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD if first
            else inspect.Parameter.KEYWORD_ONLY, default=option.value if first else None))
    for name, value in (("n_jobs", None), ("verbose", 0), ("callback", None)):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value))
    signature = inspect.Signature(parameters)

    def __init__(*arguments: Any, **keywords: Any) -> None:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        values = dict(bound.arguments)
        self = values.pop("self")
        for name, value in values.items():
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return type(class_name(method), (Estimator,), {
        "__init__": __init__, "__module__": "rarebit", "__doc__": title, "_method": method,
        "_options": tuple(ordered)})


def methods() -> list[tuple[str, str]]:
    """Name and title of each method that the library knows."""
    found = []
    with Context() as context:
        while True:
            method = core.rb_context_method(context._pointer, len(found))
            if not method:
                return found
            found.append((text(method.contents.name) or "", text(method.contents.title) or ""))


CLASSES: dict[str, type] = {class_name(name): _make(name, title) for name, title in methods()}
globals().update(CLASSES)
