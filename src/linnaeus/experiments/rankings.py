"""Rankings of all classes, method by method: folds, few rows per class, a given division.

The designs of [Cai2008] section 7. Every method scores every class of every test row; all losses
are those of the true taxonomy, whatever hierarchy a method used. A class that a method has not seen
comes after those it has. Inner nodes that carry labels are classes too, and stand for a misc leaf
below the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from linnaeus import metrics
from linnaeus.decisions import scoring
from linnaeus.errors import UserError, shorten
from linnaeus.experiments.divisions import Division, Examples, counting, fit_all
from linnaeus.experiments.named_methods import NotApplicable
from linnaeus.experiments.ranking_study import METRICS, RankingStudy
from linnaeus.labels import name_array, parse, plain_names, to_lists
from linnaeus.model import inputs_of
from linnaeus.splits import Split, at_most_per_class, k_folds, t_per_class
from linnaeus.splits.copies import Copies
from linnaeus.taxonomy import Taxonomy

Callback = Callable[[int, int], None]


def cross_validate_ranking(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    folds: int | Iterable[Split] = 10,
    at_most: int | None = None,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> RankingStudy:
    """Metrics of every fold.

    Parameters
    ----------
    estimators : object or dict
        A classifier, or {name: classifier}. A function (X, y) -> classifier is called with every
        training part, for example to learn a taxonomy from it; it may raise `NotApplicable`. A
        classifier with a taxonomy is given one label per row, or label lists; one without, an
        indicator in place of the lists.
    X : array-like, sparse matrix or Examples
        Rows of anything that the classifiers take; a kernel matrix for those that want one; or
        `Examples`, of which features are made in every division.
    y : array-like, sparse matrix or list of lists
        One label per row, label lists, or an indicator over the nodes of the taxonomy.
    taxonomy : Taxonomy
        The true taxonomy, for the losses.
    folds : int or iterable of (train, test), default=10
        How many, or row numbers.
    at_most : int or None, default=None
        First draw a smaller corpus with at most so many rows per class; None for all.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
    random_state : int, RandomState instance or None, default=0
        Seed.
    callback : callable or None, default=None
        Told how many fits are done, and how many there are.

    Returns
    -------
    RankingStudy

    Examples
    --------
    >>> from linnaeus import FlatSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X, y = np.eye(3)[[0, 1, 2] * 4], np.array(["cat", "dog", "oak"] * 4)
    >>> study = cross_validate_ranking(FlatSVM(tax, random_state=0), X, y, tax, folds=2)
    >>> study.mean("FlatSVM", "top1_accuracy")
    1.0
    """
    data = RankedRows.of(X, y, taxonomy)
    if isinstance(folds, int | np.integer):
        rows = np.arange(data.Y.shape[0])
        if at_most is not None:
            rows = at_most_per_class(data.Y, at_most, random_state)
        parts = k_folds(data.Y[rows], int(folds), random_state, data.groups(rows))
        splits = [(rows[train], rows[test]) for train, test in parts]
    elif at_most is not None:
        raise UserError("at_most is given with folds of your own. Leave out rows in the folds.")
    else:
        splits = list(folds)
    return _run({"": splits}, estimators, data, loss, callback)


def per_class_study(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    t: int | Iterable[int] = (1, 5, 10, 20),
    repetitions: int = 10,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> RankingStudy:
    """Metrics with t training rows per class (or all there are), tested on all others.

    Conditions are called "t=1" and so on; the draws are the same for every method.

    Parameters
    ----------
    estimators : object or dict
        A classifier, or {name: classifier}.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        One row per sample.
    y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of the
        taxonomy (without one, over any columns), or lists of labels.
    taxonomy : Taxonomy
        The true taxonomy, for the losses.
    t : int or iterable of int, default=(1, 5, 10, 20)
        Training rows per class.
    repetitions : int, default=10
        How often to draw.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
    random_state : int, RandomState instance or None, default=0
        Seed.
    callback : callable or None, default=None
        Called now and then with the number of steps done and of all steps.

    Returns
    -------
    RankingStudy
    """
    data = RankedRows.of(X, y, taxonomy)
    if repetitions < 1:
        raise UserError(f"repetitions is {repetitions}. Repeat at least once.")
    sizes = [t] if isinstance(t, int | np.integer) else list(t)
    copies = data.groups(np.arange(data.Y.shape[0]))
    splits = {
        f"t={size}": list(t_per_class(data.Y, size, repetitions, random_state, copies))
        for size in sizes
    }
    for name, parts in splits.items():
        if any(test.size == 0 for _, test in parts):
            raise UserError(f"With {name} every row is trained on. Use a smaller t.")
    return _run(splits, estimators, data, loss, callback)


def held_out_ranking(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    train: Any,
    test: Any,
    blocks: int = 50,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> RankingStudy:
    """Metrics of one given division into training and test rows.

    The condition "all" has one value, of all test rows. The condition "blocks" has one for each of
    so many blocks of test rows, drawn at random since rows often come sorted: their scatter gives
    standard errors, and two methods can be compared block by block.

    Parameters
    ----------
    estimators : object or dict
        A classifier, or {name: classifier}.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        One row per sample.
    y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of the
        taxonomy (without one, over any columns), or lists of labels.
    taxonomy : Taxonomy
        The true taxonomy, for the losses.
    train : array-like of int
        Numbers of the training rows.
    test : array-like of int
        Numbers of the test rows.
    blocks : int, default=50
        Number of blocks.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
    random_state : int, RandomState instance or None, default=0
        Seed.
    callback : callable or None, default=None
        Called now and then with the number of steps done and of all steps.

    Returns
    -------
    RankingStudy
    """
    rows = np.random.default_rng(random_state).permutation(np.asarray(test))
    if not 1 <= blocks <= rows.size:
        raise UserError(
            f"blocks is {blocks}, but there are {rows.size} test rows. Use 1 to that number."
        )
    data = RankedRows.of(X, y, taxonomy)
    parts = np.array_split(rows, blocks)
    measure = partial(_measure_in_blocks, data=data, loss=loss, blocks=parts)
    splits = {"all": [(np.asarray(train), rows)]}
    found, failed = _fitted(splits, estimators, data, measure, callback)
    values = {
        "all": {method: _by_metric([whole]) for method, [(whole, _)] in found.items()},
        "blocks": {method: _by_metric(each) for method, [(_, each)] in found.items()},
    }
    return RankingStudy(values, failed)


class RankedRows(NamedTuple):
    """The rows, and their labels over the classes of the true taxonomy."""

    X: Any
    Y: sp.csr_array  # (n, n_classes) 0/1
    names: tuple[Any, ...]  # of the classes; an inner node for its misc leaf
    taxonomy: Taxonomy  # with misc leaves, whose leaves are the classes
    one: bool  # one label per row

    @classmethod
    def of(cls, X: Any, y: Any, taxonomy: Taxonomy) -> RankedRows:
        labels = parse(y, taxonomy)
        own = sp.csr_array(taxonomy.most_specific(taxonomy.encode(labels)))
        grown = taxonomy.with_misc(own)
        names = tuple(grown.misc.get(leaf, leaf) for leaf in grown.leaves)
        place = np.full(len(taxonomy), -1)
        place[taxonomy.numbers(names)] = np.arange(len(names))
        Y = sp.csr_array((own.data, place[own.indices], own.indptr), (own.shape[0], len(names)))
        X = X if sp.issparse(X) or isinstance(X, list | Examples) else np.asarray(X)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n != Y.shape[0]:
            raise UserError(f"X has {n} rows, but y has {Y.shape[0]}. Give a label set for each.")
        by_name = labels.form.kind in ("one", "lists")
        one = by_name and bool((np.diff(Y.indptr) == 1).all())
        return cls(X, Y, names, grown, one)

    def divided(self, splits: Iterable[Split]) -> Iterator[Division]:
        """The rows of every division, as classifiers take them."""
        for train, test in splits:
            if isinstance(self.X, Examples):
                yield self.X.division(train, test)
            else:
                X, X_test = (_safe_indexing(self.X, rows) for rows in (train, test))
                yield Division(train, test, X, X_test)

    def groups(self, rows: np.ndarray) -> np.ndarray | None:
        """The groups of copies of some rows."""
        inputs = inputs_of(self.X.part) if isinstance(self.X, Examples) else self.X
        found = Copies.of(inputs).groups
        return None if found is None else found[rows]

    def labels(self, rows: np.ndarray, as_indicator: bool = False) -> Any:
        """The labels of some rows by name, or as an indicator over the classes."""
        Y = self.Y[rows]
        Y.sort_indices()
        if self.one:
            return name_array(self.names)[Y.indices]
        return Y if as_indicator else to_lists(Y, self.names)


def _run(
    splits: Mapping[Any, list[Split]], estimators: Any, data: RankedRows, loss: Any,
    callback: Callback | None,
) -> RankingStudy:  # fmt: skip
    """Fit every method on every division of every condition."""
    measure = partial(_measure, data=data, loss=loss)
    found, failed = _fitted(splits, estimators, data, measure, callback)
    values, start = {}, 0
    for condition, parts in splits.items():
        end = start + len(parts)
        values[condition] = {m: _by_metric(each[start:end]) for m, each in found.items()}
        start = end
    return RankingStudy(values, failed)


def _fitted(
    splits: Mapping[Any, list[Split]], estimators: Any, data: RankedRows,
    measure: Callable[[np.ndarray, np.ndarray], Any], callback: Callback | None,
) -> tuple[dict[Any, list[Any]], dict[Any, str]]:  # fmt: skip
    """What `measure` says of the test rows and their scores, of every method and division.

    Also why some methods are not for such data.
    """
    methods = estimators if isinstance(estimators, Mapping) else {_name(estimators): estimators}
    if not methods:
        raise UserError("No methods are given. Give a classifier, or {name: classifier}.")
    if not all(splits.values()) or not splits:
        raise UserError("There are no folds to fit. Give at least one pair of row numbers.")
    every = [split for parts in splits.values() for split in parts]

    def fit(estimator: Any, division: Division) -> Any:
        return measure(division.test, _scores(estimator, data, division))

    found, failed = fit_all(
        methods, data.divided(every), fit, len(every), counting(callback), catch=NotApplicable
    )
    done = {name: rows for name, rows in found.items() if name not in failed}
    return done, {name: str(error) for name, error in failed.items()}


def _by_metric(rows: list[list[float]]) -> dict[str, np.ndarray]:
    return dict(zip(METRICS, np.array(rows).T, strict=True))


def _name(estimator: Any) -> str:
    named = hasattr(estimator, "fit")
    return type(estimator).__name__ if named else getattr(estimator, "__name__", "method")


def _measure(test: np.ndarray, scores: np.ndarray, data: RankedRows, loss: Any) -> list[float]:
    """Every metric of one test part, over the classes in the true taxonomy."""
    grown = data.taxonomy
    wide = (data.Y[test] @ _onto(grown)).astype(np.int8)
    leaves = grown.leaves
    return [
        metrics.top1_accuracy(wide, scores, grown, classes=leaves),
        metrics.label_ranking_average_precision(wide, scores, grown, classes=leaves),
        metrics.top_loss(wide, scores, grown, loss=loss, classes=leaves),
        metrics.maximal_loss(wide, scores, grown, loss=loss, classes=leaves),
        metrics.ranking_loss(wide, scores, grown, classes=leaves),
        metrics.parent_accuracy(wide, scores, grown, classes=leaves),
    ]


def _measure_in_blocks(
    test: np.ndarray, scores: np.ndarray, data: RankedRows, loss: Any, blocks: list[np.ndarray]
) -> tuple[list[float], list[list[float]]]:
    """Every metric of all test rows, and of each block of them."""
    ends = np.cumsum([block.size for block in blocks])[:-1]
    parts = zip(blocks, np.split(scores, ends), strict=True)
    each = [_measure(block, own, data, loss) for block, own in parts]
    return _measure(test, scores, data, loss), each


def _onto(taxonomy: Taxonomy) -> sp.csr_array:
    """(n_leaves, n_nodes): the node of every leaf."""
    n = taxonomy.leaf_numbers.size
    entries = (np.ones(n, np.int8), taxonomy.leaf_numbers, np.arange(n + 1))
    return sp.csr_array(entries, shape=(n, len(taxonomy)))


def _scores(estimator: Any, data: RankedRows, division: Division) -> np.ndarray:
    """Scores of the test rows over the classes, by a model of the training rows."""
    train, _, X_train, X_test, *_ = division
    if not hasattr(estimator, "fit"):
        if not callable(estimator):
            raise UserError(f"{shorten(estimator)} is no classifier: it has no fit.")
        estimator = estimator(X_train, data.labels(train))
    model = clone(estimator)
    as_indicator = not data.one and not _has_taxonomy(model)
    if get_tags(model).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    model.fit(X_train, data.labels(train, as_indicator))
    own = scoring.own_names(model)  # with a taxonomy the classes trained, seen or not
    names = plain_names(model.classes_) if own is None else own
    S = scoring.score_matrix(model, X_test, len(names), own is not None).astype(np.float64)
    if as_indicator:
        return S
    column = {name: j for j, name in enumerate(data.names)}
    target = np.array([column.get(name, -1) for name in names])
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
