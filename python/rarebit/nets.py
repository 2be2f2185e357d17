"""Nets: stacks of layers, nets that are trained on labels, and their layers for other programs.

They need librarebit-nets.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from ctypes import byref, c_int64, c_void_p, create_string_buffer, sizeof
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from ._context import Context, option_name, warn
from ._devices import on_device
from ._estimators import OWN, Estimator, _model_of, _order, _refuse_others, _threads, entries, \
    fitted_as, initialiser, of_model, parameters_of, signature_of
from ._library import CLabelled, CScores, CUnitWeights, has_nets, media, nets, nets_files, text
from ._methods import CLASSES
from ._model import Array, Model
from ._options import Option, Options
from ._sklearn import ClassifierMixin, DataConversionWarning, RegressorMixin, check_is_fitted
from ._sources import groups_of, is_missing

__all__ = ["NetClassifier", "NetRegressor", "Stack", "export", "import_net"]

Fitted = Union[Estimator, Model]
Grid = Optional[Mapping[str, Sequence[Any]]]
SCORES = ("samples", "error_rate", "low", "high", "log_loss", "calibration_error",
          "mean_squared_error")


# -- stacks


class Stack(Estimator):
    """A stack of layers, each fitted to the codes of the one below.

    `transform` gives the codes of the last layer; `inverse_transform`, `reconstruct` and
    `components_` go through all of them.

    Parameters
    ----------
    estimator : an estimator with the parameters of every layer; those that are numbers, choices and
        flags may be lists with a value for each
    n_components : units of each layer, the lowest first
    codes_memory : megabytes of codes that are kept while layers are fitted

    Attributes
    ----------
    layers_ : list of Models
        Each takes the codes of the one below.

    Examples
    --------
    >>> stack = rarebit.Stack(rarebit.RFN(random_state=1), [64, 16]).fit(X)
    >>> codes = stack.transform(X)
    """

    _method = "stack"

    def __init__(self, estimator: Estimator, n_components: Sequence[int] = (32, 16), *,
                 codes_memory: Optional[int] = None) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.codes_memory = codes_memory

    def __getattr__(self, name: str) -> Any:
        """Parameters that a stack does not have itself, such as n_jobs, are those of its layers."""
        estimator = self.__dict__.get("estimator")
        if estimator is None or name not in (*estimator._parameters, *OWN):
            raise AttributeError(f"a {type(self).__name__} has no {name}")
        return getattr(estimator, name)

    def fit(self, X: Any, y: Any = None, *, covariates: Optional[Mapping[str, Any]] = None,
            start: Any = None, **others: Any) -> "Stack":
        """Fits the layers, from below. Parameters are those of the estimators, without `start`."""
        _refuse_others(self, others)
        if start is not None:
            raise ValueError("a stack begins anew: leave start out")
        parameters = {**parameters_of(self.estimator), "n_components": self.n_components,
                      "codes_memory": self.codes_memory}
        listed = {name: _listed(value) if isinstance(value, (list, tuple)) else value
                  for name, value in parameters.items()}
        pointer = c_void_p()
        model = Model(pointer)
        with self._kept_on_failure():
            source = self._source(X, covariates, reset=True)
            make = nets().rb_stack_options
            with Context(_threads(self.n_jobs), int(self.verbose), self.callback) as context, \
                    Options(context, self.estimator._method, make=make) as chosen, \
                    source.lent(context) as samples, \
                    on_device(context, getattr(self.estimator, "device", None)):
                chosen.set_all(listed)
                stopped = context.run(nets().rb_stack_fit, chosen.pointer, samples, byref(pointer),
                                      keeps=True)
        self._keep(model)
        if stopped:
            self._tell_of_stop()
        return self

    @property
    def layers_(self) -> list[Model]:
        """Each takes the codes of the one below."""
        return [_layer(self._fitted(), k + 1)
                for k in range(nets().rb_stack_layers(self._fitted()._pointer))]


def stack_of(model: Model) -> Stack:
    """A fitted stack of a model; its estimator has the parameters of the lowest layer."""
    layers = [_layer(model, k + 1) for k in range(nets().rb_stack_layers(model._pointer))]
    stack = Stack(of_model(layers[0], CLASSES), [layer.n_components for layer in layers])
    stack._keep_loaded(model)
    return stack


def _layer(stack: Model, layer: int) -> Model:
    pointer = c_void_p()
    with Context() as context:
        context.call(nets().rb_stack_layer, stack._pointer, layer, byref(pointer))
    return Model(pointer)


# -- nets


class Net(Estimator):
    """What nets share: training, outputs and scores."""

    _method = "net"

    grid_: Any

    def _train(self, X: Any, y: Any, covariates: Any, start: Optional[Fitted], outputs: str,
               valid: Any = None, grid: Grid = None,
               changes: Mapping[str, Any] = {}) -> None:
        if grid is not None and valid is None:
            raise ValueError("grid needs valid: samples by which the best values are chosen")
        pointer = c_void_p()
        model = Model(pointer)
        with self._kept_on_failure(), ExitStack() as stack:
            enter = stack.enter_context
            context = enter(Context(_threads(self.n_jobs), int(self.verbose), self.callback))
            chosen = enter(Options(context, make=_make_options))
            chosen.set_all({**parameters_of(self), **changes, "outputs": outputs})
            going_on = start is not None and start is vars(self).get("model_")
            train = enter(self._labelled(context, X, y, covariates, reset=not going_on))
            beside = None
            if valid is not None:
                unseen = self._labelled(context, valid[0], valid[1], None, reset=False)
                beside = byref(enter(unseen))
            begun = None if start is None else _model_of(start)._pointer
            if grid is None:
                stopped = context.run(nets().rb_finetune, chosen.pointer, begun, byref(train),
                                      beside, byref(pointer), keeps=True)
            else:
                tried = c_void_p()
                stopped = context.run(nets().rb_finetune_grid, chosen.pointer, _values(grid), begun,
                                      byref(train), beside, byref(tried))
                stack.callback(nets().rb_grid_free, tried)
                self.grid_ = _points(tried)
                pointer.value = nets().rb_grid_take(tried)
        self._keep(model)
        if stopped:
            self._tell_of_stop()

    def _train_on(self, X: Any, y: Any, covariates: Any, outputs: str) -> None:
        """One pass over these samples, from the net so far."""
        if self.schedule not in (None, "constant"):
            raise ValueError(f"schedule is {self.schedule!r}, but partial_fit knows of no last epoch: "
                             "leave it out, and set rate between calls")
        if self.checkpoint is not None:
            raise ValueError("partial_fit keeps no checkpoint: leave it out; save writes the net")
        start, done = vars(self).get("model_"), 0
        changes: dict[str, Any] = {"epochs": 1, "patience": None, "max_time": None}
        if start is not None:
            made, shape = text(nets().rb_net_outputs(start._pointer)), (len(y), start.n_components)
            if made != outputs or (outputs != "softmax" and y.reshape(len(y), -1).shape != shape):
                raise ValueError(f"y has the shape {y.shape}, but the net so far predicts " + (
                    "one class a sample" if made == "softmax" else
                    f"{start.n_components} {'classes' if made == 'logistic' else 'values'} a sample"))
            first = {o.name: o.value for o in self._options}["seed"]
            done, seed = self.n_iter_, parameters_of(self)["random_state"]
            changes.update({o.parameter: None for o in self._options
                            if o.group == "Preprocessing" or o.name in ("layers", "filter")})
            changes["random_state"] = (first if seed is None else seed) + done  # other masks, order
        self._train(X, y, covariates, start, outputs, changes=changes)
        self.n_iter_ += done

    @contextmanager
    def _labelled(self, context: Context, X: Any, y: Any, covariates: Any,
                  reset: bool) -> Iterator[CLabelled]:
        """Samples with what the net is to give for them."""
        source = self._source(X, covariates, reset=reset)
        if len(y) != source.shape[0]:
            raise ValueError(f"y has {len(y)} values, but X has {source.shape[0]} samples")
        with source.lent(context) as samples:
            labelled = CLabelled(sizeof(CLabelled), samples.value)
            kept = self._targets(labelled, y)
            yield labelled
            del kept

    def _targets(self, labelled: CLabelled, y: Any) -> Any:
        """Fills in values; gives what must live as long."""
        values = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
        labelled.values, labelled.n_values = values.ctypes.data, values.shape[1]
        return values

    def scores(self, X: Any, y: Any, *, covariates: Optional[Mapping[str, Any]] = None
               ) -> dict[str, float]:
        """How good the net is on labelled samples: error_rate with its 95 % interval (low, high),
        log_loss, calibration_error, mean_squared_error, by name; NaN where there is none."""
        check_is_fitted(self)
        found = CScores(sizeof(CScores))
        with Context(_threads(self.n_jobs)) as context, \
                self._labelled(context, X, y, covariates, reset=False) as labelled:
            context.run(nets().rb_net_score, self.model_._pointer, byref(labelled), byref(found))
        told = {name: getattr(found, name) for name in SCORES}
        nets().rb_net_scores_clear(byref(found))
        return told


class Classifies(ClassifierMixin, Net):  # type: ignore[misc]
    """What NetClassifier does."""

    classes_: Array

    def fit(self, X: Any, y: Any = None, *,
            covariates: Optional[Mapping[str, Any]] = None,
            start: Optional[Fitted] = None,
            valid: Optional[tuple[Any, Any]] = None, grid: Grid = None,
            **others: Any) -> "NetClassifier":
        """Trains the net.

        Parameters
        ----------
        X, covariates : samples x features, as of the other estimators
        y : the class of each sample, None and NaN for those to leave out; or 0 and 1, samples x
            classes that do not exclude each other
        start : fitted estimator or Model, optional
            Its layers and preprocessing are where the net begins: an RFN, DAE, RBM, PCA, Stack or
            net. None: layers at random, as the parameter `layers` says.
        others : refused; so is sample_weight: class_weights weighs classes
        valid : (X, y), optional
            Samples that say when to stop: the net of the epoch with the fewest errors is kept.
        grid : dict of lists, optional
            Values to try, such as {"rate": [0.1, 0.01], "masking": [0, 0.25]}: a net is trained for
            each combination, n_jobs side by side, and the one with the fewest errors on `valid` is
            kept. `grid_` is then a data frame of what each gave.
        """
        _refuse_others(self, others)
        y = _given(self, y)
        several = y.ndim == 2 and y.shape[1] > 1
        known = y.ravel()[_known(y)]
        if known.dtype.kind == "f" and (known != np.round(known)).any():
            raise ValueError("Unknown label type: y has the value "
                             f"{known[known != np.round(known)][0]}, which is no class; "
                             "NetRegressor predicts values")
        with self._kept_on_failure():
            self.classes_ = np.arange(y.shape[1]) if several else np.unique(known)
            self._train(X, y, covariates, start, "logistic" if several else "softmax", valid, grid)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, *,
                    covariates: Optional[Mapping[str, Any]] = None,
                    **others: Any) -> "NetClassifier":
        """Makes one pass over these samples, in steps of `batch_size`, from the net so far: that
        of the last call, or of `fit`.

        Layers and preprocessing are those of the first call. Momentum begins anew in each: give
        many times `batch_size` samples. Other parameters may be changed between calls; `epochs`,
        `patience` and `max_time` are not used. `n_iter_` counts calls, `history_` has the last.

        Parameters
        ----------
        X, y, covariates, others : as of fit
        classes : needed at the first call
            All that y will ever have. Where y is samples x classes it is not needed.

        Examples
        --------
        >>> net = rarebit.NetClassifier(layers="64", random_state=1)
        >>> for X, y in batches:
        ...     net.partial_fit(X, y, classes=[0, 1])
        """
        _refuse_others(self, others, "partial_fit")
        y = _given(self, y)
        several, first = y.ndim == 2 and y.shape[1] > 1, "model_" not in vars(self)
        given: Any = None if classes is None else np.unique([c for c in classes if not is_missing(c)])
        if several:
            given = np.arange(y.shape[1])
        elif first and given is None:
            raise ValueError("classes must be given at the first call: samples to come may have "
                             "others than these")
        elif not first and given is not None and \
                sorted(self._places(given)) != list(range(len(self.classes_))):
            raise ValueError(f"classes is {given}, but was {self.classes_} at the first call")
        with self._kept_on_failure():
            if first:
                self.classes_ = given
            self._train_on(X, y, covariates, "logistic" if several else "softmax")
        return self

    def _targets(self, labelled: CLabelled, y: Any) -> Any:
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            return super()._targets(labelled, y)
        there, which = _known(y), np.full(y.size, -1, dtype=np.int64)
        known = y.ravel()[there]
        which[there] = self._places(known)
        strange = known[which[there] < 0].tolist()
        if strange:
            raise ValueError(f"y has the class {strange[0]!r}, which the training samples have not")
        names = groups_of(self.classes_)
        labelled.n_classes, labelled.class_of, labelled.names = len(names), which.ctypes.data, names
        return which, names

    def _places(self, labels: Array) -> list[int]:
        """The class of each label: the same value, the same text or the same number; -1: none."""
        classes = self.classes_.tolist()
        places = {_number_of(c): k for k, c in enumerate(classes)}
        places.update({str(c): k for k, c in enumerate(classes)})
        places.update({c: k for k, c in enumerate(classes)})
        return [places.get(v, places.get(str(v), places.get(_number_of(v), -1)))
                for v in labels.tolist()]

    def predict_proba(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """The probability of each class, samples x classes."""
        return self.transform(X, covariates=covariates)

    def predict(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """The most probable class of each sample; of classes that do not exclude each other 1
        where one is more probable than not, samples x classes."""
        chances = self.predict_proba(X, covariates=covariates)
        if text(nets().rb_net_outputs(self.model_._pointer)) == "logistic":
            return (chances > 0.5).astype(int)
        return np.asarray(self.classes_[chances.argmax(axis=1)])

    def score(self, X: Any, y: Any, *,  # type: ignore[override]
              covariates: Optional[Mapping[str, Any]] = None) -> float:
        """The share of the samples that are right."""
        return 1 - self.scores(X, y, covariates=covariates)["error_rate"]


class Regresses(RegressorMixin, Net):  # type: ignore[misc]
    """What NetRegressor does."""

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any = None, *,
            covariates: Optional[Mapping[str, Any]] = None,
            start: Optional[Fitted] = None,
            valid: Optional[tuple[Any, Any]] = None, grid: Grid = None,
            **others: Any) -> "NetRegressor":
        """Trains the net. y: values, samples x targets, or one a sample; parameters are else those
        of NetClassifier.fit."""
        _refuse_others(self, others)
        y = _given(self, y)
        with self._kept_on_failure():
            self._one = y.ndim == 1
            self._train(X, y, covariates, start, "linear", valid, grid)
        return self

    def partial_fit(self, X: Any, y: Any = None, *,
                    covariates: Optional[Mapping[str, Any]] = None,
                    **others: Any) -> "NetRegressor":
        """Makes one pass over these samples, from the net so far. Parameters are those of fit, and
        the rest as of NetClassifier.partial_fit."""
        _refuse_others(self, others, "partial_fit")
        y = _given(self, y)
        with self._kept_on_failure():
            if "model_" not in vars(self):
                self._one = y.ndim == 1
            self._train_on(X, y, covariates, "linear")
        return self

    def predict(self, X: Any, *, covariates: Optional[Mapping[str, Any]] = None) -> Array:
        """Values, samples x targets, or one a sample where y had one."""
        values = self.transform(X, covariates=covariates)
        return values[:, 0] if self._one else values

    def score(self, X: Any, y: Any, *,  # type: ignore[override]
              covariates: Optional[Mapping[str, Any]] = None) -> float:
        """R squared: 1 - the mean squared error over the variance of y."""
        error = self.scores(X, y, covariates=covariates)["mean_squared_error"]
        return float(1 - error / np.var(np.asarray(y, dtype=np.float64), axis=0).mean())


if TYPE_CHECKING:
    from ._methods import NetClassifier, NetRegressor
else:
    class NetClassifier(Classifies):
        """Predicts classes by a net of rectified layers."""

        def __init__(self, **parameters):
            raise NotImplementedError("nets need librarebit-nets")

    class NetRegressor(Regresses):
        """Predicts values by a net of rectified layers."""

        def __init__(self, **parameters):
            raise NotImplementedError("nets need librarebit-nets")


def _listed(values: Sequence[Any]) -> str:
    return ",".join(str(v).lower() if isinstance(v, bool) else str(v) for v in values)


def _values(grid: Mapping[str, Sequence[Any]]) -> bytes:
    """{"rate": [0.1, 0.01]} as the library reads it."""
    for name, values in grid.items():
        if np.ndim(values) == 0:
            raise ValueError(f"{name} of the grid is {values!r}, but must be a list of values")
    return " ".join(f"{option_name(name)}={_listed(values)}"
                    for name, values in grid.items()).encode()


def _points(grid: Any) -> Any:
    """What each point of a grid gave."""
    import pandas

    count, get = nets().rb_grid_points(grid), nets().rb_grid_get
    found: dict[str, list[Any]] = {"point": [text(nets().rb_grid_point(grid, i)) for i in range(count)]}
    for name in ("epochs", "best_epoch", "valid_error", "valid_loss"):
        found[name] = [get(grid, i, name.encode()) for i in range(count)]
    found["chosen"] = [i == nets().rb_grid_best(grid) for i in range(count)]
    return pandas.DataFrame(found)


def _given(net: Net, y: Any) -> Array:
    if y is None:
        raise ValueError(f"{type(net).__name__} requires y to be passed, but the target y is None")
    given: Array = np.asarray(y)
    if isinstance(net, Classifies) and given.ndim == 2 and given.shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected: y.ravel() is taken",
             DataConversionWarning)
        return np.ravel(given)
    return given


def _known(y: Array) -> Array:
    """Which have a class."""
    return np.asarray([not is_missing(v) for v in y.ravel().tolist()], dtype=bool)


def _number_of(label: Any) -> Any:
    """A number, also of a text; other texts stay."""
    try:
        return label if isinstance(label, bool) else float(label)
    except ValueError:
        return label


def _make_options(pointer: Any, _: Any, handle: Any) -> int:
    return int(nets().rb_finetune_options_new(pointer, handle))


def _net_options() -> tuple[Option, ...]:
    with Context() as context, Options(context, make=_make_options) as options:
        return _order([row for row in options.rows() if row.name != "outputs"])


def _complete(made: type[Net], options: tuple[Option, ...]) -> None:
    """Parameters and docstring from the option table."""
    title, y = (made.__doc__ or "").rstrip("."), "labels" if made is NetClassifier else "values"
    made._options, made._parameters = options, tuple(option.parameter for option in options)
    setattr(made, "__init__", initialiser(made.__name__, signature_of("net", options)))
    made.__doc__ = f"""{title}, trained from random layers or from those of a model.

