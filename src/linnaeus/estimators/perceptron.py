"""Perceptrons over a taxonomy: a mistake moves the nodes above one of two classes, not of both.

    y = lowest-scored label, z = highest-scored other class; if F(x, y) <= F(x, z):
    w_v <- w_v + D(y, z) (l_v(y) - l_v(z)) x

D is the loss between classes, l are class attributes; [Cai2008] chapter 5,
docs/maths/perceptron.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.errors import UserError, check_choice
from linnaeus.estimators._online import Online
from linnaeus.solvers.online import perceptron
from linnaeus.solvers.online.perceptron import OnlineProblem, PerceptronRun
from linnaeus.solvers.online.perceptron_weights import Weights
from linnaeus.taxonomy import Taxonomy

VARIANTS = ("averaged", "online", "minover")


class HierarchicalPerceptron(Online):
    """A Perceptron whose classes share weights through the nodes above them.

    Parameters
    ----------
    taxonomy : the taxonomy; None for the flat Perceptron
    variant : "averaged" answers by the mean of the weights over all visits, "online" by the last
        ones; "minover" mends the smallest margin of all examples at every step
    loss : what taking one class for another costs, the size of a step: "half_distance" (default
        with a taxonomy), "zero_one" (default without), "distance", "normalized",
        `linnaeus.losses.volume(...)`, or a matrix in the order of `classes_`
    attributes : how classes share weights: "depth" (default on trees), "perclass" (default on
        DAGs), "ones", "flat" (not at all), a function t(node, class), or a matrix with a row per
        class
    max_iter : passes at most; learning stops after a pass without a mistake. There is no warning
        when there was none, since data are seldom separable: see `converged_`.
    shuffle : whether every pass has a new random order
    kernel : "linear"; "precomputed" (X is the kernel matrix, (n, n) to fit, (n, n_fitted) to
        predict); or an object with `gram(A, B)`, as in `linnaeus.kernels`
    margin : "minover" goes on until all margins are above this
    deduplicate : whether "minover" keeps one of each set of equal inputs, drawn at random if
        `shuffle`, else the first. Equal inputs with different labels would hold it up for ever.
    fit_intercept, intercept_scaling : add a constant feature of this size
    empty : "best" gives a row in which no class scores above the threshold its best label, if every
        training row had one; "none" leaves it without
    dtype : "float32" or "float64"; None takes float32 for large data
    random_state : seed of the order

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), weights of the classes, one row
        for two exclusive ones without a taxonomy; made from the weights of the attributes when
        asked for
    node_coef_, node_intercept_ : the weights of the attributes: for all schemes but "flat" and
        matrices, of the nodes of the taxonomy (with a leaf for each inner node that has labels of
        its own)
    dual_coef_ : with another kernel, (n_fitted, n_classes): scores are gram @ dual_coef_
    classes_, taxonomy_, n_iter_ (passes), n_steps_ (visits), n_updates_, converged_
    trace_ : of each pass: seconds, updates, and the loss of the updates by the number of examples

    Rows without a label, and rows with all, are left out in training.

    Examples
    --------
    >>> from linnaeus import HierarchicalPerceptron, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> model = HierarchicalPerceptron(tax).fit(X, ["cat", "dog", "oak"])
    >>> model.predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        variant: str = "averaged",
        loss: Any = None,
        attributes: Any = None,
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
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.variant = variant
        self.loss = loss
        self.attributes = attributes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.kernel = kernel
        self.margin = margin
        self.deduplicate = deduplicate
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.dtype = dtype
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, VARIANTS)
        if not np.isfinite(self.margin):
            raise UserError(f"margin is {self.margin}. Use a finite number.")

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
