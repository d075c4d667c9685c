"""Sparse word counts that behave like text, for taxonomies of any size.

The word of rank r has the background probability p_r proportional to 1/r (Zipf's law). The topic
of a node is a list of T words drawn from p; of them the word in place floor(T u^2), u uniform, is
used next, so a few are common. Every token of a document is

    a background word                                     with probability 1 - s,
    a topic word of a random node on a random path        with probability s,

where the paths are those from the roots to the document's labels. As topics are drawn from p, the
words of the whole collection follow Zipf's law too. Class sizes fall as 1/rank; lengths are
log-normal. The mean length is set by a few trial blocks so that a row has `nonzeros` words.

Rows come in blocks of fixed size, block b from a generator seeded with (seed, b), so the first
rows do not depend on how many are asked for. Work space is that of one block; `make_text_like`
needs the result twice while it joins the blocks, `TextSource` hands them out one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.synthetic.taxonomies import random_taxonomy
from linnaeus.taxonomy import Taxonomy

_BLOCK = 2048  # rows; part of the definition of the data
_TOPIC_WORDS = 40  # T
_TOPIC_SHARE = 0.4  # s
_LENGTH_SIGMA = 0.5
_TRIALS = 3


def make_text_like(
    n_samples: int,
    n_features: int,
    taxonomy: Taxonomy | None = None,
    n_leaves: int = 100,
    depth: int = 3,
    dag: float = 0.0,
    labels_per_sample: float = 1.3,
    partial: float = 0.0,
    noise: float = 0.05,
    nonzeros: int = 80,
    random_state: Any = None,
    dtype: Any = np.float32,
    tfidf: bool = False,
    skew: float = 1.0,
) -> tuple[sp.csr_array, sp.csr_array, Taxonomy]:
    """Draw a sparse collection with a tree or a DAG of labels.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of features.
    taxonomy : Taxonomy or None, default=None
        The classes; None for a `random_taxonomy` of `n_leaves`, `depth` and `dag`.
    n_leaves : int, default=100
        Number of leaves.
    depth : int, default=3
        Steps from the root to a leaf.
    dag : float, default=0.0
        Share of nodes that get a second parent one level up, where that level has two.
    labels_per_sample : float, default=1.3
        Mean number of paths, at least 1.
    partial : float, default=0.0
        Probability that a path stops at an inner node.
    noise : float, default=0.05
        Probability that a label is exchanged for one of its siblings.
    nonzeros : int, default=80
        Mean number of different words in a row, roughly.
    random_state : int, Generator or None, default=None
        Seed or generator, as for ``numpy.random.default_rng``.
    dtype : dtype, default=float32
        Type of the counts.
    tfidf : bool, default=False
        Whether to weigh counts by log2(N / N_u), N_u the rows with word u, and to scale rows to
        length 1.
    skew : float, default=1.0
        The class of rank r is drawn in proportion to ``1 / r**skew``; 0 for all alike.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        Counts in `dtype`.
    Y : csr_array of shape (n_samples, n_nodes)
        Indicator over ``taxonomy.nodes``, the most specific labels.
    taxonomy : Taxonomy
        The taxonomy used.

    Examples
    --------
    >>> X, Y, taxonomy = make_text_like(500, 2000, n_leaves=20, random_state=0)
    >>> X.shape, Y.shape, len(taxonomy.leaves)
    ((500, 2000), (500, 31), 20)
    """
    if n_samples < 0:
        raise UserError(f"n_samples is {n_samples}; it must not be negative.")
    rng = np.random.default_rng(random_state)
    if taxonomy is None:
        taxonomy = random_taxonomy(n_leaves, depth, rng, dag)
    source = TextSource(
        taxonomy, n_features, labels_per_sample, partial, noise, nonzeros, rng, dtype, skew
    )
    counts, labels = zip(*_blocks(source, n_samples), strict=True)
    X, Y = sp.vstack(counts, format="csr"), sp.vstack(labels, format="csr")
    return (_tfidf(X) if tfidf else X), Y, taxonomy


def _blocks(source: TextSource, n: int) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
    """Blocks that together have n rows; one empty block for no rows."""
    for start in range(0, max(n, 1), _BLOCK):
        X, Y = source.block(start // _BLOCK)
        yield X[: n - start], Y[: n - start]


class TextSource:
    """An endless stream of rows in blocks, for data larger than memory; see `make_text_like`.

    Parameters
    ----------
    taxonomy : Taxonomy
        The classes.
    n_features : int
        Number of features.
    labels_per_sample : float, default=1.3
        Mean number of paths, at least 1.
    partial : float, default=0.0
        Probability that a path stops at an inner node.
    noise : float, default=0.05
        Probability that a label is exchanged for one of its siblings.
    nonzeros : int, default=80
        Mean number of different words in a row, roughly.
    random_state : int, Generator or None, default=None
        Seed or generator, as for ``numpy.random.default_rng``.
    dtype : dtype, default=float32
        Type of the counts.
    skew : float, default=1.0
        The class of rank r is drawn in proportion to ``1 / r**skew``; 0 for all alike.
    """

    block_size = _BLOCK

    def __init__(
        self,
        taxonomy: Taxonomy,
        n_features: int,
        labels_per_sample: float = 1.3,
        partial: float = 0.0,
        noise: float = 0.05,
        nonzeros: int = 80,
        random_state: Any = None,
        dtype: Any = np.float32,
        skew: float = 1.0,
    ) -> None:
        _check(taxonomy, n_features, labels_per_sample, partial, noise, nonzeros, skew)
        self.taxonomy, self.n_features, self.dtype = taxonomy, n_features, dtype
        self.labels_per_sample, self.partial, self.noise = labels_per_sample, partial, noise
        rng = np.random.default_rng(random_state)
        self._seed = int(rng.integers(2**63))
        self._zipf = _cumulative(n_features)
        self._word = rng.permutation(n_features).astype(np.int32)  # rank -> column
        shape = (len(taxonomy), _TOPIC_WORDS)
        self._topics = np.searchsorted(self._zipf, rng.random(shape)).astype(np.int32)
        self._classes = rng.permutation(taxonomy.leaf_numbers)  # most common first
        self._class_zipf = _cumulative(self._classes.size, skew)
        self._mean_length = self._fit_length(nonzeros)

    def block(self, number: int) -> tuple[sp.csr_array, sp.csr_array]:
        """Rows ``number * block_size`` and on: counts and labels, always `block_size` of them.

        Parameters
        ----------
        number : int
            Number of the block, from 0.

        Returns
        -------
        X : csr_array of shape (block_size, n_features)
            Counts.
        Y : csr_array of shape (block_size, n_nodes)
            Indicator of the most specific labels.
        """
        rng = np.random.default_rng([self._seed, number])
        row, label = self._paths(rng)
        X = self._counts(row, label, self._mean_length, rng)
        return X, self._indicator(row, self._exchange(label, rng))

    # -- labels -----------------------------------------------------------------------------

    def _paths(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The true labels as (row, node) pairs, ordered by row; every row has at least one."""
        count = 1 + rng.poisson(self.labels_per_sample - 1, size=_BLOCK)
        row = np.repeat(np.arange(_BLOCK), np.minimum(count, self._classes.size))
        label = self._draw_classes(row.size, rng)
        for _ in range(20):  # the same class twice in a row: draw again, then let it be
            again = _repeats(row, label)
            if not again.size:
                break
            label[again] = self._draw_classes(again.size, rng)
        return row, self._stop_early(label, rng)

    def _draw_classes(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self._classes[np.searchsorted(self._class_zipf, rng.random(n))]

    def _stop_early(self, label: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """With probability `partial`, an inner node above the leaf; never a sole root."""
        ptr, ancestors = self.taxonomy.ancestor_lists
        first = ptr[label] + (self.taxonomy.root_numbers.size == 1)  # a sole root comes first
        n_above = np.maximum(ptr[label + 1] - 1 - first, 0)  # the last is the node itself
        at = first + (rng.random(label.size) * n_above).astype(np.int64)
        stop = (rng.random(label.size) < self.partial) & (n_above > 0)
        return np.where(stop, ancestors[np.where(stop, at, 0)], label)

    def _exchange(self, label: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """With probability `noise`, a sibling; leaves for leaves and inner nodes for inner."""
        dag, n_children = self.taxonomy.dag, self.taxonomy.n_children
        wrong = np.flatnonzero(
            (rng.random(label.size) < self.noise) & (self.taxonomy.n_parents[label] > 0)
        )
        v = label[wrong]
        n_parents = dag.parent_ptr[v + 1] - dag.parent_ptr[v]
        p = dag.parents[dag.parent_ptr[v] + (rng.random(v.size) * n_parents).astype(np.int64)]
        sibling = dag.children[
            dag.child_ptr[p] + (rng.random(v.size) * n_children[p]).astype(np.int64)
        ]
        alike = (n_children[sibling] == 0) == (n_children[v] == 0)
        out = label.copy()
        out[wrong[alike]] = sibling[alike]
        return out

    def _indicator(self, row: np.ndarray, label: np.ndarray) -> sp.csr_array:
        ones = np.ones(row.size, dtype=np.int32)
        Y = sp.csr_array((ones, (row, label)), shape=(_BLOCK, len(self.taxonomy)))
        Y.data[:] = 1
        return _small_index(self.taxonomy.most_specific(Y).astype(np.int8))

    # -- words ------------------------------------------------------------------------------

    def _counts(
        self, row: np.ndarray, label: np.ndarray, mean_length: float, rng: np.random.Generator
    ) -> sp.csr_array:
        """Word counts of the documents whose labels are these (row, node) pairs."""
        length = mean_length * np.exp(
            _LENGTH_SIGMA * rng.normal(size=_BLOCK) - _LENGTH_SIGMA**2 / 2
        )
        doc = np.repeat(np.arange(_BLOCK), np.maximum(np.rint(length), 1).astype(np.int64))
        rank = np.searchsorted(self._zipf, rng.random(doc.size))
        topical = np.flatnonzero(rng.random(doc.size) < _TOPIC_SHARE)
        rank[topical] = self._topic_words(doc[topical], row, label, rng)
        ones = np.ones(doc.size, dtype=self.dtype)
        shape = (_BLOCK, self.n_features)
        return _small_index(sp.csr_array((ones, (doc, self._word[rank])), shape=shape))

    def _topic_words(
        self, doc: np.ndarray, row: np.ndarray, label: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """A word for each token: a path of its document, a node on it, a word of that node."""
        start = np.searchsorted(row, np.arange(_BLOCK + 1))
        path = start[doc] + (rng.random(doc.size) * np.diff(start)[doc]).astype(np.int64)
        v = label[path]
        ptr, ancestors = self.taxonomy.ancestor_lists
        node = ancestors[ptr[v] + (rng.random(v.size) * (ptr[v + 1] - ptr[v])).astype(np.int64)]
        place = (_TOPIC_WORDS * rng.random(v.size) ** 2).astype(np.int64)
        words: np.ndarray = self._topics[node, place]
        return words

    def _fit_length(self, nonzeros: int) -> float:
        """The mean length at which trial blocks have about `nonzeros` different words a row."""
        rng = np.random.default_rng(self._seed)
        row, label = self._paths(rng)
        length = float(nonzeros)
        for _ in range(_TRIALS):
            found = self._counts(row, label, length, rng).nnz / _BLOCK
            length = min(length * nonzeros / found, 20.0 * nonzeros)
        return length


def _small_index(block: sp.csr_array) -> sp.csr_array:
    """The same with 32-bit indices, as scikit-learn's linear models want them."""
    index, ptr = block.indices.astype(np.int32), block.indptr.astype(np.int32)
    return sp.csr_array((block.data, index, ptr), shape=block.shape)


def _cumulative(n: int, skew: float = 1.0) -> np.ndarray:
    """The distribution function of 1/rank^skew over ranks 1..n."""
    total = np.cumsum(1.0 / np.arange(1, n + 1) ** skew)
    share: np.ndarray = total / total[-1]
    return share


def _repeats(row: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Places of (row, label) pairs that occurred before."""
    order = np.lexsort((label, row))
    same = (np.diff(row[order]) == 0) & (np.diff(label[order]) == 0)
    places: np.ndarray = order[1:][same]
    return places


def _tfidf(X: sp.csr_array) -> sp.csr_array:
    """count * log2(N / N_u), rows scaled to unit length; empty rows stay empty."""
    n, d = X.shape
    frequency = np.bincount(X.indices, minlength=d)
    X.data *= np.log2(n / np.maximum(frequency, 1)).astype(X.dtype)[X.indices]
    X.eliminate_zeros()
    norm = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(norm, np.diff(X.indptr))
    return X


def _check(
    taxonomy: Taxonomy,
    n_features: int,
    labels_per_sample: float,
    partial: float,
    noise: float,
    nonzeros: int,
    skew: float,
) -> None:
    if not skew >= 0:
        raise UserError(f"skew is {skew}; use 0 for classes that are alike, or more.")
    if len(taxonomy) == 0:
        raise UserError("The taxonomy has no nodes. Give one with at least one leaf.")
    if not 1 <= nonzeros <= n_features:
        raise UserError(
            f"nonzeros is {nonzeros} with {n_features} features; it must lie between 1 and "
            f"the number of features."
        )
    if labels_per_sample < 1:
        raise UserError(
            f"labels_per_sample is {labels_per_sample}; every row has a label, so use 1 or more."
        )
    for name, value in (("partial", partial), ("noise", noise)):
        if not 0 <= value <= 1:
            raise UserError(f"{name} is {value}; it is a probability, between 0 and 1.")
