"""Label sets of a test part, method by method: the experiment of [GopalYang2015] section 6.

Where every training row has one label, the label with the best score is predicted. Otherwise each
row has a threshold of its own, learnt from out-of-fold scores (`decisions.InstanceCut`), so no row
helps to place it with a score of a model that has seen it. Micro and macro F1 are over the leaves
and the inner nodes with labels of their own; a class that is neither true nor predicted scores 0
and counts. Differences are judged by the sign test (micro) and Wilcoxon's test (macro).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from linnaeus.decisions import InstanceCut, Threshold
from linnaeus.errors import UserError, shorten
from linnaeus.experiments.bootstrap import check_draws, f1_spread
from linnaeus.experiments.cost import measure
from linnaeus.experiments.divisions import counting, fit_all
from linnaeus.experiments.label_set_study import LabelSetResult, LabelSetStudy
from linnaeus.experiments.named_methods import NotApplicable
from linnaeus.labels import name_array
from linnaeus.metrics import evaluate
from linnaeus.taxonomy import Taxonomy

CUTS = ("instance", "zero", None)


class _TrainAndTest(NamedTuple):
    """What every method is given and judged by."""

    X: Any
    y: Any  # (n,) names, or an indicator over the nodes
    X_test: Any
    truth: sp.csr_array
    taxonomy: Taxonomy
    n_train: np.ndarray  # rows of each node, by their own labels

    @classmethod
    def of(cls, X: Any, y: Any, X_test: Any, y_test: Any, taxonomy: Taxonomy) -> _TrainAndTest:
        sets = [taxonomy.encode(labels) for labels in (y, y_test)]
        own, truth = (sp.csr_array(taxonomy.most_specific(Y)) for Y in sets)
        for name, rows, labels in (("X", X, own), ("X_test", X_test, truth)):
            n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
            if n != labels.shape[0]:
                raise UserError(
                    f"{name} has {n} rows, but there are {labels.shape[0]} label sets for it. "
                    f"Give a label set for each row."
                )
        n_train = np.bincount(own.indices, minlength=len(taxonomy))
        return cls(X, _labels(own, taxonomy), X_test, truth, taxonomy, n_train)

    @property
    def one(self) -> bool:
        """Whether every training row has one label."""
        return not sp.issparse(self.y)


class _Deciding(NamedTuple):
    """How label sets are decided, and standard errors drawn."""

    cut: str | None
    cv: Any
    n_draws: int
    seed: int


def label_set_study(
    methods: Mapping[Any, Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    taxonomy: Taxonomy,
    *,
    cut: str | None = "instance",
    cv: Any = 5,
    against: Mapping[Any, Any] | None = None,
    n_draws: int = 1000,
    random_state: Any = 0,
    callback: Callable[[int, int], None] | None = None,
) -> LabelSetStudy:
    """Train every method, predict the label sets of the test rows, and compare.

    Parameters
    ----------
    methods : dict
        {name: classifier}. A function (X, y) -> classifier is called with the training part, for
        instance to choose C; y is an array with one label per row or, where rows have several, a
        sparse indicator over the nodes with the most specific labels. It may raise
        `NotApplicable`. What else goes wrong in a method is recorded, and the others go on.
    X : array-like or sparse matrix
        Rows of anything that the classifiers take.
    y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`.
    X_test : array-like or sparse matrix
        Test rows.
    y_test : array-like, sparse matrix or list of lists
        Labels of the test rows.
    taxonomy : Taxonomy
        The taxonomy.
    cut : {'instance', 'zero'} or None, default='instance'
        For rows with several labels: a threshold per row; the labels with positive scores; None,
        what the classifier itself predicts.
    cv : int, splitter or iterable, default=5
        Folds for the threshold, as in `linnaeus.decisions`.
    against : dict or None, default=None
        {method: baseline, or several}; None for the first method as the baseline of the others.
    n_draws : int, default=1000
        Draws of test rows, for standard errors; 0 for none.
    random_state : int, RandomState instance or None, default=0
        Seed.
    callback : callable or None, default=None
        Told how many methods are done, and how many there are.

    Returns
    -------
    LabelSetStudy

    Examples
    --------
    >>> from linnaeus import FlatSVM, TopDown
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X, y = np.eye(3)[[0, 1, 2] * 4], ["cat", "dog", "oak"] * 4
    >>> methods = {"flat": FlatSVM(tax, random_state=0), "tree": TopDown(tax, random_state=0)}
    >>> study = label_set_study(methods, X, y, X, y, tax)
    >>> study["tree"].report["micro_f1"], study.tests[0].baseline
    (1.0, 'flat')
    """
    methods = _checked(methods)
    pairs = _pairs(against, methods)
    if cut not in CUTS:
        raise UserError(f"cut={cut!r} is not known. Use 'instance', 'zero' or None.")
    if n_draws:
        check_draws(n_draws)
    rows = _TrainAndTest.of(X, y, X_test, y_test, taxonomy)
    deciding = _Deciding(cut, cv, n_draws, _seed(random_state))

    fit = partial(_measured, deciding=deciding)
    found, failed = fit_all(methods, [rows], fit, 1, counting(callback), catch=Exception)
    results = {
        name: _failed(failed[name]) if name in failed else found[name][0] for name in methods
    }
    return LabelSetStudy(results, pairs)


def _checked(methods: Any) -> Mapping[Any, Any]:
    if not isinstance(methods, Mapping) or not methods:
        raise UserError("No methods are given. Give {name: classifier}.")
    for name, method in methods.items():
        if not (hasattr(method, "fit") or callable(method)):
            raise UserError(
                f"The method {shorten(name)} is {shorten(method)}, which has no fit. Give a "
                f"classifier, or a function (X, y) that makes one."
            )
    return methods


def _pairs(
    against: Mapping[Any, Any] | None, methods: Mapping[Any, Any]
) -> dict[Any, Sequence[Any]]:
    """The baselines of every method."""
    if against is None:
        first, *others = methods
        return dict.fromkeys(others, (first,))
    pairs: dict[Any, Sequence[Any]] = {
        name: tuple(given) if isinstance(given, list | tuple | set) else (given,)
        for name, given in against.items()
    }
    for name in (name for pair in pairs.items() for name in (pair[0], *pair[1])):
        if name not in methods:
            known = ", ".join(map(str, methods))
            raise UserError(
                f"against names {shorten(name)}, which is no method. There are: {known}."
            )
    return pairs


def _labels(own: sp.csr_array, taxonomy: Taxonomy) -> Any:
    """Names where every row has one label, else the indicator."""
    if not (np.diff(own.indptr) == 1).all():
        return own
    return name_array(taxonomy.names(own.indices.tolist()))


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _failed(error: Exception) -> LabelSetResult:
    if isinstance(error, NotApplicable):
        return LabelSetResult(not_applicable=str(error))
    return LabelSetResult(error=f"{type(error).__name__}: {error}")


def _measured(method: Any, rows: _TrainAndTest, deciding: _Deciding) -> LabelSetResult:
    make = (lambda: method) if hasattr(method, "fit") else partial(method, rows.X, rows.y)
    made, choosing = measure(make)
    model = clone(made)
    if not rows.one and not _takes_several(model):
        raise NotApplicable(f"{type(model).__name__} takes one label per row.")
    fitted = model if rows.one else _with_rule(model, rows.taxonomy, deciding)
    _, fitting = measure(lambda: fitted.fit(rows.X, rows.y))
    predicted = fitted.predict(rows.X_test)
    report = evaluate(rows.truth, predicted, rows.taxonomy, train_counts=rows.n_train)
    spread = f1_spread(report.own, deciding.n_draws, deciding.seed) if deciding.n_draws else None
    seconds = choosing.cpu_seconds, fitting.cpu_seconds
    return LabelSetResult(report, spread, _C_of(model), *seconds)


def _takes_several(model: Any) -> bool:
    tags = get_tags(model)  # scikit-learn's multi-output classifiers have the second only
    several = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    return bool(several or tags.target_tags.multi_output)


def _with_rule(model: Any, taxonomy: Taxonomy, deciding: _Deciding) -> Any:
    """The classifier inside the rule that turns its scores into label sets."""
    if deciding.cut is None:
        return model
    if deciding.cut == "zero":
        return Threshold(model, taxonomy)
    return InstanceCut(model, taxonomy, cv=deciding.cv, random_state=deciding.seed)


def _C_of(model: Any) -> float | None:
    """The parameter C, also of the last step of a pipeline."""
    for name, value in model.get_params().items():
        if (name == "C" or name.endswith("__C")) and isinstance(value, int | float):
            return float(value)
    return None
