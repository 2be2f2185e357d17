"""Tools for AnnData, in scanpy's way: rarebit.tl.rfn(adata, n_comps=10), a function a method.

Each writes what `rarebit encode` writes into an .h5ad: codes to obsm["X_rfn"], loadings to
varm["rfn"], to uns["rfn"] the parameters of the fit and the model, which `modules` and the plots
of rarebit.pl take from there.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Callable, Optional, Protocol, Union

import numpy as np

from . import _modules
from ._context import Context, warn
from ._estimators import Estimator, _model_of, _threads, refuse_unknown, regressed
from ._methods import CLASSES
from ._model import Array, Model
from ._registry import methods
from ._sources import ArraySource, FunctionSource, Source, TYPES, column

__all__ = ["add", "modules"]

if TYPE_CHECKING:
    class Fit(Protocol):
        """A function a method, made below."""

        def __call__(self, adata: Any, n_comps: int = 10, layer: Optional[str] = None,
                     use_highly_variable: Optional[bool] = None, key_added: str = ...,
                     copy: bool = False, **options: Any) -> Any: ...

    rfn: Fit
    linca: Fit
    nmf_et: Fit
    mca: Fit
    ssc: Fit
    pca: Fit
    ica: Fit
    fa: Fit
    sfa: Fit
    fa_laplace: Fit
    fa_jeffreys: Fit
    fabia: Fit
    nmf: Fit
    kmeans: Fit
    dae: Fit
    rbm: Fit


def add(adata: Any, fitted: Union[Estimator, Model], key_added: Optional[str] = None,
        layer: Optional[str] = None, copy: bool = False, n_jobs: Optional[int] = None) -> Any:
    """Adds codes, loadings and settings of a fitted model, such as that of rarebit.consensus.

    Parameters
    ----------
    adata : AnnData; its variables are matched with the features of the model by name
    fitted : a fitted estimator, or a Model
    key_added : "rfn" stands for obsm["X_rfn"], varm["rfn"] and uns["rfn"]; by the method when None
    layer : the layer to encode in place of X
    copy : write into a copy, and return that

    Examples
    --------
    >>> rarebit.tl.add(adata, rarebit.consensus(rarebit.RFN(12), adata))
    """
    _check(adata, "rarebit.tl.add")
    adata = adata.copy() if copy else adata
    model = _model_of(fitted)
    source = _seen(model, adata, layer)
    source.min_shared = getattr(fitted, "min_shared", source.min_shared)
    _write(adata, model, source, key_added or _key(model.method), layer, _threads(n_jobs))
    return adata if copy else None


def modules(adata: Any, key: str = "rfn", members: bool = False, n_jobs: Optional[int] = None,
            **options: Any) -> Any:
    """The observations and variables that belong to each unit: a data frame.

    Parameters
    ----------
    adata : AnnData with the results of rarebit.tl, of `add`, or of `rarebit encode`
    key : under which name they are in uns
    members : False gives a row for each module, True one for each observation and variable of each
    options : as of rarebit.modules; blocks may be a column of obs

    Examples
    --------
    >>> rarebit.tl.rfn(adata, 10, random_state=1)
    >>> rarebit.tl.modules(adata)
    """
    if isinstance(options.get("blocks"), str):
        options["blocks"] = column(adata, options["blocks"], "blocks")
    model, source = stored(adata, key)
    found = _modules.find(model, source, _threads(n_jobs), **options)
    return _modules.members(found, model, list(adata.obs_names)) if members \
        else _modules.frame(found, model)


def stored(adata: Any, key: str) -> tuple[Model, Source]:
    """The model that is kept in an AnnData, and the samples as it sees them."""
    _check(adata, "rarebit.tl")
    kept = adata.uns.get(key)
    if kept is None or "model" not in kept:
        raise KeyError(f"uns has no model of '{key}': rarebit.tl.{key} puts one there, and so do "
                       "rarebit.tl.add and `rarebit encode`")
    model = Model.from_bytes(np.asarray(kept["model"], dtype=np.uint8).tobytes())
    return model, _seen(model, adata, _params(kept).get("layer"))


def _seen(model: Model, adata: Any, layer: Optional[str]) -> Source:
    """Samples as the model sees them."""
    source = _source(adata, layer, _columns(model, adata))
    source.covariates = {name: adata.obs[name] for name in regressed(model.attributes.get("regress"))
                         if name in adata.obs}
    return source


def _params(kept: Any) -> Any:
    """What the fit was asked to do; of earlier files, "settings"."""
    return kept["params"] if "params" in kept else kept["settings"]


# -- from AnnData, and into it


def _check(adata: Any, who: str) -> None:
    if not hasattr(adata, "uns") or not hasattr(adata, "var_names"):
        raise TypeError(f"{who} takes an AnnData, but got a {type(adata).__name__}")


def _source(adata: Any, layer: Optional[str], columns: Optional[Array]) -> Source:
    """Samples of X or of a layer, of chosen variables; None: all."""
    if layer is not None and layer not in adata.layers:
        raise KeyError(f"there is no layer '{layer}'; there are {sorted(adata.layers)}")
    inside = adata.X if layer is None else adata.layers[layer]
    if inside is None:
        raise ValueError("there is no X; choose a layer")
    if columns is not None and (np.array_equal(columns, np.arange(adata.n_vars))
                                or (columns < 0).any()):
        columns = None  # the library matches names
    source = _samples(inside, adata.shape, columns)
    names = np.asarray(adata.var_names, dtype=object)
    source.feature_names = list(names if columns is None else names[columns])
    source.sample_names = list(adata.obs_names)
    source.table = adata.obs
    return source


def _samples(inside: Any, shape: tuple[int, int], columns: Optional[Array]) -> Source:
    if isinstance(inside, np.ndarray) or hasattr(inside, "tocsr"):
        return ArraySource(inside if columns is None else inside[:, columns])
    dtype = np.dtype(inside.dtype)  # backed by a file
    width = shape[1] if columns is None else len(columns)

    def read(first: int, count: int) -> Any:
        rows = inside[first:first + count]
        return rows if columns is None else rows[:, columns]

    return FunctionSource(read, shape[0], width, dtype if dtype in TYPES else np.float64)


def _chosen(adata: Any, use_highly_variable: Optional[bool]) -> Optional[Array]:
    """Variables that are to be fitted; None: all."""
    marked = "highly_variable" in adata.var
    if use_highly_variable and not marked:
        raise KeyError("var has no column 'highly_variable': scanpy.pp.highly_variable_genes "
                       "makes it; or leave use_highly_variable out")
    if not marked or use_highly_variable is False:
        return None
    variable = np.flatnonzero(np.asarray(adata.var["highly_variable"], dtype=bool))
    if use_highly_variable:
        return variable
    if len(variable) == adata.n_vars:
        return None
    warn(f"all {adata.n_vars} variables are fitted, though var marks {len(variable)} as "
         "highly_variable: use_highly_variable=True fits those alone, False says that all are meant")
    return None


def _columns(model: Model, adata: Any) -> Array:
    """The variable that each feature of the model is: the one of its name, in its old place where
    that has the name; without names by position."""
    names, places = model.feature_names, model.features
    if names is None:
        if adata.n_vars not in (model.n_inputs, model.n_features):
            raise ValueError(f"there are {adata.n_vars} variables, but the model, which knows no "
                             f"names, was fitted to {model.n_inputs}")
        return places if adata.n_vars == model.n_inputs else np.arange(model.n_features)
    first: dict[str, int] = {}
    for v, name in enumerate(adata.var_names):
        first.setdefault(name, v)
    found = [place if place < adata.n_vars and adata.var_names[place] == name
             else first.get(name, -1) for name, place in zip(names, places)]
    if len(found) and max(found) < 0:
        raise ValueError("none of the features of the model is among the variables")
    return np.asarray(found, dtype=np.int64)


def _write(adata: Any, model: Model, source: Source, key: str, layer: Optional[str],
           threads: int) -> None:
    loadings = model.array("loadings")
    if loadings is None:
        raise ValueError(f"a model of {model.method} has no loadings")
    columns = _columns(model, adata)
    rows = np.zeros((adata.n_vars, model.n_components))
    rows[columns[columns >= 0]] = loadings[columns >= 0]
    params = {"method": model.method, "precision": model.dtype.name}
    params.update((name, value) for name, value in model.attributes.items()
                  if name not in params)
    if layer is not None:
        params["layer"] = layer
    kept: dict[str, Any] = {"params": params}
    stability = model.array("stability")
    if stability is not None and stability.shape[1] == 1:
        kept["stability"] = stability[:, 0]
    kept["model"] = np.frombuffer(model.to_bytes(), dtype=np.uint8)
    adata.obsm[f"X_{key}"] = model.encode(source, model.dtype, threads)
    adata.varm[key] = rows
    adata.uns[key] = kept


# -- a function a method


def _key(method: str) -> str:
    return KEYS.get(method, method)


def _make(name: str, estimator: type[Estimator], key: str) -> Callable[..., Any]:
    def run(adata: Any, n_comps: int = 10, layer: Optional[str] = None,
            use_highly_variable: Optional[bool] = None, key_added: str = key, copy: bool = False,
            **options: Any) -> Any:
        _check(adata, f"rarebit.tl.{name}")
        if "n_components" in options:
            raise TypeError(f"rarebit.tl.{name} has no n_components: it is called n_comps")
        refuse_unknown(estimator.__name__, options, signature(estimator).parameters)
        adata = adata.copy() if copy else adata
        chosen = _chosen(adata, use_highly_variable)
        source = _source(adata, layer, chosen)
        source.variables = "all" if chosen is None else "highly_variable"
        fitted = estimator(n_comps, **options).fit(source)
        _write(adata, fitted.model_, source, key_added, layer, _threads(fitted.n_jobs))
        return adata if copy else None

    run.__name__ = run.__qualname__ = name
    run.__module__ = __name__
    run.__doc__ = f"""Fits {estimator.__name__} to an AnnData and adds what was found.

Parameters
----------
adata : AnnData, in memory or backed
n_comps : units
layer : the layer to fit in place of X
use_highly_variable : True fits the variables that var["highly_variable"] marks alone, and loadings of
    the others are 0; False fits all, and so does None, with a warning where there is that column.
    uns["{key}"]["params"]["variables"] says which were fitted
key_added : codes go to obsm["X_{key}"], loadings to varm["{key}"], parameters and the model to
    uns["{key}"]
copy : write into a copy, and return that
options : all parameters of rarebit.{estimator.__name__}

Examples
--------
>>> rarebit.tl.{name}(adata, 10)
"""
    return run


with Context() as _context:
    KEYS = {method.name: method.code_name.replace("X_", "", 1) for method in methods(_context)}
for _class in CLASSES.values():
    _name = _class._method.replace("-", "_")
    globals()[_name] = _make(_name, _class, KEYS[_class._method])
    __all__.append(_name)
