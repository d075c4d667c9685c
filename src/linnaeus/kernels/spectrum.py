"""The spectrum kernel: contiguous substrings of a fixed length in common.

    k_p(s, t) = sum_{u of length p}  #_u(s) #_u(t)          [Leslie2002]
    k_{q..p}  = k_q + ... + k_p

#_u(s) counts the occurrences of u in s (or says 1 for at least one). The counts are an exact
sparse feature matrix with a column for every substring that occurs. A window is numbered by its
symbols as the digits of a number; where that outgrows 64 bits, the prefixes so far are replaced
by their ranks, so any length and alphabet will do. Columns are in lexicographic order.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.kernels.base import Kernel
from linnaeus.kernels.gram import Pairs
from linnaeus.kernels.linear import sparse_pairs
from linnaeus.kernels.sequences import Encoded, Numbers, as_sequence_pair, encode, rank

LARGEST = 1 << 62  # code of a window


@dataclass
class SpectrumKernel(Kernel):
    """Substrings of length p, or of the lengths q to p, that two sequences share.

    Parameters
    ----------
    p : int
        Length of the substrings, the longest of a range.
    q : int or None, default=None
        The shortest; None for p.
    presence : bool, default=False
        Whether only to ask if a substring occurs, not how often.

    Examples
    --------
    >>> SpectrumKernel(2).gram(["gattaca"], ["attacag", "c"])
    array([[5., 0.]], dtype=float32)
    """

    p: int
    q: int | None = None
    presence: bool = False

    def __post_init__(self) -> None:
        window_lengths(self.p, self.q)

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        first, second = as_sequence_pair(A, B)
        encoded = encode(first + second)
        parts = [count_windows(encoded, n)[0] for n in window_lengths(self.p, self.q)]
        X = sp.csr_array(sp.hstack(parts, format="csr"))
        if self.presence:
            X.data[:] = 1.0
        a = len(first)
        return sparse_pairs(X, X) if B is None else sparse_pairs(X[:a], X[a:])


def window_lengths(p: Any, q: Any = None) -> range:
    """The lengths q to p, checked."""
    shortest = p if q is None else q
    whole = isinstance(p, Integral) and isinstance(shortest, Integral)
    if not whole or not 1 <= shortest <= p:
        raise UserError(
            f"The substring lengths are p={shorten(p)}, q={shorten(q)}. Use whole numbers with "
            f"1 <= q <= p; q=None for p alone."
        )
    return range(int(shortest), int(p) + 1)


def count_windows(encoded: Encoded, length: int) -> tuple[sp.csr_array, Numbers]:
    """How often each window occurs in each sequence, and where one of each begins.

    The counts are CSR, (n_sequences, n_distinct), float64; column j is the window
    ``numbers[at[j]:at[j] + length]``.
    """
    codes, n_codes = _window_codes(encoded, length)
    n = encoded.starts.size - 1
    row = np.repeat(np.arange(n), np.diff(encoded.starts))[: codes.size]
    begin = np.flatnonzero(np.arange(codes.size) + length <= encoded.starts[1:][row])
    column, distinct = rank(codes[begin], n_codes)
    at = np.empty(distinct.size, dtype=np.int64)
    at[column] = begin
    counts = sp.csr_array((np.ones(begin.size), (row[begin], column)), shape=(n, distinct.size))
    return counts, at


def _window_codes(encoded: Encoded, length: int) -> tuple[Numbers, int]:
    """A code for every window of the array, also across sequences; and a bound above them."""
    numbers, n_symbols = encoded.numbers, len(encoded.symbols)
    n = max(0, numbers.size - length + 1)
    codes, n_codes = numbers[:n], n_symbols
    for k in range(1, length):
        if n_codes > LARGEST // max(1, n_symbols):
            codes, distinct = rank(codes, n_codes)
            n_codes = distinct.size
        codes = codes * n_symbols + numbers[k : n + k]
        n_codes *= n_symbols
    return codes, n_codes
