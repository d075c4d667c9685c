"""Metrics as scikit-learn's scorers, for cross_val_score, GridSearchCV and the like.

A scorer calls a fitted estimator on rows and compares the answer with the labels: label sets by
`predict`, scores by `decision_function`, or `predict_proba` where there is none. The columns of
scores are the labels in `classes_` of the estimator, by their names. More is better: losses change
their sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.labels import parse, plain_names
from linnaeus.metrics import at_k, ranking, sets
from linnaeus.metrics.au_prc import au_prc
from linnaeus.taxonomy import Taxonomy

OF_SETS = {
    f.__name__: f
    for f in (
        sets.micro_f1, sets.macro_f1, sets.hierarchical_f1, sets.hierarchical_precision,
        sets.hierarchical_recall, sets.zero_one_loss, sets.symmetric_difference_loss,
        sets.hierarchical_loss, sets.subscription_loss,
    )
}  # fmt: skip
OF_SCORES: dict[str, Any] = {
    f.__name__: f
    for f in (
        ranking.top1_accuracy, ranking.label_ranking_average_precision, ranking.ranking_loss,
        ranking.maximal_loss, ranking.top_loss, ranking.parent_accuracy, at_k.precision_at,
        at_k.recall_at, at_k.ndcg_at, at_k.propensity_precision_at, au_prc,
    )
}  # fmt: skip


def scorer(name: str, taxonomy: Taxonomy | None = None, **options: Any) -> Scorer:
    """A metric as a scorer of scikit-learn.

    Parameters
    ----------
    name : str
        One of the metrics of `linnaeus.metrics` that give one number; losses are negated.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, if there is one.
    **options : dict
        Options of the metric, such as k=5.

    Returns
    -------
    Scorer

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from linnaeus import FlatSVM
    >>> tax = Taxonomy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> X, y = [[0.0], [1.0], [0.1], [0.9]], ["cat", "dog", "cat", "dog"]
    >>> cross_val_score(FlatSVM(tax), X, y, scoring=scorer("hierarchical_f1", tax), cv=2).tolist()
    [1.0, 1.0]
    """
    known = (*OF_SETS, *OF_SCORES)
    if name not in known:
        raise UserError(
            f"The metric {shorten(name)} is not known{nearest(name, known)}. "
            f"Use one of: {', '.join(known)}."
        )
    return Scorer(name, taxonomy, options)


class Scorer:
    """Called with (estimator, X, y), gives one number, the higher the better."""

    def __init__(self, name: str, taxonomy: Taxonomy | None, options: dict[str, Any]) -> None:
        self.name, self.taxonomy, self.options = name, taxonomy, options

    def __repr__(self) -> str:
        given = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"scorer({self.name!r}, {self.taxonomy!r}{given})"

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """The value of a fitted estimator on some rows."""
        if y is None:
            raise UserError(f"The scorer {self.name!r} needs labels. Give y.")
        sign = -1.0 if self.name.endswith("_loss") else 1.0
        if self.name in OF_SETS:
            metric, answer, named = OF_SETS[self.name], estimator.predict(X), {}
        else:
            metric = OF_SCORES[self.name]
            answer, classes = named_scores(estimator, X, y, self.taxonomy)
            named = {"classes": classes}
        return sign * float(metric(y, answer, self.taxonomy, **named, **self.options))


def named_scores(
    estimator: Any, X: Any, y: Any, taxonomy: Taxonomy | None
) -> tuple[np.ndarray, list[Any] | None]:
    """Scores of rows and the names of their columns; None where these are the columns of y."""
    method = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
    if not hasattr(estimator, method):
        raise UserError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, which "
            f"metrics of scores need. Use a metric of label sets: {', '.join(OF_SETS)}."
        )
    S = getattr(estimator, method)(X)
    places = plain_names(y.columns) if hasattr(y, "columns") and taxonomy is not None else None
    if isinstance(S, list):  # one matrix for each column of an indicator
        each = zip(S, estimator.classes_, strict=True)
        return np.column_stack([_of_one(p, classes) for p, classes in each]), places
    S, given = np.asarray(S), parse(y, taxonomy)
    classes = plain_names(np.asarray(estimator.classes_))
    if given.form.kind != "one":
        by_place = taxonomy is None or classes == list(range(len(classes)))
        return S, places if by_place else classes
    return np.column_stack([-S, S]) if S.ndim == 1 else S, classes


def _of_one(p: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The probability of 1 in a column that was 0 and 1, or only one of them."""
    at = np.flatnonzero(np.asarray(classes) == 1)
    return p[:, at[0]] if at.size else np.zeros(len(p))
