"""The option tables of the library: names, defaults, ranges, help."""

from __future__ import annotations

import os
import re
from ctypes import byref, c_void_p, create_string_buffer, sizeof
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from ._context import Context, option_name, python_name, python_names
from ._library import COption, Kind, core, io, text


# Options that are texts in the library, as they may have a unit or be lists, and take plain numbers.
COUNTS = ("checkpoint_every", "cache", "layers", "length", "step", "window", "hop")


@dataclass(frozen=True)
class Option:
    """A row of an option table."""

    name: str
    """Of the library: "eta-psi"."""
    kind: int
    default: Optional[str]
    legal: str
    choices: tuple[str, ...]
    help: str
    level: int
    needs: Optional[str]
    group: str
    word: Optional[str]

    @property
    def parameter(self) -> str:
        """The name that it has here: "eta_psi"."""
        return python_name(self.name)

    @property
    def value(self) -> Any:
        """The default as a value of Python."""
        return None if self.default is None else self.parse(self.default)

    def parse(self, text: str) -> Any:
        """A value of the library's as a value of Python."""
        if self.kind == Kind.FLAG:
            return text == "true"
        number = {Kind.INTEGER: int, Kind.NUMBER: float, Kind.VALUES: float}.get(self.kind)
        try:
            return number(text) if number else text
        except ValueError:
            return text

    @property
    def type(self) -> str:
        """What a value may be, as an annotation."""
        if self.kind == Kind.CHOICE:
            return "Literal[" + ", ".join(f'"{choice}"' for choice in self.choices) + "]"
        if self.parameter in COUNTS:
            return "Union[int, str]"
        if self.word:
            return f'Union[float, Literal["{self.word}"]]'
        return {Kind.INTEGER: "int", Kind.NUMBER: "float", Kind.FLAG: "bool", Kind.TEXT: "str",
                Kind.VALUES: "Union[float, ArrayLike]",
                Kind.SECONDS: "Union[float, str]"}[self.kind]

    @property
    def description(self) -> str:
        """The type of a value, for docstrings."""
        if self.kind == Kind.CHOICE:
            return "{" + ", ".join(f'"{choice}"' for choice in self.choices) + "}"
        if self.parameter in COUNTS:
            return "int, or a text"
        if self.word:
            return f'float or "{self.word}"'
        return {Kind.INTEGER: "int", Kind.NUMBER: "float", Kind.FLAG: "bool", Kind.TEXT: "str",
                Kind.VALUES: "float or array", Kind.SECONDS: "seconds, or a text"}[self.kind]

    @property
    def sentence(self) -> str:
        """What it does, for docstrings."""
        said = re.sub(r"^\w", lambda m: m.group().upper(), python_names(self.help))
        if self.kind in (Kind.INTEGER, Kind.NUMBER, Kind.VALUES):
            said += f"; {self.legal}"
        return f"{said}."


class Options:
    """A handle with options of the library: rb_options."""

    def __init__(self, context: Context, method: Optional[str] = None,
                 group: Optional[int] = None, make: Any = core.rb_options_new) -> None:
        self.pointer = c_void_p()
        self._context = context
        self._kept: list[Any] = []  # matrices that the handle views
        context.call(make, method.encode() if method else None, byref(self.pointer))
        if group is not None:
            context.call(core.rb_options_add, self.pointer, group)

    def __enter__(self) -> "Options":
        return self

    def __exit__(self, *_: Any) -> None:
        core.rb_options_free(self.pointer)
        for matrix, _array in self._kept:
            core.rb_matrix_free(matrix)
        self._kept = []

    def rows(self) -> Iterator[Option]:
        """What there is."""
        row, legal, index = COption(), create_string_buffer(500), 0
        while not core.rb_options_row(self.pointer, index, byref(row), sizeof(row)):
            core.rb_options_range(byref(row), legal, 500)
            yield Option(row.name.decode(), row.kind, text(row.fallback), legal.value.decode(),
                         tuple(row.choices.decode().split("|")) if row.choices else (),
                         row.help.decode(), row.level, text(row.needs), row.group.decode(),
                         text(row.word))
            index += 1

    def set_all(self, parameters: Mapping[str, Any]) -> None:
        """Sets options by their names here; None leaves one alone."""
        for name, value in parameters.items():
            if value is not None:
                self.set(name, value)

    def set(self, parameter: str, value: Any) -> None:
        name = option_name(parameter).encode()
        call = self._context.call
        if parameter == "checkpoint":
            io().rb_io_use(self._context._pointer)
        if isinstance(value, (bool, np.bool_)):
            call(core.rb_options_set, self.pointer, name, b"true" if value else b"false")
        elif (parameter in COUNTS and np.ndim(value) == 0) or (
                isinstance(value, (int, np.integer)) and not -2**63 <= value < 2**63):  # refused
            call(core.rb_options_set, self.pointer, name, str(value).encode())
        elif isinstance(value, (int, np.integer)):
            call(core.rb_options_set_integer, self.pointer, name, int(value))
        elif isinstance(value, (float, np.floating)):
            call(core.rb_options_set_number, self.pointer, name, float(value))
        elif isinstance(value, (np.ndarray, list, tuple)):
            if self._kind(name) in (Kind.TEXT, None):  # "0,1,2"; an unknown one is refused
                numbers = ",".join(str(number) for number in np.ravel(value).tolist())
                call(core.rb_options_set, self.pointer, name, numbers.encode())
            else:
                self._set_matrix(name, value)
        else:
            call(core.rb_options_set, self.pointer, name, os.fsencode(str(value)))
            if self._names_file(name):
                _refuse_numbers(parameter, str(value))
                self._read_matrix(name, os.fsencode(str(value)))

    def _kind(self, name: bytes) -> Optional[int]:
        return next((row.kind for row in self.rows() if row.name == name.decode()), None)

    def _names_file(self, name: bytes) -> bool:
        """Is it an option of values whose text is no number?"""
        return self._kind(name) == Kind.VALUES and \
            core.rb_options_text(self.pointer, name) is not None

    def _read_matrix(self, name: bytes, path: bytes) -> None:
        matrix = c_void_p()
        self._context.call(io().rb_read, path, None, byref(matrix))
        self._kept.append((matrix, None))
        self._context.call(core.rb_options_set_matrix, self.pointer, name, matrix)

    def _set_matrix(self, name: bytes, value: Any) -> None:
        array = np.ascontiguousarray(value, dtype=np.float64)
        array = array.reshape(1, -1) if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"{python_name(name.decode())} has {array.ndim} dimensions, but must "
                             "have 1 or 2")
        matrix = c_void_p()
        self._context.call(core.rb_matrix_dense, 1, *array.shape, array.ctypes.data,
                           array.shape[1], 1, byref(matrix))
        self._kept.append((matrix, array))
        self._context.call(core.rb_options_set_matrix, self.pointer, name, matrix)


def _refuse_numbers(parameter: str, text: str) -> None:
    """Numbers in a text, where a text is the name of a file."""
    if re.fullmatch(r"[-+.\deE]+(\s*[,\s]\s*[-+.\deE]+)+", text.strip()) and not os.path.exists(text):
        listed = ", ".join(re.split(r"[,\s]+", text.strip()))
        raise ValueError(f"{parameter} is '{text}', but a text is the name of a file: give numbers "
                         f"as a list, [{listed}]")


def options_of(method: str) -> list[Option]:
    """The options of a method, of fits and of preprocessing."""
    with Context() as context, Options(context, method) as options:
        return list(options.rows())
