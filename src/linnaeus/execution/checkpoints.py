"""What a fit has done so far, kept in a folder: after a kill it goes on from there, bit for bit.

A task is a pure function of plain values (`values`). What it gave is kept in a file whose name is
the digest of the function, of its inputs and of this version of the library. So a fit that is
started again asks for the same tasks and finds them done; one with another setting, other data or
another version asks for others. Where a solver goes through rounds, its state between two of them
is kept in the same way, named by what it started from, and replaced from time to time.

    with checkpointing(folder):
        ...                                       tasks given to `over_blocks` are kept

Only the outermost fit keeps anything: what a task does within is the task's own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from linnaeus.errors import FormatError, UserError
from linnaeus.execution import values
from linnaeus.execution.watching import FIT
from linnaeus.files import atomic_write

SUFFIX = ".safetensors"
MISSING = object()
EVERY = 30.0  # seconds between two states of a solver, at least
SHARE = 0.05  # of the time that goes into writing them, at most
PATIENCE = 5.0  # seconds between two tries to write to a full disk
FULL = (errno.ENOSPC, errno.EDQUOT)
ABOUT = "checkpoint.json"


class Stopped(KeyboardInterrupt):
    """A fit that was asked to stop, and has kept what it did."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"Stopped. What was done is kept in {folder}: give the same folder again to go on."
        )


class Checkpoint:
    """A folder of values by their names.

    after : seconds from the start in which nothing is written
    """

    def __init__(self, folder: str | Path, after: float = 0.0) -> None:
        self.folder, self.after, self.began = Path(folder), after, time.monotonic()
        self.used: set[str] = set()
        self.loaded = self.saved = 0
        self._states: dict[str, float] = {}  # when a state was last written
        self._cost = 0.0  # seconds that the last one took
        if self.folder.is_dir():
            self._check_version()

    def _check_version(self) -> None:
        """Say so where another version has left a folder; its files are never asked for."""
        about = self.folder / ABOUT
        if not about.exists():
            if any(self.folder.iterdir()):
                raise UserError(
                    f"{self.folder} holds other files than those of a checkpoint. Name an empty "
                    f"folder, or one that does not exist yet."
                )
            return
        with suppress(OSError, ValueError):
            if json.loads(about.read_text()).get("version") != version():
                warnings.warn(
                    f"{self.folder} was written by another version of linnaeus, or beside other "
                    f"versions of NumPy, SciPy or Numba. Its work is not used but done again.",
                    stacklevel=2,
                )

    @property
    def writes(self) -> bool:
        """Whether it is time to keep anything."""
        return time.monotonic() - self.began >= self.after

    @property
    def is_visible(self) -> bool:
        """Whether this machine sees the folder."""
        return (self.folder / ABOUT).exists()

    def path(self, key: str) -> Path:
        """Where a value is."""
        return self.folder / f"{key}{SUFFIX}"

    def load(self, key: str) -> Any:
        """A value, or MISSING; a damaged file is removed, and its work done again."""
        self.used.add(key)
        path = self.path(key)
        if not path.exists():
            return MISSING
        try:
            found = values.read(path)
        except FormatError as error:
            warnings.warn(f"{error} It was removed.", stacklevel=2)
            path.unlink(missing_ok=True)
            return MISSING
        self.loaded += 1
        return found

    def save(self, key: str, value: Any) -> None:
        """Keep a value; a full disk is waited for."""
        self.used.add(key)
        if self.writes:
            self.prepare()
            patiently(lambda: values.write(self.path(key), value), self.folder)
            self.saved += 1

    def prepare_if_writing(self) -> None:
        """Make the folder before workers look for it."""
        if self.writes:
            self.prepare()

    def prepare(self) -> None:
        """Make the folder, and say whose it is."""
        about = self.folder / ABOUT
        if about.exists():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"The folder {self.folder} for checkpoints cannot be made: {error.strerror}. "
                f"Name one that can be written to."
            ) from None

        def write() -> None:
            with atomic_write(about) as file:
                json.dump({"version": version()}, file)

        patiently(write, self.folder)

    def save_state(self, key: str, state: Callable[[], Any], now: bool = False) -> None:
        """Keep the state of a solver, if the last time was long enough ago."""
        last = self._states.setdefault(key, time.monotonic())
        pause = max(EVERY, self._cost / SHARE)
        if now or time.monotonic() - last >= pause:
            began = time.monotonic()
            self.save(key, state())
            self._states[key] = time.monotonic()
            self._cost = self._states[key] - began

    def clean(self) -> None:
        """Remove what the fit that has just ended did not ask for."""
        for file in self.folder.glob(f"*{SUFFIX}"):
            if file.name.removesuffix(SUFFIX) not in self.used:
                file.unlink(missing_ok=True)

    def drop(self, keys: Iterable[str]) -> None:
        """Remove some values that are no longer needed."""
        for key in keys:
            self.path(key).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all that was kept, and the folder if nothing else is in it."""
        for file in [*self.folder.glob(f"*{SUFFIX}"), self.folder / ABOUT]:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def patiently(write: Callable[[], None], folder: Path) -> None:
    """Write to a folder; where the disk is full, say so once and try until there is room."""
    told = False
    while True:
        try:
            write()
        except OSError as error:
            if error.errno not in FULL and "os error 28" not in str(error):
                raise UserError(
                    f"The checkpoint in {folder} cannot be written: {error.strerror or error}."
                ) from error
        except Exception as error:  # the library of the format has errors of its own
            if "No space left" not in str(error):
                raise
        else:
            return
        if not told:
            told = True
            print(
                f"The disk of {folder} is full. The fit waits, and goes on when there is room; "
                f"Ctrl-C ends it, and what was kept stays.",
                file=sys.stderr,
                flush=True,
            )
        time.sleep(PATIENCE)


@cache
def version() -> str:
    """A digest of what results depend on: this library's sources, and the libraries below it."""
    import numba
    import numpy
    import scipy

    total = hashlib.sha256(
        " ".join(module.__version__ for module in (numba, numpy, scipy)).encode()
    )
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()} ".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:32]


