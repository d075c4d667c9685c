"""What a decision rule made of a score, in one sentence.

A rule that compares a score with a number has a threshold; others look at the order of the scores,
or at whole label sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.decisions import Argmax, InstanceCut, RCut, SCut, SetSize, Threshold
from linnaeus.decisions.threshold import cut_off
from linnaeus.estimators.hm3 import HM3
from linnaeus.estimators.topdown import TopDown
from linnaeus.model import Model


class Verdict(NamedTuple):
    """What decided about a node."""

    threshold: float | None
    rank: int  # of its score among all, from 1
    sentence: str


class Judge:
    """Tells of the scores of one example what the rule of a model asks for."""

    def __init__(self, model: Model, scores: np.ndarray) -> None:
        self._scores = scores
        asked = _own(model, scores) if model.rule is None else _asked(model.rule, scores)
        self._threshold, self._words = asked
        self._most = getattr(model.rule, "top_k_", None) or scores.size

    def of(self, column: int, on: bool) -> Verdict:
        """About one column of the scores, decided on or off."""
        score = float(self._scores[column])
        rank = int((self._scores > score).sum()) + 1
        needs, value = self._words, None
        if self._threshold is not None:
            value = float(np.broadcast_to(self._threshold, self._scores.shape)[column])
            needs = needs.format("infinity" if np.isinf(value) else f"{value:.3g}")
        sentence = f"rank {rank} of {self._scores.size}, needs {needs}"
        if value is not None and on and score < value:
            sentence += "; taken as the best there is" if rank == 1 else "; taken as an ancestor"
        if value is not None and not on and score > value and rank <= self._most:
            sentence += "; a node above it is off"
        finite = None if value is None or np.isinf(value) else value
        return Verdict(finite, rank, sentence)


def _asked(rule: Any, scores: np.ndarray) -> tuple[Any, str]:
    """The thresholds of a rule, or None; and what it asks for in words."""
    match rule:
        case SCut() if _fits(rule.thresholds_, scores):
            k = rule.top_k_
            return rule.thresholds_, "at least {}" + (f", among the {k} highest" if k else "")
        case Threshold() if _fits(cut_off(rule), scores):
            return np.asarray(cut_off(rule), dtype=float), "more than {}"
        case InstanceCut():
            return rule.predicted_thresholds(scores[None])[0], "at least {} in this example"
        case SetSize(mode="threshold"):
            return rule.predicted_thresholds(scores[None])[0], "more than {} in this example"
        case SetSize():
            size = round(float(rule.predicted_thresholds(scores[None])[0]))
            return None, f"to be among the {max(1, size)} highest"
        case RCut():
            return None, f"to be among the {rule.k_ if rule.k is None else rule.k} highest"
        case Argmax():
            return None, "to be the highest"
        case _:
            return None, "to be in the best closed label set"


def _fits(threshold: Any, scores: np.ndarray) -> bool:
    """Whether there is one threshold, or one for each column of these scores."""
    return np.size(threshold) in (1, scores.size)


def _own(model: Model, scores: np.ndarray) -> tuple[Any, str]:
    """The same for what an estimator itself predicts."""
    estimator = model.estimator
    sizes = getattr(estimator, "set_size_", None)
    if sizes is None and hasattr(estimator, "sizes_"):
        sizes = estimator.sizes_.rule
    if sizes is not None:
        return _asked(sizes, scores)
    if isinstance(estimator, TopDown):
        return None, "to be on the way down"
    if isinstance(estimator, HM3):
        return None, "to be in the best closed label set"
    several = estimator.__sklearn_tags__().classifier_tags.multi_label
    return (
        (None, "to be the highest")
        if estimator.targets_.one or not several
        else (0.0, "more than {}")
    )
