"""The options that every command takes, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same result."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads to use; -1 for all cores.")]
TaxonomyPath = Annotated[
    Path,
    typer.Argument(
        help="A taxonomy file, or a collection folder that holds taxonomy.*; plain or gzip.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="The file's format, where it cannot be guessed."),
]
Data = Annotated[
    Path,
    typer.Argument(
        help="A collection folder with taxonomy.* and train.*, valid.*, test.* (jsonl, csv, tsv, "
        "svm, parquet or arff, plain or gzip); or one such file.",
        show_default=False,
    ),
]
ModelPath = Annotated[
    Path,
    typer.Argument(help="A model directory, as linnaeus train writes it.", show_default=False),
]
Part = Annotated[str, typer.Option("--part", help="Which part of a folder: train, valid or test.")]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Leave out rows that cannot be read, and say which."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help="The method; linnaeus methods lists them. If not given, one that suits the data.",
        show_default=False,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", "-p", help="A parameter of the method, name=value; may be given again."
    ),
]
Features = Annotated[
    str,
    typer.Option(
        "--features",
        help="What is made of the examples: words, characters, spectrum (pieces of sequences), "
        "table; auto looks at them.",
    ),
]
FeatureParameters = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        "-f",
        help="A parameter of the features, name=value, such as -f ngram_range=[1,2].",
    ),
]
Rule = Annotated[
    str | None,
    typer.Option(
        "--rule",
        help="Another decision rule for this once: own, argmax, zero, rcut, scut, instance, "
        "set-size, closed, consistent.",
        show_default=False,
    ),
]
