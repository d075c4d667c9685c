"""A taxonomy as lines of text, and as a tree that folds in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

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


SMALL = 50  # nodes up to which all is unfolded


def folded(taxonomy: Taxonomy, most: int = 1000) -> Iterator[str]:
    """Pieces of HTML without scripts: every inner node unfolds to its children.

    most : nodes to show, those near the roots first; what is left out is counted where it hangs.
        A node with several parents is unfolded once and repeated as a name.
    """
    depth = taxonomy.depth
    shown = set(np.argsort(depth, kind="stable")[:most].tolist())  # parents are before children
    seen: set[int] = set()
    yield f"<div><div><em>{html.escape(repr(taxonomy))}</em></div>"
    stack: list[int | str] = [*reversed(_under(shown, taxonomy.root_numbers.tolist()))]
    while stack:
        v = stack.pop()
        if isinstance(v, str):
            yield v
            continue
        caption = html.escape(_caption(taxonomy, taxonomy.nodes[v], ids=True))
        children = taxonomy.dag.children[slice(*taxonomy.dag.child_ptr[v : v + 2])].tolist()
        if not children or v in seen:
            mark = " <small>(see above)</small>" if children else ""
            yield f'<div style="padding-left:1.1em">{caption}{mark}</div>'
            continue
        seen.add(v)
        unfolded = " open" if len(taxonomy) <= SMALL or depth[v] == 0 else ""
        yield f'<details{unfolded}><summary>{caption}</summary><div style="margin-left:1.1em">'
        stack.append("</div></details>")
        stack += reversed(_under(shown, children))
    yield "</div>"


def _under(shown: set[int], nodes: list[int]) -> list[int | str]:
    """Those of some nodes that are shown, and how many are not."""
    kept: list[int | str] = [v for v in nodes if v in shown]
    left = len(nodes) - len(kept)
    return [*kept, f"<div><small>... {left:,} more</small></div>"] if left else kept


def _caption(taxonomy: Taxonomy, name: Any, ids: bool) -> str:
    """A title with its id, where that says more: not the path that the tree shows."""
    title, text = taxonomy.title(name), str(name)
    path = text.endswith(title) and any(text.startswith(str(p)) for p in taxonomy.parents(name))
    return f"{title} [{name}]" if ids and title != text and not path else title
