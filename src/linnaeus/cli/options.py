"""The options that every command takes, written once; options.toml says what they are for."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from linnaeus.errors import UserError, shorten


@cache
def described() -> dict[str, Any]:
    """Names, help and limits of the options and arguments, by command."""
    return tomllib.loads(resources.files(__package__).joinpath("options.toml").read_text("utf-8"))


def option(place: str) -> Any:
    """An option of some command, as "train.folds", with all that options.toml says of it."""
    entry = _entry(place)
    return typer.Option(*entry.pop("flags", ()), **entry)


def argument(place: str) -> Any:
    """An argument of some command, with all that options.toml says of it."""
    return typer.Argument(**{"show_default": False} | _entry(place))


def _entry(place: str) -> dict[str, Any]:
    found = described()
    for name in place.split("."):
        found = found[name]
    return dict(found)


Json = Annotated[bool, option("shared.json")]
Quiet = Annotated[bool, option("shared.quiet")]
Seed = Annotated[int, option("shared.seed")]
Jobs = Annotated[int, option("shared.jobs")]
Backend = Annotated[str | None, option("shared.backend")]
Address = Annotated[str | None, option("shared.address")]
CheckpointFolder = Annotated[Path | None, option("shared.checkpoint")]
TaxonomyPath = Annotated[Path, argument("shared.taxonomy_path")]
TaxonomyFile = Annotated[Path | None, option("shared.taxonomy")]
Format = Annotated[str | None, option("shared.format")]
Data = Annotated[Path, argument("shared.data")]
ModelPath = Annotated[Path, argument("shared.model_path")]
Part = Annotated[str, option("shared.part")]
SkipBad = Annotated[bool, option("shared.skip_bad")]
Budget = Annotated[float, option("shared.budget")]
NoValid = Annotated[bool, option("shared.no_valid")]
Method = Annotated[str | None, option("shared.method")]
Parameters = Annotated[list[str] | None, option("shared.parameter")]
Features = Annotated[str, option("shared.features")]
FeatureParameters = Annotated[list[str] | None, option("shared.feature")]
Rule = Annotated[str | None, option("shared.rule")]


READING: dict[str, Any] = {  # how tables are read: what every command that reads rows takes
    "text": Annotated[str | None, option("read.text")],
    "labels": Annotated[str | None, option("read.labels")],
    "levels": Annotated[str | None, option("read.levels")],
    "id": Annotated[str | None, option("read.id")],
    "label_separator": Annotated[str | None, option("read.label_separator")],
    "path_separator": Annotated[str | None, option("read.path_separator")],
    "delimiter": Annotated[str | None, option("read.delimiter")],
    "encoding": Annotated[str | None, option("read.encoding")],
    "sheet": Annotated[str | None, option("read.sheet")],
    "most_bad": Annotated[float | None, option("read.most_bad")],
}


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of reading, which it is given as one dict, `options`."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        asked = {name: given.pop(name) for name in READING}
        command(**given, options={name: v for name, v in asked.items() if v is not None})

    hints = get_type_hints(command, include_extras=True)
    own = [p for p in signature(command).parameters.values() if p.name != "options"]
    own = [p.replace(annotation=hints[p.name], kind=Parameter.KEYWORD_ONLY) for p in own]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in READING.items()
    ]
    run.__annotations__ = {p.name: p.annotation for p in [*own, *more]}
    run.__signature__ = Signature([*own, *more])  # type: ignore[attr-defined]
    return run


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
