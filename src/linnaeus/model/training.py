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
from linnaeus.io.text_files import room_of
from linnaeus.labels import found as found_labels
from linnaeus.labels import name_array, parse
from linnaeus.model.candidates import BUDGET, VARIANTS
from linnaeus.model.choice import check_suited, choose_method
from linnaeus.model.confidence import learn_confidence
from linnaeus.model.features import choose_features, fit_rows_to, known_rows
from linnaeus.model.methods import INFO, OWN, maker
from linnaeus.model.model import Model, check_rule, held_out_figures, inputs_of
from linnaeus.model.profile import training_profile
from linnaeus.model.search import METRIC, Found, Trial, best_method, best_variant
from linnaeus.splits import Copies
from linnaeus.splits.held_out import HeldOut, fewer_scored, hold_out, one_split, splits_of
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import commonest_set

Step = Callable[[str, int, int], None]


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
        Examples with labels. Where its texts are on disk (`linnaeus.io.text_files`), so are the
        rows of features that are made of them.
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
    _check_given(rule, rule_parameters, budget, folds)
    n_train, part = len(part), part if valid is None else part.joined(valid)
    inputs, own = inputs_of(part), dict(parameters or {})
    labels = TrainingLabels.of(part, taxonomy)
    chosen = choose_method(method, part, taxonomy, labels.several)
    new = maker(chosen.method, taxonomy, chosen.parameters | own, seed, jobs)
    check_suited(chosen.method, labels.several, taxonomy)
    step("features", 0, 4)
    fitted, X, told = _featured(part, features, feature_parameters, X)
    copies = Copies.of(inputs)
    n_copies, digests = copies.n, copies.kept()
    splits = splits_of(labels.sets, n_train, folds, seed, copies.groups)
    judged = labels.several or rule != "auto"  # or only how sure the model is
    held = [] if rule == OWN else splits if judged else one_split(labels.y, splits)
    held = fewer_scored(held, labels.n_classes, seed)
    found = Found(chosen, {})
    if method is None or chosen.method in VARIANTS:
        trial = Trial(X, labels.y, taxonomy, splits, labels.several, rule, seed, jobs)
        found = _searched(trial, found, method is None, own, is_standard(fitted), budget, step)
        chosen = found.choice
        new = maker(chosen.method, taxonomy, chosen.parameters | own, seed, jobs)

    def scored(done: int, total: int) -> None:
        step("held-out scores", total + 2 * done, 4 * total)

    scores = None
    with _blaming(f"The method {chosen.method!r}", parameters):
        if held:
            decides = INFO[chosen.method].decides and judged
            scores = hold_out(new, X, labels.y, taxonomy, held, own=decides, callback=scored)
        step("fit", 3, 4)
        estimator = new().fit(X, labels.y)
    data = summary(labels, taxonomy, X) | {"copies": n_copies}
    model = Model(
        taxonomy, fitted, estimator, about=_about(found, own, seed, told, data, estimator),
        train_counts=np.bincount(labels.closed.indices, minlength=labels.closed.shape[1]),
        own_counts=np.bincount(labels.own.indices, minlength=labels.own.shape[1]),
        profile=training_profile(fitted, inputs, X, copies.groups), digests=digests,
    )  # fmt: skip
    return _with_rule(model, scores, labels.several, rule, rule_parameters or {}, seed)


def _searched(
    trial: Trial, found: Found, methods: bool, own: Mapping[str, Any], standard: bool,
    budget: float, step: Step,
) -> Found:  # fmt: skip
    """The best of all methods, if these are tried, or of the variants of the one chosen."""
    if methods:
        found = best_method(trial, found.choice, own, standard, budget, step)
    return best_variant(trial, found, own, budget, step)


def _about(
    found: Found, own: dict[str, Any], seed: int, features: dict[str, Any], data: dict[str, Any],
    estimator: Any,
) -> dict[str, Any]:  # fmt: skip
    """What there is to tell about a model before it has a rule."""
    chosen, searched = found
    return {
        "method": chosen.method,
        "parameters": chosen.parameters | own,
        "seed": seed,
        "why": chosen.why,
        "features": features,
        "data": data,
        "certificate": certificate(estimator),
        **({"search": searched} if searched else {}),
    }


