"""Where a method goes wrong: labels that it takes for one another, and rows that tell something.

A pair (a, b) is confused in a row when a is one of its labels and missed, and b is given wrongly;
"labels" are the most specific ones. With M the missed and W the wrong labels, rows by nodes, the
counts of all pairs are the entries of M' W, which is as sparse as the mistakes are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.io.collection import Part
from linnaeus.losses import difference
from linnaeus.taxonomy import Taxonomy

EXCERPT = 300  # characters of a text


class Confusion(NamedTuple):
    """A label that was missed where another was given."""

    true: Any
    predicted: Any
    rows: int
    share: float  # of the rows with the true label
    distance: int  # in the taxonomy
    relation: str


class Mistake(NamedTuple):
    """A row with wrong labels."""

    id: str
    text: str  # an excerpt; empty where rows are not texts
    true: list[Any]
    predicted: list[Any]
    scores: dict[Any, float]  # of the labels that differ, where they have any
    wrong: int  # nodes in which truth and prediction differ, ancestors with them
    why: str


class Errors(NamedTuple):
    """Missed (+1) and wrongly given (-1) labels of the rows, beside the label sets themselves."""

    true: sp.csr_array
    predicted: sp.csr_array
    signed: sp.csr_array

    @classmethod
    def of(cls, taxonomy: Taxonomy, true: sp.csr_array, predicted: sp.csr_array) -> Errors:
        own = [sp.csr_array(taxonomy.most_specific(Y)) for Y in (true, predicted)]
        return cls(own[0], own[1], difference(own[0], own[1]))

    def side(self, sign: int) -> sp.csr_array:
        """The missed (1) or the wrongly given (-1) labels, 0/1."""
        return sp.csr_array(self.signed == sign, dtype=np.int64)


def confusions(taxonomy: Taxonomy, errors: Errors, n: int = 20) -> list[Confusion]:
    """The n pairs that are confused most often; of equals the farthest apart first."""
    pairs = sp.coo_array(errors.side(1).T @ errors.side(-1))
    if not pairs.nnz:
        return []
    support = np.bincount(errors.true.indices, minlength=len(taxonomy))
    cut = np.sort(pairs.data)[::-1][: 5 * n][-1]  # distances are found for these only
    found: list[tuple[int, int, int, int]] = []
    for a, b, k in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True):
        if k >= cut and len(found) < 50 * n:
            x, y = taxonomy.nodes[a], taxonomy.nodes[b]
            found.append((-k, -taxonomy.distance(x, y), a, b))
    return [
        _confusion(taxonomy, a, b, -k, -far, int(support[a])) for k, far, a, b in sorted(found)[:n]
    ]


def _confusion(
    taxonomy: Taxonomy, a: int, b: int, rows: int, distance: int, support: int
) -> Confusion:
    x, y = taxonomy.nodes[a], taxonomy.nodes[b]
    return Confusion(x, y, rows, rows / support, distance, relation(taxonomy, x, y))


def relation(taxonomy: Taxonomy, true: Any, predicted: Any) -> str:
    """How a predicted label stands to a true one.

    >>> tax = Taxonomy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> relation(tax, "cat", "dog"), relation(tax, "cat", "pet")
    ('sibling', 'parent')
    """
    if predicted in taxonomy.parents(true):
        return "parent"
    if predicted in taxonomy.children(true):
        return "child"
    if predicted in taxonomy.ancestors(true):
        return "ancestor"
    if true in taxonomy.ancestors(predicted):
        return "descendant"
    if set(taxonomy.parents(true)) & set(taxonomy.parents(predicted)):
        return "sibling"
    return "under another root" if taxonomy.lca(true, predicted) is None else "in the same branch"


def mistakes(
    taxonomy: Taxonomy, errors: Errors, part: Part, scores: Any = None, columns: Any = (),
    n: int = 3,
) -> list[Mistake]:  # fmt: skip
    """Rows worth reading: n that the method was surest of, n that are farthest off.

    scores : (n_rows, n_columns), beside the nodes of their columns; None where there are none
    """
    closed = difference(taxonomy.closure(errors.true), taxonomy.closure(errors.predicted))
    wrong = np.diff(closed.indptr)
    rows = np.flatnonzero(wrong)
    place = {name: j for j, name in enumerate(columns)} if scores is not None else {}
    chosen: dict[int, str] = {}
    if place:
        sure = _margins(taxonomy, errors, rows, scores, place)
        top = rows[np.argsort(-sure, kind="stable")][:n]
        known = np.sort(-sure)[:n] < np.inf
        chosen |= {int(i): "confident" for i in top[known]}
    far = (int(i) for i in rows[np.argsort(-wrong[rows], kind="stable")])
    for i in far:
        if len(chosen) >= 2 * n:
            break
        chosen.setdefault(i, "far off")
    return [
        _mistake(taxonomy, errors, part, i, int(wrong[i]), why, scores, place)
        for i, why in chosen.items()
    ]


def _margins(
    taxonomy: Taxonomy, errors: Errors, rows: np.ndarray, scores: Any, place: dict[Any, int]
) -> np.ndarray:
    """How far the best of the wrong labels is above the best of the missed ones, per row.

    -inf where a row has not both among the columns.
    """
    column = np.array([place.get(name, -1) for name in taxonomy.nodes])
    out = np.full(rows.size, -np.inf)
    signed = errors.signed
    for k, i in enumerate(rows.tolist()):
        inside = slice(signed.indptr[i], signed.indptr[i + 1])
        where, sign = column[signed.indices[inside]], signed.data[inside]
        given, missed = where[(sign < 0) & (where >= 0)], where[(sign > 0) & (where >= 0)]
        if given.size and missed.size:
            out[k] = scores[i, given].max() - scores[i, missed].max()
    return out


def _mistake(
    taxonomy: Taxonomy, errors: Errors, part: Part, i: int, wrong: int, why: str, scores: Any,
    place: dict[Any, int],
) -> Mistake:  # fmt: skip
    text = "" if part.texts is None else " ".join(part.texts[i].split())
    true, predicted = (
        [taxonomy.nodes[v] for v in sorted(Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist())]
        for Y in (errors.true, errors.predicted)
    )
    differ = [name for name in (*true, *predicted) if (name in true) != (name in predicted)]
    return Mistake(
        id=str(part.ids[i]),
        text=text if len(text) <= EXCERPT else f"{text[:EXCERPT].rsplit(' ', 1)[0]} ...",
        true=true,
        predicted=predicted,
        scores={name: float(scores[i, place[name]]) for name in differ if name in place},
        wrong=wrong,
        why=why,
    )
