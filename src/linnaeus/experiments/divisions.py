"""Rows to learn from and rows to be judged by: features of them, and every method on each division.

All experiments run here. Features are chosen by the data and learn from the training rows of a
division alone; they are made once and shared by all methods. One division is held at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model import inputs_of
from linnaeus.model.features import choose_features

Step = Callable[[str, int, int], None]
Rows = Sequence[int] | np.ndarray  # their numbers
M = TypeVar("M")
D = TypeVar("D")
R = TypeVar("R")


class Division(NamedTuple):
    """Rows to learn from and rows to be judged by, as classifiers take them."""

    train: np.ndarray  # numbers of the rows to learn from
    test: np.ndarray  # of those to be judged by, within the part that is judged
    X: Any
    X_test: Any
    part: Part | None = None  # the rows to learn from, of which features are made
    kind: str = ""  # of the features
    features: Any = None  # fitted
    seconds: float = 0.0  # that the features took


@dataclass(frozen=True)
class Examples:
    """Examples as people bring them, texts or a table, of which each division makes features.

    Attributes
    ----------
    part : Part
        The examples.
    features : str
        As in `linnaeus.model.train`.
    parameters : dict or None
        `feature_parameters` of `linnaeus.model.train`.
    """

    part: Part
    features: str = "auto"
    parameters: Mapping[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.part)

    def division(self, train: Rows, test: Rows, judged: Part | None = None) -> Division:
        """Some rows to learn from, and some of the same or of another part to be judged by.

        Parameters
        ----------
        train : array-like of int
            Rows to learn from.
        test : array-like of int
            Rows to be judged by.
        judged : Part or None, default=None
            The part that holds the test rows; None for the same.

        Returns
        -------
        object
            Features and labels of both.
        """
        start = time.perf_counter()
        part = _taken(self.part, train)
        others = _taken(self.part if judged is None else judged, test)
        kind, made, _ = choose_features(part, self.features, self.parameters)
        X, X_test = made.fit_transform(inputs_of(part)), made.transform(inputs_of(others))
        seconds = time.perf_counter() - start
        return Division(np.asarray(train), np.asarray(test), X, X_test, part, kind, made, seconds)


def _taken(part: Part, rows: Rows) -> Part:
    return part if np.array_equal(rows, np.arange(len(part))) else part.take(list(rows))


def fit_all(
    methods: Mapping[Any, M],
    divisions: Iterable[D],
    fit: Callable[[M, D], R],
    n_divisions: int,
    told: Callable[[Any, int, int], None] | None = None,
    catch: type[Exception] | tuple[()] = (),
) -> tuple[dict[Any, list[R]], dict[Any, Exception]]:
    """What `fit` gives for every method on every division; and what went wrong in some.

    told : before each fit, with the method's name, the fits that are done and how many there are;
        once more at the end
    catch : exceptions that end a method and leave the others be
    """
    found: dict[Any, list[R]] = {name: [] for name in methods}
    failed: dict[Any, Exception] = {}
    told = told or (lambda *_: None)
    total, done = n_divisions * len(methods), 0
    for division in divisions:
        for name, method in methods.items():
            told(name, done, total)
            done += 1
            if name not in failed:
                try:
                    found[name].append(fit(method, division))
                except catch as error:
                    failed[name] = error
    told(next(reversed(found)), total, total)
    return found, failed


def counting(callback: Callable[[int, int], None] | None) -> Callable[[Any, int, int], None]:
    """For `fit_all`: tell a callback how many fits are done, and how many there are."""

    def told(_: Any, done: int, total: int) -> None:
        if callback is not None and done:
            callback(done, total)

    return told


def reason(error: Exception) -> str:
    """What went wrong, for a person: errors of the user's are sentences already."""
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
