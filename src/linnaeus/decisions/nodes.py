"""What decisions over all nodes of a taxonomy share: closed label sets from node scores.

The estimator is taught label sets closed upwards, and scores every node; where it scores only
some nodes (the leaves), `lift="max"` gives each node the highest score at or below it. Where
every node has a score, but only of its own labels, not of those below, `lift="always"` does so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.errors import UserError
from linnaeus.inference import lift
from linnaeus.inference.rows import FloatArray
from linnaeus.labels import Form, Labels, name_array
from linnaeus.parameters import NONE, Limits, choice
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.dag import IntArray


class NodeDecision(Decision):
    """Base of the decisions whose label sets are closed; the classes are the nodes.

    Attributes
    ----------
    scored_ : object
        The nodes that are scored, where they are not all; internal.
    """

    lift: str | None
    limits = Limits(lift=NONE | choice("max", "always"))

    def _tax(self) -> Taxonomy:
        taxonomy = self._known()
        if taxonomy is None:
            raise UserError(
                f"{type(self).__name__} needs a taxonomy, since its label sets are closed under "
                f"'parent of'. Give taxonomy=..."
            )
        return taxonomy

    def _target(self, given: Labels) -> tuple[sp.csr_array, Any]:
        """Label sets closed upwards; the estimator learns them so where they are over nodes."""
        form, y = given.form, given.given
        if form.names != self._tax().nodes:
            return given.Y, y
        closed = self._tax().closure(given.Y)
        if form.kind == "dense":
            return closed, closed.toarray().astype(form.like.dtype)
        return closed, y if form.kind == "one" else closed

    def _truth(self, form: Form, Y: sp.csr_array) -> sp.csr_array:
        return self._tax().closure(super()._truth(form, Y))

    def _decided_names(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._tax().nodes

    def _remember(
        self, form: Form, columns: tuple[Any, ...], closing: Taxonomy | None = None
    ) -> None:
        super()._remember(form, columns, closing)
        as_they_are = columns == self.names_ and self.lift != "always"
        self.scored_ = None if as_they_are else self._scored_numbers(columns)

    def _scored_numbers(self, columns: tuple[Any, ...]) -> IntArray:
        """The numbers of the nodes that are scored, when these are not all nodes in order."""
        tax = self._tax()
        if self.lift is None and len(columns) < len(tax):
            raise UserError(
                f"{type(self).__name__} needs a score for each of the {len(tax)} nodes, but the "
                f"scores have {len(columns)} columns. Use lift='max' (a node gets the highest "
                f"score below it), or a model that scores all nodes."
            )
        return tax.numbers(columns)

    def _check_columns(self, scores: FloatArray) -> None:
        if scores.shape[1] != len(self.names_):  # node scores are always welcome
            super()._check_columns(scores)

    def _prepared(self, scores: FloatArray) -> FloatArray:
        every = scores.shape[1] == len(self.names_)
        if self.scored_ is None or (every and self.scored_.size < len(self.names_)):
            return scores
        if every and self.lift != "always":
            return scores[:, np.argsort(self.scored_)]
        return lift(self._tax(), scores, self.scored_)

    def _answers(self) -> tuple[Any, Any]:
        """Any node may be answered; if labels were numbers, those that have one."""
        if self.form_.codes:
            return super()._answers()
        names = name_array(self.names_)
        return names.astype(object) if self.classes_.dtype == object else names, slice(None)

    def _specific(self, on: BoolArray) -> BoolArray:
        deepest: BoolArray = self._tax().most_specific(on.astype(np.int8)) > 0
        return deepest
