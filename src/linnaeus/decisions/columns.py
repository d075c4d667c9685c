"""From scores of the classes that a model tells apart to the columns that users see.

A model scores the classes that it was trained for: leaves, and inner nodes with labels of their
own; or all nodes. Scorers compare by position, so what is shown has the columns of the labels as
they were given:

    one label per row   a column for each label that occurred; it is a class
    label sets          a column for each node; where nodes are no classes of their own, a node has
                        the best of what is at or below it (probabilities that exclude each other:
                        the sum)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.inference import lift
from linnaeus.inference.rows import FloatArray
from linnaeus.taxonomy import Taxonomy


class Columns(NamedTuple):
    """Which classes make up each column."""

    place: Any = None  # the class of each column, of `taxonomy` the node; None: all as they are
    taxonomy: Taxonomy | None = None  # where a column has all classes at or below a node
    numbers: Any = None  # then the node of each class

    @classmethod
    def of_nodes(cls, taxonomy: Taxonomy, classes: Any, shown: Any) -> Columns:
        """The columns of the nodes `shown`, given those of the classes; all are node numbers."""
        classes, shown = np.asarray(classes), np.asarray(shown)
        every = np.arange(len(taxonomy))
        if np.array_equal(classes, every):
            return cls(None if np.array_equal(shown, every) else shown)
        position = np.full(len(taxonomy), -1)
        position[classes] = np.arange(classes.size)
        if (position[shown] >= 0).all() and not taxonomy.n_children[shown].any():
            return cls(position[shown])
        return cls(shown, taxonomy, classes)

    def best(self, scores: FloatArray) -> FloatArray:
        """Of scores (n, n_classes) those of the columns, the best where there are several."""
        if self.taxonomy is not None:
            scores = lift(self.taxonomy, scores, self.numbers)
        return scores if self.place is None else scores[:, self.place]

    def total(self, probabilities: FloatArray) -> FloatArray:
        """Of probabilities of classes that exclude each other the sums."""
        if self.taxonomy is None:
            return self.best(probabilities)
        above = self.taxonomy.ancestor_rows(self.numbers)[:, self.place]
        total: FloatArray = np.minimum(probabilities @ above, 1.0)
        return total


def halved(scores: FloatArray) -> FloatArray:
    """One score for two labels that exclude each other: positive where the second is better."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
