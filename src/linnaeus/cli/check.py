"""``linnaeus check``: everything that is wrong or doubtful with data, at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import Data, Json, Quiet, TaxonomyFile, option, reads
from linnaeus.cli.output import print_json

if TYPE_CHECKING:
    from linnaeus.workflow.checking import Checked


@reads
def check(
    data: Data,
    write: Annotated[bool, option("check.write")] = False,
    html: Annotated[Path | None, option("check.html")] = None,
    taxonomy: TaxonomyFile = None,
    json: Json = False,
    quiet: Quiet = False,
    options: Any = None,
) -> None:
    """Check DATA (a folder, a zip or one file) before you train on it.

    Lists how the data were read, rows that cannot be read, labels that the taxonomy lacks with
    the nearest it has, rows without text or label, copies, classes with one row, mixed
    languages, texts that name their label.

    [bold]linnaeus check books.xlsx --write[/bold] also keeps in collection.toml what was found
    out about the table, so that the next commands need no options.
    """
    from linnaeus import workflow

    workflow.check_arguments(data)
    found = workflow.check(data, taxonomy=taxonomy, options=options, write=write)
    if html is not None:
        from linnaeus.report.check_page import write_check

        write_check(found.to_dict(), html)
    if json:
        print_json(found.to_dict())
    elif not quiet:
        again = "" if taxonomy is None or write else f" --taxonomy {taxonomy}"
        _present(found, html, f"linnaeus train {data}{again} -o MODEL")


def _present(found: Checked, html: Path | None, next_command: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    parts = ", ".join(f"{name} {n:,} rows" for name, n in found.parts.items())
    tax = found.taxonomy
    shape = f"a {tax.kind} of {len(tax):,} nodes, {len(tax.leaves):,} leaves"
    shape = shape if tax.edges or tax.related else f"{len(tax):,} labels without a hierarchy"
    console.print(f"{found.path}: {parts}; {shape}", markup=False)
    console.print(found.verdict)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name, justify in (("", "left"), ("what", "left"), ("part", "left"), ("rows", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("finding", overflow="fold")
    for finding in found.findings:
        mark = Text("!", style="bold red") if finding.level == "warning" else Text("·")
        rows = f" Rows {', '.join(map(str, finding.rows[:8]))}" if finding.rows else ""
        more = ", ..." if len(finding.rows) > 8 else "." if rows else ""
        count = f"{finding.count:,}" if finding.count else ""
        text = Text(f"{finding.message}{rows}{more}")
        table.add_row(mark, finding.title, finding.part or "", count, text)
    console.print(table if found.findings else "No problems found.")
    for what, file in (("How to read it is kept", found.written), ("The page is", html)):
        if file is not None:
            console.print(f"{what} in {file}.", markup=False, soft_wrap=True)
    console.print(f"Next: {next_command}", markup=False, soft_wrap=True)
