"""Which column of a table is what: what was asked for, what the header says, what the cells show.

Names of columns count in any case. A column called `text` is the text and one called `labels` holds
the labels; otherwise other words that people use are understood, and then the cells decide: labels
are where names of the taxonomy stand, a text has several words in most of its cells, and features
are numbers. Everything that was guessed is said (`Layout.notes`).
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.io import label_columns
from linnaeus.io.options import ReadOptions
from linnaeus.io.spellings import is_nothing

IDS = (
    "id identifier key uid uuid row_id rowid doc_id docid document_id record_id item_id index nr "
    "no _id unnamed_0 rownames row_number row sku gtin ean isbn accession call_number signatur "
    "gene gene_id sample sample_id"
)
LABELS = (
    "labels label categories category classes class topics topic tags tag subjects subject codes "
    "code targets target nodes node y genres genre taxonomy category_path categorypath "
    "product_type product_category google_product_category kategorien kategorie klassen klasse "
    "schlagworte schlagwort schlagwörter themen thema headings subject_headings mesh_terms "
    "go_terms ec ec_number ec_numbers "
    "sachgruppe catégories catégorie classe sujet categorías categoría categoria clase tema "
    "type kind species"
)
TEXTS = (
    "text texts description abstract body content document sentence summary blurb article review "
    "question query utterance message comment comments details full_text fulltext sequence seq "
    "beschreibung inhalt klappentext zusammenfassung texte résumé contenu descripción descripcion "
    "texto resumen descrizione testo product_description item_description long_description "
    "short_description"
)
TITLES = (
    "title titel titre título titulo titolo name headline heading keywords product_name subtitle "
    "überschrift ueberschrift schlagzeile betreff"
)
PARTS = {  # the values of a column that says which part a row belongs to
    "train": "train", "training": "train", "trn": "train", "test": "test", "testing": "test",
    "tst": "test", "holdout": "test", "eval": "test", "valid": "valid", "validation": "valid",
    "val": "valid", "dev": "valid",
}  # fmt: skip
_PART_NAMES = "split set part subset partition fold dataset usage teil"
_LIKE_LABELS = re.compile(
    r"(.*_)?(categor(y|ies)|kategorien?|catégories?|categorías?|categorias?|topics?|subjects?|genres?|"
    r"labels?|classification|schlagworte?|themen|class)(_(ids?|codes?|names?|paths?|[a-z]{2}))?"
)
_NO_LABELS = re.compile(r"(parent|old|previous|former|predicted|suggested|alt)_.*")
_LIKE_TEXTS = re.compile(
    r"(.*_)?(text|description|abstract|body|summary|content|beschreibung|zusammenfassung|résumé)"
    r"(_(html|[a-z]{2}))?"
)
_LIKE_TITLES = re.compile(r"(.*_)?(title|titel|titre)(_[a-z]{2})?")
_ARROWS = re.compile(r">|»|›|→|::")
WORDS = 3  # in a cell of a text, on average, at least
NUMERIC = 0.5  # of the cells that are numbers, from which on others are mistakes


class Layout(NamedTuple):
    """Where the columns of a table are."""

    names: list[str]
    id: int | None
    labels: int | None
    levels: list[int]
    text: list[int]
    features: list[int]
    notes: list[str]
    more: Sequence[int] = ()  # further columns of labels
    marks: Sequence[int] = ()  # columns that are called as labels are, with a mark where they hold
    part: int | None = None  # the column that says which part a row belongs to

    @property
    def rest(self) -> list[int]:
        """The columns that are kept beside: neither features nor anything named."""
        taken = {self.id, self.labels, *self.levels, *self.text, *self.features}
        taken |= {*self.more, *self.marks}
        return [j for j in range(len(self.names)) if j not in taken]

    @property
    def label_columns(self) -> list[int]:
        """The columns whose cells hold labels, other than levels."""
        return [] if self.labels is None else [self.labels, *self.more]

    def options(self) -> ReadOptions:
        """The columns by name, as one would ask for them."""
        name = self.names.__getitem__
        return ReadOptions(
            tuple(map(name, self.text)),
            ",".join(map(name, self.label_columns)) or None,
            tuple(map(name, self.levels)),
            None if self.id is None else name(self.id),
        )


class Sample(NamedTuple):
    """The header of a table and its first rows, as texts."""

    names: list[str]
    rows: Sequence[Sequence[str]]

    def cells(self, j: int) -> list[str]:
        """What stands in a column, without empty cells."""
        found = (row[j].strip() for row in self.rows if j < len(row))
        return [cell for cell in found if cell]


def lay_out(
    sample: Sample,
    asked: ReadOptions,
    are_labels: Callable[[list[str]], float] | None = None,
    features: Sequence[str] | None = None,
) -> Layout:
    """Find out what the columns of a table are.

    Parameters
    ----------
    sample : Sample
        Header and first rows.
    asked : ReadOptions
        Columns that are named already.
    are_labels : callable or None, default=None
        The share of some cells that hold names of the taxonomy; None without a taxonomy.
    features : sequence of str or None, default=None
        The features that the table must have; None for those that it has.

    Returns
    -------
    Layout
    """
    finder = _Finder(sample, asked, are_labels, features or ())
    labels, levels = finder.labels()
    part = finder.part()
    id = finder.id()
    text = finder.text() if features is None else []
    numbers: list[int] = []
    if features is not None:
        numbers = finder.by_name(features)
    elif not text:
        text, numbers = finder.by_content()
    return Layout(
        sample.names, id, labels[0] if labels else None, levels, text, numbers, finder.notes,
        labels[1:], finder.marks, part,
    )  # fmt: skip


class _Finder:
    """Takes one column after the other out of those that are left."""

    def __init__(
        self, sample: Sample, asked: ReadOptions,
        are_labels: Callable[[list[str]], float] | None, features: Sequence[str],
    ) -> None:  # fmt: skip
        self.sample, self.asked, self.are_labels = sample, asked, are_labels
        self.kept = {*features, *asked.text}  # what these columns are is known
        self.keys = [plain(name) for name in sample.names]
        self.left = list(range(len(sample.names)))
        self.notes: list[str] = []
        self.marks: list[int] = []

    def take(self, *places: int) -> list[int]:
        self.left = [j for j in self.left if j not in places]
        return list(places)

    def named(self, name: str, what: str) -> int:
        """The column that was asked for, by its name in any case."""
        same = [j for j, known in enumerate(self.sample.names) if known == name] or [
            j for j, key in enumerate(self.keys) if key == plain(name)
        ]
        if not same:
            raise UserError(
                f"there is no column {shorten(name)} for the {what}"
                f"{nearest(name, self.sample.names)}. The columns are "
                f"{', '.join(map(shorten, self.sample.names))}."
            )
        return same[0]

    def like(self, words: str) -> list[int]:
        """The columns that are left whose names are such words, in the order of the words."""
        place = {word: i for i, word in enumerate(words.split())}
        return sorted(
            (j for j in self.free() if self.keys[j] in place), key=lambda j: place[self.keys[j]]
        )

    def free(self) -> list[int]:
        """The columns that are left and not known by name."""
        kept = {plain(name) for name in self.kept}
        return [j for j in self.left if self.keys[j] not in kept]

    def shown(self, places: Iterable[int]) -> str:
        return " + ".join(shorten(self.sample.names[j]) for j in places)

    # -- labels -------------------------------------------------------------------------------

    def labels(self) -> tuple[list[int], list[int]]:
        """The columns of the labels, or the columns of levels."""
        if self.asked.labels is not None:
            return self.take(*self._asked_labels(self.asked.labels)), []
        if self.asked.levels:
            return [], self.take(*(self.named(name, "levels") for name in self.asked.levels))
        candidates = self._called_labels()
        if candidates and self.keys[candidates[0]] == "labels":
            return self.take(candidates[0]), []
        several, levels = self._several()
        if levels:
            self.notes.append(f"levels: {self.shown(levels)}")
            return [], self.take(*levels)
        found = several or self._by_taxonomy(candidates)
        if found:
            self.notes.append(f"labels: {self.shown(found)}")
        else:
            self._find_marks()
        return self.take(*found), []

    def _asked_labels(self, name: str) -> list[int]:
        """The column of this name, or several with commas between their names."""
        keys, parts = {*self.keys}, name.split(",")
        if len(parts) > 1 and plain(name) not in keys and {plain(part) for part in parts} <= keys:
            return [self.named(part.strip(), "labels") for part in parts]
        return [self.named(name, "labels")]

    def _called_labels(self) -> list[int]:
        """The columns that are called as labels are, those with the usual words first."""
        usual = self.like(LABELS)
        others = [j for j in self.free() if j not in usual and _LIKE_LABELS.fullmatch(self.keys[j])]
        return usual + [j for j in others if not _NO_LABELS.fullmatch(self.keys[j])]

    def _by_taxonomy(self, candidates: list[int]) -> list[int]:
        """The column whose cells are labels: by the taxonomy where there is one, else by name."""
        if self.are_labels is None:
            return sorted(candidates, key=self._doubt)[:1]
        others = [j for j in self.free() if j not in candidates]
        share = {j: self.are_labels(self.sample.cells(j)) for j in [*candidates, *others]}
        best = max(share, key=lambda j: share[j], default=None)
        if best is not None and share[best] > 0.5:
            return [next((j for j in candidates if share[j] >= share[best]), best)]
        return candidates[:1]

    def _doubt(self, j: int) -> tuple[bool, bool]:
        """How little cells look like labels: few, or all the same; without the arrows of paths."""
        cells = self.sample.cells(j)
        rows = len(self.sample.rows)
        paths = sum(_ARROWS.search(cell) is not None for cell in cells)
        return 2 * len(cells) < rows or (len(set(cells)) < 2 < rows), 2 * paths <= len(cells)

    def _several(self) -> tuple[list[int], list[int]]:
        """Columns of labels side by side, or of levels: by their names, and by what they hold."""
        ladder = label_columns.named_levels(self.sample.names, self.keys, self.free())
        if ladder and self._are_levels(ladder) is not False:
            return [], ladder
        for word, places in label_columns.numbered(self.keys, self.free()):
            sure, labels = label_columns.is_level_word(word), label_columns.is_label_word(word)
            shown = self._are_levels(places)
            if shown or (shown is None and (sure or labels)):
                return [], places
            if labels or (self.are_labels is not None and self._hold_labels(places)):
                return places, []
            if sure:
                return [], places
        return [], []

    def _are_levels(self, places: Sequence[int]) -> bool | None:
        cells = [cell for j in places for cell in self.sample.cells(j) if not is_nothing(cell)]
        if self.are_labels is None and any(map(is_number, cells)):
            return False
        rows = [[row[j] for j in places if j < len(row)] for row in self.sample.rows]
        return label_columns.are_levels(rows, self.are_labels)

    def _hold_labels(self, places: Sequence[int]) -> bool:
        assert self.are_labels is not None
        return self.are_labels([cell for j in places for cell in self.sample.cells(j)]) > 0.5

    def _find_marks(self) -> None:
        """Columns with a mark where the label holds that they are called by."""
        known = self.are_labels or (lambda _: 1.0 if self._has_text() else 0.0)
        free = [j for j in self.free() if plain(self.sample.names[j]) not in IDS.split()]
        self.marks = label_columns.marked(self.sample.names, free, self.sample.cells, known)
        if self.marks:
            shown = self.shown(self.marks[:2]) + (" and more" if len(self.marks) > 2 else "")
            self.notes.append(f"labels: a mark in {len(self.marks):,} columns, {shown}")
            self.take(*self.marks)

    def _has_text(self) -> bool:
        filled = [j for j in self.left if self.sample.cells(j) and not self._is_numeric(j)]
        return any(self._is_wordy(j) for j in filled)

    def part(self) -> int | None:
        """The column that says which part a row belongs to."""
        for j in self.like(_PART_NAMES):
            values = {cell.casefold() for cell in self.sample.cells(j)}
            if "train" in {PARTS.get(value) for value in values} and values <= PARTS.keys():
                return self.take(j)[0]
        return None

    # -- the rest -----------------------------------------------------------------------------

    def id(self) -> int | None:
        if self.asked.id is not None:
            return self.take(self.named(self.asked.id, "ids"))[0]
        found = [j for j in self.like(IDS) if self.keys[j] == "id" or self._are_distinct(j)]
        nameless = [j for j in self.left if not self.sample.names[j]]
        if found:
            if self.keys[found[0]] != "id":
                self.notes.append(f"ids: {self.shown(found[:1])}")
            return self.take(found[0])[0]
        if nameless == [0]:  # the row numbers that pandas and R write
            self.notes.append("ids: the first column, which has no name")
            return self.take(0)[0]
        return None

    def _are_distinct(self, j: int) -> bool:
        cells = self.sample.cells(j)
        return len(set(cells)) == len(cells) > 1 or not self.sample.rows

    def text(self) -> list[int]:
        """The columns of the text that were asked for, or that the header names."""
        if self.asked.text:
            return self.take(*(self.named(name, "text") for name in self.asked.text))
        if "text" in self.keys and (j := self.keys.index("text")) in self.left:
            titles = self._titles_beside(j)
            if titles:
                self.notes.append(f"text: {self.shown([*titles, j])}")
            return self.take(*titles, j)
        known = [j for j in self.like(TEXTS) if not self._is_numeric(j)]
        known = known or [
            j
            for j in self.free()
            if _LIKE_TEXTS.fullmatch(self.keys[j]) and not self._is_numeric(j)
        ]
        if not known:
            return []
        titles = self.like(TITLES)
        titles += [
            j
            for j in self.free()
            if _LIKE_TITLES.fullmatch(self.keys[j]) and j not in titles and j not in known
        ]
        both = sorted([*known, *titles])
        self.notes.append(f"text: {self.shown(both)}")
        return self.take(*both)

    def _titles_beside(self, j: int) -> list[int]:
        """Titles that belong before the text of a table that people made: it does not hold them.

        Under the name `text`, as our own files have it, the text is whole.
        """
        if self.sample.names[j] == "text":
            return []
        rows = [row for row in self.sample.rows if j < len(row)]
        found = [k for k in self.like(TITLES) if not self._is_numeric(k)]
        return [k for k in found if 2 * sum(row[k] in row[j] for row in rows) < len(rows)]

    def by_name(self, features: Sequence[str]) -> list[int]:
        """The columns of these features, wherever they are."""
        places = {name: j for j, name in reversed([*enumerate(self.sample.names)])}
        missing = [name for name in features if name not in places]
        if missing:
            raise UserError(
                f"there is no feature column {shorten(missing[0])}"
                f"{nearest(missing[0], self.sample.names)}; {len(missing):,} of {len(features):,} "
                f"are missing. Give the feature columns of the training part."
            )
        found = self.take(*(places[name] for name in features))
        if self.left:
            self.notes.append(f"not used: {self.shown(self.left)}")
        return found

    def by_content(self) -> tuple[list[int], list[int]]:
        """Texts or features among the columns that are left, by what stands in their cells."""
        filled = [j for j in self.left if self.sample.cells(j) or not self.sample.rows]
        numbers = [j for j in filled if self._is_numeric(j)]
        others = [j for j in filled if j not in numbers]
        wordy = self._distinct([j for j in others if self._is_wordy(j)])
        names = [j for j in self.like(TITLES) if j in others]
        if wordy or (others and not numbers):
            chosen = sorted({*wordy, *names}) if wordy else others
            self.notes.append(f"text: {self.shown(chosen)}")
            return self.take(*chosen), []
        others = [j for j in others if j not in names]
        if others:
            raise UserError(
                f"the column {self.shown(others[:1])} holds words such as "
                f"{shorten(self.sample.cells(others[0])[0])}, and {self.shown(numbers[:1])} holds "
                f"numbers. Say which columns are the text, or remove the columns of words."
            )
        return [], self.take(*[j for j in self.left if j not in names])

    def _is_numeric(self, j: int) -> bool:
        cells = self.sample.cells(j)
        return sum(map(is_number, cells)) >= NUMERIC * len(cells)

    def _distinct(self, places: list[int]) -> list[int]:
        """Without columns whose cells recur, if there are others: those are categories."""
        cells = {j: self.sample.cells(j) for j in places}
        return [j for j in places if 2 * len(set(cells[j])) >= len(cells[j])] or places

    def _is_wordy(self, j: int) -> bool:
        cells = self.sample.cells(j)
        return statistics.fmean(len(cell.split()) for cell in cells) >= WORDS or (
            self.keys[j] in TEXTS.split()
        )


def plain(name: str) -> str:
    """The name of a column without case, blanks and signs, as `parent_id` for "Parent ID".

    >>> plain(" Parent-ID "), plain("parentId"), plain("Level 1")
    ('parent_id', 'parent_id', 'level_1')
    """
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\W_]+", "_", name).strip("_").casefold() or name


_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?|nan|na|n/a|null|none|\?|-", re.I)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or a sign for a missing one."""
    return _NUMBER.fullmatch(cell.strip()) is not None
