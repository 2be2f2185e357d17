"""A fit and a net by the installed package, and a file where the package has librarebit-io."""

import importlib.metadata

import numpy as np
import rarebit

X = np.random.default_rng(0).gamma(1.0, size=(60, 12))
model = rarebit.RFN(3, random_state=1).fit(X)
codes = model.transform(X)
assert codes.shape == (60, 3) and np.isfinite(codes).all() and (codes >= 0).all()
assert rarebit.NetClassifier(epochs=2, random_state=1).fit(X, X[:, 0] > 1).predict(X).shape == (60,)
assert importlib.metadata.version("rarebit") == rarebit.library_version()
try:
    model.save("model.h5")
except NotImplementedError:
    print("without files")
else:
    assert (rarebit.load("model.h5").transform(X) == codes).all()
print("fitted by", rarebit.__file__)
