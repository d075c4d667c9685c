"""Tables in which a thing has one row for each of its labels: their rows are joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.io.text_files import room_of
from linnaeus.splits.copies import digests

MANY, FEW = 0.05, 0.2  # shares of rows that go on from the row above, and of things: without ids
SMALL = 20  # rows, below which only ids tell


def joined_rows(part: Part, named: bool) -> Part:
    """The part with the rows of one thing joined: same id and content, different labels.

    Without ids only rows that stand below one another are, and only where that is the rule.

    Parameters
    ----------
    part : Part
        The rows.
    named : bool
        Whether the rows have ids of their own.

    Returns
    -------
    Part
        The same, if there is nothing to join.
    """
    inputs = part.texts if part.texts is not None else part.X
    if len(part) < 2 or (not named and (part.texts is None or _distinct(part.texts) == len(part))):
        return part
    if named and _distinct(part.ids) == len(part):
        return part
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i, (digest, name) in enumerate(zip(digests(inputs).tolist(), part.ids, strict=True)):
        groups[name if named else "", digest or -1 - i].append(i)
    several = [rows for rows in groups.values() if _differ(part, rows)]
    again = sum(len(rows) - 1 for rows in several)
    if not named:
        near = all(rows[-1] - rows[0] == len(rows) - 1 for rows in several)
        usual = MANY * len(part) <= again and FEW * len(part) <= len(groups)
        again = again if near and usual and len(part) >= SMALL else 0
    return _joined(part, list(groups.values()), named) if again else part


def _distinct(values: Sequence[str]) -> int:
    """How many different ones there are; those on disk are told apart by 64 bits."""
    if isinstance(values, list):
        return len(set(values))
    return int(np.unique(np.fromiter(map(hash, values), np.int64, len(values))).size)


def _differ(part: Part, rows: list[int]) -> bool:
    return len(rows) > 1 and len({tuple(map(str, part.labels[i])) for i in rows}) > 1


def _joined(part: Part, groups: list[list[int]], named: bool) -> Part:
    if room_of(part.texts) is not None:
        raise UserError(
            "Some rows have the same content and other labels, so that they are one, but the texts "
            "do not fit in memory. Write one row for each text, with all its labels; or allow more "
            "memory."
        )
    kept = sorted(
        rows
        for group in groups
        for rows in ([group] if _differ(part, group) else [[i] for i in group])
    )
    labels = [list(dict.fromkeys(v for i in rows for v in part.labels[i])) for rows in kept]
    what = "id and content" if named else "text"
    told = f"those of the same {what} with other labels are one"
    note = f"{len(part):,} rows became {len(kept):,}: {told}."
    firsts = part.take([rows[0] for rows in kept])
    return replace(firsts, labels=labels, skipped=part.skipped, notes=(*part.notes, note))
