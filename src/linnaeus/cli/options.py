"""The options that every command takes, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from linnaeus.errors import UserError, shorten

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=2**32 - 1, help="Random seed. The same seed gives the same result."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Number of threads; -1 uses all cores.")]
TaxonomyPath = Annotated[
    Path,
    typer.Argument(
        help="Taxonomy file, or a folder that has a file taxonomy.*; plain or gzip.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="File format, if it cannot be guessed."),
]
Data = Annotated[
    Path,
    typer.Argument(
        help="Folder with taxonomy.* and train.*, valid.*, test.* (jsonl, csv, tsv, svm, parquet "
        "or arff, plain or gzip), or one such file.",
        show_default=False,
    ),
]
ModelPath = Annotated[
    Path,
    typer.Argument(help="Model directory, written by linnaeus train.", show_default=False),
]
Part = Annotated[
    str, typer.Option("--part", help="Part of the folder to use: train, valid or test.")
]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Skip rows that cannot be read, and list them."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help="Method; see `linnaeus methods`. Without it, linnaeus picks one for your data.",
        show_default=False,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", help="Method parameter, name=value. Repeatable."),
]
Features = Annotated[
    str,
    typer.Option(
        "--features",
        help="How examples become numbers: words, characters, spectrum (pieces of sequences) or "
        "table. auto looks at your data.",
    ),
]
FeatureParameters = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        "-f",
        help="Feature parameter, name=value, for example -f ngram_range=[1,2]. Repeatable.",
    ),
]
Rule = Annotated[
    str | None,
    typer.Option(
        "--rule",
        help="Use this decision rule instead of the model's own (this run only): own, argmax, "
        "zero, rcut, scut, instance, set-size, closed, consistent.",
        show_default=False,
    ),
]


def parse_parameters(given: list[str] | None) -> dict[str, Any]:
    """Parameters written as name=value; values are numbers, true, false, null, lists or texts.

    >>> parse_parameters(["C=10", "loss=hinge", "fit_intercept=false"])
    {'C': 10, 'loss': 'hinge', 'fit_intercept': False}
    """
    found = {}
    for text in given or ():
        from linnaeus.model.methods import value_of

        name, sign, value = text.partition("=")
        if not (name and sign):
            raise UserError(
                f"The parameter {shorten(text)} is not written name=value. Write it like C=10."
            )
        found[name] = value_of(value)
    return found
