"""Why a model gives an example its labels: what moved each node, feature by feature.

For every node on the way to a label the score is taken apart,

    score = sum over features (own part + inherited part) + intercept (+ what is not linear),

where a node inherits from the nodes above it what they have in common with all their descendants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.explanation.sources import weights_of
from linnaeus.explanation.spans import Occurrences, Piece, occurrences
from linnaeus.explanation.verdict import Judge
from linnaeus.explanation.weights import Row, Share, Weights
from linnaeus.model import Model

ROUNDING = 1e-4  # relative: what is left beyond this is not rounding


@dataclass(frozen=True)
class Feature:
    """What one feature adds to a score: its value, as the estimator sees it, times a weight."""

    name: str
    value: float
    contribution: float
    own: float
    inherited: dict[Any, float]  # by the node it is inherited from


@dataclass(frozen=True)
class Reason:
    """A score taken apart."""

    score: float  # the sum of all contributions and the intercept
    own: float
    inherited: dict[Any, float]  # by node; intercepts not included
    intercept: float
    features: tuple[Feature, ...]  # the strongest
    others: float  # what all other features add together
    n_others: int
    given: Any = None  # of a local model, the parent below which it decides
    against: Any = None  # the sibling that the score is compared with
    rest: float = 0.0  # the model's score less this one, where it is no such sum
    pieces: tuple[Piece, ...] = ()  # the text, with what each word adds


@dataclass(frozen=True)
class NodeReason:
    """A node of the answer, or one that was asked for, and why it is on or off."""

    node: Any
    title: str
    depth: int
    parents: tuple[Any, ...]
    decided: bool
    label: bool  # decided, and nothing below it is
    asked: bool  # named by the one who asks
    score: float | None  # of the model; None where it scores nodes below only
    threshold: float | None
    verdict: str
    reasons: tuple[Reason, ...]  # one for every local model; else one, or none


@dataclass(frozen=True)
class Explanation:
    """Why an example got its labels."""

    labels: tuple[Any, ...]
    nodes: tuple[NodeReason, ...]  # parents first
    method: str
    rule: str
    kind: str  # what contributes: "features" or "examples"
    note: str  # in what the score of the model is not the sum of contributions, or nothing
    titles: dict[Any, str]  # of the nodes that are named, where they differ from the names
    text: str | None = None

    def title(self, name: Any) -> str:
        """The title of a node, or its name."""
        return self.titles.get(name, str(name))

    def ordered(self) -> list[NodeReason]:
        """The nodes in the order of interest: labels, nodes asked for, others."""
        return sorted(self.nodes, key=lambda node: (not node.label, not node.asked))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        found = asdict(self)
        found["titles"] = text_keys(self.titles)
        for node in found["nodes"]:
            for reason in node["reasons"]:
                reason["pieces"] = [piece._asdict() for piece in reason["pieces"]]
                reason["inherited"] = text_keys(reason["inherited"])
                for feature in reason["features"]:
                    feature["inherited"] = text_keys(feature["inherited"])
        return found


def text_keys(values: dict[Any, Any]) -> dict[str, Any]:
    """The same with texts for names, as JSON has them."""
    return {str(name): value for name, value in values.items()}


def explain(
    model: Model, input: Any, top: int = 10, nodes: Iterable[Any] | None = None
) -> Explanation:
    """Why the model decides as it does about one example.

    Parameters
    ----------
    input : a text, or a row of features as the model's tables have them
    top : how many features to tell for each node, the strongest first
    nodes : nodes to explain besides those decided on, with the nodes above them: why not these?

    Examples
    --------
    >>> from linnaeus.model import train
    >>> from linnaeus.synthetic import newsroom
    >>> news = newsroom(200, 20, random_state=0)
    >>> model = train(news.train, news.taxonomy, "rr-svm", rule="argmax")
    >>> found = explain(model, news.test.texts[0])
    >>> found.nodes[-1].node == found.labels[0]
    True
    """
    if top < 1:
        raise UserError(f"top is {top}. Use a positive number of features.")
    text = input if isinstance(input, str) else None
    X = model.transform(_one_row(model, input))
    scores = np.asarray(model.estimator.class_scores(X), dtype=np.float64)
    closed = model.decide(X, scores)
    tax, asked = model.taxonomy, list(dict.fromkeys(nodes or ()))
    specific = set(tax.most_specific(closed).indices.tolist())
    on = set(closed.indices[closed.data != 0].tolist())
    shown = on | {int(u) for name in asked for u in tax.numbers(tax.ancestors(_real(model, name)))}
    weights = weights_of(model.estimator)
    teller = _Teller(model, weights, weights.row(X), scores.ravel(), text, top)
    told = tuple(
        teller.tell(v, v in on, v in specific, tax.nodes[v] in asked) for v in sorted(shown)
    )
    return Explanation(
        labels=tuple(model.names(closed)[0]), nodes=told,
        method=str(model.about.get("method", type(model.estimator).__name__)), rule=model.rule_name,
        kind=weights.kind, note=weights.note, titles=_titles(model, told), text=text,
    )  # fmt: skip


def _titles(model: Model, nodes: Sequence[NodeReason]) -> dict[Any, str]:
    """Titles of all nodes that are named."""
    named: dict[Any, None] = {}
    for node in nodes:
        named[node.node] = None
        for reason in node.reasons:
            named |= dict.fromkeys([*reason.inherited, reason.given, reason.against])
            for feature in reason.features:
                named |= dict.fromkeys(feature.inherited)
    titles = model.taxonomy.titles
    return {name: titles[name] for name in named if name in titles}


def _one_row(model: Model, input: Any) -> Any:
    """The input as the rows that the model's features take."""
    wants_table = hasattr(model.features, "n_features_in_")
    if isinstance(input, str):
        if wants_table:
            raise UserError(
                "The model was trained on features, but a text is given. Give a row of features."
            )
        return [input]
    if not wants_table:
        raise UserError("The model was trained on texts, but a row is given. Give a text.")
    return sp.csr_array(input) if sp.issparse(input) else np.atleast_2d(np.asarray(input))


