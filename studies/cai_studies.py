"""The studies of [Cai2008] section 7, one method under one condition at a time.

Conditions: "all", ten folds of all rows; "t = 5", five training rows per class, tested on all
others, ten draws; a given division into training and test rows; draws of synthetic data. Folds and
draws depend on the seed alone, so methods that are run apart can be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linnaeus import HierarchicalPerceptron, Hieron, RankingSVM, Taxonomy, TopDown
from linnaeus.experiments import RankingStudy as Study
from linnaeus.experiments import (
    cross_validate_ranking,
    held_out_ranking,
    per_class_study,
    random_hierarchies,
)
from linnaeus.induction import learn_taxonomy
from studies import cai_data
from studies.cai_data import Problem
from studies.paired import DIGITS, facts_of, standard_error
from studies.results import Cell, Outcome
from studies.tables import Context

FLAT: dict[str, Any] = {"attributes": "flat", "loss": "zero_one"}
MEASURES = {  # of a study, and by what to multiply it
    "acc": ("top1_accuracy", 100.0),
    "prec": ("label_ranking_average_precision", 100.0),
    "top loss": ("top_loss", 1.0),
    "max loss": ("maximal_loss", 1.0),
    "rloss": ("ranking_loss", 100.0),
    "pacc": ("parent_accuracy", 100.0),
}
REPETITIONS = FOLDS = 10
EPOCHS = 20
RANDOM = 5  # hierarchies
DIVIDED = ("enzyme", "images")  # whose division into training and test rows is given
BLOCKS = 50  # of their test rows
DRAWS = 10  # of synthetic data
FEW_DRAWS = 4  # of synthetic data with other variances
HARD = {"C": 1e4, "max_iter": 20_000}  # nearly separated, on synthetic data
QUICK = 2  # folds, repetitions, draws and blocks of a trial run


@dataclass(frozen=True)
class Trial:
    """A method under a condition.

    problem : which data: "newsgroups", "newsgroups_by_family", "enzyme" or "images"
    options : of the estimator, besides what its name says
    """

    problem: str
    condition: str
    method: str
    options: Mapping[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """What the outcome depends on."""
        blocks = f"{BLOCKS}, drawn" if self.problem in DIVIDED else BLOCKS
        return {
            "problem": self.problem, "repetitions": REPETITIONS, "folds": FOLDS,
            "blocks": blocks, **self.options,
        }  # fmt: skip


def classifier(name: str, taxonomy: Taxonomy, seed: int, options: Mapping[str, Any]) -> Any:
    """An estimator by the thesis' name: "H-SVM", "FaPERC", "DNC-SVM rand3", "HaPERCa"."""
    kind, _, which = name.partition(" rand")
    if which:
        taxonomy = random_hierarchies(taxonomy, RANDOM, seed)[int(which) - 1]
    own = {**options, "random_state": seed}
    if kind == "DNC-SVM":
        return TopDown(taxonomy, local="multiclass", loss="hinge", **own)
    if kind == "HaPERCa":
        return partial(_on_learnt, classes=taxonomy.leaves, options=own)
    flat = FLAT if kind.startswith("F") else {}
    if kind.endswith("-SVM"):
        return RankingSVM(taxonomy, **flat, **own)
    own, averaged = {"max_iter": EPOCHS, **own}, kind[1] == "a"
    if kind.endswith("Hieron"):
        rival = "hinge" if averaged else "predicted"
        return Hieron(taxonomy, averaged=averaged, rival=rival, **flat, **own)
    variant = "averaged" if averaged else "online"
    return HierarchicalPerceptron(taxonomy, variant=variant, **flat, **own)


def _on_learnt(X: Any, y: Any, classes: Any, options: Mapping[str, Any]) -> Any:
    """The averaged Perceptron on a hierarchy of the classes learnt from the training rows."""
    return HierarchicalPerceptron(learn_taxonomy(X, y, classes=classes), max_iter=EPOCHS, **options)


def run_trial(context: Context, trial: Trial, cells: Callable[..., list[Cell]]) -> Outcome:
    """Fit and measure; `cells` makes figures of {measure: (mean, error)}."""
    problem: Problem = getattr(cai_data, trial.problem)(context.data)
    model = classifier(trial.method, problem.taxonomy, context.seed, trial.options)
    study = _study(context, problem, trial.condition, {trial.method: model})
    found = list(study.values.values())  # a given division: all test rows, then their blocks
    whole, parts = found[0][trial.method], found[-1][trial.method]
    figures, values = {}, {}
    for measure, (metric, scale) in MEASURES.items():
        values[measure] = scale * parts[metric]
        mean = round(float(scale * whole[metric].mean()), DIGITS)
        figures[measure] = (mean, standard_error(values[measure]))
    n_train = None if problem.train is None else problem.train.size
    sizes = {"rows": int(problem.X.shape[0]), "training rows": n_train}
    facts = facts_of(trial.condition, trial.method, values, figures=figures, sizes=sizes)
    return Outcome(cells(figures), facts=facts)


def _study(context: Context, problem: Problem, condition: str, methods: dict[str, Any]) -> Study:
    data = (methods, problem.X, problem.y, problem.taxonomy)
    more: dict[str, Any] = {
        "random_state": context.seed,
        "callback": partial(context.step, "fit"),
    }
    if problem.train is not None:
        blocks = QUICK if context.quick else BLOCKS
        return held_out_ranking(
            *data, train=problem.train, test=problem.test, blocks=blocks, **more
        )
    if condition == "all":
        return cross_validate_ranking(*data, folds=QUICK if context.quick else FOLDS, **more)
    t, n = int(condition.removeprefix("t = ")), QUICK if context.quick else REPETITIONS
    return per_class_study(*data, t=t, repetitions=n, **more)


def run_synthetic(
    context: Context, shape: str, method: str, ratio: float, draws: int,
    cells: Callable[..., list[Cell]],
) -> Outcome:  # fmt: skip
    """Ten folds of each of many draws of planted hierarchies: a value per draw.

    The error is the deviation between draws, as the thesis has one draw.
    """
    draws = QUICK if context.quick else draws
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    for draw in range(draws):
        context.step("draw", draw, draws)
        seed = context.seed + draw
        problem = cai_data.synthetic(shape, seed, ratio)
        model = classifier(method, problem.taxonomy, seed, HARD)
        study = _study(context, problem, "all", {method: model})
        for measure, (metric, scale) in MEASURES.items():
            values[measure].append(scale * study.mean(method, metric))
    figures = {
        measure: (round(float(np.mean(found)), DIGITS), round(float(np.std(found, ddof=1)), DIGITS))
        for measure, found in values.items()
    }
    facts = facts_of(shape, method, values, figures=figures, ratio=ratio)
    return Outcome(cells(figures), facts=facts)
