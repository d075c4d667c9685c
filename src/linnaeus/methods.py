"""The methods by their names on the command line."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from linnaeus.errors import UserError, nearest, shorten

METHODS = {
    "svm": "FlatSVM",
    "logistic": "FlatLogistic",
    "msvm": "MulticlassSVM",
    "mlr": "MulticlassLogistic",
    "topdown": "TopDown",
    "hrls": "HierarchicalRLS",
    "rr-svm": "RecursiveSVM",
    "rr-lr": "RecursiveLogistic",
    "hm3": "HM3",
    "ranking-svm": "RankingSVM",
    "perceptron": "HierarchicalPerceptron",
    "hieron": "Hieron",
    "hblr": "HBLR",
    "ot": "OrthogonalTransfer",
    "corrmnl": "CorrelatedMNL",
}


def known_methods() -> tuple[str, ...]:
    """The names of the methods that there are."""
    package = importlib.import_module("linnaeus")
    return tuple(name for name, estimator in METHODS.items() if estimator in package.__all__)


def make(
    name: str, taxonomy: Any = None, parameters: Mapping[str, Any] | None = None,
    seed: int = 0, jobs: int = 1,
) -> Any:  # fmt: skip
    """An estimator by the name of its method, with parameters of its own.

    >>> make("svm", parameters={"C": 10.0}).C
    10.0
    """
    known = known_methods()
    if name not in known:
        raise UserError(
            f"The method {shorten(name)} is not known{nearest(name, known)}. "
            f"Use one of: {', '.join(known)}."
        )
    model = getattr(importlib.import_module("linnaeus"), METHODS[name])(taxonomy)
    takes = model.get_params(deep=False)
    for parameter in parameters or {}:
        if parameter not in takes:
            raise UserError(
                f"The method {name!r} has no parameter {shorten(parameter)}"
                f"{nearest(parameter, takes)}. It has: {', '.join(takes)}."
            )
    common = {"random_state": seed, "n_jobs": jobs}
    common = {key: value for key, value in common.items() if key in takes}
    return model.set_params(**common | dict(parameters or {}))


def parse_parameters(given: Iterable[str]) -> dict[str, Any]:
    """Parameters written as name=value; values are numbers, true, false, null, lists or texts.

    >>> parse_parameters(["C=10", "loss=hinge", "fit_intercept=false"])
    {'C': 10, 'loss': 'hinge', 'fit_intercept': False}
    """
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign):
            raise UserError(f"The parameter {shorten(text)} is not written name=value.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
