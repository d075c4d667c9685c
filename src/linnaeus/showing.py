"""Fits shown while they run, in a terminal or a notebook; Ctrl-C ends one with what it has.

with linnaeus.progress():
    model.fit(X, y)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from linnaeus.execution import watching

EVERY = 0.1  # seconds between two pictures
LINES = 1.0  # the same, where every picture is a new line


@contextmanager
def progress(show: bool | None = None) -> Iterator[None]:
    """Show the rounds and the gap of every fit in a block, on request.

    The first Ctrl-C in the block (or the notebook's stop button) lets the fit that runs end after
    its round: it keeps what it has with its certificate, and a `ConvergenceWarning` names the gap.
    The second raises `KeyboardInterrupt` at once, as the first does where no fit runs. Outside of
    such a block nothing is shown, and Ctrl-C raises as everywhere. Fits are shown that the thread
    of the block starts, with their own threads (`n_jobs`); only the main thread hears Ctrl-C.

    Parameters
    ----------
    show : bool or None, default=None
        None shows fits in a terminal (on standard error) and in a notebook, and not where standard
        error is a file; True everywhere, as lines of text if need be; False nowhere.

    Yields
    ------
    None
        Nothing: the block runs.

    Examples
    --------
    >>> import linnaeus
    >>> with linnaeus.progress():
    ...     model = linnaeus.FlatSVM().fit([[0.0], [1.0]], ["a", "b"])
    """
    with ExitStack() as stack:
        paint = stack.enter_context(_painter(show))
        watch = stack.enter_context(watching.watched(paint))
        stack.enter_context(watching.heard(watch))
        yield


# -- pictures -------------------------------------------------------------------------------------


def _painter(show: bool | None) -> Any:
    """A context that gives what paints the lines of all fits."""
    if show is False:
        return _nowhere()
    if _in_notebook():
        return _notebook()
    if sys.stderr.isatty():
        return _terminal()
    return _text() if show else _nowhere()


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def _nowhere() -> Iterator[watching.Show]:
    yield lambda lines: None


@contextmanager
def _terminal() -> Iterator[watching.Show]:
    """A line for each fit, gone when the block is left."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield lambda lines: status.update(Text("\n".join(lines)))


@contextmanager
def _notebook() -> Iterator[watching.Show]:
    """One output that changes; the last words of the last fit remain."""
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    def data(text: str) -> dict[str, str]:
        return {"text/plain": text}

    handle = display(data(""), raw=True, display_id=True)
    yield _seldom(EVERY, lambda text: handle.update(data(text), raw=True))


@contextmanager
def _text() -> Iterator[watching.Show]:
    yield _seldom(LINES, lambda text: print(text, file=sys.stderr))


def _seldom(seconds: float, write: Callable[[str], None]) -> watching.Show:
    """Write what there is to say at most so often, and what came last when all fits are done."""
    last, held = -seconds, ""

    def paint(lines: list[str]) -> None:
        nonlocal last, held
        now, text = time.monotonic(), "\n".join(lines) or held
        held = "" if now - last >= seconds or not lines else text
        if text and not held:
            last = now
            write(text)

    return paint
