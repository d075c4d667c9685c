import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.bayes import hblr_prior
from linnaeus.solvers.bayes.hblr_model import model_of, tree_of
from linnaeus.solvers.bayes.hblr_prior import fisher


@pytest.fixture
def problem():
    """A tree of two families, 60 examples of 4 features."""
    rng = np.random.default_rng(0)
    tree = tree_of([-1, 0, 0, 1, 1, 2, 2, 2], [3, 4, 5, 6, 7])
    X = rng.normal(size=(60, 4)) + 0.5
    t = rng.integers(0, 5, size=60)
    Y = sp.csr_array((np.ones(60), (np.arange(60), t)), (60, 5))
    return tree, X, Y


def by_hand(X, Y):
    """b of every leaf and feature."""
    p = np.asarray(Y.mean(axis=0)).ravel()
    return np.array(
        [np.diag(np.linalg.inv(q * (1 - q) * X.T @ X + 1e-8 * np.eye(X.shape[1]))) for q in p]
    )


def test_golden(golden_file):
    case = golden_file("recursive_and_bayes")["metrics"]["fisher_prior"]
    parent = np.full(1 + max(max(edge) for edge in case["edges"]), -1)
    for above, below in case["edges"]:
        parent[below] = above
    tree, leaves = tree_of(parent, case["leaves"]), case["leaves"]
    Y = np.array([[leaf in row for leaf in leaves] for row in case["Y"]], dtype=float)
    for kind, key in (("M2", "M2_full_inverse"), ("M3", "M3_full_inverse_pool_sum")):
        want, model = case["values"][key], model_of(tree, kind)
        found = fisher(model, np.array(case["X"]), sp.csr_array(Y))
        for k, owner in enumerate(model.owners.tolist()):
            np.testing.assert_allclose(found.rate[k], want["b"][str(owner)], atol=1e-7)
            np.testing.assert_allclose(found.shape[k], np.ravel(want["a"][str(owner)])[0])


def test_golden_of_the_diagonal(golden_file, monkeypatch):
    case = golden_file("recursive_and_bayes")["metrics"]["fisher_prior"]
    monkeypatch.setattr(hblr_prior, "DENSE", 0)
    parent = np.full(1 + max(max(edge) for edge in case["edges"]), -1)
    for above, below in case["edges"]:
        parent[below] = above
    model = model_of(tree_of(parent, case["leaves"]), "M2")
    Y = np.array([[leaf in row for leaf in case["leaves"]] for row in case["Y"]], dtype=float)
    found = fisher(model, np.array(case["X"]), sp.csr_array(Y))
    for k, owner in enumerate(model.owners.tolist()):
        np.testing.assert_allclose(
            found.rate[k], case["values"]["M2_diagonal"]["b"][str(owner)], atol=1e-7
        )


@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
def test_inner_nodes_take_sums(problem, kind):
    tree, X, Y = problem
    leaf = by_hand(X, Y)
    below = {0: range(5), 1: (0, 1), 2: (2, 3, 4)} | {3 + k: (k,) for k in range(5)}
    model = model_of(tree, kind)
    found = fisher(model, X, Y)
    for k, owner in enumerate(model.owners.tolist()):
        b = leaf[list(below[owner])].sum(axis=0)
        np.testing.assert_allclose(found.rate[k], b if kind == "M2" else b.sum(), rtol=1e-6)
        assert found.shape[k] == len(below[owner]) * (1 if kind == "M2" else 4)


def test_options(problem):
    tree, X, Y = problem
    model = model_of(tree, "M3")
    plain = fisher(model, X, Y)
    mean = fisher(model, X, Y, pool="mean")
    np.testing.assert_allclose(mean.mean, plain.mean)
    np.testing.assert_allclose(4 * mean.shape, plain.shape)
    unit = fisher(model, X, Y, unit_information=True)
    np.testing.assert_allclose(unit.rate, 60 * plain.rate)
    with_column = fisher(model, np.hstack([X, np.full((60, 1), 2.0)]), Y)
    np.testing.assert_allclose(fisher(model, X, Y, bias=2.0).rate, with_column.rate)
    twice = fisher(model, np.vstack([X, X]), sp.csr_array(sp.vstack([Y, Y])))
    np.testing.assert_allclose(fisher(model, X, Y, sample_weight=np.full(60, 2.0)).rate, twice.rate)


@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_probabilities_of_regressions(problem, kind, bias):
    """With p(x) of every example; where that is the frequency, as without."""
    tree, X, Y = problem
    model, rng = model_of(tree, kind), np.random.default_rng(1)
    W = rng.normal(size=(5, 4 + bool(bias)))
    Z = np.hstack([X, np.full((60, 1), bias)]) if bias else X
    p = 1 / (1 + np.exp(-Z @ W.T))
    information = (p * (1 - p)).T @ Z**2
    found = fisher(model, X, Y, bias=bias, weights=W)
    leaf = model.owners.tolist().index(5 if kind == "M3" else 2)
    b = (1 / information)[[2] if kind == "M3" else [2, 3, 4]].sum(axis=0)
    np.testing.assert_allclose(found.rate[leaf], b if kind == "M2" else b.sum(), rtol=1e-6)
    one = fisher(model, X, Y, bias=bias, weights=W, pool="information")
    if kind == "M3":
        mean = information[2, :4].mean()
        np.testing.assert_allclose(one.mean[leaf], mean, rtol=1e-6)


def test_information_is_pooled_by_precisions(problem):
    """A feature of one example makes "sum" small, and hardly moves "information"."""
    tree, X, Y = problem
    rare = np.zeros((60, 30))
    rare[np.arange(30), np.arange(30)] = 1e-3
    wide, model = np.hstack([X, rare]), model_of(tree, "M3")
    assert (fisher(model, wide, Y).mean < 1e-4 * fisher(model, X, Y).mean).all()
    found, base = (fisher(model, Z, Y, pool="information") for Z in (wide, X))
    np.testing.assert_allclose(found.mean, 4 / 34 * base.mean, rtol=1e-3)
    p = np.asarray(Y.mean(axis=0)).ravel()[0]
    own = found.mean[model.owners.tolist().index(3)]
    np.testing.assert_allclose(own, p * (1 - p) * (wide**2).sum() / 34, rtol=1e-6)


@pytest.mark.parametrize("total", [1.0, 0.5, 0.1])
def test_weights_may_be_small(problem, total):
    """Frequencies stay what they are, and the information shrinks with the weights."""
    tree, X, Y = problem
    for kind in ("M1", "M2", "M3"):
        model = model_of(tree, kind)
        found = fisher(model, X, Y, sample_weight=np.full(60, total / 60))
        np.testing.assert_allclose(found.rate, 60 / total * fisher(model, X, Y).rate, rtol=1e-4)


def test_features_that_repeat_others_take_the_diagonal(problem):
    tree, X, Y = problem
    found = fisher(model_of(tree, "M2"), np.hstack([X, X[:, :1]]), Y)
    p = np.asarray(Y.mean(axis=0)).ravel()
    want = 1.0 / ((p * (1 - p))[:, None] * (X**2).sum(axis=0) + 1e-8)
    np.testing.assert_allclose(found.rate[1, :4], want[:2].sum(axis=0))
    np.testing.assert_allclose(found.rate[:, 4], found.rate[:, 0])


def test_errors(problem):
    tree, X, Y = problem
    with pytest.raises(
        UserError, match="pool='max' is not known. Use 'sum', 'information' or 'mean'"
    ):
        fisher(model_of(tree, "M3"), X, Y, pool="max")
