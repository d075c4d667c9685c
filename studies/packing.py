"""Many whole numbers in few letters, for facts that are stored as JSON.

Ascending numbers become differences, these bytes, compressed, and letters (base 64).
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np


def pack(numbers: Any) -> str:
    """Ascending numbers, none below 0.

    >>> unpack(pack([3, 10, 500])).tolist()
    [3, 10, 500]
    """
    steps = np.diff(np.asarray(numbers, dtype=np.int64), prepend=0)
    return base64.b64encode(zlib.compress(steps.astype("<u4").tobytes(), 9)).decode()


def unpack(text: str) -> np.ndarray:
    """What `pack` was given."""
    steps = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4")
    return np.cumsum(steps.astype(np.int64))
