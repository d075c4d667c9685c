"""Where the fits of a command run, and what is kept of them should it be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

AFTER = 180.0  # seconds without a checkpoint that nobody asked for


@contextmanager
def placed(
    backend: str | None, address: str | None, checkpoint: Path | None, jobs: int,
    output: Path | None = None,
) -> Iterator[None]:  # fmt: skip
    """Run fits on an engine, and keep what they have done until the command has ended well.

    output : what is written in the end; without a folder for checkpoints they lie beside it, once
        the command has taken some minutes

    Ctrl-C lets a fit end its block or round and keeps it; the second stops at once.
    """
    from linnaeus.errors import UserError
    from linnaeus.execution import Checkpoint, checkpointing, engine
    from linnaeus.showing import progress

    if address is not None and backend != "ray":
        raise UserError(f"--address is {address!r}, but only --backend ray has one. Add it.")
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(checkpoint)
    elif output is not None:
        kept = Checkpoint(output.with_name(f".{output.name}.checkpoint"), AFTER)
    with ExitStack() as stack:
        stack.enter_context(engine(backend, address, None if jobs == 1 else jobs))
        if kept is not None:
            stack.enter_context(checkpointing(kept))
            stack.enter_context(progress(False))
        yield
    if kept is not None:
        kept.remove()
