"""What the tests of the storage share: equality of whole objects, and many fitted estimators."""

import math
import warnings
from functools import cache, cached_property
from inspect import getattr_static
from itertools import chain

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

import linnaeus
from linnaeus import Taxonomy
from linnaeus.kernels import LinearKernel, SpectrumKernel, WordSequenceKernel, normalize
from linnaeus.losses import class_loss

ESTIMATORS = {
    name: getattr(linnaeus, name)
    for name in linnaeus.__all__
    if isinstance(getattr(linnaeus, name), type) and hasattr(getattr(linnaeus, name), "fit")
}
FEW = {"CorrelatedMNL": {"n_burn_in": 10, "n_samples": 20, "callback": max}}
NOT_KEPT = ("callback", "backend", "checkpoint", "memory")

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")],
    titles={"A": "First", "b1": "Tenth"},
)
_rng = np.random.default_rng(0)
LEAF = _rng.integers(0, 5, size=60)
X = (_rng.normal(size=(5, 12)) * 2)[LEAF] + _rng.normal(size=(60, 12))
Y = np.array(TAX.leaves)[LEAF]
TEXTS = ["".join(row) for row in np.array(list("abcdef"))[(X[:, :8] > 0) + LEAF[:, None] % 5]]
CLOSED = TAX.closure(TAX.encode(Y))

# What each estimator is fitted with, besides what all share: parameters, inputs, labels
COMMON = {
    "tree": ({"taxonomy": TAX}, X, Y),
    "flat": ({}, X, Y),
    "sparse rows, lists": ({"taxonomy": TAX}, sp.csr_array(X), [[label] for label in Y]),
    "closed dense indicator": ({"taxonomy": TAX}, X, CLOSED.toarray()),
    "sparse indicator": ({"taxonomy": TAX, "random_state": 3}, X, sp.csr_matrix(TAX.encode(Y))),
    "numbers, a generator": ({"random_state": np.random.RandomState(1)}, X, LEAF + 10),
    "two classes": ({}, X, Y == "a1"),
    "float32": ({"taxonomy": TAX, "dtype": np.float32}, X.astype(np.float32), Y),
    "warm start": ({"taxonomy": TAX, "warm_start": True}, X, Y),
    "kernel matrix": ({"taxonomy": TAX, "kernel": "precomputed"}, X @ X.T, Y),
    "kernel": (
        {"taxonomy": TAX, "kernel": normalize(SpectrumKernel(2)) + 0.5 * WordSequenceKernel(1)},
        TEXTS,
        Y,
    ),
    "linear kernel, intercept": (
        {"taxonomy": TAX, "kernel": LinearKernel(), "fit_intercept": True},
        X,
        Y,
    ),
    "pruned": ({"taxonomy": TAX, "prune": 0.1}, X, Y),
    "class weights": ({"taxonomy": TAX, "class_weight": {"a1": 2.0}}, X, Y),
    "own loss": ({"taxonomy": TAX, "attributes": np.eye(5), "loss": 1.0 - np.eye(5)}, X, Y),
    "loss object": (
        {"taxonomy": TAX, "attributes": np.eye(5), "loss": class_loss("distance", TAX)}, X, Y,
    ),
}  # fmt: skip
OWN = {
    "HBLR": [
        {"inference": "variational"}, {"inference": "variational", "covariance": "diagonal"},
        {"inference": "variational", "covariance": "full"}, {"inference": "flat"},
        {"model": "M1"}, {"model": "M2"}, {"link": "binary"}, {"prior": (1.0, 1.0)},
    ],
    "HM3": [{"features": "path"}, {"slack": "edge"}, {"root_edges": "all"}],
    "GraphM3": [
        {"inference": "loopy", "max_iter": 5}, {"inference": "trp", "max_iter": 5},
        {"edges": [("a1", "b1")]},
    ],
    "TopDown": [
        {"estimator": LinearSVC(random_state=0)}, {"estimator": LogisticRegression(), "stop": True},
        {"local": "multiclass"}, {"local": "multiclass", "estimator": LogisticRegression()},
        {"stop": "levels"}, {"decode": "beam"}, {"loss": "logistic"},
    ],
    "RankingSVM": [{"class_kernel": np.eye(5)}],
    "HierarchicalPerceptron": [{"variant": "online"}, {"fit_intercept": True}],
    "RecursiveSVM": [{"conductance": {("r", "A"): 2.0}, "ground": 0.5}],
}  # fmt: skip


NARROW = ("FlatSVM", "TopDown")  # others would only compile long


def _cases():
    for name in ESTIMATORS:
        for case, (parameters, inputs, labels) in COMMON.items():
            known = ESTIMATORS[name]().get_params().keys() | {"random_state"}
            if case == "float32" and name not in NARROW:
                continue
            if parameters.keys() <= known:
                yield f"{name}: {case}", name, parameters, inputs, labels
        for parameters in OWN.get(name, ()):
            shown = ", ".join(
                f"{k}={type(v).__name__ if k == 'estimator' else v}" for k, v in parameters.items()
            )
            yield f"{name}: {shown}", name, {"taxonomy": TAX} | parameters, X, Y


CASES = {case: rest for case, *rest in _cases()}


@cache
def fitted(case):
    """The estimator of a case, fitted, and the inputs it takes."""
    name, parameters, inputs, labels = CASES[case]
    kind = ESTIMATORS[name]
    parameters = {"random_state": 0} | FEW.get(name, {}) | parameters
    known = kind().get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**{k: v for k, v in parameters.items() if k in known})
        return model.fit(inputs, labels), inputs


def text_pipeline():
    texts = [" ".join(text) for text in TEXTS]
    model = linnaeus.FlatSVM(TAX, random_state=0)
    steps = CountVectorizer(token_pattern=r"\w", ngram_range=(1, 2)), MaxAbsScaler(), model
    return make_pipeline(*steps).fit(texts, Y), texts


def assert_same(a, b, path="object"):
    """Two objects are made of equal parts, however deep."""
    assert type(a) is type(b) or {type(a), type(b)} == {np.ndarray, np.memmap}, path
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, path
        equal_nan = a.dtype.kind == "f"
        assert np.array_equal(a, b, equal_nan=equal_nan), path
    elif sp.issparse(a):
        assert a.shape == b.shape, path
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(a, part), getattr(b, part), f"{path}.{part}")
    elif isinstance(a, Taxonomy):
        assert a == b and a.misc == b.misc and a.digest() == b.digest(), path
        for x, y in zip(a.dag, b.dag, strict=True):
            assert_same(x, y, path)
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state(), path)
    elif isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            assert_same(a[key], b[key], f"{path}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{path}[{i}]")
    elif hasattr(a, "__dict__") and not isinstance(a, type):
        assert_same(_kept(a), _kept(b), path)
    else:
        both_nan = isinstance(a, float) and math.isnan(a) and math.isnan(b)
        assert a == b or both_nan, f"{path}: {a!r} is not {b!r}"


def _kept(value):
    def computed(name):
        return isinstance(getattr_static(type(value), name, None), cached_property)

    ways = (getattr(value, name, ()) for name in ("_unsaved", "_never_saved"))
    unsaved = {*NOT_KEPT, *chain.from_iterable(ways)}
    return {k: v for k, v in vars(value).items() if k not in unsaved and not computed(k)}
