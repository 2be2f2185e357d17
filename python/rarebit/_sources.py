"""Samples, from wherever they are: arrays, tables, files, AnnData, functions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_void_p, memmove
from typing import Any, Callable, Iterator, Optional, Sequence

import numpy as np

from ._context import Context, option_name
from ._library import FLOAT32, FLOAT64, CsrSourceFn, Error, SourceFn, core, io, text
from ._options import Options

TYPES = {np.dtype(np.float32): FLOAT32, np.dtype(np.float64): FLOAT64}


def array_of(context: Context, matrix: c_void_p) -> Any:
    """The numbers of a matrix, which stays the caller's."""
    source = c_void_p()
    context.call(core.rb_source_from_matrix, matrix, byref(source))
    try:
        return read(context, source, np.float64)
    finally:
        core.rb_source_free(source)


def read(context: Context, source: c_void_p, dtype: Any) -> Any:
    """All samples of an rb_source."""
    values = np.empty((core.rb_source_samples(source), core.rb_source_features(source)), dtype)
    context.run(core.rb_source_read_into, source, TYPES[values.dtype], values.ctypes.data,
                values.shape[1], 1)
    return values


def read_first(source: "Source", count: int) -> Any:
    """The first samples of a source, as an array."""
    part = c_void_p()
    with Context() as context, source.lent(context) as samples:
        context.call(core.rb_source_slice, samples, 0, count, byref(part))
        try:
            return read(context, part, source.dtype)
        finally:
            core.rb_source_free(part)


def is_path(X: Any) -> bool:
    """Is it the name of a file?"""
    return isinstance(X, (str, os.PathLike))


def _texts(names: Sequence[str]) -> Any:
    return (c_char_p * len(names))(*[str(name).encode() for name in names])


def column(X: Any, name: Any, asking: str) -> Any:
    """A column of the obs of an AnnData."""
    obs = getattr(X, "obs", None)
    if obs is None:
        raise ValueError(f"{asking} names '{name}', but X has no obs: give a value for each sample")
    if name not in obs:
        raise KeyError(f"obs has no column '{name}'; it has {', '.join(map(str, obs))}")
    return obs[name]


def is_missing(value: Any) -> bool:
    """None, NaN, and those of pandas."""
    return not isinstance(value, str) and str(value) in ("None", "nan", "NaT", "<NA>")


def groups_of(values: Any) -> Any:
    """Names of groups, one a sample; None, NaN and pandas.NA: it has none."""
    names = [None if is_missing(v) else str(v).encode() for v in list(values)]
    return (c_char_p * len(names))(*names)


class Kept:
    """What a call needs as long as it lasts: several may use one source at a time."""

    def __init__(self) -> None:
        self.matrix = c_void_p()
        self.objects: list[Any] = []
        self.block: Any = None

    def free(self) -> None:
        core.rb_matrix_free(self.matrix)


class Source:
    """Samples that the library reads, block by block."""

    dtype: np.dtype[Any]
    feature_names: Optional[Sequence[str]] = None
    sample_names: Optional[Sequence[str]] = None
    table: Any = None
    """What has the covariates of the samples, by name."""
    min_shared = 0.1
    """The share of a model's features that must be here by name."""
    variables: Optional[str] = None
    """Which variables of an AnnData these are: "all" or "highly_variable"."""

    def __init__(self, n_samples: int, n_features: int, dtype: Any) -> None:
        self.shape = (int(n_samples), int(n_features))
        self.dtype = np.dtype(dtype)
        self.covariates: dict[str, Any] = {}

    small = False  # what is done with it takes no time

    def attributes(self) -> dict[str, str]:
        """What a model records of it."""
        return {} if self.variables is None else {"variables": self.variables}

    @contextmanager
    def lent(self, context: Context) -> Iterator[c_void_p]:
        """The rb_source, for calls with a context."""
        source, kept = c_void_p(), Kept()
        try:
            self._make(context, source, kept)
            self._tell(context, source)
            yield source
        finally:
            core.rb_source_free(source)
            kept.free()

    def _tell(self, context: Context, source: c_void_p) -> None:
        """Names and covariates; to the context, how many names must be those of a model."""
        context.call(core.rb_context_set_min_shared, float(self.min_shared))
        if self.feature_names is not None:
            context.call(core.rb_source_set_feature_names, source, _texts(self.feature_names),
                         len(self.feature_names))
        if self.sample_names is not None:
            context.call(core.rb_source_set_sample_names, source, _texts(self.sample_names),
                         len(self.sample_names))
        for name, values in self.covariates.items():
            _set_covariate(context, source, name, values)

    def _make(self, context: Context, source: c_void_p, kept: Kept) -> None:
        raise NotImplementedError


