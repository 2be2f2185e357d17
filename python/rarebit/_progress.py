"""Where a fit stands: as a bar of tqdm where that is installed, as lines, and to the logger."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from ._library import text

LOGGER = logging.getLogger("rarebit")


@dataclass(frozen=True)
class Progress:
    """Where a fit stands after an iteration."""

    iteration: int
    """From 1."""
    iterations: int
    """How many were asked for."""
    objective: float
    """To be maximised."""
    estep_objective: float
    """To be minimised; NaN unless the option trace is set."""
    seconds: float
    """Of this iteration."""
    elapsed: float
    """Seconds since the fit began."""
    remaining: float
    """Estimated seconds until the last iteration."""
    metrics: dict[str, float] = field(default_factory=dict)
    """What else the method tells of an iteration."""
    what: str = "iteration"
    """What is counted: "iteration", or "fit"."""

    def __str__(self) -> str:
        line = f"{self.what} {self.iteration} of {self.iterations}, {self.elapsed:.1f} s"
        told = self.objective == self.objective
        return f"{line}, objective {self.objective:.8g}" if told else line


def progress_of(c: Any) -> Progress:
    """An rb_progress."""
    metrics = {}
    k = 0
    while c.metric_names and c.metric_names[k]:
        metrics[c.metric_names[k].decode()] = c.metrics[k]
        k += 1
    return Progress(c.iteration, c.iterations, c.objective, c.estep_objective, c.seconds,
                    c.elapsed, c.remaining, metrics, text(c.what) or "iteration")


class Teller:
    """Tells of progress: verbose 1 by a bar, or a line a second; 2 by a line an iteration; and the
    logger at level DEBUG."""

    def __init__(self, verbose: int) -> None:
        self._verbose, self._told = verbose, float("-inf")
        self._bar: Any = None

    @property
    def wanted(self) -> bool:
        """Is there anybody to be told?"""
        return bool(self._verbose) or LOGGER.isEnabledFor(logging.DEBUG)

    def due(self, p: Progress) -> bool:
        """Is this one told? Of many iterations a second few are."""
        if LOGGER.isEnabledFor(logging.DEBUG):
            return True
        return bool(self._verbose) and (self._verbose > 1 or p.iteration >= p.iterations
                                        or time.monotonic() - self._told >= self._pause)

    def tell(self, p: Progress) -> None:
        """Says it."""
        LOGGER.debug("%s", p)
        if not self._verbose:
            return
        bar = self._bar_of(p) if self._verbose == 1 else None
        self._told = time.monotonic()
        if bar is None:
            print(f"rarebit: {p}")
            return
        if p.objective == p.objective:
            bar.set_postfix(objective=f"{p.objective:.6g}", refresh=False)
        bar.update(p.iteration - bar.n)

    def close(self) -> None:
        """Ends the bar where it is."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    @property
    def _pause(self) -> float:
        return 1.0 if self._bar is None else 0.1

    def _bar_of(self, p: Progress) -> Optional[Any]:
        """The bar; None where there is no tqdm."""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        if self._bar is None or p.iterations != self._bar.total or p.iteration < self._bar.n:
            self.close()
            self._bar = tqdm(total=p.iterations, unit=p.what.split()[-1], desc="rarebit")
        return self._bar
