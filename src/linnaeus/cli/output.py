"""Results go to standard output, progress and messages to standard error."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Step = Callable[[str, int, int], None]


def print_json(result: Any) -> None:
    """A result for machines: names of any kind become text, nothing is rounded."""
    json.dump(result, sys.stdout, indent=2, ensure_ascii=False, default=str, allow_nan=False)
    sys.stdout.write("\n")


def print_error(message: str) -> None:
    """One clear message for the person at the terminal."""
    from rich.console import Console

    console = Console(stderr=True, soft_wrap=True)
    console.print("Error:", style="bold red", end=" ")
    console.print(message, markup=False, highlight=False)


def print_skipped(messages: Sequence[str], shown: int = 5) -> None:
    """Say on standard error how many rows were left out, and the first of them."""
    if not messages:
        return
    lines = [f"Skipped {len(messages):,} bad rows:", *messages[:shown]]
    more = [f"and {len(messages) - shown:,} more"] if len(messages) > shown else []
    print("\n  ".join(lines + more), file=sys.stderr)


def copies_told(n: int) -> str:
    """How many rows repeat others."""
    return "1 row is a copy" if n == 1 else f"{n:,} rows are copies"


def print_notes(notes: Iterable[str]) -> None:
    """Say in one line on standard error how the input was understood."""
    told = [note.rstrip(".") for note in dict.fromkeys(notes)]
    if told:
        print(f"Note: {'; '.join(told)}.", file=sys.stderr)


class _Told(logging.Handler):
    """Messages on standard error as it is now: above a bar, where one is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr)


def tell_of_compiling(arguments: Sequence[str]) -> None:
    """Let a first call that compiles say so, to somebody who watches a terminal."""
    log = logging.getLogger("linnaeus.compiled")
    log.handlers = [handler for handler in log.handlers if not isinstance(handler, _Told)]
    if sys.stderr.isatty() and not {"--quiet", "-q", "--json"} & set(arguments):
        log.addHandler(_Told(logging.INFO))
        log.setLevel(logging.INFO)


@contextmanager
def progress(quiet: bool) -> Iterator[Step]:
    """A bar on standard error, moved by ``step(what, done, total)``; gone when the work is.

    Behind it stands what the last round of a fit has reached. Where nobody looks there is none.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from linnaeus.execution.watching import watched

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[fit]}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, fit="")

        def step(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        with watched(lambda lines: bar.update(task, fit=" ".join(lines[:1]))):
            yield step


@contextmanager
def rate(quiet: bool, total: int | None) -> Iterator[Callable[[int, float], None]]:
    """A bar of rows on standard error with their rate, and the time that is left if known."""
    if quiet or not sys.stderr.isatty():
        yield lambda rows, seconds: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.completed:,} rows"),
        BarColumn(),
        TextColumn("{task.fields[rate]:,.0f} rows/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=total, rate=0.0)

        def told(rows: int, seconds: float) -> None:
            bar.update(task, completed=rows, rate=rows / seconds if seconds > 0 else 0.0)

        yield told
