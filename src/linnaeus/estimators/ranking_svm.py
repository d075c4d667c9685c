"""RankingSVM: the hierarchical multilabel support vector machine.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i,     w_r the weights of attribute r of the classes,
    <w, dPhi_i(p)> >= 1 - xi_i / D(p)           for all pairs p of a label and another class

where <w, dPhi_i(p)> = F(x_i, y) - F(x_i, z), and D(p) is what it costs to take z for the label y;
[Cai2008] (4.10), docs/maths/ranking_svm.md.
"""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators._base import check_positive
from linnaeus.estimators._ranked import Ranked
from linnaeus.solvers.ranking import ranking_svm, ranking_svm_greedy
from linnaeus.solvers.ranking.ranking_svm import Ranking
from linnaeus.taxonomy import Taxonomy


class RankingSVM(Ranked):
    """All labels of an example above all other classes, by margins that grow with the loss.

    Parameters
    ----------
    taxonomy : the taxonomy, whose leaves are the classes; None for the flat multilabel machine
    C : cost of a unit of slack
    loss : between classes: "half_distance" (None with a taxonomy), "zero_one" (None without),
        "distance", "normalized", `linnaeus.losses.volume(...)`, or a matrix in the order of
        `classes_` whose rows are the truth
    attributes : how classes share weights: "depth" (None for trees), "perclass" (None for DAGs),
        "ones", "flat" (None without a taxonomy), a matrix with a row for each class, or a function
        of a node and a class below it
    class_kernel : instead of attributes, their products: (n_classes, n_classes)
    slack : one for each "example", or for each "pair" of a label and another class
    rescale : what the loss scales, the "slack" or the "margin"
    kernel : "linear"; "precomputed" (X is the kernel matrix, (n, n) to fit, (n, n_fitted) to
        predict); or an object with `gram(A, B)`, as in `linnaeus.kernels`
    optimizer : "blocks" (examples in random order), or "greedy", Algorithm 2 of the thesis
    step : of the greedy one: "8a" settles an example at a time, "8b" all together
    stop : what `tol` bounds: the relative duality "gap", or "psi", the largest violation of the
        optimality conditions; always psi for the greedy one
    fit_intercept : add a constant feature of size `intercept_scaling`, regularised like any other
    empty : "best" gives a row in which no class scores above the threshold its best label, if every
        training row had one; "none" leaves it without
    tol : where to stop
    max_iter : passes over the examples at most
    warm_start : begin where the last `fit` ended; for the same examples with another C, say
    dtype : "float32" or "float64"; None takes float32 for large data
    random_state : seed

    Attributes
    ----------
    coef_ : (n_classes, n_features), weights of classes; one row for two exclusive classes
    node_coef_ : (n_attributes, n_features), linear kernel: coef_ = attributes_ @ node_coef_
    dual_coef_ : (n_samples, n_classes), other kernels
    intercept_, node_intercept_ : what is added
    attributes_ : (n_classes, n_attributes)
    slack_ : (n_samples,)
    psi_, active_ratio_ : the part of all multipliers that is positive, (7.7) of the thesis
    set_size_ : the thresholds of label sets, a `linnaeus.decisions.SetSize`, for several labels
    classes_, taxonomy_, objective_, dual_objective_, gap_, n_iter_, trace_

    Rows without a label or with all of them take no part.

    Examples
    --------
    >>> from linnaeus import RankingSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> RankingSVM(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        loss: Any = None,
        attributes: Any = None,
        class_kernel: Any = None,
        slack: str = "example",
        rescale: str = "slack",
        kernel: Any = "linear",
        optimizer: str = "blocks",
        *,
        step: str = "8a",
        stop: str = "gap",
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        tol: float = 1e-2,
        max_iter: int = 1000,
        warm_start: bool = False,
        dtype: Any = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.attributes = attributes
        self.class_kernel = class_kernel
        self.slack = slack
        self.rescale = rescale
        self.kernel = kernel
        self.optimizer = optimizer
        self.step = step
        self.stop = stop
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples.

        X, y, sample_weight : as for every linear estimator; X may also be a kernel matrix, or what
            the kernel takes
        """
        if self._is_linear():
            inputs, Y, weight, dtype, seed = self._prepared(X, y, sample_weight)
            found = self._solve(self._with_constant(inputs), Y, weight, dtype, seed)
            self._store_nodes(found.W, self.attributes_)
        else:
            K = self._gram_to_fit(X)
            Y, weight = self._learn_targets(y, len(K)), self._weights(sample_weight, len(K))
            seed = self._seed()
            found = self._solve(K, Y, weight, K.dtype, seed)
            self._store_dual(found.V, self.attributes_)
            inputs = K - K.dtype.type(self._bias() ** 2) if self.fit_intercept else K
        self._keep(found)
        self._learn_set_sizes(inputs, Y, weight, seed)
        return self

    def _solve(self, X: Any, Y: sp.csr_array, weight: Any, dtype: Any, seed: int) -> Ranking:
        """Choose the solver and run it."""
        check_positive(C=self.C, tol=self.tol, max_iter=self.max_iter)
        self.attributes_, loss = self._class_model()
        common = {
            "C": self.C, "slack": self.slack, "rescale": self.rescale, "sample_weight": weight,
            "precomputed": not self._is_linear(), "tol": self.tol, "max_iter": self.max_iter,
            "dtype": dtype,
        }  # fmt: skip
        if self.optimizer == "greedy":
            return ranking_svm_greedy.solve(X, Y, self.attributes_, loss, step=self.step, **common)
        if self.optimizer != "blocks":
            raise UserError(f"optimizer={self.optimizer!r} is not known. Use 'blocks' or 'greedy'.")
        named = self.loss is None or isinstance(self.loss, str)
        return ranking_svm.solve(
            X, Y, self.attributes_, loss, taxonomy=self.targets_.taxonomy if named else None,
            start=getattr(self, "found_", None) if self.warm_start else None, stop=self.stop,
            seed=seed, **common,
        )  # fmt: skip

    def _keep(self, found: Ranking) -> None:
        self.slack_, self.psi_, self.active_ratio_ = found.slack, found.psi, found.active_ratio
        if self.warm_start:
            self.found_ = found
        by_psi = self.stop == "psi" or self.optimizer == "greedy"
        self._certify(
            found.objective, found.dual, found.n_iter, found.trace, found.psi if by_psi else None
        )
