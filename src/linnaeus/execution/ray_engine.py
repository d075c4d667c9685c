"""Tasks on a Ray cluster: on this machine, or on several.

Data lie in files that workers open by path, memory-mapped, so that all workers of a machine share
one copy; a machine that does not see the driver's files is sent each of them once, and checks it by
its digest. Tasks go by name, with their block, and are repeated when a worker or a machine is lost;
they change nothing, so repeating one is harmless. A worker that runs another version of the
library, or beside other versions of those below it, refuses.

Ray recovers neither what the driver put into its object store nor the driver: so nothing of value
is there. What must outlive the driver is in a checkpoint.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import shutil
import tempfile
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.execution import values
from linnaeus.execution.checkpoints import FULL, Checkpoint, version
from linnaeus.execution.engines import AHEAD, Threads, in_order
from linnaeus.execution.keeping import Given, Keeping, Kept
from linnaeus.storage.folders import Folder

SLOWER = 1.2  # times the seconds of threads here, from which on workers are too slow
LAST = 9  # tasks by which the next are judged
SMALL = 1 << 16  # bytes of arrays that go with a task rather than as a file
RETRIES = 20  # of a task whose worker is lost
OPEN = 32  # files that a worker keeps open
PIECE = 1 << 26  # bytes sent at a time to a machine that does not see the driver's files
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
FROM_HEAP, FREE = 1 << 25, 1 << 28  # bytes: of what is kept when freed, and of all that is
FOLDER = "LINNAEUS_SHARDS"  # environment: where the driver writes files for the workers


class Shard:
    """A value in a file, known by its digest; the file goes with the driver's last reference."""

    def __init__(self, path: str, digest: str) -> None:
        self.path, self.digest = path, digest

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return Shard, (self.path, self.digest)


