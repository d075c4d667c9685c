"""One fit and its scores: labels in the form that a method takes, scores over the true classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from linnaeus.errors import UserError, shorten
from linnaeus.labels import name_array, parse, plain_names, to_lists
from linnaeus.metrics import (
    average_precision,
    maximal_loss,
    one_accuracy,
    parent_accuracy,
    ranking_loss,
    top_loss,
)
from linnaeus.protocols.study import METRICS, Study
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy

Callback = Callable[[int, int], None]


class Data(NamedTuple):
    """The rows, and their labels over the classes of the true taxonomy."""

    X: Any
    Y: sp.csr_array  # (n, n_classes) 0/1
    names: tuple[Any, ...]  # of the classes; an inner node for its misc leaf
    taxonomy: Taxonomy  # with misc leaves, whose leaves are the classes
    one: bool  # one label per row

    @classmethod
    def of(cls, X: Any, y: Any, taxonomy: Taxonomy) -> Data:
        labels = parse(y, taxonomy)
        own = sp.csr_array(taxonomy.most_specific(labels.over_nodes(taxonomy)))
        grown = taxonomy.with_misc(own)
        names = tuple(grown.misc.get(leaf, leaf) for leaf in grown.leaves)
        place = np.full(len(taxonomy), -1)
        place[taxonomy.numbers(names)] = np.arange(len(names))
        Y = sp.csr_array((own.data, place[own.indices], own.indptr), (own.shape[0], len(names)))
        X = X if sp.issparse(X) or isinstance(X, list) else np.asarray(X)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n != Y.shape[0]:
            raise UserError(f"X has {n} rows, but y has {Y.shape[0]}. Give a label set for each.")
        by_name = labels.form.kind in ("one", "lists")
        one = by_name and bool((np.diff(Y.indptr) == 1).all())
        return cls(X, Y, names, grown, one)

    def labels(self, rows: np.ndarray, as_indicator: bool = False) -> Any:
        """The labels of some rows by name, or as an indicator over the classes."""
        Y = self.Y[rows]
        Y.sort_indices()
        if self.one:
            return name_array(self.names)[Y.indices]
        return Y if as_indicator else to_lists(Y, self.names)


def run(
    splits: Mapping[Any, list[Split]], estimators: Any, data: Data, loss: Any,
    callback: Callback | None,
) -> Study:  # fmt: skip
    """Fit every method on every division."""
    methods = _methods(estimators)
    if not all(splits.values()) or not splits:
        raise UserError("There are no folds to fit. Give at least one pair of row numbers.")
    total, done = sum(map(len, splits.values())) * len(methods), 0
    values: dict[Any, dict[Any, dict[str, np.ndarray]]] = {}
    for condition, parts in splits.items():
        found: dict[Any, list[list[float]]] = {method: [] for method in methods}
        for train, test in parts:
            for method, estimator in methods.items():
                scores = _scores(estimator, data, train, test)
                found[method].append(_measure(data, test, scores, loss))
                done += 1
                if callback is not None:
                    callback(done, total)
        values[condition] = {
            method: dict(zip(METRICS, np.array(rows).T, strict=True))
            for method, rows in found.items()
        }
    return Study(values)


def run_in_blocks(
    train: np.ndarray, blocks: list[np.ndarray], estimators: Any, data: Data, loss: Any,
    callback: Callback | None,
) -> Study:  # fmt: skip
    """Fit every method once; its metrics on all test rows, and on each block of them."""
    methods, test = _methods(estimators), np.concatenate(blocks)
    ends = np.cumsum([block.size for block in blocks])[:-1]
    whole, parts = {}, {}
    for done, (method, estimator) in enumerate(methods.items(), 1):
        scores = _scores(estimator, data, train, test)
        rows = [
            _measure(data, block, own, loss)
            for block, own in zip(blocks, np.split(scores, ends), strict=True)
        ]
        whole[method] = dict(
            zip(METRICS, np.array([_measure(data, test, scores, loss)]).T, strict=True)
        )
        parts[method] = dict(zip(METRICS, np.array(rows).T, strict=True))
        if callback is not None:
            callback(done, len(methods))
    return Study({"all": whole, "blocks": parts})


def _methods(estimators: Any) -> Mapping[Any, Any]:
    """By their names; at least one."""
    methods = estimators if isinstance(estimators, Mapping) else {_name(estimators): estimators}
    if not methods:
        raise UserError("No methods are given. Give a classifier, or {name: classifier}.")
    return methods


def _name(estimator: Any) -> str:
    named = hasattr(estimator, "fit")
    return type(estimator).__name__ if named else getattr(estimator, "__name__", "method")


def _measure(data: Data, test: np.ndarray, scores: np.ndarray, loss: Any) -> list[float]:
    """Every metric of one test part, over the classes in the true taxonomy."""
    grown = data.taxonomy
    wide = (data.Y[test] @ _onto(grown)).astype(np.int8)
    return [
        one_accuracy(wide, scores, grown),
        average_precision(wide, scores, grown),
        top_loss(wide, scores, grown, loss=loss),
        maximal_loss(wide, scores, grown, loss=loss),
        ranking_loss(wide, scores, grown),
        parent_accuracy(wide, scores, grown),
    ]


def _onto(taxonomy: Taxonomy) -> sp.csr_array:
    """(n_leaves, n_nodes): the node of every leaf."""
    n = taxonomy.leaf_numbers.size
    entries = (np.ones(n, np.int8), taxonomy.leaf_numbers, np.arange(n + 1))
    return sp.csr_array(entries, shape=(n, len(taxonomy)))


def _scores(estimator: Any, data: Data, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Scores of the test rows over the classes, by a model of the training rows."""
    if not hasattr(estimator, "fit"):
        if not callable(estimator):
            raise UserError(f"{shorten(estimator)} is no classifier: it has no fit.")
        estimator = estimator(_safe_indexing(data.X, train), data.labels(train))
    model = clone(estimator)
    as_indicator = not data.one and not _has_taxonomy(model)
    X_train, X_test = _safe_indexing(data.X, train), _safe_indexing(data.X, test)
    if get_tags(model).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    model.fit(X_train, data.labels(train, as_indicator))
    score = getattr(model, "decision_function", None) or model.predict_proba
    S = np.asarray(score(X_test), dtype=np.float64)
    S = np.column_stack([-S, S]) if S.ndim == 1 else S
    if as_indicator:
        return S
    column = {name: j for j, name in enumerate(data.names)}
    target = np.array([column.get(name, -1) for name in plain_names(model.classes_)])
    known = target >= 0
    out = np.repeat(S[:, known].min(axis=1, keepdims=True) - 1.0, len(data.names), axis=1)
    out[:, target[known]] = S[:, known]
    return out


def _has_taxonomy(model: Any) -> bool:
    return any(
        value is not None
        for key, value in model.get_params().items()
        if key == "taxonomy" or key.endswith("__taxonomy")
    )
