"""Alignment against the definition with every matrix written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from linnaeus.errors import UserError
from linnaeus.kernels import (
    align,
    alignment_weights,
    gram,
    induced_class_kernel,
    rank_kernels,
)
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


# -- weights of several kernels, kernels of classes ------------------------------------------------


@given(st.integers(0, 200), st.booleans())
def test_no_other_weights_align_better(seed, centred):
    rng = np.random.default_rng(seed)
    n, r = 12, 3
    y = rng.integers(0, 4, n)
    Y = np.eye(4)[y]
    T = Y @ C @ Y.T
    kernels = {}
    for s in range(r):
        X = np.hstack([rng.normal(size=(n, 2)), s * rng.random() * Y])
        kernels[s] = X @ X.T
    try:
        mu = alignment_weights(kernels, Y=Y, class_kernel=C, centred=centred)
    except UserError as error:
        assert "No kernel is aligned" in str(error)
        assert max(by_definition(K, T, centred) for K in kernels.values()) < 1e-9
        return
    assert sum(mu.values()) == pytest.approx(1) and min(mu.values()) >= 0

    def aligned(weights):
        K = sum(w * kernels[s] for s, w in enumerate(weights))
        return by_definition(K, T, centred)

    best = minimize(lambda w: -aligned(np.abs(w)), np.ones(r), method="Nelder-Mead", tol=1e-10)
    assert aligned(mu.values()) >= -best.fun - 1e-7
    again = alignment_weights(kernels, T, centred=centred)
    assert_allclose(list(again.values()), list(mu.values()), atol=1e-7)


def test_weights_do_not_mind_sizes_zeros_and_copies():
    y = np.array([0, 1, 2, 3] * 3)
    T = np.eye(4)[y] @ C @ np.eye(4)[y].T
    siblings, same = (y[:, None] // 2 == y // 2).astype(float), np.eye(4)[y] @ np.eye(4)[y].T
    kernels = {"a": same, "b": siblings, "none": np.zeros((12, 12))}
    mu = alignment_weights(kernels, T)
    assert mu["none"] == 0
    big = alignment_weights(kernels | {"a": 100 * same}, T)
    assert big["b"] / big["a"] == pytest.approx(100 * mu["b"] / mu["a"])
    twice = alignment_weights({"a": same, "a2": same, "b": siblings}, T)
    assert align(twice["a"] * same + twice["a2"] * same + twice["b"] * siblings, T) > 0.9


def test_the_kernel_of_classes_is_the_mean_over_their_instances():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(15, 4)), rng.random((15, 5)) < 0.4
    Y[:, 4] = False
    K = X @ X.T
    found = induced_class_kernel(K, Y)
    for a in range(4):
        for b in range(4):
            assert found[a, b] == pytest.approx(K[np.ix_(Y[:, a], Y[:, b])].mean())
    assert (found[4] == 0).all()
    assert_allclose(induced_class_kernel(K, sp.csr_array(Y)), found)
    means = (Y[:, :4].T / Y[:, :4].sum(axis=0)[:, None]) @ X
    assert_allclose(found[:4, :4], means @ means.T)


def test_input_kernels_are_weighted_by_the_taxonomy():
    """Of a kernel that sees families and one that sees classes, both are needed."""
    y = np.repeat(np.arange(4), 6)
    family, own = np.eye(2)[y // 2], np.eye(4)[y]
    noise = np.random.default_rng(0).normal(size=(24, 30))
    inputs = {"family": family @ family.T, "class": own @ own.T, "noise": noise @ noise.T}
    induced = {name: induced_class_kernel(K, y) for name, K in inputs.items()}
    target = class_kernel(class_attributes(TAXONOMY, "depth"))
    mu = alignment_weights(induced, target)
    assert mu["family"] == pytest.approx(mu["class"], rel=0.2) and mu["noise"] < 0.05


@pytest.mark.parametrize(
    "kernels, T, options, message",
    [
        ({}, np.eye(2), {}, "No kernels are given"),
        ({"x": np.ones((2, 3))}, np.eye(2), {}, r"The kernel 'x' has the shape \(2, 3\)"),
        ({"x": np.eye(2), "y": np.eye(3)}, np.eye(2), {}, "kernels of the same examples"),
        ({"x": np.eye(2)}, None, {}, "either a target kernel T or the labels Y"),
        ({"x": np.eye(2)}, [[-1, 0], [0, -1]], {}, "No kernel is aligned with the target"),
    ],
)
def test_weights_check_their_input(kernels, T, options, message):
    with pytest.raises(UserError, match=message):
        alignment_weights(kernels, T, **options)
