"""Why a model gives an example its labels: what moved each node, feature by feature.

For every node on the way to a label the score is taken apart,

    score = sum over features (own part + inherited part) + intercept (+ what is not linear),

where a node inherits from the nodes above it what they have in common with all their descendants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError
from linnaeus.explanation.sources import weights_of
from linnaeus.explanation.spans import Occurrences, Piece
from linnaeus.explanation.subject import Subject
from linnaeus.explanation.verdict import Judge
from linnaeus.explanation.weights import Row, Share, Weights
from linnaeus.model import Model
from linnaeus.taxonomy import Taxonomy

ROUNDING = 1e-4  # relative: what is left beyond this is not rounding


@dataclass(frozen=True)
class Feature:
    """What one feature adds to a score: its value, as the estimator sees it, times a weight.

    Attributes
    ----------
    name : str
        What it is called.
    value : float
        Its value, as the estimator sees it.
    contribution : float
        What it adds to the score.
    own : float
        What the node's own weight adds.
    inherited : dict
        What is inherited, by the node it comes from.
    """

    name: str
    value: float
    contribution: float
    own: float
    inherited: dict[Any, float]


@dataclass(frozen=True)
class Reason:
    """A score taken apart.

    Attributes
    ----------
    score : float
        The sum of all contributions and the intercept.
    own : float
        What the node's own weights add.
    inherited : dict
        What is inherited, by node; intercepts not included.
    intercept : float
        The intercept.
    features : tuple of Feature
        The strongest features.
    others : float
        What all other features add together.
    n_others : int
        How many other features there are.
    given : object
        Of a local model, the parent below which it decides.
    against : object
        The sibling that the score is compared with.
    rest : float
        The model's score less this one, where it is no such sum.
    pieces : tuple of Piece
        The text, with what each word adds.
    """

    score: float
    own: float
    inherited: dict[Any, float]
    intercept: float
    features: tuple[Feature, ...]
    others: float
    n_others: int
    given: Any = None
    against: Any = None
    rest: float = 0.0
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class NodeReason:
    """A node of the answer, or one that was asked for, and why it is on or off.

    Attributes
    ----------
    node : object
        Name of the node.
    title : str
        Its title.
    depth : int
        Longest way down from a root.
    parents : tuple
        Names of its parents.
    decided : bool
        Whether it is on.
    label : bool
        Decided, and nothing below it is.
    asked : bool
        Named by the one who asks.
    score : float or None
        Score of the model; None where it scores nodes below only.
    threshold : float or None
        What the score is compared with, where there is such a number.
    verdict : str
        Why it is on or off, in a sentence.
    reasons : tuple of Reason
        One for every local model; else one, or none.
    """

    node: Any
    title: str
    depth: int
    parents: tuple[Any, ...]
    decided: bool
    label: bool
    asked: bool
    score: float | None
    threshold: float | None
    verdict: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Explanation:
    """Why an example got its labels.

    Attributes
    ----------
    labels : tuple
        The labels of the example.
    nodes : tuple of NodeReason
        Parents first.
    method : str
        Name of the method.
    rule : str
        Name of the decision rule.
    kind : {'features', 'examples'}
        What contributes.
    note : str
        In what the score of the model is not the sum of contributions, or nothing.
    titles : dict
        Titles of the nodes that are named, where they differ from the names.
    text : str or None
        The text that was explained.
    additive : bool
        Whether the score of a node is the sum of its contributions.
    """

    labels: tuple[Any, ...]
    nodes: tuple[NodeReason, ...]
    method: str
    rule: str
    kind: str
    note: str
    titles: dict[Any, str]
    text: str | None = None
    additive: bool = True

    def _repr_html_(self) -> str:
        """The explanation in a notebook, with coloured words."""
        from linnaeus.explanation.html import explanation_fragment

        return explanation_fragment(self)

    def title(self, name: Any) -> str:
        """The title of a node, or its name.

        Parameters
        ----------
        name : object
            Name of a node.

        Returns
        -------
        str
        """
        return self.titles.get(name, str(name))

    def ordered(self) -> list[NodeReason]:
        """The nodes in the order of interest: labels, nodes asked for, others.

        Returns
        -------
        list of NodeReason
        """
        return sorted(self.nodes, key=lambda node: (not node.label, not node.asked))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
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
    model: Any,
    x: Any,
    feature_names: Sequence[Any] | None = None,
    *,
    top: int = 10,
    nodes: Iterable[Any] | None = None,
) -> Explanation:
    """Why a model decides as it does about one example.

    The contributions add up: of every node with a score, `own`, what is `inherited` and the
    `intercept` of its reason sum to the score of the model for that node, feature by feature
    (`additive`). Estimators of which this is not true say so: TopDown, OrthogonalTransfer and
    HierarchicalRLS explain each step given its parent, CorrelatedMNL its linear predictor, with
    the rest to the score in `rest`. With a kernel, training examples take the place of features.

    Parameters
    ----------
    model : Model or object
        A `Model`, a fitted estimator of linnaeus, a scikit-learn Pipeline (or search) that ends in
        one, or a decision around any of these.
    x : str, array-like, sparse matrix, Series or DataFrame
        One example: a row of features as an array, a sparse row, a series or a data frame with one
        row; or a text, where the first step takes texts.
    feature_names : sequence of str or None, default=None
        Names of the features, of those that the estimator sees or of those that go into the
        pipeline; None asks the steps (get_feature_names_out) or the estimator (feature_names_in_),
        else they are x0, x1, ...
    top : int, default=10
        How many features to tell for each node, the strongest first.
    nodes : iterable or None, default=None
        Why not these: nodes to explain besides those decided on, with the nodes above them.

    Returns
    -------
    Explanation

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
    subject = Subject(model, feature_names)
    model, text = subject.model, x if isinstance(x, str) else None
    X, scores, closed = subject.scores_and_sets(x)
    tax, asked = model.taxonomy, list(dict.fromkeys(nodes or ()))
    specific = set(tax.most_specific(closed).indices.tolist())
    on = set(closed.indices[closed.data != 0].tolist())
    shown = on | {int(u) for name in asked for u in tax.numbers(tax.ancestors(_real(model, name)))}
    weights = weights_of(model.estimator)
    teller = _Teller(subject, weights, weights.row(X), scores, text, top)
    told = tuple(
        teller.tell(v, v in on, v in specific, tax.nodes[v] in asked)
        for v in _downwards(tax, shown)
    )
    return Explanation(
        labels=tuple(model.names(closed)[0]), nodes=told,
        method=str(model.about.get("method", type(model.estimator).__name__)), rule=model.rule_name,
        kind=weights.kind, note=weights.note, titles=_titles(model, told), text=text,
        additive=not (weights.steps or weights.note),
    )  # fmt: skip


