"""Linear models that go on from what they have learned: `warm_start`, and rows in batches.

The model of all rows so far is one problem, and its certificate is for all of them, whichever
way it was reached. What was fitted is only the start: dual variables or means of the classes that
were there, zeros for new rows, and for a new class the weights of what is above it.

A batch is learned together with all rows before it, so these are kept (`kept_`). After `fit` that
is by reference, in memory only; a saved or pickled model has them if it was made with
`warm_start=True` or by `partial_fit`.
"""

from __future__ import annotations

import zlib
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from linnaeus.errors import UserError, shorten
from linnaeus.estimators import _batches, _targets
from linnaeus.estimators._linear import LinearClassifier, check_range, tidy
from linnaeus.estimators._rows import read_rows
from linnaeus.labels import moved, parse
from linnaeus.parameters import fitting, is_inferred, settled
from linnaeus.solvers.numerics.rounds import record
from linnaeus.taxonomy import Taxonomy


class Kept(NamedTuple):
    """Rows that a model has learned from."""

    X: sp.csr_array
    Y: sp.csr_array  # (n, n_columns) of 0 and 1
    names: tuple[Any, ...]  # of the columns
    weight: Any  # (n,), or None
    n_learned: np.ndarray  # (n_columns,) how many of the rows each class has been trained on
    check: int  # tells whether the rows are still the same
    saved: bool  # whether a model on disk has them too


