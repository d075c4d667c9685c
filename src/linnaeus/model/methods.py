"""The methods by their names on the command line."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from linnaeus.errors import UserError, check_like, nearest, shorten

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


class Info(NamedTuple):
    """What to know about a method before choosing it."""

    advice: str  # when to take it
    cost: str  # time and memory; n rows, s values in a row, K classes, d features
    limits: str  # what it cannot do
    several: bool = True  # takes rows with several labels or none
    dag: bool = True  # takes taxonomies in which a node has several parents
    decides: bool = False  # its own predictions are more than "all scores above 0"


INFO: dict[str, Info] = {
    "svm": Info(
        "the safe first choice with several labels per row; fast on large sparse data",
        "a few passes over n s K; memory d K",
        "no probabilities; classes do not help each other",
    ),
    "logistic": Info(
        "like svm, with probabilities",
        "a few passes over n s K; memory d K",
        "classes do not help each other",
    ),
    "msvm": Info(
        "the safe first choice with one label per row",
        "a few passes over n s K; memory d K",
        "one label per row; no probabilities",
        several=False,
    ),
    "mlr": Info(
        "one label per row, with probabilities that sum to 1",
        "a few passes over n s K; memory d K",
        "one label per row",
        several=False,
    ),
    "topdown": Info(
        "very many classes: trains and predicts along paths only",
        "n s times children and depth, instead of K; memory d nodes",
        "a mistake near the root is final, unless you decode with a beam",
        decides=True,
    ),
    "hrls": Info(
        "small data: regression from the roots down",
        "one n x n matrix per node",
        "up to a few thousand rows",
        decides=True,
    ),
    "rr-svm": Info(
        "many rare classes that can learn from their relatives; trees, DAGs and graphs",
        "about twice svm",
        "no probabilities",
    ),
    "rr-lr": Info(
        "like rr-svm, with probabilities",
        "a few times logistic",
        "slower than rr-svm",
    ),
    "hm3": Info(
        "the whole label set must be right: predicts all labels of a row together",
        "n nodes, and the best label set of every row in every round",
        "trees only; up to about 10,000 rows and a few hundred nodes",
        dag=False,
        decides=True,
    ),
    "ranking-svm": Info(
        "rankings of labels; the farther apart two labels are, the more a mistake costs",
        "n K pairs of labels, of which few matter",
        "up to about 10,000 rows",
        decides=True,
    ),
    "perceptron": Info(
        "streams: learns row by row, and the taxonomy may grow",
        "n s times the nodes of a path, for each pass; memory d nodes",
        "noisier than the SVMs",
        decides=True,
    ),
    "hieron": Info(
        "streams with one label per row; corrects along the path in the tree",
        "as perceptron",
        "one label per row",
        several=False,
        decides=True,
    ),
    "hblr": Info(
        "few examples per class: nothing to tune, probabilities with standard deviations",
        "3 to 7 times mlr",
        "one label per row, unless link=binary",
        several=False,
        dag=False,
        decides=True,
    ),
    "ot": Info(
        "a baseline: weights orthogonal to those of ancestors",
        "many times svm; memory d nodes",
        "one label per row; slow with many features",
        several=False,
        dag=False,
    ),
    "corrmnl": Info(
        "a full posterior by Monte Carlo, for small data",
        "thousands of passes over n d K",
        "one label per row; up to a few hundred features",
        several=False,
        dag=False,
    ),
}


def make(
    name: str, taxonomy: Any = None, parameters: Mapping[str, Any] | None = None,
    seed: int = 0, jobs: int = 1,
) -> Any:  # fmt: skip
    """An estimator by the name of its method, with parameters of its own.

    >>> make("svm", parameters={"C": 10.0}).C
    10.0
    """
    return class_of(name)(taxonomy, **settings_of(name, parameters, seed, jobs))


def class_of(name: str) -> Any:
    """The class of a method; its module has the method's name."""
    if name not in METHODS:
        raise UserError(
            f"The method {shorten(name)} is not known{nearest(name, METHODS)}. "
            f"Use one of: {', '.join(METHODS)}."
        )
    module = importlib.import_module(f"linnaeus.estimators.{name.replace('-', '_')}")
    return getattr(module, METHODS[name])


def settings_of(
    name: str, parameters: Mapping[str, Any] | None = None, seed: int = 0, jobs: int = 1
) -> dict[str, Any]:
    """Parameters of a method with seed and jobs where it has them; what it does not is refused."""
    takes = {key: p.default for key, p in inspect.signature(class_of(name)).parameters.items()}
    common = {key: v for key, v in {"random_state": seed, "n_jobs": jobs}.items() if key in takes}
    for parameter, value in (parameters or {}).items():
        if parameter not in takes:
            raise UserError(
                f"The method {name!r} has no parameter {shorten(parameter)}"
                f"{nearest(parameter, takes)}. It has: {', '.join(takes)}."
            )
        default = (takes | common)[parameter]
        check_like(default, value, f"The parameter {parameter!r} of {name!r}")
    return common | dict(parameters or {})


def value_of(text: str) -> Any:
    """The value that people write: a number, true, false, null, a list, or else a text.

    >>> value_of("10"), value_of("hinge"), value_of("false")
    (10, 'hinge', False)
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_parameters(flag: str, values: Mapping[str, Any] | None) -> list[str]:
    """Parameters as words of a command, which the command reads back.

    >>> write_parameters("-p", {"C": 10.0, "loss": "hinge", "name": "1"})
    ['-p', 'C=10', '-p', 'loss=hinge', '-p', 'name="1"']
    """
    return [word for name, v in (values or {}).items() for word in (flag, f"{name}={_written(v)}")]


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return json.dumps(value, separators=(",", ":"))
    return value if value_of(value) == value else json.dumps(value)
