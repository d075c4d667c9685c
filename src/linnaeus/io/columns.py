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
from linnaeus.io.options import ReadOptions

IDS = (
    "id identifier key uid uuid row_id rowid doc_id docid document_id record_id item_id index nr "
    "no sku gtin ean isbn accession call_number signatur gene gene_id sample sample_id"
)
LABELS = (
    "labels label categories category classes class topics topic tags tag subjects subject codes "
    "code targets target nodes node y genres genre taxonomy category_path categorypath "
    "product_type kategorien kategorie klassen klasse schlagworte schlagwort themen thema "
    "schlagwörter sachgruppe headings subject_headings mesh_terms go_terms ec ec_number ec_numbers "
    "catégories catégorie classe sujet categorías categoría categoria clase tema "
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
    "title titel titre título titulo titolo name headline heading keywords product_name subtitle"
)
LEVELS = (
    "level lvl l cat category class tier label node ebene stufe niveau nivel livello kategorie "
    "hierarchy category_level cat_level taxonomy_level"
)
BELOW = "category categorie kategorie cat class group topic genre subject"  # with sub before it
_LEVEL = re.compile(rf"({LEVELS.replace(' ', '|')})_?(\d+)(_name)?")
_BELOW = re.compile(rf"(sub_?)+({BELOW.replace(' ', '|')})")
_ABOVE = re.compile(
    rf"(main_?|top_?|parent_?|haupt_?|ober_?)?({BELOW.replace(' ', '|')}|department)"
)
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

    @property
    def rest(self) -> list[int]:
        """The columns that are kept beside: neither features nor anything named."""
        taken = {self.id, self.labels, *self.levels, *self.text, *self.features}
        return [j for j in range(len(self.names)) if j not in taken]

    def options(self) -> ReadOptions:
        """The columns by name, as one would ask for them."""
        name = self.names.__getitem__
        return ReadOptions(
            tuple(map(name, self.text)),
            None if self.labels is None else name(self.labels),
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
    id = finder.id()
    text = finder.text() if features is None else []
    numbers: list[int] = []
    if features is not None:
        numbers = finder.by_name(features)
    elif not text:
        text, numbers = finder.by_content()
    return Layout(sample.names, id, labels, levels, text, numbers, finder.notes)


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

    def labels(self) -> tuple[int | None, list[int]]:
        """The column of the labels, or the columns of levels."""
        if self.asked.labels is not None:
            return self.take(self.named(self.asked.labels, "labels"))[0], []
        if self.asked.levels:
            return None, self.take(*(self.named(name, "levels") for name in self.asked.levels))
        candidates = self.like(LABELS)
        if candidates and self.keys[candidates[0]] == "labels":
            return self.take(candidates[0])[0], []
        levels = self._levels()
        if levels:
            self.notes.append(f"levels: {self.shown(levels)}")
            return None, self.take(*levels)
        best = self._by_taxonomy(candidates)
        if best is None:
            return None, []
        self.notes.append(f"labels: {self.shown([best])}")
        return self.take(best)[0], []

    def _by_taxonomy(self, candidates: list[int]) -> int | None:
        """The column whose cells are labels: by the taxonomy where there is one, else by name."""
        if self.are_labels is None:
            return candidates[0] if candidates else None
        others = [j for j in self.free() if j not in candidates]
        share = {j: self.are_labels(self.sample.cells(j)) for j in [*candidates, *others]}
        best = max(share, key=lambda j: share[j], default=None)
        if best is not None and share[best] > 0.5:
            return next((j for j in candidates if share[j] >= share[best]), best)
        return candidates[0] if candidates else None

    def _levels(self) -> list[int]:
        """Columns such as level 1, level 2, ..., or category, subcategory."""
        found: dict[str, dict[int, int]] = {}
        for j in self.free():
            if match := _LEVEL.fullmatch(self.keys[j]):
                found.setdefault(match[1] + (match[3] or ""), {})[int(match[2])] = j
        for numbered in found.values():
            order = sorted(numbered)
            if order[0] <= 1 and len(order) > 1 and order[-1] - order[0] == len(order) - 1:
                return [numbered[i] for i in order]
        below = [j for j in self.free() if _BELOW.fullmatch(self.keys[j])]
        above = [j for j in self.free() if _ABOVE.fullmatch(self.keys[j])]
        if len(above) == 1 and below:
            return [*above, *sorted(below, key=lambda j: self.keys[j].count("sub"))]
        return []

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
            return self.take(j)
        known = [j for j in self.like(TEXTS) if not self._is_numeric(j)]
        if not known:
            return []
        both = sorted([*known, *self.like(TITLES)])
        self.notes.append(f"text: {self.shown(both)}")
        return self.take(*both)

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
        wordy = [j for j in others if self._is_wordy(j)]
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
    return re.sub(r"[\s._\-/#:*]+", "_", name).strip("_").casefold()


_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?|nan|na|n/a|null|none|\?|-", re.I)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or a sign for a missing one."""
    return _NUMBER.fullmatch(cell.strip()) is not None
