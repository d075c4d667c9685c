"""How much memory a fit may take: sizes as people write them, and a plan that is told.

A plan adds up what is there at once: what is kept for the whole fit, and what each worker needs
while it has a block. From that follows how many workers may run, or that the limit is too low.
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from linnaeus.errors import UserError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE)
BASE = 300 << 20  # bytes of the interpreter with its libraries and compiled loops
_log = logging.getLogger("linnaeus.memory")
_REFUSES: ContextVar[bool] = ContextVar("linnaeus-memory-refuses", default=True)


@contextmanager
def never_refused() -> Iterator[None]:
    """Limits that are too low are kept as well as can be: small problems then go all ways."""
    token = _REFUSES.set(False)
    try:
        yield
    finally:
        _REFUSES.reset(token)


def is_size(value: Any) -> bool:
    """Whether this is a size, as a text or in bytes."""
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        return found is not None and float(found[1]) > 0
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def size_of(value: str | int | None) -> int | None:
    """Bytes of a size such as '8G' or '500 MB', with 1,024 of each unit in the next."""
    if value is None or isinstance(value, int):
        return value
    found = _SIZE.fullmatch(value)
    if found is None:
        raise UserError(f"{value!r} is not a size. Write it as 8G or 500M.")
    return int(float(found[1]) * UNITS[found[2].upper()])


def text_of(size: float) -> str:
    """A size for people."""
    for unit, bytes_ in [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)]:
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size:.0f} bytes"


def workers_of(n_jobs: int | None) -> int:
    """The number of workers that `n_jobs` means."""
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs or 1


class Plan(NamedTuple):
    """What a fit needs: fixed parts by name, and what each worker takes beside them."""

    limit: int
    fixed: dict[str, float]  # bytes
    worker: float  # bytes
    on_disk: bool = False  # whether weights are

    @property
    def needed(self) -> int:
        """With one worker."""
        return math.ceil(BASE + sum(self.fixed.values()) + self.worker)

    def workers(self, wished: int) -> int:
        """How many workers may run; what is planned is told, or the limit refused."""
        if not _REFUSES.get() and self.needed > self.limit:
            return wished
        room = self.limit - BASE - sum(self.fixed.values())
        n = min(wished, int(room // max(self.worker, 1.0)))
        parts = ", ".join(f"{text_of(size)} for {name}" for name, size in self.fixed.items())
        if n < 1:
            raise UserError(
                f"memory={text_of(self.limit)} is too little: this fit takes {parts}, "
                f"{text_of(self.worker)} for a worker and {text_of(BASE)} for the program. Allow "
                f"at least {text_of(self.needed)}."
            )
        _log.info(
            "Memory: %s, %s for each of %d workers; %s of %s in all.",
            parts, text_of(self.worker), n,
            text_of(BASE + sum(self.fixed.values()) + n * self.worker), text_of(self.limit),
        )  # fmt: skip
        return n
