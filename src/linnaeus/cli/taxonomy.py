"""``linnaeus taxonomy``: look at a taxonomy, check it, convert it, count it, learn one.

Like all commands these take --seed and --jobs, so that scripts need not tell them apart; only
`learn` is random or slow enough to use them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from linnaeus.cli.options import (
    FeatureParameters,
    Features,
    Format,
    Jobs,
    Json,
    Quiet,
    Seed,
    TaxonomyPath,
    argument,
    option,
    parse_parameters,
)
from linnaeus.cli.output import print_json, print_notes, progress
from linnaeus.errors import UserError

app = typer.Typer(
    help="Show, check, convert or count a taxonomy, or learn one from data.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command()
def show(
    path: TaxonomyPath,
    root: Annotated[str | None, option("taxonomy.show.root")] = None,
    depth: Annotated[int | None, option("taxonomy.show.depth")] = None,
    width: Annotated[int | None, option("taxonomy.show.width")] = None,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Draw a taxonomy as a tree.

    Example: [bold]linnaeus taxonomy show taxonomy.tsv --depth 2 --width 5[/bold]
    """
    from linnaeus import workflow

    taxonomy = workflow.load_taxonomy(path, format)
    node = workflow.find_node(taxonomy, root)
    if not quiet:
        print_notes(taxonomy.notes)
    if json:
        print_json(workflow.taxonomy_as_dict(taxonomy, node))
    else:
        taxonomy.show(node, max_depth=depth, max_children=width)


@app.command()
def check(
    path: TaxonomyPath,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """List what you may want to fix in a taxonomy.

    A file that is not a taxonomy (a cycle, a malformed line) is an error with exit code 1.
    What is only unusual (chains, equal titles among siblings) is listed.
    """
    from linnaeus import workflow

    result = workflow.check_taxonomy(path, format)
    if json:
        print_json(result)
        return
    print(f"{path}: {result['summary']}")
    for sentence in result["read"]:
        print(f"  read: {sentence}")
    for finding in result["findings"]:
        print(f"  {finding['level']}: {finding['message']}")
    count = len(result["findings"])
    print(f"{count} finding{'s' * (count != 1)}." if count else "No problems found.")


@app.command()
def convert(
    path: TaxonomyPath,
    target: Annotated[Path, argument("taxonomy.convert.target")],
    format: Format = None,
    to: Annotated[str | None, option("taxonomy.convert.to")] = None,
    drop_root: Annotated[bool, option("taxonomy.convert.drop_root")] = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Read a taxonomy in one format and write it in another.

    Example: [bold]linnaeus taxonomy convert go.obo taxonomy.tsv[/bold]
    """
    from linnaeus import workflow

    result = workflow.convert_taxonomy(path, target, format, to, drop_root=drop_root)
    if json:
        print_json(result)
    elif not quiet:
        print_notes(result["notes"])
        print(f"Wrote {result['nodes']:,} nodes and {result['edges']:,} edges to {target}.")


@app.command()
def stats(
    path: TaxonomyPath,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Count the nodes, edges, levels and families of a taxonomy."""
    from linnaeus import workflow

    result = workflow.taxonomy_stats(path, format)
    if json:
        print_json(result)
        return
    width = max(map(len, result))
    for name, value in result.items():
        print(f"{name.replace('_', ' '):<{width}}  {_number(value)}")


SMALL = 80  # a tree with so many nodes is drawn


@app.command()
def learn(
    data: Annotated[Path, argument("taxonomy.learn.data")],
    output: Annotated[Path, option("taxonomy.learn.output")],
    method: Annotated[str, option("taxonomy.learn.method")] = "auto",
    levels: Annotated[str | None, option("taxonomy.learn.levels")] = None,
    branching: Annotated[int | None, option("taxonomy.learn.branching")] = None,
    metric: Annotated[str, option("taxonomy.learn.metric")] = "euclidean",
    features: Features = "auto",
    feature: FeatureParameters = None,
    to: Annotated[str | None, option("taxonomy.learn.to")] = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Learn a taxonomy from the training part of a collection.

    Classes with similar examples are put into one cluster.

    Example: [bold]linnaeus taxonomy learn DATA -o learned.tsv --levels 2[/bold]
    """
    from linnaeus import workflow

    options = {"method": method, "metric": metric, "branching": branching, "random_state": seed}
    with progress(quiet or json) as step:
        result = workflow.learn_taxonomy(
            data, output, to, step, jobs, features, parse_parameters(feature),
            levels=_levels(levels), **options,
        )  # fmt: skip
    if json:
        print_json(result.summary)
    elif not quiet:
        _present(result)


def _levels(text: str | None) -> Any:
    """A number of levels, a list of thresholds, or a word."""
    if text is None or text == "links":
        return text
    try:
        return int(text) if text.isdigit() else [float(part) for part in text.split(",")]
    except ValueError:
        raise UserError(
            f"--levels is {text!r}. Write a number of levels, thresholds such as 0.9,1.1, or links."
        ) from None


def _present(result: Any) -> None:
    """The summary for a terminal, with the tree where it is small."""
    summary, sizes = result.summary, result.summary["cluster_sizes"]
    print(
        f"{summary['classes']:,} classes in {len(sizes):,} clusters of {sizes[-1]:,} to "
        f"{sizes[0]:,}, learned from {summary['rows']:,} rows."
    )
    print(f"Nodes of each level: {' '.join(f'{n:,}' for n in summary['levels'])}")
    if summary["agreement"] is not None:
        print(
            f"Agreement with the given taxonomy: {summary['agreement']:.3f} (adjusted Rand index "
            f"of the families: 1 the same, 0 as by chance)"
        )
    if len(result.taxonomy) <= SMALL:
        result.taxonomy.show()
    print(f"Wrote {summary['path']}.")


def _number(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_number, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