class Pace:
    """How long a task takes, and what the driver spends on its way there and back, in CPU seconds.

    Where the way is long beside the work, workers only seem to help: the task is done here.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers, self.n_threads = n_workers, min(n_workers, os.cpu_count() or 1)
        self._work, self._ways = deque[float](maxlen=LAST), deque[float](maxlen=2 * LAST)

    def took(self, seconds: float) -> None:
        """Note the work of a task."""
        self._work.append(seconds)

    @contextmanager
    def way(self) -> Iterator[None]:
        """Note half of the way of a task: there, or back."""
        began = time.thread_time()
        yield
        self._ways.append(time.thread_time() - began)

    @property
    def is_small(self) -> bool:
        """Whether threads here are quicker by far than all workers."""
        if not self._work:
            return False
        work, way = median(self._work), 2 * mean(self._ways)
        on_workers = max((work + 2 * way) / self.n_workers, way)  # a worker's part is as long
        return on_workers > SLOWER * work / self.n_threads

    def at_once(self) -> int:
        """How many tasks may be under way: few until one has been seen, none if they are small."""
        if not self._work:
            return self.n_workers
        return 0 if self.is_small else (1 + AHEAD) * self.n_workers


def _timed(pace: Pace, function: Callable[..., Any], *arguments: Any) -> Any:
    """A task that is done here."""
    *arrays, block = arguments
    block = values.mapped(block, opened)
    began = time.thread_time()
    result = function(*arrays, block)
    pace.took(time.thread_time() - began)
    return result


class Ray:
    """Workers of a cluster, at most so many at a time."""

    is_far = True  # workers have a memory of their own

    def __init__(self, ray: Any, n_workers: int) -> None:
        self.ray, self.n_workers = ray, n_workers
        self.folder = Path(tempfile.mkdtemp(prefix="linnaeus-", dir=os.environ.get(FOLDER)))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.shards: weakref.WeakValueDictionary[str, Shard] = weakref.WeakValueDictionary()
        self.numbers = count()
        self.paces: dict[tuple[str, ...], Pace] = {}
        here = ray.get_runtime_context()
        self.sender = _sender_of(here.get_node_id(), here.get_job_id())
        self.remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_run)

    def put(self, array: Any) -> Any:
        """Write a large value to a file, once."""
        if isinstance(array, Shard):
            return array
        taken = values.Taken(array)
        if taken.size < SMALL:
            return array
        digest = taken.digest
        shard = self.shards.get(digest)
        if shard is not None:
            return shard
        path = self.folder / f"{digest}-{next(self.numbers)}.safetensors"  # goes with this shard
        with _room(self.folder, taken.size):
            taken.write(path)
        shard = self.shards[digest] = Shard(str(path), digest)
        weakref.finalize(shard, path.unlink, missing_ok=True).atexit = False
        _OPENED.keep(digest, array)  # for what runs here
        return shard

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Iterable[Any]
    ) -> Iterator[Any]:
        """Tasks on workers, in order, or here if they are small; any other function here."""
        if not getattr(function, "is_task", False):
            return self._here(function, references, blocks, os.cpu_count() or 1)
        return self._map(function, references, blocks)

    def _here(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Any, n_threads: int
    ) -> Iterator[Any]:
        arrays = [opened(item, self.sender) for item in references]
        return Threads(n_threads).map(function, arrays, blocks)

    def _map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Iterable[Any]
    ) -> Iterator[Any]:
        keeping = function if isinstance(function, Keeping) else None
        name = name_of(keeping.function if keeping else function)
        pace, rest = self._pace(name, references), iter(blocks)
        if not pace.is_small:
            yield from self._remote(function, name, references, rest, pace)
        timed = partial(_timed, pace, function)
        yield from self._here(timed, references, rest, pace.n_threads)

    def _pace(self, name: str, references: Sequence[Any]) -> Pace:
        """What is known of a task with these data."""
        data = (item.digest for item in references if isinstance(item, Shard))
        return self.paces.setdefault((name, *data), Pace(self.n_workers))

    def _remote(
        self, function: Callable[..., Any], name: str, references: Sequence[Any],
        blocks: Iterator[Any], pace: Pace,
    ) -> Iterator[Any]:  # fmt: skip
        """What workers make of blocks; the rest is left once these turn out to be small."""
        keeping = function if isinstance(function, Keeping) else None
        fixed = (version(), name, list(references), keeping and keeping.folder, self.sender)
        writes = keeping is not None and keeping.checkpoint.writes
        begun = (self._begun(pace, *fixed, writes, block) for block in blocks)
        for reference in in_order(begun, pace.at_once):
            result = self._result(reference, pace)
            yield result if keeping is None else keeping.taken(result)

    def _begun(self, pace: Pace, *arguments: Any) -> Any:
        """A task under way. None is ever cancelled: a driver of Ray may die of that.

        Cancelling races with the end of a task, which Ray takes for a bug of its own (a failed
        check, "task that was not pending"). What is under way after Ctrl-C changes nothing.
        """
        with pace.way():
            return self.remote.remote(*arguments)

    def _result(self, reference: Any, pace: Pace) -> Any:
        try:
            self.ray.wait([reference])
            with pace.way():
                seconds, result = self.ray.get(reference)
                result = values.mapped(result, _writable)
            pace.took(seconds)
            return result
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, UserError) else error from None
        except self.ray.exceptions.RayError as error:
            raise UserError(
                f"Ray lost a task {RETRIES} times, or the cluster itself: {error}. Look at the "
                f"machines; with a checkpoint the same command goes on where it stopped."
            ) from error


def connected(address: str | None = None, n_workers: int | None = None) -> Ray:
    """The cluster at an address, the one that this program uses already, or one on this machine."""
    try:
        import ray
    except ImportError:
        raise MissingExtraError("backend='ray'", "ray", "ray") from None
    if not ray.is_initialized():
        _connect(ray, address, n_workers)
    here = ray.get_runtime_context()
    return _engine_of(here.get_node_id(), here.get_job_id(), n_workers)


def _connect(ray: Any, address: str | None, n_workers: int | None) -> None:
    """Connect this program with a cluster, or start one."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("LINNAEUS_", "NUMBA_"))
    }
    options: dict[str, Any] = {
        "log_to_driver": False, "configure_logging": False, "include_dashboard": None,
        "runtime_env": {"env_vars": environment},
    }  # fmt: skip
    if address is None and not os.environ.get("RAY_ADDRESS"):
        n_cores = None if n_workers in (None, -1) else n_workers
        options |= {"address": "local", "num_cpus": n_cores, "include_dashboard": False}
    else:
        options |= {"address": address}
    try:
        ray.init(**{key: value for key, value in options.items() if value is not None})
    except ConnectionError as error:
        raise UserError(
            f"There is no Ray cluster at {address or os.environ.get('RAY_ADDRESS')} "
            f"({error}). Start one with `ray start --head`, or leave the address out."
        ) from None


@cache
def _engine_of(node: str, job: str, n_workers: int | None) -> Ray:
    """One for each connection: what belongs to a connection that has ended must not be used."""
    import ray

    n_cores = int(ray.cluster_resources().get("CPU", 1))
    return Ray(ray, n_cores if n_workers in (None, -1) else min(n_workers or 1, n_cores))


@cache
def _sender_of(node: str, job: str) -> Any:
    """One for each connection, on this machine."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0)(_Sender).options(scheduling_strategy=here).remote()


@contextmanager
def _room(folder: Path, size: int = 0) -> Iterator[None]:
    """Say what to do where a disk cannot hold the data of tasks."""
    try:
        yield
    except Exception as error:  # the library of the format has errors of its own
        full = isinstance(error, OSError) and error.errno in FULL
        if not full and "No space left" not in str(error):
            raise
        what = f"{size / 1e6:,.0f} MB of data" if size else "the data"
        raise UserError(
            f"The disk of {folder} on {platform.node()} is full, and {what} for the workers must "
            f"go there. Make room, or name another folder in {FOLDER} (TMPDIR for a machine that "
            f"does not see the driver's files)."
        ) from error


def name_of(function: Any) -> str:
    """A task's name, by which a worker finds it."""
    return f"{function.__module__}:{function.__qualname__}"


