"""Texts that do not fit in memory: kept in a file, and read when they are asked for.

A `Shelf` takes texts one after the other. As long as they fit in its room they are a list; then
they go to disk, and what it gives is a sequence that looks like a list and holds none of them.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, overload

READ = 1 << 20  # bytes that are read at a time


class Room(NamedTuple):
    """How much memory the texts of a file may take, and where they go beyond that.

    Attributes
    ----------
    limit : int
        Bytes of memory.
    folder : Path
        An empty folder on a disk with room for the texts.
    """

    limit: int
    folder: Path


class TextFile(Sequence[str]):
    """Texts in a file, one after the other.

    Attributes
    ----------
    room : Room
        Where they are.
    """

    def __init__(self, path: Path, ends: array[int], room: Room) -> None:
        self._path, self._ends, self.room = path, ends, room

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[str]:
        with self._path.open("rb", READ) as file:
            for start, end in pairwise(self._ends):
                yield _decoded(file.read(end - start))

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        place = range(len(self))[i]
        with self._path.open("rb", 0) as file:
            file.seek(self._ends[place])
            return _decoded(file.read(self._ends[place + 1] - self._ends[place]))


class Chained(Sequence[str]):
    """Sequences of texts one after the other, at least one of them in a file."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._parts, self._ends = parts, list(accumulate(map(len, parts), initial=0))
        self.room = next(room for part in parts if (room := room_of(part)) is not None)

    def __len__(self) -> int:
        return self._ends[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        place = range(len(self))[i]
        part = bisect_right(self._ends, place) - 1
        return self._parts[part][place - self._ends[part]]


class Shelf:
    """Texts to be kept, in memory or on disk.

    Parameters
    ----------
    room : Room
        How much memory they may take, and where they go beyond.
    name : str
        Name of their file.
    """

    def __init__(self, room: Room, name: str) -> None:
        self._room, self._name, self._size = room, name, 0
        self._list: list[str] = []
        self._file: IO[bytes] | None = None
        self._ends = array("q", [0])

    @property
    def is_on_disk(self) -> bool:
        """Whether the texts no longer fit."""
        return self._file is not None

    def add(self, text: str) -> None:
        """Keep one more.

        Parameters
        ----------
        text : str
            The text.
        """
        if self._file is None:
            self._list.append(text)
            self._size += sys.getsizeof(text) + 8
            if self._size > self._room.limit:
                self.to_disk()
            return
        self._write(text)

    def to_disk(self) -> None:
        """From now on all are on disk."""
        if self._file is None:
            self._room.folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._room.folder / self._name).open("wb", READ)
            for text in self._list:
                self._write(text)
            self._list = []

    def texts(self) -> Sequence[str]:
        """All of them: a list, or a file.

        Returns
        -------
        sequence of str
        """
        self.close()
        if self._file is None:
            return self._list
        return TextFile(self._room.folder / self._name, self._ends, self._room)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, text: str) -> None:
        assert self._file is not None
        self._ends.append(self._ends[-1] + self._file.write(text.encode("utf-8", "surrogatepass")))


def room_of(texts: Any) -> Room | None:
    """Where texts are on disk; None for those in memory.

    Parameters
    ----------
    texts : sequence of str
        The texts.

    Returns
    -------
    Room or None
    """
    return getattr(texts, "room", None)


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
