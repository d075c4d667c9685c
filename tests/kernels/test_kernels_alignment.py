"""Alignment against the definition with every matrix written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from linnaeus.errors import UserError
from linnaeus.kernels import align, gram, rank_kernels
from linnaeus.losses import class_attributes, class_kernel
from linnaeus.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)
C = class_kernel(class_attributes(TAXONOMY, "ones"))


def by_definition(K, T, centred):
    n = len(K)
    H = np.eye(n) - centred * np.ones((n, n)) / n
    K, T = H @ K @ H, H @ T @ H
    size = np.linalg.norm(K) * np.linalg.norm(T)
    return (K * T).sum() / size if size > 1e-12 else 0.0


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_alignment_is_that_of_the_definition(seed, centred, single):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X = rng.normal(size=(n, 3))
    K = (X @ X.T).astype(np.float32 if single else np.float64)
    y = rng.integers(0, 4, n)
    y[:2] = 0, 3  # so that there are four classes
    Y = np.eye(4)[y]
    expected = by_definition(K.astype(float), Y @ C @ Y.T, centred)
    for labels in (y, y.tolist(), Y, sp.csr_array(Y)):
        found = align(K, Y=labels, class_kernel=C, centred=centred)
        assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert_allclose(align(K, Y @ C @ Y.T, centred=centred), expected, rtol=1e-7, atol=1e-9)
    assert_allclose(
        align(K, Y=Y, centred=centred), by_definition(K.astype(float), Y @ Y.T, centred), atol=1e-6
    )


def test_blocks_do_not_change_it(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.random((50, 4)) < 0.4
    whole = align(X @ X.T, Y=Y, class_kernel=C, centred=True)
    monkeypatch.setattr(gram, "BLOCK_ENTRIES", 200)
    assert align(X @ X.T, Y=Y, class_kernel=C, centred=True) == pytest.approx(whole, rel=1e-12)


def test_the_target_aligns_with_itself_and_zero_with_nothing():
    Y = np.eye(4)[[0, 1, 2, 3, 3]]
    T = Y @ C @ Y.T
    assert align(T, Y=Y, class_kernel=C) == pytest.approx(1)
    assert align(7 * T, Y=Y, class_kernel=C, centred=True) == pytest.approx(1)
    assert align(0 * T, Y=Y) == 0 and align(T, 0 * T) == 0


@pytest.mark.parametrize("value", [1.0, 1 / 3, 1e6 / 7])
def test_centring_a_constant_leaves_nothing(value):
    constant = np.full((7, 7), value)
    assert align(constant, np.eye(7), centred=True) == 0
    assert align(np.eye(7), constant, centred=True) == 0
    assert align(np.eye(7), Y=np.full((7, 1), value), centred=True) == 0
    assert align(constant, Y=np.ones((7, 1))) == pytest.approx(1)


def test_the_best_kernel_comes_first():
    y = np.array([0, 1, 2, 3] * 5)
    Y = np.eye(4)[y]
    siblings = (y[:, None] // 2 == y // 2).astype(float)  # cannot tell siblings from each other
    kernels = {"all": np.ones((20, 20)), "half": siblings, "full": Y @ C @ Y.T, "none": np.eye(20)}
    ranked = rank_kernels(kernels, Y=y, class_kernel=C)
    assert [name for name, _ in ranked] == ["full", "half", "none", "all"]
    assert ranked[0][1] == pytest.approx(1) and ranked[-1][1] == 0
    assert rank_kernels({"x": siblings, "y": siblings}, Y=y)[0][0] == "x"


@pytest.mark.parametrize(
    "K, T, options, message",
    [
        (np.ones((2, 3)), None, {"Y": [0, 1]}, r"K has the shape \(2, 3\). Give a square"),
        (np.eye(2), None, {}, "either a target kernel T or the labels Y"),
        (np.eye(2), np.eye(2), {"Y": [0, 1]}, "and not both"),
        (np.eye(2), np.eye(3), {}, r"T has the shape \(3, 3\) and K has \(2, 2\)"),
        (np.eye(2), None, {"Y": [0, 1, 1]}, r"Y has the shape \(3,\), but K has 2 rows"),
        (np.eye(2), None, {"Y": ["a", "b"]}, "Give class numbers from 0.*taxonomy.encode"),
        (np.eye(2), None, {"Y": [0, -1]}, r"Y is \[0, -1\]"),
        (np.eye(2), None, {"Y": [0, 1], "class_kernel": np.eye(3)}, "but Y has 2 classes"),
        (np.array([["a"]]), None, {"Y": [0]}, "K is of type <U1. Give a matrix of numbers"),
    ],
)
def test_alignment_checks_its_input(K, T, options, message):
    with pytest.raises(UserError, match=message):
        align(K, T, **options)
