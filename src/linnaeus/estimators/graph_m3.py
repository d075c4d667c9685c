"""Max-margin learning of label sets whose labels are joined by a graph or hypergraph: MMCRF.

[Rousu2007]; the problem is in `solvers.graph_m3`, the mathematics in docs/maths/graph_m3.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.estimators import _targets
from linnaeus.estimators._base import stacked
from linnaeus.estimators._kernel import KernelClassifier
from linnaeus.inference.graphs import METHODS, Graph, Oracle, prepare
from linnaeus.inference.rows import score_blocks
from linnaeus.losses.sets import SCALINGS, node_coefficients
from linnaeus.parameters import FLAG, LISTS, NONE, Limits, choice, fitting
from linnaeus.solvers.markov import graph_m3
from linnaeus.solvers.markov.hm3_rows import Fitted
from linnaeus.taxonomy import Taxonomy

LOSSES = ("hamming", "edges", *SCALINGS, *(f"path-{s}" for s in SCALINGS))


class GraphM3(KernelClassifier):
    """A maximum-margin Markov network over the labels.

    Every hyperedge scores the joint labels of its members. With a taxonomy the label sets taught
    are closed, and predictions are the best closed sets.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        Its nodes are the nodes of the graph; None takes the columns of `y`.
    edges : list of tuple, 'paths' or None, default=None
        Hyperedges as tuples of node names (without a taxonomy, of classes); None for all (parent,
        child) and `related` pairs of the taxonomy; 'paths' for the path from a root to each leaf
        of a tree. A node in no hyperedge gets one of its own.
    C : float, default=1.0
        Cost of a unit of slack.
    loss : str, default='hamming'
        What is lost by a wrong labeling; the default, 'hamming', counts wrong nodes, as 'delta' of
        `HM3` does. 'edges' counts wrong hyperedges; 'unif', 'sibl' and 'subtree' wrong nodes with
        right parents, weighted so; 'path-unif', 'path-sibl' and 'path-subtree' wrong nodes with
        right ancestors (`edges` must hold the ancestors, as 'paths' does).
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        A kernel of `linnaeus.kernels`, or any object with ``gram(A, B)``; 'precomputed' takes
        kernel matrices for X.
    inference : {'junction', 'loopy', 'trp'}, default='junction'
        How the best label set is found (in `HBLR` it is how weights are). The default is exact;
        max-product and tree reparametrisation are for graphs that are too dense for it, and
        certify nothing.
    consistent : bool, default=False
        Whether training too considers closed label sets only.
    optimizer : {'pairwise', 'csga'}, default='pairwise'
        The default takes steps between pairs of labelings; 'csga' is the slower conditional
        gradient of the paper.
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
    max_iter : int, default=500
        Most rounds, each a few sweeps over the samples and a certificate. The default is lower
        than where passes are counted.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    graph_ : Graph
        The hypergraph over node numbers.
    edges_ : list of tuple
        The hyperedges as names.
    coef_ : ndarray of shape (n_blocks, n_features)
        Weights, for the linear kernel: a row for every hyperedge and code, ``graph_.start[e] +
        code``, the first member the highest bit.
    coef_names_ : list of tuple
        (members of the hyperedge, which of them are on) of each row of `coef_`.
    intercept_ : ndarray of shape (n_blocks,)
        What is added to the scores of the blocks.
    dual_coef_ : ndarray of shape (n_samples, n_blocks)
        Weights of the samples, for other kernels.
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
    certified_ : bool
        False with approximate inference: objective and gap are then lower estimates, no bounds,
        and a ConvergenceWarning says so.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    targets_, open_codes_, tree_seed_ : object
        What inference needs; internal.

    Examples
    --------
    >>> from linnaeus import Taxonomy
    >>> tax = Taxonomy.from_edges([], related=[("sun", "heat"), ("heat", "drought")])
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> model = GraphM3(tax).fit(X, [["sun", "heat"], ["sun", "heat"], ["drought"]])
    >>> model.predict([[0.8, 0.0], [0.0, 1.0]])
    [['sun', 'heat'], ['drought']]
    """

    limits = Limits(
        edges=choice("paths") | LISTS | NONE,
        loss=choice(*LOSSES),
        inference=choice(*METHODS),
        consistent=FLAG,
        optimizer=choice("pairwise", "csga"),
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        edges: Any = None,
        C: float = 1.0,
        loss: str = "hamming",
        kernel: Any = "linear",
        inference: str = "junction",
        consistent: bool = False,
        *,
        optimizer: str = "pairwise",
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        tol: float = 1e-3,
        max_iter: int = 500,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.edges = edges
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.inference = inference
        self.consistent = consistent
        self.optimizer = optimizer
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------------

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
        features, K, labelled, weight = self._prepared(X, y, sample_weight)
        names = self.targets_.names[1:] if self.targets_.binary else self.targets_.names
        Y = labelled.toarray()
        self.graph_ = Graph.of(len(names), _hyperedges(self.edges, names, self.taxonomy_))
        self.edges_ = [tuple(names[v] for v in e.tolist()) for e in self.graph_.edges]
        self.open_codes_ = _open_codes(self.graph_, self.taxonomy_)
        self.tree_seed_ = self._seed()
        oracle = self._oracle()
        if not self.consistent:
            oracle = oracle._replace(forbidden=self.open_codes_[:0])
        fitted = graph_m3.solve(
            self.graph_, oracle, Y, _loss_tables(self.loss, self.graph_, Y, self.taxonomy_),
            X=features, K=K, C=self.C, sample_weight=weight, optimizer=self.optimizer, tol=self.tol,
            max_iter=self.max_iter, seed=self.tree_seed_,
        )  # fmt: skip
        self._store(fitted)
        return self

    def _store(self, fitted: Fitted) -> None:
        if self._is_linear():
            self.coef_, self.intercept_ = self._split(np.ascontiguousarray(fitted.W.T))
        else:
            self.dual_coef_ = fitted.N
        self.certified_ = self.inference == "junction"
        if not self.certified_:
            warnings.warn(
                f"GraphM3 searches by inference={self.inference!r}, which may miss the best label "
                f"set: objective_ and gap_ are lower estimates and bound nothing (certified_ is "
                f"False). Use inference='junction' where the graph is sparse enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._certify(fitted.objective, fitted.dual, fitted.n_iter, fitted.trace)

    # -- scoring ----------------------------------------------------------------------------

    @property
    def coef_names_(self) -> Any:
        """(members of the hyperedge, which of them are on) of each row."""
        bits = [self.graph_.bits(e).tolist() for e in range(self.graph_.n_edges)]
        return [
            (edge, tuple(map(bool, on)))
            for edge, codes in zip(self.edges_, bits, strict=True)
            for on in codes
        ]

    def decision_function(self, X: Any) -> np.ndarray:
        """Best score of a closed label set with a node minus that without.

        With 'loopy' and 'trp' these are the sums of messages, an approximation. For one label per
        sample the score of each label with its ancestors, less that of none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column for each of `classes_`; one number per sample for one label of two.
        """
        return super().decision_function(X)

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        oracle = self._oracle()
        return (oracle.differences(outputs) for outputs in self._output_blocks(X))

    def _output_blocks(self, X: Any) -> Iterator[np.ndarray]:
        new = self._new_inputs(X)
        blocks = score_blocks(max(1, new.shape[0]), self.graph_.n_blocks)
        return (self._outputs(new[at]) for at in blocks)

    def _label_scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self.targets_.binary or not self.targets_.one:
            return super()._label_scores(X)
        place = self.targets_.label_columns().place
        codes = self._alone(np.arange(self.graph_.n_nodes) if place is None else place)
        return stacked(outputs @ codes for outputs in self._output_blocks(X))

    def predict(self, X: Any) -> Any:
        """The best closed label set.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught. With one label per sample, the best of the labels
            taught, with its ancestors. With several, where none is on, see the parameter `empty`.
        """
        check_is_fitted(self)
        if self.targets_.one:
            return self.targets_.labels()[self._label_scores(X).argmax(axis=1)]
        oracle, taught = self._oracle(), self.targets_.taught
        codes = self._alone(taught) if self._fills() else None
        found, best = [], []
        for outputs in self._output_blocks(X):
            found.append(sp.csr_array(oracle.argmax(outputs)[0]))
            best += [taught[np.argmax(outputs @ codes, axis=1)]] if codes is not None else []
        on, filled = sp.vstack(found, format="csr"), np.concatenate(best) if best else None
        return _targets.answer(self.targets_, on, self.taxonomy_, filled)

    def _oracle(self) -> Oracle:
        """The search for the best closed label set."""
        return prepare(
            self.graph_, self.inference, forbidden=self.open_codes_, seed=self.tree_seed_
        )

    def _alone(self, labels: np.ndarray) -> sp.csc_array:
        """What takes outputs to scores of each label with its ancestors, (n_blocks, n_labels)."""
        alone = sp.csr_array(np.eye(self.graph_.n_nodes, dtype=np.int8)[labels])
        sets = alone if self.taxonomy_ is None else self.taxonomy_.closure(alone)
        codes = self.graph_.start[:-1] + self.graph_.codes(sets.toarray())
        ptr = np.arange(len(labels) + 1) * self.graph_.n_edges
        shape = (self.graph_.n_blocks, len(labels))
        on = sp.csc_array((np.ones(codes.size), codes.ravel(), ptr), shape)
        none = np.zeros((self.graph_.n_blocks, 1))
        none[self.graph_.start[:-1]] = 1.0  # code 0 of every hyperedge
        return sp.csc_array(on - sp.csc_array(none) @ np.ones((1, len(labels))))


def _hyperedges(edges: Any, names: tuple[Any, ...], taxonomy: Taxonomy | None) -> list[list[int]]:
    """The hyperedges over node numbers, and one of its own for every node in none of them."""
    index = {name: j for j, name in enumerate(names)}
    if isinstance(edges, str):
        chosen = _paths(edges, taxonomy)
    elif edges is not None:
        chosen = [[_number(name, index) for name in edge] for edge in edges]
    elif taxonomy is not None:
        pairs = [*taxonomy.edges, *taxonomy.related]
        chosen = [[index[a], index[b]] for a, b in pairs]
    else:
        chosen = []
    seen = {v for edge in chosen for v in edge}
    return chosen + [[v] for v in range(len(names)) if v not in seen]


def _number(name: Any, index: dict[Any, int]) -> int:
    if name not in index:
        raise UserError(
            f"edges holds {shorten(name)}, which is not a node{nearest(name, index)}. "
            f"The nodes are {shorten(list(index))}."
        )
    return index[name]


def _paths(edges: str, taxonomy: Taxonomy | None) -> list[list[int]]:
    if edges != "paths" or taxonomy is None or not taxonomy.is_tree:
        raise UserError(
            f"edges={edges!r} is not possible here. Give tuples of node names; or 'paths', which "
            f"needs a taxonomy that is a tree."
        )
    return [sorted(taxonomy.numbers(taxonomy.ancestors(leaf)).tolist()) for leaf in taxonomy.leaves]


def _open_codes(graph: Graph, taxonomy: Taxonomy | None) -> np.ndarray:
    """The codes in which some node is on and a parent in the same hyperedge is off."""
    mask = np.zeros(graph.n_blocks, dtype=bool)
    if taxonomy is None:
        return mask[:0]
    dag = taxonomy.dag
    for e, members in enumerate(graph.edges):
        bits, place = graph.bits(e), {v: j for j, v in enumerate(members.tolist())}
        for v, j in place.items():
            for p in dag.parents[dag.parent_ptr[v] : dag.parent_ptr[v + 1]].tolist():
                if p in place:
                    mask[graph.start[e] : graph.start[e + 1]] |= bits[:, j] > bits[:, place[p]]
    return mask


def _loss_tables(loss: str, graph: Graph, Y: Any, taxonomy: Taxonomy | None) -> np.ndarray:
    """loss_i[e, u] of every example, (n, n_blocks)."""
    if loss == "edges":
        return graph_m3.edge_count_losses(graph, Y)
    if loss == "hamming":
        return graph_m3.local_losses(graph, Y, [(v, [], 1.0) for v in range(graph.n_nodes)])
    if taxonomy is None:
        raise UserError(f"loss={loss!r} needs a taxonomy. Give one, or use loss='hamming'.")
    c = node_coefficients(taxonomy, loss.removeprefix("path-"))
    terms = []
    for v, name in enumerate(taxonomy.nodes):
        above = taxonomy.ancestors(name) if loss.startswith("path-") else taxonomy.parents(name)
        numbers = [int(p) for p in taxonomy.numbers(above) if p != v]
        terms.append((v, numbers, float(c[v])))
    return graph_m3.local_losses(graph, Y, terms)
