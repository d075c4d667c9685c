"""What training rows were like, kept in the model so that new rows can be compared with them.

Shares are kept as the sums of `linnaeus.model.shift.Share`. Words are unknown in new rows if
training never saw them. For training rows themselves that is found by leaving out each in turn: a
word is unknown if too few of the other rows have it. What is known of a table is the share of
missing values and the range of every column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.model.shift import Share
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer
from linnaeus.text.languages import guess_language

SAMPLE = 2000  # training texts that are looked at
CELLS = 1 << 22  # that are counted at a time


def training_profile(
    features: Any, inputs: Any, X: Any, groups: np.ndarray | None = None
) -> dict[str, Any]:
    """What training rows are like, as plain data.

    Parameters
    ----------
    features : object
        The fitted transformer.
    inputs : list of str, {ndarray, csr_array} of shape (n_rows, n_features)
        The training rows.
    X : {ndarray, csr_array} of shape (n_rows, n_columns)
        What the transformer made of them.
    groups : ndarray of int of shape (n_rows,) or None, default=None
        The group of copies of each row, of which one counts; None where there are no copies.

    Returns
    -------
    dict
    """
    if hasattr(inputs, "shape") and not sp.issparse(inputs):
        return _ranges(np.asarray(inputs))
    one = np.arange(X.shape[0]) if groups is None else np.unique(groups, return_index=True)[1]
    if sp.issparse(inputs):
        filled = np.bincount(inputs.indices, minlength=inputs.shape[1]) > 0
        left = _left_out(sp.csr_array(inputs)[np.sort(one)])
        return {"unknown": list(left), "filled": np.packbits(filled)}
    rows = np.sort(one)[:: max(1, one.size // SAMPLE)][:SAMPLE]
    texts = [inputs[i] for i in rows.tolist()]
    found: dict[str, Any] = {"empty": list(Share.of([is_empty(text) for text in inputs]))}
    found["languages"] = dict(sorted(Counter(languages_of(texts)).items()))
    known = _known_without(features, sp.csr_array(X), one)
    counts = None if known is None else count_unknown(features, texts, known)
    if counts is not None:
        found["unknown"] = list(Share.of(*counts))
    return found


def is_empty(text: Any) -> bool:
    """Whether a text, or a list of words, says nothing.

    Parameters
    ----------
    text : str or list
        The text.

    Returns
    -------
    bool
    """
    return not (text.strip() if isinstance(text, str) else text)


def languages_of(texts: Iterable[Any]) -> Iterator[str]:
    """The languages of those texts whose language is clear.

    Parameters
    ----------
    texts : iterable of str
        The texts.

    Returns
    -------
    iterator of str
    """
    return filter(None, (guess_language(text) for text in texts if isinstance(text, str)))


def count_unknown(
    features: Any, texts: Sequence[Any], known: Container[Any], seen: Counter[Any] | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """How many words of each text are unknown, and how many there are.

    Parameters
    ----------
    features : object
        A fitted transformer of texts.
    texts : sequence of str
        The texts.
    known : container
        The words that are known.
    seen : Counter or None, default=None
        Where to count in how many texts each unknown word is.

    Returns
    -------
    tuple of ndarray, or None
        None where the transformer has no words.
    """
    terms = _terms(features)
    if terms is None:
        return None
    unknown, total = np.zeros(len(texts)), np.zeros(len(texts))
    for i, text in enumerate(texts):
        words = list(terms(text))
        new = [word for word in words if word not in known]
        unknown[i], total[i] = len(new), len(words)
        if seen is not None:
            seen.update(set(new))
    return unknown, total


def _terms(features: Any) -> Callable[[Any], Iterable[Any]] | None:
    """The function from a text to its words, or substrings."""
    if isinstance(features, TfidfVectorizer):
        return None if features.vocabulary_ is None else features._analyze()
    if not isinstance(features, SpectrumVectorizer):
        return None
    lengths = range(features.p if features.q is None else features.q, features.p + 1)
    return lambda s: (
        s[i : i + n] if isinstance(s, str) else tuple(s[i : i + n])
        for n in lengths
        for i in range(len(s) - n + 1)
    )


def _known_without(features: Any, X: sp.csr_array, one: np.ndarray) -> set[Any] | None:
    """The words that would be known whichever row were left out.

    one : the rows that count, ascending or not
    """
    vocabulary = getattr(features, "vocabulary_", None)
    if vocabulary is None or X.shape[1] != len(vocabulary):
        return None
    rest = np.setdiff1d(np.arange(X.shape[0]), one)
    rows = _column_counts(X) - _column_counts(X[rest])
    rows[rows == 0] = one.size  # in every row, so that it weighs nothing
    least = getattr(features, "min_df", 1)
    least = max(1, least if least >= 1 else least * one.size)
    return {word for word, n in zip(vocabulary, rows.tolist(), strict=True) if n - 1 >= least}


def _column_counts(X: sp.csr_array) -> np.ndarray:
    """How many rows fill each column; some cells at a time."""
    out = np.zeros(X.shape[1], dtype=np.int64)
    for i in range(0, X.nnz, CELLS):
        out += np.bincount(X.indices[i : i + CELLS], minlength=X.shape[1])
    return out


def _left_out(X: sp.csr_array) -> Share:
    """The share of filled cells whose column no other row fills."""
    alone = np.bincount(X.indices, minlength=X.shape[1]) == 1
    return Share.of(sums_by_row(X, alone[X.indices]), np.diff(X.indptr))


def sums_by_row(X: sp.csr_array, values: Any) -> np.ndarray:
    """Sums of a value for each filled cell, by row.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        The rows.
    values : array-like of shape (n_filled,)
        A number for each filled cell.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, values, minlength=X.shape[0])


def _ranges(X: np.ndarray) -> dict[str, Any]:
    """Rows, missing values and the range of every column of a table."""
    there = ~np.isnan(X)
    return {
        "rows": X.shape[0],
        "missing": (~there).sum(axis=0),
        "low": np.where(there, X, np.inf).min(axis=0, initial=np.inf),
        "high": np.where(there, X, -np.inf).max(axis=0, initial=-np.inf),
    }
