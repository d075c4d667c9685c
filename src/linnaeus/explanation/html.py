"""Explanations as pages: self-contained, without scripts, fit for printing.

Colours go from red (against) over white to green (for), as strong as the contribution relative to
the largest of its node; signs and numbers say the same without colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from linnaeus.explanation.explain import Explanation, NodeReason, Reason
from linnaeus.explanation.nodes import Learned, NodeExplanation, WeightedFeature
from linnaeus.explanation.spans import Piece

FOR, AGAINST = "34, 139, 84", "205, 62, 50"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; background: #fff; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
section { border-top: 1px solid #d7dde3; break-inside: avoid-page; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { text-align: right; padding: .15rem .7rem; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, .left { text-align: left; }
thead th { border-bottom: 1px solid #9aa7b4; }
.text { white-space: pre-wrap; background: #f7f9fa; padding: .6rem .8rem; border-radius: 4px; }
.text span { border-radius: 2px; } .muted { color: #5c6b7a; } .off { color: #8a3a33; }
"""


def explanation_html(found: Explanation) -> str:
    """A page that says why an example got its labels.

    Parameters
    ----------
    found : Explanation
        What `explain` gave.

    Returns
    -------
    str
    """
    return _page(f"Why {_labels(found)}?", _body(found))


def explanation_fragment(found: Explanation) -> str:
    """The same as a part of a page, such as a notebook."""
    return f'<div class="linnaeus"><style>{_scoped(STYLE)}</style>{"".join(_body(found))}</div>'


def _scoped(style: str) -> str:
    """The rules for what is inside the part only; not those of a whole page."""
    rules = [rule.strip() for rule in style.replace("\n", " ").split("}") if rule.strip()]
    inside = [rule for rule in rules if not rule.startswith("body")]
    return " ".join(
        ", ".join(f".linnaeus {s.strip()}" for s in selectors.split(",")) + " {" + rest + "}"
        for selectors, rest in (rule.split("{", 1) for rule in inside)
    )


def _labels(found: Explanation) -> str:
    return ", ".join(map(found.title, found.labels)) or "no label"


def _body(found: Explanation) -> list[str]:
    lines = [
        f"<h1>{escape(_labels(found))}</h1>",
        f'<p class="muted">Method {escape(found.method)}, decision rule {escape(found.rule)}. '
        "Green counts for a node, red against it.</p>",
        *_overview(found.nodes),
        *(line for node in found.ordered() for line in _node_section(node, found)),
    ]
    if found.note:
        lines.append(f'<p class="muted">Where a rest is given, {escape(found.note)}.</p>')
    return lines


def _overview(nodes: Sequence[NodeReason]) -> Iterable[str]:
    """The nodes with their scores, indented by depth."""
    yield '<table><thead><tr><th>node</th><th>score</th><th class="left">decision</th></tr></thead>'
    for node in nodes:
        score = "" if node.score is None else _number(node.score)
        mark = "" if node.decided else ' class="off"'
        yield (
            f'<tr{mark}><td style="padding-left: {0.7 + 1.4 * node.depth:.1f}rem">'
            f"{_sign(node)} {escape(node.title)}</td><td>{score}</td>"
            f'<td class="left">{escape(node.verdict)}</td></tr>'
        )
    yield "</table>"


def _sign(node: NodeReason) -> str:
    return "✓" if node.decided else "✗"


def _node_section(node: NodeReason, found: Explanation) -> Iterable[str]:
    if not node.reasons:
        return
    yield f"<section><h2>{_sign(node)} {escape(node.title)}</h2>"
    for reason in node.reasons:
        yield f'<p class="muted">{escape(summary(found, node, reason))}</p>'
        if reason.pieces:
            yield f'<p class="text">{_coloured(reason.pieces)}</p>'
        yield from _features(found, reason)
    yield "</section>"


def summary(found: Explanation, node: NodeReason, reason: Reason) -> str:
    """A score and its parts in words."""
    parts = [f"{reason.own:+.3f} own"]
    parts += [f"{v:+.3f} from {found.title(name)}" for name, v in reason.inherited.items()]
    if reason.intercept:
        parts.append(f"{reason.intercept:+.3f} constant")
    what = ""
    if reason.given is not None:
        stays = reason.given == node.node
        what = "staying there: " if stays else f"below {found.title(reason.given)}: "
    if reason.against is not None:
        what += f"against {found.title(reason.against)}: "
    rest = f"; the model's score is {reason.score + reason.rest:+.3f}" if reason.rest else ""
    return f"{what}{reason.score:+.3f} = {', '.join(parts)}{rest}"