class Continued(LinearClassifier):
    """Base of linear estimators with `warm_start` and `partial_fit`.

    `_solve` takes one argument more, the attributes of the model so far (or None), from which it
    starts; and `_solve_some` solves for some classes beside the others.
    """

    warm_start: bool = False  # for models that were saved before there was one
    _unsaved: tuple[str, ...] = ()  # what neither a model on disk nor a copy has

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples; with `warm_start` from where the last fit ended.

        With `warm_start`, row i is taken for row i of the last fit, and a class for the class of
        the same name. Rows may be appended, and labels, parameters and the taxonomy may be others:
        the result is the same as from nothing, within `tol`. It only takes less work.

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
        past = self._past() if self.warm_start else None
        prepared = self._prepared(X, y, sample_weight)
        self.__dict__.pop("held_", None)
        self._store(self._solve(*prepared, self._fitting(past)))
        self._keep(*prepared[:3], saved=self.warm_start)
        return self

    @fitting
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, taxonomy: Taxonomy | None = None, *,
        sample_weight: Any = None, only: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from more examples, together with all that came before.

        The result is the same as that of a fit of all rows so far, within `tol`, and so is its
        certificate. The rows so far are kept for it. A batch that fails leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            Labels, as in `fit`.
        classes : array-like of shape (n_classes,) or None, default=None
            Without a taxonomy, all classes that may come, to be given with the first batch; with
            one, nodes that are classes besides its leaves.
        taxonomy : Taxonomy or None, default=None
            A larger taxonomy with all nodes of the one before.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factor of the cost of each sample; None for 1.
        only : 'new', list or None, default=None
            Train these and all new classes, and leave the weights of all others as they are, bit
            by bit. It is quicker, but not the best for all rows: `gap_` tells how far from it, and
            a warning says when that is more than `tol`.

        Returns
        -------
        Self
            The fitted estimator.
        """
        before = dict(self.__dict__)
        try:
            self._learn_batch(X, y, classes, taxonomy, sample_weight, only)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _learn_batch(
        self, X: Any, y: Any, classes: Any, taxonomy: Any, sample_weight: Any, only: Any
    ) -> None:
        past = self._past()
        kept = None if past is None else self._kept_rows()
        X = read_rows(self, X, accept_sparse="csr", reset=past is None)
        X, weight = tidy(X), self._weights(sample_weight, X.shape[0])
        Y = self._batch_labels(y, X.shape[0], classes, taxonomy, past)
        X, Y, weight = _joined(kept, X, Y, weight, self.targets_, self.classes == "nodes")
        self.targets_, Y = self._adjusted(self.targets_, Y)
        dtype = self._dtype(X)
        check_range(X, dtype)
        self.__dict__.pop("held_", None)
        if only is None:
            solution, n_learned = self._solve(X, Y, weight, dtype, self._seed(), past), None
        else:
            held = self._held(only, past)
            self.held_ = [self.targets_.names[j] for j in np.flatnonzero(held >= 0).tolist()]
            solution = self._solve_some(X, Y, weight, self._seed(), past, held)
            n_learned = rows_learned(past, held, Y.shape[0])
        self._store(solution)
        self._keep(X, Y, weight, saved=True, n_learned=n_learned)

    def _batch_labels(self, y: Any, n: int, classes: Any, taxonomy: Any, past: Any) -> sp.csr_array:
        """The labels of a batch as columns to solve for; what is new about classes is taken in."""
        old = None if past is None else past.targets_
        if taxonomy is None and past is None:
            taxonomy, y = settled(self.taxonomy, y)
        elif taxonomy is None:
            taxonomy = past.taxonomy_
            y = parse(y, taxonomy, paths=True) if is_inferred(self.taxonomy) else y
        targets, Y = _batches.labels(y, taxonomy, classes, old, self.classes)
        check_consistent_length(np.empty(n), Y)
        self.targets_ = _batches.joined(old, targets, Y, classes)
        self.taxonomy_ = taxonomy
        return self._columns(Y)

    def _past(self) -> Any:
        """The attributes of the model so far, or None."""
        fitted = hasattr(self, "targets_") and hasattr(self, "intercept_")
        return SimpleNamespace(**vars(self)) if fitted else None

    def _fitting(self, past: Any) -> Any:
        """The past, if it was over as many features."""
        same = past is not None and past.n_features_in_ == self.n_features_in_
        return past if same else None

    def _keep(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, saved: bool, n_learned: Any = None
    ) -> None:
        names = column_names(self.targets_, Y.shape[1])
        n_learned = np.full(len(names), Y.shape[0]) if n_learned is None else n_learned
        self.kept_ = Kept(X, Y, names, weight, n_learned, checksum(X), saved)
        self.__dict__.pop("_unsaved", None)
        if not saved:
            self._unsaved = ("kept_", "duals_", "_unsaved")

    def _kept_rows(self) -> Kept:
        kept: Kept | None = getattr(self, "kept_", None)
        if kept is None:
            raise UserError(
                f"This {type(self).__name__} was saved without the rows that it learned from. Fit "
                f"it with warm_start=True, which saves them too, to go on by partial_fit."
            )
        if checksum(kept.X) != kept.check:
            raise UserError(
                "The matrix X that was given to fit has been changed since, and partial_fit needs "
                "it as it was. Give fit a copy."
            )
        return kept

    def _held(self, only: Any, past: Any) -> np.ndarray:
        """For each column its row in the past, or -1 if it is to be trained."""
        if past is None or self.targets_.binary:
            why = (
                "there are two exclusive classes, of one set of weights" if past else "it is first"
            )
            raise UserError(f"only={shorten(only)} cannot be used: {why}. Leave it out.")
        names, old = self.targets_.names, column_names(past.targets_, past.intercept_.size)
        some = (
            []
            if isinstance(only, str) and only == "new"
            else list(np.ravel(np.array(only, object)))
        )
        for name in some:
            if name not in names:
                raise UserError(
                    f"only names {shorten(name)}, which is not a class. Use 'new', or a list of "
                    f"classes such as {shorten(list(names))}."
                )
        place = {name: j for j, name in enumerate(old)}
        return np.array([-1 if name in set(some) else place.get(name, -1) for name in names])

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any = None
    ) -> Any:
        return super()._solve(X, Y, weight, dtype, seed)

    def _solve_some(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, seed: int, past: Any, held: Any
    ) -> Any:
        """Solve for the columns with held -1, the others being kept; certify the whole."""
        raise UserError(f"{type(self).__name__} cannot train some classes only. Leave out only.")

    def _remedy(self) -> str:
        if not hasattr(self, "held_"):
            return super()._remedy()
        return "Call partial_fit or fit without only, to train the classes that were held too."

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in self._unsaved}


def checksum(X: sp.csr_array) -> int:
    """A number that changes when the rows do."""
    indices, data = (np.ascontiguousarray(array).data for array in (X.indices, X.data))
    return zlib.crc32(indices, zlib.crc32(data))


def column_names(targets: _targets.Targets, n_columns: int) -> tuple[Any, ...]:
    """The classes that columns are solved for: the second one alone where there are two."""
    return targets.names[-n_columns:]


def rows_of(names: Any, old: Any) -> np.ndarray:
    """Where each name was before, or -1."""
    place = {name: j for j, name in enumerate(old)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def rows_learned(past: Any, held: np.ndarray, n: int) -> np.ndarray:
    """How many of n rows each class has been trained on, if some are held."""
    return np.where(held < 0, n, past.kept_.n_learned[held])


def past_duals(past: Any, names: Any, n: int, C: float) -> Any:
    """Dual variables of an earlier fit for n rows and these classes: 0 for what is new.

    They are kept in units of C, since those at their upper bound stay there when C changes.
    """
    duals = getattr(past, "duals_", None)
    if duals is None:
        return None
    at = rows_of(column_names(past.targets_, duals.shape[1]), names)  # where each column is now
    have = np.flatnonzero(at >= 0)
    part = sp.coo_array(sp.csr_array(duals[:n])[:, have])
    values = part.data * part.data.dtype.type(C)
    return sp.csr_array((values, (part.row, at[have][part.col])), (n, len(names)))


def in_units(duals: sp.csr_array, C: float) -> sp.csr_array:
    """Dual variables over C."""
    return sp.csr_array(duals * duals.dtype.type(1 / C))


def with_columns(duals: sp.csr_array, columns: np.ndarray, new: sp.csr_array) -> sp.csr_array:
    """Dual variables with those of some classes replaced."""
    return sp.csr_array(replaced(sp.csr_array(duals.T), columns, sp.csr_array(new.T)).T)


def replaced(W: Any, rows: np.ndarray, new: Any) -> Any:
    """W with some rows replaced; the others are the same to the last bit."""
    if not sp.issparse(W):
        W[rows] = new
        return W
    order = np.arange(W.shape[0])
    order[rows] = W.shape[0] + np.arange(rows.size)
    return sp.csr_array(sp.csr_array(sp.vstack([W, sp.csr_array(new)]))[order])


def whole(P: Any, D: Any, trace: list[Any]) -> dict[str, float]:
    """The last entry of a trace: what all classes have come to."""
    seconds = trace[-1]["seconds"] if trace else 0.0
    return record(seconds, float(np.sum(P)), float(np.sum(P) - np.sum(D)))


def _joined(
    kept: Kept | None, X: sp.csr_array, Y: sp.csr_array, weight: Any, targets: _targets.Targets,
    nodes: bool,
) -> tuple[sp.csr_array, sp.csr_array, Any]:  # fmt: skip
    """The rows kept, over the classes of today, and those of a batch."""
    if kept is None:
        return X, Y, weight
    old = kept.Y
    if targets.taxonomy is not None:
        old = moved(old, kept.names, targets.names)
        old = targets.taxonomy.closure(old) if nodes else old
    if weight is not None or kept.weight is not None:
        parts = [(kept.weight, kept.X.shape[0]), (weight, X.shape[0])]
        weight = np.concatenate([np.ones(n) if w is None else w for w, n in parts])
    both = (sp.csr_array(sp.vstack(pair)) for pair in ((kept.X, X), (old, Y)))
    return *both, weight
