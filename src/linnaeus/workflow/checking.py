"""Everything that is wrong or doubtful with a collection, at once: for the people who own it.

A finding says what, how often, in which rows of which part, and what to do. Nothing is changed and
nothing is trained; rows that cannot be read are findings too.
"""

from __future__ import annotations

import os
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import nearest, shorten
from linnaeus.io import Collection, Part, ReadOptions, read_collection
from linnaeus.io.archive import unpacked
from linnaeus.io.options import remember
from linnaeus.io.rows import Skipped
from linnaeus.io.spellings import same
from linnaeus.model import inputs_of
from linnaeus.splits.copies import Copies
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.diagnose import findings as taxonomy_findings
from linnaeus.text.languages import language_shares
from linnaeus.workflow.taxonomies import path_of_titles

SHOWN = 20  # rows of a finding that are named
FEW = 5  # examples in a message
CLASSES = 12  # of the largest that are listed
LETTERS = 160  # of a text in the sample
KINDS = {  # what people call the findings; others are called by their kind
    "reading": "How it is read", "taxonomy": "Taxonomy", "empty_text": "Nothing to read",
    "no_label": "No label", "duplicate": "Copies", "conflict": "Copies that disagree",
    "one_row_class": "Classes with one row", "unused_label": "Labels without rows",
    "languages": "Several languages", "leak": "Label in the text",
    "missing_values": "Mostly empty columns", "constant_column": "Columns that never change",
    "duplicate_across_parts": "Copies of training rows", "untaught_label": "Labels not in training",
    "unknown_label": "Unknown labels", "bad_row": "Rows that cannot be read",
}  # fmt: skip
SECOND = 0.05  # share of the texts from which on a second language is worth saying
LEAK, BASE = 0.5, 0.1  # share of rows that name their own label, and that of another row


@dataclass(frozen=True)
class Finding:
    """Something to look at; `rows` are the first of the rows concerned, counted from 1."""

    kind: str
    count: int
    rows: list[int]
    message: str
    part: str | None = None
    level: str = "warning"  # or "note"

    @property
    def title(self) -> str:
        """What people call it."""
        return KINDS.get(self.kind, self.kind.replace("_", " ").capitalize())


class Checked(NamedTuple):
    """A collection and what was found."""

    path: str
    taxonomy: Taxonomy
    parts: dict[str, int]
    columns: dict[str, Any]
    findings: list[Finding]
    sample: list[dict[str, Any]]
    classes: dict[str, Any]
    written: str | None = None

    @property
    def verdict(self) -> str:
        """Whether there is anything to do, in a sentence."""
        lost = sum(f.count for f in self.findings if f.kind in ("unknown_label", "bad_row"))
        doubts = sum(f.level == "warning" for f in self.findings)
        if lost:
            return f"{lost:,} row{'s' * (lost > 1)} cannot be read as they are: see below."
        if doubts:
            one = doubts == 1
            return f"All rows can be read. {doubts} thing{'s' * (not one)} to look at first."
        return "All rows can be read, and nothing looks wrong."

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "path": self.path,
            "verdict": self.verdict,
            "nodes": len(self.taxonomy),
            "parts": self.parts,
            "columns": self.columns,
            "findings": [asdict(f) | {"title": f.title} for f in self.findings],
            "sample": self.sample,
            "classes": self.classes,
            "written": self.written,
        }


def check(
    data: str | Path,
    *,
    taxonomy: str | Path | None = None,
    options: ReadOptions | Mapping[str, Any] | None = None,
    write: bool = False,
) -> Checked:
    """Look for all that is wrong or doubtful with a folder, a zip or a file.

    write : keep what was found out about its tables, in a `collection.toml` beside them
    """
    options = ReadOptions.of(options)
    asked = replace(options, most_bad=1.0)
    found = read_collection(unpacked(data), taxonomy=taxonomy, skip_bad=True, options=asked)
    every = [*_of_reading(found), *_of_taxonomy(found.taxonomy)]
    for name, part in found.parts():
        every += _of_part(name, part, found.taxonomy)
    every += _between_parts(found)
    first = next((part for _, part in found.parts()), None)
    order = sorted(every, key=lambda finding: finding.level != "warning")
    written = str(_remembered(data, found, taxonomy, options)) if write else None
    counts = {name: len(part) for name, part in found.parts()}
    return Checked(
        str(data), found.taxonomy, counts, _columns(found), order,
        _sample(first, found.taxonomy), _classes(first, found.taxonomy), written,
    )  # fmt: skip


