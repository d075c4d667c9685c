"""RankingSVM: the hierarchical multilabel support vector machine.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i,     w_r the weights of attribute r of the classes,
    <w, dPhi_i(p)> >= 1 - xi_i / D(p)           for all pairs p of a label and another class

where <w, dPhi_i(p)> = F(x_i, y) - F(x_i, z), and D(p) is what it costs to take z for the label y;
[Cai2008] (4.10), docs/maths/ranking_svm.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import scipy.sparse as sp

from linnaeus.estimators._ranked import Ranked
from linnaeus.parameters import Limits, choice, fitting
from linnaeus.solvers.ranking import ranking_svm, ranking_svm_greedy
from linnaeus.solvers.ranking.ranking_svm import Ranking
from linnaeus.taxonomy import Taxonomy


class RankingSVM(Ranked):
    """All labels of an example above all other classes, by margins that grow with the loss.

    Rows without a label or with all of them take no part.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        Its leaves are the classes; None for the flat multilabel machine.
    C : float, default=1.0
        Cost of a unit of slack.
    loss : str, ClassLoss, array-like of shape (n_classes, n_classes) or None, default=None
        What taking one class for another costs: 'half_distance', 'zero_one', 'distance',
        'normalized', `linnaeus.losses.volume(...)`, or a matrix in the order of `coef_names_`
        whose rows are the truth. The default, None, depends on the taxonomy: 'half_distance' with
        one, 'zero_one' without.
    attributes : str, callable, array-like of shape (n_classes, n_attributes) or None, default=None
        How classes share weights: 'depth' (None for trees), 'perclass' (None for DAGs), 'ones',
        'flat' (None without a taxonomy), a matrix, or a function of a node and a class below it.
    class_kernel : array-like of shape (n_classes, n_classes) or None, default=None
        Instead of attributes, their products, in the order of `coef_names_`.
    slack : {'example', 'pair'}, default='example'
        One slack per sample, or one per pair of a label and another class.
    rescale : {'slack', 'margin'}, default='slack'
        What the loss scales.
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        A kernel of `linnaeus.kernels`, or any object with ``gram(A, B)``; 'precomputed' takes
        kernel matrices for X, (n, n) to fit and (n, n_fitted) to predict.
    optimizer : {'blocks', 'greedy'}, default='blocks'
        The default visits samples in random order; 'greedy' is Algorithm 2 of the thesis.
    step : {'8a', '8b'}, default='8a'
        Of the greedy optimizer: settle a sample at a time, or all together.
    stop : {'gap', 'psi'}, default='gap'
        What `tol` bounds when training (`TopDown(stop=...)` is about where predictions stop): the
        relative duality gap, or the largest violation of the optimality conditions; always psi for
        the greedy optimizer.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularised like any other. The default is that of
        the thesis, as for all kernel methods.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no class scores above its
        threshold: 'best', its best label, if every training sample had one; 'none', no label.
    tol : float, default=0.01
        Where to stop, in the unit of `stop`. The default is looser than that of the flat machines:
        a pass goes over pairs of classes, and the order of the classes settles early.
    max_iter : int, default=1000
        Most passes over the samples.
    warm_start : bool, default=False
        Start where the last `fit` ended, for the same samples, for instance with another C.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_trained, n_features)
        Weights; one row for two exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    node_coef_ : ndarray of shape (n_attributes, n_features)
        Weights of the attributes, for the linear kernel: ``coef_ = attributes_ @ node_coef_``.
    dual_coef_ : ndarray of shape (n_samples, n_trained)
        Weights of the samples, for other kernels.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    node_intercept_ : ndarray of shape (n_attributes,)
        What is added to the scores of the attributes.
    attributes_ : csr_array of shape (n_trained, n_attributes)
        The attributes of the classes.
    slack_ : ndarray of shape (n_samples,)
        Slack of each sample.
    psi_ : float
        Largest violation of the optimality conditions.
    active_ratio_ : float
        The part of all multipliers that is positive, (7.7) of the thesis.
    set_size_ : SetSize
        The thresholds of label sets, for several labels.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    objective_ : float
        Primal objective.
    dual_objective_ : float
        Dual objective, a bound on the best primal one.
    gap_ : float
        Relative duality gap, ``(objective_ - dual_objective_) / objective_``.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    targets_, found_ : object
        How labels become columns, and with `warm_start` the solution; internal.

    Examples
    --------
    >>> from linnaeus import RankingSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> RankingSVM(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9, 0.0]])
    array(['dog'], dtype='<U3')
    """

    limits = Limits(
        slack=choice("example", "pair"),
        rescale=choice("slack", "margin"),
        optimizer=choice("blocks", "greedy"),
        step=choice("8a", "8b"),
        stop=choice("gap", "psi"),
    )

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
        checkpoint: str | Path | None = None,
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
        self.checkpoint = checkpoint
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample; or a kernel matrix of shape (n_samples, n_samples), or what the
            kernel takes.
        y : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of
            the taxonomy (without one, over any columns), or lists of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factor of the cost of each sample; None for 1.

        Returns
        -------
        Self
            The fitted estimator.
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
        self.attributes_, loss = self._class_model()
        common = {
            "C": self.C, "slack": self.slack, "rescale": self.rescale, "sample_weight": weight,
            "precomputed": not self._is_linear(), "tol": self.tol, "max_iter": self.max_iter,
            "dtype": dtype,
        }  # fmt: skip
        if self.optimizer == "greedy":
            return ranking_svm_greedy.solve(X, Y, self.attributes_, loss, step=self.step, **common)
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
