"""Consistency repair: any decision, then made closed from the top down [Rousu2006].

Breadth-first from the roots, a node with a parent that is off after repair goes off, so a false
node takes everything below it along. `mode="up"` instead switches on what lies above a label.
"""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from sklearn.base import clone

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.nodes import NodeDecision
from linnaeus.decisions.threshold import Threshold, warn_of_probabilities
from linnaeus.errors import UserError
from linnaeus.inference import repair
from linnaeus.inference.rows import FloatArray
from linnaeus.taxonomy import Taxonomy


class TopDownConsistent(NodeDecision):
    """Another decision's label sets, repaired so that they are closed under "parent of".

    Parameters
    ----------
    decision : the inner decision, such as ``SCut()``; None takes scores above `threshold`
    threshold : for ``decision=None``
    mode : "down" switches off labels with a parent that is off (on a DAG: any parent);
        "up" switches on the ancestors of every label
    lift : "max" to make node scores of leaf scores, None to refuse them, "always" to lift even
        scores of all nodes, where they are of the nodes' own labels
    estimator, taxonomy, cv, random_state : see `Decision`

    Attributes
    ----------
    decision_ : the inner decision, fitted

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> TopDownConsistent(taxonomy=tax).decide([[1.0, 2.0, -1.0, 3.0]]).toarray().tolist()
    [[1, 1, 0, 0]]
    """

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        decision: Decision | None = None,
        threshold: float = 0.0,
        mode: str = "down",
        lift: str | None = "max",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.decision = decision
        self.threshold = threshold
        self.mode = mode
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
        decision: Any = self.decision  # as the caller gave it
        if decision is None:
            return Threshold(threshold=self.threshold)
        if not isinstance(decision, Decision) or isinstance(decision, NodeDecision):
            raise UserError(
                f"decision={decision!r} cannot be repaired. Use a decision that is not "
                f"closed already, such as Threshold(), RCut(), SCut() or InstanceCut()."
            )
        inner: Decision = clone(self.decision)
        return inner

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        self.decision_ = self._inner().fit_scores(scores, Y)

    def _decide_block(self, block: FloatArray) -> BoolArray:
        inner = self.decision_ if self._learns() else self._inner()
        on: BoolArray = repair(self._tax(), inner.decide(block), self.mode).toarray() > 0
        return on
