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
import os
import platform
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.execution import values
from linnaeus.execution.checkpoints import Checkpoint, version
from linnaeus.execution.engines import AHEAD, Threads, in_order
from linnaeus.execution.folders import Folder
from linnaeus.execution.keeping import Given, Keeping, Kept

SMALL = 1 << 16  # bytes of arrays that go with a task rather than as a file
RETRIES = 20  # of a task whose worker is lost
OPEN = 32  # files that a worker keeps open
PIECE = 1 << 26  # bytes sent at a time to a machine that does not see the driver's files
FOLDER = "LINNAEUS_SHARDS"  # environment: where the driver writes files for the workers


class Shard:
    """A value in a file, known by its digest; the file goes with the driver's last reference."""

    def __init__(self, path: str, digest: str) -> None:
        self.path, self.digest = path, digest

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return Shard, (self.path, self.digest)


class Ray:
    """Workers of a cluster, at most so many at a time."""

    is_far = True  # workers have a memory of their own

    def __init__(self, ray: Any, n_workers: int) -> None:
        self.ray, self.n_workers = ray, n_workers
        self.folder = Path(tempfile.mkdtemp(prefix="linnaeus-", dir=os.environ.get(FOLDER)))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.sender = ray.remote(num_cpus=0)(_Sender).options(**_on_this_node(ray)).remote()
        self.remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_run)

    def put(self, array: Any) -> Any:
        """Write a large value to a file, once."""
        if isinstance(array, Shard) or values.size(array) < SMALL:
            return array
        digest = values.digest(array)
        path = self.folder / f"{digest}.safetensors"
        if not path.exists():
            values.write(path, array)
        shard = Shard(str(path), digest)
        weakref.finalize(shard, path.unlink, missing_ok=True).atexit = False
        _OPENED.keep(digest, array)  # for what runs here
        return shard

    def map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Sequence[Any]
    ) -> Iterator[Any]:
        """Tasks on workers, in order; any other function here."""
        if not getattr(function, "is_task", False):
            here = Threads(os.cpu_count() or 1)
            return here.map(function, [opened(item) for item in references], blocks)
        return self._map(function, references, blocks)

    def _map(
        self, function: Callable[..., Any], references: Sequence[Any], blocks: Sequence[Any]
    ) -> Iterator[Any]:
        keeping = function if isinstance(function, Keeping) else None
        name = name_of(keeping.function if keeping else function)
        fixed = (version(), name, list(references), keeping and keeping.folder, self.sender)
        writes = keeping is not None and keeping.checkpoint.writes
        under_way: list[Any] = []
        try:
            begun = (self._begun(under_way, fixed, writes, block) for block in blocks)
            for reference in in_order(begun, (1 + AHEAD) * self.n_workers):
                result = self._result(reference)
                under_way.remove(reference)
                yield result if keeping is None else keeping.taken(result)
        finally:  # after Ctrl-C
            for reference in under_way:
                self.ray.cancel(reference, force=False)

    def _begun(self, under_way: list[Any], fixed: Any, writes: bool, block: Any) -> Any:
        under_way.append(self.remote.remote(*fixed, writes, block))
        return under_way[-1]

    def _result(self, reference: Any) -> Any:
        try:
            return values.mapped(self.ray.get(reference), _writable)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, UserError) else error from None
        except self.ray.exceptions.RayError as error:
            raise UserError(
                f"Ray lost a task {RETRIES} times, or the cluster itself: {error}. Look at the "
                f"machines; with a checkpoint the same command goes on where it stopped."
            ) from error


@cache
def connected(address: str | None = None, n_workers: int | None = None) -> Ray:
    """The cluster at an address, the one that this program uses already, or one on this machine."""
    try:
        import ray
    except ImportError:
        raise MissingExtraError("backend='ray'", "ray", "ray") from None
    if not ray.is_initialized():
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
    n_cores = int(ray.cluster_resources().get("CPU", 1))
    return Ray(ray, n_cores if n_workers in (None, -1) else min(n_workers or 1, n_cores))


def _on_this_node(ray: Any) -> dict[str, Any]:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = ray.get_runtime_context().get_node_id()
    return {"scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=False)}


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
        found = values.read(path)
        if values.digest(found) != reference.digest:
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
    if folder.digest not in _OPENED.found:
        found, path = folder, Path(folder.path)
        if not (is_here(path) and folder.is_at(path)):
            found = folder._replace(path=str(_fetched_folder(folder, sender)))
        _OPENED.keep(folder.digest, found)
    return _OPENED.found[folder.digest]  # type: ignore[no-any-return]


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

    with target.open("wb") as file:
        while piece := ray.get(sender.read.remote(str(path), file.tell(), PIECE)):
            file.write(piece)


class _Sender:
    """Reads files on the driver's machine for machines that do not see them."""

    def read(self, path: str, start: int, size: int) -> bytes:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(size)


def _run(
    driver: str, name: str, references: list[Any], folder: Path | None, sender: Any, writes: bool,
    block: Any,
) -> Any:  # fmt: skip
    """A task on a worker."""
    if driver != version():
        raise UserError(
            f"A worker on {platform.node()} runs another version of linnaeus, NumPy, SciPy or "
            f"Numba than this program. Install the same versions on all machines."
        )
    function = values.resolved(name)
    arguments = [opened(reference, sender) for reference in references]
    block = values.mapped(block, lambda item: _writable(opened(item, sender)))
    if folder is None:
        return function(*arguments, block)
    key, block = block
    result = function(*arguments, block)
    checkpoint = Checkpoint(folder)
    if writes and checkpoint.is_visible:
        checkpoint.save(key, result)
        return Kept(key)
    return Given(key, result)  # the driver keeps it
