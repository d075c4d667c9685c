"""The methods by their names on the command line: classes and advice (methods.toml).

`check_choices` sees what was typed wrong before anything heavy is loaded: it reads the parameters
of methods, and the rules, from the source of the modules that have them, without running these.
What cannot be seen so is left to the work itself, which checks all again.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import resources
from typing import Any, NamedTuple

from linnaeus.errors import UserError, check_like, nearest, shorten


class Info(NamedTuple):
    """What to know about a method before choosing it; methods.toml says what each field means."""

    advice: str
    cost: str
    limits: str
    several: bool
    dag: bool
    decides: bool


OWN = "own"  # the rule of an estimator that decides by itself
_TABLE = tomllib.loads(resources.files(__package__).joinpath("methods.toml").read_text("utf-8"))
METHODS: dict[str, str] = {name: entry.pop("class") for name, entry in _TABLE.items()}
INFO = {name: Info(**entry) for name, entry in _TABLE.items()}


def make(
    name: str, taxonomy: Any = None, parameters: Mapping[str, Any] | None = None,
    seed: int = 0, jobs: int = 1,
) -> Any:  # fmt: skip
    """An estimator by the name of its method, with parameters of its own.

    Parameters
    ----------
    name : str
        Name of the method.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    parameters : dict or None, default=None
        Parameters by name; None for the defaults.
    seed : int, default=0
        Seed of everything that is drawn.
    jobs : int, default=1
        Threads; -1 for all cores. The result does not depend on it.

    Returns
    -------
    object
        The estimator, not fitted.

    Examples
    --------
    >>> make("svm", parameters={"C": 10.0}).C
    10.0
    """
    return maker(name, taxonomy, parameters, seed, jobs)()


def maker(
    name: str, taxonomy: Any = None, parameters: Mapping[str, Any] | None = None,
    seed: int = 0, jobs: int = 1,
) -> partial[Any]:  # fmt: skip
    """What makes an estimator as `make` does, as often as it is called; values are checked."""
    from linnaeus.parameters import check_values

    kind, settings = class_of(name), settings_of(name, parameters, seed, jobs)
    check_values(kind, settings)
    return partial(kind, taxonomy, **settings)


def class_of(name: str) -> Any:
    """The class of a method; its module has the method's name."""
    check_method(name)
    module = importlib.import_module(f"linnaeus.estimators.{name.replace('-', '_')}")
    return getattr(module, METHODS[name])


def check_method(name: str) -> None:
    """Refuse a method that is not known."""
    if name not in METHODS:
        raise UserError(
            f"The method {shorten(name)} is not known{nearest(name, METHODS)}. "
            f"Use one of: {', '.join(METHODS)}."
        )


def check_rule_name(name: str, rules: Iterable[str]) -> None:
    """Refuse a rule that is none of these, nor what the estimator itself says."""
    known = (OWN, *rules)
    if name not in known:
        raise UserError(
            f"The rule {shorten(name)} is not known{nearest(name, known)}. "
            f"Use one of: {', '.join(known)}."
        )


def settings_of(
    name: str, parameters: Mapping[str, Any] | None = None, seed: int = 0, jobs: int = 1
) -> dict[str, Any]:
    """Parameters of a method with seed and jobs where it has them; what it does not is refused."""
    takes = {key: p.default for key, p in inspect.signature(class_of(name)).parameters.items()}
    common = {key: v for key, v in {"random_state": seed, "n_jobs": jobs}.items() if key in takes}
    check_settings(name, takes | common, parameters or {})
    return common | dict(parameters or {})


def check_settings(name: str, takes: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that a method does not have, or whose values are of another kind.

    takes : the defaults of its parameters
    """
    for parameter, value in parameters.items():
        if parameter not in takes or parameter == "taxonomy":  # which is the data's
            known = [key for key in takes if key != "taxonomy"]
            raise UserError(
                f"The method {name!r} has no parameter {shorten(parameter)}"
                f"{nearest(parameter, known)}. It has: {', '.join(known)}."
            )
        check_like(takes[parameter], value, f"The parameter {parameter!r} of {name!r}")


def check_choices(
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    rule: str | None = None,
) -> None:
    """Refuse names that are not known and values that cannot be; nothing heavy is loaded."""
    if rule not in (None, "auto"):
        known = [*_strings("decisions/named.py", "RULES")]
        if known:
            check_rule_name(str(rule), known)
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


def value_of(text: str) -> Any:
    """The value that people write: a number, true, false, null, a list, or else a text.

    >>> value_of("10"), value_of("hinge"), value_of("false")
    (10, 'hinge', False)
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_parameters(flag: str, values: Mapping[str, Any] | None) -> list[str]:
    """Parameters as words of a command, which the command reads back.

    >>> write_parameters("-p", {"C": 10.0, "loss": "hinge", "name": "1"})
    ['-p', 'C=10', '-p', 'loss=hinge', '-p', 'name="1"']
    """
    return [word for name, v in (values or {}).items() for word in (flag, f"{name}={_written(v)}")]


def setting_text(method: str, parameters: Mapping[str, Any]) -> str:
    """A method with what differs from its defaults, in a few words.

    >>> setting_text("svm", {"classes": "nodes", "C": 10.0})
    'svm (classes=nodes, C=10)'
    """
    named = ", ".join(f"{name}={_written(value)}" for name, value in parameters.items())
    return f"{method} ({named})" if named else method


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return json.dumps(value, separators=(",", ":"))
    return value if value_of(value) == value else json.dumps(value)
