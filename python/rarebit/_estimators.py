"""Estimators in scikit-learn's way: what those of all methods share, and how they are made."""

from __future__ import annotations

import functools
import inspect
import textwrap
import time
from contextlib import contextmanager
from typing import Any, Container, Iterable, Iterator, Mapping, Optional, TypeVar, Union

import numpy as np

from ._context import warn
from ._model import Array, Model
from ._options import Option, options_of
from ._registry import Method
from ._sklearn import BaseEstimator, ClusterMixin, ConvergenceWarning, TransformerMixin, \
    check_is_fitted, check_random_state, validate
from ._sources import ArraySource, Source, checked, is_path, source_of

Self = TypeVar("Self", bound="Estimator")

# What classes are called; others after the name of their method.
NAMES = {"rfn": "RFN", "linca": "LinCA", "nmf-et": "NMFET", "mca": "MCA", "ssc": "SSC",
         "pca": "PCA", "ica": "ICA", "fa": "FA", "sfa": "SFA", "fa-laplace": "FALaplace",
         "fa-jeffreys": "FAJeffreys", "fabia": "FABIA", "nmf": "NMF", "kmeans": "KMeans",
         "dae": "DAE", "rbm": "RBM"}

# Methods of which components are directions: no more than the data have.
BY_RANK = ("pca", "ica")

# Methods that refuse values below 0.
NON_NEGATIVE = ("nmf",)

# Methods that fit on a device, too.
DEVICES = ("rfn", "linca", "nmf-et", "mca")

# Parameters that are no options of the library: default, type, what they do.
OWN = {
    "n_jobs": (None, "int", "Threads; -1 is one per processor. Results are the same bits for any "
               "number."),
    "verbose": (0, "int", "1 shows a bar where tqdm is installed, else a line a second, and what "
                "the library says of the fit; 2 a line an iteration."),
    "callback": (None, "Callable[[Progress], bool | None]", "Called after each iteration with a "
                 "rarebit.Progress; when it gives True the fit ends, with a usable model."),
    "min_shared": (0.1, "float", "Files and AnnData with less than this share of the model's "
                   "features by name are refused; features that are not there take their training "
                   "centre."),
    "on_interrupt": ("raise", '{"raise", "stop"}', "What Ctrl-C during a fit does, once an "
                     "iteration is complete: raise keeps the model of the last complete one and "
                     "raises KeyboardInterrupt; stop warns, and the program goes on."),
    "device": (None, "str", "Where fit and transform compute: None is the processor, cl the first GPU of OpenCL, "
               "cl:0 and so on what rarebit.devices() lists."),
}

# What parameters are called elsewhere.
ELSEWHERE = {"units": "n_components", "n_comps": "n_components", "k": "n_components",
             "n_clusters": "n_components", "max_iter": "iterations", "n_iter": "iterations",
             "seed": "random_state", "threads": "n_jobs", "n_init": "restarts"}

# Of an estimator, what fit learns of the data before the fit.
LEARNT = ("n_features_in_", "feature_names_in_", "classes_", "_one")

# What Ctrl-C may do to a fit.
INTERRUPTS = ("raise", "stop")

# Seconds within which a second Ctrl-C ends more than the fit.
AGAIN = 2.0


def class_name(method: str) -> str:
    """The class of a method: "fa-laplace" is FALaplace."""
    return NAMES.get(method) or "".join(part.title() for part in method.split("-"))


class Estimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What the estimators of all methods share."""

    _method: str = ""
    _options: tuple[Option, ...] = ()
    _parameters: tuple[str, ...] = ()
    _interrupted = float("-inf")  # when Ctrl-C last ended a fit

    model_: Model
    n_features_in_: int
    feature_names_in_: Array
    n_iter_: int
    status_: str

    # -- fitting and using

    def fit(self: Self, X: Any, y: Any = None, *, covariates: Optional[Mapping[str, Any]] = None,
            start: Union["Estimator", Model, None] = None, **others: Any) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix, data frame, AnnData, file name, or rarebit.Source
            Samples x features. Arrays of float32 and float64 (any strides), and compressed rows
            and columns, are not copied. AnnData that are backed, and files that allow it, are
            read block by block.
        y : ignored
        covariates : mapping or data frame, optional
            The columns that `regress` names, one value for each sample. Of AnnData they are found
            in `obs`. Columns of a data frame X that `regress` names are covariates, and no
            features: so they reach every step of a pipeline and every part of a search.
        start : fitted estimator or Model, optional
            To go on from; of the same method.
        others : refused; so is sample_weight, since all samples weigh alike

        Computed is in float32 unless precision="float64" is asked for, whatever the type of X; what
        is subtracted from features is subtracted in float64 before. Codes and samples that come
        out have the type of X.

        Ctrl-C ends a fit within half a second, with KeyboardInterrupt. `model_` is then that of the
        last complete iteration, where there is one, and `status_` is "stopped". With
        on_interrupt="stop" a ConvergenceWarning says so and the program goes on, unless Ctrl-C
        follows Ctrl-C within two seconds.
        """
        _refuse_others(self, others)
        if self.on_interrupt not in INTERRUPTS:
            raise ValueError(f'on_interrupt is {self.on_interrupt!r}, but must be "raise" or "stop"')
        with self._kept_on_failure():
            source = self._source(X, covariates, reset=True)
            parameters = parameters_of(self)
            if parameters["precision"] is None and source.dtype == np.float64 \
                    and getattr(X, "dtype", source.dtype) == np.float64 and not is_path(X):
                _tell_of_precision()
            if self.n_components is None and self._method in BY_RANK:
                parameters["n_components"] = max(1, min(self._options[0].value, *source.shape))
            model, stopped = Model.fit(
                self._method, source, parameters, threads=_threads(self.n_jobs),
                verbose=int(self.verbose), callback=self.callback,
                start=None if start is None else _model_of(start),
                device=getattr(self, "device", None))
        self._keep(model)
        if stopped:
            self._tell_of_stop()
        return self

    @contextmanager
    def _kept_on_failure(self) -> Iterator[None]:
        before = {name: self.__dict__[name] for name in LEARNT if name in self.__dict__}
        try:
            yield
        except BaseException:
            for name in LEARNT:
                self.__dict__.pop(name, None)
            self.__dict__.update(before)
            raise

    def _tell_of_stop(self) -> None:
        now, before = time.monotonic(), Estimator._interrupted
        Estimator._interrupted = now
        said = (f"the fit was stopped by Ctrl-C after {self.n_iter_} iterations: the model is that "
                "of the last complete one")
        if self.on_interrupt == "raise" or now - before < AGAIN:
            raise KeyboardInterrupt(said)
        warn(said, ConvergenceWarning)

    def _keep(self, model: Model) -> None:
        self.model_ = model
        self.n_features_in_ = model.n_inputs
        self.n_iter_ = model.n_iter
        self.status_ = model.status

    def _keep_loaded(self, model: Model) -> None:
        self._keep(model)
        names = model.feature_names
        if names is not None and len(names) == model.n_inputs:
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def transform(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """Codes of samples.

        Parameters
        ----------
        X, covariates : as of fit

        Returns
        -------
        array of n_samples x n_components, of the type of X
        """
        check_is_fitted(self)
        source = self._source(X, covariates, reset=False)
        return self.model_.encode(source, source.dtype, _threads(self.n_jobs),
                                  getattr(self, "device", None))

    def fit_transform(self, X: Any, y: Any = None, *,
                      covariates: Optional[Mapping[str, Any]] = None,
                      start: Union["Estimator", Model, None] = None, **others: Any) -> Any:
        """Fits the model, and gives the codes of its samples. Parameters are those of `fit`."""
        return self.fit(X, y, covariates=covariates, start=start, **others).transform(
            X, covariates=covariates)

    def inverse_transform(self, Z: Any) -> Array:
        """Samples that the model makes of codes, on the scale of the data.

        Centring, scaling and log1p are undone; samples scaled to `totals` stay so; features that
        are not in use (`top_variance`) are 0.
        """
        check_is_fitted(self)
        codes = ArraySource(np.asarray(Z))
        if len(np.shape(Z)) != 2:
            raise ValueError(f"codes have {len(np.shape(Z))} dimensions, but must have 2")
        return self._widen(self.model_.decode(Z, codes.dtype, _threads(self.n_jobs)))

    def reconstruct(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """Samples rebuilt from their codes, on the scale of the data: also the totals of samples
        and the effects of covariates are restored."""
        check_is_fitted(self)
        source = self._source(X, covariates, reset=False)
        return self._widen(self.model_.reconstruct(source, source.dtype, _threads(self.n_jobs)))

    def sample(self, n_samples: int = 1, random_state: Any = None, *, noise: float = 1.0,
               steps: Optional[int] = None, X: Any = None,
               covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """New samples, drawn from the model, on the scale of the data.

        Parameters
        ----------
        n_samples : int
        random_state : int, Generator, RandomState or None
            None: always the same samples.
        noise : float
            What standard deviations of the noise are multiplied by; 0: none.
        steps : int or None
            Of the chain that leads to a sample of an RBM; None: 1000.
        X, covariates : as of fit
            Samples from whose codes those of the new ones are drawn, each by its posterior; None:
            from the prior.

        Returns
        -------
        array of n_samples x n_features
        """
        check_is_fitted(self)
        source = None if X is None else self._source(X, covariates, reset=False)
        options = {"noise": noise, "steps": steps, "random_state": _seed(random_state)}
        return self._widen(self.model_.sample(n_samples, options, source,
                                              threads=_threads(self.n_jobs)))

    def evaluate(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None
                 ) -> dict[str, float]:
        """What can be measured of the model on samples, by name."""
        check_is_fitted(self)
        source = self._source(X, covariates, reset=False)
        return self.model_.evaluate(source, _threads(self.n_jobs))

    def states(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None
               ) -> tuple[Array, Array]:
        """Of expectation truncation the most probable causes of each sample, samples x components
        (0: not active), and the log evidence of each sample."""
        check_is_fitted(self)
        source = self._source(X, covariates, reset=False)
        return self.model_.states(source, _threads(self.n_jobs))

    def score(self, X: Any, y: Any = None, *, covariates: Optional[Mapping[str, Any]] = None
              ) -> float:
        """The mean log likelihood of a sample (of variational methods its bound); of methods that
        have none the share of the variance that is explained. Larger is better."""
        metrics = self.evaluate(X, covariates=covariates)
        for name in ("log_likelihood", "log_likelihood_bound", "variance_explained"):
            if np.isfinite(metrics.get(name, np.nan)):
                return metrics[name]
        return float("nan")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the codes: "rfn0", "rfn1", ..."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        return np.asarray([f"{prefix}{k}" for k in range(self.model_.n_components)], dtype=object)

    # -- files

    def save(self, path: Any) -> None:
        """Writes a model file: the same as the program's. Needs librarebit-io; pickle does not."""
        check_is_fitted(self)
        self.model_.save(path)

    # -- what was found

    @property
    def components_(self) -> Array:
        """Loadings, components x features; 0 for features that are not in use."""
        return self._widen(self._array("loadings").T)

    @property
    def noise_variance_(self) -> Any:
        """Of each feature (NaN where it is not in use), or one for all features."""
        sigma = self._fitted().array("sigma")
        if sigma is not None:
            return float(sigma[0, 0]) ** 2
        return self._widen(self._array("noise").T, np.nan)[0]

    @property
    def history_(self) -> dict[str, Array]:
        """One value for each iteration, by name: objective, seconds, ..."""
        return self._fitted().history

    def _fitted(self) -> Model:
        if "model_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.model_

    def _array(self, name: str) -> Array:
        array = self._fitted().array(name)
        if array is None:
            raise AttributeError(f"a {type(self).__name__} has no {name}")
        return array

    def _widen(self, rows: Array, filling: float = 0) -> Array:
        """Features in use among all features."""
        if rows.shape[1] == self.n_features_in_:
            return rows
        wide = np.full((rows.shape[0], self.n_features_in_), filling, dtype=rows.dtype)
        wide[:, self.model_.features] = rows
        return wide

    # -- for scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": self.missing not in (None, "refuse"),
                "requires_positive_X": self._method in NON_NEGATIVE,
                "preserves_dtype": [np.float64, np.float32]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._method in NON_NEGATIVE
        tags.input_tags.allow_nan = self.missing not in (None, "refuse")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _source(self, X: Any, covariates: Optional[Mapping[str, Any]], reset: bool) -> Source:
        source = source_of(X)
        X, within = (X, {}) if source is not None else self._split(X, covariates)
        if source is None:
            X = checked(X)
            source = ArraySource(validate(self, X, reset))
            if all(isinstance(name, str) for name in getattr(X, "columns", [None])):
                source.feature_names = list(X.columns)
            names = list(X.index) if hasattr(X, "columns") and hasattr(X, "index") else []
            if names and all(isinstance(name, str) for name in names):
                source.sample_names = names
        elif reset:
            self.n_features_in_ = source.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if source.feature_names is not None:
                self.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        table = source.table if covariates is None else covariates
        if table is not None:
            source.covariates = {name: table[name] for name in self._regressed() if name in table}
        source.covariates.update(within)
        source.min_shared = self.min_shared
        return source

    def _regressed(self) -> list[str]:
        """The covariates whose effects are taken out."""
        return regressed(self.regress)

    def _split(self, X: Any, covariates: Optional[Mapping[str, Any]]) -> tuple[Any, dict[str, Any]]:
        """The features of a data frame, and its columns that are covariates."""
        columns = getattr(X, "columns", ())
        names = [name for name in self._regressed()
                 if name in columns and (covariates is None or name not in covariates)]
        return (X.drop(columns=names), {name: X[name] for name in names}) if names else (X, {})


def regressed(regress: Optional[str]) -> list[str]:
    """The covariates that `regress` names: "batch:groups,age"."""
    return [name.split(":")[0].strip() for name in (regress or "").split(",") if name]


def parameters_of(estimator: Estimator) -> dict[str, Any]:
    """Its options, with a seed for a random_state."""
    if not isinstance(estimator, Estimator):
        raise TypeError("an estimator is needed, such as rarebit.RFN(), but this is "
                        f"{estimator!r}")
    values = {name: getattr(estimator, name) for name in estimator._parameters}
    values["random_state"] = _seed(values.get("random_state"))
    return values


class Batches(Estimator):
    """An estimator that learns from batches of samples, one after the other."""

    def partial_fit(self: Self, X: Any, y: Any = None, *,
                    covariates: Optional[Mapping[str, Any]] = None, **others: Any) -> Self:
        """Makes one iteration with these samples, from the model so far.

        Preprocessing is that of the first call, as `missing="omit"` alone can still be said later.
        Nothing else is remembered of earlier batches than the model: give batches of more samples
        than units, and several passes. Where all samples can be read, `fit` with the parameter
        `batch_size` also keeps moments of earlier batches.

        Parameters
        ----------
        X, covariates, others : as of fit

        Examples
        --------
        >>> rfn = rarebit.RFN(10, random_state=1)
        >>> for batch in batches:
        ...     rfn.partial_fit(batch)
        """
        _refuse_others(self, others, "partial_fit")
        before = vars(self).get("model_")
        with self._kept_on_failure():
            source = self._source(X, covariates, reset=before is None)
            parameters: dict[str, Any] = {**parameters_of(self), "iterations": 1}
            if before is not None:
                parameters.update((o.parameter, None) for o in self._options
                                  if o.group == "Preprocessing" or o.name == "restarts")
            model, stopped = Model.fit(
                self._method, source, parameters, threads=_threads(self.n_jobs),
                verbose=int(self.verbose), callback=self.callback, start=before,
                device=getattr(self, "device", None))
        done = self.n_iter_ if before is not None else 0
        self._keep(model)
        self.n_iter_ += done
        if stopped:
            self._tell_of_stop()
        return self


class Directions(Estimator):
    """An estimator whose units are principal components."""

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the variance that each component explains."""
        return self._array("explained")[:, 0]

    @property
    def explained_variance_(self) -> Array:
        """The variance of the data along each component, with 1/n, where scikit-learn has
        1/(n - 1)."""
        if self._fitted().attributes["whiten"] == "true":  # loadings have its root as length
            return np.asarray((self._array("loadings") ** 2).sum(axis=0))
        return self._array("variance")[:, 0]

    @property
    def mean_(self) -> Array:
        """Of each feature: what codes of 0 stand for."""
        centre = self.inverse_transform(np.zeros((1, self._fitted().n_components)))
        return np.asarray(centre[0])


class Clusters(ClusterMixin, Estimator):  # type: ignore[misc]
    """An estimator whose codes are 1 for one unit and 0 for the others."""

    labels_: Array
    inertia_: float

    def fit(self: Self, X: Any, y: Any = None, *, covariates: Optional[Mapping[str, Any]] = None,
            start: Union[Estimator, Model, None] = None, **others: Any) -> Self:
        """Fits the model; `labels_` is the unit of each sample of X, by one more pass. Parameters
        are those of the other estimators."""
        super().fit(X, y, covariates=covariates, start=start, **others)
        self.labels_ = self.predict(X, covariates=covariates)
        self.inertia_ = self.evaluate(X, covariates=covariates)["reconstruction_error"] ** 2
        return self

    def fit_predict(self, X: Any, y: Any = None, *,
                    covariates: Optional[Mapping[str, Any]] = None,
                    start: Union[Estimator, Model, None] = None, **others: Any) -> Array:
        """Fits the model, and gives `labels_`. Parameters are those of `fit`."""
        return self.fit(X, y, covariates=covariates, start=start, **others).labels_

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        for name in ("labels_", "inertia_"):  # of the model before
            self.__dict__.pop(name, None)

    def predict(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """The unit of each sample, from 0."""
        return np.asarray(self.transform(X, covariates=covariates).argmax(axis=1))

    @property
    def cluster_centers_(self) -> Array:
        """n_components x features, on the scale of the data."""
        return self.inverse_transform(np.eye(self._fitted().n_components))


@functools.lru_cache(maxsize=None)
def _tell_of_precision() -> None:
    """Once a process."""
    warn('values of float64 are computed in float32, as the program rarebit does: '
         'precision="float64" computes in float64, precision="float32" is what was done '
         "now (this is said once)")


def _seed(random_state: Any) -> Any:
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _threads(n_jobs: Optional[int]) -> int:
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)) or not -1 <= n_jobs <= 1024:
        raise ValueError(f"n_jobs is {n_jobs!r}, but must be a whole number, -1 to 1024")
    return max(int(n_jobs), 0)


def _model_of(fitted: Any) -> Model:
    if isinstance(fitted, Estimator):
        check_is_fitted(fitted)
        return fitted.model_
    if not isinstance(fitted, Model):
        raise TypeError("a fitted estimator or a rarebit.Model is needed, but this is of type "
                        f"{type(fitted).__name__}")
    return fitted


def _refuse_others(estimator: Estimator, others: Mapping[str, Any], call: str = "fit") -> None:
    """Arguments of fit or partial_fit that it does not take."""
    name = type(estimator).__name__
    if others.get("sample_weight") is not None:
        raise TypeError(f"{name} takes no sample_weight, since all samples weigh alike; leave it "
                        "out, or repeat the samples that are to count more")
    for other in others:
        if other != "sample_weight":
            raise TypeError(f"{call} of {name} has no argument '{other}'; "
                            f"help(rarebit.{name}.{call}) has all")


def refuse_unknown(who: str, keywords: Iterable[str], known: Container[str]) -> None:
    """Names what a parameter is called here that has another name elsewhere."""
    for name in keywords:
        if name not in known:
            here = ELSEWHERE.get(name, "")
            hint = f": it is called {here}" if here in known else f"; help(rarebit.{who}) has all"
            raise TypeError(f"{who} has no parameter '{name}'{hint}")


# -- classes from tables


def _order(options: list[Option]) -> tuple[Option, ...]:
    """Components first, then what is for everybody; the method's own before those of fits."""
    return tuple(sorted(options, key=lambda o: (o.name != "units", o.level != 1)))


def own_of(method: str) -> dict[str, tuple[Any, str, str]]:
    """Of a method."""
    return {name: row for name, row in OWN.items() if name != "device" or method in DEVICES}


def signature_of(method: str, options: tuple[Option, ...]) -> inspect.Signature:
    """Components by position, all others by name. None is the library's default."""
    kind = inspect.Parameter
    parameters = [kind("self", kind.POSITIONAL_OR_KEYWORD)]
    for option in options:
        first = option.name == "units"
        parameters.append(kind(option.parameter,
                               kind.POSITIONAL_OR_KEYWORD if first else kind.KEYWORD_ONLY,
                               default=option.value if first and method not in BY_RANK else None))
    parameters += [kind(name, kind.KEYWORD_ONLY, default=default)
                   for name, (default, _, _) in own_of(method).items()]
    return inspect.Signature(parameters)


def _entry(name: str, described: str, sentence: str) -> str:
    body = textwrap.fill(sentence, 88, initial_indent="    ", subsequent_indent="    ")
    return f"{name} : {described}\n{body}"


def entries(options: tuple[Option, ...], method: str = "") -> str:
    """What a docstring says of parameters."""
    lines = []
    for option in options:
        default = "" if option.default is None else f", default {option.default}"
        if option.name == "units" and method in BY_RANK:
            default += " or what the data have"
        lines.append(_entry(option.parameter, option.description + default, option.sentence))
    lines += [_entry(name, f"{described}, default {default}", sentence)
              for name, (default, described, sentence) in own_of(method).items()]
    return "\n".join(lines)


# What classes of some methods stand on, and what they have besides.
BASES = {"kmeans": Clusters, "pca": Directions}
BESIDES = {"kmeans": """labels_ : array of n_samples
    The unit of each training sample, from 0; not of a model that was loaded.
inertia_ : float
    Sum of the squared distances of the preprocessed training samples from the nearest centre; not
    of a model that was loaded.
cluster_centers_ : array of n_components x n_features_in_
    On the scale of the data.
""", "pca": """explained_variance_ratio_, explained_variance_ : array of n_components
    The share of the variance along each component; the variance, with 1/n.
mean_ : array of n_features_in_
    What is subtracted from each feature.
"""}


def document(method: Method, options: tuple[Option, ...]) -> str:
    """The docstring of a class, from the option tables."""
    title = method.title[0].upper() + method.title[1:]
    return f"""{title}.

A parameter that is None has the library's default, which is given here; presets change some of
them. random_state takes whole numbers, RandomState and Generator.

Parameters
----------
{entries(options, method.name)}

Attributes
----------
components_ : array of n_components x n_features_in_
    Loadings.
noise_variance_ : array of n_features_in_, or float
    Variance of the noise.
n_iter_ : int
    Iterations made.
status_ : str
    How the fit ended: "iterations", "converged", "stopped", "parameters", "patience" or "time".
history_ : dict of arrays
    One value for each iteration: objective, estep_objective, seconds, and what the method has.
model_ : Model
    The model: all its arrays and attributes.
n_features_in_ : int
    Features of the training data.
feature_names_in_ : array of str
    Their names, where they have names.
{BESIDES.get(method.name, "")}
Examples
--------
>>> fitted = rarebit.{class_name(method.name)}(10).fit(X)
>>> codes = fitted.transform(X)
"""


def initialiser(name: str, signature: inspect.Signature) -> Any:
    """The __init__ of a class: it keeps its parameters, and names those that it does not know."""
    def __init__(*arguments: Any, **keywords: Any) -> None:
        refuse_unknown(name, keywords, signature.parameters)
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        for parameter, value in bound.arguments.items():
            if parameter != "self":
                setattr(bound.arguments["self"], parameter, value)

    setattr(__init__, "__signature__", signature)
    return __init__


def make(method: Method) -> type[Estimator]:
    """The class of a method."""
    options, name = _order(options_of(method.name)), class_name(method.name)
    base = BASES.get(method.name, Batches if method.batches else Estimator)
    return type(name, (base,), {
        "__init__": initialiser(name, signature_of(method.name, options)),
        "__module__": "rarebit", "__doc__": document(method, options), "_method": method.name,
        "_options": options, "_parameters": tuple(option.parameter for option in options)})


def of_model(model: Model, classes: Mapping[str, type[Estimator]]) -> Estimator:
    """A fitted estimator of a model, with the parameters of its fit."""
    made = classes.get(class_name(model.method))
    if made is None:
        raise ValueError(f"the model is of '{model.method}', which is no estimator; take "
                         "rarebit.Model.load, whose encode and arrays all models have")
    return fitted_as(made, model)


def fitted_as(made: type[Self], model: Model) -> Self:
    """A fitted estimator of a class, with the parameters of the model's fit."""
    attributes = model.attributes
    parameters = {o.parameter: o.parse(attributes[o.name]) for o in made._options
                  if attributes.get(o.name) and o.parse(attributes[o.name]) != o.value}
    estimator = made(**parameters)
    estimator._keep_loaded(model)
    return estimator