def _sample(part: Part | None, taxonomy: Taxonomy) -> list[dict[str, Any]]:
    """The first rows as they were read: the quickest way to see a column taken for another."""
    if part is None:
        return []
    names, numbers = part.feature_names, _row_numbers(part)
    return [
        {
            "row": numbers[i],
            "id": str(part.ids[i]),
            "text": _content(part, i, names),
            "labels": [path_of_titles(taxonomy, label) for label in part.labels[i]],
        }
        for i in range(min(FEW, len(part)))
    ]


def _content(part: Part, i: int, names: Sequence[str] | None) -> str:
    if part.texts is not None:
        return textwrap.shorten(part.texts[i], LETTERS, placeholder=" ...")
    row = part.X[[i]].toarray().ravel() if sp.issparse(part.X) else part.X[i]
    used = np.flatnonzero(row)[:FEW] if sp.issparse(part.X) else range(min(FEW, row.size))
    more = ", ..." if row.size > FEW else ""
    return ", ".join(f"{names[j] if names else j + 1} = {row[j]:g}" for j in used) + more


def _classes(part: Part | None, taxonomy: Taxonomy) -> dict[str, Any]:
    """How many rows the classes have: the largest, and how many have few."""
    own = taxonomy.most_specific(taxonomy.encode([] if part is None else part.labels))
    counts = np.bincount(own.indices, minlength=len(taxonomy))
    order = np.argsort(-counts, kind="stable")[:CLASSES]
    return {
        "used": int((counts > 0).sum()),
        "few": int(((counts > 0) & (counts < FEW)).sum()),
        "fewer_than": FEW,
        "largest": [
            {"label": str(taxonomy.titles.get(name, name)), "rows": int(counts[v])}
            for v, name in ((v, taxonomy.nodes[v]) for v in order)
            if counts[v]
        ],
    }


def _columns(found: Collection) -> dict[str, Any]:
    return next((p.columns.given() for _, p in found.parts() if p.columns is not None), {})


def _remembered(
    data: str | Path, found: Collection, taxonomy: str | Path | None, options: ReadOptions
) -> Path:
    """The `collection.toml` that lets the next command do without options."""
    data = Path(data)
    folder = data if data.is_dir() else data.parent
    files = {} if data.is_dir() else {"train": data.name}
    if taxonomy is not None:
        files["taxonomy"] = Path(os.path.relpath(taxonomy, folder)).as_posix()
    table = options.over(ReadOptions(**_columns(found)))
    return remember(folder, files, table)


# -- how it was read ----------------------------------------------------------------------------


def _of_reading(found: Collection) -> Iterator[Finding]:
    for note in found.notes:
        yield Finding("reading", 0, [], note, level="note")
    for name, part in found.parts():
        bad: dict[str, list[Skipped]] = defaultdict(list)
        for message in part.skipped:
            if isinstance(message, Skipped):
                bad[message.kind].append(message)
        for kind, skipped in bad.items():
            rows = [message.row for message in skipped]
            said = _unknown(skipped, found.taxonomy) if kind == "unknown_label" else _first(skipped)
            yield Finding(kind, len(rows), rows[:SHOWN], said, name)


def _first(skipped: Sequence[Skipped]) -> str:
    n = len(skipped)
    return f"{n:,} row{'s' * (n > 1)} cannot be read. The first: {skipped[0]}"


def _unknown(skipped: Sequence[Skipped], taxonomy: Taxonomy) -> str:
    """The labels that the taxonomy lacks, the most frequent first, with the nearest it has."""
    counts = Counter(message.value for message in skipped)
    names = [*map(str, taxonomy.nodes), *taxonomy.titles.values()]
    shown = [
        f"{shorten(value)} {n:,} times{nearest(value, names)}" if n > 1 else
        f"{shorten(value)}{nearest(value, names)}"
        for value, n in counts.most_common(FEW)
    ]  # fmt: skip
    more = f" and {len(counts) - FEW:,} more" if len(counts) > FEW else ""
    return (
        f"{len(skipped):,} rows have labels that the taxonomy lacks: {', '.join(shown)}{more}. "
        f"Correct them, or add them to the taxonomy."
    )


