"""Edges without those that close a cycle.

The hierarchy of the large Wikipedia task has cycles, which no taxonomy can have. A depth-first walk
goes down from the nodes in the order in which they occur, those without parents first; an edge to
a node that is still being walked leads back up, and is removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

Edge = tuple[str, str]


def without_cycles(edges: Iterable[Edge]) -> tuple[list[Edge], list[Edge]]:
    """The edges that stay, in their order, and those that led back."""
    edges = list(dict.fromkeys(edges))
    children: dict[str, list[str]] = {}
    below = set()
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
        below.add(child)
    tops = [node for node in children if node not in below]
    done: set[str] = set()
    back: set[Edge] = set()
    for start in chain(tops, children):
        if start not in done:
            back |= _walk(start, children, done)
    return [e for e in edges if e not in back], [e for e in edges if e in back]


def _walk(start: str, children: dict[str, list[str]], done: set[str]) -> set[Edge]:
    """Walk everything below a node that is not done; the edges that lead back up."""
    back: set[Edge] = set()
    open_nodes = {start}
    stack = [(start, iter(children.get(start, ())))]
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            stack.pop()
            open_nodes.discard(node)
            done.add(node)
        elif child in open_nodes:
            back.add((node, child))
        elif child not in done:
            open_nodes.add(child)
            stack.append((child, iter(children.get(child, ()))))
    return back