def _downwards(tax: Taxonomy, shown: set[int]) -> list[int]:
    """Nodes as a tree is read: each below the first of its parents on the level above it."""
    below: dict[int, list[int]] = defaultdict(list)
    for v in sorted(shown):
        parents = [p for p in tax.numbers(tax.parents(tax.nodes[v])).tolist() if p in shown]
        below[next((p for p in parents if tax.depth[p] == tax.depth[v] - 1), -1)].append(v)
    order, stack = [], below[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack += below[order[-1]][::-1]
    return order


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


def _real(model: Model, name: Any) -> Any:
    model.taxonomy.index(name)  # an unknown node is an error that names it
    return name


class InputNames:
    """The names of features, or of training examples by their numbers from 1."""

    def __init__(self, names: Sequence[str] | None, weights: Weights) -> None:
        self._names, self._kind = names, weights.kind

    def of(self, numbers: Iterable[int]) -> list[str]:
        """Of the inputs with these numbers."""
        if self._kind == "examples":
            return [f"example {i + 1}" for i in numbers]
        return [f"x{i}" if self._names is None else self._names[i] for i in numbers]


class _Told(NamedTuple):
    """How a node was decided."""

    score: float | None
    threshold: float | None
    sentence: str


class _Teller:
    """Takes the scores of one example apart."""

    def __init__(
        self, subject: Subject, weights: Weights, row: Row, scores: np.ndarray, text: str | None,
        top: int,
    ) -> None:  # fmt: skip
        self.model, self.weights, self.row = subject.model, weights, row
        self.scores, self.top = scores, top
        self.judge = Judge(self.model, scores)
        self.column = {name: j for j, name in enumerate(subject.columns)}
        self.names = InputNames(subject.names, weights).of(row.columns.tolist())
        self.found: tuple[Occurrences, dict[int, int]] | None = None
        if text is not None and weights.kind == "features":
            self.found = subject.occurrences(text)

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
            found, feature = self.found
            by_feature = dict(zip(self.row.columns.tolist(), total.tolist(), strict=True))
            pieces = tuple(found.pieces({c: by_feature.get(j, 0.0) for c, j in feature.items()}))
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
