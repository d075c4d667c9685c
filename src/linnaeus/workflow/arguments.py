"""What can be wrong with a command, seen before anything heavy is loaded.

The tables of methods, their parameters and rules are read from the source of the modules that have
them, without running these: a typing error is answered at once. What cannot be seen so is left to
the work itself, which checks all again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.files import check_exists, check_folder
from linnaeus.model.methods import METHODS, check_method, check_rule_name, check_settings


def check_arguments(
    data: Path | None = None,
    target: Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    rule: str | None = None,
    model: Path | None = None,
) -> None:
    """Refuse paths that are not there, and names and values that cannot be.

    target : the folder of a model to write;  model : of one to read
    """
    if isinstance(data, Path):
        check_exists(data)
    if target is not None:
        check_folder(target)
    if rule not in (None, "auto"):
        known = [*_strings("decisions/named.py", "RULES")]
        if known:
            check_rule_name(str(rule), known)
    if model is not None:
        from linnaeus.storage.directory import model_folder

        model_folder(model)
    if method is not None:
        check_method(method)
        if takes := _taken(method):
            check_settings(method, takes, parameters or {})
    elif parameters:
        _check_any(parameters)


def _check_any(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that no method has, or whose values no method takes."""
    by_method = {method: takes for method in METHODS if (takes := _taken(method))}
    for name, value in parameters.items():
        having = {m: takes for m, takes in by_method.items() if name in takes}
        if by_method and not having:
            known = sorted({p for takes in by_method.values() for p in takes} - {"taxonomy"})
            raise UserError(
                f"No method has a parameter {shorten(name)}{nearest(name, known)}. Choose a method "
                "first; each has parameters of its own."
            )
        refusals = []
        for method, takes in having.items():
            try:
                check_settings(method, takes, {name: value})
            except UserError as error:
                refusals.append(error)
        if having and len(refusals) == len(having):
            raise refusals[0]


def _taken(method: str) -> dict[str, Any]:
    return _defaults(f"estimators/{method.replace('-', '_')}.py", METHODS[method])


def _body(path: str) -> Iterable[ast.stmt]:
    """What a module of the library consists of; nothing where its source is not installed."""
    source = resources.files("linnaeus").joinpath(*path.split("/"))
    return ast.parse(source.read_text("utf-8")).body if source.is_file() else ()


def _strings(path: str, table: str) -> Iterable[str]:
    """The keys of a dict that a module assigns."""
    for part in _body(path):
        if isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == table:
            keys = part.value.keys if isinstance(part.value, ast.Dict) else []
            yield from (key.value for key in keys if isinstance(key, ast.Constant))  # type: ignore[misc]


def _defaults(path: str, name: str) -> dict[str, Any]:
    """The parameters of a class, and their defaults where these are plain values, else None."""
    for kind in _body(path):
        for part in kind.body if isinstance(kind, ast.ClassDef) and kind.name == name else ():
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                given = part.args
                names = [a.arg for a in (*given.args[1:], *given.kwonlyargs)]
                values = [*given.defaults, *given.kw_defaults]
                return dict(zip(names, map(_value, values), strict=True))
    return {}


def _value(default: ast.expr | None) -> Any:
    try:
        return None if default is None else ast.literal_eval(default)
    except ValueError:
        return None