def _check_given(
    rule: str, parameters: Mapping[str, Any] | None, budget: float, folds: int | None
) -> None:
    if rule != "auto":
        check_rule(rule, parameters or {})
    check_budget(budget)
    if folds is not None and folds < 1:
        raise UserError(f"folds is {folds}. Use 2 or more, or 1 to hold out a fifth once.")


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
    model: Model, scores: HeldOut | None, several: bool, rule: str,
    parameters: Mapping[str, Any], seed: int,
) -> Model:  # fmt: skip
    """The model with the rule asked for, or with the best on held-out scores."""
    if rule == OWN or (rule == "auto" and not several):
        why = (
            "because you chose it"
            if rule == OWN
            else "every training row has one label: the best class"
        )
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if scores is None else with_confidence(kept, scores)
    if scores is None:
        why = "there is one distinct training row, so none can be held out"
        kept = _told(model, None, OWN, {"name": OWN, "why": why})
        return kept if rule == "auto" else kept.with_rule(rule, **parameters)
    model = with_confidence(_told(model, None, OWN, {}, scores), scores)
    if rule != "auto":
        return model.with_rule(rule, **parameters)
    extra = None if scores.own is None else {OWN: scores.own}
    choice = choose_rule(
        scores.scores, scores.Y, model.taxonomy, model.columns,
        closed=model.closed, extra=extra, metric=METRIC, seed=seed,
    )  # fmt: skip
    told = {"name": choice.name, "why": choice.why, "table": choice.table}
    return _told(model, choice.rule, choice.name, told, scores)


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
    sets: sp.csr_array  # `y` over the labels that occur, for folds
    commonest: np.ndarray  # the most specific labels that most rows have
    n_classes: int

    @classmethod
    def of(cls, part: Part, taxonomy: Taxonomy) -> TrainingLabels:
        """Of a part; one without rows or labels is refused."""
        if not len(part):
            raise UserError("There are no training rows. Give some.")
        one = all(len(row) == 1 for row in part.labels)
        names = name_array([label for row in part.labels for label in row]) if one else None
        sets = None if names is None else found_labels(names)[1]
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
            sets = found_labels(names)[1]
        y, sets = (given, given) if several else (names, sets)
        n_classes = taxonomy.class_numbers(own.indices).size
        return cls(given, closed, own, y, several, sets, commonest_set(own), n_classes)


def _featured(
    part: Part, features: Any, parameters: Mapping[str, Any] | None, X: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """The fitted transformer, the rows that it makes, and what there is to tell about it."""
    if not isinstance(features, str):
        X = known_rows(features, inputs_of(part)) if X is None else X
        return features, X, {"kind": type(features).__name__, "why": "as given"}
    inputs = inputs_of(part)
    room = room_of(inputs)
    with _blaming(f"The features {features!r}", parameters):
        choice = choose_features(part, features, parameters)
        if room is None:
            X = choice.features.fit_transform(inputs)
        else:
            X = fit_rows_to(room, choice, inputs)
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


def summary(labels: TrainingLabels, taxonomy: Taxonomy, X: Any) -> dict[str, Any]:
    """The counts that describe training data, from the most specific labels of its rows."""
    own, (n, n_nodes) = labels.own, labels.own.shape
    return {
        "rows": n,
        "features": int(X.shape[1]),
        "nodes": n_nodes,
        "classes": labels.n_classes,
        "tree": bool(taxonomy.is_tree),
        "labels_per_row": own.nnz / n,
        "rows_without_labels": int((np.diff(own.indptr) == 0).sum()),
        "sparse": bool(sp.issparse(X)),
        "most_common_labels": list(taxonomy.names(labels.commonest)),
    }


def certificate(estimator: Any) -> dict[str, float]:
    """How near to its optimum an estimator is, as plain numbers."""
    names = ("objective_", "dual_objective_", "gap_", "lower_bound_", "n_iter_")
    found = {name: getattr(estimator, name, None) for name in names}
    return {name.rstrip("_"): float(v) for name, v in found.items() if isinstance(v, int | float)}
