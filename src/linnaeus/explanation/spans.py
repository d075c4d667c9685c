"""Where the features of a text occur in it, so that its words can be coloured.

A term that occurs m times gives each occurrence 1/m of its contribution, and a run of n words gives
each of its words 1/n of that. The value of a word is the sum of what all terms give it, so that the
values of all pieces add up to the contributions of all terms of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer

from linnaeus.text import ENGLISH, SpectrumVectorizer, TfidfVectorizer, fold_with_places
from linnaeus.text.analyzers import ANALYZERS, Group

Span = tuple[int, int]


class Piece(NamedTuple):
    """A part of a text, and what it adds to a score; None between words.

    Attributes
    ----------
    text : str
        The part.
    value : float or None
        What it adds.
    """

    text: str
    value: float | None


class Occurrences(NamedTuple):
    """The words (or characters) of a text, and the terms that they form."""

    text: str
    spans: list[Span]  # of the words
    terms: list[tuple[int, range]]  # column of a term, and its words

    def pieces(self, contributions: Mapping[int, float]) -> list[Piece]:
        """The text in pieces, with the parts of the contributions {column: value} that they have.

        Neighbours of value 0 are one piece.
        """
        found: list[Piece] = []
        end = 0
        for (start, stop), v in zip(self.spans, self._values(contributions).tolist(), strict=True):
            _append(found, self.text[end:start], None)
            _append(found, self.text[start:stop], v)
            end = stop
        _append(found, self.text[end:], None)
        return found

    def _values(self, contributions: Mapping[int, float]) -> np.ndarray:
        value = np.zeros(len(self.spans))
        times: dict[int, int] = {}
        for column, _ in self.terms:
            times[column] = times.get(column, 0) + 1
        for column, words in self.terms:
            part = contributions.get(column, 0.0) / times[column]
            value[words.start : words.stop] += part / len(words)
        return value


def _append(pieces: list[Piece], text: str, value: float | None) -> None:
    if not text:
        return
    if pieces and value == 0 and pieces[-1].value == 0:
        pieces[-1] = Piece(pieces[-1].text + text, 0.0)
    else:
        pieces.append(Piece(text, value))


def occurrences(vectorizer: Any, text: str) -> Occurrences | None:
    """Where the terms of a fitted vectoriser occur in a text; None if it is not known how.

    Parameters
    ----------
    vectorizer : object
        A fitted vectoriser.
    text : str
        The text.

    Returns
    -------
    object or None
        Its words, and the terms that they form.
    """
    groups = _groups(vectorizer, text)
    if groups is None:
        return None
    known = vectorizer.vocabulary_
    if known is None:
        known = _hashed(vectorizer, {term for group in groups for term in group.terms()})
    return _found(text, groups, known)


def _groups(vectorizer: Any, text: str) -> list[Group] | None:
    """The tokens of a text, with their places in it; None if it is not known how."""
    if isinstance(vectorizer, SpectrumVectorizer):
        lengths = {len(term) for term in vectorizer.vocabulary_}
        places = [(i, i + 1) for i in range(len(text))]
        return [Group(text, places, min(lengths, default=1), max(lengths, default=0))]
    if isinstance(vectorizer, CountVectorizer):  # scikit-learn's, of which TF-IDF is a kind
        own = (vectorizer.preprocessor, vectorizer.tokenizer, vectorizer.strip_accents)
        if vectorizer.analyzer not in ("word", "char") or own != (None, None, None):
            return None
    elif not isinstance(vectorizer, TfidfVectorizer) or callable(vectorizer.analyzer):
        return None
    if vectorizer.analyzer in ANALYZERS:
        folded, origin = fold_with_places(text, vectorizer.lowercase)
        groups = vectorizer.text_analyzer().groups(folded)
        return [_placed(group, origin) for group in groups]
    (shortest, longest), (folded, origin) = vectorizer.ngram_range, _folded(vectorizer, text)
    if vectorizer.analyzer == "char":
        return [Group(folded, origin, shortest, longest)]
    spans = _words(vectorizer, folded)
    words = [folded[start:end] for start, end in spans]
    return [_placed(Group(words, spans, shortest, longest, " "), origin)]


def _placed(group: Group, origin: list[Span]) -> Group:
    """With places in the text itself, where they were in the folded one."""
    spans = [(origin[start][0], origin[end - 1][1]) for start, end in group.spans]
    return group._replace(spans=spans)


def _found(text: str, groups: list[Group], known: Mapping[str, int]) -> Occurrences:
    """Terms that are known, over the smallest parts of the text that some token ends at."""
    tokens = {span for group in groups for span in group.spans}
    borders = sorted({border for span in tokens for border in span})
    covered = np.zeros(len(borders) + 1, np.int64)
    place = {border: i for i, border in enumerate(borders)}
    for start, end in tokens:
        covered[place[start]] += 1
        covered[place[end]] -= 1
    inside = np.cumsum(covered)[: max(len(borders) - 1, 0)] > 0
    number = np.concatenate([[0], np.cumsum(inside)]).tolist()  # of the part that begins there
    spans = [(borders[i], borders[i + 1]) for i in np.flatnonzero(inside).tolist()]
    terms = []
    for group in groups:
        at = [(number[place[start]], number[place[end]]) for start, end in group.spans]
        for n in range(group.shortest, group.longest + 1):
            for i in range(len(at) - n + 1):
                column = known.get(group.mark + group.glue.join(group.tokens[i : i + n]))
                if column is not None:
                    terms.append((column, range(at[i][0], at[i + n - 1][1])))
    return Occurrences(text, spans, terms)


def _hashed(vectorizer: TfidfVectorizer, terms: set[str]) -> dict[str, int]:
    """The columns that terms are hashed to."""
    order = sorted(terms)
    if not order:
        return {}
    hasher = FeatureHasher(vectorizer.hashing, input_type="string", alternate_sign=False)
    columns = hasher.transform([term] for term in order).indices
    return dict(zip(order, columns.tolist(), strict=True))


def _words(vectorizer: Any, folded: str) -> list[Span]:
    """Where the words are that are not stop words."""
    stop = vectorizer.stop_words
    left_out = frozenset(ENGLISH if stop == "english" else stop or ())
    if isinstance(vectorizer, CountVectorizer):
        left_out = vectorizer.get_stop_words() or frozenset()
    compiled = re.compile(vectorizer.token_pattern)
    group = 1 if compiled.groups == 1 else 0  # as `re.findall` has it
    found = (match.span(group) for match in compiled.finditer(folded))
    return [(i, j) for i, j in found if i < j and folded[i:j] not in left_out]


def _folded(vectorizer: Any, text: str) -> tuple[str, list[Span]]:
    """A text with its case folded, and for every character where it comes from."""
    if not vectorizer.lowercase:
        return text, [(i, i + 1) for i in range(len(text))]
    lower = isinstance(vectorizer, CountVectorizer)
    parts = [c.lower() if lower else c.casefold() for c in text]
    return "".join(parts), [(i, i + 1) for i, part in enumerate(parts) for _ in part]
