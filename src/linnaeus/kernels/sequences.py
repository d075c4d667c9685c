"""Sequences of anything hashable as numbers.

Characters, syllables, words or amino acids: a kernel only asks whether two symbols are equal.
All sequences lie in one array, one after the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, shorten

Numbers = npt.NDArray[np.int64]

UNICODE = 0x110000  # code points
TABLE = 1 << 20  # entries of a table that is always affordable


class Encoded(NamedTuple):
    """Sequences of numbers: sequence i is ``numbers[starts[i]:starts[i + 1]]``."""

    numbers: Numbers
    starts: Numbers
    symbols: list[Any]  # by number; ascending if they can be compared


def as_sequences(A: Any, name: str = "A") -> list[Any]:
    """A list of strings or other sequences, checked to be that."""
    if isinstance(A, str | bytes) or not isinstance(A, Iterable):
        raise UserError(
            f"{name} is {shorten(A)}. Give a list of strings or other sequences, even for one."
        )
    out = list(A)
    if not out:
        raise UserError(f"{name} is empty. Give at least one sequence.")
    for i, s in enumerate(out):
        if not isinstance(s, Sequence) and not (isinstance(s, np.ndarray) and s.ndim == 1):
            raise UserError(
                f"Sequence {i} of {name} is {shorten(s)}. Give a string, or a list of symbols."
            )
    return out


def as_sequence_pair(A: Any, B: Any) -> tuple[list[Any], list[Any]]:
    """Both collections, checked; without the second, the first and an empty list."""
    return as_sequences(A), [] if B is None else as_sequences(B, "B")


def encode(sequences: Sequence[Any]) -> Encoded:
    """Number the symbols of sequences; equal symbols get equal numbers."""
    lengths = [len(s) for s in sequences]
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if all(isinstance(s, str) for s in sequences):
        text = "".join(sequences).encode("utf-32-le", "surrogatepass")
        numbers, points = rank(np.frombuffer(text, dtype="<u4").astype(np.int64), UNICODE)
        return Encoded(numbers, starts, [chr(c) for c in points.tolist()])
    symbols = _distinct(sequences)
    number = {symbol: i for i, symbol in enumerate(symbols)}
    flat = (number[symbol] for symbol in chain.from_iterable(sequences))
    return Encoded(np.fromiter(flat, dtype=np.int64, count=starts[-1]), starts, symbols)


def rank(codes: Numbers, n_codes: int) -> tuple[Numbers, Numbers]:
    """The ranks of codes in 0..n_codes-1 among those that occur, and the codes by rank."""
    if n_codes > max(TABLE, 4 * codes.size):
        distinct, ranks = np.unique(codes, return_inverse=True)
        return ranks.astype(np.int64), distinct
    occurs = np.zeros(n_codes, dtype=bool)
    occurs[codes] = True
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def _distinct(sequences: Sequence[Any]) -> list[Hashable]:
    """Every symbol once: ascending, or as they first occur if they cannot be compared."""
    seen: dict[Hashable, None] = {}
    for i, s in enumerate(sequences):
        try:
            seen.update(dict.fromkeys(s))
        except TypeError:
            raise UserError(
                f"Sequence {i} is {shorten(s)}, whose symbols cannot be compared by their hash. "
                f"Use strings, numbers or tuples as symbols."
            ) from None
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return list(seen)
