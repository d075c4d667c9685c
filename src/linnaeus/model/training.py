"""Fit features, an estimator and a decision rule as one model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.rules import choose_rule
from linnaeus.errors import UserError, shorten
from linnaeus.io.collection import Part
from linnaeus.io.copies import Copies
from linnaeus.labels import name_array, parse
from linnaeus.metrics.baseline import commonest_set
from linnaeus.model.candidates import BUDGET
from linnaeus.model.choice import check_suited, choose_method
from linnaeus.model.confidence import learn_confidence
from linnaeus.model.features import Choice, choose_features
from linnaeus.model.held_out import HeldOut, held_out_splits, hold_out
from linnaeus.model.methods import INFO, OWN, make
from linnaeus.model.model import Model, check_rule, held_out_figures, inputs_of
from linnaeus.model.profile import training_profile
from linnaeus.model.search import METRIC, Found, Trial, best_method, best_variant
from linnaeus.parameters import check_parameters
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]
FEW = 20  # rows below which none are held out to learn how sure a model is


def train(
    part: Part,
    taxonomy: Taxonomy,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    features: Any = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    X: Any = None,
    rule: str = "auto",
    rule_parameters: Mapping[str, Any] | None = None,
    folds: int | None = None,
    valid: Part | None = None,
    budget: float = BUDGET,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Model:
    """A model of the examples of a part.

    Parameters
    ----------
    part : Part
        Examples with labels.
    taxonomy : Taxonomy
        The taxonomy.
    method : str or None, default=None
        Name in `linnaeus.model.METHODS`; None tries some on held-out rows and takes the best.
    parameters : dict or None, default=None
        Parameters of the estimator.
    features : str or object, default='auto'
        'auto', a kind of `linnaeus.model.KINDS`, or a fitted transformer.
    feature_parameters : dict or None, default=None
        Parameters of the features.
    X : {ndarray, csr_array} of shape (n_rows, n_features) or None, default=None
        The rows that a fitted transformer makes of the part, where they are known already.
    rule : str, default='auto'
        'auto' takes the best on held-out scores; 'own' is what the estimator itself predicts; else
        a name of `linnaeus.decisions.RULES`.
    rule_parameters : dict or None, default=None
        Parameters of the rule.
    folds : int or None, default=None
        Folds for held-out scores; 1 holds out a fifth once; None takes 3, or 1 for large data.
    valid : Part or None, default=None
        Rows by which to choose, in place of folds; the model learns from them too.
    budget : float, default=60.0
        About how many seconds to spend on trying methods, where none is given. What that allows is
        worked out beforehand, so the result does not depend on the machine. 0 tries nothing, and
        takes the method that was best on collections like this.
    seed : int, default=0
        Seed of everything that is drawn.
    jobs : int, default=1
        Threads; -1 for all cores. The result does not depend on it.
    step : callable or None, default=None
        Told what is being done, how many steps are done, and how many there are.

    Returns
    -------
    Model
    """
    step = step or (lambda *_: None)
    n_train, part = len(part), part if valid is None else part.joined(valid)
    labels = TrainingLabels.of(part, taxonomy)
    _check_given(rule, rule_parameters, budget)
    chosen = choose_method(method, part, taxonomy, labels.several)
    own = dict(parameters or {})
    check_parameters(make(chosen.method, taxonomy, chosen.parameters | own, seed, jobs))
    check_suited(chosen.method, labels.several, taxonomy)
    copies = Copies.of(inputs_of(part))
    step("features", 0, 4)
    fitted, X, told = _featured(part, features, feature_parameters, X)
    splits = splits_of(labels.y, n_train, folds, seed, copies.groups)
    trial = Trial(X, labels.y, taxonomy, splits, labels.several, rule, seed, jobs)
    found = Found(chosen, {})
    if method is None:
        found = best_method(trial, chosen, own, is_standard(fitted), budget, step)
    chosen, searched = best_variant(trial, found, own, budget, step)
    settings = chosen.parameters | own
    step("fit", 1, 4)
    estimator = make(chosen.method, taxonomy, settings, seed, jobs)
    with _blaming(f"The method {chosen.method!r}", parameters):
        estimator.fit(X, labels.y)
    model = Model(
        taxonomy, fitted, estimator,
        about={
            "method": chosen.method,
            "parameters": settings,
            "seed": seed,
            "why": chosen.why,
            "features": told,
            "data": summary(labels.own, taxonomy, X) | {"copies": copies.n},
            "certificate": certificate(estimator),
            **({"search": searched} if searched else {}),
        },
        train_counts=np.bincount(labels.closed.indices, minlength=len(taxonomy)),
        own_counts=np.bincount(labels.own.indices, minlength=len(taxonomy)),
        profile=training_profile(fitted, inputs_of(part), X, copies.groups),
        digests=copies.kept(),
    )  # fmt: skip

    def scored(done: int, total: int) -> None:
        step("held-out scores", 2 * total + done, 4 * total)

    return _with_rule(model, X, labels, rule, rule_parameters or {}, splits, seed, scored)


def _check_given(rule: str, parameters: Mapping[str, Any] | None, budget: float) -> None:
    if rule != "auto":
        check_rule(rule, parameters or {})
    check_budget(budget)


def splits_of(
    y: Any, n_train: int, folds: int | None, seed: int, groups: Any = None
) -> list[Split]:
    """Rows to fit on and rows to score: what comes after `n_train` rows, else folds.

    groups : copies of a row, which stay together; where all rows are copies there are no splits
    """
    n = y.shape[0]
    if n_train < n:
        return [(np.arange(n_train), np.arange(n_train, n))]
    distinct = n if groups is None else np.unique(groups).size
    return held_out_splits(y, folds, seed, groups) if distinct > 1 else []


def is_standard(features: Any) -> bool:
    """Whether features are standardised columns."""
    return getattr(features, "scale_", None) == "standard"


def check_budget(budget: float) -> None:
    """Refuse what is no number of seconds."""
    if not 0 <= budget < np.inf:
        raise UserError(
            f"The budget is {shorten(budget)}. Give seconds: 0 tries nothing, {BUDGET:g} is usual."
        )


def _with_rule(
    model: Model, X: Any, labels: TrainingLabels, rule: str, parameters: Mapping[str, Any],
    splits: list[Split], seed: int, callback: Callable[[int, int], None],
) -> Model:  # fmt: skip
    """The model with the rule asked for, or with the best on held-out scores."""
    if rule == OWN or (rule == "auto" and not labels.several):
        why = (
            "because you chose it"
            if rule == OWN
            else "every training row has one label: the best class"
        )
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if rule == OWN else _sure(kept, X, labels.y, splits[:1], callback)
    if not splits:
        why = "there is one distinct training row, so none can be held out"
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if rule == "auto" else kept.with_rule(rule, **parameters)
    own = INFO[model.about["method"]].decides
    scores = hold_out(
        model.estimator, X, labels.y, model.taxonomy, model.columns, splits, own=own,
        callback=callback,
    ).thinned(seed)  # fmt: skip
    model = with_confidence(_told(model, None, OWN, {}, scores), scores)
    if rule != "auto":
        return model.with_rule(rule, **parameters)
    extra = {OWN: scores.own} if own else None
    choice = choose_rule(
        scores.scores, scores.Y, model.taxonomy, model.columns,
        closed=model.closed, extra=extra, metric=METRIC, seed=seed,
    )  # fmt: skip
    told = {"name": choice.name, "why": choice.why, "table": choice.table}
    return _told(model, choice.rule, choice.name, told, scores)


def _sure(
    model: Model, X: Any, y: Any, splits: list[Split], callback: Callable[[int, int], None]
) -> Model:
    """The model with its confidence, for which some rows are held out once."""
    if len(y) < FEW or not splits or min(len(set(y[train])) for train, _ in splits) < 2:
        return model
    found = hold_out(
        model.estimator, X, y, model.taxonomy, model.columns, splits, callback=callback
    )
    return with_confidence(model, found)


def with_confidence(model: Model, held_out: HeldOut) -> Model:
    """The model with what its scores mean on held-out rows."""
    found = learn_confidence(held_out, model.taxonomy, model.columns, model.closed)
    return replace(model, confidence_map=found)


def _told(
    model: Model, rule: Any, name: str, told: dict[str, Any], held_out: HeldOut | None = None
) -> Model:
    figures = held_out_figures(told.get("table", ()), name)
    about = {**model.about, "rule": told, "metrics": figures}
    return replace(model, rule=rule, rule_name=name, about=about, held_out=held_out)


class TrainingLabels(NamedTuple):
    """The labels of training rows: as given, closed upwards, the most specific, as taught."""

    given: sp.csr_array  # all three over the nodes
    closed: sp.csr_array
    own: sp.csr_array
    y: Any  # a name per row where each has one label of its own, else `given`
    several: bool  # whether some row has several labels of its own, or none

    @classmethod
    def of(cls, part: Part, taxonomy: Taxonomy) -> TrainingLabels:
        """Of a part; one without rows or labels is refused."""
        if not len(part):
            raise UserError("There are no training rows. Give some.")
        one = all(len(row) == 1 for row in part.labels)
        names = name_array([label for row in part.labels for label in row]) if one else None
        given = taxonomy.encode(parse(part.labels if names is None else names, taxonomy))
        if not given.nnz:
            raise UserError(
                f"None of the {len(part):,} training rows has a label, so there is nothing to "
                f"learn. Put the labels into a column or field called 'labels'."
            )
        closed = taxonomy.closure(given)
        own = taxonomy.most_specific(given)
        several = not (np.diff(own.indptr) == 1).all()
        if names is None and not several:
            names = name_array(taxonomy.names(own.indices))
        return cls(given, closed, own, given if several else names, several)


def _featured(
    part: Part, features: Any, parameters: Mapping[str, Any] | None, X: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """The fitted transformer, the rows that it makes, and what there is to tell about it."""
    if not isinstance(features, str):
        X = features.transform(inputs_of(part)) if X is None else X
        return features, X, {"kind": type(features).__name__, "why": "as given"}
    inputs = inputs_of(part)
    with _blaming(f"The features {features!r}", parameters):
        choice: Choice = choose_features(part, features, parameters)
        X = choice.features.fit_transform(inputs)
    told = {"kind": choice.kind, "why": choice.why, "parameters": dict(parameters or {})}
    return choice.features, X, told


@contextmanager
def _blaming(what: str, parameters: Mapping[str, Any] | None) -> Iterator[None]:
    """Where values of parameters do not work, say which were given."""
    try:
        yield
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        if not parameters:
            raise
        given = ", ".join(f"{name}={shorten(value)}" for name, value in parameters.items())
        raise UserError(
            f"{what} cannot be fitted with {given}: {error}. Check these values."
        ) from error


def summary(own: sp.csr_array, taxonomy: Taxonomy, X: Any) -> dict[str, Any]:
    """The counts that describe training data, from the most specific labels of its rows."""
    n = own.shape[0]
    return {
        "rows": n,
        "features": int(X.shape[1]),
        "nodes": len(taxonomy),
        "classes": len(np.union1d(own.indices, taxonomy.leaf_numbers)),
        "tree": bool(taxonomy.is_tree),
        "labels_per_row": own.nnz / n,
        "rows_without_labels": int((np.diff(own.indptr) == 0).sum()),
        "sparse": bool(sp.issparse(X)),
        "most_common_labels": list(taxonomy.names(commonest_set(own))),
    }


def certificate(estimator: Any) -> dict[str, float]:
    """How near to its optimum an estimator is, as plain numbers."""
    names = ("objective_", "dual_objective_", "gap_", "lower_bound_", "n_iter_")
    found = {name: getattr(estimator, name, None) for name in names}
    return {name.rstrip("_"): float(v) for name, v in found.items() if isinstance(v, int | float)}
