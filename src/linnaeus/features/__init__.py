"""What goes into a model: how texts, sequences and tables become the rows that estimators take."""

from linnaeus.features.choice import KINDS, Choice, choose_features, make_features
from linnaeus.features.tables import TableFeatures

__all__ = ["KINDS", "Choice", "TableFeatures", "choose_features", "make_features"]