Parameters
----------
{entries(options)}

Examples
--------
>>> rfn = rarebit.RFN(64, random_state=1).fit(X)
>>> net = rarebit.{made.__name__}(epochs=50, random_state=1).fit(X, {y}, start=rfn)
>>> net.predict(X_test)
"""


if has_nets():
    _rows = _net_options()
    for _made in (NetClassifier, NetRegressor):
        _complete(_made, _rows)


# -- for other programs


def net_of(model: Model) -> Net:
    """A fitted classifier or regressor of a net."""
    linear = text(nets().rb_net_outputs(model._pointer)) == "linear"
    net: Net = fitted_as(NetRegressor if linear else NetClassifier, model)
    if model.attributes.get("start", "none") != "none":  # whose preprocessing it is
        net.set_params(**{o.parameter: None for o in net._options
                          if o.group == "Preprocessing" and o.name != "regress"})
    if isinstance(net, NetClassifier):
        net.classes_ = np.asarray([_output(model, k) for k in range(model.n_components)])
    else:
        setattr(net, "_one", model.n_components == 1)
    return net


def _output(net: Model, output: int) -> str:
    buffer = create_string_buffer(1000)
    nets().rb_net_output_name(net._pointer, output, buffer, sizeof(buffer))
    return buffer.value.decode("utf-8", "replace")


def export(fitted: Fitted, path: Any, *, filter: Optional[str] = None,
           kernels: Optional[str] = None, whitening: Optional[Any] = None) -> None:
    """Writes the layers of a net, an RFN or a stack of RFN for other programs, by the suffix.

    Parameters
    ----------
    fitted : a fitted estimator, or a Model
    path : .onnx takes raw samples, all preprocessing is in it; .npz has weights1, bias1, ... and
        centre and scale, for numpy and PyTorch: docs/howto/export.md
    filter : of an RFN "posterior" (its codes) or "plain" (the directions of its loadings)
    kernels : of a model of patches their size, "5x5x1": to .npz kernels of a convolution, units x
        channels x height x width
    whitening : what `patches` wrote, to be folded into kernels

    Examples
    --------
    >>> rarebit.export(net, "net.onnx")
    """
    if whitening is not None and kernels is None:
        raise ValueError("whitening is folded into kernels: give both")
    model, layers, write = _model_of(fitted), c_void_p(), nets_files().rb_layers_write
    with Context() as context:
        context.call(nets().rb_layers_new, model._pointer, filter and filter.encode(),
                     byref(layers))
        try:
            if kernels is None:
                context.run(write, model._pointer, layers, os.fsencode(path))
            else:
                _write_kernels(context, model, layers, kernels, whitening, os.fsencode(path))
        finally:
            nets().rb_layers_free(layers)


def _write_kernels(context: Context, model: Model, layers: c_void_p, size: str, whitening: Any,
                   path: bytes) -> None:
    if nets().rb_layers_count(layers) != 1 or text(nets().rb_layers_activation(layers, 0)) != "rectify":
        raise ValueError("kernels are made of a model of one rectified layer")
    units, done = c_int64(), c_void_p()
    weights = nets().rb_layers_weights(layers, 0, byref(units), None)
    layer = CUnitWeights(units, weights, nets().rb_layers_bias(layers, 0))
    try:
        if whitening is not None:
            context.call(media().rb_whitening_read, os.fsencode(whitening), byref(done))
        context.run(media().rb_kernels_write, model._pointer, byref(layer), size.encode(), done, path)
    finally:
        media().rb_whitening_free(done)


def import_net(path: Any, like: Fitted) -> Net:
    """A net with the layers of a file, trained elsewhere, in place of its own.

    Parameters
    ----------
    path : .onnx or .npz, as `export` or PyTorch's state_dict names layers
    like : the net that was exported; its preprocessing, classes and options stay

    Examples
    --------
    >>> tuned = rarebit.import_net("tuned.npz", like=net)
    """
    pointer = c_void_p()
    with Context() as context:
        context.run(nets_files().rb_net_read, os.fsencode(path), _model_of(like)._pointer,
                    byref(pointer))
    net = net_of(Model(pointer))
    for name in ("classes_", "feature_names_in_"):
        if hasattr(like, name):
            setattr(net, name, getattr(like, name))
    return net
