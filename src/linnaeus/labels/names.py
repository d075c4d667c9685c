"""Names of labels: as plain values, in arrays that leave them as they are, sorted; missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError


def plain_names(values: Iterable[Any]) -> list[Any]:
    """A list of names with NumPy scalars turned into Python's."""
    names: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if any(issubclass(kind, np.generic) for kind in set(map(type, names))):
        names = [v.item() if isinstance(v, np.generic) else v for v in names]
    return names


def name_array(names: Iterable[Any], like: Any = None) -> npt.NDArray[Any]:
    """Names as an array that leaves them as they are, the one way from names to arrays.

    NumPy would turn 1 beside "cat" into "1", cut "Mammal" to the width of "Cow", and drop a NUL at
    the end: what no type of its own holds is an array of objects.

    like : the type that labels came in, taken if it holds them all
    """
    names = plain_names(names)
    if len(set(map(type, names))) <= 1 and not isinstance(next(iter(names), None), tuple):
        plain = np.array(names)
        wanted = like is not None and np.can_cast(plain.dtype, like, "same_kind")
        for array in (plain.astype(like) if wanted else plain, plain):
            if array.tolist() == names:
                return array
    return np.fromiter(names, dtype=object, count=len(names))


def places(names: Sequence[Any]) -> dict[Any, int]:
    """Where each name stands."""
    return {name: j for j, name in enumerate(names)}


def by_kind(names: Iterable[Any]) -> list[Any]:
    """Names sorted, numbers before texts."""
    names = list(names)
    try:
        return sorted(names, key=lambda v: (isinstance(v, str), v))
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in names}))
        raise UserError(
            f"The labels are of types that cannot be sorted: {kinds}. Use texts and numbers only."
        ) from None


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, NaN, NA, NaT."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def missing(value: Any, row: int) -> UserError:
    """What is wrong with a missing value among labels."""
    return UserError(
        f"Row {row}: {value} is a missing value, no label. Leave the row out, or give lists of "
        f"labels with [] for a row that has none."
    )
