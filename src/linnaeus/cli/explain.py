"""``linnaeus explain``: why a text or a row got its labels, and what a model knows of a node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import Jobs, Json, ModelPath, Part, Quiet, Rule, Seed, option
from linnaeus.cli.output import print_json
from linnaeus.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as Coloured

    from linnaeus.explanation import Explanation, NodeExplanation, NodeReason, Piece, Reason
    from linnaeus.explanation.nodes import Learned

MARKED = 12  # words of a text that are marked where there are no colours


def explain(
    model: ModelPath,
    text: Annotated[str | None, option("explain.text")] = None,
    data: Annotated[Path | None, option("explain.data")] = None,
    row: Annotated[int | None, option("explain.row")] = None,
    id: Annotated[str | None, option("explain.id")] = None,
    part: Part = "test",
    node: Annotated[str | None, option("explain.node")] = None,
    why_not: Annotated[list[str] | None, option("explain.why_not")] = None,
    top: Annotated[int | None, option("explain.top")] = None,
    rule: Rule = None,
    html: Annotated[Path | None, option("explain.html")] = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Show why MODEL gives a text its labels: which words moved each node on the way down.

    The score of a node is the sum of what every feature adds. Part of that is the node's own;
    in hierarchical methods the rest is inherited: what the node shares with all nodes below
    the same ancestor. Green words count for a node, red words against it.

    A text, and why it is not something else:
    [bold]linnaeus explain model --text "The striker scored twice" --why-not tennis[/bold]

    A row of a file, as a page to share:
    [bold]linnaeus explain model --data test.csv --row 17 --html why.html[/bold]

    What the model has learned about a node, compared with its parent and its siblings:
    [bold]linnaeus explain model --node football[/bold]
    """
    from linnaeus import workflow

    workflow.check_arguments(data, rule=rule, model=model)
    from linnaeus.workflow import explaining

    if node is not None:
        if text is not None or data is not None or why_not:
            raise UserError("--node cannot go with --text, --data or --why-not. Leave them out.")
        learned = explaining.explain_label(model, node, top=top or 15, html=html)
        print_json(learned.to_dict()) if json else _present_node(learned)
        return
    if text is None and data is None:
        raise UserError("There is nothing to explain. Give --text, --data with --row, or --node.")
    if data is None and (row is not None or id is not None):
        raise UserError("--row and --id name a row of a data file. Give it with --data.")
    place = None if data is None else explaining.Place(data, row, id, part)
    found = explaining.explain(
        model, sys.stdin.read() if text == "-" else text, place=place, why_not=why_not or (),
        top=top or 10, rule=rule, html=html,
    )  # fmt: skip
    print_json(found.to_dict()) if json else _present(found)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


# -- an example -----------------------------------------------------------------------------


def _present(found: Explanation) -> None:
    from rich.text import Text as Coloured

    console = _console()
    labels = ", ".join(map(found.title, found.labels)) or "no label"
    console.print(Coloured.assemble((labels, "bold"), f"  ({found.method}, rule {found.rule})"))
    for node in found.nodes:
        console.print(_line(node))
    for node in found.ordered():
        for reason in node.reasons:
            _present_reason(console, found, node, reason)
    if found.note and any(reason.rest for node in found.nodes for reason in node.reasons):
        console.print(f"\nThe model's own score can differ: {found.note}.", style="dim")


def _line(node: NodeReason) -> Coloured:
    """A node in the tree of what was decided."""
    from rich.text import Text as Coloured

    score = "" if node.score is None else f"  {node.score:+.3f}"
    return Coloured.assemble(
        "  " * (node.depth + 1),
        ("✓ ", "green") if node.decided else ("✗ ", "red"),
        (node.title, "bold" if node.label else ""),
        score,
        (f"  {node.verdict}", "dim"),
    )


def _present_reason(console: Console, found: Explanation, node: NodeReason, reason: Reason) -> None:
    """A score taken apart; the text is shown for labels and nodes asked for, not for each node."""
    from rich.text import Text as Coloured

    from linnaeus.explanation.html import summary

    console.print()
    console.print(Coloured.assemble((node.title, "bold"), "  ", summary(found, node, reason)))
    if reason.pieces and (node.label or node.asked):
        console.print(_coloured(reason.pieces, console.color_system is not None))
    if reason.features:
        console.print(_table(found, reason))


