"""A model: features, an estimator and a decision rule, fitted together and kept together."""

from linnaeus.model.choice import MethodChoice, choose_method, unsuited
from linnaeus.model.held_out import HeldOut
from linnaeus.model.methods import INFO, METHODS, make
from linnaeus.model.model import Model, inputs_of
from linnaeus.model.recommendations import MANY_CLASSES, MANY_ROWS, Kind, kind_of
from linnaeus.model.training import train

__all__ = [
    "INFO",
    "MANY_CLASSES",
    "MANY_ROWS",
    "METHODS",
    "HeldOut",
    "Kind",
    "MethodChoice",
    "Model",
    "choose_method",
    "inputs_of",
    "kind_of",
    "make",
    "train",
    "unsuited",
]
