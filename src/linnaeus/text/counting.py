"""How often terms occur: by document, or in all of them, with more terms than memory holds.

A counter that outgrows its limit is written to disk as a sorted run, and runs are merged at the
end: whatever the limit, the terms come in alphabetical order with their exact counts.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge, nsmallest
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError

TERM = 200  # bytes of a term and its count in memory, measured; twice that where both are counted
FAN = 64  # runs that are merged at a time
ROWS, SYMBOLS = 2048, 1 << 22  # most documents of a block, and about their letters or tokens


class Found(NamedTuple):
    """A term, how many documents have it, and how often it occurs."""

    term: Any
    documents: int
    total: int  # 0 where it was not counted


class TermCounts:
    """Terms of documents that come one after the other, counted.

    Parameters
    ----------
    totals : bool, default=False
        Whether to count how often terms occur, besides in how many documents.
    limit : int or None, default=None
        Bytes that the counters may take; None for any number.
    folder : Path or None, default=None
        Where to write what is beyond the limit.
    """

    def __init__(
        self, totals: bool = False, limit: int | None = None, folder: Path | None = None
    ) -> None:
        self.n_documents, self._totals, self._limit, self._folder = 0, totals, limit, folder
        self._most = np.inf if limit is None else max(1, limit // (TERM * (1 + totals)))
        self._documents: Counter[Any] = Counter()
        self._total: Counter[Any] = Counter()
        self._runs: list[Path] = []
        self._written = 0

    def add(self, terms: Iterable[Any]) -> None:
        """Count the terms of one more document.

        Parameters
        ----------
        terms : iterable of str
            The terms.
        """
        self.n_documents += 1
        if self._totals:
            terms = list(terms)
            self._total.update(terms)
        self._documents.update(set(terms))
        if len(self._documents) > self._most:
            self._write(self._here())
            self._documents.clear()
            self._total.clear()

    @property
    def any(self) -> bool:
        """Whether there was any term."""
        return bool(self._documents or self._runs)

    def kept(self, fewest: float, most: int | None = None) -> list[Found]:
        """Terms that are in enough documents, in alphabetical order.

        Parameters
        ----------
        fewest : float
            In how many documents a term must be.
        most : int or None, default=None
            How many terms to keep, those that occur most, ties by the alphabet; None for all.

        Returns
        -------
        list of Found
        """
        common: Iterable[Found] = (each for each in self.found() if each.documents >= fewest)
        if most is not None:
            common = iter(
                sorted(nsmallest(most, common, key=lambda each: (-each.total, each.term)))
            )
        out: list[Found] = []
        for each in common:
            out.append(each)
            if len(out) > self._most:
                raise UserError(
                    f"The vocabulary has more than {len(out) - 1:,} words, which do not fit in "
                    f"{self._limit:,} bytes of memory. Raise min_df, lower max_features, allow "
                    f"more memory, or hash words to columns (hashing=2**20)."
                )
        return out

    def found(self) -> Iterator[Found]:
        """The terms in alphabetical order.

        Returns
        -------
        iterator of Found
        """
        return _merged([*map(_read, self._runs), self._here()])

    def _here(self) -> Iterator[Found]:
        """What is in memory."""
        total = self._total
        return (Found(term, n, total[term]) for term, n in sorted(self._documents.items()))

    def _write(self, found: Iterable[Found]) -> None:
        """One more run; many become one."""
        assert self._folder is not None
        path = self._folder / f"terms-{self._written}.jsonl"
        with path.open("w", encoding="ascii") as file:
            file.writelines(f"{json.dumps(each)}\n" for each in found)
        self._runs.append(path)
        self._written += 1
        if len(self._runs) == FAN:
            runs, self._runs = self._runs, []
            self._write(_merged(list(map(_read, runs))))
            for run in runs:
                run.unlink()


def _read(run: Path) -> Iterator[Found]:
    with run.open(encoding="ascii") as file:
        for line in file:
            yield Found(*json.loads(line))


def _merged(runs: list[Iterator[Found]]) -> Iterator[Found]:
    """The sums of sorted runs."""
    if len(runs) == 1:
        yield from runs[0]
        return
    for term, same in groupby(merge(*runs), itemgetter(0)):
        counts = [(n, total) for _, n, total in same]
        yield Found(term, sum(n for n, _ in counts), sum(total for _, total in counts))


def count_new(documents: Iterable[Iterable[Any]]) -> tuple[sp.csr_array, list[Any]]:
    """How often each term occurs in each document, and the terms in alphabetical order.

    Parameters
    ----------
    documents : iterable of iterable of str
        The terms of each document.

    Returns
    -------
    counts : csr_array of shape (n_documents, n_terms)
        Float64; rows ascending, without zeros.
    terms : list of str
        The term of each column.
    """
    number: defaultdict[Any, int] = defaultdict()
    number.default_factory = number.__len__  # the next number
    columns, indptr = _columns(documents, number.__getitem__)
    terms = sorted(number)
    place = np.empty(len(terms), dtype=np.int32)
    place[[number[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    return _counts(place[columns], indptr, len(terms)), terms


def count_known(documents: Iterable[Iterable[Any]], known: Mapping[Any, int]) -> sp.csr_array:
    """How often known terms occur in each document.

    Parameters
    ----------
    documents : iterable of iterable of str
        The terms of each document.
    known : dict
        The column of each term.

    Returns
    -------
    csr_array of shape (n_documents, n_known)
        Float64; rows ascending, without zeros.
    """
    get = known.get
    columns, indptr = _columns((map(get, terms, repeat(-1)) for terms in documents), None)
    there = columns >= 0
    before = np.concatenate([[0], np.cumsum(there)])
    return _counts(columns[there], before[indptr], len(known))


def _columns(
    documents: Iterable[Iterable[Any]], number: Callable[[Any], int] | None
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of all terms, document after document, and where each document ends."""
    columns, ends = array("i"), array("q", [0])
    for terms in documents:
        columns.extend(terms if number is None else map(number, terms))
        ends.append(len(columns))
    return np.asarray(columns), np.asarray(ends)


def _counts(columns: np.ndarray, indptr: np.ndarray, width: int) -> sp.csr_array:
    narrow = np.int32 if columns.size <= np.iinfo(np.int32).max else np.int64
    arrays = np.ones(columns.size), columns, indptr.astype(narrow)
    counts = sp.csr_array(arrays, shape=(indptr.size - 1, width))
    counts.sum_duplicates()
    return counts


def text_blocks(documents: Iterable[Any]) -> Iterator[list[Any]]:
    """Some documents at a time: so many that their rows take little memory.

    Parameters
    ----------
    documents : iterable of str or of lists
        The documents.

    Yields
    ------
    list
        Documents one after the other.
    """
    block: list[Any] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document) if hasattr(document, "__len__") else 1
        if len(block) == ROWS or size >= SYMBOLS:
            yield block
            block, size = [], 0
    if block:
        yield block
