"""``linnaeus demo``: the main job, on data that the program makes itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import Jobs, Json, Quiet, Seed, option
from linnaeus.cli.output import print_json, progress

if TYPE_CHECKING:
    from rich.console import Console

    from linnaeus.taxonomy import Taxonomy
    from linnaeus.workflow.demonstrating import DemoResult

STYLES = {"✓": "green", "✗": "red", "○": "yellow"}  # right, wrong, missed


def demo(
    documents: Annotated[int, option("demo.documents")] = 800,
    output: Annotated[Path, option("demo.output")] = Path("linnaeus-demo"),
    no_files: Annotated[bool, option("demo.no_files")] = False,
    spreadsheet: Annotated[Path | None, option("demo.spreadsheet")] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make news stories, compare two methods on them, and show how well it went.

    A newsroom's taxonomy and short stories are invented on the spot. Two methods learn to label
    the stories, and the better one becomes a model that you can try. You need no data and no
    network.

    A table to try the other commands with: [bold]linnaeus demo --spreadsheet stories.xlsx[/bold]
    """
    from linnaeus import workflow

    if spreadsheet is not None:
        rows = workflow.demo_table(spreadsheet, documents, seed)
        if json:
            print_json({"spreadsheet": str(spreadsheet), "rows": rows})
        else:
            print(f"{spreadsheet}: {rows:,} rows\nNext: linnaeus check {spreadsheet}")
        return
    with progress(quiet or json) as step:
        result = workflow.demo(
            documents, max(50, documents // 4), seed, jobs, step, None if no_files else output
        )
    if json:
        print_json(result.to_dict())
    else:
        from rich.console import Console

        present(result, Console(highlight=False, soft_wrap=True))


def present(result: DemoResult, console: Console) -> None:
    """The whole story for a terminal: the data, the comparison, one prediction, what next."""
    from linnaeus.cli.compare import present as present_comparison

    data, test = result.collection, result.collection.part("test")
    console.print(f"[bold]The newsroom[/bold]: {repr(data.taxonomy).strip('<>')}")
    console.print(f"{len(data.part('train'))} stories for training, {len(test)} for testing.\n")
    for root in data.taxonomy.roots:
        console.print(f"  {_family(data.taxonomy, root)}", markup=False)
    console.print(f"\n[bold]Two methods on the same stories[/bold] ({_seconds(result)})")
    present_comparison(result.comparison, None, console)
    console.print(f"\n[bold]How well {result.model.about['method']} did[/bold]")
    console.print(str(result.comparison.ranked[0].report), markup=False)
    console.print("\n[bold]One story[/bold]")
    console.print((test.texts or [])[result.example], markup=False)
    console.print("\n[bold]and where it was put[/bold] (✓ right, ✗ wrong, ○ missed; with scores)")
    for line in _drawing(result):
        style = next((style for mark, style in STYLES.items() if f"  {mark}" in line), None)
        console.print(line, style=style, markup=False)
    if result.folder is not None:
        _present_files(result.folder, console)


def _present_files(folder: Path, console: Console) -> None:
    """Where things are, and what to try with them."""
    report = folder / "report.html"
    missing = r'For an HTML report: pip install "linnaeus\[report]", then linnaeus demo again.'
    told = f"The report is in [bold]{report}[/bold]." if report.is_file() else missing
    console.print(f"\n{told} What to try next:")
    for command in (
        f'linnaeus explain {folder / "model"} --text "Rates rose as banks reported losses"',
        f"linnaeus evaluate {folder / 'model'} {folder / 'data'} --sweep",
        f"linnaeus compare {folder / 'data'} --methods svm,rr-svm,topdown",
        "linnaeus train DATA -o model",
    ):
        console.print(f"  {command}", markup=False)


def _family(taxonomy: Taxonomy, root: Any) -> str:
    """A node with the first of its children."""
    names = [taxonomy.title(child) for child in taxonomy.children(root)]
    more = [f"{len(names) - 4} more"] if len(names) > 4 else []
    return f"{taxonomy.title(root)}: {', '.join(names[:4] + more)}"


def _seconds(result: DemoResult) -> str:
    return ", ".join(f"{what} {t:.1f} s" for what, t in result.seconds.items())


def _drawing(result: DemoResult) -> list[str]:
    """The part of the taxonomy that the example touches, with a mark at every node."""
    from linnaeus.taxonomy import draw
    from linnaeus.workflow.demonstrating import marks

    taxonomy, i = result.collection.taxonomy, result.example
    labels = result.collection.part("test").labels[i]
    truth = set(taxonomy.decode(taxonomy.closure([labels]))[0])
    found = set(result.predicted[i])
    told = {
        v: f"{mark} {result.scores[i, taxonomy.index(v)]:.2f}"
        for v, mark in marks(truth, found).items()
    }
    part = taxonomy.restrict(sorted(truth | found, key=taxonomy.index))
    return list(draw.lines(part, marks=told, ids=False))
