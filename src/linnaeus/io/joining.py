"""Tables in which a thing has one row for each of its labels: their rows are joined."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from linnaeus.io.collection import Part
from linnaeus.io.copies import digests

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
    if len(part) < 2 or (not named and (part.texts is None or len(set(part.texts)) == len(part))):
        return part
    if named and len(set(part.ids)) == len(part):
        return part
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i, digest in enumerate(digests(inputs).tolist()):
        groups[part.ids[i] if named else "", digest or -1 - i].append(i)
    several = [rows for rows in groups.values() if _differ(part, rows)]
    again = sum(len(rows) - 1 for rows in several)
    if not named:
        near = all(rows[-1] - rows[0] == len(rows) - 1 for rows in several)
        usual = MANY * len(part) <= again and FEW * len(part) <= len(groups)
        again = again if near and usual and len(part) >= SMALL else 0
    return _joined(part, list(groups.values()), named) if again else part


def _differ(part: Part, rows: list[int]) -> bool:
    return len(rows) > 1 and len({tuple(map(str, part.labels[i])) for i in rows}) > 1


def _joined(part: Part, groups: list[list[int]], named: bool) -> Part:
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
