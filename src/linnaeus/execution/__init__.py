"""Where work runs, what is kept of it, who watches it, and how its values become files."""

from linnaeus.execution.checkpoints import CHECKPOINT, Checkpoint, Stopped, checkpointing, unkept
from linnaeus.execution.engines import (
    BACKENDS,
    Blocks,
    Executor,
    Serial,
    Threads,
    engine,
    executor,
    local,
    one_blas_thread,
    task,
)
from linnaeus.execution.keeping import map_kept, over_blocks

__all__ = [
    "BACKENDS", "CHECKPOINT", "Blocks", "Checkpoint", "Executor", "Serial", "Stopped",
    "Threads", "checkpointing", "engine", "executor", "local", "map_kept",
    "one_blas_thread", "over_blocks", "task", "unkept",
]  # fmt: skip
