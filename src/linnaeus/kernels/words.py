"""Kernels of texts by their words or syllables.

    bag of words        k(s, t) = sum_w #_w(s) #_w(t)
    word sequences      gap-weighted subsequences of words
    syllable sequences  gap-weighted subsequences of syllables, as they follow in the text

A text is folded to one case and cut into words; a list is taken for its tokens as they are.
Syllables in the Latin script: each run of the vowels a e i o u y (whatever accents they carry) is
the kernel of a syllable. Of the consonants between two, the last begins the second syllable; a
stop or f before l or r, and ch, gh, ph, sh, th, qu stay together. A word without a vowel is one
syllable. This is a rule of thumb for all languages, not the hyphenation of one.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from linnaeus.kernels.base import Kernel
from linnaeus.kernels.gram import Pairs
from linnaeus.kernels.sequences import as_sequence_pair
from linnaeus.kernels.spectrum import SpectrumKernel
from linnaeus.kernels.subsequence import check_subsequences, subsequence_pairs

WORD = r"\w+"
_SYLLABLE = re.compile(
    r"(?:qu|[^aeiouy])*[aeiouy]++"  # up to the end of the vowels; then consonants, as few as
    r"(?:[^aeiouy]*$|[^aeiouy]*?(?=(?:[cgpst]h|[bcdfgkpt][lr]|qu|[^aeiouy])[aeiouy]))"  # can be
)


@dataclass
class BagOfWordsKernel(Kernel):
    r"""Words in common, as often as they occur.

    Parameters
    ----------
    lowercase : bool, default=True
        Fold case first, so that "The" is "the".
    token_pattern : str, default='\\w+'
        Regular expression of a word.

    Examples
    --------
    >>> BagOfWordsKernel().gram(["The cat and the dog"], ["the fat dog"])
    array([[3.]], dtype=float32)
    """

    lowercase: bool = True
    token_pattern: str = WORD

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        first, second = (self._words(C) for C in as_sequence_pair(A, B))
        return SpectrumKernel(1).pairs(first, None if B is None else second)

    def _words(self, documents: list[Any]) -> list[Any]:
        return [words(d, self.token_pattern, self.lowercase) for d in documents]


@dataclass
class WordSequenceKernel(Kernel):
    r"""Subsequences of p words that two texts share, gaps allowed.

    Parameters
    ----------
    p : int, default=2
        Number of words.
    decay : float, default=0.5
        Weight of each position that a subsequence spans, in (0, 1]; 1 counts all alike.
    lowercase : bool, default=True
        Whether to fold case first, so that "The" is "the".
    token_pattern : str, default='\\w+'
        Regular expression of a word.

    Examples
    --------
    >>> texts = ["The cat was chased.", "The fat cat, chased"]
    >>> WordSequenceKernel(2, 0.8).gram(texts, dtype=float)[0, 1].round(8)
    np.float64(0.82313216)
    """

    p: int = 2
    decay: float = 0.5
    lowercase: bool = True
    token_pattern: str = WORD

    def __post_init__(self) -> None:
        check_subsequences(self.p, self.decay)

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        first, second = ([self._tokens(d) for d in C] for C in as_sequence_pair(A, B))
        return subsequence_pairs(first, second, self.p, self.decay)

    def _tokens(self, document: Any) -> Any:
        return words(document, self.token_pattern, self.lowercase)


@dataclass
class SyllableSequenceKernel(WordSequenceKernel):
    r"""Subsequences of p syllables that two texts share, gaps allowed.

    A list is taken for its words.

    Parameters
    ----------
    p : int, default=2
        Number of syllables.
    decay : float, default=0.5
        Weight of each position that a subsequence spans, in (0, 1]; 1 counts all alike.
    lowercase : bool, default=True
        Whether to fold case first, so that "The" is "the".
    token_pattern : str, default='\\w+'
        Regular expression of a word.
    """

    def _tokens(self, document: Any) -> Any:
        return [syllable for word in super()._tokens(document) for syllable in syllables(word)]


def words(document: Any, pattern: str = WORD, lowercase: bool = True) -> Any:
    """The words of a text; a list of tokens as it is."""
    if not isinstance(document, str):
        return document
    return re.findall(pattern, document.casefold() if lowercase else document)


def syllables(word: str) -> list[str]:
    """The syllables of a word of the Latin script.

    Parameters
    ----------
    word : str
        The word.

    Returns
    -------
    list of str

    Examples
    --------
    >>> syllables("taxonomy"), syllables("abstract"), syllables("bibliothèque"), syllables("pst")
    (['ta', 'xo', 'no', 'my'], ['abs', 'tract'], ['bi', 'blio', 'thè', 'que'], ['pst'])
    """
    word = unicodedata.normalize("NFC", word)
    bare = "".join(unicodedata.normalize("NFD", letter)[0] for letter in word).lower()
    return [word[m.start() : m.end()] for m in _SYLLABLE.finditer(bare)] or [word][: len(word)]
