"""How a file was understood where it could have been meant otherwise, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Notes:
    """How an input was understood: guesses, which a user should hear of, and plain facts."""

    def __init__(self) -> None:
        self.guesses: list[str] = []
        self.facts: list[str] = []


_heard: ContextVar[Notes | None] = ContextVar("heard", default=None)


def note(sentence: str, guess: bool = True) -> None:
    """Say how an input was understood, to whoever listens (`noted`), once."""
    heard = _heard.get()
    kept = [] if heard is None else heard.guesses if guess else heard.facts
    if sentence not in kept:
        kept.append(sentence)


@contextmanager
def noted() -> Iterator[Notes]:
    """The notes said within the block."""
    heard = Notes()
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)
