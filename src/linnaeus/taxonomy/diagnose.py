"""What a taxonomy looks like in numbers, and what its maintainer would want to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import shorten
from linnaeus.taxonomy.dag import IntArray
from linnaeus.taxonomy.formats import headers
from linnaeus.taxonomy.taxonomy import Taxonomy

WIDE = 1000  # a family with more children than this is hard to oversee
_EXAMPLES = 3


class Finding(NamedTuple):
    """Something to look at: a "warning" is probably a mistake, a "note" may well be meant."""

    level: str
    code: str
    message: str
    nodes: tuple[Any, ...]


def stats(taxonomy: Taxonomy) -> dict[str, Any]:
    """The counts that describe a taxonomy, as plain numbers.

    ``depth`` counts the edges of the longest path; ``max_children`` and ``mean_children`` are
    over inner nodes; ``isolated`` nodes have neither parents nor children.
    """
    inner = taxonomy.n_children[taxonomy.n_children > 0]
    return {
        "kind": taxonomy.kind,
        "nodes": len(taxonomy),
        "edges": len(taxonomy.edges),
        "roots": len(taxonomy.roots),
        "leaves": len(taxonomy.leaves),
        "depth": int(taxonomy.depth.max(initial=0)),
        "multi_parent": int((taxonomy.n_parents > 1).sum()),
        "isolated": int(_isolated(taxonomy).size),
        "related": len(taxonomy.related),
        "titles": len(taxonomy.titles),
        "max_children": int(inner.max(initial=0)),
        "mean_children": float(inner.mean()) if inner.size else 0.0,
        "single_child": int((inner == 1).sum()),
        "nodes_per_level": [len(level) for level in taxonomy.level_numbers],
    }


def findings(taxonomy: Taxonomy) -> list[Finding]:
    """What to look at, warnings first."""
    checks = (
        _upside_down, _header_names, _like_parents, _redundant_edges, _related_ancestors,
        _similar_names, _same_titles, _isolated_nodes, _single_children, _wide_families,
        _missing_titles,
    )  # fmt: skip
    found = [finding for check in checks for finding in check(taxonomy)]
    return sorted(found, key=lambda finding: finding.level != "warning")


def _upside_down(taxonomy: Taxonomy) -> Iterator[Finding]:
    """More top nodes than leaves, and hardly a node with two children."""
    roots, leaves = len(taxonomy.roots), len(taxonomy.leaves)
    inner = taxonomy.n_children[taxonomy.n_children > 0]
    if taxonomy.edges and roots > 2 * leaves and 2 * (inner == 1).sum() > inner.size:
        message = (
            f"Upside down? There are {roots:,} top nodes and only {leaves:,} leaves. Look whether "
            f"parent and child are exchanged; a header line names the columns."
        )
        yield Finding("warning", "upside_down", message, taxonomy.roots[:_EXAMPLES])


def _header_names(taxonomy: Taxonomy) -> Iterator[Finding]:
    """An edge between the words of a header."""
    pairs = [pair for pair in taxonomy.edges if headers.roles([str(name) for name in pair])]
    if pairs:
        what = "Nodes called like the columns of a table (is a header among the lines?)"
        shown = (f"{shorten(a)} -> {shorten(b)}" for a, b in pairs)
        message = _message(what, shown, len(pairs))
        yield Finding("warning", "header_name", message, tuple(dict.fromkeys(sum(pairs, ()))))


def _like_parents(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Nodes with the title of a parent, as where short paths were filled up."""
    title = taxonomy.title
    same = [taxonomy.index(c) for p, c in taxonomy.edges if title(p) == title(c)]
    what = "Nodes with the same title as their parent"
    yield from _listing(taxonomy, dict.fromkeys(same), "note", "same_as_parent", what)


def _isolated(taxonomy: Taxonomy) -> IntArray:
    return np.flatnonzero(taxonomy.n_parents + taxonomy.n_children == 0).astype(np.int32)


def _is_above(taxonomy: Taxonomy, above: IntArray, below: IntArray) -> Any:
    """For pairs of node numbers: whether the first is an ancestor of the second."""
    ptr, ancestors = taxonomy.ancestor_lists
    n = len(taxonomy)
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(ptr))
    keys = rows * n + ancestors  # ascending, since rows and the lists in them are
    wanted = below.astype(np.int64) * n + above
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return keys[at] == wanted


