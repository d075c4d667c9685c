"""From a stream of examples to a part: features go into buffers that grow, row by row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.io.rows import Example, SparseRow
from linnaeus.io.text_files import Room, Shelf

_TYPECODES = {"float32": "f", "float64": "d"}


class _SparseBuffer:
    """Rows of a CSR matrix, one after the other."""

    def __init__(self, typecode: str) -> None:
        self._ptr, self._indices, self._values = array("q", [0]), array("i"), array(typecode)
        self._width = 0

    def add(self, row: SparseRow) -> None:
        self._indices.frombytes(row.indices.tobytes())
        self._values.frombytes(row.values.tobytes())
        self._ptr.append(len(self._indices))
        if row.indices.size:
            self._width = max(self._width, int(row.indices[-1]) + 1)

    def matrix(self, n_features: int | None) -> sp.csr_array:
        parts = (_view(self._values), _view(self._indices), _view(self._ptr))
        width = self._width if n_features is None else n_features
        if width < self._width:
            raise UserError(
                f"A row has feature {self._width}, but only {n_features} features are expected. "
                f"Check that the file belongs to this collection or model."
            )
        X = sp.csr_array(parts, shape=(len(self._ptr) - 1, width))
        X.eliminate_zeros()
        return X


class _DenseBuffer:
    """Rows of a dense matrix, one after the other."""

    def __init__(self, typecode: str) -> None:
        self._values, self._n = array(typecode), 0

    def add(self, row: NDArray[Any]) -> None:
        self._values.frombytes(row.tobytes())
        self._n += 1

    def matrix(self, n_features: int | None) -> NDArray[Any]:
        X = _view(self._values).reshape(self._n, -1)
        if n_features is not None and X.shape[1] != n_features:
            raise UserError(
                f"The rows have {X.shape[1]} features, but {n_features} are expected. "
                f"Check that the file belongs to this collection or model."
            )
        return X


def collect(
    examples: Iterable[Example],
    *,
    n_features: int | None = None,
    feature_names: list[str] | None = None,
    skipped: Iterable[str] = (),
    room: Room | None = None,
) -> Part:
    """A part of examples that all hold texts, or all hold features of one kind.

    Parameters
    ----------
    examples : iterable of Example
        The examples.
    n_features : int or None, default=None
        How many columns sparse features have at least in other parts; None for the highest that
        occurs.
    feature_names : list of str or None, default=None
        Names of the features.
    skipped : iterable of str, default=()
        Messages about rows left out.
    room : Room or None, default=None
        How much memory texts may take; None for any. Texts and ids beyond it are kept on disk, and
        what else such rows held is not kept.

    Returns
    -------
    Part
    """
    if room is not None:
        return _collect_within(examples, room, feature_names, tuple(skipped))
    labels: list[list[Any]] = []
    ids: list[str] = []
    texts: list[str] = []
    metadata: list[dict[str, Any]] = []
    buffer: Any = None
    for example in examples:
        labels.append(example.labels)
        ids.append(example.id)
        metadata.append(example.metadata or {})
        if example.text is not None:
            texts.append(example.text)
        else:
            buffer = _buffer_for(example.x) if buffer is None else buffer
            buffer.add(example.x)
    return Part(
        labels=labels,
        ids=ids,
        texts=texts if buffer is None else None,
        X=None if buffer is None else buffer.matrix(n_features),
        feature_names=feature_names,
        metadata=metadata if any(metadata) else None,
        skipped=tuple(skipped),
    )


def shared(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """The labels of many rows, with one list for all rows that have the same.

    Parameters
    ----------
    rows : iterable of lists
        The labels of each row.

    Returns
    -------
    list of lists
    """
    known: dict[tuple[Any, ...], list[Any]] = {}
    return [known.setdefault(tuple(row), row) for row in rows]


def _collect_within(
    examples: Iterable[Example], room: Room, names: list[str] | None, skipped: tuple[str, ...]
) -> Part:
    """The same for texts that may go to disk; equal lists of labels are one."""
    examples = iter(examples)
    first = next(examples, None)
    if first is None or first.text is None:
        found = chain([] if first is None else [first], examples)
        return collect(found, feature_names=names, skipped=skipped)
    metadata: list[dict[str, Any]] = []
    with closing(Shelf(room, "texts")) as texts, closing(Shelf(room, "ids")) as ids:

        def kept(example: Example) -> list[Any]:
            texts.add(example.text or "")
            ids.add(example.id)
            if texts.is_on_disk:
                ids.to_disk()
                metadata.clear()
            else:
                metadata.append(example.metadata or {})
            return example.labels

        labels = shared(map(kept, chain([first], examples)))
    return Part(
        labels=labels, ids=ids.texts(), texts=texts.texts(), feature_names=names,
        metadata=metadata if any(metadata) else None, skipped=skipped,
    )  # fmt: skip


def _buffer_for(x: Any) -> _SparseBuffer | _DenseBuffer:
    """An empty buffer for features of this kind."""
    if isinstance(x, SparseRow):
        return _SparseBuffer(_TYPECODES[x.values.dtype.name])
    return _DenseBuffer(_TYPECODES[x.dtype.name])


def _view(values: array[Any]) -> NDArray[Any]:
    """The buffer as an array over the same memory."""
    return np.frombuffer(values, dtype=values.typecode)
