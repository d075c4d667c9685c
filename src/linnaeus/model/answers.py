"""What a model says about rows: labels, titles, paths, scores, probabilities, ranking.

What takes long is a task, `look`: rows in, arrays of numbers out. It opens the model by path, so it
runs in threads, in other processes and on other machines, and says the same everywhere. Names,
titles and paths are put to the numbers where the task was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from linnaeus import storage
from linnaeus.errors import UserError
from linnaeus.execution import task
from linnaeus.inference.rows import top_columns
from linnaeus.io.collection import Part
from linnaeus.model.model import Model, inputs_of
from linnaeus.storage.folders import Folder


class Asked(NamedTuple):
    """What is to be said of rows, as far as numbers go."""

    rule: str | None  # another than the model's own
    top: int
    confidence: bool


class Looked(NamedTuple):
    """What a model says about some rows, in numbers: labels row by row, as in a CSR matrix."""

    starts: np.ndarray  # (n_rows + 1,)
    nodes: np.ndarray  # (n_labels,)
    scores: np.ndarray  # (n_labels,)
    probabilities: np.ndarray | None  # (n_labels,)
    confidence: np.ndarray | None  # (n_rows,)
    best: np.ndarray | None  # (n_rows, top), columns
    ranked: np.ndarray | None  # (n_rows, top), their scores


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
    rule : str or None, default=None
        Another decision rule than the model's own.
    """

    def __init__(
        self,
        model: Model,
        top: int = 0,
        min_confidence: float | None = None,
        by_level: bool = False,
        rule: str | None = None,
    ) -> None:
        if rule is not None:
            model = model.with_rule(rule)
        self._least = _checked(model, min_confidence)
        self.asked = Asked(rule, top, min_confidence is not None)
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
        self._above: dict[Any, tuple[Any, ...]] = {}
        self._paths: dict[Any, list[str]] = {}  # their titles
        self._below: dict[int, np.ndarray] = {}

    def __call__(self, block: Part) -> Iterator[dict[str, Any]]:
        return self.records(block.ids, self.look(inputs_of(block)))

    def opened_at(self, folder: Folder) -> None:
        """Let `look` ask this very model where it runs in this process.

        Parameters
        ----------
        folder : Folder
            Where the model is.
        """
        _Known.keep(folder, self)

    def look(self, inputs: Any) -> Looked:
        """What the model says about texts or rows of a table, in numbers.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        Looked
        """
        model, tax = self._model, self._model.taxonomy
        X = model.transform(inputs)
        scores = np.asarray(model.estimator.class_scores(X))
        given = tax.most_specific(model.decide(X, scores))
        row = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        columns = self._scored[given.indices]
        values = self._values(scores, row, given.indices, columns)
        likely = self._likely(X, row, columns) if self.probabilities else None
        best = top_columns(scores, self._top) if self._top else None
        ranked = None if best is None else np.take_along_axis(scores, best, axis=1)
        sure = None if self._least is None else model.confidence(X, scores)
        return Looked(given.indptr, given.indices, values, likely, sure, best, ranked)

    def records(self, ids: Sequence[str], found: Looked) -> Iterator[dict[str, Any]]:
        """What is said of each row, with names, titles and paths.

        Parameters
        ----------
        ids : sequence of str
            Names of the rows.
        found : Looked
            What `look` says about them.

        Yields
        ------
        dict
        """
        tax, scores = self._model.taxonomy, found.scores.tolist()
        labels = [tax.nodes[v] for v in found.nodes.tolist()]
        for name in set(labels) - self._above.keys():  # the nodes above and itself, from the top
            self._above[name] = tax.ancestors(name)
            self._paths[name] = [tax.title(v) for v in self._above[name]]
        likely = self._said(found)
        for i, (a, b) in enumerate(pairwise(found.starts.tolist())):
            record: dict[str, Any] = {"id": ids[i], "labels": labels[a:b]}
            record["titles"] = [self._paths[v][-1] for v in labels[a:b]]
            record["paths"] = [list(self._paths[v]) for v in labels[a:b]]
            record["scores"] = scores[a:b]
            if likely is not None:
                record["probabilities"] = likely[a:b]
            if found.confidence is not None:
                record["confidence"] = float(found.confidence[i])
                record["review"] = bool(found.confidence[i] < self._least)
                self.reviewed += record["review"]
            if self._levels:
                record |= self._by_level(labels[a:b])
            if found.best is not None and found.ranked is not None:
                ranked = zip(found.best[i].tolist(), found.ranked[i].tolist(), strict=True)
                record["ranking"] = [
                    {"label": self._model.columns[j], "score": s} for j, s in ranked
                ]
            yield record

    def _said(self, found: Looked) -> list[float | None] | None:
        """Probabilities, None for nodes that have none."""
        if found.probabilities is None:
            return None
        there = (self._scored[found.nodes] >= 0).tolist()
        return [p if t else None for p, t in zip(found.probabilities.tolist(), there, strict=True)]

    @cached_property
    def _scored(self) -> np.ndarray:
        """The column of each node, -1 where there is none."""
        tax, columns = self._model.taxonomy, self._model.columns
        found = np.full(len(tax), -1)
        found[tax.numbers(columns)] = np.arange(len(columns))
        return found

    def _by_level(self, labels: Sequence[Any]) -> dict[str, list[str]]:
        """The titles of the nodes at and above the labels, by level, each once."""
        tax = self._model.taxonomy
        found: dict[str, list[str]] = {name: [] for name in self._levels}
        for node in dict.fromkeys(v for label in labels for v in self._above[label]):
            found[f"level_{tax.depth[tax.index(node)] + 1}"].append(tax.title(node))
        return found

    def _values(
        self, scores: np.ndarray, row: np.ndarray, nodes: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        values = scores[row, columns].astype(float)
        for e in np.flatnonzero(columns < 0).tolist():
            below = self._columns_below(int(nodes[e]))
            values[e] = scores[row[e], below].max() if below.size else scores[row[e]].min()
        return np.asarray(values)

    def _likely(self, X: Any, row: np.ndarray, columns: np.ndarray) -> np.ndarray:
        found = np.asarray(self._model.estimator.class_probabilities(X))
        return np.asarray(found[row, columns].astype(float))

    def _columns_below(self, v: int) -> np.ndarray:
        if v not in self._below:
            tax = self._model.taxonomy
            columns = self._scored[tax.numbers(tax.descendants(tax.nodes[v]))]
            self._below[v] = columns[columns >= 0]
        return self._below[v]


class _Known:
    """The models that this process has opened to look with, the last ones."""

    lock, found = Lock(), dict[tuple[str, Asked], Answers]()
    MOST = 2

    @classmethod
    def keep(cls, folder: Folder, answers: Answers) -> None:
        """Do not open a model again that is open."""
        cls.found[folder.digest, answers.asked] = answers
        while len(cls.found) > cls.MOST:
            del cls.found[next(iter(cls.found))]

    @classmethod
    def of(cls, folder: Folder, asked: Asked) -> Answers:
        """A model of a folder, to be asked."""
        with cls.lock:
            if (folder.digest, asked) not in cls.found:
                least = 0.0 if asked.confidence else None
                model = storage.load(Path(folder.path))
                cls.keep(folder, Answers(model, asked.top, least, rule=asked.rule))
            return cls.found[folder.digest, asked]


@task
def look(folder: Folder, asked: Asked, inputs: Any) -> Looked:
    """What a model in a folder says about some rows, on one thread."""
    return _Known.of(folder, asked).look(inputs)


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
