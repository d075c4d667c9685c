"""Run methods on the same folds, or on the same training and test part.

Features are made once for every division and shared. Each method is trained as
`linnaeus.model.train` does it, the decision rule learnt from the training rows alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.collection import Collection, Part
from linnaeus.comparison.contest import Contest, Setting
from linnaeus.comparison.cost import measure
from linnaeus.comparison.entrants import Entrant, entrants, onto
from linnaeus.comparison.standing import Answers, Standing, stand
from linnaeus.errors import UserError
from linnaeus.features import choose_features
from linnaeus.model import Model, inputs_of, train
from linnaeus.splits import k_folds
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]
WARM = 60  # rows of a fit that is not measured


class Division(NamedTuple):
    """Rows to learn from and rows to be judged by, with features made of them."""

    train: Part
    rows: np.ndarray  # to be judged by, numbers within the part that is judged
    features: Any  # fitted
    X: Any
    X_test: Any


class _Field(NamedTuple):
    """What all methods of a comparison share."""

    taxonomy: Taxonomy
    judged: Part
    divisions: list[Division]
    train_counts: np.ndarray  # training rows of every node, by their own labels
    options: dict[str, Any]  # for `train`


def compare(
    methods: Sequence[str],
    collection: Collection,
    *,
    folds: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    rule: str = "auto",
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Contest:
    """Train and judge several methods on the same rows.

    Parameters
    ----------
    methods : names of methods; "name:flat", "name:random" and "name:learned" teach with another
        taxonomy (see `linnaeus.comparison.entrants`)
    collection : its training part is divided into `folds`, or it has a test part
    folds : for cross-validation; None judges by the test part
    parameters : {name: value} for the methods that have it, {"method.name": value} for one
    features, feature_parameters, rule : as in `linnaeus.model.train`
    step : told what is being fitted, how many fits are done, and how many there are

    A method that goes wrong is listed with the reason, and the others go on.

    Examples
    --------
    >>> from linnaeus.synthetic import newsroom
    >>> news = newsroom(150, 50, random_state=0)
    >>> contest = compare(["svm", "perceptron"], news, rule="zero")
    >>> [standing.name for standing in contest], len(contest.duels)
    (['svm', 'perceptron'], 1)
    """
    taxonomy = collection.taxonomy
    field = entrants(methods, taxonomy, parameters)
    judged, splits = _splits(collection, folds, seed)
    step = step or (lambda *_: None)
    step("features", 0, len(field) * len(splits))
    start = time.perf_counter()
    divisions, kind = _divided(collection, judged, splits, features, feature_parameters)
    seconds = time.perf_counter() - start
    own, closed = _train_counts(taxonomy, collection.part("train"), folds)
    options = {"rule": rule, "seed": seed, "jobs": jobs}
    shared = _Field(taxonomy, judged, divisions, own, options)
    standings = tuple(_run(entrant, i, len(field), shared, step) for i, entrant in enumerate(field))
    setting = Setting(
        collection.name, folds or 0, len(divisions[0].train), len(judged), kind, seconds, seed, jobs
    )
    return Contest(taxonomy, setting, standings, _closed(taxonomy, judged), closed)


def single(model: Model, part: Part, name: str = "", data: str = "") -> Contest:
    """A trained model judged by labelled rows: a contest with one entrant, for a report."""
    told = model.about
    X = model.transform(inputs_of(part))
    answers = _answers(model, model.taxonomy, X, np.arange(len(part)), None)
    name = name or str(told.get("method", type(model.estimator).__name__))
    seed = int(told.get("seed", 0))
    standing = stand(
        name, dict(told.get("parameters", {})), model.taxonomy, part,
        model.own_counts, [answers], seed,
    )  # fmt: skip
    n_train = int(told.get("data", {}).get("rows", 0))
    kind = str(told.get("features", {}).get("kind", ""))
    setting = Setting(data, 0, n_train, len(part), kind, 0.0, seed, 1)
    closed = _closed(model.taxonomy, part)
    return Contest(model.taxonomy, setting, (standing,), closed, model.train_counts)


def _splits(
    collection: Collection, folds: int | None, seed: int
) -> tuple[Part, list[tuple[np.ndarray, np.ndarray]]]:
    """The part that is judged, and row numbers (train, judged) of every division."""
    part = collection.part("train")
    if folds is not None:
        return part, k_folds(collection.Y("train"), folds, seed)
    if collection.test is None:
        raise UserError(
            f"{collection.name} has no test part to be judged by. Use folds, such as folds=5."
        )
    return collection.test, [(np.arange(len(part)), np.arange(len(collection.test)))]


def _divided(
    collection: Collection, judged: Part, splits: list[tuple[np.ndarray, np.ndarray]],
    features: str, parameters: Mapping[str, Any] | None,
) -> tuple[list[Division], str]:  # fmt: skip
    """The divisions, with features fitted on the rows to learn from; and their kind."""
    whole = collection.part("train")
    out, kind = [], features
    for rows, others in splits:
        part = whole if len(rows) == len(whole) else whole.take(rows.tolist())
        kind, made, _ = choose_features(part, features, parameters)
        X = made.fit_transform(inputs_of(part))
        test = judged if len(others) == len(judged) else judged.take(others.tolist())
        out.append(Division(part, others, made, X, made.transform(inputs_of(test))))
    return out, kind


def _train_counts(
    taxonomy: Taxonomy, part: Part, folds: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Training rows of a fold: by their own labels, and with those of nodes below."""
    closed = _closed(taxonomy, part)
    share = 1.0 if folds is None else (folds - 1) / folds
    own, all_below = (
        np.ceil(np.bincount(Y.indices, minlength=len(taxonomy)) * share).astype(np.int64)
        for Y in (taxonomy.most_specific(closed), closed)
    )
    return own, all_below


