"""One label: the one with the highest score, ties to the lower column."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.decisions.top import top_mask
from linnaeus.errors import UserError
from linnaeus.inference.rows import FloatArray
from linnaeus.taxonomy import Taxonomy


class Argmax(Decision):
    """The label with the highest score.

    Parameters
    ----------
    among : "all", or "leaves": only leaves of the taxonomy can win
    estimator, taxonomy, cv, random_state : see `Decision`

    Examples
    --------
    >>> Argmax().decide([[0.1, 0.7, 0.2]]).toarray().tolist()
    [[0, 1, 0]]
    """

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        among: str = "all",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.among = among
        self.cv = cv
        self.random_state = random_state

    def _learns(self) -> bool:
        return False

    def _decide_block(self, block: FloatArray) -> BoolArray:
        if self.among == "all":
            return top_mask(block, 1)
        if self.among != "leaves":
            raise UserError(f"among={self.among!r} is not known. Use 'all' or 'leaves'.")
        taxonomy = self._known()
        if taxonomy is None:
            raise UserError("Argmax(among='leaves') needs a taxonomy. Give taxonomy=...")
        leaves = set(taxonomy.leaves)
        columns = np.array([j for j, name in enumerate(self.names_) if name in leaves], dtype=int)
        on = np.zeros(block.shape, dtype=bool)
        on[:, columns] = top_mask(block[:, columns], 1)
        return on
