"""``linnaeus demo``: the main job, on data that the program makes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from linnaeus.cli.options import Jobs, Json, Quiet, Seed
from linnaeus.cli.output import print_json, progress

if TYPE_CHECKING:
    from rich.console import Console

    from linnaeus.taxonomy import Taxonomy
    from linnaeus.workflow import DemoResult

STYLES = {"✓": "green", "✗": "red", "○": "yellow"}  # right, wrong, missed


def demo(
    documents: Annotated[
        int, typer.Option("--documents", "-n", min=50, help="Training documents to make.")
    ] = 800,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make news stories, learn to classify them, and show how well it went.

    A newsroom's taxonomy and short stories are made up on the spot; a linear model per node
    scores each story, and the best label set that respects the hierarchy is chosen. No file
    and no network are needed.
    """
    from linnaeus import workflow

    with progress(quiet or json) as step:
        result = workflow.demo(documents, max(50, documents // 4), seed, jobs, step)
    if json:
        print_json(_as_dict(result))
    else:
        from rich.console import Console

        present(result, Console(highlight=False, soft_wrap=True))


def _as_dict(result: DemoResult) -> dict[str, Any]:
    test = result.collection.part("test")
    return {
        **result.report.to_dict(),
        "seconds": result.seconds,
        "example": {
            "text": (test.texts or [])[result.example],
            "labels": test.labels[result.example],
            "predicted": result.predicted[result.example],
        },
    }


def present(result: DemoResult, console: Console) -> None:
    """The whole story for a terminal: the data, the quality, one prediction."""
    data, test = result.collection, result.collection.part("test")
    console.print(f"[bold]The newsroom[/bold]: {repr(data.taxonomy).strip('<>')}")
    console.print(
        f"{len(data.part('train'))} stories to learn from, {len(test)} to be judged by.\n"
    )
    for root in data.taxonomy.roots:
        console.print(f"  {_family(data.taxonomy, root)}", markup=False)
    console.print(f"\n[bold]How well it went[/bold] ({_seconds(result)})")
    console.print(str(result.report), markup=False)
    console.print("\n[bold]One story[/bold]")
    console.print((test.texts or [])[result.example], markup=False)
    console.print("\n[bold]and where it was put[/bold] (✓ right, ✗ wrong, ○ missed; with scores)")
    for line in _drawing(result):
        style = next((style for mark, style in STYLES.items() if f"  {mark}" in line), None)
        console.print(line, style=style, markup=False)
    console.print("\nNext: [bold]linnaeus taxonomy show FILE[/bold] with a taxonomy of yours.")


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

    taxonomy, i = result.collection.taxonomy, result.example
    labels = result.collection.part("test").labels[i]
    truth = set(taxonomy.decode(taxonomy.closure([labels]))[0])
    found = set(result.predicted[i])
    marks = {}
    for v in truth | found:
        mark = "○" if v not in found else "✓" if v in truth else "✗"
        marks[v] = f"{mark} {result.scores[i, taxonomy.index(v)]:.2f}"
    part = taxonomy.restrict(sorted(truth | found, key=taxonomy.index))
    return list(draw.lines(part, marks=marks, ids=False))
