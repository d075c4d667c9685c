"""Which label each column of a score matrix stands for.

By evidence, the first that there is:

    names          the user's, or those of the columns of a data frame
    where from     scores that an estimator of linnaeus made are known by what made them (`noted`)
    the labels     the same number of columns as an indicator has; else, beside one label per row,
                   the sorted labels, as scikit-learn has them, or all nodes in their order; beside
                   label sets all nodes, or the leaves, in their order

Where the last could mean another order too, a warning says which was taken.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, listed
from linnaeus.labels import frames
from linnaeus.labels.names import by_kind, plain_names
from linnaeus.labels.parsing import Labels
from linnaeus.labels.reading import Nodes

Names = tuple[Any, ...]
Method = TypeVar("Method", bound=Callable[..., Any])
_made: dict[int, tuple[weakref.ref[Any], Names]] = {}  # scores that exist, by what they are


def noted(scores: Any, names: Sequence[Any]) -> Any:
    """The same scores, of which it is known from now on what their columns are."""
    key = id(scores)
    _made[key] = weakref.ref(scores, lambda _: _made.pop(key, None)), tuple(plain_names(names))
    return scores


def noting(method: Method) -> Method:
    """A method of a fitted estimator whose scores have the columns `classes_`."""

    @wraps(method)
    def scores(self: Any, *given: Any, **options: Any) -> Any:
        found = method(self, *given, **options)
        form = self.form_ if hasattr(self, "form_") else self.targets_.form
        by_place = form.kind != "one" and form.table is None and self.taxonomy_ is None
        return found if by_place else noted(found, self.classes_)

    return cast("Method", scores)


def names_of(scores: Any, taxonomy: Nodes | None) -> Names | None:
    """What is known of the columns of scores without their labels."""
    if frames.is_frame(scores):
        names = tuple(plain_names(scores.columns))
        numbered = names == tuple(range(len(names)))
        if not numbered or (taxonomy is not None and all(name in taxonomy for name in names)):
            return names
    made, names = _made.get(id(scores), (None, ()))
    return names if made is not None and made() is scores else None


def bare_names(width: int, given: Labels, taxonomy: Nodes | None) -> Names:
    """The labels of so many columns of which nothing is known but the labels of the rows."""
    readings = [names for names in _readings(given, taxonomy) if len(names) == width]
    if not readings:
        raise _no_reading(width, given, taxonomy)
    first, others = readings[0], [names for names in readings[1:] if names != readings[0]]
    if others:
        warnings.warn(
            f"The {width} columns of the scores have no names. They are taken for "
            f"{listed(first)}; they could be {listed(others[0])}. Name them: "
            f"classes=model.classes_, or a data frame.",
            stacklevel=5,
        )
    return first


def _readings(given: Labels, taxonomy: Nodes | None) -> Iterator[Names]:
    """What the columns of scores could be, the likeliest first."""
    form = given.form
    if taxonomy is None:
        yield form.columns
        return
    leaves = taxonomy.names(taxonomy.leaf_numbers.tolist())
    if form.kind == "one" and form.layout is None:
        yield from (form.names, tuple(by_kind(leaves)), taxonomy.nodes, leaves)
        return
    is_indicator = form.kind in ("dense", "sparse")
    yield from (*[form.columns] * is_indicator, taxonomy.nodes, leaves)
    every_node = is_indicator and given.numbers is None
    if every_node and (given.Y[:, taxonomy.leaf_numbers].sum(axis=1) == 1).all():
        yield tuple(by_kind(leaves))  # it may have been one label per row elsewhere


def _no_reading(width: int, given: Labels, taxonomy: Nodes | None) -> UserError:
    known = f"Y_true has {len(given.form.columns)} labels"
    if taxonomy is not None:
        known = f"the taxonomy has {taxonomy.leaf_numbers.size} leaves and {len(taxonomy.nodes)}"
        known += " nodes"
    return UserError(
        f"The scores have {width} columns, but {known}. Name the columns: classes=model.classes_, "
        f"or a data frame."
    )


def two_columns(scores: npt.NDArray[Any], known: bool) -> npt.NDArray[Any]:
    """Scores of two exclusive labels that came as one number for each row.

    known : whether an estimator's `decision_function` gave them; else that must be seen from them,
        since a probability means another thing
    """
    if not known and not (scores < 0).any():
        raise UserError(
            f"The scores are one number for each of {len(scores)} rows. Give a column for each "
            f"label: np.column_stack([-s, s]) of a decision_function, [1 - p, p] of probabilities."
        )
    return np.column_stack([-scores, scores])
