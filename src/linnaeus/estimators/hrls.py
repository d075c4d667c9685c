"""H-RLS: regularised least squares at every node, decided from the top down.

[Rousu2006] section 5 (after Cesa-Bianchi, Conconi and Gentile); the problem: `solvers.linear.hrls`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError
from linnaeus.estimators import _targets
from linnaeus.estimators._kernel import KernelClassifier
from linnaeus.inference.rows import score_blocks
from linnaeus.parameters import FLAG, Limits, fitting
from linnaeus.solvers.linear import hrls
from linnaeus.solvers.numerics.rounds import relative
from linnaeus.taxonomy import Dag, Taxonomy


class HierarchicalRLS(KernelClassifier):
    """Least squares at every node among the examples of its parents; prediction top-down.

    A node is on if its parents are and its margin is positive. With one label per sample the
    best root is taken, then the best child, as long as its margin is positive or nothing was
    taught at the node reached.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    C : float, default=1.0
        Weight of the squared errors; 1 in the paper.
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        A kernel of `linnaeus.kernels`, or any object with ``gram(A, B)``; 'precomputed' takes
        kernel matrices for X.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularised like any other. The default is that of
        the paper, as for all kernel methods.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no margin is positive: 'best', its
        best label, if every training sample had one; 'none', no label.
    margins : bool, default=True
        Whether to keep the Cholesky factors, one for each set of siblings, that the exact margins
        need: min(n, d)^2 numbers for n samples of the parents and d features. Without them
        `decision_function` gives ridge scores: other sizes, but the same signs and labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns of scores.
    coef_ : ndarray of shape (n_trained, n_features)
        Weights, for the linear kernel.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    dual_coef_ : ndarray of shape (n_samples, n_trained)
        Weights of the samples, for other kernels.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    objective_ : float
        Primal objective.
    dual_objective_ : float
        Dual objective, a bound on the best primal one.
    gap_ : float
        Relative duality gap, rounding only: the solution is in closed form.
    n_iter_ : int
        Always 1.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    targets_, families_, rows_ : object
        What the margins need; internal.

    Examples
    --------
    >>> from linnaeus import Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> HierarchicalRLS(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    limits = Limits(margins=FLAG)

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        kernel: Any = "linear",
        *,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        margins: bool = True,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.margins = margins

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
        began = time.perf_counter()
        features, K, Y, weight = self._prepared(X, y, sample_weight)
        found = hrls.solve(
            Y, self._dag(), X=features, K=K, C=self.C, weight=weight, keep_factors=self.margins
        )
        self.families_ = found.families
        if features is not None:
            self.coef_, self.intercept_ = self._split(found.W)
            self.rows_: Any = features if not all(f.primal for f in found.families) else None
        else:
            self.dual_coef_ = found.A
        self._keep(found, time.perf_counter() - began)
        return self

    def _keep(self, found: hrls.Ridge, seconds: float) -> None:
        """The certificate of a closed form: the gap is what rounding left."""
        self.objective_, self.dual_objective_ = found.objective, found.dual
        self.gap_ = relative(max(0.0, found.objective - found.dual), found.objective)
        self.n_iter_ = 1
        self.trace_ = [{"seconds": seconds, "objective": found.objective, "gap": self.gap_}]

    def decision_function(self, X: Any, self_kernel: Any = None) -> np.ndarray:
        """Margins, one column for each of `classes_`.

        With a taxonomy and one label per sample the least lead on the way down to each label:
        what the margin of a node is above those of its siblings, and above 0 where one may stay
        above it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        self_kernel : array-like of shape (n_samples,) or None, default=None
            K(x, x) of the rows, for a precomputed kernel; None for 1, as a normalised kernel has
            it.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column per node; one number per sample for two exclusive classes without a
            taxonomy.
        """
        check_is_fitted(self)
        margins = self._margins(X, self_kernel)
        if self.targets_.one and not self.targets_.by_path:
            return self._halved(self._leads(margins))
        return self.targets_.columns().best(margins)

    def predict(self, X: Any) -> Any:
        """Labels in the form that was taught, from the top down.

        Where several are answered and no margin is positive, see the parameter `empty`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught.
        """
        check_is_fitted(self)
        if self.targets_.one:
            return self.targets_.labels()[self._leads(self._ordered(X)).argmax(axis=1)]
        scores = self._outputs(self._new_inputs(X))
        on = sp.csr_array(scores > 0, dtype=np.int8)
        best, taught = None, self.targets_.taught
        if self._fills():
            leads = way_leads(self._dag(), self._ordered(X), self._taught())
            best = taught[leads[:, taught].argmax(axis=1)]
        return _targets.answer(self.targets_, on, self.taxonomy_, best)

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        return iter([self._margins(X)])

    def _label_scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        margins = self._margins(X)
        return self._leads(margins) if self.targets_.one else self.targets_.columns().best(margins)

    def _margins(self, X: Any, self_kernel: Any = None) -> np.ndarray:
        """The margin of every class trained."""
        new = self._new_inputs(X)
        out = self._outputs(new)
        if self.margins:
            new = self._with_constant(new) if self._is_linear() else new
            diagonal = self._self_kernels(X, new, self_kernel)
            widest = max(new.shape[1], len(self.targets_.names), self._examples_used().size)
            for at in score_blocks(new.shape[0], widest):
                self._shrink(new[at], diagonal[at], out[at])
        return out

    def _ordered(self, X: Any) -> np.ndarray:
        """Scores with the signs of the margins and their order among siblings.

        In a tree siblings learn from the same examples, so ridge scores will do: their margins are
        these by one positive factor, and no factor is solved with.
        """
        tree = bool((np.diff(self._dag().parent_ptr) <= 1).all())
        return self._outputs(self._new_inputs(X)) if tree else self._margins(X)

    def _leads(self, margins: np.ndarray) -> np.ndarray:
        """A column for each of the labels of which one is answered."""
        if self.taxonomy_ is not None:
            margins = way_leads(self._dag(), margins, self._taught())
        return self.targets_.label_columns().best(self._both(margins))

    def _shrink(self, new: Any, diagonal: np.ndarray, scores: np.ndarray) -> None:
        """Turn scores p into margins p / (1 + C q); families share the products."""
        points = new.toarray() if any(family.primal for family in self.families_) else None
        used = self._examples_used()
        against = (new @ self.rows_[used].T).toarray() if self._is_linear() and used.size else new
        for family in self.families_:
            rows = np.searchsorted(used, family.rows) if self._is_linear() else family.rows
            k = None if family.primal else against[:, rows]
            q = hrls.leverages(family, points, k, diagonal)
            scores[:, family.nodes] /= (1.0 + self.C * q)[:, None]

    def _examples_used(self) -> np.ndarray:
        """The examples of the families whose factor is over examples, ascending."""
        rows = [family.rows for family in self.families_ if not family.primal]
        return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)

    def _self_kernels(self, X: Any, new: Any, given: Any) -> np.ndarray:
        """K(x, x) of new points."""
        if self._is_linear():
            return np.asarray(new.multiply(new).sum(axis=1)).ravel()
        if self._kernel_is("precomputed"):
            values = np.ones(new.shape[0]) if given is None else np.asarray(given, dtype=float)
            if values.shape != (new.shape[0],):
                raise UserError(
                    f"self_kernel has shape {values.shape}, but X has {new.shape[0]} rows. "
                    f"Give K(x, x) of each."
                )
            return values + self._bias() ** 2
        return np.asarray(self.kernel.diagonal(X), dtype=float) + self._bias() ** 2

    def _dag(self) -> Dag:
        if self.taxonomy_ is not None:
            return self.taxonomy_.dag
        return Taxonomy.flat(range(1 if self.targets_.binary else len(self.targets_.names))).dag

    def _taught(self) -> np.ndarray:
        """Which classes were labels of training examples."""
        targets = self.targets_
        place = targets.label_columns().place if targets.one else targets.taught
        on = np.zeros(len(self.targets_.names), dtype=bool)
        on[slice(None) if place is None else place] = True
        return on