def _of_taxonomy(taxonomy: Taxonomy) -> Iterator[Finding]:
    for found in taxonomy_findings(taxonomy):
        n = len(found.nodes)
        yield Finding("taxonomy", n, [], found.message, None, found.level)


# -- one part ----------------------------------------------------------------------------


def _of_part(name: str, part: Part, taxonomy: Taxonomy) -> Iterator[Finding]:
    numbers = _row_numbers(part)
    own = taxonomy.most_specific(taxonomy.encode(part.labels))

    def finding(kind: str, rows: Any, what: str, advice: str, level: str = "warning") -> Finding:
        at = [numbers[i] for i in rows]
        return Finding(kind, len(at), at[:SHOWN], f"{what}: {len(at):,}. {advice}", name, level)

    empty = _without_content(part)
    if empty:
        what = "Rows without text" if part.texts is not None else "Rows without any value"
        yield finding("empty_text", empty, what, "Fill them in, or remove them.")
    bare = [i for i, row in enumerate(part.labels) if not row]
    if bare:
        yield finding("no_label", bare, "Rows without a label", "Fine, if none fits.", "note")
    yield from _copies(part, finding)
    if name == "train":
        yield from _rare(own, taxonomy, finding)
    if part.texts is not None:
        yield from _languages(part.texts, name)
        yield from _leak(part.texts, own, taxonomy, finding)
    elif not sp.issparse(part.X):
        yield from _poor_columns(part, name)


def _row_numbers(part: Part) -> list[int]:
    """The number in the file of each row that was read."""
    gone = {message.row for message in part.skipped if isinstance(message, Skipped)}
    every = (number for number in range(1, len(part) + len(gone) + 1) if number not in gone)
    return [number for number, _ in zip(every, range(len(part)), strict=False)]


def _without_content(part: Part) -> list[int]:
    if part.texts is not None:
        return [i for i, text in enumerate(part.texts) if not text.strip()]
    if sp.issparse(part.X):
        return list(np.flatnonzero(np.diff(part.X.indptr) == 0).tolist())
    return list(np.flatnonzero(np.isnan(part.X).all(axis=1)).tolist())


def _copies(part: Part, finding: Any) -> Iterator[Finding]:
    """Rows that say the same as an earlier one, and those among them with other labels."""
    groups = Copies.of(inputs_of(part)).groups
    if groups is None:
        return
    first: dict[int, int] = {}
    later, other = [], []
    for i, group in enumerate(groups.tolist()):
        if group in first:
            later.append(i)
            if set(part.labels[i]) != set(part.labels[first[group]]):
                other.append(i)
        else:
            first[group] = i
    advice = "They stay on one side of every split, but count several times in training."
    yield finding("duplicate", later, "Copies of earlier rows", advice)
    if other:
        advice = "Decide for one of the labels, or give all of them to both."
        yield finding("conflict", other, "Copies of earlier rows with other labels", advice)


def _rare(own: sp.csr_array, taxonomy: Taxonomy, finding: Any) -> Iterator[Finding]:
    counts = np.bincount(own.indices, minlength=len(taxonomy))
    single = np.flatnonzero(counts == 1)
    if single.size:
        rows = np.flatnonzero(np.diff(own[:, single].indptr)).tolist()
        advice = (
            f"Such as {_named(taxonomy, single)}. Nothing can be held out to judge them. Add rows, "
            f"or merge classes."
        )
        yield finding("one_row_class", rows, "Rows that are the only ones of their class", advice)
    used = np.asarray(taxonomy.closure(own).sum(axis=0)).ravel() > 0
    unused = taxonomy.leaf_numbers[~used[taxonomy.leaf_numbers]]
    if unused.size and not taxonomy.is_graph:  # in a graph these are inner nodes
        message = (
            f"{unused.size:,} of {taxonomy.leaf_numbers.size:,} leaves have no row, such as "
            f"{_named(taxonomy, unused)}. They will never be answered."
        )
        yield Finding("unused_label", int(unused.size), [], message, "train", "note")


