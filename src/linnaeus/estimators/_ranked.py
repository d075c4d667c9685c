"""What the ranking methods share: attributes of classes, a loss between them, label sets.

    F(x, y) = sum_r l_r(y) w_r.x = W_y.x,     W = L w   [Cai2008] (3.9)

L holds the attributes of the classes, one row each, w the weights of the attributes. With another
kernel k the weights are sums over examples, and F(x, .) = sum_i k(x, x_i) (V L L')_i.
Where several labels were taught, those above a threshold t(x) are answered, or the top one: see
`decisions.SetSize`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions import SetSize
from linnaeus.errors import UserError
from linnaeus.estimators._kernel import LinearOrKernel
from linnaeus.losses import ClassLoss, class_attributes, class_loss
from linnaeus.losses.attributes import SCHEMES
from linnaeus.losses.pairwise import NAMED
from linnaeus.parameters import FUNCTION, MATRIX, NONE, Limits, choice, thing
from linnaeus.taxonomy import Taxonomy

MANY = 100  # classes from which a threshold is learned from the highest scores only
TOP = 20  # that many
SAMPLE = 10_000_000  # scores to learn it from, at most
CHANGED = 1e-8  # values of a class kernel that differ by more, relative to the largest, differ
NEGLIGIBLE = 1e-10  # eigenvalues of a class kernel, relative to the largest


class ClassModel(NamedTuple):
    """How classes share weights, and what it costs to take one for another."""

    attributes: sp.csr_array  # (n_classes, n_attributes), in the order of training
    loss: ClassLoss


class Ranked(LinearOrKernel):
    """Base of estimators that rank the classes.

    A subclass has the parameters `loss` and `attributes`, and `class_kernel` if it likes. It solves
    for all classes, also for two exclusive ones, and stores what it found by `_store_nodes` or
    `_store_dual`.
    """

    loss: Any
    attributes: Any
    empty = "best"  # as it was before there was the parameter
    limits = Limits(
        loss=choice(*NAMED)
        | thing("a loss of linnaeus.losses", lambda v: isinstance(v, ClassLoss))
        | MATRIX
        | NONE,
        attributes=choice(*SCHEMES) | MATRIX | FUNCTION | NONE,
        class_kernel=MATRIX | NONE,
    )

    # -- classes ----------------------------------------------------------------------------

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        return Y

    def _class_model(self) -> ClassModel:
        """Attributes and loss as the parameters say, once the targets are learned."""
        taxonomy = self.targets_.taxonomy
        scheme, loss = self.attributes, self.loss
        if taxonomy is None:
            taxonomy = Taxonomy.flat(range(len(self.targets_.names)))
            scheme = "flat" if scheme is None else scheme
            loss = "zero_one" if loss is None else loss
        elif scheme is None:
            scheme = "depth" if taxonomy.is_tree else "perclass"
        kernel = getattr(self, "class_kernel", None)
        if kernel is None:
            attributes = class_attributes(taxonomy, scheme)
        elif self.attributes is not None:
            raise UserError("Both attributes and class_kernel are given. Give one of them.")
        else:
            attributes = factor(kernel, len(self.targets_.names))
        return ClassModel(attributes, self._class_loss(loss, taxonomy))

    def _class_loss(self, loss: Any, taxonomy: Taxonomy) -> ClassLoss:
        """The loss over the classes; volumes are of nodes, of which inner ones may be classes."""
        whole = getattr(self, "taxonomy_", self.taxonomy)
        if getattr(loss, "made_of", None) is None or not isinstance(whole, Taxonomy):
            return class_loss(loss, taxonomy)
        return class_loss(loss, whole, whole.numbers(self.targets_.names))

    # -- fitting ----------------------------------------------------------------------------

    def _store_nodes(self, w: np.ndarray, attributes: sp.csr_array) -> None:
        """Keep the weights of the attributes, (n_attributes, n_features [+ 1]), and of classes."""
        self.node_coef_, self.node_intercept_ = self._split(w)
        self.coef_, self.intercept_ = self._split(self._folded(attributes.astype(w.dtype) @ w))

    def _store_dual(self, V: Any, attributes: sp.csr_array) -> None:
        """Keep V, (n_samples, n_classes), such that scores are ``gram @ V L L'``."""
        D = (sp.csr_array(V) @ attributes @ attributes.T).toarray()
        self.dual_coef_ = self._folded(D.T).T
        self.intercept_ = self._bias() ** 2 * self.dual_coef_.sum(axis=0)

    def _folded(self, W: np.ndarray) -> np.ndarray:
        """One row for each class; of two exclusive classes the difference is enough."""
        return W[1:] - W[:1] if self.targets_.binary else W

    def _learn_set_sizes(self, X: Any, Y: sp.csr_array, weight: Any, seed: int) -> None:
        """Learn thresholds from training scores, where several labels were taught.

        X : the rows of features (no constant), or kernel values (likewise), that were learned from
        """
        if self.targets_.one:
            return
        rows = np.arange(Y.shape[0]) if weight is None else np.flatnonzero(weight)
        most = max(1, SAMPLE // max(1, Y.shape[1]))
        if rows.size > most:
            rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
        rule = SetSize(top_k=TOP if Y.shape[1] > MANY else None)
        self.set_size_ = rule.fit_scores(self._scores(X[rows]), sp.csr_array(Y[rows]))

    # -- answers ----------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of rows of features, or of kernel values."""
        if self._is_linear():
            return super()._scores(X)
        return np.asarray(X @ self.dual_coef_ + self.intercept_)

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        return above(scores, self.set_size_)


def above(scores: np.ndarray, rule: SetSize) -> sp.csr_array:
    """The classes above the threshold of each row; there may be none."""
    return sp.csr_array(scores > rule.predicted_thresholds(scores)[:, None], dtype=np.int8)


def factor(class_kernel: Any, n_classes: int) -> sp.csr_array:
    """Attributes L with L L' = class_kernel, which must be symmetric and positive semidefinite."""
    K = np.asarray(class_kernel.toarray() if sp.issparse(class_kernel) else class_kernel, float)
    if K.shape != (n_classes, n_classes):
        raise UserError(
            f"class_kernel has the shape {K.shape}, but there are {n_classes} classes. Give one "
            f"row and one column per class, in the order of coef_names_."
        )
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise UserError(f"class_kernel[{i}, {j}] is {K[i, j]}. Replace it by a finite number.")
    size = np.abs(K).max(initial=0.0)
    odd = np.abs(K - K.T) > NEGLIGIBLE * size
    if odd.any():
        i, j = np.argwhere(odd)[0]
        raise UserError(
            f"class_kernel is not symmetric: [{i}, {j}] is {K[i, j]}, but [{j}, {i}] is {K[j, i]}. "
            f"Use (K + K.T) / 2."
        )
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    if values.min(initial=0.0) < -NEGLIGIBLE * size * n_classes:
        raise UserError(
            f"class_kernel has the negative eigenvalue {values[0]:.3g}. Give a positive "
            f"semidefinite matrix, such as A @ A.T, or add a multiple of the identity."
        )
    kept = values > np.finfo(float).eps * size * n_classes
    return sp.csr_array(vectors[:, kept] * np.sqrt(values[kept]))


def extended(class_kernel: Any, before: sp.csr_array, place: np.ndarray) -> sp.csr_array:
    """Attributes for more classes than before: those of old keep theirs, new ones get more.

    With L those of old, [[L, 0], [B, C]] where B L' = K_new,old and C C' = K_new,new - B B'.

    place : the number of each old class among all
    """
    K = np.asarray(class_kernel.toarray() if sp.issparse(class_kernel) else class_kernel, float)
    L, new = before.toarray(), np.setdiff1d(np.arange(len(K)), place)
    changed = np.abs(K[np.ix_(place, place)] - L @ L.T) > CHANGED * np.abs(K).max(initial=0.0)
    if changed.any():
        i, j = place[np.argwhere(changed)[0]]
        raise UserError(
            f"class_kernel[{i}, {j}] is not what it was for these classes before. Keep the values "
            f"between old classes, or start over with a clone."
        )
    B = K[np.ix_(new, place)] @ np.linalg.pinv(L).T
    C = factor(K[np.ix_(new, new)] - B @ B.T, new.size).toarray()
    out = np.zeros((len(K), L.shape[1] + C.shape[1]))
    out[place, : L.shape[1]] = L
    out[new] = np.hstack([B, C])
    return sp.csr_array(out)
