"""R = F F' with few numbers: trees, graphs with cycles, and graphs that are too much."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.solvers.recursive import rr_factor


def laplacian(n, n_edges, seed, ground=0.1):
    """A random graph, grounded everywhere."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, n_edges))
    i, j = ends[:, ends[0] != ends[1]]
    A = sp.coo_array((rng.random(i.size) + 0.1, (i, j)), (n, n))
    A = sp.csr_array(A + A.T)
    return sp.csr_array(sp.diags_array(A.sum(axis=1) + ground) - A)


@pytest.mark.parametrize(("n", "n_edges"), [(1, 0), (4, 0), (6, 9), (60, 90), (300, 450)])
@pytest.mark.parametrize("seed", range(3))
def test_the_inverse_is_that_of_a_triangular_factor(n, n_edges, seed):
    R = laplacian(n, n_edges, seed)
    upward, rank = rr_factor.factor_of(R)
    np.testing.assert_allclose((upward.T @ R @ upward).toarray(), np.eye(n), atol=1e-12)
    np.testing.assert_allclose((upward @ upward.T).toarray(), np.linalg.inv(R.toarray()), atol=1e-9)
    last = np.maximum.reduceat(rank[upward.indices], upward.indptr[:-1])
    np.testing.assert_array_equal(last, rank)  # all other nodes of a path come before
    assert upward.has_sorted_indices


def test_a_tree_keeps_its_paths():
    parent = np.array([0, 0, 1, 1, 2, 0])
    child = np.arange(1, 7)
    A = sp.coo_array((np.ones(6), (parent, child)), (7, 7))
    R = sp.csr_array(sp.diags_array((A + A.T).sum(axis=1) + 1.0) - A - A.T)
    upward, _ = rr_factor.factor_of(R)
    assert [upward.indices[a:b].tolist() for a, b in pairwise(upward.indptr.tolist())] == [
        [0], [0, 1], [0, 2], [0, 1, 3], [0, 1, 4], [0, 2, 5], [0, 6]
    ]  # fmt: skip
    other = rr_factor._graph_inverse(R).upward
    np.testing.assert_allclose((upward @ upward.T).toarray(), (other @ other.T).toarray())


def test_a_tree_with_some_links_fills_in_little():
    rng = np.random.default_rng(0)
    n = 2000
    parent, child = rng.integers(0, np.arange(1, n)), np.arange(1, n)
    i, j = (
        np.concatenate([parent, rng.integers(0, n, 40)]),
        np.concatenate([child, rng.integers(0, n, 40)]),
    )
    A = sp.coo_array((np.ones(i.size), (i, j)), (n, n))
    R = sp.csr_array(sp.diags_array((A + A.T).sum(axis=1) + 0.1) - A - A.T)
    assert 30 < rr_factor.n_cycles(R) <= 40
    upward, _ = rr_factor.factor_of(R)
    assert upward.nnz < 60 * n


def test_what_is_too_much_has_no_factor(monkeypatch):
    R = laplacian(60, 90, 0)
    monkeypatch.setattr(rr_factor, "CYCLES", rr_factor.n_cycles(R) - 1)
    assert rr_factor.factor_of(R) is None
    monkeypatch.undo()
    monkeypatch.setattr(rr_factor, "NUMBERS", 100)
    assert rr_factor.factor_of(R) is None


@pytest.mark.parametrize("shift", [-10.0, -0.1])
def test_what_is_not_positive_has_no_factor(shift):
    R = laplacian(60, 90, 1, ground=0.0)
    assert rr_factor.factor_of(sp.csr_array(R + shift * sp.eye_array(60))) is None
