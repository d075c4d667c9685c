"""What all linear estimators share: input, answers, bounded memory."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, softmax
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError, shorten
from linnaeus.estimators import _targets
from linnaeus.estimators._base import TOO_LARGE, Classifier
from linnaeus.estimators._rows import read_rows
from linnaeus.inference.rows import SCORE_ENTRIES, top_columns
from linnaeus.parameters import POSITIVE, fitting
from linnaeus.solvers.numerics import postings
from linnaeus.solvers.numerics.products import best_scores, is_listed, linear_scores
from linnaeus.storage.directory import INDEXES

LARGE = 500_000  # nonzeros from which data are float32 by default, unless tol is tight
WIDE = 1000  # features from which problems are easy enough for it
INDEXED = 1 << 23  # sparse weights from which they are saved by feature too
WEIGHTS = 8  # for each score of a block, where weights are many: every block reads all of them

# What `_ranked_classes` has found, with the targets that it is about; no attribute, which copies
# and files would have too.
_RANKED: WeakKeyDictionary[Any, tuple[Any, np.ndarray, np.ndarray]] = WeakKeyDictionary()


class LinearClassifier(Classifier):
    """Base of the linear estimators: scores are ``X @ coef_.T + intercept_``.

    A subclass has `_solve(X, Y, weight, dtype, seed) -> Solution` and the parameters of its
    problem; everything about forms of labels and blocks of rows is here.
    """

    classes = "leaves"
    kept = "coef_"  # what `fit` leaves
    tight = 1e-5  # the lowest `tol` that float32 is taken for
    C: float
    max_iter: int
    dtype: Any

    # -- fitting ----------------------------------------------------------------------------

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
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
        solution = self._solve(*self._prepared(X, y, sample_weight))
        self._store(solution)
        return self

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[sp.csr_array, sp.csr_array, Any, Any, int]:
        """What `_solve` takes, once all is seen to be in order."""
        X = read_rows(self, X, reset=True, accept_sparse="csr")
        Y = self._learn_targets(y, X.shape[0])
        weight, seed = self._weights(sample_weight, X.shape[0]), self._seed()
        X = tidy(X)
        dtype = self._dtype(X)
        check_range(X, dtype)
        return X, Y, weight, dtype, seed

    def _dtype(self, X: sp.csr_array) -> Any:
        """The type to compute in."""
        return self._float_type(X.nnz >= LARGE and X.shape[1] >= WIDE)

    def _float_type(self, large: bool) -> Any:
        """As asked; else float32 for large data, float64 for others or a tight `tol`."""
        if self.dtype is not None:
            return np.dtype(self.dtype)
        return np.dtype(np.float32 if large and self.tol >= self.tight else np.float64)

    def _solve(self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int) -> Any:
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _options(self, weight: Any, dtype: Any) -> dict[str, Any]:
        """What the solvers of linear problems are told."""
        return {
            "C": self.C, "bias": self._bias(), "sample_weight": weight, "tol": self.tol,
            "max_iter": self.max_iter, "dtype": dtype,
        }  # fmt: skip

    def _store(self, solution: Any) -> None:
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.class_gap_ = np.asarray(solution.objective - solution.dual)
        self._certify(solution.objective, solution.dual, solution.n_iter, solution.trace)

    # -- scoring ----------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Labels of samples: the best, or all whose classes score above 0.

        Where several are answered and none does, see the parameter `empty`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught.
        """
        check_is_fitted(self, "targets_")
        if self.targets_.one:
            columns = self.targets_.label_columns()
            if self._is_listed() and columns.taxonomy is None:
                return self.targets_.labels()[self._listed_best(X, columns.place, 1)[0][:, 0]]
            best = [columns.best(self._both(S)).argmax(axis=1) for S in self._score_blocks(X)]
            return self.targets_.labels()[np.concatenate(best)]
        decided, best = [], []
        for scores in self._score_blocks(X):
            decided.append(self._positive(scores))
            best += [self._best(scores)] if self._fills() else []
        on = sp.vstack(decided, format="csr")
        filled = np.concatenate(best) if best else None
        return _targets.answer(self.targets_, on, self.taxonomy_, filled)

    def top_k(self, X: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The best classes of each sample.

        Ranked are the classes that were trained: no inner node that only stands for what is below
        it. Memory is bounded, however many classes there are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        k : int, default=5
            Number of classes.

        Returns
        -------
        best : ndarray of int of shape (n_samples, k)
            Places in `classes_`, the best first.
        scores : ndarray of shape (n_samples, k)
            Their scores.
        """
        place, numbers = self._ranked_classes()
        k = min(k, len(place))
        if self._is_listed():
            found, scores = self._listed_best(X, place, k)
            return numbers[found], scores
        best, values = [], []
        for scores in self._score_blocks(X):
            S = self._both(scores)
            S = S if place.size == S.shape[1] else S[:, place]
            best.append(top_columns(S, k))
            values.append(np.take_along_axis(S, best[-1], axis=1))
        return numbers[np.vstack(best)], np.vstack(values)

    def _is_listed(self) -> bool:
        """Whether scores are a product with many sparse weights, which are listed by feature."""
        kind, W = type(self), vars(self).get("coef_")
        plain = kind._scores is _scores and kind._score_blocks is _score_blocks
        return plain and not self.targets_.binary and is_listed(W)

    def _listed(self) -> list[Any]:
        """The weights that are listed by feature."""
        return [self.coef_] if self._is_listed() else []

    def _listed_best(self, X: Any, place: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The best of the classes `place` (None: of all) as numbers in it, and their scores."""
        place = np.arange(self.intercept_.size) if place is None else place
        jobs = getattr(self, "n_jobs", None)
        return best_scores(self._checked(X), self.coef_, self.intercept_, place, k, jobs)

    def _ranked_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes that `classes_` names, by their columns of scores; and their places there."""
        check_is_fitted(self, "targets_")
        known = _RANKED.get(self)
        if known is None or known[0] is not self.targets_:
            number = {name: j for j, name in enumerate(self.targets_.shown_names())}
            numbers = np.array([number.get(name, -1) for name in self.targets_.names])
            place = np.flatnonzero(numbers >= 0)
            _RANKED[self] = known = self.targets_, place, numbers[place]
        return known[1:]

    def sparsify(self) -> Self:
        """Store `coef_` as a sparse matrix; predictions stay the same.

        Many sparse weights are also listed by feature when they are first used, so that a sample
        visits only the classes that have weights for its features. To change weights later,
        set `coef_` to a new matrix.

        Returns
        -------
        Self
            The same object.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        return self

    def save_index(self, path: str | Path) -> None:
        """Write many sparse weights once more, listed by feature, beside the saved ones.

        Without this file the lists are made in memory when they are first used. It may be deleted.

        Parameters
        ----------
        path : str or Path
            Directory that holds these weights.
        """
        listed = self._listed() if "targets_" in vars(self) else []
        try:
            for name, W in zip(INDEXES, listed, strict=False):
                if W.nnz >= INDEXED:
                    postings.write(W, path, name=name)
        except OSError as error:
            warnings.warn(
                f"The model is saved, its index is not: {error.strerror or error}. Without it the "
                f"first answer takes longer. Make room in {path} and save the model again.",
                stacklevel=3,
            )

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, self.kept)
        X = read_rows(self, X, reset=False, accept_sparse="csr")
        return sp.csr_array(X) if sp.issparse(X) else X

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        X = self._checked(X)
        W = getattr(self, "coef_", None)
        n_weights = 0 if sp.issparse(W) else int(getattr(W, "size", 0))
        blocks = self._row_blocks(X.shape[0], max(SCORE_ENTRIES, n_weights // WEIGHTS))
        return (self._scores(X[rows]) for rows in blocks)

    def _row_blocks(self, n: int, entries: int = SCORE_ENTRIES) -> Iterator[slice]:
        """Blocks of rows whose scores stay within bounded memory; an empty one for no rows."""
        step = max(1, entries // max(1, self._n_scores()))
        return (slice(i, i + step) for i in range(0, max(n, 1), step))

    def _n_scores(self) -> int:
        """Scores of a row."""
        return int(self.intercept_.size)

    def _scores(self, X: Any) -> np.ndarray:
        jobs = getattr(self, "n_jobs", None)  # not all have it
        return linear_scores(X, self.coef_, self.intercept_, jobs)

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        return sp.csr_array(scores > 0, dtype=np.int8)

    def _best_alone(self, scores: np.ndarray) -> sp.csr_array:
        """The best class as a label set, for estimators that know of one only."""
        best = self._best(scores)
        ones = np.ones(best.size, dtype=np.int8)
        return sp.csr_array((ones, best, np.arange(best.size + 1)), shape=scores.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_scores, _score_blocks = LinearClassifier._scores, LinearClassifier._score_blocks


def tidy(X: Any) -> sp.csr_array:
    """Sorted rows without duplicates and zeros; a copy where X is not so already."""
    X = X if isinstance(X, sp.csr_array) else sp.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.data.all():
        return X
    X = X.copy()
    X.eliminate_zeros()
    return X


def check_range(X: sp.csr_array, dtype: Any) -> None:
    """Refuse features whose squares, summed over a row, are more than numbers of this type hold."""
    largest = max(X.data.max(initial=0.0), -X.data.min(initial=0.0))
    longest = max(1, int(np.diff(X.indptr).max(initial=0)))
    if float(largest) > math.sqrt(float(np.finfo(dtype).max) / longest):
        raise UserError(
            f"X holds values of size {largest:.0e}, too large to be squared in {np.dtype(dtype)}. "
            f"{TOO_LARGE}"
        )


def class_costs(
    class_weight: Any, targets: _targets.Targets, Y: sp.csr_array, sample_weight: Any = None
) -> Any:
    """Factors of the cost of negatives and positives of each column of Y, (2, n_columns), or None.

    class_weight : None, "balanced" or {class: weight}; the weight of a class is that of its
        positives, and with two exclusive classes that of the other one's negatives
    """
    if class_weight is None:
        return None
    out = np.ones((2, Y.shape[1]))
    if not targets.binary:
        out[1] = factors(class_weight, targets.names, Y, sample_weight)
    elif isinstance(class_weight, str):
        none = sp.csr_array(np.diff(Y.indptr)[:, None] == 0)
        both = sp.csr_array(sp.hstack([none, Y]))
        out[:, 0] = factors(class_weight, targets.names, both, sample_weight)
    else:
        out[:, 0] = named_factors(class_weight, targets.names)
    return out


def factors(class_weight: Any, names: Any, Y: sp.csr_array, sample_weight: Any = None) -> Any:
    """The factor of the cost of the positives of each column of Y, whose names are given."""
    if not isinstance(class_weight, str):
        return named_factors(class_weight, names)
    weight = np.ones(Y.shape[0]) if sample_weight is None else np.asarray(sample_weight)
    counts = np.asarray(weight @ Y, dtype=float)
    return np.divide(weight.sum(), Y.shape[1] * counts, out=np.ones(Y.shape[1]), where=counts > 0)


def named_factors(class_weight: Any, names: Any) -> np.ndarray:
    """The factor of each name, 1 where none is given."""
    known = set(names)
    for name, value in class_weight.items():
        if name not in known:
            raise UserError(
                f"class_weight names {shorten(name)}, which is not a class. "
                f"The classes are {shorten(list(names))}."
            )
        POSITIVE.check(f"The class weight of {shorten(name)}", value)
    return np.array([float(class_weight.get(name, 1.0)) for name in names])


class Independent(LinearClassifier):
    """Classes whose scores are log odds, each by itself."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, one column for each of `classes_`.

        With one label per sample they sum to 1: the shares in the sum of the sigmoids. With several
        a node has the probability of the best class at or below it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        check_is_fitted(self, "targets_")
        if self.targets_.one and self.targets_.by_path:
            return np.asarray(self.targets_.columns().total(self.class_probabilities(X)))
        return self._probabilities(self._label_scores(X))

    def class_probabilities(self, X: Any) -> np.ndarray:
        """Probabilities of the classes that were trained, in the order of training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_trained)
            One column for each class.
        """
        return self._probabilities(self.class_scores(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self.targets_.one:
            return np.asarray(softmax(log_expit(scores), axis=1))
        return np.asarray(expit(scores))
