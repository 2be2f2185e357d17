"""Tables of results: rarebit/table.h. Keys and what they mean are said there alone."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, \
    c_size_t, c_void_p
from typing import Any, Optional, Sequence

from . import _library
from ._library import I, P, S, core

INTEGER, NUMBER, SHARE, CHANCE, TEXT, FEATURES = range(1, 7)


class CValue(Structure):
    """rb_value."""

    _fields_ = [("kind", c_int), ("integer", c_int64), ("number", c_double), ("log10", c_double),
                ("text", c_char_p), ("features", POINTER(c_int64)), ("members", c_void_p),
                ("above", c_bool), ("shown", c_char * 32)]


class CColumn(Structure):
    """rb_table_column."""

    _fields_ = [("key", c_char_p), ("title", c_char_p), ("format", c_char_p),
                ("meaning", c_char_p), ("kind", c_int), ("offset", c_size_t), ("value", c_void_p),
                ("optional", c_bool)]


class CTable(Structure):
    """rb_table."""

    _fields_ = [("key", c_char_p), ("columns", POINTER(CColumn)), ("n_rows", c_int64),
                ("rows", c_void_p), ("row_size", c_size_t), ("of", c_void_p)]


_library.declare({
    "rb_table_value": (CValue, [POINTER(CTable), I, POINTER(CColumn)]),
    "rb_table_find": (POINTER(CColumn), [POINTER(CTable), S]),
    "rb_modules_table": (CTable, [P]),
})


def _plain(value: CValue, names: Optional[Sequence[str]]) -> Any:
    """A number or a text; None where there is none."""
    if value.kind == INTEGER:
        return value.integer
    if value.kind == TEXT:
        return value.text.decode()
    if value.kind == FEATURES and names is not None:
        return " ".join(str(names[value.features[k]]) for k in range(value.integer))
    return value.number if value.kind in (NUMBER, SHARE, CHANCE) else None


def columns(table: CTable, names: Optional[Sequence[str]] = None) -> dict[str, list[Any]]:
    """The columns of numbers and texts that the table has, by key; with the names of the features
    in use those of features, too."""
    found: dict[str, list[Any]] = {}
    i = 0
    while (column := table.columns[i]).key is not None:
        i += 1
        if column.kind <= (TEXT if names is None else FEATURES) \
                and core.rb_table_find(byref(table), column.key):
            found[column.key.decode()] = [
                _plain(core.rb_table_value(byref(table), row, byref(column)), names)
                for row in range(table.n_rows)]
    return found


def frame(table: CTable, names: Optional[Sequence[str]] = None) -> Any:
    """The same as a data frame."""
    import pandas

    found = columns(table, names)
    return pandas.DataFrame({key: pandas.array(values, dtype="Int64") if None in values and
                             any(isinstance(value, int) for value in values) else values
                             for key, values in found.items()})
