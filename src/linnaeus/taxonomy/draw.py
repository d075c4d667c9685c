"""A taxonomy as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy


def lines(
    taxonomy: Taxonomy,
    root: Any = None,
    max_depth: int | None = None,
    max_children: int | None = None,
    marks: Mapping[Any, str] | None = None,
    ids: bool = True,
) -> Iterator[str]:
    """One line a node, drawn as a tree.

    root : draw only this node and what is below it
    max_depth, max_children : cut deeper levels and wider families, saying how much is left out
    marks : {name: text} written behind a node
    ids : write the id behind a title that differs from it
    """
    seen: set[int] = set()
    tops = taxonomy.root_numbers.tolist() if root is None else [taxonomy.index(root)]
    stack = [(v, "", "", 0) for v in reversed(tops)]
    while stack:
        v, lead, below, depth = stack.pop()
        if v < 0:
            yield f"{lead}... {-v} more"
            continue
        name = taxonomy.nodes[v]
        repeated = v in seen and taxonomy.n_children[v] > 0
        too_deep = max_depth is not None and depth >= max_depth and taxonomy.n_children[v] > 0
        mark = f"  {marks[name]}" if marks and name in marks else ""
        if repeated:
            mark = f" (see above){mark}"
        elif too_deep:
            mark = f"{mark} ({len(taxonomy.descendants(name)) - 1} below)"
        yield f"{lead}{_caption(taxonomy, name, ids)}{mark}"
        seen.add(v)
        children = (
            [] if repeated or too_deep else taxonomy.numbers(taxonomy.children(name)).tolist()
        )
        left = len(children) - max_children if max_children is not None else 0
        if left > 0:
            children = children[:max_children]
            stack.append((-left, f"{below}└── ", "", depth + 1))
        for i, c in enumerate(reversed(children)):
            last = i == 0 and left <= 0
            branch, rail = ("└── ", "    ") if last else ("├── ", "│   ")
            stack.append((c, below + branch, below + rail, depth + 1))


def _caption(taxonomy: Taxonomy, name: Any, ids: bool) -> str:
    title = taxonomy.title(name)
    return f"{title} [{name}]" if ids and title != str(name) else title
