"""``linnaeus train``: from a folder to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import (
    Address,
    Backend,
    Budget,
    CheckpointFolder,
    Data,
    FeatureParameters,
    Features,
    Jobs,
    Json,
    Method,
    NoValid,
    Parameters,
    Quiet,
    Seed,
    SkipBad,
    TaxonomyFile,
    option,
    parse_parameters,
    reads,
)
from linnaeus.cli.output import copies_told, print_json, print_notes, print_skipped, progress

if TYPE_CHECKING:
    from linnaeus.workflow import Trained


@reads
def train(
    data: Data,
    output: Annotated[Path, option("train.output")],
    method: Method = None,
    parameter: Parameters = None,
    features: Features = "auto",
    feature: FeatureParameters = None,
    rule: Annotated[str, option("train.rule")] = "auto",
    folds: Annotated[int | None, option("train.folds")] = None,
    budget: Budget = 60,
    no_valid: NoValid = False,
    taxonomy: TaxonomyFile = None,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    backend: Backend = None,
    address: Address = None,
    checkpoint: CheckpointFolder = None,
    memory: Annotated[str | None, option("shared.memory")] = None,
    options: Any = None,
) -> None:
    """Learn from the training part of DATA and write a model.

    linnaeus tries some methods and decision rules on held-out rows of your data, takes the best,
    and explains each choice: [bold]linnaeus train DATA -o model[/bold]
    The held-out rows are those of the valid part, if there is one, else folds. The model learns
    from all of them in the end.

    Or choose yourself:
    [bold]linnaeus train DATA -o model --method rr-svm -p C=10 -f ngram_range=[1,2] --rule scut
    [/bold]

    An existing model is replaced only when the new one is complete.
    """
    from linnaeus import workflow

    own = parse_parameters(parameter) | ({} if memory is None else {"memory": memory})
    with progress(quiet or json) as step:
        done = workflow.train(
            data, output, method, own, taxonomy=taxonomy,
            where=workflow.Where(backend, address, checkpoint), limit=_bytes(memory),
            features=features, feature_parameters=parse_parameters(feature), rule=rule,
            folds=folds, valid=not no_valid, budget=budget, skip_bad=skip_bad, options=options,
            seed=seed, jobs=jobs, step=step,
        )  # fmt: skip
    print_skipped(done.skipped)
    if not (quiet or json):
        print_notes(done.notes)
    if json:
        print_json(done.to_dict())
    else:
        present(done)


def _bytes(memory: str | None) -> int | None:
    """A size in bytes; nothing heavy is loaded where none is given."""
    if memory is None:
        return None
    from linnaeus.execution.memory import size_of

    return size_of(memory)


def present(done: Trained) -> None:
    """What was chosen and why, and what to do next."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    shape = done.model.taxonomy.kind
    about, data = done.model.about, done.model.about["data"]
    console.print(
        f"[bold]Data[/bold]      {data['rows']:,} rows, {data['features']:,} features, "
        f"{data['classes']:,} classes in a {'flat list' if shape == 'flat' else shape} of "
        f"{data['nodes']:,} nodes, {data['labels_per_row']:.2f} labels per row"
    )
    if data["copies"]:
        told = copies_told(data["copies"])
        console.print(f"          {told} of others; where rows are held out, copies stay together")
    line(console, "Features", about["features"]["kind"], about["features"]["why"])
    line(console, "Method", done.setting, f"{about['why']}{_gap(about['certificate'])}")
    rule = about["rule"]
    line(console, "Rule", rule["name"], rule["why"].removeprefix(f"{rule['name']}: "))
    seconds = ", ".join(f"{what} {t:.1f} s" for what, t in done.seconds.items())
    path = escape(done.path)
    console.print(f"[bold]Model[/bold]     {path} ({seconds})")
    console.print(f"Next: [bold]linnaeus evaluate {path} DATA[/bold]")


def line(console: Any, what: str, value: str, why: str) -> None:
    """A choice and its reason."""
    from rich.markup import escape

    console.print(f"[bold]{what:<9}[/bold] {escape(value)}: {escape(why)}")


def _gap(certificate: dict[str, float]) -> str:
    return f"; duality gap {certificate['gap']:.0e}" if "gap" in certificate else ""
