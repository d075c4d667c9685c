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
from linnaeus.model.choice import check_suited, choose_method
from linnaeus.model.confidence import learn_confidence
from linnaeus.model.features import Choice, choose_features
from linnaeus.model.held_out import HeldOut, held_out_splits, hold_out
from linnaeus.model.methods import INFO, class_of, settings_of
from linnaeus.model.model import OWN, Model, check_rule, held_out_figures, inputs_of
from linnaeus.model.profile import training_profile
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
        Name in `linnaeus.model.METHODS`; None picks one for the data.
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
    labels = TrainingLabels.of(part, taxonomy)
    y, several = labels.y, labels.several
    if rule != "auto":
        check_rule(rule, rule_parameters or {})
    chosen = choose_method(method, part, taxonomy, several)
    settings = chosen.parameters | dict(parameters or {})
    checked = settings_of(chosen.method, settings, seed, jobs)  # mistakes show before any work
    check_suited(chosen.method, several, taxonomy)
    copies = Copies.of(inputs_of(part))
    step("features", 0, 4)
    fitted, X, told = _featured(part, features, feature_parameters, X)
    step("fit", 1, 4)
    estimator = class_of(chosen.method)(taxonomy, **checked)
    with _blaming(f"The method {chosen.method!r}", parameters):
        estimator.fit(X, y)
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
        },
        train_counts=np.bincount(labels.closed.indices, minlength=len(taxonomy)),
        own_counts=np.bincount(labels.own.indices, minlength=len(taxonomy)),
        profile=training_profile(fitted, inputs_of(part), X, copies.groups),
        digests=copies.kept(),
    )  # fmt: skip

    def scored(done: int, total: int) -> None:
        step("held-out scores", 2 * total + done, 4 * total)

    held = folds, seed, scored, copies.groups
    return _with_rule(model, X, y, several, rule, rule_parameters or {}, *held)


def _with_rule(
    model: Model, X: Any, y: Any, several: bool, rule: str, parameters: Mapping[str, Any],
    folds: int | None, seed: int, callback: Callable[[int, int], None], groups: Any,
) -> Model:  # fmt: skip
    """The model with the rule asked for, or with the best on held-out scores."""
    if rule == OWN or (rule == "auto" and not several):
        why = (
            "because you chose it"
            if rule == OWN
            else "every training row has one label: the best class"
        )
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if rule == OWN else _sure(kept, X, y, folds, seed, callback, groups)
    if (X.shape[0] if groups is None else np.unique(groups).size) == 1:
        why = "there is one distinct training row, so none can be held out"
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if rule == "auto" else kept.with_rule(rule, **parameters)
    own = INFO[model.about["method"]].decides
    splits = held_out_splits(y, folds, seed, groups)
    scores = hold_out(
        model.estimator, X, y, model.taxonomy, model.columns, splits, own=own, callback=callback
    ).thinned(seed)
    model = with_confidence(_told(model, None, OWN, {}, scores), scores)
    if rule != "auto":
        return model.with_rule(rule, **parameters)
    extra = {OWN: scores.own} if own else None
    choice = choose_rule(
        scores.scores, scores.Y, model.taxonomy, model.columns,
        closed=model.closed, extra=extra, seed=seed,
    )  # fmt: skip
    told = {"name": choice.name, "why": choice.why, "table": choice.table}
    return _told(model, choice.rule, choice.name, told, scores)


def _sure(
    model: Model, X: Any, y: Any, folds: int | None, seed: int,
    callback: Callable[[int, int], None], groups: Any,
) -> Model:  # fmt: skip
    """The model with its confidence, for which a fifth of the rows is held out once."""
    if len(y) < FEW or (groups is not None and np.unique(groups).size < 2):
        return model
    splits = held_out_splits(y, folds or 1, seed, groups)
    if min(len(set(y[train])) for train, _ in splits) < 2:
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
