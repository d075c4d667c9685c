"""What the language of texts asks of their features: words, pieces of them, or a library's words.

Where most letters are of scripts without blanks, words are those of a library that is installed
for the language, or runs of letters. In languages that make long words of short ones, or many forms
of one, pieces of words are tried: the nearest class means on held-out rows say whether they help.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from linnaeus.io.collection import Part
from linnaeus.text.languages import NAMES, language_shares
from linnaeus.text.segmenters import SEGMENTERS, installed_segmenter
from linnaeus.text.spectrum import SpectrumVectorizer
from linnaeus.text.tfidf import TfidfVectorizer
from linnaeus.text.writing import IDEOGRAPHS, LETTERS, longest_run

SAMPLE = 300  # texts that are looked at
MANY = 1000  # texts from which on words of a single text are left out
TRIED, FEWEST, LONGEST = 1000, 40, 1000  # rows of a trial, at most and at least; characters of each
LITTLE, MOST = 0.05, 0.5  # shares of letters that count at all, and that decide
# With compounds, or with many endings
LONG_WORDS = frozenset(
    ("de", "nl", "sv", "da", "no", "fi", "et", "hu", "tr", "ko", "ru", "uk", "be", "bg", "sr", "mk",
     "pl", "cs", "sk", "sl", "hr", "lt", "lv", "el")
)  # fmt: skip
_UNSPACED = re.compile(f"[{IDEOGRAPHS}{LETTERS}]")


def unspaced_share(texts: Sequence[str]) -> float:
    """Share of the letters of the texts that are of scripts without blanks.

    Parameters
    ----------
    texts : sequence of str
        The texts.

    Returns
    -------
    float
    """
    sample = spread(texts)
    found = sum(len(_UNSPACED.findall(text)) for text in sample if not text.isascii())
    if not found:
        return 0.0
    rest = sum(sum(map(str.isalpha, _UNSPACED.sub("", text))) for text in sample)
    return found / (rest + found)


def spread(texts: Sequence[str]) -> list[str]:
    """Some of the texts, at even distances.

    Parameters
    ----------
    texts : sequence of str
        The texts.

    Returns
    -------
    list of str
    """
    step = max(1, len(texts) // SAMPLE)
    return list(islice(texts, 0, SAMPLE * step, step))


def words_analyzer(texts: Sequence[str]) -> str:
    """How words are found in these texts: 'text', or by an installed library for the language.

    Parameters
    ----------
    texts : sequence of str
        The texts.

    Returns
    -------
    str
    """
    if unspaced_share(texts) < MOST:
        return "text"
    return installed_segmenter(_main_language(texts)) or "text"


def words(part: Part, **own: Any) -> TfidfVectorizer:
    """Words weighted by TF-IDF, found as suits the language."""
    own.setdefault("min_df", 2 if len(part) >= MANY else 1)
    if "analyzer" not in own:
        own["analyzer"] = words_analyzer(part.texts or ())
    fixed: dict[str, Any] = {"token_pattern": r"\w+", "sublinear_tf": True}
    return TfidfVectorizer(**fixed | own)


def pieces(part: Part, **own: Any) -> TfidfVectorizer:
    """The same, and runs of letters in words."""
    return words(part, **{"analyzer": "pieces"} | own)


def characters(part: Part, **own: Any) -> TfidfVectorizer:
    """Runs of characters."""
    own.setdefault("min_df", 2 if len(part) >= MANY else 1)
    fixed: dict[str, Any] = {"analyzer": "letters", "ngram_range": (2, 4), "sublinear_tf": True}
    return TfidfVectorizer(**fixed | own)


def spectrum(part: Part, **own: Any) -> SpectrumVectorizer:
    """Substrings of symbols."""
    own.setdefault("min_df", 3 if len(part) >= MANY else 1)
    return SpectrumVectorizer(**{"p": 5, "q": 3, "presence": True, "idf": True} | own)


def suited_to_language(part: Part) -> tuple[str, str]:
    """The kind of features for texts, by their language; and the reason.

    Parameters
    ----------
    part : Part
        Texts with labels.

    Returns
    -------
    tuple of (str, str)
    """
    texts: Sequence[str] = part.texts or ()
    share, language = unspaced_share(texts), _main_language(texts)
    if share >= LITTLE:
        return "words", _said(texts, share, language)
    if language in LONG_WORDS:
        return _tried(part, NAMES[language])
    return "words", "the examples are texts"


def _main_language(texts: Sequence[str]) -> str:
    """The language of most of the texts whose language is clear; '' if there is none."""
    shares = language_shares(texts, SAMPLE)
    return next((code for code, share in shares.items() if share > MOST), "")


def _said(texts: Sequence[str], share: float, language: str) -> str:
    """What is done with letters of scripts without blanks."""
    analyzer = words_analyzer(texts)
    if analyzer in SEGMENTERS:
        return f"the texts are mostly {NAMES[language]}: words found by {analyzer}"
    longest = max(map(longest_run, set(_UNSPACED.findall("".join(spread(texts))))))
    runs = f"runs of 1 to {longest} characters"
    if share < MOST:
        return f"words, and {runs} of the {share:.0%} of letters without blanks between words"
    mostly = NAMES.get(language, "in scripts without blanks between words")
    return f"the texts are mostly {mostly}: {runs}"


def _tried(part: Part, language: str) -> tuple[str, str]:
    """Words or pieces of words, by which finds the labels of more held-out rows."""
    labelled = [i for i in range(len(part)) if part.labels[i]]
    rows = np.random.default_rng(0).permutation(labelled)[:TRIED].tolist()
    if len(rows) < FEWEST:
        return "words", f"the texts are mostly {language}, too few to try pieces of words"
    words, pieces = (_hits(part, rows, analyzer) for analyzer in ("text", "pieces"))
    won, lost = int((pieces & ~words).sum()), int((words & ~pieces).sum())
    better = won - lost > 2 * np.sqrt(won + lost)
    figures = (
        f"of {words.size} held-out rows, words and their pieces found a label of {pieces.sum()}, "
        f"words alone of {words.sum()}"
    )
    return ("pieces" if better else "words"), f"the texts are mostly {language}; {figures}"


def _hits(part: Part, rows: Sequence[int], analyzer: str) -> np.ndarray:
    """Whether the nearest class mean is a label of its own, for the last quarter of the rows."""
    held = np.arange(len(rows)) >= len(rows) * 3 // 4
    texts = [(part.texts or ())[i][:LONGEST] for i in rows]
    vectorizer = TfidfVectorizer(analyzer=analyzer, token_pattern=r"\w+", sublinear_tf=True)
    learned = [text for text, out in zip(texts, held, strict=True) if not out]
    X = vectorizer.fit_transform(learned)
    Y = _indicator([part.labels[i] for i in rows])
    means = normalize(sp.csr_array(Y[~held].T @ X))
    asked = vectorizer.transform([text for text, out in zip(texts, held, strict=True) if out])
    best = np.asarray((asked @ means.T).toarray().argmax(axis=1))
    return np.asarray(Y[held].toarray()[np.arange(best.size), best] > 0)


def _indicator(labels: Sequence[Sequence[Any]]) -> sp.csr_array:
    """Rows and the labels that they have, in order of appearance."""
    number = {label: j for j, label in enumerate(dict.fromkeys(v for row in labels for v in row))}
    pairs = [(i, number[label]) for i, row in enumerate(labels) for label in set(row)]
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sp.csr_array((np.ones(i.size), (i, j)), shape=(len(labels), len(number)))
