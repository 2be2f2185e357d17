"""Models: what a fit leaves, and what is done with it."""

from __future__ import annotations

import os
from contextlib import nullcontext
from ctypes import byref, c_double, c_int64, c_size_t, c_void_p, string_at
from typing import Any, Callable, Iterator, Mapping, Optional

import numpy as np

from ._context import Callback, Context
from ._devices import on_device
from ._library import FLOAT32, StateFn, core, io, text
from ._options import Options
from ._registry import metrics_told
from ._sources import TYPES, ArraySource, Source

Array = np.ndarray[Any, np.dtype[Any]]


STATUSES = ("iterations", "converged", "stopped", "parameters", "patience", "time")


class Model:
    """A fitted model of any method: named arrays and attributes, and what is made with them."""

    _pointer = c_void_p()  # until there is one

    def __init__(self, pointer: c_void_p) -> None:
        if not isinstance(pointer, c_void_p):
            raise TypeError("a Model comes from a fit, Model.load or Model.from_bytes")
        self._pointer = pointer

    def __del__(self, free: Callable[[Any], Any] = core.rb_model_free) -> None:
        free(self._pointer)

    # -- where models come from

    @classmethod
    def fit(cls, method: str, source: Source, parameters: Mapping[str, Any], *, threads: int = 1,
            verbose: int = 0, callback: Optional[Callback] = None,
            start: Optional["Model"] = None, device: Optional[str] = None
            ) -> tuple["Model", bool]:
        """A model, and whether Ctrl-C ended the fit."""
        pointer = c_void_p()
        model = cls(pointer)  # frees what the fit may leave when it is ended
        with Context(threads, verbose, callback) as context, \
                Options(context, method) as options:
            options.set_all(parameters)
            with source.lent(context) as samples, on_device(context, device):
                stopped = context.run(core.rb_fit, options.pointer, samples,
                                      start._pointer if start else None, byref(pointer),
                                      keeps=True)
            for name, value in source.attributes().items():
                context.call(core.rb_model_set_attribute, pointer, name.encode(), value.encode())
        return model, stopped

    @classmethod
    def load(cls, path: Any) -> "Model":
        """The model of a file."""
        pointer = c_void_p()
        with Context() as context:
            context.run(io().rb_model_load, os.fsencode(path), byref(pointer))
        return cls(pointer)

    def save(self, path: Any) -> None:
        """Writes a model file, whole or not at all: the same as the program's."""
        with Context() as context:
            context.run(io().rb_model_save, self._pointer, os.fsencode(path))

    def to_bytes(self) -> bytes:
        """The model as bytes, the same on any machine."""
        memory, size = c_void_p(), c_size_t()
        with Context() as context:
            context.call(core.rb_model_save_memory, self._pointer, byref(memory), byref(size))
        try:
            return string_at(memory, size.value)
        finally:
            core.rb_free_memory(memory)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """The model of such bytes."""
        pointer = c_void_p()
        with Context() as context:
            context.call(core.rb_model_load_memory, content, len(content), byref(pointer))
        return cls(pointer)

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    # -- what is in it

    @property
    def method(self) -> str:
        return text(core.rb_model_method(self._pointer)) or ""

    @property
    def n_components(self) -> int:
        return int(core.rb_model_units(self._pointer))

    @property
    def n_features(self) -> int:
        """Features in use."""
        return int(core.rb_model_features(self._pointer))

    @property
    def n_inputs(self) -> int:
        """Features of the training data."""
        return int(core.rb_model_inputs(self._pointer))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the fit."""
        single = core.rb_model_type(self._pointer) == FLOAT32
        return np.dtype(np.float32 if single else np.float64)

    @property
    def status(self) -> str:
        """How the fit ended: "iterations" (all were made), "converged", "stopped", "parameters",
        "patience" or "time"."""
        return STATUSES[core.rb_model_status(self._pointer)]

    @property
    def features(self) -> Array:
        """The columns of the training data that are in use, from 0."""
        return np.array([core.rb_model_feature_index(self._pointer, k)
                         for k in range(self.n_features)], dtype=np.int64)

    @property
    def feature_names(self) -> Optional[list[str]]:
        """Of the features in use; None when the training data had no names."""
        names = [text(core.rb_model_feature_name(self._pointer, k)) for k in range(self.n_features)]
        return None if not names or names[0] is None else [name or "" for name in names]

    def array(self, name: str) -> Optional[Array]:
        """An array by name, rows x columns, as a copy; None when there is none of that name."""
        rows, columns = c_int64(), c_int64()
        values = core.rb_model_array(self._pointer, name.encode(), byref(rows), byref(columns))
        if not values:
            return None
        shape = (rows.value, columns.value)
        return np.ctypeslib.as_array(values, shape=shape).copy() if 0 not in shape \
            else np.empty(shape)

    @property
    def arrays(self) -> dict[str, Array]:
        """All arrays by name."""
        found = {name: self.array(name) for name in self._names(core.rb_model_array_name)}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def attributes(self) -> dict[str, str]:
        """What the fit was asked to do, and what is known of it."""
        return {name: text(core.rb_model_attribute(self._pointer, name.encode())) or ""
                for name in self._names(core.rb_model_attribute_name)}

    def _names(self, name_of: Any) -> Iterator[str]:
        index = 0
        while True:
            name = text(name_of(self._pointer, index))
            if name is None:
                return
            yield name
            index += 1

    @property
    def n_iter(self) -> int:
        return int(core.rb_model_iterations(self._pointer))

    @property
    def history(self) -> dict[str, Array]:
        """One value for each iteration, by name."""
        history = {name: np.empty(self.n_iter) for name in
                   ("objective", "estep_objective", "seconds")}
        values = [c_double() for _ in history]
        for t in range(self.n_iter):
            core.rb_model_history(self._pointer, t, *(byref(value) for value in values))
            for column, value in zip(history.values(), values):
                column[t] = value.value
        for name in metrics_told(core.rb_model_table(self._pointer).contents):
            history[name] = np.empty(self.n_iter)
            for t in range(self.n_iter):
                core.rb_model_metric(self._pointer, t, name.encode(), byref(values[0]))
                history[name][t] = values[0].value
        return history

    # -- what is done with it

    def encode(self, source: Source, dtype: Any = None, threads: int = 1,
               device: Optional[str] = None) -> Array:
        """Codes, samples x components."""
        return self._into(core.rb_encode_into, source, self.n_components, dtype, threads, device)

    def reconstruct(self, source: Source, dtype: Any = None, threads: int = 1) -> Array:
        """Samples rebuilt from their codes, on the scale of the data."""
        return self._into(core.rb_reconstruct_into, source, self.n_features, dtype, threads)

    def _into(self, function: Any, source: Source, columns: int, dtype: Any, threads: int,
              device: Optional[str] = None) -> Array:
        values = np.empty((source.shape[0], columns), dtype=dtype or self.dtype)
        with Context(threads) as context, source.lent(context) as samples, \
                on_device(context, device):
            call: Any = context.call if source.small else context.run
            call(function, self._pointer, samples, TYPES[values.dtype], values.ctypes.data,
                 columns, 1)
        return values

    def decode(self, codes: Any, dtype: Any = None, threads: int = 1) -> Array:
        """Samples that the model makes of codes, on the scale of the data."""
        source = ArraySource(codes)
        values = np.empty((source.shape[0], self.n_features), dtype=dtype or self.dtype)
        with Context(threads) as context, source.as_matrix(context) as matrix:
            context.run(core.rb_decode_into, self._pointer, matrix, TYPES[values.dtype],
                        values.ctypes.data, self.n_features, 1)
        return values

    def sample(self, count: int, options: Mapping[str, Any], source: Optional[Source] = None,
               dtype: Any = None, threads: int = 1) -> Array:
        """Samples drawn from the model, on the scale of the data; from a source: by the codes of its
        samples. options: noise, steps, random_state."""
        if count < 1:
            raise ValueError(f"n_samples is {count}, but must be at least 1")
        values = np.empty((count, self.n_features), dtype=dtype or self.dtype)
        with Context(threads) as context, \
                Options(context, group=core.rb_sample_group()) as chosen, \
                (source.lent(context) if source is not None else nullcontext()) as samples:
            chosen.set_all({**options, "count": count})
            context.run(core.rb_sample_into, self._pointer, samples, chosen.pointer,
                        TYPES[values.dtype], values.ctypes.data, self.n_features, 1)
        return values

    def states(self, source: Source, threads: int = 1) -> tuple[Array, Array]:
        """Of each sample the most probable state that expectation truncation looks at, samples x
        causes (0: not active), and its log evidence."""
        states = np.zeros((source.shape[0], self.n_components))
        evidence = np.full(source.shape[0], np.nan)

        def keep(_: Any, pointer: Any) -> int:
            state = pointer.contents
            evidence[state.sample] = state.log_evidence
            states[state.sample, state.causes[:state.count]] = state.values[:state.count]
            return 0

        with Context(threads) as context, source.lent(context) as samples:
            context.run(core.rb_states, self._pointer, samples, StateFn(keep), None)
        return states, evidence

    def evaluate(self, source: Source, threads: int = 1) -> dict[str, float]:
        """What can be measured of the model on samples, by name."""
        metrics = c_void_p()
        with Context(threads) as context, source.lent(context) as samples:
            context.run(core.rb_evaluate, self._pointer, samples, byref(metrics))
        try:
            return metrics_of(metrics)
        finally:
            core.rb_metrics_free(metrics)


def metrics_of(metrics: c_void_p) -> dict[str, float]:
    """The numbers of an rb_metrics, by name."""
    found: dict[str, float] = {}
    while (name := core.rb_metrics_name(metrics, len(found))) is not None:
        found[name.decode()] = float(core.rb_metrics_get(metrics, name))
    return found