def way_leads(dag: Dag, margins: np.ndarray, taught: np.ndarray) -> np.ndarray:
    """The least lead on the way down to each node as the answer, (n, n_nodes).

    The lead of a node is its margin less the best of its siblings, and less 0 where its parent may
    be the answer; the lead of a parent as the answer is 0 less the best margin below it. So the
    node that is reached by the best child at every step, as long as its margin is positive or the
    node above was not taught, has the largest. Only nodes that were taught, or lie above such
    nodes, are entered; others have -inf, and a way without rivals has 0.
    """
    n_nodes = margins.shape[1]
    enters = taught.copy()
    for v in range(n_nodes - 1, -1, -1):
        if enters[v]:
            enters[dag.parents[dag.parent_ptr[v] : dag.parent_ptr[v + 1]]] = True
    way = np.full(margins.shape, -np.inf)
    roots = np.flatnonzero((np.diff(dag.parent_ptr) == 0) & enters)
    way[:, roots] = _leads(margins[:, roots], np.full(len(margins), -np.inf))
    for v in np.flatnonzero(enters).tolist():  # parents first
        below = dag.children[dag.child_ptr[v] : dag.child_ptr[v + 1]]
        below = below[enters[below]]
        if below.size:
            stay = np.full(len(margins), 0.0 if taught[v] else -np.inf)
            lead = np.minimum(way[:, [v]], _leads(margins[:, below], stay))
            way[:, below] = np.maximum(way[:, below], lead)
            way[:, v] = np.minimum(way[:, v], stay - margins[:, below].max(axis=1))
    way[np.isposinf(way)] = 0.0
    return way


def _leads(margins: np.ndarray, stay: np.ndarray) -> np.ndarray:
    """By how much each column is above the others and above `stay`."""
    row, top = np.arange(len(margins)), margins.argmax(axis=1)
    rival = np.repeat(margins[row, top][:, None], margins.shape[1], axis=1)
    others = margins.copy()
    others[row, top] = -np.inf
    rival[row, top] = others.max(axis=1)
    return np.asarray(margins - np.maximum(rival, stay[:, None]))
