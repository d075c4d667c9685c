"""H-M3: one max-margin Markov model over all nodes of a hierarchy.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i,
    xi_i = max_y  loss(y_i, y) - (score(x_i, y_i) - score(x_i, y)),
    score(x, y) = sum_e w_{e,y_e}.x

over the labelings y of the nodes, e the edges of the hierarchy; [Rousu2006], docs/maths/hm3.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from linnaeus.decisions.columns import halved
from linnaeus.errors import UserError
from linnaeus.estimators import _edge_features, _targets
from linnaeus.estimators._base import stacked
from linnaeus.estimators._kernel import LinearOrKernel
from linnaeus.estimators._linear import LARGE
from linnaeus.execution import executor
from linnaeus.inference.maxsum import max_sum, node_margins, path_scores
from linnaeus.losses import SCALINGS, markov_edges
from linnaeus.parameters import COUNT, NONE, Limits, choice, fitting
from linnaeus.solvers.markov import hm3, hm3_edges, hm3_local, hm3_paths
from linnaeus.solvers.markov.hm3_rows import Fitted
from linnaeus.taxonomy import Taxonomy

_negative = partial(hm3_local.solve, negative=True)
# by features and slack: the solver, and the options it has besides the common ones
_SOLVERS: dict[tuple[str, str], tuple[Callable[..., Fitted], tuple[str, ...]]] = {
    ("edge", "example"): (hm3.solve, ("root_edges", "competitors", "optimizer", "freq")),
    ("edge", "edge"): (hm3_edges.solve, ("root_edges", "share")),
    ("edge", "negative"): (_negative, ("root_edges", "competitors")),
    ("path", "example"): (hm3_paths.solve, ()),
}
_SIDE_BY_SIDE = (hm3.solve, hm3_edges.solve)  # those that take an executor
# the same with features of single edges
_LOCAL_SOLVERS = {
    ("edge", "example"): (hm3_local.solve, ("root_edges", "competitors")),
    ("edge", "edge"): _SOLVERS["edge", "edge"],
    ("edge", "negative"): _SOLVERS["edge", "negative"],
}


class HM3(LinearOrKernel):
    """The labels of all nodes at once, by a Markov tree trained for the largest margin.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree or forest; None for labels without a hierarchy.
    C : float, default=1.0
        Cost of a unit of slack.
    loss : {'delta', 'unif', 'sibl', 'subtree'}, default='delta'
        What is lost by a wrong labeling; the default, 'delta', counts wrong labels. The others
        scale the hierarchical loss, which counts a wrong label only below a right one.
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        A kernel of `linnaeus.kernels`, or any object with ``gram(A, B)``; 'precomputed' takes
        kernel matrices for X, (n, n) to fit and (n, n_fitted) to predict.
    root_edges : {'none', 'all'}, default='none'
        'all' gives weights to each root's own label.
    optimizer : {'pairwise', 'csga'}, default='pairwise'
        The default takes steps between pairs of labelings; 'csga' is the slower conditional
        gradient of the paper.
    slack : {'example', 'edge', 'negative'}, default='example'
        One slack per sample, one per edge, or one per sample that may be negative.
    share : {'neighbours', 'parent'}, default='neighbours'
        With slack='edge' and loss='delta', who carries a node's loss: all its edges, or the edge
        above.
    features : {'edge', 'path'}, default='edge'
        Weights per edge and joint label; or one block per node, seen where all its path is on.
    competitors : {'all', 'consistent'}, default='all'
        Labelings that a margin is kept to.
    freq : int or None, default=None
        Most steps on one sample at each visit; None for the solver's choice.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularised like any other. The default is that of
        the paper, as for all kernel methods.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no node is on: 'best', its best
        label, if every training sample had one; 'none', no label.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most rounds, each a few passes over the samples and a certificate.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it. They share
        kernel matrices, the certificate of every round (``slack='example'`` with edge features),
        the edges (``slack='edge'``) and predictions; otherwise samples are visited one after the
        other.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns of scores.
    coef_ : ndarray of shape (n_blocks, n_features)
        Weights, for the linear kernel: row 4 e + u for code u = 2 [parent on] + [child on] of edge
        e of `edges_`; with features='path' one row per node.
    coef_names_ : list of tuple or ndarray of shape (n_blocks,)
        (parent or None, child, whether the first is on, whether the second) of each row of `coef_`;
        with features='path' the nodes.
    dual_coef_ : ndarray of shape (n_samples, n_blocks)
        Weights of the samples, for other kernels.
    intercept_ : ndarray of shape (n_blocks,)
        What is added to the scores of the blocks.
    local_coef_ : list of ndarray of shape (n_local, 4) or None
        Weights of each edge's own features, by code; None if `fit` got none.
    edges_ : Edges
        The edges, as numbers of parents and children.
    slack_ : ndarray of shape (n_samples,)
        Slack of each sample.
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
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import HM3, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> HM3(tax).fit(X, [["cat"], ["dog"], ["oak"]]).predict([[0.1, 0.9, 0.0]])
    [['dog']]
    """

    classes = "nodes"
    tight = 1e-4
    limits = Limits(
        loss=choice("delta", *SCALINGS),
        root_edges=choice("none", "all"),
        optimizer=choice("pairwise", "csga"),
        slack=choice("example", "edge", "negative"),
        share=choice("neighbours", "parent"),
        features=choice("edge", "path"),
        competitors=choice("all", "consistent"),
        freq=COUNT | NONE,
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        loss: str = "delta",
        kernel: Any = "linear",
        root_edges: str = "none",
        optimizer: str = "pairwise",
        slack: str = "example",
        share: str = "neighbours",
        features: str = "edge",
        competitors: str = "all",
        *,
        freq: int | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        tol: float = 1e-3,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.root_edges = root_edges
        self.optimizer = optimizer
        self.slack = slack
        self.share = share
        self.features = features
        self.competitors = competitors
        self.freq = freq
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------------

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, local: Any = None) -> Self:
        """Learn from examples; ancestors are added to `y`.

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
        local : list of array-like or None, default=None
            Features of single edges beside X, linear kernel only: for each of the edges
            `linnaeus.losses.markov_edges(taxonomy.tree, root_edges)` a matrix with a row per
            sample, or None.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if self._is_linear():
            X, Y, weight, dtype, seed = self._prepared(X, y, sample_weight)
            blocks = _edge_features.learn(local, dtype)
            fitted = self._solve(X, Y, weight, dtype, seed, blocks)
            self._store(fitted)
            self.local_coef_: Any = None
            if blocks is not None:
                self.local_coef_ = hm3_local.local_weights(blocks, fitted.N)
        else:
            if local is not None:
                raise UserError("local is given, but needs kernel='linear'. Leave it out.")
            fitted = self._fit_kernel(X, y, sample_weight)
        self._keep(fitted)
        return self

    def _fit_kernel(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        K = self._gram_to_fit(X)
        Y, weight = self._learn_targets(y, len(K)), self._weights(sample_weight, len(K))
        fitted = self._learn(Y, weight, self._seed(), K, dtype=K.dtype, precomputed=True)
        self.dual_coef_ = fitted.N
        self.intercept_ = self._bias() ** 2 * fitted.N.sum(axis=0)
        self.local_coef_ = None
        return fitted

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int,
        local: Any = None,
    ) -> Fitted:  # fmt: skip
        more = {} if local is None else {"local": local}
        return self._learn(Y, weight, seed, self._with_constant(X), dtype=dtype, **more)

    def _store(self, solution: Fitted) -> None:
        self.coef_, self.intercept_ = self._split(solution.W.T)

    def _learn(self, Y: sp.csr_array, weight: Any, seed: int, X: Any, **data: Any) -> Fitted:
        """Choose the solver and run it."""
        solvers = _LOCAL_SOLVERS if "local" in data else _SOLVERS
        if (self.features, self.slack) not in solvers:
            known = ", ".join(f"features={f!r} with slack={s!r}" for f, s in solvers)
            beside = " beside local features" if "local" in data else ""
            raise UserError(
                f"features={self.features!r} with slack={self.slack!r} is not known{beside}. "
                f"Use one of: {known}."
            )
        solve, names = solvers[self.features, self.slack]
        options = {name: getattr(self, name) for name in names}
        if solve in _SIDE_BY_SIDE:
            options["executor"] = executor(self.n_jobs)
        forest = self._forest(Y.shape[1])
        self.edges_ = markov_edges(
            forest.tree, "all" if self.features == "path" else self.root_edges
        )
        return solve(
            X, Y.toarray(), forest.tree.parent, **data, **options, C=self.C, loss=self.loss,
            sample_weight=weight, tol=self.tol, max_iter=self.max_iter, seed=seed,
        )  # fmt: skip

    def _forest(self, n_columns: int) -> Taxonomy:
        """The taxonomy; without one, roots alone."""
        return Taxonomy.flat(range(n_columns)) if self.taxonomy_ is None else self.taxonomy_

    def _keep(self, fitted: Fitted) -> None:
        self.slack_ = fitted.slack
        self._certify(fitted.objective, fitted.dual, fitted.n_iter, fitted.trace)

    def _dtype(self, X: sp.csr_array) -> Any:
        return self._float_type(X.nnz * len(self.targets_.names) >= LARGE)

    # -- answers ----------------------------------------------------------------------------

    @property
    def coef_names_(self) -> Any:
        """(parent or None, child, whether the first is on, whether the second) of each row.

        With features="path" the nodes.
        """
        names = super().coef_names_
        if self.features == "path":
            return names
        pairs = zip(self.edges_.parent.tolist(), self.edges_.child.tolist(), strict=True)
        return [
            (None if p < 0 else names[p], names[c], code > 1, bool(code % 2))
            for p, c in pairs
            for code in range(4)
        ]

    def decision_function(self, X: Any, local: Any = None) -> np.ndarray:
        """For each of `classes_` the best score of a labeling with it, less that without it.

        Labelings are consistent. For one label per sample of two: the score of the path to the
        second less that of the path to the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        local : list of array-like or None, default=None
            Features of single edges, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_nodes) or (n_samples,)
            One column per node; one number per sample for two exclusive classes without a
            taxonomy.
        """
        check_is_fitted(self, "targets_")
        blocks, columns = self._blocks(X, local), self.targets_.columns()
        if self._two_paths():
            return halved(stacked(path_scores(self.edges_, s)[:, columns.place] for s in blocks))
        margins = (node_margins(self.edges_, s, n_jobs=self.n_jobs) for s in blocks)
        return self._halved(stacked(columns.best(self._both(s)) for s in margins))

    def _two_paths(self) -> bool:
        """Whether one label of two is to be told, in a hierarchy."""
        targets = self.targets_
        one = targets.one and not targets.by_path
        return one and not targets.binary and len(targets.form.names) == 2

    def predict(self, X: Any, local: Any = None) -> Any:
        """The best consistent labeling.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        local : list of array-like or None, default=None
            Features of single edges, as in `fit`.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught. Where one label per sample was taught, the best of
            the paths that end in a label taught. Where several were and none is on, see the
            parameter `empty`.
        """
        check_is_fitted(self, "targets_")
        blocks, place = self._blocks(X, local), self.targets_.label_columns().place
        if self.targets_.one:
            best = [self._best_path(s, place) for s in blocks]
            return self.targets_.labels()[np.concatenate(best)]
        labels, best = [], []
        for s in blocks:
            labels.append(max_sum(self.edges_, s, n_jobs=self.n_jobs).labels)
            if self._fills():
                best.append(self.targets_.taught[self._best_path(s, self.targets_.taught)])
        on, filled = sp.csr_array(np.vstack(labels)), np.concatenate(best) if best else None
        return _targets.answer(self.targets_, on, self.taxonomy_, filled)

    def _blocks(self, X: Any, local: Any) -> Iterator[np.ndarray]:
        """Scores of the codes of all edges, for blocks of rows."""
        X = self._checked(X)
        own = _edge_features.new(local, self.local_coef_, X.shape[0])
        return (
            self._edge_scores(X[rows], _edge_features.rows_of(own, rows))
            for rows in self._row_blocks(X.shape[0])
        )

    def _best_path(self, scores: np.ndarray, ends: Any) -> np.ndarray:
        """Which of some nodes, or of all, the best path of each row ends in."""
        if self.targets_.binary:
            return self._best(node_margins(self.edges_, scores))
        paths = path_scores(self.edges_, scores)
        return np.asarray((paths if ends is None else paths[:, ends]).argmax(axis=1))

    def _scores(self, X: Any) -> np.ndarray:
        own = _edge_features.new(None, self.local_coef_, X.shape[0])
        return np.asarray(node_margins(self.edges_, self._edge_scores(X, own), n_jobs=self.n_jobs))

    def _edge_scores(self, X: Any, local: Any) -> np.ndarray:
        """Scores of the codes of all edges, (n, n_edges, 4), for rows of features or kernels."""
        if self._is_linear():
            s = super()._scores(X)
            if local is not None:
                s = s + hm3_local.local_scores(local, self.local_coef_, len(s))
        else:
            s = np.asarray(X @ self.dual_coef_ + self.intercept_)
        n_edges = self.edges_.child.size
        if self.features != "path":
            return s.reshape(len(s), n_edges, 4)
        out = np.zeros((len(s), n_edges, 4))  # a path has its score where parent and child are on
        out[:, :, 3] = s
        return out
