"""The methods by their names on the command line: classes and advice (methods.toml)."""

from __future__ import annotations

import importlib
import inspect
import json
import tomllib
from collections.abc import Iterable, Mapping
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
    return class_of(name)(taxonomy, **settings_of(name, parameters, seed, jobs))


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
