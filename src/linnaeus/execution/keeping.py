"""Tasks over blocks; what they give is kept where there is a checkpoint, and not done again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import chain
from typing import Any, NamedTuple

from linnaeus.execution import values
from linnaeus.execution.checkpoints import (
    CHECKPOINT,
    MISSING,
    Checkpoint,
    stop_if_asked,
    unkept,
    version,
)
from linnaeus.execution.engines import Executor, Serial


def over_blocks(
    function: Callable[..., Any], arrays: Sequence[Any], blocks: Iterable[Any],
    executor: Executor | None = None,
) -> Iterator[Any]:  # fmt: skip
    """``function(*arrays, block)`` for every block, in order: one block here, several side by side.

    executor : where several run; None for this thread
    What a task gives is kept where the fit has a checkpoint.
    """
    checkpoint = CHECKPOINT.get()
    if checkpoint is not None and getattr(function, "is_task", False):
        return map_kept(checkpoint, executor, function, arrays, blocks)
    if executor is None or (isinstance(blocks, Sized) and len(blocks) == 1):
        return (function(*arrays, block) for block in blocks)
    return executor.map(function, [executor.put(array) for array in arrays], blocks)


class Kept(NamedTuple):
    """A result that is in its checkpoint already."""

    key: str


class Given(NamedTuple):
    """A result from a machine that does not see its checkpoint."""

    key: str
    value: Any


class Keeping:
    """A task that keeps what it gives; a block comes with the name of its result.

    It is done whole even if the fit is asked to stop: half a task is worth nothing.
    """

    is_task = True

    def __init__(self, function: Callable[..., Any], checkpoint: Checkpoint) -> None:
        self.function, self.checkpoint = function, checkpoint
        self.folder = checkpoint.folder.absolute()

    def __call__(self, *arguments: Any) -> Any:
        *references, (key, block) = arguments
        with unkept():
            result = self.function(*references, block)
        if self.checkpoint.writes:
            self.checkpoint.save(key, result)
        return result

    def taken(self, result: Any) -> Any:
        """What came back from elsewhere; what was not kept there is kept here."""
        if isinstance(result, Given):
            self.checkpoint.save(*result)
            return result.value
        return self.checkpoint.load(result.key) if isinstance(result, Kept) else result


class _Next(NamedTuple):
    key: str
    block: Any  # should the file of its result turn out to be damaged
    there: bool


def map_kept(
    checkpoint: Checkpoint, executor: Executor | None, function: Callable[..., Any],
    arrays: Sequence[Any], blocks: Iterable[Any],
) -> Iterator[Any]:  # fmt: skip
    """``function(*arrays, block)`` for every block in order; what is kept is not done again."""
    executor = executor or Serial()
    references = [executor.put(array) for array in arrays]
    name = f"{function.__module__}:{function.__qualname__}"
    about = values.digest(version(), name, [values.digest(array) for array in arrays])
    checkpoint.prepare_if_writing()
    keeping, coming = Keeping(function, checkpoint), deque[_Next]()

    def entry_of(block: Any) -> _Next:
        stop_if_asked(checkpoint)
        key = values.digest(about, block)
        return _Next(key, block, checkpoint.path(key).exists())

    def loaded(entry: _Next) -> Any:
        found = checkpoint.load(entry.key)
        if found is not MISSING:
            return found
        again = executor.map(keeping, references, [(entry.key, entry.block)])
        return next(iter(again))

    entries: Iterator[_Next] = map(entry_of, blocks)
    for entry in entries:  # what an earlier run kept, one after the other: blocks may be many
        if not entry.there:
            entries = chain([entry], entries)
            break
        yield loaded(entry)

    def missing() -> Iterator[tuple[str, Any]]:
        for entry in entries:
            coming.append(entry)
            if not entry.there:
                yield entry.key, entry.block

    for result in executor.map(keeping, references, missing()):
        while coming[0].there:
            yield loaded(coming.popleft())
        entry = coming.popleft()
        yield loaded(entry) if result is MISSING else result
    while coming:
        yield loaded(coming.popleft())
    stop_if_asked(checkpoint)
