"""What there is to choose from: methods and decision rules, with advice."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from linnaeus.decisions.rules import RULES
from linnaeus.model.methods import INFO, METHODS, OWN, make
from linnaeus.model.recommendations import mean_ranks
from linnaeus.storage import read_about


def list_methods() -> list[dict[str, Any]]:
    """All methods with advice, cost, limits and ranks."""
    return [_about(name) for name in METHODS]


def _about(name: str) -> dict[str, Any]:
    """What there is to tell about a method; its mean ranks by the kind of labels."""
    own = {"method": name, "class": METHODS[name], **INFO[name]._asdict()}
    return own | {"rank": mean_ranks(name)}


def method_parameters(name: str) -> dict[str, Any]:
    """One method: its advice, its parameters with their defaults, and its documentation."""
    model = make(name)
    given = {k: v for k, v in model.get_params(deep=False).items() if k != "taxonomy"}
    return _about(name) | {"parameters": given, "help": inspect.getdoc(type(model)) or ""}


def list_rules(path: str | Path) -> list[dict[str, Any]]:
    """All rules with advice, and what they reached on the held-out scores of a model."""
    about = read_about(path)["about"].get("rule", {})
    reached = {row["rule"]: row for row in about.get("table") or []}
    advice = {OWN: "what the method itself predicts"} | {k: v.advice for k, v in RULES.items()}
    return [
        {"rule": name, "advice": text, "chosen": name == about.get("name")}
        | {k: v for k, v in reached.get(name, {}).items() if k not in ("rule", "chosen")}
        for name, text in advice.items()
    ]