def _set_covariate(context: Context, source: c_void_p, name: str, values: Any) -> None:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        context.call(core.rb_source_set_numbers, source, name.encode(), numbers.ctypes.data,
                     len(numbers))
    else:
        groups = groups_of(values)
        context.call(core.rb_source_set_groups, source, name.encode(), groups, len(groups))


class ArraySource(Source):
    """An array, compressed rows or compressed columns in memory: a view where type and layout
    allow."""

    def __init__(self, X: Any) -> None:
        self._X = _sparse(X) if hasattr(X, "tocsr") else _dense(X)
        n_samples, n_features = self._X.shape
        super().__init__(n_samples, n_features, self._X.dtype)
        self.small = self._X.size < 1 << 14

    @contextmanager
    def as_matrix(self, context: Context) -> Iterator[c_void_p]:
        """The rb_matrix, of what is no compressed columns."""
        kept = Kept()
        try:
            self._make_matrix(context, kept)
            yield kept.matrix
        finally:
            kept.free()

    def _make_matrix(self, context: Context, kept: Kept) -> None:
        X, shape = self._X, (TYPES[self.dtype], *self.shape)
        if hasattr(X, "indptr"):
            view = core.rb_matrix_csr32 if X.indptr.dtype == np.int32 else core.rb_matrix_csr
            context.call(view, *shape, X.indptr.ctypes.data, X.indices.ctypes.data,
                         X.data.ctypes.data, byref(kept.matrix))
        else:
            strides = (stride // X.itemsize for stride in X.strides)
            context.call(core.rb_matrix_dense, *shape, X.ctypes.data, *strides,
                         byref(kept.matrix))

    def _make(self, context: Context, source: c_void_p, kept: Kept) -> None:
        X = self._X
        if getattr(X, "format", None) == "csc":
            starts = X.indptr.astype(np.int64, copy=False)
            kept.objects.append(starts)
            context.call(core.rb_source_from_csc, TYPES[self.dtype], *self.shape,
                         starts.ctypes.data, X.indices.ctypes.data, X.data.ctypes.data,
                         byref(source))
        else:
            self._make_matrix(context, kept)
            context.call(core.rb_source_from_matrix, kept.matrix, byref(source))


def unmasked(X: Any) -> Any:
    """Values that a mask hides are missing: NaN."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    hidden, dtype = np.asarray(X.mask), X.dtype if X.dtype in TYPES else np.float64
    return np.where(hidden, np.nan, X.data).astype(dtype) if hidden.any() else X.data


def refuse_times(X: Any) -> None:
    """Dates and durations would become numbers silently."""
    types = getattr(X, "dtypes", None)  # of a data frame, by column
    if types is None or not hasattr(types, "items"):
        types = {None: getattr(X, "dtype", None)}
    for column, dtype in types.items():
        if getattr(dtype, "kind", "") in ("m", "M"):
            where = "X" if column is None else f"column {column}"
            raise ValueError(f"{where} has values of type {dtype}, but must have numbers")


def checked(X: Any) -> Any:
    """What can be looked at, or into, before other packages do."""
    refuse_times(X)
    if getattr(X, "format", None) in ("csr", "csc"):
        _check_compressed(X)
    return unmasked(X)


def _dense(X: Any) -> Any:
    X = np.asarray(checked(X))
    if X.dtype.newbyteorder("=") not in TYPES:
        X = X.astype(np.float64)
    viewable = X.dtype.isnative and X.flags.aligned and all(s % X.itemsize == 0 for s in X.strides)
    return X if viewable else np.array(X, dtype=X.dtype.newbyteorder("="), order="C")


def _sparse(X: Any) -> Any:
    """Compressed rows or columns as the library takes them: indices ascend, each once."""
    X = X if X.format in ("csr", "csc") else X.tocsr()
    _check_compressed(X)
    if X.dtype not in TYPES:
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    starts = X.indptr.dtype if X.indptr.dtype in (np.int32, np.int64) else np.int64
    plain = [np.ascontiguousarray(array, dtype) for array, dtype in
             ((X.data, X.dtype), (X.indices, np.int32), (X.indptr, starts))]
    if all(a is b for a, b in zip(plain, (X.data, X.indices, X.indptr))):
        return X
    narrow = type(X)(X.shape, dtype=X.dtype)
    narrow.data, narrow.indices, narrow.indptr = plain
    return narrow


def _check_compressed(X: Any) -> None:
    """What scipy does not look at when the arrays of a matrix are replaced, and what would have
    memory read that is not the matrix's."""
    lines, across = X.shape if X.format == "csr" else X.shape[::-1]
    starts, count = X.indptr, len(X.indptr)
    if count != lines + 1:
        raise ValueError(f"indptr of the sparse matrix has {count} values, but must have "
                         f"{lines + 1}")
    if starts[0] < 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError("indptr of the sparse matrix must begin at 0 and never descend")
    for name in ("indices", "data"):
        if len(getattr(X, name)) < starts[-1]:
            raise ValueError(f"{name} of the sparse matrix has {len(getattr(X, name))} values, but "
                             f"indptr ends at {starts[-1]}")
    if across > np.iinfo(np.int32).max:
        raise ValueError(f"a sparse matrix of shape {X.shape} is too large: 2147483647 rows or "
                         "columns at most")
    used = X.indices[:starts[-1]]
    if len(used) and (used.min() < 0 or used.max() >= across):
        raise ValueError(f"indices of the sparse matrix must be 0 to {across - 1}")


class FileSource(Source):
    """A file, which librarebit-io reads."""

    def __init__(self, path: Any, **reading: Any) -> None:
        paths = path if isinstance(path, (list, tuple)) else [path]
        self.path, self._reading = ",".join(os.fspath(one) for one in paths), reading
        with Context() as context, self._opened(context) as source:
            dtype = np.float32 if core.rb_source_type(source) == FLOAT32 else np.float64
            super().__init__(core.rb_source_samples(source), core.rb_source_features(source), dtype)
            if core.rb_source_feature_name(source, 0) is not None:
                self.feature_names = [text(core.rb_source_feature_name(source, k)) or ""
                                      for k in range(self.shape[1])]

    @property
    def sample_names(self) -> Optional[Sequence[str]]:  # type: ignore[override]
        """As the file has them, read when they are asked for."""
        with Context() as context, self._opened(context) as source:
            if core.rb_source_sample_name(source, 0) is None:
                return None
            return [text(core.rb_source_sample_name(source, i)) or ""
                    for i in range(self.shape[0])]

    def attributes(self) -> dict[str, str]:
        """Where it was and how it was read, as the program writes it down."""
        reading = {f"reading_{option_name(name)}": str(value).lower() if value is True
                   or value is False else str(value) for name, value in self._reading.items()}
        return {"data_path": self.path, **reading}

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
            self._tell(context, source)
            yield source

    def _tell(self, context: Context, source: c_void_p) -> None:
        """What the file does not say itself."""
        context.call(core.rb_context_set_min_shared, float(self.min_shared))
        for name, values in self.covariates.items():
            _set_covariate(context, source, name, values)


class FunctionSource(Source):
    """Rows that a function gives: fn(first, count) is count x n_features."""

    def __init__(self, fn: Callable[[int, int], Any], n_samples: int, n_features: int,
                 dtype: Any = np.float32, sparse: bool = False) -> None:
        for name, count in (("n_samples", n_samples), ("n_features", n_features)):
            if not isinstance(count, (int, np.integer)) or not 0 <= count < 2**63:
                raise ValueError(f"{name} is {count!r}, but must be a whole number from 0 on")
        super().__init__(n_samples, n_features, dtype)
        if self.dtype not in TYPES:
            raise ValueError(f"dtype is {self.dtype}, but must be float32 or float64")
        self._fn, self._is_sparse = fn, sparse

    def _make(self, context: Context, source: c_void_p, kept: Kept) -> None:
        def give(first: int, count: int, hand_over: Callable[[Any], object]) -> int:
            try:
                hand_over(self._block(first, count))
                return Error.OK
            except BaseException as error:  # goes on where the call ends
                context.raise_later(error)
                return Error.INTERRUPTED

        def dense(_: Any, first: int, count: int, rows: int) -> int:
            return give(first, count, lambda X: memmove(rows, X.ctypes.data, X.nbytes))

        def compressed(_: Any, first: int, count: int, *arrays: Any) -> int:
            def hand_over(X: Any) -> None:
                kept.block = (X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)
                for to, array in zip(arrays, kept.block):
                    to[0] = array.ctypes.data

            return give(first, count, hand_over)

        called = CsrSourceFn(compressed) if self._is_sparse else SourceFn(dense)
        kept.objects.append(called)
        make = core.rb_source_from_csr_callback if self._is_sparse else core.rb_source_from_callback
        context.call(make, TYPES[self.dtype], *self.shape, called, None, byref(source))

    def _block(self, first: int, count: int) -> Any:
        block = checked(self._fn(first, count))
        if self._is_sparse:
            if not hasattr(block, "tocsr"):
                raise ValueError("a stream with sparse=True gave no sparse matrix for samples "
                                 f"{first} to {first + count - 1}")
            block = _sparse(block.tocsr()).astype(self.dtype, copy=False)
        else:
            block = block.toarray() if hasattr(block, "toarray") else block
            block = np.ascontiguousarray(block, dtype=self.dtype)
        if block.shape != (count, self.shape[1]):
            raise ValueError(f"a stream gave an array of {block.shape} for samples {first} to "
                             f"{first + count - 1}, but was asked for {(count, self.shape[1])}")
        return block


def open(path: Any, **reading: Any) -> Source:
    """Samples of a file, for fit and transform: read block by block where its format allows.

    A list of files with the same features is one, their samples in the order of the files.
    Options of reading: dataset, transpose, header, row_names, patches, missing_words.

    Examples
    --------
    >>> rarebit.RFN(10).fit(rarebit.open("cells.h5ad", dataset="layers/counts"))
    """
    return FileSource(path, **reading)


def stream(fn: Callable[[int, int], Any], n_samples: int, n_features: int,
           dtype: Any = np.float32, sparse: bool = False) -> Source:
    """Samples that a function gives, for fit and transform: data that do not fit into memory.

    fn(first, count) gives samples first .. first + count - 1 as an array of count x n_features,
    or as a sparse matrix, which stays sparse where `sparse` is true. Every sample may be asked for
    many times and must always be the same. It is called on another thread than fit.

    Examples
    --------
    >>> rows = rarebit.stream(lambda first, count: X[first:first + count], *X.shape)
    >>> rarebit.RFN(10).fit(rows)
    """
    return FunctionSource(fn, n_samples, n_features, dtype, sparse)


def _backed(X: Any, shape: Sequence[int]) -> Source:
    """What h5py or anndata reads from a file."""
    if len(shape) != 2:
        raise ValueError(f"a data set has {len(shape)} dimensions, but must have 2")
    dtype = np.dtype(X.dtype)
    sparse = hasattr(X, "format_str") or hasattr(X, "format")  # as anndata has them
    return FunctionSource(lambda first, count: X[first:first + count], shape[0], shape[1],
                          dtype if dtype in TYPES else np.float64, sparse)


def source_of(X: Any) -> Optional[Source]:
    """The source of what is no array: files, AnnData, sources themselves; else None."""
    if isinstance(X, Source):
        return X
    if is_path(X):
        return FileSource(X)
    if hasattr(X, "obs_names") and hasattr(X, "var_names"):  # AnnData
        inside = X.X
        plain = isinstance(inside, np.ndarray) or hasattr(inside, "tocsr")
        if inside is None:
            raise ValueError("the AnnData has no X: give one of its layers")
        source = ArraySource(inside) if plain else _backed(inside, X.shape)
        source.feature_names = list(X.var_names)
        source.sample_names = list(X.obs_names)
        source.table = X.obs
        source.variables = "all"
        return source
    if not isinstance(X, np.ndarray) and hasattr(X, "read_direct") and hasattr(X, "chunks"):  # h5py
        return _backed(X, X.shape)
    return None


def convert(X: Any, path: Any, **reading: Any) -> None:
    """Writes samples to a file in the format of its suffix: .npy, .tsv, .csv (also .gz), .h5,
    .h5ad.

    Names of samples and features are kept where the format has a place for them. From .h5ad to
    .h5ad all that is in the file is kept, and a layer of `dataset` takes the place of X.

    Parameters
    ----------
    X : samples x features, as for `fit`; or the name of a file
    path : where to write
    reading : of a file: dataset, transpose, header, row_names, patches, missing_words

    Examples
    --------
    >>> rarebit.convert("genes.tsv", "cells.npy", transpose=True)
    """
    if is_path(X) and os.fspath(X).endswith(".h5ad") and os.fspath(path).endswith(".h5ad") \
            and set(reading) <= {"dataset"}:
        dataset = reading.get("dataset")
        with Context() as context:
            context.run(io().rb_anndata_copy, os.fsencode(X), dataset and dataset.encode(),
                        os.fsencode(path))
        return
    source = open(X, **reading) if is_path(X) else source_of(X)
    if source is None:
        if reading:
            raise ValueError(f"{', '.join(reading)}: options of reading are for files alone")
        source = ArraySource(X)
        if hasattr(X, "columns"):
            source.feature_names, source.sample_names = list(X.columns), list(X.index)
    with Context() as context, source.lent(context) as samples:
        context.run(io().rb_write, samples, os.fsencode(path))
