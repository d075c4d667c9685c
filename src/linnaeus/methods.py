"""The methods by their names on the command line."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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


class Published(NamedTuple):
    """A method as a paper has it, by one of ours."""

    method: str
    parameters: Mapping[str, Any]
    several: Mapping[str, Any] | None  # what differs with several labels per row; None: not for it


TABLE_II: dict[str, Published] = {  # and III, of [GopalYang2015]
    "BSVM": Published("svm", {"loss": "hinge"}, {}),
    "BLR": Published("logistic", {}, {}),
    "MSVM": Published("msvm", {}, None),
    "MLR": Published("mlr", {}, None),
    "TD": Published("topdown", {"local": "binary", "loss": "hinge"}, {}),
    "HSVM": Published(
        "ranking-svm", {"loss": "half_distance", "attributes": "ones", "rescale": "slack"}, None
    ),
    "OT": Published("ot", {}, None),
    "RR-SVM": Published("rr-svm", {"loss": "hinge"}, {}),
    "RR-LR": Published("rr-lr", {}, {}),
    "HBLR": Published(
        "hblr", {"model": "M3", "inference": "map", "link": "softmax"}, {"link": "binary"}
    ),
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


def table_methods() -> tuple[str, ...]:
    """The methods of the paper's Table II that there are, by its names."""
    known = known_methods()
    return tuple(name for name, entry in TABLE_II.items() if entry.method in known)


def published(name: str) -> tuple[str, Published]:
    """A method of Table II by its name there, in small or large letters; else one of `METHODS`.

    >>> published("rr-svm")[0], published("hm3")[1].method
    ('RR-SVM', 'hm3')
    """
    known = (*table_methods(), *known_methods())
    if name.upper() in known:
        return name.upper(), TABLE_II[name.upper()]
    if name in known:
        return name, Published(name, {}, {})
    raise UserError(
        f"The method {shorten(name)} is not known{nearest(name, known)}. "
        f"Use one of: {', '.join(known)}."
    )


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
