"""Set size: a threshold for each example, linear in its scores [ElisseeffWeston2001].

The target of training example i is the midpoint of the lowest interval of thresholds t with the
fewest errors, see `cuts`,

    t_i in argmin_t  #{y in Y_i: F(x, y) <= t} + #{y not in Y_i: F(x, y) >= t}.

Least squares (the solution of least norm) gives t(x) = <beta, (F(x, 1), ..., F(x, q))> + beta_0;
the labels with F(x, y) > t(x) are on, or the top label if there is none; [Cai2008] section 4.2.1.
For many labels the k highest scores in order stand for the score vector. The alternative
`mode="size"` learns |Y_i| in the same way and takes as many of the highest scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.cuts import ideal_cuts
from linnaeus.inference.rows import FloatArray, row_blocks, top_columns, top_scores, with_top
from linnaeus.parameters import COUNT, NONE, Limits, choice
from linnaeus.taxonomy import Taxonomy


class SetSize(Decision):
    """A threshold (or a number of labels) per example, by least squares on its scores.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    mode : {'threshold', 'size'}, default='threshold'
        Whether to predict a threshold or the number of labels.
    top_k : int or None, default=None
        None uses the score vector; a number, that many highest scores in order.
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_samples,)
        The ideal thresholds of the held-out rows (mode "size": numbers of labels).
    costs_ : ndarray of int of shape (n_samples,)
        The errors that the ideal thresholds make (mode "threshold").
    coef_, intercept_ : ndarray of shape (n_score_features,) and float
        The regression.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.
    """

    limits = Limits(mode=choice("threshold", "size"), top_k=COUNT | NONE)

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        mode: str = "threshold",
        top_k: int | None = None,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.mode = mode
        self.top_k = top_k
        self.cv = cv
        self.random_state = random_state

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        if self.mode == "threshold":
            self.thresholds_, _, self.costs_ = ideal_cuts(scores, Y, "lowest")
        else:
            self.thresholds_ = np.diff(Y.indptr).astype(np.float64)
        features = np.vstack([self._features(scores[at]) for at in row_blocks(*scores.shape)])
        A = np.hstack([features, np.ones((len(features), 1))])
        beta = np.linalg.lstsq(A, self.thresholds_, rcond=None)[0]
        self.coef_, self.intercept_ = beta[:-1], float(beta[-1])

    def _features(self, block: FloatArray) -> FloatArray:
        s = block if self.top_k is None else top_scores(block, self.top_k)
        return s.astype(np.float64)

    def predicted_thresholds(self, scores: Any) -> FloatArray:
        """The threshold (mode "size": the number of labels, unrounded) of each row of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            A score for every sample and class.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        predicted: FloatArray = self._features(np.asarray(scores)) @ self.coef_ + self.intercept_
        return predicted

    def _decide_block(self, block: FloatArray) -> BoolArray:
        predicted = self.predicted_thresholds(block)[:, None]
        if self.mode == "threshold":
            return with_top(block > predicted, block)
        size = np.clip(np.rint(predicted), 1, block.shape[1])
        columns = top_columns(block, int(size.max(initial=1)))
        on = np.zeros(block.shape, dtype=bool)
        np.put_along_axis(on, columns, np.arange(columns.shape[1]) < size, axis=1)
        return on