def _features(found: Explanation, reason: Reason) -> Iterable[str]:
    what = "feature" if found.kind == "features" else "training example"
    hierarchical = bool(reason.inherited)
    more = '<th>own</th><th>inherited</th><th class="left">from</th>' if hierarchical else ""
    yield f"<table><thead><tr><th>{what}</th><th>value</th><th>contribution</th>{more}</tr></thead>"
    largest = max((abs(f.contribution) for f in reason.features), default=1.0)
    for f in reason.features:
        shade = _shade(f.contribution / largest)
        more = _origin(f.own, f.inherited, found.title) if hierarchical else ""
        yield (
            f"<tr><td>{escape(f.name)}</td><td>{f.value:.3g}</td>"
            f"<td{shade}>{_number(f.contribution)}</td>{more}</tr>"
        )
    if reason.n_others > 0:
        others = _number(reason.others)
        yield f"<tr><td>{reason.n_others} others</td><td></td><td>{others}</td></tr>"
    yield "</table>"


def _origin(own: float, inherited: Mapping[Any, float], title: Callable[[Any], str]) -> str:
    """Cells: what is own, what is inherited, and from where."""
    return (
        f"<td>{_number(own)}</td><td>{_number(sum(inherited.values()))}</td>"
        f'<td class="left">{escape(strongest_source(inherited, title))}</td>'
    )


def strongest_source(inherited: Mapping[Any, float], title: Callable[[Any], str]) -> str:
    """The title of the node that most of it is inherited from."""
    if not inherited:
        return ""
    return title(max(inherited, key=lambda name: abs(inherited[name])))


def _coloured(pieces: Sequence[Piece]) -> str:
    largest = max((abs(p.value) for p in pieces if p.value is not None), default=0.0) or 1.0
    out = []
    for piece in pieces:
        if not piece.value:
            out.append(escape(piece.text))
            continue
        shade = _shade(piece.value / largest)
        out.append(f'<span{shade} title="{piece.value:+.3g}">{escape(piece.text)}</span>')
    return "".join(out)


def _shade(strength: float) -> str:
    """A background for a strength from -1 to 1."""
    rgb = FOR if strength > 0 else AGAINST
    return f' style="background: rgba({rgb}, {min(1.0, abs(strength)) * 0.6:.2f})"'


def _number(value: float) -> str:
    return f"{value:+.3f}"


# -- nodes ----------------------------------------------------------------------------------


def node_html(found: NodeExplanation) -> str:
    """A page that says what a model has learned about a node.

    Parameters
    ----------
    found : NodeExplanation
        What `explain_node` gave.

    Returns
    -------
    str
    """
    path = " › ".join(map(found.title_of, found.path))
    rows = "" if found.rows is None else f" {found.rows:,} training rows."
    lines = [
        f"<h1>{escape(found.title)}</h1>",
        f'<p class="muted">{escape(path)}. Method {escape(found.method)}.{rows}</p>',
    ]
    for learned in found.learned:
        lines += _learned(found, learned)
    if not found.learned:
        lines.append("<p>The method has no weights for this node, only for classes below it.</p>")
    for sibling in found.siblings:
        lines += [
            f"<section><h2>Against {escape(sibling.title)}</h2>"
            f'<p class="muted">Similarity of the weights {sibling.similarity:.2f}.</p>',
            *_pairs(found.title, sibling.here, sibling.title, sibling.there),
            "</section>",
        ]
    return _page(found.title, lines)


def _learned(found: NodeExplanation, learned: Learned) -> Iterable[str]:
    title = found.title_of
    below = "" if learned.given is None else f" below {escape(title(learned.given))}"
    parts = [f"own {learned.own_norm:.3g}"]
    parts += [f"from {title(name)} {size:.3g}" for name, size in learned.inherited_norms.items()]
    yield f'<section><p class="muted">Length of the weights{below}: {escape(", ".join(parts))}.</p>'
    headings = (
        ("Speaks for it", learned.positive), ("Speaks against it", learned.negative),
        ("Its difference from what it inherits", learned.own),
    )  # fmt: skip
    for heading, features in headings:
        if features:
            yield f"<h3>{heading}</h3>"
            yield from _weights(features, title)
    yield "</section>"


def _weights(features: Sequence[WeightedFeature], title: Callable[[Any], str]) -> Iterable[str]:
    yield (
        "<table><thead><tr><th>feature</th><th>weight</th><th>own</th><th>inherited</th>"
        '<th class="left">from</th></tr></thead>'
    )
    largest = max(abs(f.weight) for f in features) or 1.0
    for f in features:
        yield (
            f"<tr><td>{escape(f.name)}</td><td{_shade(f.weight / largest)}>{_number(f.weight)}</td>"
            f"{_origin(f.own, f.inherited, title)}</tr>"
        )
    yield "</table>"


def _pairs(
    here: str, mine: Sequence[tuple[str, float]], there: str, theirs: Sequence[tuple[str, float]]
) -> Iterable[str]:
    yield (
        f'<table><thead><tr><th>more {escape(here)}</th><th></th><th class="left">more '
        f"{escape(there)}</th><th></th></tr></thead>"
    )
    for i in range(max(len(mine), len(theirs))):
        a, b = (values[i] if i < len(values) else None for values in (mine, theirs))
        cells = [
            "<td></td><td></td>" if c is None
            else f'<td class="left">{escape(c[0])}</td><td>{_number(c[1])}</td>'
            for c in (a, b)
        ]  # fmt: skip
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table>"


def _page(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
