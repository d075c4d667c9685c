"""What work costs: wall time, processor time and memory.

Memory is how far the resident set rose above where it began. On Linux the high-water mark of the
process (VmHWM) is set back before the work and read after it, so every measurement stands alone.
Elsewhere the mark cannot be set back and what counts is by how much the work raised it: a lower
bound, 0 for work that needs less than some work before it. Memory that was freed before is handed
back to the system first, where it can be, so that using it again counts.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

T = TypeVar("T")
PEAK = "peak of the resident memory above its start"
GROWTH = "growth of the highest resident memory so far, a lower bound"
_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Cost(NamedTuple):
    """What a piece of work took.

    Attributes
    ----------
    wall_seconds : float
        Time that passed.
    cpu_seconds : float
        Time of all cores.
    memory_bytes : float
        Most memory in use beyond what was there before.
    memory_by : str
        How the memory was measured.
    """

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: float
    memory_by: str


def measure(work: Callable[[], T]) -> tuple[T, Cost]:
    """Do some work, and say what it cost.

    Parameters
    ----------
    work : callable
        The work, without arguments.

    Returns
    -------
    result : object
        What the work returned.
    cost : Cost
        What it took.

    Examples
    --------
    >>> measure(lambda: sum(range(10)))[0]
    45
    """
    _hand_back()
    alone = _reset_peak()
    before = _status("VmRSS") if alone else _highest()
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = _status("VmHWM") if alone else _highest()
    return result, Cost(wall, cpu, float(max(0, after - before)), PEAK if alone else GROWTH)


def mean_cost(costs: list[Cost]) -> Cost:
    """The mean times of several pieces of work, and the largest memory."""
    wall, cpu = (float(np.mean([cost[i] for cost in costs])) for i in (0, 1))
    return Cost(wall, cpu, max(cost.memory_bytes for cost in costs), costs[0].memory_by)


def array_bytes(value: Any) -> int:
    """Bytes of the arrays that an object holds, each counted once.

    >>> array_bytes({"a": np.zeros(4), "b": [np.zeros(2, np.float32)]})
    40
    """
    return _bytes(value, set())


def _bytes(value: Any, seen: set[int]) -> int:
    if id(value) in seen or isinstance(value, str | bytes | int | float | type | None):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sp.issparse(value):
        parts = [getattr(value, name, None) for name in ("data", "indices", "indptr")]
        return sum(_bytes(part, seen) for part in parts)
    if isinstance(value, dict):
        return sum(_bytes(v, seen) for v in value.values())
    if isinstance(value, list | tuple):
        return sum(_bytes(v, seen) for v in value)
    module = type(value).__module__.partition(".")[0]
    own = getattr(value, "__dict__", {}) if module in ("linnaeus", "sklearn") else {}
    return sum(_bytes(v, seen) for v in own.values())


def _hand_back() -> None:
    """Give memory that is no longer used to the system."""
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


def _reset_peak() -> bool:
    """Set the high-water mark of the process back to what it holds now; False if it cannot be."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _status(key: str) -> int:
    """A line of the process's status, in bytes."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return 0


def _highest() -> int:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return 0
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
