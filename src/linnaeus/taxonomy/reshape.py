"""Taxonomies made from others: parts, misc leaves, contracted chains, random ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import TaxonomyError, shorten
from linnaeus.labels import plain_names
from linnaeus.taxonomy import dag as _dag
from linnaeus.taxonomy import labelsets
from linnaeus.taxonomy.dag import IntArray
from linnaeus.taxonomy.naming import Numbered, number_nodes, unique_links

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy


def edge_arrays(taxonomy: Taxonomy) -> tuple[IntArray, IntArray]:
    """Parent and child numbers of all edges, ordered by child."""
    child = np.repeat(np.arange(len(taxonomy), dtype=np.int32), taxonomy.n_parents)
    return taxonomy.dag.parents, child


def renumbered(
    nodes: Sequence[Any], parent: IntArray, child: IntArray, related: IntArray
) -> Numbered:
    """Names and edges already numbered parents first."""
    return Numbered(tuple(nodes), _dag.build(len(nodes), parent, child), unique_links(related))


def induced(taxonomy: Taxonomy, keep: IntArray) -> Taxonomy:
    """The nodes `keep` (ascending) with everything among them, in the same order."""
    new = np.full(len(taxonomy), -1, dtype=np.int32)
    new[keep] = np.arange(len(keep), dtype=np.int32)
    parent, child = (new[a] for a in edge_arrays(taxonomy))
    inside = (parent >= 0) & (child >= 0)
    links = new[taxonomy.related_numbers]
    nodes = taxonomy.names(keep.tolist())
    numbered = renumbered(nodes, parent[inside], child[inside], links[(links >= 0).all(axis=1)])
    titles = {v: taxonomy.titles[v] for v in nodes if v in taxonomy.titles}
    return type(taxonomy)(numbered, titles, {m: v for m, v in taxonomy.misc.items() if m in nodes})


def with_ancestors(taxonomy: Taxonomy, numbers: IntArray) -> IntArray:
    """The nodes and everything above them, ascending."""
    keep = np.zeros(len(taxonomy), dtype=bool)
    keep[numbers] = True
    ptr, parents = taxonomy.dag.parent_ptr, taxonomy.dag.parents
    for level in taxonomy.level_numbers[::-1]:  # children are always deeper
        for v in level[keep[level]].tolist():
            keep[parents[ptr[v] : ptr[v + 1]]] = True
    return np.flatnonzero(keep).astype(np.int32)


def with_misc(taxonomy: Taxonomy, labels: Any) -> Taxonomy:
    """Append a leaf ``v/misc`` below inner nodes that carry labels of their own."""
    if labels is None:
        own = np.arange(len(taxonomy), dtype=np.int32)
    else:
        sets = taxonomy.most_specific(labelsets.ordered(labels))
        own = labelsets.label_numbers(taxonomy, sets)
    own = own[taxonomy.n_children[own] > 0]
    nodes, misc = list(taxonomy.nodes), dict(taxonomy.misc)
    for v in own.tolist():
        name = f"{taxonomy.nodes[v]}/misc"
        while name in taxonomy:
            name += "'"
        nodes.append(name)
        misc[name] = taxonomy.nodes[v]
    parent, child = edge_arrays(taxonomy)
    new = np.arange(len(taxonomy), len(nodes), dtype=np.int32)
    numbered = renumbered(
        nodes,
        np.concatenate([parent, own]),
        np.concatenate([child, new]),
        taxonomy.related_numbers,
    )
    return type(taxonomy)(numbered, taxonomy.titles, misc)


def collapsed(taxonomy: Taxonomy, keep: Iterable[Any]) -> Taxonomy:
    """Remove every node whose only child has no other parent; the child takes its place."""
    ptr, children = taxonomy.dag.child_ptr, taxonomy.dag.children
    lone = taxonomy.n_children == 1
    lone[lone] = taxonomy.n_parents[children[ptr[:-1][lone]]] == 1
    lone[taxonomy.numbers(keep)] = False
    stands_for = np.arange(len(taxonomy), dtype=np.int32)
    for v in np.flatnonzero(lone)[::-1].tolist():  # children first
        stands_for[v] = stands_for[children[ptr[v]]]
    kept = np.flatnonzero(~lone)
    new = np.full(len(taxonomy), -1, dtype=np.int32)
    new[kept] = np.arange(kept.size, dtype=np.int32)
    links = new[stands_for[taxonomy.related_numbers]]
    nodes = taxonomy.names(kept.tolist())
    parent, child = edge_arrays(taxonomy)
    between = ~lone[parent]  # the other edges lie inside a chain
    numbered = renumbered(nodes, new[parent[between]], new[stands_for[child[between]]], links)
    return type(taxonomy)(numbered, {v: taxonomy.titles[v] for v in nodes if v in taxonomy.titles})


def renamed(taxonomy: Taxonomy, names: Mapping[Any, Any]) -> Taxonomy:
    """The same nodes, some with other names; titles, misc leaves and links go with them."""
    if not hasattr(names, "items"):
        raise TaxonomyError(
            f"New names must be given as {{old: new}}, but {shorten(names)} is a "
            f"{type(names).__name__}."
        )
    nodes = list(taxonomy.nodes)
    for old, new in zip(names, plain_names(names.values()), strict=True):
        if not isinstance(new, str | int) or isinstance(new, bool) or new == "":
            raise TaxonomyError(
                f"The new name of {shorten(old)} is {shorten(new)}. Give a text that is not "
                f"empty, or a whole number."
            )
        nodes[taxonomy.index(old)] = new
    number: dict[Any, int] = {}
    for v, name in enumerate(nodes):
        if number.setdefault(name, v) != v:
            both = (taxonomy.nodes[number[name]], taxonomy.nodes[v])
            raise TaxonomyError(
                f"The nodes {shorten(both[0])} and {shorten(both[1])} would both be called "
                f"{shorten(name)}. Give every node a name of its own."
            )
    new_name = dict(zip(taxonomy.nodes, nodes, strict=True))
    titles = {new_name[v]: title for v, title in taxonomy.titles.items()}
    misc = {new_name[m]: new_name[v] for m, v in taxonomy.misc.items()}
    numbered = Numbered(tuple(nodes), taxonomy.dag, taxonomy.related_numbers)
    return type(taxonomy)(numbered, titles, misc)


def shuffled(taxonomy: Taxonomy, rng: np.random.Generator) -> Taxonomy:
    """A random hierarchy with as many nodes on each level and the same leaves.

    On a tree every node draws its parent uniformly among the inner nodes of the level above,
    given that each of them keeps a child. On a DAG the names change places at random within
    the inner nodes, and within the leaves, of each level.
    """
    if taxonomy.is_tree:
        parent = taxonomy.tree.parent.copy()
        for above, level in pairwise(taxonomy.level_numbers):
            inner = above[taxonomy.n_children[above] > 0]
            parent[level] = inner[random_surjection(level.size, inner.size, rng)]
        lines: list[Any] = []
        for p, v in zip(parent.tolist(), taxonomy.nodes, strict=True):
            lines += (taxonomy.nodes[p] if p >= 0 else None, v)
        return type(taxonomy)(number_nodes(lines, taxonomy.related), taxonomy.titles)
    place = np.arange(len(taxonomy))
    for level in taxonomy.level_numbers:
        has_children = taxonomy.n_children[level] > 0
        for group in (level[has_children], level[~has_children]):
            place[group] = rng.permutation(group)
    names = taxonomy.names(place.tolist())
    lines = [v for r in taxonomy.root_numbers.tolist() for v in (None, names[r])]
    lines += [names[v] for v in np.column_stack(edge_arrays(taxonomy)).ravel().tolist()]
    return type(taxonomy)(number_nodes(lines, taxonomy.related), taxonomy.titles)


def random_surjection(m: int, k: int, rng: np.random.Generator) -> IntArray:
    """Send m children to k parents uniformly among the maps that leave no parent childless.

    The family sizes of such a map are k independent Poisson counts, given that all are positive
    and sum to m. They are drawn at the rate at which the expected sum is m (about sqrt(m) tries
    of O(k)); then the children are dealt out at random. Drawing maps until one is onto has the
    same law but may take for ever when m is close to k.
    """
    sizes = np.ones(k, dtype=np.int64)
    if m > k:
        rate = _truncated_rate(m / k)
        floor = np.exp(-rate)
        while True:
            # a positive Poisson count: its first event falls inside the unit interval for sure
            first = -np.log1p(-rng.random(k) * (1 - floor)) / rate
            sizes = 1 + rng.poisson(rate * (1 - first))
            if sizes.sum() == m:
                break
    out: IntArray = rng.permutation(np.repeat(np.arange(k, dtype=np.int32), sizes))
    return out


def _truncated_rate(mean: float) -> float:
    """The Poisson rate at which a positive count has this mean: rate / (1 - exp(-rate))."""
    low, high = 1e-9, mean
    for _ in range(100):
        mid = (low + high) / 2
        low, high = (mid, high) if mid / -np.expm1(-mid) < mean else (low, mid)
    return high
