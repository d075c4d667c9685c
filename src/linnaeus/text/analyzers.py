"""From a text in any language to terms, and where in the text each of them is.

    text      words; where there are no blanks runs of 1 to 3 letters, or 4 (Thai, Lao, Khmer ...)
    pieces    the same, and runs of 4 to 5 letters within words: ~haus of Hausboot and Bootshaus
    letters   runs of letters, each with its marks, throughout
    jieba ... the same as text, but words where this library finds them

All texts are folded first (`linnaeus.text.writing.fold`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from linnaeus.text import writing
from linnaeus.text.segmenters import SEGMENTERS, segmenter
from linnaeus.text.tokens import ngrams
from linnaeus.text.writing import Cut, Span

ANALYZERS = ("text", "pieces", "letters", *SEGMENTERS)
PIECE, EDGE = "~", "_"  # before every piece; before and after a word
SHORTEST, LONGEST = 4, 5  # letters of a piece, edges included


class Group(NamedTuple):
    """Tokens whose runs are terms."""

    tokens: Sequence[str]
    spans: Sequence[Span]  # of the tokens, in the folded text
    shortest: int
    longest: int
    glue: str = ""
    mark: str = ""  # before every term

    def terms(self) -> Iterator[str]:
        """The terms."""
        for run in ngrams(self.tokens, self.shortest, self.longest, self.glue):
            yield self.mark + run


class Analyzer(NamedTuple):
    """From folded texts to terms."""

    kind: str
    pattern: str
    stop: frozenset[str]
    ngram_range: tuple[int, int]

    def terms(self, text: str, lowercase: bool) -> Iterator[str]:
        """The terms of a text."""
        folded = text.casefold() if lowercase else text
        usual = writing.is_usual(folded)
        if not usual:
            folded = writing.fold(text, lowercase)
        return self._terms(folded, usual or writing.is_plain(folded))

    def _terms(self, text: str, plain: bool) -> Iterator[str]:
        if self.kind == "letters":
            return ngrams(text if plain else writing.letters(text), *self.ngram_range, "")
        if plain:
            return self.plain_terms(text)
        return chain.from_iterable(group.terms() for group in self.groups(text))

    def plain_terms(self, text: str) -> Iterator[str]:
        """Whatever the pattern matches, or code points; without a look at scripts."""
        if self.kind == "char":
            return ngrams(text, *self.ngram_range, "")
        words, stop = re.findall(self.pattern, text), self.stop
        words = [word for word in words if word not in stop] if stop else words
        terms = ngrams(words, *self.ngram_range)
        if self.kind == "pieces":
            return chain(terms, chain.from_iterable(map(pieces, words)))
        return terms

    def groups(self, text: str) -> Iterator[Group]:
        """The terms of a folded text, with their places."""
        if self.kind == "letters":
            yield Group(*_letters(text, (0, len(text))), *self.ngram_range)
            return
        found = self._segmented(writing.cut(text, self.pattern))
        spans = [(start, end) for start, end in found.words if text[start:end] not in self.stop]
        yield Group([text[start:end] for start, end in spans], spans, *self.ngram_range, " ")
        for run in found.runs:
            yield Group(*_letters(text, run), 1, writing.longest_run(text[run[0]]))
        if self.kind == "pieces":
            for start, end in spans:
                tokens, places = _letters(text, (start, end))
                edged = ([EDGE, *tokens, EDGE], [places[0], *places, places[-1]])
                yield Group(*edged, SHORTEST, LONGEST, mark=PIECE)

    def _segmented(self, found: Cut) -> Cut:
        """With words instead of runs, where a library finds them."""
        if self.kind not in SEGMENTERS:
            return found
        places, letter = segmenter(self.kind), re.compile(f"[{SEGMENTERS[self.kind].letters}]")
        words, runs = list(found.words), []
        for start, end in found.runs:
            if letter.match(found.text, start):
                words += [(start + i, start + j) for i, j in places(found.text[start:end])]
            else:
                runs.append((start, end))
        return Cut(found.text, sorted(words), runs)


def _letters(text: str, span: Span) -> tuple[list[str], list[Span]]:
    """The letters of a part of a text, and where they are."""
    tokens, spans, start = writing.letters(text[slice(*span)]), [], span[0]
    for token in tokens:
        spans.append((start, start + len(token)))
        start += len(token)
    return tokens, spans


@lru_cache(100_000)
def pieces(word: str) -> tuple[str, ...]:
    """The runs of letters of a word, edges included.

    Parameters
    ----------
    word : str
        The word.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> pieces("boot")
    ('~_boo', '~boot', '~oot_', '~_boot', '~boot_')
    """
    edged = [EDGE, *writing.letters(word), EDGE]
    return tuple(PIECE + run for run in ngrams(edged, SHORTEST, LONGEST, ""))
