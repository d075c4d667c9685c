"""Where the tasks of a command run, and what is kept of them should it be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from linnaeus.errors import UserError
from linnaeus.execution.checkpoints import Checkpoint, checkpointing
from linnaeus.execution.engines import engine
from linnaeus.execution.watching import stoppable

AFTER = 180.0  # seconds without a checkpoint that nobody asked for


@contextmanager
def placed(
    backend: str | None, address: str | None, checkpoint: str | Path | None, jobs: int,
    output: str | Path | None = None,
) -> Iterator[Checkpoint | None]:  # fmt: skip
    """Run tasks on an engine, and keep what they have done until the block has ended well.

    output : what is written in the end; without a folder for checkpoints they lie beside it, once
        the block has taken some minutes

    Ctrl-C lets a fit end its block or round and keeps it; the second stops at once.
    """
    if address is not None and backend != "ray":
        raise UserError(
            f"The address is {address!r}, but only the backend 'ray' has one. Name it too.",
            f"--address is {address!r}, but only --backend ray has one. Add it.",
        )
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(checkpoint)
    elif output is not None:
        beside = Path(output)
        kept = Checkpoint(beside.with_name(f".{beside.name}.checkpoint"), AFTER)
    with ExitStack() as stack:
        stack.enter_context(engine(backend, address, None if jobs == 1 else jobs))
        if kept is not None:
            stack.enter_context(checkpointing(kept))
            stack.enter_context(stoppable())
        yield kept
    if kept is not None and kept.folder.is_dir():
        kept.remove()
