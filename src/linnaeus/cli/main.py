"""The ``linnaeus`` command: one exception type, caught once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer

from linnaeus import __version__
from linnaeus.cli import (
    check,
    compare,
    compile_,
    demo,
    evaluate,
    explain,
    import_,
    methods,
    monitor,
    predict,
    rule,
    split,
    taxonomy,
    train,
    tune,
)
from linnaeus.cli.output import print_error, tell_of_compiling
from linnaeus.errors import UserError

app = typer.Typer(
    name="linnaeus",
    help="Put things into taxonomies: documents, tables or sequences into a tree, a DAG or a "
    "graph of labels.\n\n"
    "Start with [bold]linnaeus demo[/bold], which needs no data. With your own data: "
    "[bold]linnaeus train DATA -o model[/bold], then evaluate, predict and explain.",
    epilog="Every command has its own --help. Results go to standard output, progress to "
    "standard error; exit code 0 means success, 1 a mistake in the input, 130 Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("demo")(demo.demo)
app.command("check")(check.check)
app.command("split")(split.split)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("monitor")(monitor.monitor)
app.command("explain")(explain.explain)
app.command("compare")(compare.compare)
app.command("tune")(tune.tune)
app.command("rule")(rule.rule)
app.command("methods")(methods.methods)
app.command("import")(import_.import_)
app.add_typer(taxonomy.app, name="taxonomy")
app.command("compile", rich_help_panel="For installations")(compile_.compile_)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"linnaeus {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What belongs to no command."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0, 1 for a user's error (one message), 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a sign shows another
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    tell_of_compiling(given)
    try:
        app(args=given)
    except (UserError, OSError) as error:
        print_error(error.shell if isinstance(error, UserError) else str(error))
        sys.exit(1)
    except KeyboardInterrupt as stop:
        if str(stop):  # of a fit that has kept what it did
            print_error(str(stop))
        sys.exit(130)
    except SystemExit as stop:
        sys.exit(1 if stop.code == 2 else stop.code)  # 2 is a command typed wrong: user's error


if __name__ == "__main__":
    run()
