"""Choosing settings by cross-validation: C, losses, decision rules and options of the features."""

from linnaeus.search.choosing import CS, MethodSetting, label_set_methods
from linnaeus.search.grid import Space, make_space, parse_grid
from linnaeus.search.result import Tuned, setting
from linnaeus.search.search import tune

__all__ = [
    "CS",
    "MethodSetting",
    "Space",
    "Tuned",
    "label_set_methods",
    "make_space",
    "parse_grid",
    "setting",
    "tune",
]
