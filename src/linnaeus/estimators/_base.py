"""What all estimators share: labels, weights of examples, seeds, certificates."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight

from linnaeus import storage
from linnaeus.decisions.base import accuracy
from linnaeus.errors import UserError
from linnaeus.estimators import _targets
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.inferring import settled

TOO_LARGE = "Scale the rows to length 1, or the columns to a range near 1."


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; `classes` says of which nodes: the "leaves", or all "nodes"."""

    taxonomy: Taxonomy | str | None
    classes: str
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    random_state: Any
    several = True  # whether a sample may have several labels

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "predict" in vars(cls):
            cls.predict = _as_taught(cls.predict)

    def _learn_targets(self, y: Any, n: int) -> sp.csr_array:
        """The labels of n examples as columns to solve for; classes and forms are kept."""
        self.taxonomy_, y = settled(self.taxonomy, y)
        self.targets_, Y = _targets.learn(y, self.taxonomy_, self.classes)
        check_consistent_length(np.empty(n), Y)
        self.targets_, Y = self._adjusted(self.targets_, Y)
        self.classes_ = self.targets_.classes()
        return self._columns(Y)

    def _adjusted(
        self, targets: _targets.Targets, Y: sp.csr_array
    ) -> tuple[_targets.Targets, sp.csr_array]:
        """What a subclass makes of the classes."""
        return targets, Y

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        """The columns to solve for: the second class alone where there are two."""
        return Y[:, [1]] if self.targets_.binary else Y

    def _weights(self, sample_weight: Any, n: int) -> Any:
        """The weights of n examples, or None."""
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
        if not (weight > 0).any():
            raise UserError("All sample weights are 0. Give some example a positive weight.")
        return weight

    def _seed(self) -> int:
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
        self.gap_ = (self.objective_ - self.dual_objective_) / max(1.0, abs(self.objective_))
        self.n_iter_ = n_iter
        self.trace_ = trace
        if not math.isfinite(self.gap_):
            raise UserError(
                f"The objective of {type(self).__name__} is {self.objective_}. {TOO_LARGE}"
            )
        what, reached = ("a psi", psi) if psi is not None else ("a relative duality gap", self.gap_)
        if reached > self.tol:
            more = ", or use float64" if hasattr(self, "dtype") else ""
            warnings.warn(
                f"{type(self).__name__} stopped at {what} of {reached:.2e}, "
                f"above tol={self.tol:.0e}. Raise max_iter or tol{more}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label set is predicted whole."""
        return accuracy(self, X, y, sample_weight, super().score)

    def save(self, path: str | Path) -> None:
        """Write the estimator as a directory, fitted or not; read it with `linnaeus.load`."""
        storage.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.several
        tags.target_tags.multi_output = False
        return tags


def _as_taught(predict: Callable[..., Any]) -> Callable[..., Any]:
    """A method that says in names what `predict` says, made to say it as it was taught.

    As paths, as numbers, or as a data frame whose rows are called like those of X.
    """

    @functools.wraps(predict)
    def answer(self: Any, X: Any, *more: Any, **options: Any) -> Any:
        said = predict(self, X, *more, **options)
        return self.targets_.form.finished(said, self.taxonomy_, X)

    return answer


def check_positive(**values: float) -> None:
    """Refuse parameters that are not positive, finite numbers."""
    for name, value in values.items():
        if not 0 < value < np.inf:
            raise UserError(f"{name} is {value!r}. It must be a positive number.")
