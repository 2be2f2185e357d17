"""The stub of _methods, so that editors and type checkers know the classes:

    python3 -m rarebit._stub > rarebit/_methods.pyi
"""

from __future__ import annotations

import inspect

from ._estimators import OWN, signature_of
from ._methods import CLASSES, __all__
from ._options import Option
from .nets import NetClassifier, NetRegressor

HEAD = '''"""Written by _stub.py from the option tables of the library."""

from collections.abc import Callable
from typing import Any, Literal, Optional, Union

from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike

from ._estimators import Batches, Clusters, Directions, Estimator
from ._progress import Progress
from ._sources import Source
from .nets import Classifies, Regresses

CLASSES: dict[str, type[Estimator]]


def samples_of(X: Any) -> Source: ...


def load(path: Any) -> Estimator: ...
'''


def declared(name: str, base: str, method: str, options: tuple[Option, ...]) -> str:
    """A class with its parameters."""
    types = {option.parameter: option.type for option in options}
    types["random_state"] = "Union[int, RandomState, Generator]"
    types["callback"] = "Callable[[Progress], Optional[bool]]"
    types.update({own: OWN[own][1] for own in ("n_jobs", "verbose", "min_shared", "device")})
    types["on_interrupt"] = 'Literal["raise", "stop"]'
    arguments = ["self"]
    for parameter in list(signature_of(method, options).parameters.values())[1:]:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        of_type, default = types[parameter.name], parameter.default
        of_type = of_type if default is not None else f"Optional[{of_type}]"
        arguments.append(f"{parameter.name}: {of_type} = {default!r}")
    body = ",\n        ".join(arguments)
    members = "".join(f"    {option.parameter}: Any\n" for option in options)
    return (f"\n\nclass {name}({base}):\n{members}\n    def __init__(\n"
            f"        {body},\n    ) -> None: ...\n")


def stub() -> str:
    """The text of the file."""
    parts = [HEAD]
    for name, made in CLASSES.items():
        parts.append(declared(name, made.__bases__[0].__name__, made._method, made._options))
    for made in (NetClassifier, NetRegressor):
        parts.append(declared(made.__name__, made.__bases__[0].__name__, "net", made._options))
    listed = "".join(f'    "{name}",\n' for name in __all__)
    return "".join(parts) + f"\n\n__all__ = [\n{listed}]\n"


if __name__ == "__main__":
    print(stub(), end="")
