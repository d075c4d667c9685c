"""One unit of work: a path over C on one fold, and every decision rule on its held-out scores.

The fits go along ascending values of C, each from where the last one ended if the method can do
that. A rule that learns is fitted on one half of the held-out rows and judged on the other, and
the other way round. The result depends on the inputs only, not on what runs beside it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.rules import score_rules
from linnaeus.metrics.counts import Truth, measure
from linnaeus.model.model import OWN
from linnaeus.search.doubts import counted
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy
from linnaeus.tuning import reusing


class Judges(NamedTuple):
    """By which rules scores become label sets."""

    rules: tuple[str, ...] | None  # None: all that suit the scores
    own: bool  # also what the estimator itself predicts
    seed: int  # of the halves


def fit_path(
    estimator: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    split: Split,
    Cs: Sequence[float | None],
    judges: Judges,
) -> list[dict[str, Any]]:
    """A record per C: {"C", "seconds", "doubts", "rules": {rule: values}}.

    estimator : with all its parameters but C
    split : rows to fit on, and rows to score
    Cs : ascending; (None,) for a method without C
    """
    train, test = split
    model, rows, labels, held_out = reusing(estimator), X[train], y[train], X[test]
    truth = taxonomy.encode(y[test])
    found = []
    for C in Cs:
        start = time.perf_counter()
        if C is not None:
            model.set_params(C=C)
        with counted() as doubts:
            model.fit(rows, labels)
        values = judged(model, held_out, truth, taxonomy, judges)
        seconds = time.perf_counter() - start
        found.append({"C": C, "seconds": seconds, "doubts": doubts.n, "rules": values})
    return found


def judged(
    model: Any, X: Any, truth: sp.csr_array, taxonomy: Taxonomy, judges: Judges
) -> dict[str, dict[str, float]]:
    """The values of every rule on held-out rows, by name."""
    counts: dict[str, dict[str, Any]] = {}
    if judges.own:
        decided = taxonomy.closure(taxonomy.encode(model.predict(X)))
        counts[OWN] = Truth.of(taxonomy, truth).counts(decided)
    if judges.rules is None or judges.rules:
        columns = tuple(model.targets_.names)
        closed = model.classes == "nodes" and columns == taxonomy.nodes
        scores = np.asarray(model.decision_function(X))
        for record in score_rules(
            scores, truth, taxonomy, columns, closed, judges.rules, judges.seed
        ):
            counts[record["rule"]] = record
    return {name: measure(taxonomy, found) for name, found in counts.items()}
