"""The classes that a model may hold: for each a tag, which never changes, and where it is now.

A model names its classes by tag only, so the source tree can be tidied without breaking a model:
whoever moves or renames a class edits its line in `CLASSES`, and whoever changes the attributes of
one also adds a function to `linnaeus.storage.upgrades`. A tag that is not in the table is refused
before anything is imported. Objects are made without calling their constructors: a class gets back
its attributes, a named tuple its fields.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from inspect import getattr_static
from typing import Any

from linnaeus.errors import UserError, shorten

CLASSES = {
    "argmax": "linnaeus.decisions:Argmax",
    "bag-of-words-kernel": "linnaeus.kernels:BagOfWordsKernel",
    "class-loss": "linnaeus.losses:ClassLoss",
    "class-loss-table": "linnaeus.losses.pairwise:_TableLoss",
    "closed-argmax": "linnaeus.decisions:ClosedArgmax",
    "confidence": "linnaeus.model.confidence:Confidence",
    "correlated-mnl": "linnaeus.estimators.corrmnl:CorrelatedMNL",
    "edges": "linnaeus.losses:Edges",
    "families": "linnaeus.inference.paths:Families",
    "flat-logistic": "linnaeus.estimators.logistic:FlatLogistic",
    "flat-svm": "linnaeus.estimators.svm:FlatSVM",
    "gamma": "linnaeus.solvers.bayes.hblr_model:Gamma",
    "graph": "linnaeus.inference:Graph",
    "graph-m3": "linnaeus.estimators.graph_m3:GraphM3",
    "hblr": "linnaeus.estimators.hblr:HBLR",
    "hblr-layout": "linnaeus.estimators.hblr:Layout",
    "hblr-posterior": "linnaeus.solvers.bayes.hblr_model:Posterior",
    "held-out": "linnaeus.splits.held_out:HeldOut",
    "hierarchical-perceptron": "linnaeus.estimators.perceptron:HierarchicalPerceptron",
    "hierarchical-rls": "linnaeus.estimators.hrls:HierarchicalRLS",
    "hieron": "linnaeus.estimators.hieron:Hieron",
    "hm3": "linnaeus.estimators.hm3:HM3",
    "hrls-family": "linnaeus.solvers.linear.hrls:Family",
    "instance-cut": "linnaeus.decisions:InstanceCut",
    "kept-rows": "linnaeus.estimators._continued:Kept",
    "label-form": "linnaeus.labels:Form",
    "label-layout": "linnaeus.labels.paths:Layout",
    "label-table": "linnaeus.labels.frames:Table",
    "linear-kernel": "linnaeus.kernels:LinearKernel",
    "local-base-models": "linnaeus.estimators._topdown_local:BaseModels",
    "local-decoder": "linnaeus.estimators._topdown_decode:Decoder",
    "local-linear-models": "linnaeus.estimators._topdown_local:LinearModels",
    "local-problem": "linnaeus.solvers.linear.topdown:Local",
    "model": "linnaeus.model:Model",
    "multiclass-logistic": "linnaeus.estimators.mlr:MulticlassLogistic",
    "multiclass-svm": "linnaeus.estimators.msvm:MulticlassSVM",
    "multilabel-stratified-k-fold": "linnaeus.splits:MultilabelStratifiedKFold",
    "multiple-kernel": "linnaeus.kernels:Multiple",
    "normalized-kernel": "linnaeus.kernels:Normalized",
    "orthogonal-transfer": "linnaeus.estimators.ot:OrthogonalTransfer",
    "perceptron-classes": "linnaeus.solvers.online.perceptron:Classes",
    "perceptron-loop-classes": "linnaeus.solvers.online.perceptron_fast:Classes",
    "perceptron-weights": "linnaeus.solvers.online.perceptron_weights:Weights",
    "product-kernel": "linnaeus.kernels:Product",
    "ranking-svm": "linnaeus.estimators.ranking_svm:RankingSVM",
    "ranking-svm-solution": "linnaeus.solvers.ranking.ranking_svm:Ranking",
    "rcut": "linnaeus.decisions:RCut",
    "recursive-logistic": "linnaeus.estimators.rr_lr:RecursiveLogistic",
    "recursive-svm": "linnaeus.estimators.rr_svm:RecursiveSVM",
    "running-sizes": "linnaeus.estimators._running_sizes:RunningSizes",
    "scut": "linnaeus.decisions:SCut",
    "set-size": "linnaeus.decisions:SetSize",
    "spectrum-kernel": "linnaeus.kernels:SpectrumKernel",
    "spectrum-vectorizer": "linnaeus.text:SpectrumVectorizer",
    "subsequence-kernel": "linnaeus.kernels:SubsequenceKernel",
    "sum-kernel": "linnaeus.kernels:Sum",
    "syllable-sequence-kernel": "linnaeus.kernels:SyllableSequenceKernel",
    "table-features": "linnaeus.model.tables:TableFeatures",
    "targets": "linnaeus.estimators._targets:Targets",
    "tfidf-vectorizer": "linnaeus.text:TfidfVectorizer",
    "threshold": "linnaeus.decisions:Threshold",
    "top-down": "linnaeus.estimators.topdown:TopDown",
    "top-down-consistent": "linnaeus.decisions:TopDownConsistent",
    "word-sequence-kernel": "linnaeus.kernels:WordSequenceKernel",
    "sklearn-constant-predictor": "sklearn.multiclass:_ConstantPredictor",
    "sklearn-count-vectorizer": "sklearn.feature_extraction.text:CountVectorizer",
    "sklearn-k-fold": "sklearn.model_selection:KFold",
    "sklearn-label-binarizer": "sklearn.preprocessing:LabelBinarizer",
    "sklearn-linear-svc": "sklearn.svm:LinearSVC",
    "sklearn-logistic-regression": "sklearn.linear_model:LogisticRegression",
    "sklearn-max-abs-scaler": "sklearn.preprocessing:MaxAbsScaler",
    "sklearn-min-max-scaler": "sklearn.preprocessing:MinMaxScaler",
    "sklearn-normalizer": "sklearn.preprocessing:Normalizer",
    "sklearn-one-vs-rest-classifier": "sklearn.multiclass:OneVsRestClassifier",
    "sklearn-pipeline": "sklearn.pipeline:Pipeline",
    "sklearn-simple-imputer": "sklearn.impute:SimpleImputer",
    "sklearn-standard-scaler": "sklearn.preprocessing:StandardScaler",
    "sklearn-stratified-k-fold": "sklearn.model_selection:StratifiedKFold",
    "sklearn-tfidf-transformer": "sklearn.feature_extraction.text:TfidfTransformer",
    "sklearn-tfidf-vectorizer": "sklearn.feature_extraction.text:TfidfVectorizer",
}

_BY_NAME: dict[tuple[str, str], list[str]] = {}  # tags by package and name of the class
for _tag, _place in CLASSES.items():
    _module, _, _name = _place.partition(":")
    _BY_NAME.setdefault((_module.partition(".")[0], _name), []).append(_tag)

# Attributes that are not kept, and what they are after loading; those of _GONE are not there.
_GONE = object()
_FIXED: dict[str, dict[str, Any]] = {
    "correlated-mnl": {"callback": None},  # tells of progress
    "sklearn-count-vectorizer": {"_stop_words_id": _GONE},  # an address in memory
    "sklearn-pipeline": {"memory": None},  # a folder of pickles
    "sklearn-tfidf-vectorizer": {"_stop_words_id": _GONE},
}


def tag_of(kind: type) -> str | None:
    """The tag of a class; None if no model may hold it."""
    package = kind.__module__.partition(".")[0]  # its module may be another than the table's
    for tag in _BY_NAME.get((package, kind.__qualname__), ()):
        if class_of(tag) is kind:
            return tag
    return None


def class_of(tag: Any) -> type:
    """The class of a tag in the table."""
    if not isinstance(tag, str) or tag not in CLASSES:
        raise unknown(tag)
    module, _, name = CLASSES[tag].partition(":")
    kind: type = getattr(importlib.import_module(module), name)
    return kind


def unknown(name: Any) -> UserError:
    """An error about a class that is not in the table."""
    return UserError(
        f"it names the class {shorten(name)}, which a model may not hold. Load only models that "
        f"linnaeus has saved; a newer version may know this class."
    )


def is_foreign(tag: str) -> bool:
    """Whether a class is scikit-learn's, whose attributes change with its versions."""
    return CLASSES[tag].startswith("sklearn.")


def attributes(value: Any, tag: str) -> dict[str, Any]:
    """The attributes of an object that are kept: none that can be computed again.

    An object may name others that it leaves out: in `_unsaved` what copies lack too, in
    `_never_saved` what is no part of a model.
    """
    fixed = _FIXED.get(tag, {})
    unsaved = (*getattr(value, "_unsaved", ()), *getattr(value, "_never_saved", ()))
    return {
        key: fixed.get(key, kept)
        for key, kept in vars(value).items()
        if fixed.get(key) is not _GONE
        and key not in unsaved
        and not isinstance(getattr_static(type(value), key, None), cached_property | property)
    }


def settle(value: Any, tag: str) -> None:
    """Set the attributes that are never taken from a file."""
    for key, kept in _FIXED.get(tag, {}).items():
        if kept is _GONE:
            vars(value).pop(key, None)
        elif key in vars(value):
            vars(value)[key] = kept
