"""Dividing examples: stratified folds, copies that stay together, scores of rows held out."""

from linnaeus.splits.copies import Copies, digests
from linnaeus.splits.folds import (
    MultilabelStratifiedKFold,
    Split,
    at_most_per_class,
    k_folds,
    t_per_class,
    train_test_split,
)

__all__ = [
    "Copies",
    "MultilabelStratifiedKFold",
    "Split",
    "at_most_per_class",
    "digests",
    "k_folds",
    "t_per_class",
    "train_test_split",
]
