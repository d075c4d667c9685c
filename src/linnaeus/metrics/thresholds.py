"""Counts of closed label sets at many thresholds at once.

With a threshold t the label set of a row is {v: s_v >= t}, where the score s_v of a node is the
highest at or below it, so that the sets are closed upwards. For the counts at all thresholds
t_1 < ... < t_m together, every score is placed among them once: with h_k scores in [t_k, t_k+1),

    predicted(t_k) = h_k + h_k+1 + ... + h_m,    and likewise for the scores of true labels.

The best F1 lies at the score of a true label, so those (or many quantiles of them) are tried. A
label is a most specific one from the highest score below the node (not included) to its own, so
their number is that of all labels less that of the inner nodes' highest scores below. Rows are
taken block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import lift
from linnaeus.inference.rows import as_matrix, finite_blocks
from linnaeus.labels import parse
from linnaeus.metrics.counts import Counts
from linnaeus.metrics.inputs import named_columns, needed
from linnaeus.taxonomy import Taxonomy

TRIED = 4096  # thresholds at which F1 is computed


class ScoredNodes(NamedTuple):
    """Scores and closed truth over the nodes."""

    taxonomy: Taxonomy
    true: sp.csr_array
    scores: np.ndarray
    columns: np.ndarray  # the node of each column
    lifted: bool

    @classmethod
    def of(
        cls, taxonomy: Taxonomy, Y_true: Any, scores: Any, classes: Any, lifted: bool | None
    ) -> ScoredNodes:
        given = parse(Y_true, needed(taxonomy, "sweep"))
        S, names = named_columns(given, scores, taxonomy, classes)
        S, true = as_matrix(S), taxonomy.closure(taxonomy.encode(given))
        if true.shape[0] != S.shape[0] or not S.size:
            raise UserError(
                f"Y_true has {true.shape[0]} rows, and the scores have the shape {S.shape}. "
                f"Give one row of scores for every row of labels, and at least one of each."
            )
        columns = taxonomy.numbers(names)
        every = np.unique(columns).size == len(taxonomy)
        if lifted is False and not every:
            raise UserError(
                f"lifted=False needs a score for each of the {len(taxonomy)} nodes, but only "
                f"{S.shape[1]} are scored. Use lifted=True."
            )
        return cls(taxonomy, true, S, columns, not every if lifted is None else lifted)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Rows, their node scores, and for each inner node the highest score below it."""
        dag = self.taxonomy.dag
        inner = np.flatnonzero(self.taxonomy.n_children)
        for rows, block in finite_blocks(self.scores):
            full = lift(self.taxonomy, block, self.columns)
            below = np.zeros((len(block), 0))
            if inner.size:
                below = np.maximum.reduceat(full[:, dag.children], dag.child_ptr[inner], axis=1)
            if not self.lifted:
                full = np.asarray(block, dtype=np.float64)[:, np.argsort(self.columns)]
                below = np.minimum(below, full[:, inner])
            yield rows, full, below

    def of_true(self, rows: slice, full: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the true labels of a block, and their nodes."""
        part = self.true[rows]
        row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        return full[row, part.indices], part.indices


class ThresholdCounts(NamedTuple):
    """Counts at every threshold tried."""

    parts: list[Counts]  # overall, then of each depth
    specific: np.ndarray  # the most specific labels
    filled: np.ndarray  # rows with a label


def tried_thresholds(given: ScoredNodes, points: int) -> np.ndarray:
    """Distinct scores of true labels, ascending: all, or quantiles overall and of each depth."""
    found = [given.of_true(rows, full) for rows, full, _ in given.blocks()]
    scores, nodes = (np.concatenate(part) for part in zip(*found, strict=True))
    if not scores.size:
        return np.unique(np.quantile(given.scores, np.linspace(0, 1, points), method="lower"))
    distinct = np.unique(scores)
    if distinct.size <= TRIED:
        return distinct
    depth = given.taxonomy.depth[nodes]
    parts = [scores, *(scores[depth == d] for d in np.unique(depth))]
    share = np.linspace(0, 1, max(TRIED // len(parts), points))
    return np.unique(np.concatenate([np.quantile(s, share, method="lower") for s in parts]))


def counts_at(given: ScoredNodes, tried: np.ndarray) -> ThresholdCounts:
    tax, n = given.taxonomy, tried.size + 1
    n_depths = len(tax.level_numbers)
    said, found = np.zeros((n_depths, n), np.int64), np.zeros((n_depths, n), np.int64)
    below, filled = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for rows, full, lower in given.blocks():
        place = _placed(tried, full)
        for d, nodes in enumerate(tax.level_numbers):
            said[d] += np.bincount(place[:, nodes].ravel(), minlength=n)
        true, nodes = given.of_true(rows, full)
        at = tax.depth[nodes] * n + _placed(tried, true)
        found += np.bincount(at, minlength=n_depths * n).reshape(n_depths, n)
        below += np.bincount(_placed(tried, lower).ravel(), minlength=n)
        filled += np.bincount(place.max(axis=1), minlength=n)
    said, found, below, filled = (_from_above(h) for h in (said, found, below, filled))
    support = np.bincount(tax.depth[given.true.indices], minlength=n_depths)[:, None]
    each = [Counts(found[d], said[d] - found[d], support[d] - found[d]) for d in range(n_depths)]
    whole = Counts(*(np.sum(parts, axis=0) for parts in zip(*each, strict=True)))
    return ThresholdCounts([whole, *each], said.sum(axis=0) - below, filled)


def _placed(tried: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """How many thresholds each score reaches."""
    return np.searchsorted(tried, scores, side="right")


def _from_above(histogram: np.ndarray) -> np.ndarray:
    """How many scores reach each threshold."""
    reached = np.cumsum(histogram[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(reached[..., 1:])


def shown_thresholds(tp: np.ndarray, points: int, best: int) -> list[int]:
    """Thresholds spread evenly over recall, the best one among them."""
    if tp[0] == tp[-1]:  # recall says nothing
        return sorted({best, *np.linspace(0, tp.size - 1, points).astype(int).tolist()})
    wanted = tp[-1] + (tp[0] - tp[-1]) * np.linspace(0, 1, points)
    shown = sorted(set(np.abs(tp[:, None] - wanted).argmin(axis=0).tolist()))
    if best not in shown:
        inside = shown[1:-1] or shown  # the ends stay
        shown[shown.index(min(inside, key=lambda k: abs(k - best)))] = best
    return sorted(shown)
