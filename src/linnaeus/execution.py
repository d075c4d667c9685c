"""Where work runs: tasks over blocks, plain arrays in and out.

A solver hands its large arrays over once (`put`) and maps a function over blocks of classes or
examples; it never starts a thread itself. Results come back in the order of the blocks, so they
do not depend on how many workers there are.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from functools import partial
from threading import Lock
from typing import Any, Protocol

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from linnaeus.errors import UserError


class Executor(Protocol):
    """What a solver needs of the place where it runs."""

    def put(self, array: Any) -> Any:
        """Place an array where all workers see it; the reference stands for it in `map`."""

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Sequence[Any]
    ) -> Iterator[Any]:
        """``function(*arrays, block)`` for every block; results in order."""


class Serial:
    """One block after the other, in this thread."""

    def put(self, array: Any) -> Any:
        return array

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Sequence[Any]
    ) -> Iterator[Any]:
        return (function(*references, block) for block in blocks)


class Threads:
    """Blocks side by side in threads; compiled loops release the interpreter's lock."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def put(self, array: Any) -> Any:
        return array

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Sequence[Any]
    ) -> Iterator[Any]:
        pool = ThreadPoolExecutor(self.n_workers, thread_name_prefix="linnaeus")
        try:
            work = partial(_in_context, copy_context(), function)  # a fit is watched here too
            tasks = deque(pool.submit(work, *references, block) for block in blocks)
            while tasks:
                yield tasks.popleft().result()  # and forget it
        finally:  # after Ctrl-C what has not begun is dropped
            pool.shutdown(cancel_futures=True)


def _in_context(context: Context, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function where context variables are as they were when its task was made."""
    return context.copy().run(function, *arguments)


def executor(n_jobs: int | None = None) -> Executor:
    """Serial for None or 1, else so many threads; -1 for one per core."""
    if n_jobs is None or n_jobs == 1:
        return Serial()
    if n_jobs == -1:
        return Threads(os.cpu_count() or 1)
    if n_jobs < 1:
        raise UserError(f"n_jobs is {n_jobs}. Use a positive number, or -1 for all cores.")
    return Threads(n_jobs)


class _Narrow:
    """How many ask for one thread of linear algebra, and the limit while there are any."""

    lock, users = Lock(), 0
    limit: Any = None
    libraries: tuple[int, Any] = (0, None)  # found when so many modules were loaded


def _libraries() -> Any:
    """The libraries in this process; looking for them takes milliseconds, so not every time."""
    n_modules = len(sys.modules)  # a library comes with a module
    if _Narrow.libraries[0] != n_modules:
        _Narrow.libraries = n_modules, ThreadpoolController()
    return _Narrow.libraries[1]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products on one thread while this lasts.

    Small products on several threads spend most of their time waiting for each other. The limit is
    one of the whole process: the first to ask sets it, the last to leave lifts it.
    """
    with _Narrow.lock:
        if _Narrow.users == 0:
            _Narrow.limit = _libraries().limit(limits=1, user_api="blas")
        _Narrow.users += 1
    try:
        yield
    finally:
        with _Narrow.lock:
            _Narrow.users -= 1
            if _Narrow.users == 0:
                _Narrow.limit.restore_original_limits()
