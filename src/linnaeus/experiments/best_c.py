"""Choosing C: cross-validation that goes along the values and reuses what it has.

Every fold is fitted for all values of C in ascending order. A model with `warm_start` begins each
from the dual variables of the one before, which saves most of the work between close values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from linnaeus.decisions import InstanceCut
from linnaeus.errors import UserError, shorten
from linnaeus.experiments.divisions import Step
from linnaeus.experiments.named_methods import NamedMethod
from linnaeus.metrics import micro_f1
from linnaeus.model.judging import reusing
from linnaeus.splits import k_folds
from linnaeus.splits.copies import Copies
from linnaeus.taxonomy import Taxonomy

CS = (0.01, 0.1, 1.0, 10.0, 100.0)
WIDE_CS = (1e-3, *CS, 1e3)  # the values tried in [GopalYang2015] section 6


class CPath(NamedTuple):
    """The scores of every fold at every C, and the C with the best mean (the lowest of equals).

    Attributes
    ----------
    Cs : ndarray of shape (n_values,)
        The values of C.
    scores : ndarray of shape (n_folds, n_values)
        Score of every fold at every C.
    best_C : float
        The C with the best mean.
    estimator : object
        With the best C, fitted on everything unless that was not wanted.
    """

    Cs: np.ndarray
    scores: np.ndarray
    best_C: float
    estimator: Any


def c_path(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: Iterable[float] = CS,
    *,
    cv: int = 5,
    scoring: Callable[[Any, Any], float] = micro_f1,
    decision: Any = None,
    refit: bool = True,
    random_state: Any = 0,
    callback: Callable[[int, int], None] | None = None,
) -> CPath:
    """Cross-validate an estimator over values of C, and fit it with the best.

    Parameters
    ----------
    estimator : object
        A classifier with a parameter C.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        One row per sample.
    y : array-like or sparse matrix
        One label per sample, or an indicator; the latter with a decision.
    Cs : iterable of float, default=(0.01, 0.1, 1.0, 10.0, 100.0)
        Values of C, ascending.
    cv : int, default=5
        Number of folds.
    scoring : callable, default=micro_f1
        Of (truth, prediction); more is better.
    decision : Decision or None, default=None
        The rule of `linnaeus.decisions` that is to make label sets of the scores, where it is not
        the estimator's own; each half of a fold is decided by what the other half teaches.
    refit : bool, default=True
        Whether to fit the estimator with the best C on everything.
    random_state : int, RandomState instance or None, default=0
        Seed.
    callback : callable or None, default=None
        Told how many fits are done, and how many there are.

    Returns
    -------
    CPath

    Examples
    --------
    >>> from linnaeus import FlatSVM
    >>> X, y = np.array([[1.0], [0.9], [-1.0], [-0.8]] * 5), ["a", "a", "b", "b"] * 5
    >>> c_path(FlatSVM(random_state=0), X, y, Cs=[0.1, 1.0], cv=3).scores.mean(axis=0)
    array([1., 1.])
    """
    values = np.array(sorted(Cs), dtype=float)
    if not values.size or not (values > 0).all():
        raise UserError(f"Cs is {values.tolist()}. Give at least one positive value.")
    y = y if sp.issparse(y) else np.asarray(y)
    X = X if sp.issparse(X) else np.asarray(X)
    folds = k_folds(y, cv, random_state, Copies.of(X).groups)
    scores = np.empty((len(folds), values.size))
    for f, (train, test) in enumerate(folds):
        model = reusing(estimator)
        part, labels = _safe_indexing(X, train), y[train]
        for j, C in enumerate(values.tolist()):
            model.set_params(C=C).fit(part, labels)
            held_out = _safe_indexing(X, test), y[test]
            scores[f, j] = scoring(*_decided(model, decision, *held_out, random_state))
            if callback is not None:
                callback(f * values.size + j + 1, scores.size)
    best = float(values[np.argmax(scores.mean(axis=0))])
    chosen = clone(estimator).set_params(C=best)
    return CPath(values, scores, best, chosen.fit(X, y) if refit else chosen)


def with_best_C(
    methods: Sequence[NamedMethod],
    taxonomy: Taxonomy,
    Cs: Sequence[float] = WIDE_CS,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
    scoring: Callable[[Any, Any], float] = micro_f1,
) -> dict[str, Any]:
    """Functions that choose C and make the classifier, for `label_set_study`.

    C is chosen by cross-validation on the training part alone. A method that has no C, or whose C
    is among its parameters, is taken as it is; so is C where there is one value.

    Parameters
    ----------
    methods : sequence of NamedMethod
        The methods.
    taxonomy : Taxonomy
        The taxonomy.
    Cs : sequence of float, default=(0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
        Values of C, ascending.
    folds : int, default=5
        Number of folds.
    seed : int, default=0
        Seed of everything that is drawn.
    jobs : int, default=1
        Threads; -1 for all cores. The result does not depend on it.
    step : callable or None, default=None
        Told what is being done, how many steps are done, and how many there are.
    scoring : callable, default=micro_f1
        Of (truth, prediction), by which C is chosen.

    Returns
    -------
    dict
        {name: function (X, y) that gives a classifier}.
    """
    if not Cs or not all(0 < C < np.inf for C in Cs):
        raise UserError(f"The values of C are {shorten(list(Cs))}. Give positive numbers.")
    if folds < 2:
        raise UserError(f"The number of folds is {folds}. Use 2 or more.")

    def choose(method: NamedMethod, number: int, X: Any, y: Any) -> Any:
        if step is not None:
            step(method.name, number, len(methods))
        model = method.classifier(taxonomy, X, y, seed, jobs)
        if "C" not in model.get_params() or "C" in method.parameters:
            return model
        if len(Cs) == 1:
            return model.set_params(C=Cs[0])
        return c_path(
            model, X, y, Cs, cv=folds, scoring=scoring, refit=False, random_state=seed,
            decision=InstanceCut(model, taxonomy) if sp.issparse(y) else None,
            callback=None if step is None else partial(step, f"{method.name}: C"),
        ).estimator  # fmt: skip

    return {method.name: partial(choose, method, i) for i, method in enumerate(methods)}


def _decided(model: Any, decision: Any, X: Any, y: Any, random_state: Any) -> tuple[Any, Any]:
    """The truth and the prediction of held-out rows."""
    if decision is None:
        return y, model.predict(X)
    order = check_random_state(random_state).permutation(X.shape[0])
    halves = np.array_split(order, 2)
    truth, sets = [], []
    for learnt, judged in (halves, halves[::-1]):
        rule = clone(decision).set_params(estimator=model, cv="prefit")
        rule.fit(_safe_indexing(X, learnt), y[learnt])
        truth.append(sp.csr_array(y[judged]))
        sets.append(sp.csr_array(rule.predict(_safe_indexing(X, judged))))
    return sp.vstack(truth, format="csr"), sp.vstack(sets, format="csr")
