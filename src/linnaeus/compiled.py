"""Numerical loops: compiled by Numba on first use, and kept on disk by their content.

``@loop`` marks a function of a ``*_fast.py`` file, ``@part`` one that only loops call. What the
compiler makes of it is kept in a folder whose name is a digest of everything that it depends on:
the text of *all* ``*_fast.py`` files (a loop contains the loops that it calls, in whatever file),
the versions of Numba, llvmlite, NumPy and Python, the processor, and the settings of the compiler.
A folder is thus never stale, and may be copied anywhere. It lies in ``LINNAEUS_CACHE_DIR``, or in
the user's cache folder.

Nothing here makes a call fail: where nothing can be read or written, loops are compiled in memory.
A kept loop is a pickle of Numba's, which may run code when it is read. So a folder is used only if
it belongs to this user or to root and others may not write to it; what is damaged is ignored.

Numba has no public way to choose where compiled code is kept. All that is private to it is used in
`_Kept`: the attribute `_cache` of a compiled function, and how a result is taken apart and rebuilt;
in `part`, so that a function without an entry from Python cannot be called from there; and in
`linnaeus.compiler`.

A first fit is mostly compiling, so loops leave out what they do not need: counting of references
(but where they allocate), entries from C and, for parts, from Python, and Python's garbage
collection in the meantime. Keep to loops over numbers: ``a[:] = b`` takes seconds to compile.
Parts are kept within the loops that call them, not by themselves.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import pickle
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

PREFIX, SUFFIX = "loops-", ".loop"
DAY = 86_400.0
KEPT_DAYS = 30  # a folder that nobody has used for so long is removed
OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}  # the interpreter's lock is free meanwhile
SETTINGS = (  # of Numba: what changes the code that it makes
    "BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DEBUGINFO_DEFAULT", "ENABLE_AVX",
    "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML",
)  # fmt: skip
LOOPS: dict[str, Any] = {}  # every loop by its name, without the package's; no parts

_PACKAGE = Path(__file__).parent
_log = logging.getLogger("linnaeus.compiled")


def loop(function: Any = None, *, allocates: bool = False, **options: Any) -> Any:
    """Compile a function on first use, and keep the result.

    allocates : whether it makes arrays of its own
    options : more of `numba.njit`; with NUMBA_DISABLE_JIT=1 the function stays as it is
    """
    if function is None:
        return partial(loop, allocates=allocates, **options)
    made = _compiled(function, "loop", _nrt=allocates, **options)
    if made is not function:
        name = f"{function.__module__}.{function.__qualname__}".removeprefix("linnaeus.")
        LOOPS[name] = made
        _attach(made, _Kept(name))
    return made


def part(function: Any = None, *, allocates: bool = False, **options: Any) -> Any:
    """The same for a function that only loops call: no entry from Python, and kept within them."""
    if function is None:
        return partial(part, allocates=allocates, **options)
    made = _compiled(function, "part", _nrt=allocates, no_cpython_wrapper=True, **options)
    if made is not function:
        made._insert = lambda *_, **__: None
        made._compile_for_args = partial(_refuse, function.__name__)
    return made


def _compiled(function: Any, kind: str, **options: Any) -> Any:
    import numba

    from linnaeus.compiler import compilers

    _without_collection()
    made = numba.njit(**compilers()[kind], **OPTIONS, **options)(function)
    if made is not function:
        _store.watch(function.__code__.co_filename)
    return made


def read_only(array: Any) -> Any:
    """A view that nobody writes to, so that a loop has one signature for memory and for files."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def _refuse(name: str, *_: Any, **__: Any) -> None:
    raise TypeError(f"{name} is a part of other loops; call its `py_func`, or mark it as a loop.")


@cache
def _without_collection() -> None:
    """No garbage collection while loops are compiled: it would find next to nothing."""
    from numba.core import event

    class Pause(event.Listener):  # type: ignore[misc]
        depth, enabled = 0, False

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.enabled = gc.isenabled()
                gc.disable()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.enabled:
                gc.enable()

    event.register("numba:compile", Pause())


