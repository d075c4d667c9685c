"""What a model says about rows: labels, titles, paths, scores, probabilities, ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.inference.rows import top_columns
from linnaeus.io.collection import Part
from linnaeus.model.model import Model, inputs_of


class Answers:
    """What there is to say about rows: labels, titles, paths, scores, probabilities, ranking.

    Labels are the most specific ones; paths are the titles from the top of the taxonomy down to
    them. A node that has no score of its own has the highest score below it, and no probability.

    Parameters
    ----------
    model : Model
        A trained model.
    top : int, default=0
        How many of the highest-ranked labels to list as well.
    min_confidence : float or None, default=None
        Also say how sure the model is of each row, and mark those below this for review.
    by_level : bool, default=False
        Also list the titles of each level of the taxonomy: `level_1`, `level_2`, ...
    """

    def __init__(
        self,
        model: Model,
        top: int = 0,
        min_confidence: float | None = None,
        by_level: bool = False,
    ) -> None:
        self._least = _checked(model, min_confidence)
        self.reviewed = 0  # rows marked so far
        self._model, self._top, self.probabilities = model, top, model.has_probabilities
        self.kind, self.feature_names = model.kind, model.feature_names  # of the rows to be given
        depths = range(len(model.taxonomy.levels) if by_level else 0)
        self._levels = [f"level_{depth + 1}" for depth in depths]
        self.fields = [  # what is said of each row, by name and in order
            "id", "labels", "titles", "paths", "scores", *["probabilities"] * self.probabilities,
            *["confidence", "review"] * (min_confidence is not None), *self._levels,
            *["ranking"] * bool(top),
        ]  # fmt: skip
        self._place = {name: j for j, name in enumerate(model.columns)}  # of each node with scores
        self._above: dict[Any, tuple[Any, ...]] = {}
        self._paths: dict[Any, list[str]] = {}  # their titles
        self._below: dict[Any, list[int]] = {}

    def __call__(self, block: Part) -> Iterator[dict[str, Any]]:
        model, tax = self._model, self._model.taxonomy
        X = model.transform(inputs_of(block))
        scores = np.asarray(model.estimator.class_scores(X))
        given = tax.most_specific(model.decide(X, scores))
        row = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        labels = [tax.nodes[v] for v in given.indices.tolist()]
        for name in set(labels) - self._above.keys():  # the nodes above and itself, from the top
            self._above[name] = tax.ancestors(name)
            self._paths[name] = [tax.title(v) for v in self._above[name]]
        columns = np.array([self._place.get(name, -1) for name in labels], dtype=np.int64)
        values = scores[row, columns].astype(float).tolist()
        for e in np.flatnonzero(columns < 0).tolist():
            values[e] = self._best_below(labels[e], scores[row[e]])
        likely = self._likely(X, row, columns) if self.probabilities else None
        best = top_columns(scores, self._top) if self._top else None
        sure = None if self._least is None else model.confidence(X, scores)
        for i, (a, b) in enumerate(pairwise(given.indptr.tolist())):
            record: dict[str, Any] = {"id": block.ids[i], "labels": labels[a:b]}
            record["titles"] = [self._paths[v][-1] for v in labels[a:b]]
            record["paths"] = [list(self._paths[v]) for v in labels[a:b]]
            record["scores"] = values[a:b]
            if likely is not None:
                record["probabilities"] = likely[a:b]
            if sure is not None:
                record["confidence"] = float(sure[i])
                record["review"] = bool(sure[i] < self._least)
                self.reviewed += record["review"]
            if self._levels:
                record |= self._by_level(labels[a:b])
            if best is not None:
                ranked = zip(best[i].tolist(), scores[i, best[i]].tolist(), strict=True)
                record["ranking"] = [{"label": model.columns[j], "score": s} for j, s in ranked]
            yield record

    def _by_level(self, labels: Sequence[Any]) -> dict[str, list[str]]:
        """The titles of the nodes at and above the labels, by level, each once."""
        tax = self._model.taxonomy
        found: dict[str, list[str]] = {name: [] for name in self._levels}
        for node in dict.fromkeys(v for label in labels for v in self._above[label]):
            found[f"level_{tax.depth[tax.index(node)] + 1}"].append(tax.title(node))
        return found

    def _likely(self, X: Any, row: np.ndarray, columns: np.ndarray) -> list[float | None]:
        found = np.asarray(self._model.estimator.class_probabilities(X))
        values = found[row, columns].astype(float).tolist()
        return [p if j >= 0 else None for p, j in zip(values, columns.tolist(), strict=True)]

    def _best_below(self, name: Any, scores: np.ndarray) -> float:
        """The score of a node that has none of its own, from those of a row."""
        if name not in self._below:
            below = self._model.taxonomy.descendants(name)
            self._below[name] = [self._place[v] for v in below if v in self._place]
        columns = self._below[name]
        return float(scores[columns].max() if columns else scores.min())


def _checked(model: Model, least: float | None) -> float | None:
    """The least confidence, if it is one and the model can say how sure it is."""
    if least is None:
        return None
    if not 0 <= least <= 1:
        raise UserError(f"The least confidence is {least}. Use a number from 0 to 1, such as 0.8.")
    if model.confidence_map is None and not model.has_probabilities:
        said = (
            "This model does not know how sure it is of a row: it has no probabilities and was "
            "trained without held-out rows, by an older version, on very few rows or with "
        )
        raise UserError(
            f"{said}the rule 'own'. Train it again (with 'auto' as the rule), or leave out the "
            f"least confidence.",
            f"{said}--rule own. Train it again without that, or leave out --min-confidence.",
        )
    return least
