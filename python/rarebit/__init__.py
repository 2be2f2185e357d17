"""rarebit: finds the few hidden causes behind data.

Estimators in scikit-learn's way, one for each method of the library: RFN, LinCA, NMFET, MCA, and
those to compare with.

    from rarebit import RFN
    rfn = RFN(10).fit(X)
    codes = rfn.transform(X)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._library import version

__version__ = version()

if TYPE_CHECKING:
    from ._all import *  # noqa: F401,F403
    from ._methods import *  # noqa: F401,F403
    from ._sources import open as open  # noqa: F401
else:
    def __getattr__(name: str) -> Any:
        """scikit-learn takes a second to be imported: it waits until something is asked for."""
        found = vars(import_module("._all", __name__)) if name != "__path__" else {}
        if name not in found:
            raise AttributeError(f"module 'rarebit' has no attribute {name!r}")
        return globals().setdefault(name, found[name])

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
