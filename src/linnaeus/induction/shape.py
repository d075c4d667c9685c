"""From clusters to a taxonomy.

A shape is an array over q classes and some clusters after them: the number of the parent of each,
-1 below the root. Clusters get names such as "cluster 2" and "cluster 2.1", numbered by the
smallest class below, level by level; classes keep their names and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.induction.linkage import LEVELS, SLACK, Links, average_links, nested
from linnaeus.taxonomy import Taxonomy


def from_distances(distances: np.ndarray, levels: Any, apart: float = np.inf) -> np.ndarray:
    """The shape of classes by their condensed distances.

    levels : a number of levels, thresholds of the inconsistency, or "links"
    apart : classes as far from each other as this are never joined
    """
    links = average_links(distances, apart)
    if not isinstance(levels, str):
        return from_partitions(nested(links, levels, apart))
    if levels != "links":
        raise UserError(LEVELS.format(levels=repr(levels)))
    return from_links(links)


def from_partitions(levels: Sequence[np.ndarray]) -> np.ndarray:
    """The shape of nested clusters; coarser ones that hold one cluster, or all, are left out.

    levels : (q,) numbers of the cluster of each class, the finest first
    """
    q = levels[0].size
    _, one = np.unique(levels[0], return_index=True)  # a class of every cluster
    parent = np.concatenate([q + levels[0], np.full(one.size, -1)])
    top = q + np.arange(one.size)
    for coarse in levels[1:]:
        _, group, size = np.unique(coarse[one], return_inverse=True, return_counts=True)
        kept = (size > 1) & (size < top.size)
        number = np.where(kept, parent.size + np.cumsum(kept) - 1, -1)[group]
        parent[top] = number
        alone = number < 0
        joined, first = np.unique(number[~alone], return_index=True)
        parent = np.concatenate([parent, np.full(joined.size, -1)])
        top, one = (
            np.concatenate([top[alone], joined]),
            np.concatenate([one[alone], one[~alone][first]]),
        )
    return parent


def from_links(links: Links) -> np.ndarray:
    """The clusters of Algorithm 8 below the cut links with IC > m, without the other cut links."""
    clusters = links.clusters()
    q, Z = clusters.size, links.merges
    n_clusters = int(clusters.max(initial=0)) + 1
    strong = np.flatnonzero(links.cut[:-1] & (links.inconsistency[:-1] > links.threshold + SLACK))
    number = np.full(len(Z), -1)  # the last link is the root
    number[strong] = q + n_clusters + np.arange(strong.size)
    parent = np.full(q + n_clusters + strong.size, -1)
    parent[:q] = q + clusters
    some = np.arange(2 * q - 1)  # a class below each cluster of SciPy's
    some[q:] = -1
    for j, pair in enumerate(Z[:, :2].astype(int).tolist()):
        some[q + j] = some[pair[0]]
    above = np.full(2 * q - 1, -1)  # the nearest kept link above
    for j in range(len(Z) - 1, -1, -1):
        if not links.cut[j]:
            continue
        here = number[j] if number[j] >= 0 else above[q + j]
        for child in Z[j, :2].astype(int).tolist():
            above[child] = here
            if child < q or not links.cut[child - q]:
                parent[q + clusters[some[child]]] = here
            elif number[child - q] >= 0:
                parent[number[child - q]] = here
    return parent


def with_singletons(parent: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The shape of the classes seen, with the others added, each a cluster of its own."""
    n_seen, q = int(seen.sum()), seen.size
    inner = parent[n_seen:]
    clusters = np.where(inner < 0, -1, inner - n_seen + q)
    out = np.empty(q, dtype=np.int64)
    out[seen] = np.where(parent[:n_seen] < 0, -1, parent[:n_seen] - n_seen + q)
    out[~seen] = q + inner.size + np.arange(q - n_seen)
    return np.concatenate([out, clusters, np.full(q - n_seen, -1)])


def to_taxonomy(parent: np.ndarray, classes: Sequence[Any], root: Any = "root") -> Taxonomy:
    """The taxonomy of a shape: root, clusters level by level, then the classes in order.

    root : the name of the root; None leaves it out, so that there are several roots
    """
    q = len(classes)
    taken = {str(name) for name in classes}
    top = None if root is None else _free(root, taken)
    children: dict[int, list[int]] = {}
    for v in q + np.argsort(_smallest_class(parent, q)[q:], kind="stable"):
        children.setdefault(int(parent[v]), []).append(int(v))
    names: dict[int, Any] = {-1: top}
    plain = {-1: "cluster"}  # names without what makes them free
    edges: list[tuple[Any, Any]] = [] if top is None else [(None, top)]
    level = [-1]
    while level:
        below = [(p, i, v) for p in level for i, v in enumerate(children.get(p, ()), 1)]
        for p, i, v in below:
            plain[v] = f"{plain[p]}{' ' if p < 0 else '.'}{i}"
            names[v] = _free(plain[v], taken)
            edges.append((names[p], names[v]))
        level = [v for _, _, v in below]
    edges += [(names[p], name) for p, name in zip(parent[:q].tolist(), classes, strict=True)]
    return Taxonomy.from_edges(edges)


def _smallest_class(parent: np.ndarray, q: int) -> np.ndarray:
    """The smallest class below every node of a shape."""
    out = np.full(parent.size, q)
    out[:q] = np.arange(q)
    node, classes = parent[:q].copy(), np.arange(q)
    while True:
        classes, node = classes[node >= 0], node[node >= 0]
        if not node.size:
            return out
        np.minimum.at(out, node, classes)
        node = parent[node]


def _free(name: Any, taken: set[str]) -> Any:
    """A name that no class has."""
    while str(name) in taken:
        name = f"{name}'"
    return name
