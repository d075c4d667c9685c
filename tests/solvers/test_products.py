"""Scores of many rows: the plain product, bit by bit the same on any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.solvers.numerics import products
from linnaeus.solvers.numerics.products import linear_scores


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small problems take the way of large ones, with several lanes and tasks."""
    monkeypatch.setattr(products, "LARGE", 1)
    monkeypatch.setattr(products, "LANES", 16)
    monkeypatch.setattr(products, "ROWS", 5)


def problem(n, d, k, density=0.2, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr", dtype=dtype)
    return X, rng.standard_normal((k, d)).astype(dtype), rng.standard_normal(k).astype(dtype)


SIZES = [(1, 1, 1), (7, 301, 33), (13, 50, 16), (3, 9, 129), (4, 0, 3), (0, 5, 3), (6, 4, 0)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_product(sizes, sparse, dtype):
    X, W, b = problem(*sizes, dtype=dtype)
    W[np.abs(W) < 0.5] = 0 if sparse else 1
    expected = X.toarray().astype(float) @ W.T.astype(float) + b
    found = [linear_scores(X, sp.csr_array(W) if sparse else W, b, jobs) for jobs in (1, 2, 3)]
    assert found[0].dtype == dtype
    np.testing.assert_allclose(
        found[0], expected, rtol=0, atol=1e-5 if dtype == np.float32 else 1e-12
    )
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda W: np.repeat(W, 2, axis=1)[:, ::2]])
def test_any_layout_of_weights(layout):
    X, W, b = problem(9, 40, 21)
    assert np.array_equal(linear_scores(X, layout(W), b), linear_scores(X, W, b))


def test_rows_alone_have_the_same_bits():
    X, W, b = problem(11, 60, 40)
    for weights in (W, sp.csr_array(np.where(W > 0, W, 0))):
        alone = np.vstack([linear_scores(X[[i]], weights, b) for i in range(11)])
        assert np.array_equal(alone, linear_scores(X, weights, b))


def test_lanes_change_no_bit(monkeypatch):
    X, W, b = problem(11, 60, 40)
    before = linear_scores(X, W, b)
    monkeypatch.setattr(products, "PACKED", 1)
    assert np.array_equal(before, linear_scores(X, W, b))


def test_empty_rows_score_the_intercept():
    X, W, b = problem(3, 20, 5, density=0.0)
    assert np.array_equal(linear_scores(X, W, b), np.tile(b, (3, 1)))


def test_unsorted_rows_with_duplicates():
    X = sp.csr_array((np.ones(4), np.array([3, 1, 1, 0]), np.array([0, 3, 4])), shape=(2, 4))
    W = np.arange(8.0).reshape(2, 4)
    assert linear_scores(X, W, np.zeros(2)).tolist() == [[5.0, 17.0], [0.0, 4.0]]
    assert linear_scores(X, sp.csr_array(W), np.zeros(2)).tolist() == [[5.0, 17.0], [0.0, 4.0]]


def test_dense_rows():
    X, W, b = problem(5, 8, 6)
    np.testing.assert_allclose(linear_scores(X.toarray(), W, b), linear_scores(X, W, b), atol=1e-12)
