"""Gap-weighted subsequences of characters, or of any symbols.

    phi_u(s) = sum over i_1 < .. < i_p with s[i] = u of  decay^(i_p - i_1 + 1)
    k_p(s, t) = sum_{u of length p}  phi_u(s) phi_u(t)                     [Lodhi2002]

Weighting by the gaps alone would divide by decay^(2 p), which normalising cancels. The time is
O(p |s| |t|) a pair (`subsequence_fast`), about a nanosecond for each p |s| |t|: a thousand strings
of 400 symbols take minutes, ten thousand many hours. For those there is the spectrum kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.kernels.base import Kernel
from linnaeus.kernels.gram import Pairs, Values
from linnaeus.kernels.sequences import as_sequence_pair, encode
from linnaeus.kernels.subsequence_fast import subsequence_block, subsequence_diagonal


@dataclass
class SubsequenceKernel(Kernel):
    """Subsequences of p symbols that two sequences share, gaps allowed.

    Parameters
    ----------
    p : int
        Number of symbols.
    decay : float
        Weight of each position that a subsequence spans, in (0, 1]; 1 counts all alike.

    Examples
    --------
    >>> cats = "the cat was chased".split(), "the fat cat chased".split()
    >>> SubsequenceKernel(2, 0.8).gram(cats, dtype=float).round(3)
    array([[1.921, 0.823],
           [0.823, 1.921]])
    """

    p: int
    decay: float

    def __post_init__(self) -> None:
        check_subsequences(self.p, self.decay)

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        first, second = as_sequence_pair(A, B)
        return subsequence_pairs(first, second, self.p, self.decay)


def check_subsequences(p: Any, decay: Any) -> None:
    """An error unless p is a length and decay in (0, 1]."""
    if not isinstance(p, Integral) or int(p) < 1:
        raise UserError(f"The subsequence length p is {shorten(p)}. Use a whole number from 1 up.")
    if not isinstance(decay, Real) or not 0 < float(decay) <= 1:
        raise UserError(f"decay is {shorten(decay)}. Use a number above 0 and up to 1.")


def subsequence_pairs(first: list[Any], second: list[Any], p: int, decay: float) -> Pairs:
    """The pairs of two lists of sequences; of the first with itself if the second is empty."""
    encoded = encode(first + second)
    longest = int(np.diff(encoded.starts).max())
    column = len(first) if second else 0  # where the columns begin

    def work() -> Values:
        return np.empty((p, longest + 1))

    def block(rows: slice, n: int) -> Values:
        out = np.empty((rows.stop - rows.start, n))
        numbers, starts = encoded.numbers, encoded.starts
        subsequence_block(numbers, starts, rows.start, column, p, float(decay), work(), out)
        return out

    def diagonals() -> tuple[Values, Values]:
        out = np.empty(encoded.starts.size - 1)
        subsequence_diagonal(encoded.numbers, encoded.starts, p, float(decay), work(), out)
        return out[: len(first)], out[column:]

    return Pairs((len(first), encoded.starts.size - 1 - column), block, diagonals)