def _redundant_edges(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Edges p -> c where c has another parent below p: the longer way says it already."""
    ptr, parents = taxonomy.dag.parent_ptr, taxonomy.dag.parents
    triples = [
        (p, q, c)
        for c in np.flatnonzero(taxonomy.n_parents > 1).tolist()
        for p, q in combinations(parents[ptr[c] : ptr[c + 1]].tolist(), 2)
    ]
    if not triples:
        return
    p, q, c = np.array(triples, dtype=np.int32).T
    hit = _is_above(taxonomy, p, q)
    edges = sorted(set(zip(c[hit].tolist(), p[hit].tolist(), strict=True)))
    if edges:
        what = "Redundant edges: another parent of the node is already below this one"
        shown = (f"{_show(taxonomy, a)} -> {_show(taxonomy, v)}" for v, a in edges)
        nodes = taxonomy.names(dict.fromkeys(child for child, _ in edges))
        message = _message(what, shown, len(edges))
        yield Finding("warning", "redundant_edge", message, nodes)


def _related_ancestors(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Related links between a node and one of its ancestors: the hierarchy says it already."""
    links = taxonomy.related_numbers
    if not links.size:
        return
    hit = links[_is_above(taxonomy, links[:, 0], links[:, 1])].tolist()
    if hit:
        what = "Related links between a node and its own ancestor"
        shown = (f"{_show(taxonomy, a)} - {_show(taxonomy, b)}" for a, b in hit)
        message = _message(what, shown, len(hit))
        yield Finding("warning", "related_ancestor", message, taxonomy.names(b for _, b in hit))


def _similar_names(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Names that a reader will take for one another."""
    groups: dict[str, list[int]] = defaultdict(list)
    for v, name in enumerate(taxonomy.nodes):
        groups["".join(str(name).split()).casefold()].append(v)
    yield from _alike(
        taxonomy,
        [group for group in groups.values() if len(group) > 1],
        "similar_names",
        "Names that differ only by case or white space",
    )


def _same_titles(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Siblings (or roots) with the same title, upper and lower case alike."""
    if not taxonomy.titles:
        return
    titles = [taxonomy.title(name).casefold() for name in taxonomy.nodes]
    ptr, children = taxonomy.dag.child_ptr.tolist(), taxonomy.dag.children.tolist()
    families = [taxonomy.root_numbers.tolist()]
    families += [children[ptr[v] : ptr[v + 1]] for v in range(len(taxonomy))]
    same: dict[tuple[int, ...], None] = {}
    for family in families:
        if len({titles[v] for v in family}) < len(family):
            groups: dict[str, list[int]] = defaultdict(list)
            for v in family:
                groups[titles[v]].append(v)
            same.update({tuple(group): None for group in groups.values() if len(group) > 1})
    yield from _alike(taxonomy, list(same), "same_title", "Siblings with the same title")


def _alike(taxonomy: Taxonomy, groups: list[Any], code: str, what: str) -> Iterator[Finding]:
    if groups:
        shown = (" and ".join(_show(taxonomy, v) for v in group[:_EXAMPLES]) for group in groups)
        nodes = taxonomy.names(dict.fromkeys(v for group in groups for v in group))
        yield Finding("warning", code, _message(what, shown, len(groups)), nodes)


def _isolated_nodes(taxonomy: Taxonomy) -> Iterator[Finding]:
    if taxonomy.edges:
        what = "Nodes with neither parents nor children"
        yield from _listing(taxonomy, _isolated(taxonomy), "warning", "isolated", what)


def _single_children(taxonomy: Taxonomy) -> Iterator[Finding]:
    what = "Nodes with a single child (a chain, which could be one node)"
    single = np.flatnonzero(taxonomy.n_children == 1)
    yield from _listing(taxonomy, single, "note", "single_child", what)


def _wide_families(taxonomy: Taxonomy) -> Iterator[Finding]:
    what = f"Nodes with more than {WIDE:,} children"
    yield from _listing(taxonomy, np.flatnonzero(taxonomy.n_children > WIDE), "note", "wide", what)


def _missing_titles(taxonomy: Taxonomy) -> Iterator[Finding]:
    """Nodes without a title; where ids are paths that end in the title, the others have none."""
    if any(not str(name).endswith(title) for name, title in taxonomy.titles.items()):
        missing = [v for v, name in enumerate(taxonomy.nodes) if name not in taxonomy.titles]
        what = "Nodes without a title, where others have one"
        yield from _listing(taxonomy, missing, "note", "missing_title", what)


def _listing(
    taxonomy: Taxonomy, numbers: Iterable[int], level: str, code: str, what: str
) -> Iterator[Finding]:
    numbers = list(map(int, numbers))
    if numbers:
        message = _message(what, (_show(taxonomy, v) for v in numbers), len(numbers))
        yield Finding(level, code, message, taxonomy.names(numbers))


def _show(taxonomy: Taxonomy, v: int) -> str:
    name = taxonomy.nodes[v]
    title = taxonomy.titles.get(name)
    return shorten(name) if title is None else f"{shorten(name)} ({shorten(title)})"


def _message(what: str, shown: Iterable[str], total: int) -> str:
    """What was found, how often, and a few examples."""
    few = list(islice(shown, _EXAMPLES))
    more = [f"{total - len(few):,} more"] if total > len(few) else []
    return f"{what}: {total:,} ({', '.join(few + more)})."
