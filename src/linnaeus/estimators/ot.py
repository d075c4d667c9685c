"""Orthogonal transfer: a support vector machine for the way down, each node unlike its ancestors.

    minimise  1/2 sum_ij K_ij |w_i.w_j| + C/N sum_k xi_k,      w_i.x_k - w_j.x_k >= 1 - xi_k

for the nodes i on the path of example k and their siblings j; [Zhou2011], OT in [GopalYang2015]
section 5.2. The optimisers and their certificates are in `linnaeus.solvers.recursive.ot` (a dual)
and `linnaeus.solvers.recursive.ot_rda` (the dual averaging of the paper).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.estimators._multiclass import Multiclass
from linnaeus.inference import paths
from linnaeus.labels import name_array
from linnaeus.parameters import MAPPING, NONE, NOT_NEGATIVE, POSITIVE, Limits, choice
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.solvers.recursive import ot, ot_nodes, ot_rda
from linnaeus.taxonomy import Taxonomy

OPTIMIZERS = {"dual": ot.solve, "rda": ot_rda.solve}


class OrthogonalTransfer(Multiclass):
    """Choose the best child from the top down; weights of nodes orthogonal to their ancestors'.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree or forest, whose leaves are the classes; None for the labels that occur.
    C : float, default=1.0
        Weight of the mean loss of the samples.
    diagonal : float, dict or None, default=None
        K_ii, what large weights cost: a positive number, or {node: number} for all nodes; None
        takes 1 + offdiagonal x (number of ancestors and descendants), with which the problem is
        convex on every tree.
    offdiagonal : float, default=1.0
        K_ij of a node and an ancestor, what it costs not to be orthogonal; 0 or more. Refused
        where the problem is not convex.
    optimizer : {'dual', 'rda'}, default='dual'
        The default, block ascent in a dual, is fast; 'rda' is the regularised dual averaging of
        the paper, whose gap falls like log(t) / t: for few features, and a `tol` of 0.01 or so.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most passes over the data.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Not used: samples are visited one after the other.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_nodes, n_features)
        Weights, a row for each of `nodes_`; zero for nodes without siblings, among which there is
        nothing to choose.
    coef_names_ : ndarray of shape (n_nodes,)
        The names of `nodes_`, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_nodes,)
        What is added to the scores of the nodes.
    nodes_ : tuple
        Names of the nodes, misc leaves of inner nodes that carry labels included.
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
    class_gap_ : ndarray of shape (1,)
        Absolute duality gap.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    targets_, families_, leaf_numbers_ : object
        How to go down; internal.

    Examples
    --------
    >>> from linnaeus import OrthogonalTransfer, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> OrthogonalTransfer(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    limits = Limits(
        diagonal=POSITIVE | MAPPING | NONE,
        offdiagonal=NOT_NEGATIVE,
        optimizer=choice(*OPTIMIZERS),
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        diagonal: Any = None,
        offdiagonal: float = 1.0,
        *,
        optimizer: str = "dual",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            taxonomy, C, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            tol=tol, max_iter=max_iter, dtype=dtype, n_jobs=n_jobs, checkpoint=checkpoint,
            random_state=random_state,
        )  # fmt: skip
        self.diagonal = diagonal
        self.offdiagonal = offdiagonal
        self.optimizer = optimizer

    # -- fitting ----------------------------------------------------------------------------

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        solve, options = OPTIMIZERS[self.optimizer], self._options(weight, dtype)
        t = self._one_class(Y)
        grown = self.targets_.taxonomy or Taxonomy.flat(range(Y.shape[1]))
        self.nodes_ = self.targets_.names if self.targets_.taxonomy is None else grown.nodes
        forest = ot_nodes.forest_of(grown.tree.parent, grown.leaf_numbers)
        found = solve(X, t, forest, self._coupling(forest), seed=seed, **options)
        coef = np.zeros((len(grown), X.shape[1]), dtype=found.coef.dtype)
        intercept = np.zeros(len(grown), dtype=coef.dtype)
        coef[forest.node], intercept[forest.node] = found.coef, found.intercept
        self.leaf_numbers_, self.families_ = grown.leaf_numbers, paths.families(grown)
        return found._replace(coef=coef, intercept=intercept)

    def _coupling(self, forest: ot_nodes.TransferForest) -> ot_nodes.Coupling:
        """K as the parameters say, for the nodes that have siblings."""
        if self.diagonal is None:
            own: Any = ot_nodes.dominant(forest, self.offdiagonal)
        elif isinstance(self.diagonal, dict):
            own = np.array([self._named(self.nodes_[v]) for v in forest.node.tolist()])
        else:
            own = self.diagonal
        return ot_nodes.coupling(forest, own, self.offdiagonal)

    def _named(self, node: Any) -> float:
        """The diagonal given for a node; a misc leaf has that of its parent."""
        grown = self.targets_.taxonomy
        name = node if grown is None else grown.misc.get(node, node)
        value = self.diagonal.get(name)
        if value is None or not value > 0:
            raise UserError(
                f"diagonal has {value!r} for the node {shorten(name)}. Give a positive number for "
                f"every node."
            )
        return float(value)

    # -- answers ----------------------------------------------------------------------------

    @property
    def coef_names_(self) -> np.ndarray:
        """The nodes, one for each row of `coef_`."""
        return name_array(self.nodes_)

    def decision_function(self, X: Any) -> np.ndarray:
        """The least margin on the way down to each of `classes_`.

        The margin of a node is its score less that of its best sibling. So the class that is
        reached by the best child at every step is the one with a positive value, and the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column per class; one number per sample for two exclusive classes without a
            taxonomy.
        """
        return super().decision_function(X)

    def _scores(self, X: Any) -> np.ndarray:
        margins = path_margins(self.families_, super()._scores(X))[:, self.leaf_numbers_]
        return margins[:, [1]] if self.targets_.binary else margins


def path_margins(fam: paths.Families, scores: np.ndarray) -> np.ndarray:
    """The least margin on the way to every node, (n, n_nodes), of scores of that shape.

    Nodes without siblings have no margin; where a whole path has none, it is 0.
    """
    S, begin, size = scores[:, fam.child], fam.ptr[:-1], np.diff(fam.ptr)
    best = np.repeat(np.maximum.reduceat(S, begin, axis=1), size, axis=1)
    top = best <= S
    second = np.maximum.reduceat(np.where(top, -np.inf, S), begin, axis=1)
    alone = np.add.reduceat(top, begin, axis=1, dtype=np.int64) == 1
    rival = np.where(np.repeat(alone, size, axis=1) & top, np.repeat(second, size, axis=1), best)
    out = np.empty_like(scores)
    out[:, fam.child] = S - rival
    for f in range(1, fam.parent.size):  # parents first
        nodes = fam.children(f)
        out[:, nodes] = np.minimum(out[:, nodes], out[:, [fam.parent[f]]])
    out[np.isinf(out)] = 0.0
    return out
