"""What is explained: a model, a fitted estimator, a pipeline that ends in one, or a decision on it.

Whatever it is, an example passes through steps of features to an estimator whose weights are known,
and a rule decides on the scores:

    x --outer steps--> (decision) --inner steps--> X --estimator--> scores --rule--> label set
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from linnaeus.decisions import Decision
from linnaeus.errors import UserError
from linnaeus.explanation.spans import Occurrences, occurrences
from linnaeus.model import Model
from linnaeus.model.methods import OWN
from linnaeus.taxonomy import Taxonomy


class Subject:
    """A model, or something like it, with what an explanation asks of it.

    model : taxonomy, estimator and rule, as a `Model`
    columns : the names of the columns of the scores
    """

    def __init__(self, given: Any, feature_names: Sequence[Any] | None = None) -> None:
        self._given_names = None if feature_names is None else list(map(str, feature_names))
        self._decision: Decision | None = None
        self._outer: list[Any] = []
        self._inner: list[Any] = []
        if isinstance(given, Model):
            self.model, self._outer, self.columns = given, [given.features], given.columns
            return
        check_is_fitted(given)
        core = _without_steps(given, self._outer)
        if isinstance(core, Decision):
            self._decision = core
            check_is_fitted(core, "estimator_")
            core = _without_steps(core.estimator_, self._inner)
        if not hasattr(core, "targets_"):
            raise UserError(
                f"{type(core).__name__} cannot be explained: its weights are unknown here. Use an "
                f"estimator of linnaeus, alone, in a pipeline, or in a decision."
            )
        self.model = _as_model(core, self._decision)
        self.columns = self.model.columns if self._decision is None else self._decision.columns_

    @property
    def _steps(self) -> list[Any]:
        return [*self._outer, *self._inner]

    def scores_and_sets(self, x: Any) -> tuple[Any, np.ndarray, sp.csr_array]:
        """One example as the estimator sees it, its scores, and its label set closed upwards."""
        seen = _through(self._outer, self._one_row(x))
        X, model = _through(self._inner, seen), self.model
        if self._decision is None:
            scores = class_scores(model.estimator, X)
            return X, scores.ravel(), model.decide(X, scores)
        sets = model.taxonomy.encode(self._decision.predict(seen))
        return X, self._decision._scores(seen).ravel(), model.taxonomy.closure(sets)

    def _one_row(self, x: Any) -> Any:
        """The example as the rows that the first step takes."""
        first = (self._steps or [self.model.estimator])[0]
        wants_table = hasattr(first, "n_features_in_")
        if isinstance(x, str):
            if wants_table:
                raise UserError(
                    "The model was trained on features, but a text is given. Give a row of "
                    "features."
                )
            return [x]
        if not wants_table:
            raise UserError("The model was trained on texts, but a row is given. Give a text.")
        return _table_row(x, getattr(first, "feature_names_in_", None))

    @cached_property
    def names(self) -> list[str] | None:
        """The names of the features of the estimator; None where nobody knows them."""
        n = self.model.estimator.n_features_in_
        given = self._given_names
        if given is not None and len(given) == n:
            return given
        first = getattr(next(iter(self._steps), None), "n_features_in_", n)
        if given is not None and len(given) != first:
            raise UserError(
                f"There are {len(given)} feature_names, but {n} features. Give one name for each."
            )
        known: Any = given
        for step in self._steps:
            try:
                known = step.get_feature_names_out() if known is None else _renamed(step, known)
            except (AttributeError, ValueError):  # this step cannot tell
                known = None
        if known is None:
            known = getattr(self.model.estimator, "feature_names_in_", None)
        return None if known is None or len(known) != n else list(map(str, known))

    def occurrences(self, text: str) -> tuple[Occurrences, dict[int, int]] | None:
        """Where terms occur in a text, and which feature each is; None where that is not known."""
        found = occurrences(self._steps[0], text)
        if found is None or len(self._steps) == 1:
            return None if found is None else (found, {c: c for c, _ in found.terms})
        terms, names = self._steps[0].get_feature_names_out(), self.names or []
        place = {name: j for j, name in enumerate(names)}
        at = {c: place[str(terms[c])] for c, _ in found.terms if str(terms[c]) in place}
        return (found, at) if at else None


def class_scores(estimator: Any, X: Any) -> np.ndarray:
    """The scores of the classes that an estimator has learned, (n, n_classes)."""
    if hasattr(estimator, "class_scores"):
        return np.asarray(estimator.class_scores(X), dtype=np.float64)
    scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _without_steps(given: Any, steps: list[Any]) -> Any:
    """What stands behind searches and the first steps of pipelines; the steps are listed."""
    while True:
        if hasattr(given, "best_estimator_"):
            given = given.best_estimator_
        elif isinstance(given, Pipeline):
            steps += [s for _, s in given.steps[:-1] if s is not None and s != "passthrough"]
            given = given.steps[-1][1]
        else:
            return given


def _as_model(estimator: Any, decision: Decision | None) -> Model:
    named = estimator.targets_.names
    taxonomy = getattr(estimator, "taxonomy_", None)
    if not isinstance(taxonomy, Taxonomy):
        taxonomy = None if decision is None else decision.taxonomy_
    if taxonomy is None:
        taxonomy = Taxonomy.flat(named)
    name = OWN if decision is None else type(decision).__name__
    return Model(taxonomy, None, estimator, decision, name)


def _through(steps: Sequence[Any], rows: Any) -> Any:
    for step in steps:
        rows = step.transform(rows)
    return rows


def _renamed(step: Any, names: Sequence[str]) -> Any:
    """What a step calls its columns, given the names of what goes in."""
    return step.get_feature_names_out(np.asarray(names, dtype=object))


def _table_row(x: Any, names: Any) -> Any:
    """A table with one row: of a row or column of a data frame, an array, a list, a sparse row."""
    if sp.issparse(x) and names is None:
        return sp.csr_array(x.reshape(1, -1) if x.ndim == 1 else x)
    x = x.toarray() if sp.issparse(x) else x
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a series of pandas
        x = x.to_frame().T.infer_objects()
    is_frame = hasattr(x, "columns")
    if names is None:
        return x.to_numpy() if is_frame else np.atleast_2d(np.asarray(x))
    if is_frame:
        missing = [name for name in names if name not in x.columns]
        if missing:
            raise UserError(f"The row has no column {missing[0]!r}. Give one for every feature.")
        return x[list(names)]
    import pandas as pd  # names came with data frames, so it is there

    return pd.DataFrame(np.atleast_2d(np.asarray(x)), columns=list(names))
