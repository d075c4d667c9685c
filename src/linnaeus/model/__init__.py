"""A model: features, an estimator and a decision rule, fitted together and kept together."""

from linnaeus.model.answers import Answers
from linnaeus.model.choice import MethodChoice, choose_method, unsuited
from linnaeus.model.features import KINDS, Choice, choose_features, make_features
from linnaeus.model.held_out import HeldOut
from linnaeus.model.methods import INFO, METHODS, make
from linnaeus.model.model import Model, inputs_of
from linnaeus.model.recommendations import MANY_CLASSES, MANY_ROWS, Kind, kind_of
from linnaeus.model.tables import TableFeatures
from linnaeus.model.training import train

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
