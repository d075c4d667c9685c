"""From local scores to paths, probabilities and label sets, for a block of rows.

With a local score s and a slope a the children of one node have the log scores

    log sigma(a s_c)                       where an example may have several labels,
    a s_c - log sum_{c'} exp(a s_c')       where the children exclude each other,

whose sums along a path are log P(node). At the roots the sum over siblings is taken out of the
score of a path and kept apart, as log Z: with one level a score is the local score itself.
"""

from __future__ import annotations

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
