"""What a model has learned about a node: its features, and how it differs from its relatives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.explanation.explain import InputNames, by_source, text_keys
from linnaeus.explanation.sources import weights_of
from linnaeus.explanation.subject import Subject
from linnaeus.explanation.weights import Share, Weights
from linnaeus.model import Model

SIBLINGS = 5  # shown, the most similar ones
COMPARED = 200  # siblings that are looked at


@dataclass(frozen=True)
class WeightedFeature:
    """A feature and its weight; what the node adds itself, and what it inherits."""

    name: str
    weight: float
    own: float
    inherited: dict[Any, float]


@dataclass(frozen=True)
class Learned:
    """The weights of a node; with local models, of its model below one parent.

    Attributes
    ----------
    positive : tuple
        Features with the largest weights.
    negative : tuple
        Features with the smallest weights.
    own : tuple
        Features by the size of the own part: the difference from the parents.
    own_norm : float
        Length of the own part.
    inherited_norms : dict
        Length of what is inherited, by node.
    intercept : float
        The intercept.
    given : object
        Of a local model, the parent below which it decides.
    """

    positive: tuple[WeightedFeature, ...]
    negative: tuple[WeightedFeature, ...]
    own: tuple[WeightedFeature, ...]
    own_norm: float
    inherited_norms: dict[Any, float]
    intercept: float
    given: Any = None


@dataclass(frozen=True)
class Difference:
    """A sibling, and the features that speak most for the one and for the other.

    Attributes
    ----------
    node : object
        Name of the sibling.
    title : str
        Its title.
    similarity : float
        Cosine of the weights.
    here : tuple of tuple
        Name and difference of the weights of features that speak for the node.
    there : tuple of tuple
        The same for the sibling.
    """

    node: Any
    title: str
    similarity: float
    here: tuple[tuple[str, float], ...]
    there: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class NodeExplanation:
    """What a model has learned about a node.

    Attributes
    ----------
    node : object
        Name of the node.
    title : str
        Its title.
    path : tuple
        The nodes above it and itself.
    parents : tuple
        Names of its parents.
    children : tuple
        Names of its children.
    rows : int or None
        Training rows at the node or below.
    method : str
        Name of the method.
    kind : {'features', 'examples'}
        What has weights.
    learned : tuple of Learned
        Its weights; one for every local model.
    siblings : tuple of Difference
        The nearest siblings.
    n_siblings : int
        How many siblings there are.
    titles : dict
        Titles of the nodes above, where they differ from the names.
    """

    node: Any
    title: str
    path: tuple[Any, ...]
    parents: tuple[Any, ...]
    children: tuple[Any, ...]
    rows: int | None
    method: str
    kind: str
    learned: tuple[Learned, ...]
    siblings: tuple[Difference, ...]
    n_siblings: int
    titles: dict[Any, str]

    def title_of(self, name: Any) -> str:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        found = asdict(self)
        found["titles"] = text_keys(self.titles)
        for learned in found["learned"]:
            learned["inherited_norms"] = text_keys(learned["inherited_norms"])
            for key in ("positive", "negative", "own"):
                for feature in learned[key]:
                    feature["inherited"] = text_keys(feature["inherited"])
        return found


def explain_node(model: Model, node: Any, top: int = 15) -> NodeExplanation:
    """The strongest features of a node, and its differences from its parents and siblings.

    Of an inner node these are the weights that it hands on; in flat models those of the class that
    it is, if it carries labels of its own. Where the model has none at all, `learned` is empty.

    Parameters
    ----------
    model : Model
        A trained model.
    node : object
        Name of the node.
    top : int, default=15
        How many features of each kind.

    Returns
    -------
    NodeExplanation
    """
    if top < 1:
        raise UserError(f"top is {top}. Use a positive number of features.")
    tax = model.taxonomy
    v = tax.index(node)
    weights = weights_of(model.estimator)
    shares = weights.shares(node, inner=True) if weights.knows(node) else []
    names = InputNames(Subject(model).names, weights)
    siblings = _siblings(model, node)
    return NodeExplanation(
        node=node, title=tax.title(node), path=_path(model, node), parents=tax.parents(node),
        children=tax.children(node),
        rows=None if model.train_counts is None else int(model.train_counts[v]),
        method=str(model.about.get("method", type(model.estimator).__name__)), kind=weights.kind,
        learned=tuple(_learned(share, names, top) for share in shares),
        siblings=_differences(model, weights, shares, siblings, names, top),
        n_siblings=len(siblings),
        titles={v: tax.titles[v] for v in tax.ancestors(node) if v in tax.titles},
    )  # fmt: skip


def _path(model: Model, node: Any) -> tuple[Any, ...]:
    tax = model.taxonomy
    return tax.names(sorted(tax.numbers(tax.ancestors(node)).tolist()))


def _siblings(model: Model, node: Any) -> list[Any]:
    """The other children of the parents; of a root, the other roots."""
    tax = model.taxonomy
    parents = tax.parents(node)
    families = [tax.children(p) for p in parents] if parents else [tax.roots]
    return [v for v in dict.fromkeys(v for family in families for v in family) if v != node]


def _learned(share: Share, names: InputNames, top: int) -> Learned:
    total = share.weights.sum(axis=0)

    def told(order: list[int]) -> tuple[WeightedFeature, ...]:
        return tuple(
            WeightedFeature(
                name, float(total[k]), float(share.weights[0, k]),
                by_source(share.sources, share.weights[:, k]),
            )
            for k, name in zip(order, names.of(order), strict=True)
        )  # fmt: skip

    norms = np.linalg.norm(share.weights, axis=1)
    return Learned(
        positive=told(_highest(total, top)), negative=told(_highest(-total, top)),
        own=told(_highest(np.abs(share.weights[0]), top)), own_norm=float(norms[0]),
        inherited_norms=by_source(share.sources, norms),
        intercept=float(share.intercepts.sum()), given=share.given,
    )  # fmt: skip


def _highest(values: np.ndarray, top: int) -> list[int]:
    """Places of the highest positive values, ties to the lower place."""
    k = min(top, values.size)
    part = np.argpartition(-values, k - 1)[:k] if k < values.size else np.arange(values.size)
    cut = values[part].min() if part.size else 0.0
    places = np.flatnonzero((values >= cut) & (values > 0))
    order = places[np.argsort(-values[places], kind="stable")][:top]
    return [int(i) for i in order]


def _differences(
    model: Model, weights: Weights, shares: list[Share], siblings: list[Any], names: InputNames,
    top: int,
) -> tuple[Difference, ...]:  # fmt: skip
    """The siblings with the most similar weights, and what tells the node from each of them."""
    if not shares:
        return ()
    here = shares[0].weights.sum(axis=0)
    found = []
    for sibling in [v for v in siblings if weights.knows(v)][:COMPARED]:
        there = weights.shares(sibling, inner=True)[0].weights.sum(axis=0)
        size = float(np.linalg.norm(here) * np.linalg.norm(there))
        found.append((float(here @ there) / size if size else 0.0, sibling, here - there))
        found = sorted(found, key=lambda entry: -entry[0])[:SIBLINGS]
    return tuple(
        Difference(
            sibling, model.taxonomy.title(sibling), similarity,
            _listed(difference, names, top), _listed(-difference, names, top),
        )
        for similarity, sibling, difference in found
    )  # fmt: skip


def _listed(difference: np.ndarray, names: InputNames, top: int) -> tuple[tuple[str, float], ...]:
    order = _highest(difference, top)
    return tuple(
        (name, float(difference[k])) for k, name in zip(order, names.of(order), strict=True)
    )
