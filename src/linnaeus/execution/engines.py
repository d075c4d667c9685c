"""Where work runs: tasks over blocks, plain arrays in and out.

A solver hands its large arrays over once (`put`) and maps a function over blocks of classes or
examples; it never starts a thread itself. Results come back in the order of the blocks, so they
do not depend on how many workers there are.

A function marked as a `task` takes plain values (`values`), gives plain values and changes nothing:
it may run in another process or on another machine, and what it gave may be kept
(`checkpoints`). Any other function runs in this process, whatever the engine.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from linnaeus.errors import UserError

AHEAD = 2  # blocks begun beyond those that the workers have in hand, for each
BACKENDS = ("serial", "threads", "ray")
F = TypeVar("F", bound=Callable[..., Any])


class Blocks(Sequence[Any]):
    """Blocks that are made when they are asked for: many tasks need not exist at once."""

    def __init__(self, n: int, make: Callable[[int], Any]) -> None:
        self.n, self.make = n, make

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self.n:
            raise IndexError(number)
        return self.make(number)


def task(function: F) -> F:
    """Mark a module's function as one that may run anywhere: plain values in and out, no effects.

    Matrix products are made on one thread, so that their bits are the same everywhere; and what a
    task does is not divided again: workers side by side have the cores already.
    """

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with one_blas_thread(), engine("serial"):
            return function(*arguments)

    run.is_task = True  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


class Executor(Protocol):
    """What a solver needs of the place where it runs."""

    def put(self, array: Any) -> Any:
        """Place an array where all workers see it; the reference stands for it in `map`."""

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Iterable[Any]
    ) -> Iterator[Any]:
        """``function(*arrays, block)`` for every block; results in order."""


class Serial:
    """One block after the other, in this thread."""

    def put(self, array: Any) -> Any:
        return array

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Iterable[Any]
    ) -> Iterator[Any]:
        return (function(*references, block) for block in blocks)


class Threads:
    """Blocks side by side in threads; compiled loops release the interpreter's lock."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def put(self, array: Any) -> Any:
        return array

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Iterable[Any]
    ) -> Iterator[Any]:
        pool = ThreadPoolExecutor(self.n_workers, thread_name_prefix="linnaeus")
        try:
            work = partial(_in_context, copy_context(), function)  # a fit is watched here too
            begin = (pool.submit(work, *references, block) for block in blocks)
            most = (1 + AHEAD) * self.n_workers
            for done in in_order(begin, lambda: most):
                yield done.result()
        finally:  # after Ctrl-C what has not begun is dropped
            pool.shutdown(cancel_futures=True)


def _in_context(context: Context, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function where context variables are as they were when its task was made."""
    return context.copy().run(function, *arguments)


def in_order(begun: Iterator[Any], most: Callable[[], int]) -> Iterator[Any]:
    """What an iterator begins, one after the other, with so many under way at a time."""
    waiting = deque(islice(begun, most()))
    while waiting:
        yield waiting.popleft()  # and forget it
        waiting.extend(islice(begun, max(0, most() - len(waiting))))


ENGINE: ContextVar[Callable[[int | None], Executor] | None] = ContextVar("engine", default=None)


@contextmanager
def engine(
    backend: str | None, address: str | None = None, workers: int | None = None
) -> Iterator[None]:
    """Let all that is fitted in a block run on an engine, unless an estimator names its own.

    Parameters
    ----------
    backend : {'serial', 'threads', 'ray'} or None
        None changes nothing.
    address : str or None, default=None
        The Ray cluster; None for the one this program is connected to, or a local one.
    workers : int or None, default=None
        Most workers at a time; None for what `n_jobs` says, or all that there are.

    Yields
    ------
    None
        Nothing: the block runs.
    """
    if backend is None:
        yield
        return
    token = ENGINE.set(_maker(backend, address, workers))
    try:
        yield
    finally:
        ENGINE.reset(token)


def _maker(
    backend: str, address: str | None, workers: int | None
) -> Callable[[int | None], Executor]:
    """What gives an executor for a number of jobs."""
    if backend not in BACKENDS:
        raise UserError(f"backend is {backend!r}. Use one of {', '.join(BACKENDS)}.")
    if backend == "serial":
        return lambda n_jobs: Serial()
    if backend == "threads":
        return lambda n_jobs: _threads(workers or n_jobs or -1)
    from linnaeus.execution.ray_engine import connected

    ray = connected(address, workers)
    return lambda n_jobs: ray


def executor(n_jobs: int | None = None) -> Executor:
    """The engine that is in force; else serial for None or 1, or so many threads, -1 for all."""
    made = ENGINE.get()
    return _threads(n_jobs) if made is None else made(n_jobs)


def local(n_jobs: int | None = None) -> Executor:
    """Threads of this process or none, whatever the engine: for work that writes into arrays."""
    made = ENGINE.get()
    found = _threads(n_jobs) if made is None else made(n_jobs)
    return found if isinstance(found, Serial | Threads) else _threads(n_jobs)


def _threads(n_jobs: int | None) -> Executor:
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
