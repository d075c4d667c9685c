"""Hieron: the smallest change of weights that mends a mistake, over a taxonomy.

    minimise_w  1/2 ||w - w_old||^2   subject to   F(x, y) - F(x, z) >= sqrt(D(y, z))

y is the label and z a rival; D the loss between classes. [Dekel2004] in the form of [Cai2008]
(7.8), (7.9), with the signs put right; docs/maths/perceptron.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators._online import Online
from linnaeus.taxonomy import Taxonomy


class Hieron(Online):
    """Online learning of one label per sample, with margins that grow with the loss.

    Parameters
    ----------
    taxonomy : the taxonomy; None for its flat counterpart
    averaged : whether the rival is the class of the largest hinge, and the mean of the weights over
        all visits answers; else the rival is the top class, and the last weights answer
    loss, attributes, max_iter, shuffle, kernel, fit_intercept, intercept_scaling, dtype,
        random_state : as in `HierarchicalPerceptron`; margins are square roots of losses

    Attributes
    ----------
    coef_, intercept_, node_coef_, node_intercept_, dual_coef_, classes_, taxonomy_, n_iter_,
    n_steps_, n_updates_, converged_, trace_ : as in `HierarchicalPerceptron`

    Examples
    --------
    >>> from linnaeus import Hieron, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> Hieron(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    several = False

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        averaged: bool = True,
        loss: Any = None,
        attributes: Any = None,
        max_iter: int = 20,
        shuffle: bool = True,
        kernel: Any = "linear",
        *,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        dtype: Any = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.averaged = averaged
        self.loss = loss
        self.attributes = attributes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dtype = dtype
        self.random_state = random_state

    def _rule(self) -> str:
        return "hinge" if self.averaged else "top"

    def _averages(self) -> bool:
        return bool(self.averaged)

    def _check_labels(self, Y: sp.csr_array) -> None:
        count = np.diff(Y.indptr)
        if (count > 1).any():
            row = int(np.argmax(count > 1))
            raise UserError(
                f"Hieron takes one label per sample, but sample {row} has {count[row]}. "
                f"Use HierarchicalPerceptron for several."
            )

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        """The top class alone, also where it is answered as a label set."""
        return self._best_alone(scores)

    def _learn_sizes(self, X: Any, Y: sp.csr_array, seed: int) -> None:
        """Nothing to learn: there is always one."""
