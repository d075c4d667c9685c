"""Rows of D, dense or sparse: the same numbers."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from linnaeus.solvers.recursive.rr_svm_rows import (
    Change,
    DenseRows,
    SparseRows,
    stacked,
    stacked_at,
    turned,
)

N, WIDTH = 5, 40


def changes(seed, n=12):
    """Nodes, features and values of changes; some bring few features, some all."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        inner = np.sort(rng.choice(N, rng.integers(1, N + 1), replace=False))
        values = rng.normal(size=(inner.size, WIDTH))
        values[:, rng.random(WIDTH) < (0.9, 0.6, 0.0)[k % 3]] = 0.0
        values[0, rng.random(WIDTH) < 0.5] = 0.0
        yield inner, Change(None, values), float(rng.random())


def both(seed, n=12):
    dense, sparse = DenseRows(N, WIDTH, float), SparseRows(N, WIDTH, float)
    for inner, change, share in changes(seed, n):
        dense.add(inner, change, share)
        sparse.add(inner, change.compact(), share)
    return dense, sparse


@pytest.mark.parametrize("n", [0, 1, 2, 12])
@pytest.mark.parametrize("seed", range(5))
def test_sparse_rows_are_the_dense_ones(seed, n):
    dense, sparse = both(seed, n)
    every, wanted = np.arange(N), np.flatnonzero(np.arange(WIDTH) % 3).astype(np.uint32)
    for rows in (dense.part(every), sparse.part(every)):
        np.testing.assert_array_equal(stacked(rows, WIDTH, float), dense.D)
        np.testing.assert_array_equal(stacked_at(rows, wanted, float), dense.D[:, wanted])
    np.testing.assert_allclose(sparse.square(), (dense.D**2).sum())
    np.testing.assert_allclose(dense.square(), (dense.D**2).sum())
    common, last = sparse.taken_out(2.0)
    assert common.has_canonical_format and common.data.all()
    np.testing.assert_array_equal(common.toarray(), 2 * dense.D[:, :-1])
    np.testing.assert_array_equal(last, 2 * dense.D[:, -1])


def test_a_row_is_dense_once_it_has_most_features():
    sparse = SparseRows(1, WIDTH, np.float32)
    here = np.zeros(1, dtype=int)
    for k in range(WIDTH):
        assert isinstance(sparse.rows[0], tuple) == (k <= WIDTH // 2)
        one = np.ones((1, 1), np.float32)
        sparse.add(here, Change(np.array([k], np.uint32), one))
        sparse.add(here, Change(np.array([k], np.uint32), 0 * one))
    sparse.clear()
    assert sparse.square() == 0.0 and sparse.rows[0][0].size == 0


@pytest.mark.parametrize("seed", range(5))
def test_what_crosses_is_the_sum_of_the_products(seed):
    inner, found, _ = zip(*changes(seed, 6), strict=True)
    whole = np.zeros((6, N, WIDTH))
    for k, (nodes, change) in enumerate(zip(inner, found, strict=True)):
        whole[k, nodes] = change.values
    expected = (whole.sum(axis=0) ** 2).sum() - (whole**2).sum()
    small = [change.compact() for change in found]
    assert sum(c.values.size for c in small) < sum(c.values.size for c in found)
    for kind, given in ((DenseRows, found), (SparseRows, found), (SparseRows, small)):
        store = kind(N, WIDTH, float)
        np.testing.assert_allclose(
            store.crossed(list(inner), list(given), [None] * len(given)), expected
        )
    np.testing.assert_allclose([c.square() for c in small], (whole**2).sum(axis=(1, 2)))


@pytest.mark.parametrize("seed", range(4))
def test_turned_changes_are_those_of_the_rows(seed):
    """Two blocks that know Q D alone, and one that knows its rows."""
    rng = np.random.default_rng(seed)
    dense, sparse = DenseRows(N, WIDTH, float), SparseRows(N, WIDTH, float)
    inner, given, turns, whole = [], [], [], np.zeros((3, N, WIDTH))
    for k in range(3):
        nodes = np.sort(rng.choice(N, 4, replace=False))
        turn = None if k == 0 else np.linalg.qr(rng.normal(size=(2 + k, 2)))[0].T
        features = None if k == 1 else np.flatnonzero(rng.random(WIDTH) < 0.4).astype(np.uint32)
        width = WIDTH if features is None else features.size
        change = Change(features, rng.normal(size=((4, 3, 2)[k], width)))
        rows = change.values
        if turn is not None:
            rows = np.vstack([rows[:-2], turn.T @ rows[-2:]])
        whole[k][np.ix_(nodes, np.arange(WIDTH) if features is None else features)] = rows
        sparse.add(nodes, change, 0.5, turn)
        dense.add(nodes, Change(None, change.at(None, WIDTH)), 0.5, turn)
        inner, given, turns = [*inner, nodes], [*given, change], [*turns, turn]
    every = np.arange(N)
    np.testing.assert_allclose(dense.D, 0.5 * whole.sum(axis=0))
    np.testing.assert_allclose(stacked(sparse.part(every), WIDTH, float), dense.D)
    expected = (whole.sum(axis=0) ** 2).sum() - (whole**2).sum()
    np.testing.assert_allclose(sparse.crossed(inner, given, turns), expected)
    wanted, Q = np.array([1, 5, 30], np.uint32), rng.normal(size=(3, N - 1))
    whole = block_diag(1.0, Q) @ dense.D
    for rows in (dense.part(every), sparse.part(every)):
        np.testing.assert_allclose(turned(rows, Q, WIDTH), whole)
        np.testing.assert_allclose(turned(rows, Q, WIDTH, wanted), whole[:, wanted])
