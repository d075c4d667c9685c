"""What all estimators share: labels, weights of examples, seeds, certificates."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight

from linnaeus import storage
from linnaeus.errors import UserError
from linnaeus.estimators import _targets
from linnaeus.fitting import is_interrupted
from linnaeus.parameters import (
    COUNT,
    FLAG,
    FLOAT_TYPE,
    JOBS,
    MAPPING,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    SEED,
    TAXONOMY,
    Limits,
    choice,
)
from linnaeus.taxonomy import Taxonomy

TOO_LARGE = "Scale the rows to length 1, or the columns to a range near 1."


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; `classes` says of which nodes: the "leaves", or all "nodes"."""

    taxonomy: Taxonomy | None
    classes: str
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    random_state: Any
    several = True  # whether a sample may have several labels
    limits = Limits(  # of parameters that several estimators have; one name means one thing
        taxonomy=TAXONOMY, C=POSITIVE, tol=POSITIVE, max_iter=COUNT,
        classes=choice("leaves", "nodes"), fit_intercept=FLAG,
        intercept_scaling=POSITIVE, class_weight=choice("balanced") | MAPPING | NONE,
        prune=NOT_NEGATIVE, warm_start=FLAG, dtype=FLOAT_TYPE, n_jobs=JOBS,
        random_state=SEED,
    )  # fmt: skip

    def _learn_targets(self, y: Any, n: int) -> sp.csr_array:
        """The labels of n examples as columns to solve for; classes and forms are kept."""
        self.targets_, Y = _targets.learn(y, self.taxonomy, self.classes)
        check_consistent_length(np.empty(n), Y)
        self.targets_, Y = self._adjusted(self.targets_, Y)
        self.classes_, self.taxonomy_ = self.targets_.classes(), self.taxonomy
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
        if reached > self.tol and not is_interrupted():
            warnings.warn(
                f"{type(self).__name__} stopped at {what} of {reached:.2e}, "
                f"above tol={self.tol:.0e}. {self._remedy()}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _remedy(self) -> str:
        """What helps where the certificate is not what was asked for."""
        return f"Raise max_iter or tol{', or use float64' if hasattr(self, 'dtype') else ''}."

    def save(self, path: str | Path) -> None:
        """Write the estimator, fitted or not, as a directory; read it with `linnaeus.load`.

        Parameters
        ----------
        path : str or Path
            Directory to write.
        """
        storage.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.several
        tags.target_tags.multi_output = False
        return tags
