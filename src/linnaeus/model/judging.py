"""What a method reaches on held-out rows, along values of C, with every decision rule.

The fits of a path go along ascending values of C, each from where the last one ended if the method
can do that. Every rule is judged on the held-out scores of every fit: one that learns is fitted on
one half of the rows and judged on the other, and the other way round.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from linnaeus.decisions.rules import score_rules
from linnaeus.metrics.counts import Truth
from linnaeus.model.methods import OWN
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy


class RulesToJudge(NamedTuple):
    """By which rules scores become label sets."""

    rules: tuple[str, ...] | None  # None: all that suit the scores
    own: bool  # also what the estimator itself predicts
    seed: int


class JudgedFit(NamedTuple):
    """What one fit reached."""

    C: float | None
    seconds: float
    unconverged: int
    counts: dict[str, dict[str, Any]]  # by rule; see `linnaeus.metrics.counts`


def judged_path(
    estimator: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    split: Split,
    Cs: Sequence[float | None],
    rules: RulesToJudge,
) -> Iterator[JudgedFit]:
    """Fit along C, and judge each fit.

    estimator : with all its parameters but C
    split : rows to fit on, and rows to score
    Cs : ascending; (None,) for a method without C, or with its own
    """
    train, test = split
    model, rows, labels, held_out = reusing(estimator), X[train], y[train], X[test]
    truth = taxonomy.encode(y[test])
    for C in Cs:
        start = time.perf_counter()
        if C is not None:
            model.set_params(C=C)
        with unconverged() as early:
            model.fit(rows, labels)
        found = _judged(model, held_out, truth, taxonomy, rules)
        yield JudgedFit(C, time.perf_counter() - start, early.n, found)


def _judged(
    model: Any, X: Any, truth: sp.csr_array, taxonomy: Taxonomy, rules: RulesToJudge
) -> dict[str, dict[str, Any]]:
    """The counts of every rule on held-out rows, by name."""
    counts: dict[str, dict[str, Any]] = {}
    if rules.own:
        decided = taxonomy.closure(taxonomy.encode(model.predict(X)))
        counts[OWN] = {"rule": OWN, "note": "", **Truth.of(taxonomy, truth).counts(decided)}
    if rules.rules is None or rules.rules:
        columns = tuple(model.targets_.names)
        closed = model.classes == "nodes" and columns == taxonomy.nodes
        scores = np.asarray(model.class_scores(X))
        for record in score_rules(
            scores, truth, taxonomy, columns, closed, rules.rules, rules.seed
        ):
            counts[record["rule"]] = record
    return counts


def reusing(estimator: Any) -> Any:
    """A copy that starts each fit from the last, where it knows how."""
    model = clone(estimator)
    return model.set_params(warm_start=True) if "warm_start" in model.get_params() else model


# -- warnings that a fit stopped early --------------------------------------------------------


class Count:
    """How many there were."""

    def __init__(self) -> None:
        self.n = 0


_here = threading.local()


@contextmanager
def quiet_convergence() -> Iterator[None]:
    """No warning of convergence is shown while this lasts; `unconverged` blocks count them.

    Python keeps one way of showing warnings for the whole process, which this replaces; each
    thread counts its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, ConvergenceWarning):
                shown(message, category, *where, **more)
            elif getattr(_here, "count", None) is not None:
                _here.count.n += 1

        warnings.showwarning = collect
        yield


@contextmanager
def unconverged() -> Iterator[Count]:
    """Count this thread's fits that stop early, within `quiet_convergence`."""
    _here.count = Count()
    try:
        yield _here.count
    finally:
        _here.count = None
