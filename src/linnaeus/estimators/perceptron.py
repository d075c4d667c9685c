"""Perceptrons over a taxonomy: a mistake moves the nodes above one of two classes, not of both.

    y = lowest-scored label, z = highest-scored other class; if F(x, y) <= F(x, z):
    w_v <- w_v + D(y, z) (l_v(y) - l_v(z)) x

D is the loss between classes, l are class attributes; [Cai2008] chapter 5,
docs/maths/perceptron.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.estimators._online import Online
from linnaeus.parameters import FINITE, FLAG, Limits, choice
from linnaeus.solvers.online import perceptron
from linnaeus.solvers.online.perceptron import OnlineProblem, PerceptronRun
from linnaeus.solvers.online.perceptron_weights import Weights
from linnaeus.taxonomy import Taxonomy

VARIANTS = ("averaged", "online", "minover")


class HierarchicalPerceptron(Online):
    """A Perceptron whose classes share weights through the nodes above them.

    Rows without a label, and rows with all, are left out in training.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for the flat Perceptron.
    variant : {'averaged', 'online', 'minover'}, default='averaged'
        'averaged' answers by the mean of the weights over all visits, 'online' by the last ones;
        'minover' repairs the smallest margin of all samples at every step.
    loss : str, ClassLoss, array-like of shape (n_classes, n_classes) or None, default=None
        What taking one class for another costs, the size of a step: 'half_distance', 'zero_one',
        'distance', 'normalized', `linnaeus.losses.volume(...)`, or a matrix in the order of
        `coef_names_`. The default, None, depends on the taxonomy: 'half_distance' with one,
        'zero_one' without.
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
    margin : float, default=0.0
        'minover' goes on until all margins are above this.
    deduplicate : bool, default=False
        Whether 'minover' keeps one of each set of equal inputs, drawn at random if `shuffle`, else
        the first. Equal inputs with different labels would hold it up for ever.
    fit_intercept : bool, default=False
        Whether to append a constant feature. The default is that of the thesis, as for all kernel
        methods.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no class scores above its
        threshold: 'best', its best label, if every training sample had one; 'none', no label.
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
        Weights of the attributes: for all schemes but 'flat' and matrices, of the nodes of the
        taxonomy (with a leaf for each inner node that has labels of its own).
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
    >>> from linnaeus import HierarchicalPerceptron, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> model = HierarchicalPerceptron(tax).fit(X, ["cat", "dog", "oak"])
    >>> model.predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    limits = Limits(variant=choice(*VARIANTS), margin=FINITE, deduplicate=FLAG)
    class_kernel: Any = None  # of models that were saved before there were any

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        variant: str = "averaged",
        loss: Any = None,
        attributes: Any = None,
        class_kernel: Any = None,
        max_iter: int = 20,
        shuffle: bool = True,
        kernel: Any = "linear",
        *,
        margin: float = 0.0,
        deduplicate: bool = False,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        dtype: Any = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.variant = variant
        self.loss = loss
        self.attributes = attributes
        self.class_kernel = class_kernel
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.kernel = kernel
        self.margin = margin
        self.deduplicate = deduplicate
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.dtype = dtype
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _rule(self) -> str:
        return "perceptron"

    def _averages(self) -> bool:
        return self.variant == "averaged"

    def _train(self, problem: OnlineProblem, X: Any, seed: int) -> PerceptronRun:
        if self.variant != "minover":
            return super()._train(problem, X, seed)
        if self.deduplicate:
            drawn = np.random.default_rng(seed) if self.shuffle else None
            problem = perceptron.without_repeats(problem, drawn)
        result = perceptron.minover(problem, margin=self.margin, max_iter=self.max_iter)
        n = problem.inputs.norm2.size
        self.weights_ = Weights(self._sum(result, X, n), result.n_steps)
        return result

    def _check_batches(self) -> None:
        super()._check_batches()
        if self.variant == "minover":
            raise UserError(
                "variant='minover' looks at all examples in every step, so there is no "
                "partial_fit. Use variant='averaged' or 'online'."
            )
