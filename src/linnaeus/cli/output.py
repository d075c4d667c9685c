"""Results go to standard output, progress and messages to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
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


@contextmanager
def progress(quiet: bool) -> Iterator[Step]:
    """A bar on standard error, moved by ``step(what, done, total)``; gone when the work is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=None)

        def step(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield step
