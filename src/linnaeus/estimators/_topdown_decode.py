"""From local scores to paths, probabilities and label sets, for a block of rows.

With a local score s and a slope a the children of one node have the log scores

    log sigma(a s_c)                       where an example may have several labels,
    a s_c - log sum_{c'} exp(a s_c')       where the children exclude each other,

whose sums along a path are log P(node). At the roots the sum over siblings is taken out of the
score of a path and kept apart, as log Z: with one level a score is the local score itself.

Where predictions stop: thresholds with the best hierarchical F1 of out-of-fold predictions.

    maximise_theta  F1 = 2 |found & true| / (|found| + |true|),   of closed label sets, pooled

First one threshold for all levels; then, if asked, one level at a time, the others fixed, until no
change helps. Every change raises F1, so that levels are never worse than one threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from linnaeus.estimators._topdown_local import Scorer
from linnaeus.inference import paths
from linnaeus.taxonomy import Taxonomy


class Decoder(NamedTuple):
    """How to go down: the taxonomy with misc leaves, and the rules."""

    taxonomy: Taxonomy
    fam: paths.Families
    slope: float
    exclusive: bool  # the children of a node exclude each other
    one: bool  # one label per row

    def ways(self, scorer: Scorer, n_rows: int, decode: str, beam: int) -> paths.Ways:
        """Scores of the nodes on the way, before the division by Z."""

        def expand(f: int, rows: Any) -> np.ndarray:
            s = self.slope * scorer(f, rows).astype(np.float64)
            if not self.exclusive:
                return -np.logaddexp(0.0, -s)
            return s if f == 0 else s - logsumexp(s, axis=1, keepdims=True)

        match decode:
            case "greedy" | "signs":
                several = not self.exclusive
                return paths.greedy(self.fam, n_rows, expand, several, least=decode == "greedy")
            case "beam":
                return paths.beam(self.fam, n_rows, expand, beam)
            case _:
                return paths.all_paths(self.fam, n_rows, expand, total=self.exclusive)

    def seen(self, X: Any, local: paths.Local, beam: int) -> paths.Seen:
        """What a beam over linear models sees, before the division by Z."""
        rows = sp.csr_array(X)
        how = self.slope, self.exclusive, beam
        return paths.linear_beam(self.taxonomy, self.fam, rows, local, *how)

    def best_seen(self, seen: paths.Seen, leaves: np.ndarray) -> np.ndarray:
        """The place in `leaves` of the best one of each row, (m,); see `best`."""
        n_nodes = self.fam.n_nodes
        found = seen.best(leaves, n_nodes, 1)[0][:, 0]
        if (found >= 0).all():
            return found
        return self.best(seen.ways(n_nodes), leaves)

    def top_seen(self, seen: paths.Seen, leaves: np.ndarray, k: int) -> tuple[Any, np.ndarray]:
        """The k best of the leaves that were seen, -1 where there are fewer; their log P."""
        best, value = seen.best(leaves, self.fam.n_nodes, k)
        if self.exclusive:
            roots = seen.first(self.fam.children(0).size)
            value = value - logsumexp(roots, axis=1, keepdims=True)
        return np.append(leaves, -1)[best], value

    def probabilities(self, ways: paths.Ways) -> np.ndarray:
        """P of every node, (n_nodes, m); 0 where the search has not looked."""
        return np.asarray(np.exp(ways.score - self.log_z(ways)))

    def log_z(self, ways: paths.Ways) -> np.ndarray:
        """log Z of every row, 0 where labels do not exclude each other."""
        if not self.exclusive:
            return np.zeros(ways.score.shape[1])
        return np.asarray(logsumexp(ways.score[self.fam.children(0)], axis=0))

    def decision(self, ways: paths.Ways, leaves: np.ndarray) -> np.ndarray:
        """Scores (m, n_leaves), in the units of the local scores.

        Where children exclude each other, (log P + log Z) / a; else the log odds of P over a, which
        are positive when P > 1/2.
        """
        score = paths.leaf_scores(self.taxonomy, ways, leaves)
        if not self.exclusive:
            rest = np.maximum(-np.expm1(score), np.finfo(float).tiny)
            score = score - np.log(rest)
        return np.ascontiguousarray(score.T) / self.slope

    def best(self, ways: paths.Ways, leaves: np.ndarray) -> np.ndarray:
        """The place in `leaves` of the best one of each row, (m,): of those reached, if any is."""
        reached = ways.score[leaves]
        if ways.taken is not None:
            reached = np.where(ways.taken[leaves], reached, -np.inf)
        found = np.asarray(reached.argmax(axis=0))
        none = np.flatnonzero(~np.isfinite(reached).any(axis=0))
        if none.size:
            found[none] = self.decision(ways, leaves)[none].argmax(axis=1)
        return found

    def leaf_sets(self, ways: paths.Ways, leaves: np.ndarray) -> sp.csr_array:
        """Label sets over the leaves: where `greedy` went, or P > 1/2."""
        on = self.probabilities(ways) > 0.5 if ways.taken is None else ways.taken
        return sp.csr_array(on[leaves].T, dtype=np.int8)

    def taken_sets(self, ways: paths.Ways) -> sp.csr_array:
        """Closed label sets over the nodes: where a greedy search went."""
        return sp.csr_array(np.asarray(ways.taken).T, dtype=np.int8)

    def offers(self, ways: paths.Ways, leaves: np.ndarray, least: float) -> sp.csr_array:
        """The probabilities of the nodes that may be answers, (m, n_nodes).

        With one label these are the nodes on the way to the best leaf; else those where `greedy`
        went, or those with P >= least, and the best root.
        """
        P = self.probabilities(ways)
        if self.one:
            return paths.along(self.taxonomy, P, leaves[self.best(ways, leaves)])
        on = ways.taken
        if on is None:
            roots, on = self.taxonomy.root_numbers, least <= P
            on[roots[P[roots].argmax(axis=0)], np.arange(P.shape[1])] = True
        row, node = on.T.nonzero()
        ptr = np.concatenate([[0], np.cumsum(on.sum(axis=0))])
        return sp.csr_array((P[node, row], node, ptr), shape=(P.shape[1], P.shape[0]))

    def stopped(self, offered: sp.csr_array, least: np.ndarray) -> np.ndarray:
        """The node at which each row of one label stops; `least` holds the least P of each node."""
        return paths.back_off(self.taxonomy, offered, least)

    def partial_sets(self, offered: sp.csr_array, least: np.ndarray) -> sp.csr_array:
        """Closed label sets over the nodes, at least one root."""
        if self.one:
            nodes = self.stopped(offered, least)
            return sp.csr_array(self.taxonomy.ancestor_matrix[nodes], dtype=np.int8)
        on = paths.reached(self.taxonomy, offered, least, every=True)
        on.data = np.ones(on.nnz, dtype=np.int8)
        return on


# -- where predictions stop -----------------------------------------------------------------------


THRESHOLDS = (1e-9, *np.linspace(0.05, 0.95, 19).round(2).tolist())
ROUNDS = 5  # over all levels at most


class Held(NamedTuple):
    """Predictions for examples that their models have not seen."""

    decoder: Decoder
    offered: sp.csr_array  # (n, n_nodes) probabilities of possible answers
    true: sp.csr_array  # (n, n_nodes) 0/1 closed label sets
    real: np.ndarray  # (n_nodes,) bool, nodes that count: not misc

    def f1(self, level: np.ndarray) -> float:
        """The hierarchical F1 with these thresholds of the levels."""
        found = self.decoder.partial_sets(self.offered, level[self.decoder.taxonomy.depth])
        right = found.multiply(self.true).tocsr()
        n_right, n_found, n_true = (
            int(self.real[Y.indices].sum()) for Y in (right, found, self.true)
        )
        return 2 * n_right / max(1, n_found + n_true)


def candidates(decoder: Decoder, decode: str) -> Sequence[float]:
    """The thresholds to try; 10^-9 takes all that is offered, which must then be few."""
    return THRESHOLDS if decoder.one or decode == "greedy" else THRESHOLDS[1:]


def one_threshold(held: Held, values: Sequence[float]) -> tuple[float, float]:
    """The threshold with the largest F1, the lowest of equal ones; and that F1."""
    n_levels = int(held.decoder.taxonomy.depth.max()) + 1
    f1 = [held.f1(np.full(n_levels, value)) for value in values]
    at = int(np.argmax(f1))
    return values[at], f1[at]


def level_thresholds(
    held: Held, values: Sequence[float], start: float, f1: float
) -> tuple[np.ndarray, float]:
    """A threshold for each level, from `start` at all of them with its `f1`; and their F1."""
    level = np.full(int(held.decoder.taxonomy.depth.max()) + 1, start)
    for _ in range(ROUNDS):
        before = f1
        for d in range(level.size):
            for value in values:
                other = level.copy()
                other[d] = value
                reached = held.f1(other)
                if reached > f1:
                    level, f1 = other, reached
        if f1 == before:
            break
    return level, f1