CHECKPOINT: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


@contextmanager
def checkpointing(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Keep what tasks give while this lasts; within another checkpoint nothing changes."""
    if checkpoint is None or CHECKPOINT.get() is not None:
        yield
        return
    token = CHECKPOINT.set(checkpoint)
    try:
        yield
    finally:
        CHECKPOINT.reset(token)


@contextmanager
def unkept() -> Iterator[None]:
    """Keep nothing of what is done within, which is done whole even if the fit is asked to stop.

    So are a task and a round of a solver that keep what they give: half of one is worth nothing.
    Where there is no checkpoint nothing changes.
    """
    if CHECKPOINT.get() is None:
        yield
        return
    fit, checkpoint = FIT.set(None), CHECKPOINT.set(None)
    try:
        yield
    finally:
        CHECKPOINT.reset(checkpoint)
        FIT.reset(fit)


class Saving:
    """The state of a solver between its rounds, kept from time to time.

    take : gives the state as a plain value
    """

    def __init__(self, checkpoint: Checkpoint, about: Any, take: Callable[[], Any]) -> None:
        self.checkpoint, self.take = checkpoint, take
        self.key = values.digest(version(), "state", about)

    def found(self) -> Any:
        """What was kept of an earlier run; None for nothing."""
        found = self.checkpoint.load(self.key)
        return None if found is MISSING else values.mapped(found, owned)

    def __call__(self, *more: Any) -> None:
        """Keep the state with what else belongs to it; end the fit if it was asked to stop."""
        fit = FIT.get()
        asked = fit is not None and fit.asked
        if asked:
            self.checkpoint.after = 0.0
        self.checkpoint.save_state(self.key, lambda: (*more, self.take()), now=asked)
        stop_if_asked(self.checkpoint)


def owned(array: Any) -> Any:
    """An array in memory: the file that it was read from will be replaced."""
    return array.copy(order="K") if hasattr(array, "flags") else array


def stop_if_asked(checkpoint: Checkpoint) -> None:
    """End a fit that was asked to stop, now that all is kept."""
    fit = FIT.get()
    if fit is not None and fit.asked:
        checkpoint.after = 0.0
        raise Stopped(checkpoint.folder)
