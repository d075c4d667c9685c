"""A model: features, an estimator and a decision rule, fitted together and kept together."""

from linnaeus.model.choice import MethodChoice, choose_method
from linnaeus.model.held_out import HeldOut
from linnaeus.model.model import Model, inputs_of
from linnaeus.model.training import train

__all__ = ["HeldOut", "MethodChoice", "Model", "choose_method", "inputs_of", "train"]
