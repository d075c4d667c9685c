"""Warnings that a fit stopped early: counted for every unit, in place of shown hundreds of times.

Python keeps one way of showing warnings for the whole process. `collecting` replaces it for as long
as a search lasts; each thread counts its own.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import ConvergenceWarning


class Count:
    """How many there were."""

    def __init__(self) -> None:
        self.n = 0


_here = threading.local()


@contextmanager
def collecting() -> Iterator[None]:
    """No warning of convergence is shown while this lasts; `counted` blocks count them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, ConvergenceWarning):
                shown(message, category, *where, **more)
            elif getattr(_here, "count", None) is not None:
                _here.count.n += 1

        warnings.showwarning = collect
        yield


@contextmanager
def counted() -> Iterator[Count]:
    """Count the warnings of this thread, within `collecting`."""
    _here.count = Count()
    try:
        yield _here.count
    finally:
        _here.count = None