def _named(taxonomy: Taxonomy, numbers: Any) -> str:
    names = [taxonomy.nodes[v] for v in numbers[:3]]
    return ", ".join(shorten(str(taxonomy.titles.get(v, v))) for v in names)


def _languages(texts: Sequence[str], name: str) -> Iterator[Finding]:
    every = language_shares(texts, of_all=True)  # a few short texts that seem clear are no language
    shares = {code: share for code, share in every.items() if share >= SECOND}
    if len(shares) > 1:
        said = ", ".join(f"{code} {share:.0%}" for code, share in shares.items())
        message = (
            f"The texts are in several languages: {said}. Words of one say nothing of another."
        )
        yield Finding("languages", len(shares), [], message, name, "note")


def _leak(
    texts: Sequence[str], own: sp.csr_array, taxonomy: Taxonomy, finding: Any
) -> Iterator[Finding]:
    """Rows whose text names their label, where the texts of other rows hardly do."""
    titles = [same(str(taxonomy.titles.get(v, v))) for v in taxonomy.nodes]
    plain = [f" {same(text)} " for text in texts]
    other = np.random.default_rng(0).permutation(len(texts))
    sets = [set(own.indices[a:b].tolist()) for a, b in pairwise(own.indptr)]
    rows, others = [], list[bool]()
    for i, text in enumerate(plain):
        if any(len(titles[v]) > 3 and f" {titles[v]} " in text for v in sets[i]):
            rows.append(i)
        without = sets[i] - sets[other[i]]
        others += [f" {titles[v]} " in plain[other[i]] for v in without if len(titles[v]) > 3]
    if len(rows) > LEAK * len(texts) and sum(others) < BASE * max(1, len(others)):
        advice = "New texts may not: check that the label was not pasted into them."
        yield finding("leak", rows, "Rows that name their label in the text", advice)


def _poor_columns(part: Part, name: str) -> Iterator[Finding]:
    names = part.feature_names or [str(j) for j in range(part.X.shape[1])]
    missing = np.isnan(part.X).mean(axis=0)
    holes = np.flatnonzero(missing > 0.5)
    if holes.size:
        shown = ", ".join(shorten(names[j]) for j in holes[:FEW])
        message = f"{holes.size:,} columns are empty in more than half of the rows: {shown}."
        yield Finding("missing_values", int(holes.size), [], message, name, "note")
    with np.errstate(invalid="ignore"):
        filled = part.X[:, missing < 1]
        constant = np.flatnonzero(np.nanmin(filled, axis=0) == np.nanmax(filled, axis=0))
    if constant.size and len(part) > 1:
        kept = np.flatnonzero(missing < 1)[constant]
        shown = ", ".join(shorten(names[j]) for j in kept[:FEW])
        message = f"{constant.size:,} columns have the same value in every row: {shown}."
        yield Finding("constant_column", int(constant.size), [], message, name, "note")


# -- several parts ----------------------------------------------------------------------------


def _between_parts(found: Collection) -> Iterator[Finding]:
    """Copies of training rows among those that judge, and labels that were never taught."""
    if found.train is None:
        return
    copies = Copies.of(inputs_of(found.train))
    known = np.empty(0, dtype=np.uint64) if copies.repeats else copies.digests
    taught = {label for row in found.train.labels for label in row}
    for name, part in found.parts():
        if name == "train":
            continue
        numbers = _row_numbers(part)
        digests = Copies.of(inputs_of(part)).digests
        again = np.flatnonzero(np.isin(digests, known) & (digests != 0))
        if again.size:
            rows = [numbers[i] for i in again]
            message = (
                f"{again.size:,} of {len(part):,} rows are copies of training rows: figures on "
                f"this part are too good. Remove them here."
            )
            yield Finding("duplicate_across_parts", len(rows), rows[:SHOWN], message, name)
        unseen = [i for i, row in enumerate(part.labels) if set(row) - taught]
        if unseen:
            rows = [numbers[i] for i in unseen]
            message = f"{len(rows):,} rows have a label that no training row has."
            yield Finding("untaught_label", len(rows), rows[:SHOWN], message, name, "note")
