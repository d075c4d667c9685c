"""A model: features, an estimator and a decision rule, fitted together and kept together.

Names are loaded when they are first used: the table of methods needs no learning library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import loader

if TYPE_CHECKING:
    from linnaeus.model.answers import Answers
    from linnaeus.model.choice import MethodChoice, choose_method, unsuited
    from linnaeus.model.features import KINDS, Choice, choose_features, make_features
    from linnaeus.model.methods import INFO, METHODS, make
    from linnaeus.model.model import Model, inputs_of
    from linnaeus.model.recommendations import MANY_CLASSES, MANY_ROWS, Kind, kind_of
    from linnaeus.model.tables import TableFeatures
    from linnaeus.model.training import train
    from linnaeus.splits.held_out import HeldOut

_NAMES = {
    "answers": ("Answers",),
    "choice": ("MethodChoice", "choose_method", "unsuited"),
    "features": ("KINDS", "Choice", "choose_features", "make_features"),
    "methods": ("INFO", "METHODS", "make"),
    "model": ("Model", "inputs_of"),
    "recommendations": ("MANY_CLASSES", "MANY_ROWS", "Kind", "kind_of"),
    "tables": ("TableFeatures",),
    "training": ("train",),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}
_HOMES["HeldOut"] = "linnaeus.splits.held_out"

__all__ = [
    "INFO",
    "KINDS",
    "MANY_CLASSES",
    "MANY_ROWS",
    "METHODS",
    "Answers",
    "Choice",
    "HeldOut",
    "Kind",
    "MethodChoice",
    "Model",
    "TableFeatures",
    "choose_features",
    "choose_method",
    "inputs_of",
    "kind_of",
    "make",
    "make_features",
    "train",
    "unsuited",
]

__getattr__ = loader(__name__, _HOMES)
