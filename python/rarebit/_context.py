"""Calls of the library: errors as exceptions, progress, log messages, Ctrl-C."""

from __future__ import annotations

import _thread
import queue
import re
import sys
import threading
import warnings
from collections import deque
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional

from ._library import Error, LogFn, ProgressFn, core, has_nets, nets, text
from ._processes import current as processes_now
from ._progress import LOGGER, Progress, Teller, progress_of

EXCEPTIONS: dict[int, type[Exception]] = {
    Error.MEMORY: MemoryError,
    Error.FILE: OSError,
    Error.NUMERIC: FloatingPointError,
    Error.UNSUPPORTED: NotImplementedError,
}  # all others: ValueError


Callback = Callable[[Progress], Optional[bool]]

# Packages whose lines no warning is to name.
AROUND = ("rarebit", "sklearn", "joblib", "contextlib")


def python_names(message: str) -> str:
    """A message of the library, which names options between backquotes, and help, which names them
    as the tool does, with the names that they have here."""
    message = re.sub(r"`([a-z0-9-]+)(?:=([^`]*))?`", lambda m: _argument(*m.groups()), message)
    return re.sub(r"(?<![\w-])--([a-z0-9]+(?:-[a-z0-9]+)*)", lambda m: python_name(m[1]), message)


def _argument(option: str, value: Optional[str]) -> str:
    """`estep=newton` is estep="newton" here, and `trace=true` is trace=True."""
    if value is None:
        return python_name(option)
    if value in ("true", "false"):
        return f"{python_name(option)}={value.title()}"
    number = re.fullmatch(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?", value)
    return f"{python_name(option)}={value}" if number else f'{python_name(option)}="{value}"'


_RENAMED = {"units": "n_components", "seed": "random_state", "threads": "n_jobs"}
_KEYWORDS = {v: k for k, v in _RENAMED.items()}


def python_name(option: str) -> str:
    """The parameter that an option of the library is."""
    return _RENAMED.get(option, option.replace("-", "_"))


def option_name(parameter: str) -> str:
    """The option of the library that a parameter is."""
    return _KEYWORDS.get(parameter, parameter.replace("_", "-"))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning that names the line which called the package, be it through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in AROUND:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class _Desk:
    """Where a thread that waits for a call is given things to do."""

    def __init__(self) -> None:
        self.wake: "queue.SimpleQueue[None]" = queue.SimpleQueue()
        self.tasks: "deque[tuple[Callable[[], Any], Any]]" = deque()


class Context:
    """One piece of work of the library, with a context of its own.

    `threads`: 0 is one per processor. `callback` and what `verbose` prints are called on the thread
    that makes the calls.
    """

    def __init__(self, threads: int = 1, verbose: int = 0,
                 callback: Optional[Callback] = None) -> None:
        self._pointer = c_void_p()
        if core.rb_context_new(byref(self._pointer)):
            raise MemoryError("there is no memory for a context of rarebit")
        self._raised: Optional[BaseException] = None
        self._interrupted = False
        self._desk: Optional[_Desk] = None
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self._verbose, self._callback, self._teller = verbose, callback, Teller(verbose)
        self._on_log = LogFn(self._log)  # kept: the library calls them
        self._on_progress = ProgressFn(self._iteration)
        core.rb_context_on_log(self._pointer, self._on_log, None)
        if self._teller.wanted or callback is not None:
            core.rb_context_on_progress(self._pointer, self._on_progress, None)
        try:
            if has_nets():
                self.call(nets().rb_nets_use)
            if threads != 1:
                self.call(core.rb_context_set_threads, threads)
            comm = processes_now.get()
            if comm is not None:
                self.call(core.rb_context_set_comm, byref(comm))
        except BaseException:
            core.rb_context_free(self._pointer)
            raise

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: Any) -> None:
        core.rb_context_free(self._pointer)
        self._pointer = c_void_p()
        self._teller.close()
        for message in self.warnings:
            warn(message)
        self.warnings = []

    # -- callbacks, on whatever thread the library calls them

    def _log(self, level: int, message: bytes, _: Any) -> None:
        said = python_names(message.decode("utf-8", "replace"))
        if level == 0:
            self.warnings.append(said)
        elif self._verbose:
            self.on_caller(lambda: print(f"rarebit: {said}"))
        if level:
            self.notes.append(said)
            LOGGER.info("%s", said)

    def _iteration(self, c: Any, _: Any) -> int:
        progress = progress_of(c.contents)
        if self._callback is None and not self._teller.due(progress):
            return Error.OK
        return Error.INTERRUPTED if self.on_caller(lambda: self._tell(progress)) else Error.OK

    def _tell(self, progress: Progress) -> bool:
        if self._teller.due(progress):
            self._teller.tell(progress)
        return self._callback is not None and self._callback(progress) is True

    def on_caller(self, task: Callable[[], Any]) -> Any:
        """Does something on the thread that made the call; True if it could not be done."""
        if self._desk is None:
            return self._attempt(task)
        done: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._desk.tasks.append((task, done))
        self._desk.wake.put(None)
        return done.get()

    def _attempt(self, task: Callable[[], Any]) -> Any:
        try:
            return task()
        except BaseException as error:  # goes on where the call ends
            self.raise_later(error)
            return True

    def raise_later(self, error: BaseException) -> None:
        """Ends the call at hand with an exception."""
        if isinstance(error, KeyboardInterrupt):
            self._interrupted = True
        elif self._raised is None:
            self._raised = error
        core.rb_context_stop(self._pointer)

    # -- calls

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function that takes the context first and gives an rb_error."""
        self._check(function(self._pointer, *arguments))

    def run(self, function: Any, *arguments: Any, keeps: bool = False) -> bool:
        """The same for what takes time: Ctrl-C ends it. With `keeps`, a call that was ended by
        Ctrl-C and has a result nonetheless is no error: True."""
        if threading.current_thread() is threading.main_thread():
            error = self._wait(function, *arguments)
        else:
            error = function(self._pointer, *arguments)
        if self._raised is None and self._interrupted and not (keeps and error == Error.OK):
            raise KeyboardInterrupt
        self._check(error)
        return self._interrupted

    def _wait(self, function: Any, *arguments: Any) -> int:
        """Calls on another thread: Python handles signals on the main one alone, and only while
        that is not inside of a call."""
        desk = _Desk()
        once, result = threading.Lock(), []

        def work() -> None:
            if once.acquire(blocking=False):
                result.append(function(self._pointer, *arguments))
                desk.wake.put(None)

        self._desk = desk
        started = False
        while not result:  # what is waited for is looked at first: a wake may be lost to a signal
            try:
                if not started:
                    self._start(work)
                    started = True
                if not result and not desk.tasks:
                    desk.wake.get()
                while desk.tasks:
                    task, done = desk.tasks[0]
                    done.put(self._attempt(task))
                    desk.tasks.popleft()
            except BaseException as error:  # what a signal's handler raised
                self.raise_later(error)
        self._desk = None
        return int(result[0])

    def _start(self, work: Callable[[], None]) -> None:
        try:
            _thread.start_new_thread(work, ())
        except RuntimeError:  # there can be no more threads: signals wait
            self._desk = None
            work()

    def _check(self, error: int) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        if error:
            message = python_names(text(core.rb_context_error(self._pointer)) or "")
            raise EXCEPTIONS.get(error, ValueError)(message)
