"""The rounds of a solver: how many, what each of them reached, and when it is enough.

    rounds = Rounds(max_iter, tol)
    for _ in rounds:
        ...                                    one round
        rounds.note(objective, gap)            its certificate, P and P - D

goes on until P - D <= tol max(floor, |P|), or for `max_iter` rounds. Where passes over the data are
counted in place of rounds, `while rounds.go_on()` and `rounds.n += 1` do the same. A certificate of
another kind is entered by `enter`, and says itself when it is `done`. Whoever watches the fit is
told of every entry, and may end it after any round.

Where the fit has a checkpoint, a solver that says what its state is goes on after a kill:

    rounds.keep(["name", *what it starts from], take, restore)      before the first round

`take()` gives a plain value between two rounds, `restore(value)` brings it back. Passes that are
counted by hand call `rounds.save()` where the state is whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from linnaeus.execution import CHECKPOINT
from linnaeus.execution.checkpoints import Saving
from linnaeus.execution.watching import FIT

Record = dict[str, float]  # seconds, objective, gap; the gap is relative, (P - D) / |P|


class Kept(NamedTuple):
    """What a solver starts from, as a plain value, and its state: taken, and brought back."""

    about: Any
    take: Callable[[], Any]
    restore: Callable[[Any], None]


class Rounds:
    """The number `n` of rounds so far, their trace, and whether the last certificate is enough.

    `gap` is what was last noted, `target` the one that would have been enough.

    unit : what objective and gap are divided by in the trace
    """

    def __init__(
        self, limit: int, tol: float = 0.0, *, floor: float = 0.0, unit: float = 1.0
    ) -> None:
        self.limit, self.tol, self.floor, self.unit = limit, tol, floor, unit
        self.n, self.done, self.gap, self.target = 0, False, math.inf, 0.0
        self.trace: list[Record] = []
        self.began, self.fit = time.perf_counter(), FIT.get()
        self.saving: Saving | None = None

    def __iter__(self) -> Iterator[int]:
        while self.go_on():
            self.save()
            self.n += 1
            yield self.n

    def keep(
        self, about: Sequence[Any], take: Callable[[], Any], restore: Callable[[Any], None]
    ) -> bool:
        """Keep the state of a solver where the fit has a checkpoint; whether one was restored.

        about : plain values that say all that the solver starts from
        """
        checkpoint = CHECKPOINT.get()
        if checkpoint is None:
            return False
        self.saving = Saving(checkpoint, [*about, self.limit, self.tol], take)
        found = self.saving.found()
        if found is None:
            return False
        (self.n, self.limit, self.tol, self.done, self.gap, self.target, seconds), trace, state = (
            found
        )
        self.trace, self.began = list(trace), time.perf_counter() - seconds
        restore(state)
        return True

    def save(self) -> None:
        """Between two rounds: keep the state from time to time, and stop here if that is wished."""
        if self.saving is not None and self.n > 0:
            own = (self.n, self.limit, self.tol, self.done, self.gap, self.target,
                   time.perf_counter() - self.began)  # fmt: skip
            self.saving(own, self.trace)

    def go_on(self) -> bool:
        """Whether there is another round: it is not enough yet, and there may be more."""
        return not self.done and self.n < self.limit and not self.stopped

    @property
    def stopped(self) -> bool:
        """Whether the fit was interrupted: one round is made, so that there is an answer."""
        if self.n == 0 or self.fit is None or not self.fit.asked or self.saving is not None:
            return False  # with a checkpoint it stops between two rounds
        self.fit.stopped = True
        return True

    @property
    def left(self) -> int:
        """How many rounds there may still be."""
        return 0 if self.stopped else self.limit - self.n

    def restart(self, limit: int, tol: float) -> None:
        """Count anew, to another tolerance; the trace goes on."""
        self.limit, self.tol, self.n, self.done = limit, tol, 0, False

    def note(self, objective: float, gap: float, **more: float) -> bool:
        """Enter the certificate P and P - D; whether it is enough."""
        seconds, objective, gap = time.perf_counter() - self.began, float(objective), float(gap)
        self.trace.append(record(seconds, objective / self.unit, gap / self.unit) | more)
        self.gap, self.target = gap, self.tol * max(self.floor, abs(objective))
        self.done = bool(gap <= self.target)
        self._tell()
        return self.done

    def enter(self, **values: float) -> Record:
        """Enter what a round reached, by whatever names."""
        self.trace.append({"seconds": time.perf_counter() - self.began, **values})
        self._tell()
        return self.trace[-1]

    def _tell(self) -> None:
        if self.fit is not None:
            self.fit.say(self.n, self.limit, self.trace[-1])


def record(seconds: float, objective: float, gap: float) -> Record:
    """An entry of a trace from P and P - D."""
    return {"seconds": seconds, "objective": objective, "gap": relative(gap, objective)}


def relative(gap: float, objective: float) -> float:
    """The gap P - D as a part of |P|, whatever the scale of the problem; 0 where there is none."""
    if gap == 0.0:
        return 0.0
    return gap / abs(objective) if objective else math.copysign(math.inf, gap)


def joined_traces(traces: Sequence[list[Record]], seconds: float | None = None) -> list[Record]:
    """The sums of problems that were solved side by side, in so many seconds.

    A problem that has ended keeps its last record. Without `seconds` those of all are added.
    """
    last = max(map(len, traces))
    table = np.array([[_values(r) for r in t + t[-1:] * (last - len(t))] for t in traces])
    total = table.sum(axis=0)
    share = 1.0 if seconds is None else seconds / max(float(total[-1, 0]), 1e-12)
    return [record(s * share, objective, gap) for s, objective, gap in total.tolist()]


def _values(entry: Record) -> tuple[float, float, float]:
    """Seconds, P and P - D."""
    size = abs(entry["objective"])
    return entry["seconds"], entry["objective"], entry["gap"] * size if size else 0.0
