"""One label: the one with the highest score, ties to the lower column."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.errors import UserError
from linnaeus.inference.rows import FloatArray, top_mask
from linnaeus.parameters import Limits, choice
from linnaeus.taxonomy import Taxonomy


class Argmax(Decision):
    """The label with the highest score.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    among : {'all', 'leaves'}, default='all'
        Which labels can win.
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
    >>> Argmax().decide([[0.1, 0.7, 0.2]]).toarray().tolist()
    [[0, 1, 0]]
    """

    limits = Limits(among=choice("all", "leaves"))

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        among: str = "all",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.among = among
        self.cv = cv
        self.random_state = random_state

    def _learns(self) -> bool:
        return False

    def _decide_block(self, block: FloatArray) -> BoolArray:
        if self.among == "all":
            return top_mask(block, 1)
        taxonomy = self._known()
        if taxonomy is None:
            raise UserError("Argmax(among='leaves') needs a taxonomy. Give taxonomy=...")
        leaves = set(taxonomy.leaves)
        columns = np.array([j for j, name in enumerate(self.names_) if name in leaves], dtype=int)
        on = np.zeros(block.shape, dtype=bool)
        on[:, columns] = top_mask(block[:, columns], 1)
        return on
