"""The classes that a model may hold, by name.

A file that names any other is refused before anything is imported. Objects are made without
calling their constructors: a class gets back its attributes, a named tuple its fields.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from inspect import getattr_static
from typing import Any

from linnaeus.errors import UserError, shorten

_CLASSES = {
    "linnaeus.decisions.argmax": "Argmax",
    "linnaeus.decisions.closed": "ClosedArgmax",
    "linnaeus.decisions.consistent": "TopDownConsistent",
    "linnaeus.decisions.instance_cut": "InstanceCut",
    "linnaeus.decisions.rcut": "RCut",
    "linnaeus.decisions.scut": "SCut",
    "linnaeus.decisions.set_size": "SetSize",
    "linnaeus.decisions.threshold": "Threshold",
    "linnaeus.estimators._running_sizes": "RunningSizes",
    "linnaeus.estimators._targets": "Targets",
    "linnaeus.estimators._topdown_decode": "Decoder",
    "linnaeus.estimators._topdown_local": "BaseModels LinearModels",
    "linnaeus.estimators.corrmnl": "CorrelatedMNL",
    "linnaeus.estimators.svm": "FlatSVM",
    "linnaeus.estimators.logistic": "FlatLogistic",
    "linnaeus.estimators.graph_m3": "GraphM3",
    "linnaeus.estimators.hblr": "HBLR Layout",
    "linnaeus.estimators.hieron": "Hieron",
    "linnaeus.estimators.hm3": "HM3",
    "linnaeus.estimators.mlr": "MulticlassLogistic",
    "linnaeus.estimators.msvm": "MulticlassSVM",
    "linnaeus.estimators.ot": "OrthogonalTransfer",
    "linnaeus.estimators.perceptron": "HierarchicalPerceptron",
    "linnaeus.estimators.ranking_svm": "RankingSVM",
    "linnaeus.estimators.rr_lr": "RecursiveLogistic",
    "linnaeus.estimators.rr_svm": "RecursiveSVM",
    "linnaeus.estimators.hrls": "HierarchicalRLS",
    "linnaeus.estimators.topdown": "TopDown",
    "linnaeus.features.tables": "TableFeatures",
    "linnaeus.inference.graphs": "Graph",
    "linnaeus.inference.paths": "Families",
    "linnaeus.kernels.base": "Multiple Product Sum",
    "linnaeus.kernels.linear": "LinearKernel",
    "linnaeus.kernels.normal": "Normalized",
    "linnaeus.kernels.spectrum": "SpectrumKernel",
    "linnaeus.kernels.subsequence": "SubsequenceKernel",
    "linnaeus.kernels.words": "BagOfWordsKernel SyllableSequenceKernel WordSequenceKernel",
    "linnaeus.labels": "Form",
    "linnaeus.losses.decomposable": "Edges",
    "linnaeus.losses.pairwise": "ClassLoss _TableLoss",
    "linnaeus.model.held_out": "HeldOut",
    "linnaeus.model.model": "Model",
    "linnaeus.solvers.bayes.hblr_model": "Gamma Posterior",
    "linnaeus.solvers.linear.topdown": "Local",
    "linnaeus.solvers.online.perceptron": "Classes",
    "linnaeus.solvers.online.perceptron_fast": "Classes",
    "linnaeus.solvers.online.perceptron_weights": "Weights",
    "linnaeus.solvers.ranking.ranking_svm": "Ranking",
    "linnaeus.solvers.linear.hrls": "Family",
    "linnaeus.splits": "MultilabelStratifiedKFold",
    "linnaeus.text.spectrum": "SpectrumVectorizer",
    "linnaeus.text.tfidf": "TfidfVectorizer",
    "sklearn.feature_extraction.text": "CountVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.impute": "SimpleImputer",
    "sklearn.linear_model": "LogisticRegression",
    "sklearn.model_selection": "KFold StratifiedKFold",
    "sklearn.multiclass": "OneVsRestClassifier _ConstantPredictor",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "LabelBinarizer MaxAbsScaler MinMaxScaler Normalizer StandardScaler",
    "sklearn.svm": "LinearSVC",
}
ALLOWED = frozenset(
    f"{module}:{name}" for module, names in _CLASSES.items() for name in names.split()
)

# Attributes that are not kept, and what they are after loading; those of _GONE are not there.
_GONE = object()
_FIXED: dict[str, dict[str, Any]] = {
    "linnaeus.estimators.corrmnl:CorrelatedMNL": {"callback": None},  # tells of progress
    "linnaeus.estimators.svm:FlatSVM": {"duals_": _GONE},  # only a faster start of the next fit
    "sklearn.pipeline:Pipeline": {"memory": None},  # a folder of pickles
}


def name_of(kind: type) -> str | None:
    """The name under which a class is written; None if it is not allowed."""
    module = kind.__module__
    if module.startswith("sklearn."):  # private modules move between versions
        module = ".".join(part for part in module.split(".") if not part.startswith("_"))
    name = f"{module}:{kind.__qualname__}"
    return name if name in ALLOWED and class_named(name) is kind else None


def class_named(name: Any) -> type:
    """The class of a name in the table."""
    if not isinstance(name, str) or name not in ALLOWED:
        raise UserError(
            f"it names the class {shorten(name)}, which a model may not hold. Load only models "
            f"that linnaeus has saved; a newer version may know this class."
        )
    module, _, attribute = name.partition(":")
    kind: type = getattr(importlib.import_module(module), attribute)
    return kind


def attributes(value: Any, name: str) -> dict[str, Any]:
    """The attributes of an object that are kept: none that can be computed again."""
    fixed = _FIXED.get(name, {})
    return {
        key: fixed.get(key, kept)
        for key, kept in vars(value).items()
        if fixed.get(key) is not _GONE
        and not isinstance(getattr_static(type(value), key, None), cached_property)
    }


def settle(value: Any, name: str) -> None:
    """Set the attributes that are never taken from a file."""
    for key, kept in _FIXED.get(name, {}).items():
        if kept is _GONE:
            vars(value).pop(key, None)
        elif key in vars(value):
            vars(value)[key] = kept
