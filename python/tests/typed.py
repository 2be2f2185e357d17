"""What mypy must know of the package: run by tests/python/estimators.sh."""

from typing import Any

import numpy as np

import rarebit
from rarebit import RFN, Model, Progress


def fit(X: "np.ndarray[Any, np.dtype[np.float32]]") -> "np.ndarray[Any, np.dtype[Any]]":
    def tell(progress: Progress) -> bool:
        return progress.iteration > 3

    rfn: RFN = RFN(3, eta=0.3, preset="paper", callback=tell).fit(X)
    model: Model = rfn.model_
    wrong = RFN(etta=3)  # type: ignore[call-arg]
    also_wrong = RFN(preset="none such")  # type: ignore[arg-type]
    net = rarebit.NetClassifier(epochs=3).fit(X, X[:, 0] > 1)
    rarebit.NetRegressor(epoch=3)  # type: ignore[call-arg]
    rarebit.export(net.fit(X, net.predict(X)), "net.onnx")
    rarebit.tl.nmf(X, 3, layer="counts")
    rarebit.tl.rnf(X)  # type: ignore[attr-defined]
    rarebit.tl.rfn(X, n_comps="3")  # type: ignore[arg-type]
    codes = rarebit.PCA(2).fit(X).transform(X)
    return codes if model.status == wrong.status_ == also_wrong.status_ else codes
