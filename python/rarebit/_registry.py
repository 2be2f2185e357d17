"""The methods that the library knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._context import Context
from ._library import core, text


@dataclass(frozen=True)
class Method:
    """A method of the library."""

    name: str
    title: str
    code_name: str
    """Of its codes in AnnData."""
    metrics: tuple[str, ...]
    """What it tells of iterations."""
    missing: bool
    """Can it do without values that are missing?"""
    batches: bool
    """Can an M-step follow each batch of samples?"""


def metrics_told(table: Any) -> tuple[str, ...]:
    """What a method tells of iterations besides the objective."""
    names: list[str] = []
    while table.metric_names and table.metric_names[len(names)]:
        names.append(table.metric_names[len(names)].decode())
    return tuple(names)


def methods(context: Context) -> list[Method]:
    """In the order of the library."""
    found: list[Method] = []
    while True:
        pointer = core.rb_context_method(context._pointer, len(found))
        if not pointer:
            return found
        table = pointer.contents
        found.append(Method(text(table.name) or "", text(table.title) or "",
                            text(table.code_name) or "", metrics_told(table), table.missing,
                            table.takes_batches))