def _closed(taxonomy: Taxonomy, part: Part) -> sp.csr_array:
    return taxonomy.closure(taxonomy.encode(part.labels))


def _run(entrant: Entrant, done: int, total: int, field: _Field, step: Step) -> Standing:
    """One method on all divisions; or why it has no result."""
    n = len(field.divisions)
    answers = []
    try:
        _warm_up(entrant, field)
        for k, division in enumerate(field.divisions):
            what = entrant.name if n == 1 else f"{entrant.name}, fold {k + 1}"
            step(what, done * n + k, total * n)
            answers.append(_fit(entrant, division, field))
        step(entrant.name, (done + 1) * n, total * n)
        return stand(
            entrant.name, entrant.parameters, field.taxonomy, field.judged,
            field.train_counts, answers, field.options["seed"],
        )  # fmt: skip
    except UserError as error:
        return Standing(entrant.name, entrant.parameters, str(error))
    except Exception as error:  # what the other methods reached is worth keeping
        return Standing(entrant.name, entrant.parameters, f"{type(error).__name__}: {error}")


def _warm_up(entrant: Entrant, field: _Field) -> None:
    """Fit a few rows, so that the time of compiling is not taken for that of training."""
    part, _, made, X, X_test = field.divisions[0]
    few = min(WARM, len(part))
    small = Division(part.take(range(few)), np.arange(1), made, X[:few], X_test[:1])
    with suppress(Exception), warnings.catch_warnings():  # what matters shows in the fit itself
        warnings.simplefilter("ignore")
        _fit(entrant, small, field)


def _fit(entrant: Entrant, division: Division, field: _Field) -> Answers:
    _, _, made, X, X_test = division
    seed = field.options["seed"]

    def fit() -> Model:
        taxonomy, part = entrant.taught(field.taxonomy, division.train, X, seed)
        return train(
            part, taxonomy, entrant.method, entrant.parameters, features=made, X=X, **field.options
        )

    model, cost = measure(fit)
    return _answers(model, field.taxonomy, X_test, division.rows, cost)


def _answers(model: Model, taxonomy: Taxonomy, X: Any, rows: np.ndarray, cost: Any) -> Answers:
    """Scores and label sets of transformed rows, timed; then probabilities."""
    start = time.perf_counter()
    scores = np.asarray(model.estimator.decision_function(X))
    decided = model.decide(X, scores)
    seconds = time.perf_counter() - start
    sets = onto(taxonomy, model.taxonomy, decided)
    proba = np.asarray(model.estimator.predict_proba(X)) if model.has_probabilities else None
    return Answers.of(model, rows, sets, scores, proba, seconds, cost)
