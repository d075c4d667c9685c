"""What decisions over all nodes of a taxonomy share: closed label sets from node scores.

The estimator is taught label sets closed upwards, and scores every node; where it scores only
some nodes (the leaves), `lift="max"` gives each node the highest score at or below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.labels import Form
from linnaeus.errors import UserError
from linnaeus.inference import lift
from linnaeus.inference.rows import FloatArray
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.tree import IntArray


class NodeDecision(Decision):
    """Base of the decisions whose label sets are closed; the classes are the nodes."""

    lift: str | None

    def _tax(self) -> Taxonomy:
        if self.taxonomy is None:
            raise UserError(
                f"{type(self).__name__} needs a taxonomy, since its label sets are closed under "
                f"'parent of'. Give taxonomy=..."
            )
        return self.taxonomy

    def _target(self, form: Form, Y: sp.csr_array, y: Any) -> tuple[sp.csr_array, Any]:
        """Label sets closed upwards; the estimator learns them so where they are over nodes."""
        if form.names != self._tax().nodes:
            return Y, y
        closed = self._tax().closure(Y)
        if form.kind == "dense":
            return closed, closed.toarray().astype(form.like.dtype)
        return closed, y if form.kind == "one" else closed

    def _truth(self, form: Form, Y: sp.csr_array) -> sp.csr_array:
        return self._tax().closure(super()._truth(form, Y))

    def _decided_names(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._tax().nodes

    def _remember(self, form: Form, columns: tuple[Any, ...]) -> None:
        super()._remember(form, columns)
        self.scored_ = None if columns == self.names_ else self._lifted_numbers(columns)

    def _lifted_numbers(self, columns: tuple[Any, ...]) -> IntArray:
        """The numbers of the nodes that are scored, when these are not all nodes."""
        tax = self._tax()
        if self.lift is None:
            raise UserError(
                f"{type(self).__name__} needs a score for each of the {len(tax)} nodes, but the "
                f"scores have {len(columns)} columns. Use lift='max' (a node gets the highest "
                f"score below it), or a model that scores all nodes."
            )
        if self.lift != "max":
            raise UserError(f"lift={self.lift!r} is not known. Use None or 'max'.")
        return tax.numbers(columns)

    def _check_columns(self, scores: FloatArray) -> None:
        if scores.shape[1] != len(self.names_):  # node scores are always welcome
            super()._check_columns(scores)

    def _prepared(self, scores: FloatArray) -> FloatArray:
        if scores.shape[1] == len(self.names_):
            return scores
        return lift(self._tax(), scores, self.scored_)

    def _specific(self, on: BoolArray) -> BoolArray:
        deepest: BoolArray = self._tax().most_specific(on.astype(np.int8)) > 0
        return deepest
