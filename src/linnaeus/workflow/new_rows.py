"""What new rows are like, counted block by block, beside what a model keeps of its own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.io.collection import Part
from linnaeus.model import Model, inputs_of
from linnaeus.model.profile import count_unknown, is_empty, languages_of, sums_by_row
from linnaeus.model.shift import Share, mean_p, share_p
from linnaeus.text import TfidfVectorizer

ALPHA = 0.001  # how often chance may be taken for a difference
MISSING, OUTSIDE = 0.05, 0.05  # shares that matter, of missing values and of those out of range
MOVED = 0.5  # standard deviations


class Column(NamedTuple):
    """A column of a table of features, in training and now."""

    name: str
    missing_training: float
    missing: float
    outside: float  # share of the values beyond those of training
    shift: float | None  # of the mean, in standard deviations of training
    message: str = ""  # what is different, if anything is

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**self._asdict(), "changed": bool(self.message)}


class NewRows:
    """Counts over new rows, which are given in blocks."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.rows = self.seen = self.empty = 0
        self.labelled = False
        self.unknown, self.words = np.zeros(0), np.zeros(0)  # of each row
        self.unknown_words: Counter[Any] = Counter()
        self.languages: Counter[str] = Counter()
        self.sure: list[np.ndarray] = []
        self.best: Any = 0  # rows by the column of their best label
        self._sums: Any = 0  # of columns: missing, outside, values, squares

    @property
    def unit(self) -> str:
        """What words are called."""
        features = self._model.features
        if not isinstance(features, TfidfVectorizer):
            return "features" if self._model.kind != "texts" else "substrings"
        of = {"pieces": "words and parts of words", "letters": "letter groups"}
        return of.get(str(features.analyzer), "words")

    def add(self, block: Part) -> None:
        """Count a block."""
        model, inputs = self._model, inputs_of(block)
        self.rows += len(block)
        self.labelled |= any(block.labels)
        seen = model.seen(inputs)
        self.seen += 0 if seen is None else int(seen.sum())
        X = model.transform(inputs)
        known = model.confidence_map
        if known is not None and known.best is not None:
            scores = np.asarray(model.estimator.class_scores(X))
            self.sure.append(known(scores))
            columns = known.best_columns(scores)
            self.best = self.best + np.bincount(columns, minlength=known.best.size)
        if block.texts is not None:
            self._add_texts(block.texts)
        elif sp.issparse(inputs):
            self._add_sparse(sp.csr_array(inputs))
        else:
            self._add_table(np.asarray(inputs, dtype=float))

    def _add_texts(self, texts: Sequence[str]) -> None:
        self.empty += sum(map(is_empty, texts))
        self.languages.update(languages_of(texts))
        features = self._model.features
        known = getattr(features, "vocabulary_", None)
        found = count_unknown(features, texts, known or (), self.unknown_words)
        if found is not None:
            self.unknown = np.append(self.unknown, found[0])
            self.words = np.append(self.words, found[1])

    def _add_sparse(self, X: sp.csr_array) -> None:
        """Features that no training row had are unknown."""
        filled, width = (self._model.profile or {})["filled"], self._model.features.n_features_in_
        known = np.zeros(max(width, X.shape[1]), dtype=bool)
        known[:width] = np.unpackbits(filled, count=width)
        self.unknown = np.append(self.unknown, sums_by_row(X, ~known[X.indices]))
        self.words = np.append(self.words, np.diff(X.indptr))

    def _add_table(self, X: np.ndarray) -> None:
        kept, there = self._model.profile or {}, ~np.isnan(X)
        values = np.where(there, X - self._model.features.mean_, 0.0)
        low, high = kept["low"], kept["high"]
        outside = there & ((low > X) | (high < X))
        sums = [(~there).sum(axis=0), outside.sum(axis=0), values.sum(axis=0)]
        self._sums = self._sums + np.array([*sums, (values**2).sum(axis=0)], dtype=float)

    def columns(self) -> Iterator[Column]:
        """The columns of a table, in training and now."""
        if np.ndim(self._sums) != 2:
            return
        names = self._model.features.get_feature_names_out()
        for j, name in enumerate(names.tolist()):
            yield self._column(j, str(name), ALPHA / len(names))

    def _column(self, j: int, name: str, alpha: float) -> Column:
        kept = self._model.profile or {}
        missing, outside, total, squares = self._sums[:, j].tolist()
        n, m = kept["rows"] - int(kept["missing"][j]), self.rows - missing
        was = Share.of_count(int(kept["missing"][j]), kept["rows"])
        now = Share.of_count(missing, self.rows)
        out, usual = Share.of_count(outside, m), Share.of_count(2 * n / (n + 1), n)
        shift, p = self._shift(j, n, m, total, squares)
        said = []
        if share_p(was, now) < alpha and now.value - was.value >= MISSING:
            said.append(f"missing in {now.value:.0%} of the rows ({was.value:.0%} in training)")
        if share_p(usual, out) < alpha and out.value - usual.value >= OUTSIDE:
            said.append(f"{out.value:.0%} of its values are out of the range of training")
        if shift is not None and p < alpha and abs(shift) >= MOVED:
            way = "up" if shift > 0 else "down"
            said.append(f"its mean is {way} by {abs(shift):.1f} standard deviations")
        message = f"{name}: {', '.join(said)}" if said else ""
        return Column(name, was.value, now.value, out.value, shift, message)

    def _shift(
        self, j: int, n: float, m: float, total: float, squares: float
    ) -> tuple[float | None, float]:
        """How far the mean of a column moved, in standard deviations, and the p of it."""
        deviation = float(self._model.features.deviation_[j])
        if not deviation or not m or not n:
            return None, 1.0
        mean = total / m
        variance = deviation**2 / n + max(squares / m - mean**2, 0.0) / m
        return mean / deviation, mean_p(mean, variance)
