"""What a model says about rows: labels, their paths, scores, probabilities, ranking."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.inference.rows import top_columns
from linnaeus.io.collection import Part
from linnaeus.model.model import Model, inputs_of


class Answers:
    """What there is to say about rows: labels, their paths, scores, probabilities, ranking.

    An inner node that is given because a node below it is, or that has no score of its own, has
    the highest score at or below it, and no probability.

    Parameters
    ----------
    model : Model
        A trained model.
    top : int, default=0
        How many of the highest-ranked labels to list as well.
    """

    def __init__(self, model: Model, top: int = 0) -> None:
        self._model, self._top, self.probabilities = model, top, model.has_probabilities
        self.kind, self.feature_names = model.kind, model.feature_names  # of the rows to be given
        self._paths: dict[Any, list[Any]] = {}
        self._below: dict[int, np.ndarray] = {}

    def __call__(self, block: Part) -> Iterator[dict[str, Any]]:
        model = self._model
        X = model.transform(inputs_of(block))
        scores = np.asarray(model.estimator.class_scores(X))
        tax, given = model.taxonomy, model.decide(X, scores)
        given = given if model.closed_answers else tax.most_specific(given)
        row = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        labels = [tax.nodes[v] for v in given.indices.tolist()]
        for name in set(labels) - self._paths.keys():  # the nodes above and itself, from the top
            self._paths[name] = list(tax.ancestors(name))
        paths = [self._paths[name] for name in labels]
        columns = self._columns(given, row)
        values = self._values(scores, row, given.indices, columns)
        likely = self._likely(X, row, columns) if self.probabilities else None
        best = top_columns(scores, self._top) if self._top else None
        for i, (a, b) in enumerate(pairwise(given.indptr.tolist())):
            record: dict[str, Any] = {"id": block.ids[i], "labels": labels[a:b]}
            record["paths"], record["scores"] = paths[a:b], values[a:b]
            if likely is not None:
                record["probabilities"] = likely[a:b]
            if best is not None:
                ranked = zip(best[i].tolist(), scores[i, best[i]].tolist(), strict=True)
                record["ranking"] = [{"label": model.columns[j], "score": s} for j, s in ranked]
            yield record

    @cached_property
    def _scored(self) -> np.ndarray:
        """The column of each node, -1 where there is none."""
        tax, columns = self._model.taxonomy, self._model.columns
        found = np.full(len(tax), -1)
        found[tax.numbers(columns)] = np.arange(len(columns))
        return found

    def _columns(self, given: sp.csr_array, row: np.ndarray) -> np.ndarray:
        """The column of each label: of the most specific ones their own, -1 where there is none."""
        own: np.ndarray = self._scored[given.indices]
        if not self._model.closed_answers:
            return own
        n = given.shape[1]
        specific = self._model.taxonomy.most_specific(given)
        ends = np.repeat(np.arange(given.shape[0]), np.diff(specific.indptr)) * n + specific.indices
        last = np.isin(row * n + given.indices, ends)
        inner = self._model.taxonomy.n_children[given.indices] > 0
        return np.asarray(np.where(last | self._model.closed | ~inner, own, -1))

    def _values(
        self, scores: np.ndarray, row: np.ndarray, nodes: np.ndarray, columns: np.ndarray
    ) -> list[float]:
        values = scores[row, columns].astype(float)
        for e in np.flatnonzero(columns < 0).tolist():
            below = self._columns_below(int(nodes[e]))
            values[e] = scores[row[e], below].max() if below.size else scores[row[e]].min()
        return list(map(float, values))

    def _likely(self, X: Any, row: np.ndarray, columns: np.ndarray) -> list[float | None]:
        found = np.asarray(self._model.estimator.class_probabilities(X))
        values = found[row, columns].astype(float).tolist()
        return [p if j >= 0 else None for p, j in zip(values, columns.tolist(), strict=True)]

    def _columns_below(self, v: int) -> np.ndarray:
        if v not in self._below:
            tax = self._model.taxonomy
            columns = self._scored[tax.numbers(tax.descendants(tax.nodes[v]))]
            self._below[v] = columns[columns >= 0]
        return self._below[v]
