"""What the study of all methods on all collections recommends, and for which data.

The file recommendations.json is made from the stored study by `python -m studies recommend`, and
says when and from what. It has

    groups    for kinds of data with two collections or more, the method with the best mean rank;
              where trees and DAGs alone have too few, for both together
    general   the same over all collections with one label a row, or with several
    ranks     the mean ranks of all methods, on trees

A kind of data with less evidence gets the general recommendation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

MANY_ROWS, MANY_CLASSES = 5_000, 100
FILE = "recommendations.json"
ANY = "any"
WORDS = {
    "one": "one label a row", "several": "several labels a row",
    "tree": "a tree", "dag": "a DAG", ANY: "any taxonomy",
}  # fmt: skip


class Kind(NamedTuple):
    """What data are told apart by.

    Attributes
    ----------
    labels : {'one', 'several'}
        Labels of a row.
    shape : {'tree', 'dag', 'any'}
        Shape of the taxonomy; 'any' of a group.
    rows : {'few', 'many'}
        Training rows.
    classes : {'few', 'many'}
        Classes.
    """

    labels: str
    shape: str
    rows: str
    classes: str

    def __str__(self) -> str:
        what = f"{WORDS[self.labels]}, {WORDS[self.shape]}"
        return f"{what}, {self.rows} rows, {self.classes} classes"

    @classmethod
    def of(cls, group: Mapping[str, str]) -> Kind:
        """The kind of a stored group.

        Parameters
        ----------
        group : dict
            The four words of a kind.

        Returns
        -------
        Kind
        """
        return cls(*(group[name] for name in cls._fields))

    def covers(self, other: Kind) -> bool:
        """Whether data of the other kind belong to this group.

        Parameters
        ----------
        other : Kind
            A kind of data.

        Returns
        -------
        bool
        """
        return self in (other, other.any_shape())

    def any_shape(self) -> Kind:
        """The same with trees and DAGs taken together.

        Returns
        -------
        Kind
        """
        return self._replace(shape=ANY)


class Advice(NamedTuple):
    """A method, and what speaks for it."""

    method: str
    why: str


def kind_of(several: bool, tree: bool, rows: int, classes: int) -> Kind:
    """The kind of data with these counts.

    Parameters
    ----------
    several : bool
        Whether rows have several labels, or none.
    tree : bool
        Whether no node has two parents.
    rows : int
        Number of training rows.
    classes : int
        Number of classes.

    Returns
    -------
    Kind

    Examples
    --------
    >>> str(kind_of(False, True, 10_000, 20))
    'one label a row, a tree, many rows, few classes'
    """
    return Kind(
        "several" if several else "one",
        "tree" if tree else "dag",
        "many" if rows >= MANY_ROWS else "few",
        "many" if classes >= MANY_CLASSES else "few",
    )


@cache
def recommendations() -> dict[str, Any]:
    """The file, read once."""
    text = files("linnaeus").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def advise(kind: Kind, found: dict[str, Any] | None = None) -> Advice:
    """The method for a kind of data: its own group's, that of a wider group, or the general one.

    found : recommendations; those of the package if not given
    """
    found = recommendations() if found is None else found
    groups = {Kind.of(group): group for group in found["groups"]}
    for wider in (kind, kind.any_shape()):
        if wider in groups:
            which = f"collections like this ({wider})"
            return Advice(groups[wider]["method"], _why(groups[wider], which))
    general = found["general"][kind.labels]
    return Advice(general["method"], _why(general, f"collections with {WORDS[kind.labels]}"))


def _why(entry: dict[str, Any], which: str) -> str:
    n = len(entry["collections"])
    return f"best mean rank in micro F1, {entry['rank']:.1f}, on {n} {which}"


def mean_ranks(method: str) -> dict[str, float]:
    """The mean rank of a method among those it was compared with, by the kind of labels."""
    tables = recommendations()["ranks"]
    return {
        labels: float(table["methods"][method]["rank"])
        for labels, table in tables.items()
        if method in table["methods"]
    }
