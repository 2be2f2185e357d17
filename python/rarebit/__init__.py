"""rarebit: finds the few hidden causes behind data."""

from . import _estimators
from ._context import Progress
from ._library import version as library_version
from ._model import Model
from ._sources import Source, open, stream

globals().update(_estimators.CLASSES)
__all__ = ["Model", "Progress", "Source", "library_version", "open", "stream",
           *_estimators.CLASSES]
