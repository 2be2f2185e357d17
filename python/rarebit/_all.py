"""All that rarebit has: what its __init__ gives when something is asked for first."""

from ._check import Check, check
from ._devices import devices
from ._estimators import Estimator
from ._library import build_info, version as library_version
from ._methods import *  # noqa: F401,F403
from ._methods import __all__ as _methods
from ._model import Model
from ._processes import processes
from ._progress import Progress
from ._replication import compare, replicate
from ._report import Report, report
from ._rerun import rerun
from ._sources import Source, convert, open as open, stream  # open: not by *, it is Python's, too
from . import pl, simulate, tl
from .media import denoise, patches, segments
from .nets import NetClassifier, NetRegressor, Stack, export, import_net
from .study import Selection, consensus, merge, methods, modules, select

__all__ = ["Check", "Estimator", "Model", "NetClassifier", "NetRegressor", "Progress", "Report",
           "Selection", "Source", "Stack", "build_info", "check", "compare", "consensus", "convert",
           "denoise", "devices", "export", "import_net", "library_version", "merge", "methods",
           "modules", "patches", "pl", "processes", "replicate", "report", "rerun", "segments", "select",
           "simulate", "stream", "tl",
           *(name for name in _methods if name != "CLASSES")]
