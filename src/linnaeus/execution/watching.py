"""Who watches the fits, what they are told, and whether a fit is to stop.

A fit says what each of its rounds reached to whoever watches (`watched`), and asks between rounds
whether it is to stop with what it has. Where nobody watches nothing is said and nothing stops. Both
are context variables: fits in another thread are not watched, the threads that a fit starts are.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

Show = Callable[[list[str]], None]


class Watch:
    """The fits that are under way, the outermost of each thread; `show` is given a line of each."""

    def __init__(self, show: Show) -> None:
        self.show, self.fits, self.lock = show, list[Fit](), Lock()

    def tell(self) -> None:
        """Show how things stand."""
        with self.lock:
            self.show([fit.line for fit in self.fits])

    @contextmanager
    def fit(self, name: str) -> Iterator[Fit]:
        """A fit, shown and open to interrupts while this lasts."""
        here = Fit(name, self)
        token = FIT.set(here)
        self.fits.append(here)
        try:
            self.tell()
            yield here
        finally:
            self.fits.remove(here)
            FIT.reset(token)
            self.tell()

    def interrupt(self) -> bool:
        """Let the fits stop after their rounds; False if none runs, or all know already."""
        asked = [fit for fit in tuple(self.fits) if not fit.asked]  # no lock: a signal handler
        for fit in asked:
            fit.asked = True
        return bool(asked)


class Fit:
    """A fit that is watched: its last words, whether it was asked to stop, and whether it did."""

    def __init__(self, name: str, watch: Watch) -> None:
        self.name, self.watch, self.line, self.began = name, watch, name, time.perf_counter()
        self.asked = self.stopped = False

    def say(self, n: int, limit: int, reached: Mapping[str, float]) -> None:
        """Tell of round n of at most `limit`, and of what it reached."""
        values = [f"{key} {value:.3g}" for key, value in reached.items() if key != "seconds"]
        seconds = time.perf_counter() - self.began
        where = f"round {n:,} of at most {limit:,}"
        self.line = f"{self.name}: {', '.join([where, *values, f'{seconds:.0f} s'])}"
        self.watch.tell()


WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)  # who watches, if anybody
FIT: ContextVar[Fit | None] = ContextVar("fit", default=None)  # what runs here, if watched


@contextmanager
def watched(show: Show) -> Iterator[Watch | None]:
    """Show the fits while this lasts; None where somebody watches already, who goes on to."""
    if WATCH.get() is not None:
        yield None
        return
    watch = Watch(show)
    token = WATCH.set(watch)
    try:
        yield watch
    finally:
        WATCH.reset(token)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let Ctrl-C stop the fits of a block, whoever watches them: with what they have, or kept."""
    with watched(lambda lines: None) as unseen, heard(unseen or WATCH.get()):
        yield


@contextmanager
def heard(watch: Watch | None) -> Iterator[None]:
    """Let Ctrl-C stop fits that have not been asked to; else do what it did before.

    Only the main thread hears it.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if watch is None or not in_main or not callable(before):  # ignored, or not Python's
        yield
        return
    spent = False

    def handle(number: int, frame: Any) -> None:
        nonlocal spent
        if not spent and watch.interrupt():
            spent = True
        else:
            before(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def is_interrupted() -> bool:
    """Whether the fit that runs here stops early because it was interrupted."""
    fit = FIT.get()
    return fit is not None and fit.stopped
