"""Substrings as features, so that linear methods can use the spectrum kernel.

    x_u = #_u(s)  for the substrings u of length q to p that training saw,    then  x / ||x||

Inner products of the rows are the (normalised) spectrum kernel, as far as the substrings occur in
training; others are dropped. With `idf` a substring in N_u of N training strings is weighed by
log2(N / N_u), as words are, so that rare ones say more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError, shorten
from linnaeus.kernels.sequences import Encoded, as_sequences, encode
from linnaeus.kernels.spectrum import count_windows, window_lengths
from linnaeus.text.frames import as_configured


class SpectrumVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Strings, or lists of symbols, to a CSR matrix of substring counts.

    Parameters
    ----------
    p : int, default=3
        Length of the substrings, the longest of a range.
    q : int or None, default=None
        The shortest; None for p.
    presence : bool, default=False
        Whether a substring that occurs counts 1, however often.
    idf : bool, default=False
        Whether to weigh by log2(N / N_u); otherwise every substring weighs 1. The default is that
        of the spectrum kernel.
    min_df : int, default=1
        Leave out substrings in fewer training strings.
    norm : {'l2', 'l1'} or None, default='l2'
        Length to which rows are scaled.
    dtype : dtype, default=float32
        Type of the values.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each substring, short ones first, then in lexicographic order; of lists of
        symbols the substrings are tuples.
    n_features_ : int
        Number of columns.
    idf_ : ndarray of shape (n_features,)
        Float64, the weight of each column.

    Examples
    --------
    >>> vectorizer = SpectrumVectorizer(p=2, norm=None)
    >>> X = vectorizer.fit_transform(["gattaca", "tata"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['ac', 'at', 'ca', 'ga', 'ta', 'tt']
    >>> X.toarray().tolist()
    [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0, 2.0, 0.0]]
    """

    def __init__(
        self,
        p: int = 3,
        q: int | None = None,
        *,
        presence: bool = False,
        idf: bool = False,
        min_df: int = 1,
        norm: str | None = "l2",
        dtype: Any = np.float32,
    ) -> None:
        self.p = p
        self.q = q
        self.presence = presence
        self.idf = idf
        self.min_df = min_df
        self.norm = norm
        self.dtype = dtype

    def fit(self, texts: Iterable[Any], y: Any = None) -> Self:
        """Learn which substrings there are.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.
        y : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._learn(texts)
        return self

    def fit_transform(self, texts: Iterable[Any], y: Any = None) -> sp.csr_array:
        """Learn which substrings there are and count them, in one pass over the texts.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.
        y : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
        """
        return as_configured(self, self._weigh(self._learn(texts)))

    def transform(self, texts: Iterable[Any]) -> sp.csr_array:
        """The counts of strings, one row each.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
        """
        check_is_fitted(self)
        sequences = as_sequences(texts, "texts")
        return as_configured(
            self, self._weigh([_counts_of(known, sequences) for known in self._by_length()])
        )

    def _learn(self, texts: Iterable[Any]) -> list[sp.csr_array]:
        """Set the fitted attributes; answer the counts, a matrix for each length."""
        if self.norm not in ("l1", "l2", None):
            said = f"norm is {shorten(self.norm)}. Use 'l2', 'l1' or "
            raise UserError(f"{said}None.", f"{said}null.")
        lengths = window_lengths(self.p, self.q)
        sequences = as_sequences(texts, "texts")
        joined = all(isinstance(s, str) for s in sequences)
        encoded = encode(sequences)
        parts, names = [], []
        for length in lengths:
            counts, at = count_windows(encoded, length)
            common = np.flatnonzero(_frequency(counts) >= self.min_df)
            parts.append(counts if common.size == at.size else sp.csr_array(counts[:, common]))
            names += _windows(encoded, at[common], length, joined)
        if not names:
            raise UserError(
                f"No text is as long as {lengths[0]} symbols, the shortest substring to count, or "
                f"no substring is in {self.min_df} texts. Lower p, q or min_df, or check the texts."
            )
        self.vocabulary_ = {name: i for i, name in enumerate(names)}
        self.n_features_ = len(names)
        present = np.concatenate([_frequency(part) for part in parts])
        rare = np.log2(len(sequences) / np.maximum(present, 1))
        self.idf_ = rare if self.idf else np.ones(len(names))
        return parts

    def _by_length(self) -> list[list[Any]]:
        """The substrings of the vocabulary, a list for each length that occurs."""
        groups: dict[int, list[Any]] = {}
        for name in self.vocabulary_:
            groups.setdefault(len(name), []).append(name)
        return list(groups.values())

    def _weigh(self, parts: list[sp.csr_array]) -> sp.csr_array:
        X = sp.csr_array(sp.hstack(parts, format="csr"))
        if self.presence:
            X.data[:] = 1.0
        if self.idf:
            X = sp.csr_array(X, dtype=np.float64)
            X.data *= self.idf_[X.indices]
            X.eliminate_zeros()
        if self.norm is not None:
            X = normalize(X, norm=self.norm, copy=False)
        X = sp.csr_array(X, dtype=self.dtype)
        X.sort_indices()
        return X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The substring of each column; symbols of lists with blanks between.

        Parameters
        ----------
        input_features : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        ndarray of str of shape (n_features,)
        """
        check_is_fitted(self)
        names = [u if isinstance(u, str) else " ".join(map(str, u)) for u in self.vocabulary_]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _frequency(counts: sp.csr_array) -> np.ndarray:
    """In how many strings each substring occurs."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _windows(encoded: Encoded, at: np.ndarray, length: int, joined: bool) -> list[Any]:
    """The windows that begin at places of the array, as strings or tuples."""
    symbols = np.fromiter(encoded.symbols, dtype=object)
    table = symbols[encoded.numbers[at[:, None] + np.arange(length)]].tolist()
    return ["".join(row) for row in table] if joined else [tuple(row) for row in table]


def _counts_of(known: list[Any], sequences: list[Any]) -> sp.csr_array:
    """How often each known substring, all of one length, occurs in each sequence."""
    counts, _ = count_windows(encode(known + sequences), len(known[0]))
    columns = counts[: len(known)].indices  # each known one is a window of its own
    return sp.csr_array(counts[len(known) :][:, columns])