def folder() -> Path | None:
    """The folder of this content, made if need be; None where loops live in memory only."""
    return _store.folder()


def keep_in(root: str | Path | None) -> None:
    """Keep loops below this folder from now on; None for LINNAEUS_CACHE_DIR or the user's own."""
    _store.move(None if root is None else Path(root))


def kept() -> dict[str, int]:
    """The bytes that are kept of every loop, by its name."""
    found: dict[str, int] = {}
    here = folder()
    for file in sorted(here.glob(f"*{SUFFIX}")) if here else ():
        name = file.name.rpartition("-")[0]
        found[name] = found.get(name, 0) + file.stat().st_size
    return found


# -- which folder -----------------------------------------------------------------------------


def default_root() -> Path | None:
    """LINNAEUS_CACHE_DIR, or the user's cache folder as the system has it; None without a home."""
    if given := os.environ.get("LINNAEUS_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local, "linnaeus", "Cache") if local else None
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if sys.platform != "darwin" and os.path.isabs(xdg):
        return Path(xdg, "linnaeus")
    home = Path(os.path.expanduser("~"))
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return home / below / "linnaeus" if home.is_dir() else None


def _sources() -> Iterator[Path]:
    """The files that compiled code depends on, always in the same order."""
    for here, folders, files in os.walk(_PACKAGE):
        folders.sort()
        yield from (Path(here, name) for name in sorted(files) if name.endswith("_fast.py"))


def _stamp(path: str | Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _machine() -> list[object]:
    """Versions, processor, options and settings."""
    import llvmlite
    import numba
    from llvmlite import binding

    features = ""
    with suppress(RuntimeError):  # some systems cannot tell
        features = binding.get_host_cpu_features().flatten()
    return [
        numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.name,
        *sys.version_info[:3], binding.get_process_triple(), binding.get_host_cpu_name(), features,
        OPTIONS, *(getattr(numba.config, name, None) for name in SETTINGS),
    ]  # fmt: skip


def _doubt(path: Path, sticky: bool) -> str | None:
    """Why others could put files of theirs into a folder; None if they cannot.

    sticky : whether a folder like /tmp will do, where others cannot touch what is ours
    """
    if os.name != "posix":
        return None
    found = os.stat(path)
    if found.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    safe = sticky and found.st_mode & stat.S_ISVTX
    return "may be written to by everyone" if found.st_mode & stat.S_IWOTH and not safe else None


class _Store:
    """The folder of this content below `root`, found on first use.

    Sources may be edited while a program runs. As soon as one is imported that is not what the
    digest was taken of, nothing is kept any more: a folder holds code of one version.
    """

    def __init__(self) -> None:
        self._root: Path | None = None
        self._folder: Path | None = None
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._digest = ""
        self._is_open = self._is_mixed = self._told = False

    def watch(self, file: str) -> None:
        """Note that a source has been imported; it must be what the digest was taken of."""
        if not self._stamps:
            self._take_digest()
        if _stamp(file) != self._stamps.get(os.path.abspath(file), ()):
            self._is_mixed = True

    def _take_digest(self) -> None:
        total = hashlib.sha256(repr(_machine()).encode())
        for path in _sources():
            self._stamps[str(path)] = _stamp(path)
            with suppress(OSError):
                text = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(_PACKAGE).as_posix()} {text}\n".encode())
        self._digest = total.hexdigest()[:20]

    def move(self, root: Path | None) -> None:
        self._root, self._folder, self._is_open = root, None, False

    def folder(self) -> Path | None:
        if not self._is_open:
            self._is_open = True
            if not self._stamps:
                self._take_digest()
            try:
                self._folder = self._opened(self._root or default_root())
            except OSError as error:
                _log.debug("Compiled loops are not kept: %s", error)
        return None if self._is_mixed else self._folder

    def _opened(self, root: Path | None) -> Path | None:
        """The folder, made, trusted and marked as used; None where there is no place for it."""
        if root is None:
            return None
        root = root.expanduser().absolute()
        root.mkdir(mode=0o755, parents=True, exist_ok=True)
        path = root / f"{PREFIX}{self._digest}"
        is_new = not path.exists() and _doubt(root, sticky=True) is None
        if is_new:
            path.mkdir(mode=0o755, exist_ok=True)
            _remove_unused(root)
        for place, sticky in ((root, True), (path, False)):
            if reason := _doubt(place, sticky):
                warnings.warn(
                    f"Compiled loops are not kept in {place}, which {reason}; they are compiled "
                    "anew in every process. Set LINNAEUS_CACHE_DIR to a folder of your own.",
                    stacklevel=2,
                )
                return None
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > DAY:
                os.utime(path)
        return path

    def tell(self) -> None:
        """Say once that there is something to wait for."""
        if not self._told:
            self._told = True
            again = "once" if self.folder() else "in every run, as there is no folder to keep them"
            _log.info(
                "Compiling numerical loops for this computer; this happens %s and takes up to a "
                "minute for a method.",
                again,
            )


def _remove_unused(root: Path) -> None:
    """Remove folders of other contents that were not used for long; their users would recompile."""
    for other in root.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > KEPT_DAYS * DAY:
                shutil.rmtree(other, ignore_errors=True)


_store = _Store()


# -- what Numba asks --------------------------------------------------------------------------


class _Kept:
    """What Numba asks before it compiles a function, and tells afterwards.

    One file a signature: a checksum, then the pickle. It is written under another name and renamed,
    so processes that fill the same folder never see half a file, and the last one wins.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def cache_path(self) -> str | None:
        return None if folder() is None else str(folder())

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function for this signature, or None."""
        found = None
        try:
            path = self._file(signature)
            if path is not None and path.is_file():
                found = _rebuilt(path.read_bytes(), context)
        except Exception as error:  # whatever is wrong with it, it can be compiled
            _log.debug("The kept %s cannot be used: %r", self.name, error)
        if found is None:
            _store.tell()
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if that is possible."""
        try:
            path = self._file(signature)
            if path is not None and not result.library.has_dynamic_globals:
                _write(path, _taken_apart(result))
        except OSError as error:
            _log.debug("The compiled %s cannot be kept: %s", self.name, error)
        except Exception as error:
            _warn_of_numba(error)

    def _file(self, signature: Any) -> Path | None:
        here = folder()
        key = hashlib.sha256("".join(map(_described, signature)).encode()).hexdigest()[:16]
        return None if here is None else here / f"{self.name}-{key}{SUFFIX}"

    def enable(self) -> None:
        """Nothing to do; Numba's interface has it."""

    disable = flush = enable


def _described(kind: Any) -> str:
    """A type of Numba's; of a named tuple the fields too, which a loop finds by their place."""
    fields, parts = getattr(kind, "fields", ()), getattr(kind, "types", ())
    return f"{kind} {fields} {''.join(map(_described, parts))};"


def _attach(made: Any, kept: _Kept) -> None:
    if hasattr(made, "_cache"):
        made._cache = kept
    else:
        _warn_of_numba(AttributeError("_cache"))


def _taken_apart(result: Any) -> bytes:
    from numba.core.serialize import dumps

    data: bytes = dumps(result._reduce())
    return hashlib.sha256(data).digest() + data


def _rebuilt(content: bytes, context: Any) -> Any:
    from numba.core.compiler import CompileResult

    checksum, data = content[:32], content[32:]
    if hashlib.sha256(data).digest() != checksum:
        return None
    context.refresh()
    return CompileResult._rebuild(context, *pickle.loads(data))


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


_warned = False


def _warn_of_numba(error: Exception) -> None:
    global _warned
    import numba

    if not _warned:
        _warned = True
        with suppress(Warning):  # where warnings are errors, this one is not
            warnings.warn(
                f"Numba {numba.__version__} does not let compiled loops be kept ({error!r}); they "
                "are compiled anew in every process. Install a version that this release knows.",
                stacklevel=2,
            )
