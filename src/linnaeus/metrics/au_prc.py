"""The area under the precision-recall curve of nodes, as hierarchical classification reports it.

Labels are closed upwards, and scores too: a node takes the largest at or below it. With a threshold
t a node is predicted where its score is at least t; over the distinct thresholds t_1 > t_2 > ...

    AU(PRC) = sum_n (R_n - R_(n-1)) P_n,        P_n, R_n: precision and recall at t_n,

the step-wise sum that scikit-learn calls average precision, ties in score counting together.

    pooled    one curve of all nodes together: the literature's AU(PRC)
    mean      the mean over the nodes that are true somewhere: AUPRC-mean
    weighted  the same, weighted by how often each is true: AUPRC-weighted   [VensEtAl2008]

Recall rises at the scores of true labels only, so it is enough to count how many scores reach each
of those: rows pass by twice, block by block, and nothing of the size of all scores is kept. Sparse
scores may hold the best of every row: what is absent has -inf, is retrieved last and all at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import lift_fast
from linnaeus.metrics import au_prc_fast as fast
from linnaeus.metrics.blocks import Entries, entries, score_blocks
from linnaeus.metrics.inputs import needed, same_rows, score_columns, score_matrix
from linnaeus.metrics.ranking import Names
from linnaeus.taxonomy import Taxonomy

AVERAGES = ("pooled", "mean", "weighted")
# The tops of the gene ontology, which all genes have, as benchmarks and as the ontology write them
ONTOLOGIES = {f"GO{colon}{n}" for n in ("0003674", "0005575", "0008150") for colon in ("", ":")}


def au_prc(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy,
    average: str = "pooled",
    roots: bool = True,
    *,
    classes: Names = None,
) -> float:
    """The area under the precision-recall curve, over all nodes.

    Parameters
    ----------
    Y_true : label sets in any form; they are closed upwards
    scores : (n_rows, n_classes), dense or sparse, a column per leaf or per node, or per name in
        `classes`; they are closed upwards by the maximum
    average : "pooled", "mean" or "weighted", see above; nodes that are never true are left out of
        the means
    roots : False leaves the roots out

    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> round(au_prc(["cat", "dog", "oak"], [[2, -1, 0], [1, 2, 0], [0, 0, 1.0]], tax), 4)
    0.95
    """
    if average not in AVERAGES:
        raise UserError(f"average={average!r} is not known. Use one of: {', '.join(AVERAGES)}.")
    given = ScoredRows.of(Y_true, scores, needed(taxonomy, "au_prc"), classes)
    used = np.ones(len(taxonomy), dtype=bool)
    used[taxonomy.root_numbers] = roots
    return given.area(used, average)


def counted(taxonomy: Taxonomy) -> np.ndarray:
    """The nodes that the literature counts: without tops of ontologies, and a top called root."""
    tops = set(taxonomy.roots)
    return np.array(
        [
            name not in ONTOLOGIES and not (name in tops and str(name).casefold() == "root")
            for name in taxonomy.nodes
        ]
    )


class Curves(NamedTuple):
    """Counts at the distinct scores of true labels, the thresholds, of some groups of nodes."""

    start: np.ndarray  # (n_groups + 1,) where the thresholds of each group begin
    cuts: np.ndarray  # the thresholds, ascending in each group
    true: np.ndarray  # how many true labels have this score
    reached: np.ndarray  # how many scores reach it, but not the next one

    def areas(self) -> np.ndarray:
        """The area of each group, 0 for one without thresholds."""
        group = np.repeat(np.arange(self.start.size - 1), np.diff(self.start))
        tp, n = (_from_above(values, self.start, group) for values in (self.true, self.reached))
        steps = self.true * tp / np.maximum(n, 1)
        support = np.bincount(group, self.true, minlength=self.start.size - 1)
        area = np.bincount(group, steps, minlength=support.size)
        return np.asarray(area / np.maximum(support, 1))


class ScoredRows(NamedTuple):
    """The closed truth, and scores of nodes."""

    taxonomy: Taxonomy
    true: sp.csr_array
    scores: Any  # dense or CSR
    columns: np.ndarray  # the node of each column

    @classmethod
    def of(cls, Y_true: Any, scores: Any, taxonomy: Taxonomy, classes: Names) -> ScoredRows:
        S = score_matrix(scores)
        true = same_rows(taxonomy.closure(taxonomy.encode(Y_true)).sorted_indices(), S)
        return cls(taxonomy, true, S, score_columns(taxonomy, S.shape[1], classes))

    def area(self, used: np.ndarray, average: str = "pooled") -> float:
        """The area over some nodes."""
        support = np.bincount(self.true.indices, minlength=used.size) * used
        if not support.any():
            warnings.warn(
                "No row has a label among the nodes that are counted, so the area under the "
                "precision-recall curve is NaN. Check labels and taxonomy.",
                stacklevel=3,
            )
            return float("nan")
        if average == "pooled":
            return float(self._curves(np.where(used, 0, -1)).areas()[0])
        nodes = np.flatnonzero(support)
        group = np.full(used.size, -1)
        group[nodes] = np.arange(nodes.size)
        areas = self._curves(group).areas()
        return float(np.average(areas, weights=support[nodes] if average == "weighted" else None))

    def _curves(self, group: np.ndarray) -> Curves:
        """Counts of groups of nodes."""
        start, cuts, true = _thresholds(group[self.true.indices], self._own(), group.max() + 1)
        reached = np.zeros(cuts.size, dtype=np.int64)
        work = np.full(group.size, -np.inf)
        for _, scores, above in self._blocks():
            fast.count_between(*scores, *above, group, start, cuts, work, reached)
        lowest = start[:-1]
        cells = self.true.shape[0] * np.bincount(group[group >= 0], minlength=lowest.size)
        below = cells - np.add.reduceat(reached, lowest)
        reached[lowest] += np.where(cuts[lowest] == -np.inf, below, 0)
        return Curves(start, cuts, true, reached)

    def _own(self) -> np.ndarray:
        """The closed scores of all true labels."""
        found = np.empty(self.true.indices.size)
        work = np.full(len(self.taxonomy), -np.inf)
        for rows, scores, above in self._blocks():
            ptr, labels, _ = entries(self.true[rows])
            own = np.empty(labels.size)
            fast.scores_of_labels(*scores, *above, ptr, labels, work, own)
            begin = self.true.indptr[rows[0]]
            found[begin : begin + own.size] = own
        return found

    def _blocks(self) -> Iterator[tuple[np.ndarray, Entries, tuple[np.ndarray, np.ndarray]]]:
        """Rows, their scores, and the nodes that each column of these stands for."""
        rows, tax = np.arange(self.true.shape[0]), self.taxonomy
        above = entries(tax.ancestor_rows(self.columns))[:2]
        if sp.issparse(self.scores):
            for part, scores in score_blocks(self.scores, rows):
                yield part, scores, above
            return
        itself = np.arange(len(tax) + 1, dtype=np.int64), np.arange(len(tax), dtype=np.int32)
        for part, scores in score_blocks(self.scores, rows):
            full = np.full((part.size, len(tax)), -np.inf)
            full[:, self.columns] = scores.values.reshape(part.size, -1)
            lift_fast.lift_rows(tax.dag.parent_ptr, tax.dag.parents, full)
            yield part, entries(full), itself


def _thresholds(
    group: np.ndarray, scores: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct scores of each group, ascending: where they begin, they, how often each is."""
    kept = group >= 0
    group, scores = group[kept], scores[kept]
    order = np.lexsort((scores, group))
    group, scores = group[order], scores[order]
    new = np.ones(scores.size, dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(new)
    start = np.searchsorted(group[first], np.arange(n_groups + 1))
    return start.astype(np.int64), scores[first], np.diff(np.append(first, scores.size))


def _from_above(values: np.ndarray, start: np.ndarray, group: np.ndarray) -> np.ndarray:
    """In each group, the sums of a value and all that follow it."""
    total = np.append(np.cumsum(values[::-1])[::-1], 0)
    return np.asarray(total[:-1] - total[start[group + 1]])
