"""Features by frequency, lists, and the arrays of a block, against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.solvers.linear import svm, svm_lanes


def test_frequent_features_come_first_and_the_examples_stay():
    X = sp.csr_array(np.array([[0, 1.0, 0, 2], [0, 3, 4, 0], [5, 6, 0, 7]]))
    before = X.copy()
    renamed, old = svm_lanes.by_frequency(X)
    assert old.tolist() == [1, 3, 0, 2]  # ties to the lower number
    np.testing.assert_array_equal(renamed.toarray(), X.toarray()[:, old])
    assert renamed.has_sorted_indices
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (600, 32), (300, 300)])
def test_lists_hold_the_rows_of_each_lane(shape):
    needed = np.random.default_rng(0).random(shape) < 0.3
    ptr, rows = svm_lanes.listed(needed)
    for b in range(shape[1]):
        np.testing.assert_array_equal(rows[ptr[b] : ptr[b + 1]], np.flatnonzero(needed[:, b]))


@pytest.mark.parametrize("d", [1, 31, 32, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_classes_and_their_lengths(d, dtype):
    rng = np.random.default_rng(0)
    W, w_bias, order = rng.normal(size=(d, 5)).astype(dtype), np.arange(5.0), rng.permutation(d)
    np.testing.assert_array_equal(svm_lanes.class_rows(W), W.T)
    np.testing.assert_array_equal(svm_lanes.class_rows(W, order=order), W[order].T)
    length2 = svm_lanes.squared_lengths(W, w_bias.astype(dtype))
    np.testing.assert_allclose(length2, (W.astype(float) ** 2).sum(axis=0) + w_bias**2, rtol=1e-6)


@pytest.mark.parametrize("prune", [0.0, 1e-3])
def test_numbers_of_features_make_no_difference(monkeypatch, prune):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 40), density=0.2, rng=rng, format="csr")
    Y = sp.csr_array((rng.random((60, 5)) < 0.3).astype(np.int8))
    mean = rng.normal(size=(5, 41))
    options = {"bias": 1.0, "tol": 1e-10, "mean": mean, "prune": prune, "max_iter": 300}
    plain, _ = svm.solve(X, Y, **options)
    monkeypatch.setattr(svm, "CACHED", 0)
    monkeypatch.setattr(svm, "LANES", 2)
    renamed, _ = svm.solve(X, Y, **options)
    assert max(plain.gap, renamed.gap) <= 1e-10
    dense = [s.coef.toarray() if prune else s.coef for s in (plain, renamed)]
    np.testing.assert_allclose(*dense, atol=2e-3 if prune else 1e-4)
    np.testing.assert_allclose(plain.intercept, renamed.intercept, atol=1e-4)
