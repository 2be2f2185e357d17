"""scikit-learn's base classes where it is installed, else the little of them that is needed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import sklearn
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin, \
        TransformerMixin
    from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_array, check_is_fitted

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

if HAS_SKLEARN:
    try:
        from sklearn.utils.validation import validate_data as _validate_data  # from 1.6 on
    except ImportError:
        def _validate_data(estimator: Any, X: Any, **options: Any) -> Any:
            return estimator._validate_data(X, **options)

    _ALL_FINITE = ("force_all_finite" if "force_all_finite" in
                   inspect.signature(check_array).parameters else "ensure_all_finite")

    def validate(estimator: Any, X: Any, reset: bool) -> Any:
        """An array of float32 or float64, or compressed rows or columns; nothing is copied that
        need not be. The library itself looks for values that cannot be used."""
        return _validate_data(estimator, X, reset=reset, accept_sparse=("csr", "csc"),
                              dtype=(np.float64, np.float32), **{_ALL_FINITE: False})

elif not TYPE_CHECKING:
    class NotFittedError(ValueError, AttributeError):
        """transform before fit."""

    class ConvergenceWarning(UserWarning):
        """A fit ended before its time."""

    class DataConversionWarning(UserWarning):
        """Data have another shape than they should."""

    class BaseEstimator:
        @classmethod
        def _get_param_names(cls):
            return sorted(name for name in inspect.signature(cls.__init__).parameters
                          if name != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError(f"{type(self).__name__} has no parameter {name}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self).__init__).parameters
            said = (f"{name}={value!r}" for name, value in self.get_params().items()
                    if value is not defaults[name].default)
            return f"{type(self).__name__}({', '.join(said)})"

    class TransformerMixin:
        """What it has, estimators have themselves."""

    class ClusterMixin:
        """Likewise."""

    class ClassifierMixin:
        """Likewise."""

    class RegressorMixin:
        """Likewise."""

    def check_is_fitted(estimator):
        if not hasattr(estimator, "n_features_in_"):
            raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit")

    def check_random_state(seed):
        return np.random if seed is None else seed

    def validate(estimator, X, reset):
        columns = getattr(X, "columns", None)
        if not hasattr(X, "tocsr"):
            X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"expected a 2D array, got one of {X.ndim} dimensions")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"expected numbers, got {X.dtype}")
        if reset:
            estimator.n_features_in_ = X.shape[1]
            if columns is not None and all(isinstance(name, str) for name in columns):
                estimator.feature_names_in_ = np.asarray(columns, dtype=object)
        elif X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is "
                             f"expecting {estimator.n_features_in_} features as input")
        return X

__all__ = ["BaseEstimator", "ClassifierMixin", "ClusterMixin", "ConvergenceWarning",
           "DataConversionWarning", "HAS_SKLEARN", "NotFittedError", "RegressorMixin",
           "TransformerMixin", "check_is_fitted", "check_random_state", "validate"]
