"""``linnaeus methods``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

from linnaeus.cli.options import Json, argument
from linnaeus.cli.output import print_json


def methods(
    name: Annotated[str | None, argument("methods.name")] = None, json: Json = False
) -> None:
    """List all methods: when to use them, cost, limits and ranks. Or show one with its parameters.

    If you name no method, linnaeus train picks one that suits your data.
    """
    from linnaeus import workflow

    if name is not None:
        found = workflow.method_parameters(name)
        print_json(found) if json else _present_one(found)
        return
    rows = workflow.list_methods()
    if json:
        print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("method", "when", "cost", "limits"):
        table.add_column(column, overflow="fold")
    table.add_column("rank", no_wrap=True)
    for row in rows:
        table.add_row(row["method"], row["advice"], row["cost"], row["limits"], _ranks(row["rank"]))
    Console(highlight=False).print(table)
    print(
        "\nn rows, s values per row, K classes, d features. rank: mean rank in micro F1 with one / "
        "several\nlabels per row; 1 is best. Parameters of one: linnaeus methods NAME"
    )


def _ranks(rank: dict[str, float]) -> str:
    return " / ".join(f"{rank[k]:.1f}" if k in rank else "-" for k in ("one", "several"))


def _present_one(found: dict[str, object]) -> None:
    print(f"{found['method']} ({found['class']}): {found['advice']}")
    print(f"cost: {found['cost']}\nlimits: {found['limits']}\n\n{found['help']}")
