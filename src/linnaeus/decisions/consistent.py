"""Consistency repair: any decision, then made closed from the top down [Rousu2006].

Breadth-first from the roots, a node with a parent that is off after repair goes off, so a false
node takes everything below it along. `mode="up"` instead switches on what lies above a label.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.nodes import NodeDecision
from linnaeus.decisions.threshold import Threshold, cut_off, warn_of_probabilities
from linnaeus.inference import repair
from linnaeus.inference.rows import FloatArray, top_mask
from linnaeus.parameters import FINITE, FLAG, NONE, Limits, choice, thing
from linnaeus.taxonomy import Taxonomy


def _can_be_repaired(value: Any) -> bool:
    return isinstance(value, Decision) and not isinstance(value, NodeDecision)


class TopDownConsistent(NodeDecision):
    """Another decision's label sets, repaired so that they are closed under "parent of".

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    decision : Decision or None, default=None
        The inner decision, such as ``SCut()``; None takes scores above `threshold`.
    threshold : float or None, default=None
        For decision=None; None for 0, or 0.5 where the estimator gives probabilities only.
    mode : {'down', 'up'}, default='down'
        'down' switches off labels with a parent that is off (on a DAG: any parent); 'up' switches
        on the ancestors of every label.
    at_least_one : bool, default=False
        Whether a row without labels gets the one with the highest score, and what is above it.
    lift : {'max', 'always'} or None, default='max'
        'max' to make node scores of leaf scores, None to refuse them, 'always' to lift even scores
        of all nodes, where they are of the nodes' own labels.
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    decision_ : Decision
        The inner decision, fitted.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> TopDownConsistent(taxonomy=tax).decide([[1.0, 2.0, -1.0, 3.0]]).toarray().tolist()
    [[1, 1, 0, 0]]
    """

    limits = Limits(
        decision=thing("a decision such as RCut()", _can_be_repaired) | NONE,
        threshold=FINITE | NONE,
        mode=choice("down", "up"),
        at_least_one=FLAG,
    )
    at_least_one: bool = False  # for rules that were saved before there was one

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        decision: Decision | None = None,
        threshold: float | None = None,
        mode: str = "down",
        at_least_one: bool = False,
        lift: str | None = "max",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.decision = decision
        self.threshold = threshold
        self.mode = mode
        self.at_least_one = at_least_one
        self.lift = lift
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        super().fit(X, y, **params)
        if self.decision is None:
            warn_of_probabilities(self)
        return self

    def _learns(self) -> bool:
        return self._inner()._learns()

    def _inner(self) -> Decision:
        if self.decision is None:
            return Threshold(threshold=cut_off(self))
        inner: Decision = clone(self.decision)
        return inner

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        self.decision_ = self._inner().fit_scores(scores, Y)

    def _decide_block(self, block: FloatArray) -> BoolArray:
        inner = self.decision_ if self._learns() else self._inner()
        on: BoolArray = repair(self._tax(), inner.decide(block), self.mode).toarray() > 0
        empty = np.flatnonzero(~on.any(axis=1))
        if self.at_least_one and empty.size:
            best = sp.csr_array(top_mask(block[empty], 1), dtype=np.int8)
            on[empty] = repair(self._tax(), best, "up").toarray() > 0
        return on
