"""What all estimators share: labels, columns, weights of examples, seeds, certificates."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from linnaeus import storage
from linnaeus.decisions.base import accuracy
from linnaeus.decisions.columns import halved
from linnaeus.errors import UserError
from linnaeus.estimators import _targets
from linnaeus.execution import BACKENDS, CHECKPOINT
from linnaeus.execution.watching import is_interrupted
from linnaeus.labels import name_array, noted, noting
from linnaeus.parameters import (
    COUNT,
    FLAG,
    FLOAT_TYPE,
    JOBS,
    MAPPING,
    MEMORY,
    NONE,
    NOT_NEGATIVE,
    PATH,
    POSITIVE,
    SEED,
    TAXONOMY,
    Limits,
    choice,
    settled,
)
from linnaeus.solvers.numerics.rounds import relative
from linnaeus.taxonomy import Taxonomy

TOO_LARGE = "Scale the rows to length 1, or the columns to a range near 1."
ROUNDING = 1e-6  # of the objective, by which a dual value may lie above it


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; `classes` says of which nodes: the "leaves", or all "nodes"."""

    taxonomy: Taxonomy | str | None
    classes: str
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    random_state: Any
    leaves_out_empty = False  # whether nodes of a graph without examples are no classes
    several = True  # whether a sample may have several labels
    empty = "none"  # as it was before there was the parameter
    backend: str | None = None  # where and how a fit was made is no part of the model
    checkpoint: str | Path | None = None
    memory: str | int | None = None
    _never_saved = ("backend", "checkpoint", "memory")

    limits = Limits(  # of parameters that several estimators have; one name means one thing
        taxonomy=TAXONOMY, C=POSITIVE, tol=POSITIVE, max_iter=COUNT,
        classes=choice("leaves", "nodes"), empty=choice("best", "none"), fit_intercept=FLAG,
        intercept_scaling=POSITIVE, class_weight=choice("balanced") | MAPPING | NONE,
        prune=NOT_NEGATIVE, warm_start=FLAG, dtype=FLOAT_TYPE, n_jobs=JOBS,
        random_state=SEED, backend=choice(*BACKENDS) | NONE, checkpoint=PATH | NONE,
        memory=MEMORY | NONE,
    )  # fmt: skip

    # -- classes ----------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, one for each column of `decision_function` and `predict_proba`.

        For one label per sample those seen in training, sorted; for label sets the columns of `y`,
        or all nodes of the taxonomy in their order; for paths all nodes.
        """
        return self.targets_.classes()

    @property
    def coef_names_(self) -> np.ndarray:
        """The classes that were trained, one for each row of `coef_`."""
        names = self.targets_.names
        return name_array(names[1:] if self.targets_.binary else names)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "predict" in vars(cls):
            cls.predict = _as_taught(cls.predict)
        for name in {"decision_function", "predict_proba"} & vars(cls).keys():
            setattr(cls, name, noting(vars(cls)[name]))

    def _learn_targets(self, y: Any, n: int) -> sp.csr_array:
        """The labels of n examples as columns to solve for; classes and forms are kept."""
        if isinstance(self.taxonomy, str):  # "infer", as the limits say
            self.taxonomy_, y = settled(self.taxonomy, y)
        else:
            self.taxonomy_ = self.taxonomy
        self.targets_, Y = _targets.learn(y, self.taxonomy_, self.classes)
        check_consistent_length(np.empty(n), Y)
        self.targets_, Y = self._adjusted(self.targets_, Y)
        return self._columns(Y)

    def classes_of(self, y: Any) -> tuple[Any, ...]:
        """The classes that a fit of these labels trains: the columns of its `class_scores`.

        Parameters
        ----------
        y : array-like, sparse matrix or list of lists
            Labels, as in `fit`.

        Returns
        -------
        tuple
            Their names.
        """
        fresh = copy(self)
        fresh._learn_targets(y, _num_samples(y))
        return tuple(fresh.targets_.names)

    def _adjusted(
        self, targets: _targets.Targets, Y: sp.csr_array
    ) -> tuple[_targets.Targets, sp.csr_array]:
        """Of the nodes of a graph those with examples, where classes can do without the others."""
        known = self.leaves_out_empty and self.classes == "leaves"
        return _targets.with_examples(targets, Y) if known else (targets, Y)

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        """The columns to solve for: the second class alone where there are two."""
        return Y[:, [1]] if self.targets_.binary else Y

    # -- scores -----------------------------------------------------------------------------

    @noting
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, one column for each of `classes_`; (n,) for one label per sample of two.

        An inner node that is a column has the best score of the classes at or below it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column for each of `classes_`; one number per sample for one label of two.
        """
        check_is_fitted(self, "targets_")
        if not (self.targets_.one and self.targets_.by_path):
            return self._halved(self._label_scores(X))
        columns = self.targets_.columns()
        return stacked(columns.best(self._both(S)) for S in self._score_blocks(X))

    def node_scores(self, X: Any) -> np.ndarray:
        """Scores of all nodes in their order, whatever the form of `y`.

        A node has the best score of the classes at or below it. Without a taxonomy there is a
        column for each class, also for two.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_nodes)
            One column for each of `taxonomy_.nodes`.
        """
        check_is_fitted(self, "targets_")
        columns = self.targets_.node_columns(self.taxonomy_)
        scores = stacked(columns.best(self._both(S)) for S in self._score_blocks(X))
        return scores if self.taxonomy_ is None else noted(scores, self.taxonomy_.nodes)

    def class_scores(self, X: Any) -> np.ndarray:
        """Scores of the classes that were trained, in the order of training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_trained)
            One column for each class.
        """
        two, blocks = self.targets_.binary, self._score_blocks(X)
        scores = stacked(map(self._both, blocks) if two else blocks)
        return scores if self.taxonomy_ is None else noted(scores, self.targets_.names)

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        """Scores of the classes trained, for blocks of rows; of two exclusive ones the second."""
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _label_scores(self, X: Any) -> np.ndarray:
        """Scores of the labels of which one is answered, also for two; else of `classes_`."""
        check_is_fitted(self, "targets_")
        columns = self.targets_.label_columns() if self.targets_.one else self.targets_.columns()
        return stacked(columns.best(self._both(S)) for S in self._score_blocks(X))

    def _both(self, scores: np.ndarray) -> np.ndarray:
        """A column for each of two exclusive classes."""
        return np.hstack([-scores, scores]) if self.targets_.binary else scores

    def _halved(self, scores: np.ndarray) -> np.ndarray:
        """The scores of two exclusive labels as one."""
        if self.targets_.binary:
            return scores[:, 1]
        return halved(scores) if self.targets_.one and not self.targets_.by_path else scores

    def _best(self, scores: np.ndarray) -> np.ndarray:
        """The class of each row with the highest score, of those that were labels in training."""
        taught, scores = self.targets_.taught, self._both(scores)
        if taught is None or len(taught) == scores.shape[1]:
            return np.asarray(np.argmax(scores, axis=1))
        return np.asarray(taught[np.argmax(scores[:, taught], axis=1)])

    def _fills(self) -> bool:
        """Whether a row of several labels is to have at least one."""
        return self.empty == "best" and self.targets_.full is not False

    # -- fitting ----------------------------------------------------------------------------

    def _weights(self, sample_weight: Any, n: int) -> Any:
        """The weights of n examples, or None."""
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
        if not (weight > 0).any():
            raise UserError("All sample weights are 0. Give some example a positive weight.")
        return weight

    def _seed(self) -> int:
        """Of all that is drawn; a fit with a checkpoint must draw the same when it goes on."""
        if self.random_state is None and CHECKPOINT.get() is not None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _bias(self) -> float:
        """The size of the constant feature."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _certify(
        self, objective: Any, dual: Any, n_iter: int, trace: Any, psi: float | None = None
    ) -> None:
        """Keep the certificate of the whole, and warn where it is not what was asked for.

        psi : the largest violation of the optimality conditions, where `tol` bounds that
        """
        self.objective_, self.dual_objective_ = float(np.sum(objective)), float(np.sum(dual))
        gap = self.objective_ - self.dual_objective_
        if -ROUNDING * abs(self.objective_) <= gap < 0.0:
            gap = 0.0
        self.gap_ = relative(gap, self.objective_)
        self.n_iter_ = n_iter
        self.trace_ = trace
        if not math.isfinite(gap):
            raise UserError(
                f"The objective of {type(self).__name__} is {self.objective_}. {TOO_LARGE}"
            )
        what, reached = ("a psi", psi) if psi is not None else ("a relative duality gap", self.gap_)
        if reached > self.tol and not is_interrupted():
            warnings.warn(
                f"{type(self).__name__} stopped at {what} of {reached:.2e}, "
                f"above tol={self.tol:.0e}. {self._remedy()}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _remedy(self) -> str:
        """What helps where the certificate is not what was asked for."""
        if self.n_iter_ < self.max_iter:
            return (
                "Rounding hides the rest: lower C, scale the features to a range near 1, or raise "
                "tol."
            )
        return f"Raise max_iter or tol{', or use float64' if hasattr(self, 'dtype') else ''}."

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label set is predicted whole.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            True labels, in any form of `linnaeus.labels`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each sample; None for 1.

        Returns
        -------
        float
            From 0 to 1.
        """
        return accuracy(self, X, y, sample_weight, super().score)

    def save(self, path: str | Path) -> None:
        """Write the estimator, fitted or not, as a directory; read it with `linnaeus.load`.

        Parameters
        ----------
        path : str or Path
            Directory to write.
        """
        storage.save(self, path)
        self.save_index(path)

    def save_index(self, path: str | Path) -> None:
        """Write what makes answers quick beside the saved weights, where that is worth it.

        Parameters
        ----------
        path : str or Path
            Directory that holds these weights.
        """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.several
        tags.target_tags.multi_output = False
        return tags


def stacked(blocks: Iterator[np.ndarray]) -> np.ndarray:
    """Blocks of rows as one array; a single one is not copied."""
    parts = list(blocks)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _as_taught(predict: Callable[..., Any]) -> Callable[..., Any]:
    """A method that says in names what `predict` says, made to say it as it was taught.

    As paths, as numbers, or as a data frame whose rows are called like those of X.
    """

    @functools.wraps(predict)
    def answer(self: Any, X: Any, *more: Any, **options: Any) -> Any:
        said = predict(self, X, *more, **options)
        return self.targets_.form.finished(said, self.taxonomy_, X)

    return answer
