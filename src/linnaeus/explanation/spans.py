"""Where the features of a text occur in it, so that its words can be coloured.

A term that occurs m times gives each occurrence 1/m of its contribution, and a run of n words gives
each of its words 1/n of that. The value of a word is the sum of what all terms give it, so that the
values of all pieces add up to the contributions of all terms of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer

from linnaeus.text import ENGLISH, SpectrumVectorizer, TfidfVectorizer, ngrams

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
        value = self._values(contributions)
        found: list[Piece] = []
        end = 0
        for (start, stop), v in zip(self.spans, value.tolist(), strict=True):
            if start < end:  # a character that became two when its case was folded
                found[-1] = Piece(found[-1].text, (found[-1].value or 0.0) + v)
                continue
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
    if isinstance(vectorizer, SpectrumVectorizer):
        lengths = sorted({len(term) for term in vectorizer.vocabulary_})
        characters = [(i, i + 1) for i in range(len(text))]
        return _found(text, list(text), characters, lengths, "", vectorizer.vocabulary_)
    if isinstance(vectorizer, CountVectorizer):  # scikit-learn's, of which TF-IDF is a kind
        own = (vectorizer.preprocessor, vectorizer.tokenizer, vectorizer.strip_accents)
        if vectorizer.analyzer not in ("word", "char") or own != (None, None, None):
            return None
    elif not isinstance(vectorizer, TfidfVectorizer) or callable(vectorizer.analyzer):
        return None
    shortest, longest = vectorizer.ngram_range
    chars = vectorizer.analyzer == "char"
    words, spans = _characters(vectorizer, text) if chars else _words(vectorizer, text)
    lengths, glue = list(range(shortest, longest + 1)), "" if chars else " "
    known = vectorizer.vocabulary_
    if known is None:
        known = _hashed(vectorizer, {t for n in lengths for t in ngrams(words, n, n, glue)})
    return _found(text, words, spans, lengths, glue, known)


def _found(
    text: str, words: list[str], spans: list[Span], lengths: list[int], glue: str,
    known: Mapping[str, int],
) -> Occurrences:  # fmt: skip
    terms = []
    for n in lengths:
        for i in range(len(words) - n + 1):
            column = known.get(glue.join(words[i : i + n]))
            if column is not None:
                terms.append((column, range(i, i + n)))
    return Occurrences(text, spans, terms)


def _hashed(vectorizer: TfidfVectorizer, terms: set[str]) -> dict[str, int]:
    """The columns that terms are hashed to."""
    order = sorted(terms)
    if not order:
        return {}
    hasher = FeatureHasher(vectorizer.hashing, input_type="string", alternate_sign=False)
    columns = hasher.transform([term] for term in order).indices
    return dict(zip(order, columns.tolist(), strict=True))


def _characters(vectorizer: TfidfVectorizer, text: str) -> tuple[list[str], list[Span]]:
    folded, origin = _folded(vectorizer, text)
    return list(folded), [(i, i + 1) for i in origin]


def _words(vectorizer: TfidfVectorizer, text: str) -> tuple[list[str], list[Span]]:
    """The words that are not stop words, and where they are in the text."""
    stop = vectorizer.stop_words
    left_out = frozenset(ENGLISH if stop == "english" else stop or ())
    if isinstance(vectorizer, CountVectorizer):
        left_out = vectorizer.get_stop_words() or frozenset()
    folded, origin = _folded(vectorizer, text)
    words, spans = [], []
    for word, start, end in _matches(vectorizer.token_pattern, folded):
        if word and word not in left_out:
            words.append(word)
            spans.append((origin[start], origin[end - 1] + 1))
    return words, spans


def _matches(pattern: str, text: str) -> Iterator[tuple[str, int, int]]:
    """What `re.findall` finds, with its places: the group if the pattern has one."""
    compiled = re.compile(pattern)
    group = 1 if compiled.groups == 1 else 0
    for match in compiled.finditer(text):
        yield (match.group(group) or "", *match.span(group))


def _folded(vectorizer: Any, text: str) -> tuple[str, list[int]]:
    """A text with its case folded, and for every character which one it comes from."""
    if not vectorizer.lowercase:
        return text, list(range(len(text)))
    lower = isinstance(vectorizer, CountVectorizer)
    parts = [c.lower() if lower else c.casefold() for c in text]
    return "".join(parts), [i for i, part in enumerate(parts) for _ in part]