def _writable(array: Any) -> Any:
    """An array as loops know them: those that come through Ray cannot be written to."""
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        return array.copy(order="K")
    return array


# -- on the workers -------------------------------------------------------------------------------


class _Opened:
    """The values of files that this process has read, the last ones."""

    def __init__(self) -> None:
        self.found: OrderedDict[str, Any] = OrderedDict()

    def keep(self, digest: str, value: Any) -> None:
        self.found[digest] = value
        while len(self.found) > OPEN:
            self.found.popitem(last=False)


_OPENED = _Opened()


def opened(reference: Any, sender: Any = None) -> Any:
    """The value that a reference stands for."""
    if isinstance(reference, Folder):
        return _opened_folder(reference, sender)
    if not isinstance(reference, Shard):
        return reference
    if reference.digest not in _OPENED.found:
        path = Path(reference.path)
        if not is_here(path):
            path = _fetched(reference, sender)
        found, digest = values.read_with_digest(path)
        if digest != reference.digest:
            raise UserError(
                f"The data in {path} on {platform.node()} are not those that the driver wrote: the "
                f"file was changed. Remove it and start again."
            )
        _OPENED.keep(reference.digest, found)
    _OPENED.found.move_to_end(reference.digest)
    return _OPENED.found[reference.digest]


def is_here(path: Path) -> bool:
    """Whether this machine sees a file of the driver's."""
    return path.exists()


def _fetched(shard: Shard, sender: Any) -> Path:
    """A copy of a file of the driver's machine, once for this machine."""
    path = _place() / f"{shard.digest}.safetensors"
    if not path.exists():
        own = path.with_suffix(f".{os.getpid()}")
        _copy(Path(shard.path), own, sender)
        os.replace(own, path)
    return path


def _opened_folder(folder: Folder, sender: Any) -> Folder:
    """A folder as this machine sees it: where the driver has it, or a copy made once."""
    key = f"{folder.digest} {folder.path}"
    if key not in _OPENED.found:
        found, path = folder, Path(folder.path)
        if not (is_here(path) and folder.is_at(path)):
            found = folder._replace(path=str(_fetched_folder(folder, sender)))
        _OPENED.keep(key, found)
    return _OPENED.found[key]  # type: ignore[no-any-return]


def _fetched_folder(folder: Folder, sender: Any) -> Path:
    """A copy of a folder of the driver's machine, once for this machine."""
    place = _place() / folder.digest
    if folder.is_at(place):
        return place
    with tempfile.TemporaryDirectory(dir=_place()) as own:
        for name in folder.names:
            _copy(Path(folder.path) / name, Path(own) / name, sender)
        if not folder.is_at(Path(own)):
            raise UserError(
                f"{folder.path} was changed while it was used. Start again when nothing writes "
                f"to it."
            )
        with suppress(OSError):  # another worker was first
            os.rename(own, place)
            Path(own).mkdir()
    return place


def _place() -> Path:
    """Where this machine keeps what it was sent."""
    folder = Path(tempfile.gettempdir()) / f"linnaeus-shards-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _copy(path: Path, target: Path, sender: Any) -> None:
    """Copy a file of the driver's machine, piece by piece."""
    import ray

    with _room(target.parent), target.open("wb") as file:
        while piece := ray.get(sender.read.remote(str(path), file.tell(), PIECE)):
            file.write(piece)


class _Sender:
    """Reads files on the driver's machine for machines that do not see them."""

    def read(self, path: str, start: int, size: int) -> bytes:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(size)


@cache
def _keep_memory() -> None:
    """Let this process keep what a task has freed for the next, rather than give it back and ask.

    Pages that come anew are cleared by the system; a thread of the driver finds its own again.
    """
    with suppress(OSError, AttributeError):  # no glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, FROM_HEAP)
        mallopt(M_TRIM_THRESHOLD, FREE)


def _run(
    driver: str, name: str, references: list[Any], folder: Path | None, sender: Any, writes: bool,
    block: Any,
) -> tuple[float, Any]:  # fmt: skip
    """A task on a worker, and its seconds."""
    _keep_memory()
    if driver != version():
        raise UserError(
            f"A worker on {platform.node()} runs another version of linnaeus, NumPy, SciPy or "
            f"Numba than this program. Install the same versions on all machines."
        )
    function = values.resolved(name)
    arguments = [opened(reference, sender) for reference in references]
    block = values.mapped(block, lambda item: _writable(opened(item, sender)))
    began = time.thread_time()
    if folder is None:
        result = function(*arguments, block)
        return time.thread_time() - began, result
    result = _kept(folder, function, arguments, writes, *block)
    return time.thread_time() - began, result


def _kept(
    folder: Path, function: Callable[..., Any], arguments: list[Any], writes: bool, key: str,
    block: Any,
) -> Any:  # fmt: skip
    """A task whose result is kept, here if this machine sees the folder."""
    result = function(*arguments, block)
    checkpoint = Checkpoint(folder)
    if writes and checkpoint.is_visible:
        checkpoint.save(key, result)
        return Kept(key)
    return Given(key, result)  # the driver keeps it
