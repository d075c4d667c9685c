"""``linnaeus rule``: another decision rule for a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from linnaeus.cli.options import Json, ModelPath, argument, option, parse_parameters
from linnaeus.cli.output import print_json


def rule(
    model: ModelPath,
    name: Annotated[str | None, argument("rule.name")] = None,
    output: Annotated[Path | None, option("rule.output")] = None,
    data: Annotated[Path | None, option("rule.data")] = None,
    part: Annotated[str, option("rule.part")] = "valid",
    parameter: Annotated[list[str] | None, option("rule.parameter")] = None,
    json: Json = False,
) -> None:
    """Change how MODEL turns scores into label sets, without training again.

    [bold]linnaeus rule model[/bold] lists the rules with their quality on held-out scores;
    [bold]linnaeus rule model scut[/bold] switches to one.
    """
    from linnaeus import workflow

    workflow.check_arguments(data, rule=name, model=model)
    if name is None:
        rows = workflow.list_rules(model)
        print_json(rows) if json else _present(rows)
        return
    changed = workflow.change_rule(
        model, name, output, data=data, part=part, parameters=parse_parameters(parameter)
    )
    where = str(model if output is None else output)
    if json:
        print_json({"path": where, "rule": changed.about["rule"]})
    else:
        print(f"{where} now uses the rule {name}.")


def _present(rows: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("", "rule", "hierarchical F1", "micro F1", "labels a row", "what it does"):
        table.add_column(column, overflow="fold")
    for row in rows:
        values = [_number(row.get(k)) for k in ("hierarchical_f1", "micro_f1", "labels_per_row")]
        table.add_row("→" if row["chosen"] else "", str(row["rule"]), *values, str(row["advice"]))
    Console(highlight=False).print(table)


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else ""
