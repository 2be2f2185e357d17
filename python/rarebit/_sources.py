"""Samples, from wherever they are: arrays, tables, files, AnnData, functions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_void_p, memmove
from typing import Any, Callable, Iterator, Optional, Sequence

import numpy as np

from ._context import Context
from ._library import FLOAT32, FLOAT64, Error, SourceFn, core, io, text
from ._options import Options

TYPES = {np.dtype(np.float32): FLOAT32, np.dtype(np.float64): FLOAT64}


def is_path(X: Any) -> bool:
    """Is it the name of a file?"""
    return isinstance(X, (str, os.PathLike))


def _texts(names: Sequence[str]) -> Any:
    return (c_char_p * len(names))(*[str(name).encode() for name in names])


class Source:
    """Samples that the library reads, block by block."""

    dtype: np.dtype[Any]
    feature_names: Optional[Sequence[str]] = None
    sample_names: Optional[Sequence[str]] = None

    def __init__(self, n_samples: int, n_features: int, dtype: Any) -> None:
        self.shape = (int(n_samples), int(n_features))
        self.dtype = np.dtype(dtype)
        self.covariates: dict[str, Any] = {}

    @contextmanager
    def lent(self, context: Context) -> Iterator[c_void_p]:
        """The rb_source, for calls with a context."""
        source = c_void_p()
        try:
            self._make(context, source)
            for name, values in self.covariates.items():
                _set_covariate(context, source, name, values)
            yield source
        finally:
            core.rb_source_free(source)
            self._unmake()

    def _make(self, context: Context, source: c_void_p) -> None:
        raise NotImplementedError

    def _unmake(self) -> None:
        pass


def _set_covariate(context: Context, source: c_void_p, name: str, values: Any) -> None:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        context.call(core.rb_source_set_numbers, source, name.encode(), numbers.ctypes.data,
                     len(numbers))
    else:
        groups = [None if v is None or v != v else str(v).encode() for v in array.tolist()]
        context.call(core.rb_source_set_groups, source, name.encode(),
                     (c_char_p * len(groups))(*groups), len(groups))


class ArraySource(Source):
    """A dense array or compressed rows in memory: a view where its type and layout allow."""

    def __init__(self, X: Any) -> None:
        self._X = _rows(X) if hasattr(X, "tocsr") else _dense(X)
        self._matrix = c_void_p()
        super().__init__(*self._X.shape, self._X.dtype)

    def _make(self, context: Context, source: c_void_p) -> None:
        X, of_type = self._X, TYPES[self.dtype]
        if hasattr(X, "indptr"):
            view = core.rb_matrix_csr32 if X.indptr.dtype == np.int32 else core.rb_matrix_csr
            context.call(view, of_type, *self.shape, X.indptr.ctypes.data, X.indices.ctypes.data,
                         X.data.ctypes.data, byref(self._matrix))
        else:
            rows, columns = (stride // X.itemsize for stride in X.strides)
            context.call(core.rb_matrix_dense, of_type, *self.shape, X.ctypes.data, rows, columns,
                         byref(self._matrix))
        if self.feature_names is not None:
            context.call(core.rb_matrix_set_feature_names, self._matrix,
                         _texts(self.feature_names), self.shape[1])
        if self.sample_names is not None:
            context.call(core.rb_matrix_set_sample_names, self._matrix,
                         _texts(self.sample_names), self.shape[0])
        context.call(core.rb_source_from_matrix, self._matrix, byref(source))

    def _unmake(self) -> None:
        core.rb_matrix_free(self._matrix)
        self._matrix = c_void_p()


def _dense(X: Any) -> np.ndarray[Any, Any]:
    X = np.asarray(X)
    if X.dtype not in TYPES:
        X = X.astype(np.float64)
    viewable = X.dtype.isnative and X.flags.aligned and all(s % X.itemsize == 0 for s in X.strides)
    return X if viewable else np.array(X, dtype=X.dtype.newbyteorder("="), order="C")


def _rows(X: Any) -> Any:
    """Compressed rows as the library takes them: columns ascend, each once."""
    X = X.tocsr()
    if X.dtype not in TYPES:
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32:
        if X.shape[1] > np.iinfo(np.int32).max:
            raise ValueError(f"there are {X.shape[1]} features, but can be 2147483647 at most")
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape, copy=False)
        X.indices = X.indices.astype(np.int32, copy=False)
    return X


class FileSource(Source):
    """A file, which librarebit-io reads."""

    def __init__(self, path: Any, **reading: Any) -> None:
        self.path, self._reading = os.fspath(path), reading
        library = io()
        with Context() as context, self._opened(context) as source:
            dtype = np.float32 if core.rb_source_type(source) == FLOAT32 else np.float64
            super().__init__(core.rb_source_samples(source), core.rb_source_features(source), dtype)
            if core.rb_source_feature_name(source, 0) is not None:
                self.feature_names = [text(core.rb_source_feature_name(source, k)) or ""
                                      for k in range(self.shape[1])]
            if core.rb_source_sample_name(source, 0) is not None:
                self.sample_names = [text(core.rb_source_sample_name(source, i)) or ""
                                     for i in range(self.shape[0])]
        del library

    @contextmanager
    def _opened(self, context: Context) -> Iterator[c_void_p]:
        source = c_void_p()
        with Options(context, group=io().rb_read_group()) as options:
            options.set_all(self._reading)
            context.run(io().rb_open, os.fsencode(self.path), options.pointer, byref(source))
        try:
            yield source
        finally:
            core.rb_source_free(source)

    @contextmanager
    def lent(self, context: Context) -> Iterator[c_void_p]:
        with self._opened(context) as source:
            for name, values in self.covariates.items():
                _set_covariate(context, source, name, values)
            yield source


class FunctionSource(Source):
    """Rows that a function gives: fn(first, count) is count x n_features, an array or sparse."""

    def __init__(self, fn: Callable[[int, int], Any], n_samples: int, n_features: int,
                 dtype: Any = np.float32) -> None:
        super().__init__(n_samples, n_features, dtype)
        if self.dtype not in TYPES:
            raise ValueError(f"dtype is {self.dtype}, but must be float32 or float64")
        self._fn = fn

    def _make(self, context: Context, source: c_void_p) -> None:
        def give(_: Any, first: int, count: int, rows: int) -> int:
            try:
                block = self._fn(first, count)
                block = block.toarray() if hasattr(block, "toarray") else block
                block = np.ascontiguousarray(block, dtype=self.dtype)
                if block.shape != (count, self.shape[1]):
                    raise ValueError(f"a stream gave an array of {block.shape} for samples {first} "
                                     f"to {first + count - 1}, but was asked for "
                                     f"{(count, self.shape[1])}")
                memmove(rows, block.ctypes.data, block.nbytes)
                return Error.OK
            except BaseException as error:  # goes on where the call ends
                context.raise_later(error)
                return Error.INTERRUPTED

        self._give = SourceFn(give)  # kept: the library calls it
        context.call(core.rb_source_from_callback, TYPES[self.dtype], *self.shape, self._give, None,
                     byref(source))


def open(path: Any, **reading: Any) -> Source:
    """Samples of a file, for fit and transform: read block by block where its format allows.

    Options of reading: dataset, transpose, header, row_names, patches, missing_words.
    """
    return FileSource(path, **reading)


def stream(fn: Callable[[int, int], Any], n_samples: int, n_features: int,
           dtype: Any = np.float32) -> Source:
    """Samples that a function gives, for fit and transform: data that do not fit into memory.

    fn(first, count) gives samples first .. first + count - 1 as an array of count x n_features,
    or sparse; every sample may be asked for many times and must always be the same.
    """
    return FunctionSource(fn, n_samples, n_features, dtype)


def _backed(X: Any, n_samples: int, n_features: int) -> Source:
    """What h5py or anndata reads from a file."""
    dtype = np.dtype(X.dtype)
    return FunctionSource(lambda first, count: X[first:first + count], n_samples, n_features,
                          dtype if dtype in TYPES else np.float64)


def source_of(X: Any) -> Optional[Source]:
    """The source of what is no array: files, AnnData, sources themselves; else None."""
    if isinstance(X, Source):
        return X
    if is_path(X):
        return FileSource(X)
    if hasattr(X, "obs_names") and hasattr(X, "var_names"):  # AnnData
        inside = X.X
        plain = isinstance(inside, np.ndarray) or hasattr(inside, "tocsr")
        source = ArraySource(inside) if plain else _backed(inside, *X.shape)
        source.feature_names = list(X.var_names)
        source.sample_names = list(X.obs_names)
        return source
    if not isinstance(X, np.ndarray) and hasattr(X, "read_direct") and hasattr(X, "chunks"):  # h5py
        return _backed(X, *X.shape)
    return None
