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
) -> Iterator[str]:
    """One line a node, drawn as a tree.

    root : draw only this node and what is below it
    max_depth, max_children : cut deeper levels and wider families, saying how much is left out
    marks : {name: text} written behind a node
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
        mark = f"  {marks[name]}" if marks and name in marks else ""
        yield f"{lead}{_caption(taxonomy, name)}{' (see above)' if repeated else ''}{mark}"
        seen.add(v)
        children: list[int] = [] if repeated else list(taxonomy.children(name))
        if children and max_depth is not None and depth >= max_depth:
            count = len(taxonomy.descendants(name)) - 1
            yield f"{below}└── ... {count} below"
            continue
        left = len(children) - max_children if max_children is not None else 0
        shown = [taxonomy.index(c) for c in (children[:max_children] if left > 0 else children)]
        if left > 0:
            stack.append((-left, f"{below}└── ", "", depth + 1))
        for i, c in enumerate(reversed(shown)):
            last = i == 0 and left <= 0
            branch, rail = ("└── ", "    ") if last else ("├── ", "│   ")
            stack.append((c, below + branch, below + rail, depth + 1))


def _caption(taxonomy: Taxonomy, name: Any) -> str:
    title = taxonomy.titles.get(name)
    return f"{name}" if title is None or title == str(name) else f"{title} [{name}]"
