"""linnaeus: putting things into taxonomies.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import loader

__version__ = "0.1.0"

if TYPE_CHECKING:
    from linnaeus.estimators.corrmnl import CorrelatedMNL
    from linnaeus.estimators.graph_m3 import GraphM3
    from linnaeus.estimators.hblr import HBLR
    from linnaeus.estimators.hieron import Hieron
    from linnaeus.estimators.hm3 import HM3
    from linnaeus.estimators.hrls import HierarchicalRLS
    from linnaeus.estimators.logistic import FlatLogistic
    from linnaeus.estimators.mlr import MulticlassLogistic
    from linnaeus.estimators.msvm import MulticlassSVM
    from linnaeus.estimators.ot import OrthogonalTransfer
    from linnaeus.estimators.perceptron import HierarchicalPerceptron
    from linnaeus.estimators.ranking_svm import RankingSVM
    from linnaeus.estimators.rr_lr import RecursiveLogistic
    from linnaeus.estimators.rr_svm import RecursiveSVM
    from linnaeus.estimators.svm import FlatSVM
    from linnaeus.estimators.topdown import TopDown
    from linnaeus.model import Model
    from linnaeus.showing import progress
    from linnaeus.storage import load, save
    from linnaeus.taxonomy import Taxonomy

_EXPORTS = {
    "CorrelatedMNL": "linnaeus.estimators.corrmnl",
    "FlatLogistic": "linnaeus.estimators.logistic",
    "FlatSVM": "linnaeus.estimators.svm",
    "GraphM3": "linnaeus.estimators.graph_m3",
    "HBLR": "linnaeus.estimators.hblr",
    "HM3": "linnaeus.estimators.hm3",
    "HierarchicalPerceptron": "linnaeus.estimators.perceptron",
    "HierarchicalRLS": "linnaeus.estimators.hrls",
    "Hieron": "linnaeus.estimators.hieron",
    "Model": "linnaeus.model",
    "MulticlassLogistic": "linnaeus.estimators.mlr",
    "MulticlassSVM": "linnaeus.estimators.msvm",
    "OrthogonalTransfer": "linnaeus.estimators.ot",
    "RankingSVM": "linnaeus.estimators.ranking_svm",
    "RecursiveLogistic": "linnaeus.estimators.rr_lr",
    "RecursiveSVM": "linnaeus.estimators.rr_svm",
    "Taxonomy": "linnaeus.taxonomy",
    "TopDown": "linnaeus.estimators.topdown",
    "load": "linnaeus.storage",
    "progress": "linnaeus.showing",
    "save": "linnaeus.storage",
}
_MODULES = (
    "decisions",
    "errors",
    "experiments",
    "explanation",
    "induction",
    "inference",
    "io",
    "kernels",
    "labels",
    "losses",
    "metrics",
    "model",
    "report",
    "splits",
    "storage",
    "synthetic",
    "taxonomy",
    "text",
)

__all__ = [
    "HBLR",
    "HM3",
    "CorrelatedMNL",
    "FlatLogistic",
    "FlatSVM",
    "GraphM3",
    "HierarchicalPerceptron",
    "HierarchicalRLS",
    "Hieron",
    "Model",
    "MulticlassLogistic",
    "MulticlassSVM",
    "OrthogonalTransfer",
    "RankingSVM",
    "RecursiveLogistic",
    "RecursiveSVM",
    "Taxonomy",
    "TopDown",
    "__version__",
    "load",
    "progress",
    "save",
]

__getattr__ = loader(__name__, _EXPORTS | {name: f"linnaeus.{name}" for name in _MODULES})


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
