"""The local models of a top-down classifier: who learns from whom, by our solvers or any others.

A family is a node and its children. Its examples are those with a label below the node (for the
roots: all examples); an example is positive for every child that it has a label below.

    binary       a model per child, positive against the other examples of the family
                 (TD of [GopalYang2015], H-SVM of [Rousu2006])
    multiclass   a model per family, which chooses one of the children
                 (divide and conquer of [Cai2008])

A model answers for a family with scores (m, k), one per child.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from linnaeus.compiled import read_only
from linnaeus.errors import UserError
from linnaeus.estimators._linear import factors, named_factors
from linnaeus.execution import Executor, over_blocks
from linnaeus.inference.paths import Families, Local
from linnaeus.solvers.linear import svm, topdown
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.storage.arrays import joined, read_in_pieces

Scorer = Callable[[int, Any], np.ndarray]  # (family, row numbers) -> (m, k)

TINY = 1e-15  # probabilities of base estimators are kept this far from 0 and 1


def problems(fam: Families, below: sp.csr_array, mirrored: bool) -> list[topdown.LocalProblem]:
    """The examples of every family, and the children that they have labels below.

    below : (n, n_nodes) 0/1, label sets with all ancestors
    mirrored : there are two classes that exclude each other; one model, of the second, is enough
    """
    columns = sp.csc_array(below)
    columns.sort_indices()
    ptr, rows_of = columns.indptr, columns.indices.astype(np.int32)
    everybody = np.arange(below.shape[0], dtype=np.int32)
    found, number = [], 0
    for f, p in enumerate(fam.parent.tolist()):
        rows = everybody if p < 0 else rows_of[ptr[p] : ptr[p + 1]]
        children = fam.children(f)[1:] if mirrored else fam.children(f)
        lists = [rows_of[ptr[c] : ptr[c + 1]] for c in children.tolist()]
        at = np.searchsorted(rows, np.concatenate(lists))
        k = np.repeat(np.arange(len(lists), dtype=np.int32), [len(part) for part in lists])
        entries = (np.ones(at.size, dtype=np.int8), (at, k))
        Y = sp.csr_array(entries, shape=(rows.size, len(lists)))
        found.append(topdown.LocalProblem(number, rows, Y))
        number += -(-len(lists) // svm.LANES)
    return found


def with_factors(
    found: list[topdown.LocalProblem], fam: Families, class_weight: Any, names: list[Any],
    weight: Any,
) -> list[topdown.LocalProblem]:  # fmt: skip
    """The problems with factors of the cost of the positives of each child.

    names : of the nodes; a misc leaf has that of its parent, and so its factor
    """
    if not isinstance(class_weight, str):
        by_node = named_factors(class_weight, names)
    out = []
    for f, problem in enumerate(found):
        factor = np.ones((2, problem.Y.shape[1]))
        children = fam.children(f)
        if isinstance(class_weight, str):
            cost = None if weight is None else weight[problem.rows]
            factor[1] = factors(class_weight, children, problem.Y, cost)
        else:
            factor[1] = by_node[children]
        out.append(problem._replace(factor=factor))
    return out


class LinearModels(NamedTuple):
    """Weights of every family."""

    parts: list[topdown.Local]
    n_features: int
    mirrored: bool
    seconds: float

    def coef(self) -> sp.csr_array:
        """All weights, one row per edge."""
        rows = []
        for part in self.parts:
            W = sp.csr_array(part.W.T)
            entries = (W.data, part.features[W.indices], W.indptr)
            rows.append(sp.csr_array(entries, shape=(W.shape[0], self.n_features)))
        coef = sp.csr_array(sp.vstack(rows, format="csr"))
        coef.sort_indices()
        return coef

    def in_one_piece(self) -> Local | None:
        """The same in a form that `paths.linear_beam` takes; None for one model of two children.

        Weights of a file are left there; those in memory are copied.
        """
        if self.mirrored:
            return None
        order = [_ascending(part.features) for part in self.parts]
        features = [part.features[at] for part, at in zip(self.parts, order, strict=True)]
        starts = np.cumsum([0, *(part.features.size for part in self.parts)])
        weights, weight_start = joined([part.W for part in self.parts])
        read_in_pieces(weights)
        intercept = np.concatenate([part.intercept for part in self.parts])
        lists = np.concatenate(features), np.concatenate(order).astype(np.int32)
        found = (starts, *lists, weight_start, weights, intercept)
        return Local(*map(read_only, found))

    def scorer(self, X: Any) -> Scorer:
        """A function that scores rows of X; each has work space of its own."""
        rows = Rows.of(sp.csr_array(X), self.parts[0].W.dtype)
        place = np.full(self.n_features, -1, dtype=np.int32)

        def score(f: int, which: Any) -> np.ndarray:
            s = topdown.scores(rows, which, self.parts[f], place)
            return np.column_stack([np.zeros_like(s), s]) if self.mirrored else s

        return score


def _ascending(features: Any) -> Any:
    """The order in which features ascend."""
    if (features[1:] > features[:-1]).all():
        return np.arange(features.size)
    return np.argsort(features, kind="stable")


class BaseModels(NamedTuple):
    """Fitted base estimators of every family, or the constant answer where there was one answer."""

    parts: list[list[Any]]  # one estimator per child, or one per family
    sizes: np.ndarray  # (n_families,) number of children
    sparse: bool  # whether the estimators were given sparse matrices
    certain: float  # the score of an answer that was never wrong in training
    mirrored: bool

    def scorer(self, X: Any) -> Scorer:
        """A function that scores rows of X."""
        if self.sparse:
            X = sp.csr_array(X)
        elif sp.issparse(X):
            X = X.toarray()

        def score(f: int, which: Any) -> np.ndarray:
            part, k = X[which], int(self.sizes[f])
            if len(self.parts[f]) < k:
                return _choice_scores(self.parts[f][0], part, k, self.certain)
            s = np.column_stack([_binary_scores(m, part, self.certain) for m in self.parts[f]])
            return np.column_stack([np.zeros_like(s), s]) if self.mirrored else s

        return score


def train_linear(
    X: sp.csr_array, found: list[topdown.LocalProblem], weight: Any, options: topdown.LocalOptions,
    dtype: Any, executor: Executor, mirrored: bool,
) -> LinearModels:  # fmt: skip
    """Solve every family by our own solvers."""
    started = time.perf_counter()
    parts = topdown.solve(X, found, weight, options, dtype, executor)
    return LinearModels(parts, X.shape[1], mirrored, time.perf_counter() - started)


def train_base(
    X: Any, found: list[topdown.LocalProblem], weight: Any, base: Any, multiclass: bool, seed: int,
    executor: Executor, mirrored: bool, sparse: bool,
) -> BaseModels:  # fmt: skip
    """Fit clones of a scikit-learn estimator."""
    if not hasattr(base, "fit") or not any(
        hasattr(base, method) for method in ("predict_proba", "decision_function")
    ):
        raise UserError(
            f"estimator is {base!r}, which lacks fit, or both predict_proba and decision_function. "
            f"Give a scikit-learn classifier, or wrap it in CalibratedClassifierCV."
        )
    weighted = weight is not None or any(problem.factor is not None for problem in found)
    if weighted and not has_fit_parameter(base, "sample_weight"):
        raise UserError(
            f"estimator is {base!r}, whose fit takes no sample_weight. Leave out sample_weight and "
            f"class_weight, or take another estimator."
        )

    def fit_family(X: Any, problem: topdown.LocalProblem) -> list[Any]:
        part = X[problem.rows]
        part = part if sparse else part.toarray()
        cost = None if weight is None else weight[problem.rows]
        rng = np.random.default_rng([seed, problem.number])
        if multiclass and problem.Y.shape[1] > 1:
            return [_fit_choice(base, part, problem, cost, rng)]
        return [
            _fitted(base, part, *_one_child(problem, c, cost), rng)
            for c in range(problem.Y.shape[1])
        ]

    parts = list(over_blocks(fit_family, [X], found, executor))
    sizes = np.array([problem.Y.shape[1] for problem in found])
    certain = 5.0 if is_probabilistic(base) else 1.0  # log odds, or a margin
    return BaseModels(parts, sizes, sparse, certain, mirrored)


def _one_child(problem: topdown.LocalProblem, c: int, cost: Any) -> tuple[np.ndarray, Any]:
    """Who is below a child, and what each example costs."""
    y = problem.Y[:, [c]].toarray().ravel()
    if problem.factor is not None:
        cost = problem.factor[y.astype(int), c] * (1.0 if cost is None else cost)
    return y, cost


def _fit_choice(base: Any, X: Any, problem: topdown.LocalProblem, cost: Any, rng: Any) -> Any:
    """A model that chooses one child."""
    here = problem._replace(rows=np.arange(problem.Y.shape[0], dtype=np.int32))
    chosen, share = topdown.one_choice(here)
    rows, child = chosen.rows, chosen.Y.indices
    if cost is not None or (share != 1).any():
        cost = share if cost is None else share * cost[rows]
    return _fitted(base, X[rows], child, cost, rng)


def _fitted(base: Any, X: Any, y: Any, cost: Any, rng: Any) -> Any:
    """A fitted clone; where there is one answer or none, that answer (-1 for none)."""
    answers = np.unique(y)
    if answers.size < 2:
        return int(answers[0]) if answers.size else -1
    model = clone(base)
    for name, value in sorted(model.get_params().items()):
        if (name == "random_state" or name.endswith("__random_state")) and value is None:
            model.set_params(**{name: int(rng.integers(2**31 - 1))})
    if cost is not None and has_fit_parameter(model, "sample_weight"):
        return model.fit(X, y, sample_weight=cost)
    return model.fit(X, y)


def _binary_scores(model: Any, X: Any, certain: float) -> np.ndarray:
    """Scores of the positive answer: log odds where there are probabilities."""
    if isinstance(model, int):
        return np.full(X.shape[0], certain if model > 0 else -certain)
    if is_probabilistic(model):
        p = np.clip(model.predict_proba(X)[:, 1], TINY, 1 - TINY)
        return np.asarray(np.log(p) - np.log1p(-p))
    return np.asarray(model.decision_function(X), dtype=float)


def _choice_scores(model: Any, X: Any, k: int, certain: float) -> np.ndarray:
    """Scores of k children: logarithms where there are probabilities.

    A child that was never right in training has the probability `TINY`, or the lowest score of the
    row, less 1.
    """
    if isinstance(model, int):
        out = np.zeros((X.shape[0], k))
        if model >= 0:
            out[:, model] = 2 * certain
        return out
    if is_probabilistic(model):
        s = np.log(np.clip(model.predict_proba(X), TINY, 1.0))
        out = np.full((X.shape[0], k), np.log(TINY))
    else:
        s = np.asarray(model.decision_function(X), dtype=float)
        s = np.column_stack([-s, s]) if s.ndim == 1 else s
        out = np.repeat(s.min(axis=1, keepdims=True) - 1.0, k, axis=1)
    out[:, model.classes_] = s
    return out


def is_probabilistic(base: Any) -> bool:
    """Whether scores of a base estimator are logarithms of probabilities or odds."""
    return hasattr(base, "predict_proba")
