"""A look at data before a fit: rarebit/check.h."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, \
    c_void_p, sizeof
from dataclasses import dataclass
from typing import Any, Optional

from . import _library
from ._context import Context, python_name, python_names
from ._estimators import Estimator, _threads, class_name
from ._library import B, ERROR, I, P, S, core, text
from ._methods import CLASSES, samples_of
from ._options import Options, options_of

SEVERITIES = ("fine", "note", "problem")


class CFinding(Structure):
    """rb_finding."""

    _fields_ = [("name", c_char_p), ("severity", c_int), ("value", c_double),
                ("sentence", c_char_p)]


class CAdvice(Structure):
    """rb_advice."""

    _fields_ = [("option", c_char_p), ("value", c_char_p), ("reason", c_char_p)]


class CCost(Structure):
    """rb_cost."""

    _fields_ = [("size", c_size_t), ("bytes", c_double), ("seconds", c_double),
                ("iterations", c_int64), ("tried_samples", c_int64)]


_library.declare({
    "rb_check_group": (P, []),
    "rb_check_run": (ERROR, [P, P, P, POINTER(P)]),
    "rb_check_free": (None, [P]),
    "rb_check_count": (I, [P]),
    "rb_check_finding": (POINTER(CFinding), [P, I]),
    "rb_check_kind": (S, [P]),
    "rb_check_across": (B, [P]),
    "rb_check_method": (S, [P]),
    "rb_check_method_reason": (S, [P]),
    "rb_check_advice_count": (I, [P]),
    "rb_check_advice": (POINTER(CAdvice), [P, I]),
    "rb_check_cost": (ERROR, [P, P, P, POINTER(CCost)]),
})


@dataclass(frozen=True)
class Check:
    """What `check` found."""

    kind: str
    """What the values seem to be: "counts", "log counts", "pixels", "binary", "real", ..."""
    findings: Any
    """A data frame, the gravest first: severity ("fine", "note", "problem"), value, sentence;
    docs/howto/check.md explains the names."""
    across: bool
    """Do rows seem to be features? Then check, and fit, the transposed data."""
    method: Optional[str]
    """The class to begin with, such as "RFN"; None: solve the problems first."""
    reason: Optional[str]
    """Why that one."""
    advice: Any
    """A data frame with a row for each parameter that is advised: value, reason."""
    cost: Optional[dict[str, float]]
    """Bytes, seconds and iterations of that fit, where asked for."""

    def estimator(self, **parameters: Any) -> Estimator:
        """The estimator to begin with, not fitted, with the parameters that are advised and those
        that are given here."""
        if self.method is None:
            raise ValueError("no fit is suggested before the problems are solved: see findings")
        return CLASSES[self.method](**{**self.advice["value"].to_dict(), **parameters})

    def __str__(self) -> str:
        lines = [f"{row.severity}: {row.sentence}" for row in self.findings.itertuples()]
        if self.method is not None:
            given = ", ".join(f"{name}={value!r}" for name, value in self.advice["value"].items())
            lines.append(f"to begin with: {self.method}({given})")
        return "\n".join(lines)


def check(X: Any, n_components: Optional[int] = None, *, cost: bool = False,
          n_jobs: Optional[int] = None, **options: Any) -> Check:
    """What data seem to be, what is wrong with them, and how to fit them.

    Parameters
    ----------
    X : samples x features, as for `fit`
    n_components : suggest a fit with so many units; None: estimate that, too
    cost : estimate memory and time of the fit, by a few iterations that are made
    options : samples: examine so many, spread over the data; random_state: of the features that
        are permuted to say what is chance

    Examples
    --------
    >>> found = rarebit.check(X)
    >>> print(found)
    >>> fitted = found.estimator(random_state=1).fit(X)
    """
    handle = c_void_p()
    with Context(_threads(n_jobs)) as context, \
            Options(context, group=core.rb_check_group()) as chosen, \
            samples_of(X).lent(context) as samples:
        chosen.set_all({"n_components": n_components, **options})
        context.run(core.rb_check_run, samples, chosen.pointer, byref(handle))
        try:
            return _found(handle, _cost(context, handle, samples) if cost else None)
        finally:
            core.rb_check_free(handle)


def _cost(context: Context, handle: c_void_p, samples: c_void_p) -> dict[str, float]:
    found = CCost(sizeof(CCost))
    context.run(core.rb_check_cost, handle, samples, byref(found))
    return {"bytes": found.bytes, "seconds": found.seconds, "iterations": found.iterations}


def _found(handle: c_void_p, cost: Optional[dict[str, float]]) -> Check:
    import pandas

    method = text(core.rb_check_method(handle))
    findings = [core.rb_check_finding(handle, k).contents
                for k in range(core.rb_check_count(handle))]
    told = pandas.DataFrame(
        [(text(f.name), SEVERITIES[f.severity], f.value, python_names(text(f.sentence) or ""))
         for f in findings], columns=["name", "severity", "value", "sentence"])
    reason = text(core.rb_check_method_reason(handle))
    return Check(text(core.rb_check_kind(handle)) or "", told.set_index("name"),
                 bool(core.rb_check_across(handle)), class_name(method) if method else None,
                 python_names(reason) if reason else None, _advice(handle, method), cost)


def _advice(handle: c_void_p, method: Optional[str]) -> Any:
    import pandas

    given = [core.rb_check_advice(handle, k).contents
            for k in range(core.rb_check_advice_count(handle))]
    parse = {o.name: o.parse for o in options_of(method)} if method else {}
    rows = [(python_name(text(a.option) or ""), parse[text(a.option) or ""](text(a.value) or ""),
             python_names(text(a.reason) or "")) for a in given]
    return pandas.DataFrame(rows, columns=["parameter", "value", "reason"],
                            dtype=object).set_index("parameter")