def _real(model: Model, name: Any) -> Any:
    model.taxonomy.index(name)  # an unknown node is an error that names it
    return name


class InputNames:
    """The names of features, or of training examples by their numbers from 1."""

    def __init__(self, model: Model, weights: Weights) -> None:
        examples = weights.kind == "examples"
        self._names = None if examples else model.features.get_feature_names_out()

    def of(self, numbers: Iterable[int]) -> list[str]:
        """Of the inputs with these numbers."""
        if self._names is None:
            return [f"example {i + 1}" for i in numbers]
        return [str(self._names[i]) for i in numbers]


class _Told(NamedTuple):
    """How a node was decided."""

    score: float | None
    threshold: float | None
    sentence: str


class _Teller:
    """Takes the scores of one example apart."""

    def __init__(
        self, model: Model, weights: Weights, row: Row, scores: np.ndarray, text: str | None,
        top: int,
    ) -> None:  # fmt: skip
        self.model, self.weights, self.row, self.scores, self.top = model, weights, row, scores, top
        self.judge = Judge(model, scores)
        self.column = {name: j for j, name in enumerate(model.columns)}
        self.names = InputNames(model, weights).of(row.columns.tolist())
        self.found: Occurrences | None = None
        if text is not None and weights.kind == "features":
            self.found = occurrences(model.features, text)

    def tell(self, v: int, on: bool, label: bool, asked: bool) -> NodeReason:
        """About one node."""
        tax = self.model.taxonomy
        node = tax.nodes[v]
        handed_on = not (label or asked)  # what it shares with the nodes below
        told = self._decided(node, on, handed_on)
        shares = []
        whole = self.model.closed or not handed_on
        if self.weights.knows(node) if whole else self.weights.hands_on(node):
            shares = self.weights.shares(node, self.row, inner=handed_on)
        expected = None if self.weights.steps else told.score
        return NodeReason(
            node=node, title=tax.title(node), depth=int(tax.depth[v]), parents=tax.parents(node),
            decided=on, label=label, asked=asked, score=told.score, threshold=told.threshold,
            verdict=told.sentence, reasons=tuple(self._reason(s, expected) for s in shares),
        )  # fmt: skip

    def _decided(self, node: Any, on: bool, handed_on: bool) -> _Told:
        if node in self.column and (self.model.closed or not handed_on):
            verdict = self.judge.of(self.column[node], on)
            return _Told(float(self.scores[self.column[node]]), verdict.threshold, verdict.sentence)
        if on:
            return _Told(None, None, "a label below it is on" if handed_on else "the way ends here")
        return _Told(None, None, "no label below it is on")

    def _reason(self, share: Share, expected: float | None) -> Reason:
        parts = share.weights * self.row.values
        total, sums = parts.sum(axis=0), parts.sum(axis=1)
        order = _strongest(total, self.top)
        intercept = float(share.intercepts.sum())
        score = float(total.sum()) + intercept
        rest = 0.0 if expected is None else expected - score
        if abs(rest) <= ROUNDING * max(1.0, abs(score)):
            rest = 0.0
        pieces: tuple[Piece, ...] = ()
        if self.found is not None:
            by_column = dict(zip(self.row.columns.tolist(), total.tolist(), strict=True))
            pieces = tuple(self.found.pieces(by_column))
        return Reason(
            score=score, own=float(sums[0]), inherited=by_source(share.sources, sums),
            intercept=intercept,
            features=tuple(self._feature(share.sources, parts[:, k], k) for k in order),
            others=float(total.sum() - total[order].sum()),
            n_others=int(np.count_nonzero(total)) - len(order),
            given=share.given, against=share.against, rest=rest, pieces=pieces,
        )  # fmt: skip

    def _feature(self, sources: Sequence[Any], parts: np.ndarray, k: int) -> Feature:
        return Feature(
            self.names[k], float(self.row.values[k]), float(parts.sum()), float(parts[0]),
            by_source(sources, parts),
        )  # fmt: skip


def by_source(sources: Sequence[Any], values: np.ndarray) -> dict[Any, float]:
    """What is inherited, by the node it comes from."""
    return {name: float(v) for name, v in zip(sources[1:], values[1:], strict=True) if v != 0}


def _strongest(values: np.ndarray, top: int) -> list[int]:
    """Places of the largest sizes other than 0, the largest first, ties to the lower place."""
    order = np.argsort(-np.abs(values), kind="stable")[:top]
    return [k for k in order.tolist() if values[k] != 0]
