"""What older formats wrote, as this version has it; nothing else knows of the past.

    1   classes by the module and name that they had then, seconds among the other numbers
    2   classes by tag; seconds in made.json, so that equal training gives equal files

An object whose attributes (or a named tuple whose fields) change needs a new format: raise
`document.VERSION`, add to `CHANGES` a function that makes the new attributes of the old, and keep
models of the new format in tests/models. Tags stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linnaeus.storage import document, registry

Parts = dict[str, Any]

_NAMES_1 = {
    "linnaeus.decisions.argmax:Argmax": "argmax",
    "linnaeus.decisions.closed:ClosedArgmax": "closed-argmax",
    "linnaeus.decisions.consistent:TopDownConsistent": "top-down-consistent",
    "linnaeus.decisions.instance_cut:InstanceCut": "instance-cut",
    "linnaeus.decisions.labels:Form": "label-form",
    "linnaeus.decisions.rcut:RCut": "rcut",
    "linnaeus.decisions.scut:SCut": "scut",
    "linnaeus.decisions.set_size:SetSize": "set-size",
    "linnaeus.decisions.threshold:Threshold": "threshold",
    "linnaeus.estimators._running_sizes:RunningSizes": "running-sizes",
    "linnaeus.estimators._targets:Targets": "targets",
    "linnaeus.estimators._topdown_decode:Decoder": "local-decoder",
    "linnaeus.estimators._topdown_local:BaseModels": "local-base-models",
    "linnaeus.estimators._topdown_local:LinearModels": "local-linear-models",
    "linnaeus.estimators.correlated:CorrelatedMNL": "correlated-mnl",
    "linnaeus.estimators.flat:FlatLogistic": "flat-logistic",
    "linnaeus.estimators.flat:FlatSVM": "flat-svm",
    "linnaeus.estimators.graph_m3:GraphM3": "graph-m3",
    "linnaeus.estimators.hblr:HBLR": "hblr",
    "linnaeus.estimators.hblr:Layout": "hblr-layout",
    "linnaeus.estimators.hieron:Hieron": "hieron",
    "linnaeus.estimators.hm3:HM3": "hm3",
    "linnaeus.estimators.multiclass:MulticlassLogistic": "multiclass-logistic",
    "linnaeus.estimators.multiclass:MulticlassSVM": "multiclass-svm",
    "linnaeus.estimators.orthogonal:OrthogonalTransfer": "orthogonal-transfer",
    "linnaeus.estimators.perceptron:HierarchicalPerceptron": "hierarchical-perceptron",
    "linnaeus.estimators.ranking:RankingSVM": "ranking-svm",
    "linnaeus.estimators.recursive:RecursiveLogistic": "recursive-logistic",
    "linnaeus.estimators.recursive:RecursiveSVM": "recursive-svm",
    "linnaeus.estimators.rls:HierarchicalRLS": "hierarchical-rls",
    "linnaeus.estimators.topdown:TopDown": "top-down",
    "linnaeus.features.tables:TableFeatures": "table-features",
    "linnaeus.inference.graphs:Graph": "graph",
    "linnaeus.inference.paths:Families": "families",
    "linnaeus.kernels.base:Multiple": "multiple-kernel",
    "linnaeus.kernels.base:Product": "product-kernel",
    "linnaeus.kernels.base:Sum": "sum-kernel",
    "linnaeus.kernels.linear:LinearKernel": "linear-kernel",
    "linnaeus.kernels.normal:Normalized": "normalized-kernel",
    "linnaeus.kernels.spectrum:SpectrumKernel": "spectrum-kernel",
    "linnaeus.kernels.subsequence:SubsequenceKernel": "subsequence-kernel",
    "linnaeus.kernels.words:BagOfWordsKernel": "bag-of-words-kernel",
    "linnaeus.kernels.words:SyllableSequenceKernel": "syllable-sequence-kernel",
    "linnaeus.kernels.words:WordSequenceKernel": "word-sequence-kernel",
    "linnaeus.losses.decomposable:Edges": "edges",
    "linnaeus.losses.pairwise:ClassLoss": "class-loss",
    "linnaeus.losses.pairwise:_TableLoss": "class-loss-table",
    "linnaeus.model.held_out:HeldOut": "held-out",
    "linnaeus.model.model:Model": "model",
    "linnaeus.solvers.hblr_model:Gamma": "gamma",
    "linnaeus.solvers.hblr_model:Posterior": "hblr-posterior",
    "linnaeus.solvers.local:Local": "local-problem",
    "linnaeus.solvers.perceptron:Classes": "perceptron-classes",
    "linnaeus.solvers.perceptron_fast:Classes": "perceptron-loop-classes",
    "linnaeus.solvers.perceptron_weights:Weights": "perceptron-weights",
    "linnaeus.solvers.ranking:Ranking": "ranking-svm-solution",
    "linnaeus.solvers.ridge:Family": "hrls-family",
    "linnaeus.splits:MultilabelStratifiedKFold": "multilabel-stratified-k-fold",
    "linnaeus.text.spectrum:SpectrumVectorizer": "spectrum-vectorizer",
    "linnaeus.text.tfidf:TfidfVectorizer": "tfidf-vectorizer",
    "sklearn.feature_extraction.text:CountVectorizer": "sklearn-count-vectorizer",
    "sklearn.feature_extraction.text:TfidfTransformer": "sklearn-tfidf-transformer",
    "sklearn.feature_extraction.text:TfidfVectorizer": "sklearn-tfidf-vectorizer",
    "sklearn.impute:SimpleImputer": "sklearn-simple-imputer",
    "sklearn.linear_model:LogisticRegression": "sklearn-logistic-regression",
    "sklearn.model_selection:KFold": "sklearn-k-fold",
    "sklearn.model_selection:StratifiedKFold": "sklearn-stratified-k-fold",
    "sklearn.multiclass:OneVsRestClassifier": "sklearn-one-vs-rest-classifier",
    "sklearn.multiclass:_ConstantPredictor": "sklearn-constant-predictor",
    "sklearn.pipeline:Pipeline": "sklearn-pipeline",
    "sklearn.preprocessing:LabelBinarizer": "sklearn-label-binarizer",
    "sklearn.preprocessing:MaxAbsScaler": "sklearn-max-abs-scaler",
    "sklearn.preprocessing:MinMaxScaler": "sklearn-min-max-scaler",
    "sklearn.preprocessing:Normalizer": "sklearn-normalizer",
    "sklearn.preprocessing:StandardScaler": "sklearn-standard-scaler",
    "sklearn.svm:LinearSVC": "sklearn-linear-svc",
}

# By tag and format: from the attributes of that format to those of the next
CHANGES: Mapping[tuple[str, int], Callable[[Parts], Parts]] = {}


def tag_named(name: Any, version: int) -> str:
    """The tag of what a file of some format calls a class; a `UserError` if there is none."""
    known = _NAMES_1 if version == 1 else registry.CLASSES
    if not isinstance(name, str) or name not in known:
        raise registry.unknown(name)
    return _NAMES_1[name] if version == 1 else name


def upgraded(parts: Parts, tag: str, version: int) -> Parts:
    """The attributes or fields of an object of some format, as they are called now."""
    for step in range(version, document.VERSION):
        parts = CHANGES.get((tag, step), dict)(parts)
    return parts
