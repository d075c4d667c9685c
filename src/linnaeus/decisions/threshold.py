"""Zero cut-off and its like: the labels whose scores lie above a constant [GopalYang2015]."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.errors import UserError
from linnaeus.inference.rows import FloatArray, with_top
from linnaeus.parameters import FINITE, FLAG, NONE, ROW, Limits
from linnaeus.taxonomy import Taxonomy


class Threshold(Decision):
    """The labels whose scores are greater than a constant.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    threshold : float, array-like of shape (n_classes,) or None, default=None
        The constant, or one per label; None for 0, or 0.5 where the estimator gives probabilities
        only.
    at_least_one : bool, default=False
        Whether a row without labels gets the one with the highest score.
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.

    Examples
    --------
    >>> Threshold(threshold=0.5).decide([[0.1, 0.7, 0.6]]).toarray().tolist()
    [[0, 1, 1]]
    """

    limits = Limits(threshold=FINITE | ROW | NONE, at_least_one=FLAG)

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        threshold: Any = None,
        at_least_one: bool = False,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.threshold = threshold
        self.at_least_one = at_least_one
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        super().fit(X, y, **params)
        warn_of_probabilities(self)
        return self

    def _learns(self) -> bool:
        return False

    def _decide_block(self, block: FloatArray) -> BoolArray:
        threshold = np.asarray(cut_off(self), dtype=float)
        if threshold.ndim > 1 or threshold.size not in (1, block.shape[1]):
            raise UserError(
                f"threshold has the shape {threshold.shape}, but there are {block.shape[1]} "
                f"labels. Give a number, or one number per label."
            )
        on = block > threshold
        return with_top(on, block) if self.at_least_one else on


def cut_off(decision: Any) -> Any:
    """The threshold of a decision: as given, or the one that suits the scores."""
    if decision.threshold is not None:
        return decision.threshold
    return 0.5 if getattr(decision, "score_method_", None) == "predict_proba" else 0.0


def warn_of_probabilities(decision: Any) -> None:
    """Say so when a threshold made for margins meets probabilities, which are never below 0."""
    if decision.score_method_ == "predict_proba" and np.all(np.asarray(cut_off(decision)) <= 0):
        warnings.warn(
            f"{type(decision.estimator).__name__} gives probabilities, of which a threshold of "
            f"{decision.threshold} takes almost all. Use threshold=0.5.",
            stacklevel=3,
        )
