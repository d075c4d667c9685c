"""The best closed label set: the sum of its scores, each lowered by a shift, is the largest.

    maximise  sum_{v in S} (g(f_v) - shift)   subject to   v in S  =>  every parent of v in S

g is the identity for margins; probabilities p become p - 1/2, so that the set is the closed one
with the fewest expected wrong labels (up to the independence of nodes), or log(p / (1 - p)), so
that it is the most probable one. Trees are solved by dynamic programming, DAGs by a minimum cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray
from linnaeus.decisions.nodes import NodeDecision
from linnaeus.errors import UserError
from linnaeus.inference import closed_argmax
from linnaeus.inference.rows import FloatArray, row_blocks
from linnaeus.parameters import FINITE, FLAG, NONE, Limits, choice
from linnaeus.taxonomy import Taxonomy

N_SHIFTS = 21


class ClosedArgmax(NodeDecision):
    """The closed label set with the largest sum of scores.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    shift : float or 'fit', default=0.0
        Taken off every score. 'fit': the best micro-F1 on held-out scores among 0 and the 0%, 5%,
        ..., 100% quantiles of the scores of true labels.
    transform : {'auto', 'half', 'logit'} or None, default='auto'
        'half', p - 1/2; 'logit', log(p / (1 - p)); 'auto', 'half' where the estimator gives
        probabilities only, else None.
    nonempty : bool, default=False
        Whether every row gets at least one label.
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
    shift_ : float
        What is taken off, after `fit` with ``shift="fit"``.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> ClosedArgmax(taxonomy=tax).decide([[1.0, 2.0, -1.0, 3.0]]).toarray().tolist()
    [[1, 1, 1, 1]]
    """

    limits = Limits(
        shift=FINITE | choice("fit"),
        transform=choice("auto", "half", "logit") | NONE,
        nonempty=FLAG,
    )

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        shift: float | str = 0.0,
        transform: str | None = "auto",
        nonempty: bool = False,
        lift: str | None = "max",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.shift = shift
        self.transform = transform
        self.nonempty = nonempty
        self.lift = lift
        self.cv = cv
        self.random_state = random_state

    def _learns(self) -> bool:
        return self.shift == "fit"

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        true_scores = self._transformed(scores[row, Y.indices])
        candidates = np.zeros(1)
        if true_scores.size:
            quantiles = np.quantile(true_scores, np.linspace(0, 1, N_SHIFTS))
            candidates = np.unique([0.0, *quantiles])
        f1 = [self._micro_f1(scores, Y, shift) for shift in candidates]
        self.shift_ = float(candidates[int(np.argmax(f1))])

    def _micro_f1(self, scores: FloatArray, Y: sp.csr_array, shift: float) -> float:
        right, taken = 0, 0
        for at in row_blocks(*scores.shape):
            Z = self._best(scores[at], shift)
            right += int(Z.multiply(Y[at]).sum())
            taken += Z.nnz
        return 2.0 * right / float(max(taken + Y.nnz, 1))

    def _transformed(self, scores: FloatArray) -> FloatArray:
        transform = self.transform
        if transform == "auto":
            only_proba = getattr(self, "score_method_", None) == "predict_proba"
            transform = "half" if only_proba else None
        if transform is None:
            return scores
        if scores.size and not 0 <= scores.min() <= scores.max() <= 1:
            raise UserError(
                f"transform={transform!r} is for probabilities, but the scores reach from "
                f"{scores.min():.4g} to {scores.max():.4g}. Use transform=None."
            )
        if transform == "half":
            return scores - 0.5
        p = np.clip(scores.astype(np.float64), 1e-12, 1 - 1e-12)
        return np.log(p) - np.log1p(-p)

    def _best(self, scores: FloatArray, shift: float) -> sp.csr_array:
        return closed_argmax(self._tax(), self._transformed(scores) - shift, self.nonempty)[0]

    def _decide_block(self, block: FloatArray) -> BoolArray:
        shift = self.shift_ if self._learns() else float(self.shift)
        on: BoolArray = self._best(block, shift).toarray() > 0
        return on
