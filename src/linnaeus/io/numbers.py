"""Numbers as tables spell them, with errors that name the column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import shorten
from linnaeus.io.rows import BadRowError

NAN = float("nan")


def to_numbers(cells: list[str], names: list[str], dtype: Any, missing: str) -> NDArray[Any]:
    """Numbers of a dense row; the text `missing` becomes NaN. `names` are for the message."""
    try:
        if "_" in "".join(cells):  # float() would read 1_000
            raise ValueError
        with np.errstate(over="ignore"):
            x = np.array([NAN if c == missing else float(c) for c in cells], dtype=dtype)
        if np.isinf(x).any():
            raise ValueError
        return x
    except ValueError:
        values = [to_number(c, n, dtype, missing) for c, n in zip(cells, names, strict=True)]
        return np.array(values, dtype=dtype)


def to_number(cell: str, name: str, dtype: Any, missing: str) -> float:
    """One number of a table, with an error that names its column."""
    if cell.strip() == missing:
        return NAN
    try:
        value = float(cell) if "_" not in cell else None
    except ValueError:
        value = None
    if value is None:
        shown = "an empty cell" if missing == "" else repr(missing)
        raise BadRowError(
            f"column {shorten(name)} holds {shorten(cell)}, which is not a number. Write a number "
            f"({shown} where the value is missing).",
            kind="bad_number",
            value=cell,
        )
    with np.errstate(over="ignore"):
        if np.isinf(np.asarray(value).astype(dtype)):
            raise BadRowError(
                f"column {shorten(name)} holds {shorten(cell)}, which is not a finite number as "
                f"{np.dtype(dtype).name}. Write a finite number, or leave the value missing.",
                kind="bad_number",
                value=cell,
            )
    return value
