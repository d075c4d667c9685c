"""Hieron: the smallest change of weights that mends a mistake, over a taxonomy.

    minimise_w  1/2 ||w - w_old||^2   subject to   F(x, y) - F(x, z) >= sqrt(D(y, z))

y is the label and z a rival; D the loss between classes. [Dekel2004] in the form of [Cai2008]
(7.8), (7.9), with the signs put right; docs/maths/perceptron.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators._online import Online
from linnaeus.parameters import FLAG, Limits, choice
from linnaeus.taxonomy import Taxonomy

RIVALS = {"hinge": "hinge", "predicted": "top"}  # and the rules of the solver


class Hieron(Online):
    """Online learning of one label per sample, with margins that grow with the loss.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for its flat counterpart.
    averaged : bool, default=True
        Whether the mean of the weights over all visits answers; else the last ones do.
    rival : {'hinge', 'predicted'}, default='hinge'
        The class that each sample is set against: the one whose margin lacks most, or the top
        class where it is wrong. The paper's online method is averaged=False, rival='predicted'.
    loss : str, ClassLoss, array-like of shape (n_classes, n_classes) or None, default=None
        What taking one class for another costs; margins are its square roots. 'half_distance',
        'zero_one', 'distance', 'normalized', `linnaeus.losses.volume(...)`, or a matrix in the
        order of `coef_names_`. The default, None, depends on the taxonomy: 'half_distance' with
        one, 'zero_one' without.
    attributes : str, callable, array-like of shape (n_classes, n_attributes) or None, default=None
        How classes share weights: 'depth' (None for trees), 'perclass' (None for DAGs), 'ones',
        'flat' (None without a taxonomy), a matrix, or a function of a node and a class below it.
    class_kernel : array-like of shape (n_classes, n_classes) or None, default=None
        Similarities of the classes in place of attributes, symmetric and positive semidefinite, in
        the order of `coef_names_`. When classes come in `partial_fit`, give it again for all of
        them; those of before must keep their similarities.
    max_iter : int, default=20
        Most passes; the default is low, since learning stops after a pass without a mistake and
        data are seldom separable. There is no warning: see `converged_`.
    shuffle : bool, default=True
        Whether every pass has a new random order.
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        A kernel of `linnaeus.kernels`, or any object with ``gram(A, B)``; 'precomputed' takes
        kernel matrices for X, (n, n) to fit and (n, n_fitted) to predict.
    fit_intercept : bool, default=False
        Whether to append a constant feature. The default is that of the paper, as for all kernel
        methods.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray or csr_array of shape (n_trained, n_features)
        Weights of the classes, made from those of the attributes when asked for; one row for two
        exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    node_coef_ : ndarray or csr_array of shape (n_attributes, n_features)
        Weights of the attributes.
    node_intercept_ : ndarray of shape (n_attributes,)
        What is added to the scores of the attributes.
    dual_coef_ : ndarray of shape (n_fitted, n_trained)
        With another kernel: scores are ``gram @ dual_coef_ + intercept_``.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Passes done.
    n_steps_ : int
        Visits of samples.
    n_updates_ : int
        Steps taken.
    converged_ : bool
        Whether the last pass was without a mistake.
    trace_ : list of dict
        Of each pass: seconds, updates, and the loss of the updates by the number of samples.
    targets_, shared_, weights_, sizes_ : object
        The state of learning; internal.

    Examples
    --------
    >>> from linnaeus import Hieron, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> Hieron(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    several = False
    limits = Limits(averaged=FLAG, rival=choice(*RIVALS))
    rival: str = "hinge"  # of models that were saved before there was a choice
    class_kernel: Any = None

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        averaged: bool = True,
        rival: str = "hinge",
        loss: Any = None,
        attributes: Any = None,
        class_kernel: Any = None,
        max_iter: int = 20,
        shuffle: bool = True,
        kernel: Any = "linear",
        *,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        dtype: Any = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.averaged = averaged
        self.rival = rival
        self.loss = loss
        self.attributes = attributes
        self.class_kernel = class_kernel
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dtype = dtype
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _rule(self) -> str:
        return RIVALS[self.rival]

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
