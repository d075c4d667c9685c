"""Where work runs, what is kept of it, and how its values become files."""

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
from linnaeus.execution.folders import Folder, digest_of
from linnaeus.execution.keeping import map_kept

__all__ = [
    "BACKENDS", "CHECKPOINT", "Blocks", "Checkpoint", "Executor", "Folder", "Serial", "Stopped",
    "Threads", "checkpointing", "digest_of", "engine", "executor", "local", "map_kept",
    "one_blas_thread", "task", "unkept",
]  # fmt: skip
