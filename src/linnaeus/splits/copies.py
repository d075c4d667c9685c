"""Which rows are copies of one another: an 8-byte digest of what each row says.

Texts are compared without regard to case, blanks and the punctuation at their ends; rows of
features by their numbers. A row that says nothing (no text, no feature) has the digest 0 and is
nobody's copy.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

ENDS = ".,;:!?…\"'`´()[]{}<>«»‹›„“”‚‘’-–—_|/\\。、，；：！？「」『』（）"
REPEATING = 0.5  # share of distinct rows below which a table repeats by its nature


def digests(inputs: Any) -> np.ndarray:
    """A number for each row, the same for copies; 0 for a row that says nothing.

    Parameters
    ----------
    inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
        Texts, or a table of features.

    Returns
    -------
    ndarray of uint64 of shape (n_rows,)

    Examples
    --------
    >>> a, b, c = digests(["The cat.", " the  CAT", "a dog"]).tolist()
    >>> a == b, a == c
    (True, False)
    """
    contents = _table(inputs) if hasattr(inputs, "shape") else map(_text, inputs)
    return np.fromiter(map(_digest, contents), dtype=np.uint64)


class Copies(NamedTuple):
    """Which rows are copies of one another.

    Attributes
    ----------
    digests : ndarray of uint64 of shape (n_rows,)
        What each row says.
    groups : ndarray of int of shape (n_rows,) or None
        The group of copies of each row, for splits that keep these together; None where there are
        no copies.
    repeats : bool
        Whether a table repeats by its nature: a few columns with few values, so that fewer than
        half of the rows are distinct. Equal rows are then no copies.
    """

    digests: np.ndarray
    groups: np.ndarray | None
    repeats: bool

    @classmethod
    def of(cls, inputs: Any) -> Copies:
        """Of the texts or the table of a part.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        Copies
        """
        found = digests(inputs)
        _, group = np.unique(found, return_inverse=True)
        empty = np.flatnonzero(found == 0)
        group[empty] = group.size + np.arange(empty.size)
        names, group = np.unique(group, return_inverse=True)
        repeats = hasattr(inputs, "shape") and names.size < REPEATING * group.size
        return cls(found, None if repeats or names.size == group.size else group, repeats)

    @property
    def n(self) -> int:
        """How many rows are copies of an earlier one."""
        return 0 if self.groups is None else int(self.groups.size - self.groups.max() - 1)

    def kept(self) -> np.ndarray | None:
        """The digests in ascending order, for a model to know its rows by; None if rows repeat.

        Returns
        -------
        ndarray of uint64 of shape (n_digests,) or None
        """
        found = np.unique(self.digests)
        return None if self.repeats else found[found != 0]


def _text(text: str) -> bytes:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    words = " ".join(plain.casefold().split())
    return (words.strip(f"{ENDS} ") or words).encode("utf-8", "surrogatepass")


def _table(X: Any) -> Iterable[bytes]:
    """The filled cells of each row: their columns and their numbers."""
    if not sp.issparse(X):
        values = np.asarray(X)
        if values.dtype.kind not in "biuf":
            return (repr(row).encode() for row in values.tolist())
        X = sp.csr_array(np.atleast_2d(values))
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns, numbers = X.indices.astype("<i8"), X.data.astype("<f8")
    numbers[np.isnan(numbers)] = np.nan  # one of its many bit patterns
    return (columns[a:b].tobytes() + numbers[a:b].tobytes() for a, b in pairwise(X.indptr.tolist()))


def _digest(content: bytes) -> int:
    if not content:
        return 0
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
