"""The form in which label sets were given, and answers in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.labels.frames import Table
from linnaeus.labels.indicators import moved, to_lists
from linnaeus.labels.names import name_array, places
from linnaeus.labels.paths import Hierarchy, Layout


class Form(NamedTuple):
    """How label sets were given: "one" label each, a "dense" or "sparse" indicator, "lists".

    Inside they are over `names`. Outside labels may have been numbers that stand for nodes
    (`codes`), paths to them (`layout`), or the columns of a data frame (`table`).
    """

    kind: str
    names: tuple[Any, ...]  # of the columns of the indicator
    like: Any = None  # an empty array of the same type as the labels or indicator given
    table: Table | None = None
    layout: Layout | None = None
    codes: tuple[Any, ...] = ()  # the node that each number 0, 1, ... stands for

    @property
    def columns(self) -> tuple[Any, ...]:
        """The labels that an answer has columns for, in their order."""
        by_name = self.table is not None and self.layout is None
        return self.table.columns if by_name and self.table else self.names

    def shown(self, names: Sequence[Any]) -> npt.NDArray[Any]:
        """Labels as an array; as the numbers that were given for them, if all have one."""
        if self.codes and set(names) <= set(self.codes):
            code = places(self.codes)
            return np.array([code[v] for v in names], dtype=self.like.dtype)
        return name_array(names)

    def answer(self, Y: sp.csr_array, columns: tuple[Any, ...]) -> Any:
        """Label sets over `columns`: an indicator over the columns given, or lists of names."""
        if self.kind == "lists":
            return to_lists(Y, columns)
        Y = moved(Y, columns, self.columns).astype(self.like.dtype)
        if self.kind == "dense":
            return Y.toarray()
        return sp.csr_matrix(Y) if isinstance(self.like, sp.spmatrix) else Y

    def finished(self, said: Any, taxonomy: Hierarchy | None, X: Any = None) -> Any:
        """An answer in names as it was taught: in paths, in numbers, as a data frame.

        said : one name per row, or what `answer` gives; what is finished already stays as it is
        X : what the rows of a data frame are called after
        """
        if self.codes:
            return self.shown(said.tolist()) if set(said.tolist()) <= set(self.codes) else said
        if self.layout is not None and taxonomy is not None and _in_names(said, self.layout):
            said = self.layout.answer(said, taxonomy)
        made = isinstance(said, np.ndarray | list) or sp.issparse(said)
        return self.table.made(said, X) if self.table is not None and made else said


def _in_names(said: Any, layout: Layout) -> bool:
    """Whether an answer is one name for each row, or a list of names where that was taught."""
    if not layout.several:
        return isinstance(said, np.ndarray) and said.ndim == 1
    return isinstance(said, list) and not any(isinstance(v, list) for row in said for v in row)
