"""linnaeus: putting things into taxonomies.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from linnaeus.estimators.correlated import CorrelatedMNL
    from linnaeus.estimators.flat import FlatLogistic, FlatSVM
    from linnaeus.estimators.graph_m3 import GraphM3
    from linnaeus.estimators.hblr import HBLR
    from linnaeus.estimators.hieron import Hieron
    from linnaeus.estimators.hm3 import HM3
    from linnaeus.estimators.multiclass import MulticlassLogistic, MulticlassSVM
    from linnaeus.estimators.orthogonal import OrthogonalTransfer
    from linnaeus.estimators.perceptron import HierarchicalPerceptron
    from linnaeus.estimators.ranking import RankingSVM
    from linnaeus.estimators.recursive import RecursiveLogistic, RecursiveSVM
    from linnaeus.estimators.rls import HierarchicalRLS
    from linnaeus.estimators.topdown import TopDown
    from linnaeus.model import Model
    from linnaeus.storage import load, save
    from linnaeus.taxonomy import Taxonomy

_EXPORTS = {
    "CorrelatedMNL": "linnaeus.estimators.correlated",
    "FlatLogistic": "linnaeus.estimators.flat",
    "FlatSVM": "linnaeus.estimators.flat",
    "GraphM3": "linnaeus.estimators.graph_m3",
    "HBLR": "linnaeus.estimators.hblr",
    "HM3": "linnaeus.estimators.hm3",
    "HierarchicalPerceptron": "linnaeus.estimators.perceptron",
    "HierarchicalRLS": "linnaeus.estimators.rls",
    "Hieron": "linnaeus.estimators.hieron",
    "Model": "linnaeus.model",
    "MulticlassLogistic": "linnaeus.estimators.multiclass",
    "MulticlassSVM": "linnaeus.estimators.multiclass",
    "OrthogonalTransfer": "linnaeus.estimators.orthogonal",
    "RankingSVM": "linnaeus.estimators.ranking",
    "RecursiveLogistic": "linnaeus.estimators.recursive",
    "RecursiveSVM": "linnaeus.estimators.recursive",
    "Taxonomy": "linnaeus.taxonomy",
    "TopDown": "linnaeus.estimators.topdown",
    "load": "linnaeus.storage",
    "save": "linnaeus.storage",
}
_MODULES = (
    "collection",
    "comparison",
    "decisions",
    "errors",
    "explanation",
    "features",
    "induction",
    "inference",
    "io",
    "kernels",
    "labels",
    "losses",
    "methods",
    "metrics",
    "model",
    "protocols",
    "report",
    "search",
    "splits",
    "storage",
    "synthetic",
    "taxonomy",
    "text",
    "tuning",
)

__all__ = [
    "CorrelatedMNL",
    "FlatLogistic",
    "FlatSVM",
    "GraphM3",
    "HBLR",
    "HM3",
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
    "save",
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"linnaeus.{name}")
    raise AttributeError(f"module 'linnaeus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