def _coloured(pieces: Sequence[Piece], colours: bool) -> Coloured:
    """A text whose words are green or red; without colours the strongest have signs."""
    from rich.text import Text as Coloured

    sizes = sorted((abs(p.value) for p in pieces if p.value), reverse=True)
    largest = sizes[0] if sizes else 1.0
    least = sizes[min(MARKED, len(sizes)) - 1] if sizes else 0.0
    out = Coloured()
    for piece in pieces:
        value = piece.value or 0.0
        if not value:
            out.append(piece.text)
        elif colours:
            out.append(piece.text, _style(value / largest))
        elif abs(value) >= least:
            out.append(f"[{'+' if value > 0 else '-'}{piece.text}]")
        else:
            out.append(piece.text)
    return out


def _style(strength: float) -> str:
    """A colour for a strength from -1 to 1."""
    colour = "green" if strength > 0 else "red"
    if abs(strength) > 0.5:
        return f"bold {colour} reverse"
    return f"bold {colour}" if abs(strength) > 0.15 else colour


def _table(found: Explanation, reason: Reason) -> Table:
    what = "feature" if found.kind == "features" else "training example"
    hierarchical = any(f.inherited for f in reason.features)
    table = _columns(what, "value", "adds", *(("own", "inherited", "from") if hierarchical else ()))
    for f in reason.features:
        shares = _shares(f, found.title) if hierarchical else ()
        table.add_row(f.name, f"{f.value:.3g}", _signed(f.contribution), *shares)
    if reason.n_others > 0:
        table.add_row(f"{reason.n_others} others", "", _signed(reason.others))
    return table


def _shares(feature: Any, title: Callable[[Any], str]) -> tuple[Any, ...]:
    """What is a node's own of a feature, what it inherits, and from whom most."""
    from linnaeus.explanation.html import strongest_source

    inherited = sum(feature.inherited.values())
    return _signed(feature.own), _signed(inherited), strongest_source(feature.inherited, title)


def _columns(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        left = name == "from" or name.startswith("more ")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    return table


def _signed(value: float) -> Coloured:
    from rich.text import Text as Coloured

    return Coloured(f"{value:+.3f}", "green" if value > 0 else "red" if value < 0 else "")


# -- a node ---------------------------------------------------------------------------------


def _present_node(found: NodeExplanation) -> None:
    from rich.text import Text as Coloured

    console = _console()
    rows = "" if found.rows is None else f"  ({found.rows:,} training rows)"
    path = " > ".join(map(found.title_of, found.path))
    console.print(Coloured.assemble((found.title, "bold"), rows, (f"\n{path}", "dim")))
    if not found.learned:
        console.print("The method has no weights for this node, only for classes below it.")
    for learned in found.learned:
        _present_learned(console, found, learned)
    for sibling in found.siblings:
        console.print()
        table = _columns(f"more {found.title}", "", f"more {sibling.title}", " ")
        for i in range(max(len(sibling.here), len(sibling.there))):
            cells: list[Any] = []
            for values in (sibling.here, sibling.there):
                name, value = values[i] if i < len(values) else ("", None)
                cells += [name, "" if value is None else f"{value:.3f}"]
            table.add_row(*cells)
        console.print(table)
    if found.n_siblings > len(found.siblings) > 0:
        console.print(f"\nThe {len(found.siblings)} most similar of {found.n_siblings} siblings.")


def _present_learned(console: Console, found: NodeExplanation, learned: Learned) -> None:
    below = "" if learned.given is None else f" below {found.title_of(learned.given)}"
    hierarchical = bool(learned.inherited_norms)
    kinds = [("counts for it", learned.positive), ("counts against it", learned.negative)]
    if hierarchical:
        kinds.append(("its own part, without what it inherits", learned.own))
    for heading, features in kinds:
        if not features:
            continue
        console.print()
        more = ("own", "inherited", "from") if hierarchical else ()
        table = _columns(heading + below, "weight", *more)
        for f in features:
            shares = _shares(f, found.title_of) if hierarchical else ()
            table.add_row(f.name, _signed(f.weight), *shares)
        console.print(table)
