"""A collection: a taxonomy and labelled examples, in up to three parts.

`linnaeus.io` reads collections from disk and `linnaeus.synthetic` makes them; everything that
trains or evaluates takes them from here and need not know where they came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.io.options import ReadOptions
from linnaeus.io.text_files import Chained, room_of
from linnaeus.taxonomy import Taxonomy


@dataclass(frozen=True)
class Part:
    """Examples in order: `texts` or a feature matrix `X`, with their labels (possibly none).

    Attributes
    ----------
    labels : list of lists
        Labels of each example.
    ids : sequence of str
        Name of each example.
    texts : sequence of str or None
        Texts; a list, or what is on disk (`linnaeus.io.text_files`).
    X : ndarray or csr_array of shape (n_examples, n_features), or None
        Features; NaN where missing.
    feature_names : list of str or None
        Names of the features.
    metadata : list of dict or None
        What else a row held.
    skipped : tuple of str
        Messages about rows left out on request.
    notes : tuple of str
        What was guessed about the file, in sentences.
    columns : ReadOptions or None
        Which columns of a table were taken for what.
    """

    labels: list[list[Any]]
    ids: Sequence[str]
    texts: Sequence[str] | None = None
    X: Any = None
    feature_names: list[str] | None = None
    metadata: list[dict[str, Any]] | None = None
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: ReadOptions | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def kind(self) -> str:
        """What the examples are: texts, sparse features, or a table of features."""
        if self.texts is not None:
            return "texts"
        return "sparse features" if sp.issparse(self.X) else "a table of features"

    def take(self, rows: Sequence[int]) -> Part:
        """The rows with these numbers, in this order.

        Parameters
        ----------
        rows : sequence of int
            Row numbers.

        Returns
        -------
        Part
        """
        rows = [int(i) for i in rows]

        def pick(values: Sequence[Any] | None) -> list[Any] | None:
            return None if values is None else [values[i] for i in rows]

        return Part(
            labels=[self.labels[i] for i in rows],
            ids=[self.ids[i] for i in rows],
            texts=pick(self.texts),
            X=None if self.X is None else self.X[rows],
            feature_names=self.feature_names,
            metadata=pick(self.metadata),
            notes=self.notes,
            columns=self.columns,
        )

    def joined(self, other: Part) -> Part:
        """These rows and after them those of another part of the same kind.

        Parameters
        ----------
        other : Part
            More rows.

        Returns
        -------
        Part
        """

        def both(name: str) -> Any:
            a, b = getattr(self, name), getattr(other, name)
            if a is None or b is None:
                return None
            on_disk = room_of(a) is not None or room_of(b) is not None
            return Chained([a, b]) if on_disk else [*a, *b]

        X = None
        if self.X is not None:
            pair = [self.X, other.X]
            X = sp.csr_array(sp.vstack(pair)) if sp.issparse(self.X) else np.vstack(pair)
        return replace(
            self, labels=both("labels"), ids=both("ids"), texts=both("texts"), X=X,
            metadata=both("metadata"), skipped=self.skipped + other.skipped,
        )  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """A taxonomy with a training part and, where there are any, validation and test parts.

    Attributes
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    train : Part or None
        Examples to learn from.
    valid : Part or None
        Examples to choose parameters by.
    test : Part or None
        Examples to judge by.
    name : str
        What it is called.
    """

    taxonomy: Taxonomy
    train: Part | None = None
    valid: Part | None = None
    test: Part | None = None
    name: str = field(default="collection")

    def parts(self) -> Iterator[tuple[str, Part]]:
        """The parts that exist, with their names.

        Yields
        ------
        tuple of (str, Part)
            Name and part.
        """
        for name in ("train", "valid", "test"):
            part = getattr(self, name)
            if part is not None:
                yield name, part

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed about the files, each sentence once."""
        return tuple(dict.fromkeys(note for _, part in self.parts() for note in part.notes))

    def part(self, name: str) -> Part:
        """A part by its name; an error that lists the parts there are.

        Parameters
        ----------
        name : {'train', 'valid', 'test'}
            Name of the part.

        Returns
        -------
        Part
        """
        for known, part in self.parts():
            if known == name:
                return part
        known_names = ", ".join(known for known, _ in self.parts()) or "none"
        raise UserError(f"{self.name} has no part {name!r}. It has: {known_names}.")

    def Y(self, name: str) -> sp.csr_array:
        """The label indicator of a part, over the nodes of the taxonomy.

        Parameters
        ----------
        name : {'train', 'valid', 'test'}
            Name of the part.

        Returns
        -------
        csr_array of shape (n_examples, n_nodes)
        """
        return self.taxonomy.encode(self.part(name).labels)
