"""Instance-based cut-off: a threshold for each example, learned from the shape of its scores.

On held-out scores f, the target of example i is the centre of the widest interval of thresholds
with the fewest errors,

    theta_i in argmin_theta  #{n in Y_i: f_n < theta} + #{n not in Y_i: f_n >= theta},

see `cuts`. Ridge regression learns theta = v . phi(x) + v_0 (v_0 is not shrunk) from the features

    phi(x) = the q = min(K, 50) highest scores in order, their gaps, their mean and deviation;

then the labels with f_n >= theta are on, at least the top one. [GopalYang2015] section 5.2, gives
the name; the details are ours. Adding a constant to all scores changes no decision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.cuts import ideal_cuts
from linnaeus.errors import UserError
from linnaeus.inference.rows import FloatArray, row_blocks, top_scores, with_top
from linnaeus.parameters import NOT_NEGATIVE, Limits, choice
from linnaeus.taxonomy import Taxonomy

MOST_TOP, MOST_FULL = 50, 1000


class InstanceCut(Decision):
    """A learned threshold per example.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    features : {'top', 'full'}, default='top'
        The highest scores in order; or all scores in the order of the labels (up to 1,000 labels).
    alpha : float, default=1.0
        Strength of the ridge.
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_samples,)
        The ideal thresholds of the held-out rows.
    costs_ : ndarray of int of shape (n_samples,)
        The errors that they make.
    coef_, intercept_ : ndarray of shape (n_score_features,) and float
        The regression.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.
    """

    limits = Limits(features=choice("top", "full"), alpha=NOT_NEGATIVE)

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        features: str = "top",
        alpha: float = 1.0,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.features = features
        self.alpha = alpha
        self.cv = cv
        self.random_state = random_state

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        if self.features == "full" and scores.shape[1] > MOST_FULL:
            raise UserError(
                f"features='full' is for up to {MOST_FULL} labels, but there are "
                f"{scores.shape[1]}. Use features='top'."
            )
        self.thresholds_, _, self.costs_ = ideal_cuts(scores, Y, "widest")
        blocks = [self._phi(scores[at]) for at in row_blocks(*scores.shape)]
        ridge = Ridge(alpha=self.alpha).fit(np.vstack(blocks), self.thresholds_)
        self.coef_, self.intercept_ = ridge.coef_, float(ridge.intercept_)

    def _phi(self, block: FloatArray) -> FloatArray:
        """The features of a block of rows."""
        top = self.features == "top"
        s = (top_scores(block, MOST_TOP) if top else block).astype(np.float64)
        gaps = s[:, :-1] - s[:, 1:] if top else s[:, :0]
        return np.hstack([s, gaps, s.mean(axis=1, keepdims=True), s.std(axis=1, keepdims=True)])

    def predicted_thresholds(self, scores: Any) -> FloatArray:
        """The threshold of each row of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            A score for every sample and class.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        predicted: FloatArray = self._phi(np.asarray(scores)) @ self.coef_ + self.intercept_
        return predicted

    def _decide_block(self, block: FloatArray) -> BoolArray:
        return with_top(block >= self.predicted_thresholds(block)[:, None], block)
