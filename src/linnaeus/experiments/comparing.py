"""Train and judge methods on the same folds, or on the same training and test part.

Each method is trained as `linnaeus.model.train` does it, the decision rule learnt from the training
rows alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.experiments.comparison import Comparison, Setting
from linnaeus.experiments.cost import measure
from linnaeus.experiments.divisions import Division, Examples, Step, fit_all, reason
from linnaeus.experiments.method_result import Answers, MethodResult, judge
from linnaeus.experiments.named_methods import NamedMethod, onto, parse_methods
from linnaeus.io.collection import Collection, Part
from linnaeus.metrics.baseline import Frequencies, baseline
from linnaeus.model import Model, inputs_of, train
from linnaeus.splits import Split, k_folds
from linnaeus.splits.copies import Copies
from linnaeus.taxonomy import Taxonomy

WARM = 60  # rows of a fit that is not measured


def compare(
    methods: Sequence[str],
    collection: Collection,
    *,
    folds: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    rule: str = "auto",
    hierarchies: int = 1,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Comparison:
    """Train and judge several methods on the same rows.

    A method that goes wrong is listed with the reason, and the others go on.

    Parameters
    ----------
    methods : sequence of str
        Names of methods; "name:flat", "name:random" and "name:learned" teach with another taxonomy
        (see `linnaeus.experiments.named_methods`).
    collection : Collection
        Its training part is divided into `folds`, or it has a test part.
    folds : int or None, default=None
        Folds of the cross-validation; None judges by the test part.
    parameters : dict or None, default=None
        {name: value} for the methods that have it, {"method.name": value} for one.
    features : str, default='auto'
        As in `linnaeus.model.train`.
    feature_parameters : dict or None, default=None
        As in `linnaeus.model.train`.
    rule : str, default='auto'
        As in `linnaeus.model.train`.
    hierarchies : int, default=1
        How many random ones "name:random" stands for.
    seed : int, default=0
        Seed of everything that is drawn.
    jobs : int, default=1
        Threads; -1 for all cores. The result does not depend on it.
    step : callable or None, default=None
        Told what is being fitted, how many fits are done, and how many there are.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from linnaeus.synthetic import newsroom
    >>> news = newsroom(150, 50, random_state=0)
    >>> found = compare(["svm", "perceptron"], news, rule="zero")
    >>> [result.name for result in found], len(found.pair_tests)
    (['svm', 'perceptron'], 1)
    """
    taxonomy = collection.taxonomy
    chosen = parse_methods(methods, taxonomy, parameters, hierarchies)
    judged, splits = _splits(collection, folds, seed)
    examples = Examples(collection.part("train"), features, feature_parameters)
    trainer = _Trainer(taxonomy, {"rule": rule, "seed": seed, "jobs": jobs})
    step = step or (lambda *_: None)
    step("features", 0, len(chosen) * len(splits))
    found, failed = fit_all(
        {method.name: method for method in chosen}, trainer.divided(examples, splits, judged),
        trainer.fit, len(splits), partial(_tell, step, len(chosen), len(splits)), Exception,
    )  # fmt: skip
    own, closed = _train_counts(taxonomy, examples.part, folds)
    judged_as = partial(_result, taxonomy=taxonomy, part=judged, train_counts=own, seed=seed)
    results = tuple(judged_as(m, found[m.name], failed.get(m.name)) for m in chosen)
    setting = Setting(
        collection.name, folds or 0, len(splits[0][0]), len(judged), trainer.kind,
        trainer.feature_seconds, seed, jobs,
    )  # fmt: skip
    known = Frequencies.of(taxonomy, examples.part.labels)
    best = baseline(judged.labels, taxonomy, known)
    return Comparison(taxonomy, setting, results, _closed(taxonomy, judged), closed, best)


def _result(
    method: NamedMethod, answers: list[Answers], error: Exception | None, **judged_by: Any
) -> MethodResult:
    """What a method reached, or why it has no result."""
    try:
        if error is not None:
            raise error
        return judge(method.name, method.parameters, answers=answers, **judged_by)
    except Exception as error:  # what the other methods reached is worth keeping
        return MethodResult(method.name, method.parameters, reason(error))


def _tell(step: Step, n_methods: int, n_divisions: int, name: str, done: int, total: int) -> None:
    fold = "" if n_divisions == 1 or done == total else f", fold {done // n_methods + 1}"
    step(f"{name}{fold}", done, total)


def judge_model(model: Model, part: Part, name: str = "", data: str = "") -> Comparison:
    """A trained model judged by labelled rows: a comparison of one, for a report.

    Parameters
    ----------
    model : Model
        A trained model.
    part : Part
        Examples with labels.
    name : str, default=''
        What to call it; the method if empty.
    data : str, default=''
        What to call the rows.

    Returns
    -------
    Comparison
    """
    told = model.about
    X = model.transform(inputs_of(part))
    answers = _answers(model, model.taxonomy, X, np.arange(len(part)), None)
    name = name or str(told.get("method", type(model.estimator).__name__))
    seed = int(told.get("seed", 0))
    result = judge(
        name, dict(told.get("parameters", {})), model.taxonomy, part,
        model.own_counts, [answers], seed,
    )  # fmt: skip
    n_train = int(told.get("data", {}).get("rows", 0))
    kind = str(told.get("features", {}).get("kind", ""))
    setting = Setting(data, 0, n_train, len(part), kind, 0.0, seed, 1)
    closed = _closed(model.taxonomy, part)
    known = model.frequencies
    best = None if known is None else baseline(part.labels, model.taxonomy, known)
    return Comparison(model.taxonomy, setting, (result,), closed, model.train_counts, best)


def _splits(collection: Collection, folds: int | None, seed: int) -> tuple[Part, list[Split]]:
    """The part that is judged, and row numbers (train, judged) of every division."""
    part = collection.part("train")
    if folds is not None:
        return part, k_folds(collection.Y("train"), folds, seed, Copies.of(inputs_of(part)).groups)
    if collection.test is None:
        raise UserError(
            f"{collection.name} has no test part to be judged by. Use folds, such as folds=5."
        )
    return collection.test, [(np.arange(len(part)), np.arange(len(collection.test)))]


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


@dataclass
class _Trainer:
    """Trains methods on divisions, and keeps what there is to tell about the features."""

    taxonomy: Taxonomy  # to be judged by
    options: dict[str, Any]  # for `train`
    kind: str = ""
    feature_seconds: float = 0.0
    warm: set[str] = field(default_factory=set)

    def divided(self, examples: Examples, splits: list[Split], judged: Part) -> Iterator[Division]:
        for rows, others in splits:
            division = examples.division(rows, others, judged)
            self.kind = division.kind
            self.feature_seconds += division.seconds
            yield division

    def fit(self, method: NamedMethod, division: Division) -> Answers:
        """What the method, trained on a division, says about the rows to be judged by."""
        if method.name not in self.warm:
            self._warm_up(method, division)
        model, cost = measure(partial(self._trained, method, division))
        return _answers(model, self.taxonomy, division.X_test, division.test, cost)

    def _trained(self, method: NamedMethod, division: Division) -> Model:
        assert division.part is not None
        X, seed = division.X, self.options["seed"]
        taxonomy, part = method.taught(self.taxonomy, division.part, X, seed)
        return train(
            part, taxonomy, method.method, method.parameters,
            features=division.features, X=X, **self.options,
        )  # fmt: skip

    def _warm_up(self, method: NamedMethod, division: Division) -> None:
        """Fit a few rows, so that the time of compiling is not taken for that of training."""
        self.warm.add(method.name)
        assert division.part is not None
        part = division.part.take(range(min(WARM, len(division.part))))
        small = division._replace(
            part=part, test=np.arange(1), X=division.X[: len(part)], X_test=division.X_test[:1]
        )
        with suppress(Exception), warnings.catch_warnings():  # what matters shows in the fit itself
            warnings.simplefilter("ignore")
            self.fit(method, small)


def _answers(model: Model, taxonomy: Taxonomy, X: Any, rows: np.ndarray, cost: Any) -> Answers:
    """Scores and label sets of transformed rows, timed; then probabilities."""
    start = time.perf_counter()
    scores = np.asarray(model.estimator.class_scores(X))
    decided = model.decide(X, scores)
    seconds = time.perf_counter() - start
    sets = onto(taxonomy, model.taxonomy, decided)
    proba = np.asarray(model.estimator.class_probabilities(X)) if model.has_probabilities else None
    sure = model.confidence(X, scores)
    return Answers.of(model, rows, sets, scores, proba, seconds, cost, sure)
