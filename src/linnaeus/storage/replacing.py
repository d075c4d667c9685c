"""A directory that is replaced whole or not at all, whenever the program is killed.

The new one is written beside the old one, under a hidden name, and then takes its place: by a
rename where there was none, else by Linux's exchange of two names. Where that does not exist, the
old one is renamed away first; `recover` finds it should the program die just then.

A hidden directory that is being written is locked by its writer, and the lock ends with the
process. So whatever is not locked was left behind, and the next writer removes it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linnaeus.errors import UserError

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of linux/fcntl.h and linux/fs.h
_NEW, _OLD, _SCRATCH = "saving", "replaced", "scratch"
_UNWRITABLE = (errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EPERM, errno.EROFS)
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES, errno.EPERM)

try:
    import fcntl
except ImportError:  # not on Windows; there nothing is locked
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """An empty directory to fill, which is then what `target` is; any error leaves the old one."""
    try:
        clean(target)
        with _new_directory(target) as new:
            yield new
            _sync_all(new)
            _put_in_place(new, target)
            _sync(target.parent)
    except OSError as error:
        raise UserError(
            f"{target} could not be written: {error.strerror or error}. What was there before "
            f"is unchanged. Check the disk and its permissions."
        ) from error


@contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """An empty directory beside what is to be written, for files that go when this ends."""
    try:
        clean(target)
        with _new_directory(target, _SCRATCH) as folder:
            yield folder
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise UserError(
            f"Files could not be written beside {target}: {error.strerror or error}. Check the "
            f"disk and its permissions."
        ) from error


@contextmanager
def _new_directory(target: Path, kind: str = _NEW) -> Iterator[Path]:
    """A directory of our own beside the target; removed at the end if it still has this name."""
    while True:
        new = _beside(target, kind)
        new.mkdir()
        with locked(new) as mine:
            if not (mine and new.exists()):  # taken for a leftover before it was locked
                continue
            try:
                yield new
            finally:  # nothing, an unfinished directory, or what was replaced
                shutil.rmtree(new, ignore_errors=True)
            return


def _beside(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.{kind}-{secrets.token_hex(8)}")


def _siblings(target: Path, kind: str) -> list[Path]:
    """The directories beside a target that this module made for it."""
    pattern = re.compile(re.escape(f".{target.name}.{kind}-") + "[0-9a-f]{16}")
    try:
        with os.scandir(target.parent) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _sync(path: Path) -> None:
    """Have the disk hold what was written."""
    with suppress(PermissionError):  # Windows opens no directories
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sync_all(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        _sync(file)
    _sync(folder)


def _put_in_place(new: Path, target: Path) -> None:
    for last in (False, True):
        try:
            os.rename(new, target)  # where there is nothing, or an empty directory
            return
        except OSError as error:
            if error.errno not in _OCCUPIED or not target.is_dir():
                raise
        try:
            if not exchange(new, target):
                _swap_by_renames(new, target)
            return
        except FileNotFoundError:  # somebody has just moved the old one away
            if last:
                raise


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call


def _swap_by_renames(new: Path, target: Path) -> None:
    old = _beside(target, _OLD)
    with locked(target):  # so that nobody recovers it meanwhile
        try:
            os.rename(target, old)
            os.rename(new, target)
        except BaseException:
            if old.exists() and not target.exists():
                os.rename(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def recover(target: Path) -> Path:
    """Where the directory is: at its place, or where a writer that was killed had put it.

    It is put back, if that is allowed.
    """
    for old in _siblings(target, _OLD) if not target.exists() else []:
        with locked(old):
            if target.exists():
                break
            with suppress(OSError):
                os.rename(old, target)
                break
            return old
    return target


@contextmanager
def held(folder: Path) -> Iterator[Path]:
    """A path to the files of a directory that stays theirs if another one takes its place.

    Where the system has no such path, it is the directory's own.
    """
    if not os.path.isdir("/proc/self/fd"):
        yield folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def is_replaced(pinned: Path, folder: Path) -> bool:
    """Whether the directory that is held is no longer the one of that name."""
    try:
        return not os.path.samefile(pinned, folder)
    except OSError:
        return True


def clean(target: Path) -> None:
    """Put the directory back in its place, and remove what writers that were killed have left."""
    recover(target)
    replaced_ones = _siblings(target, _OLD) if target.exists() else []
    for left in _siblings(target, _NEW) + _siblings(target, _SCRATCH) + replaced_ones:
        with locked(left, wait=False) as mine:
            if mine:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a directory, which ends with the process; whether that was possible."""
    if fcntl is None:
        yield wait  # type: ignore[unreachable]
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            mine = True
        except OSError:
            mine = wait  # locked by somebody, or a file system without locks
        yield mine
    finally:
        os.close(descriptor)
