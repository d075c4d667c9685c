"""HSVM, the baseline of [GopalYang2015], is RankingSVM with ones on paths and a slack per example.

minimise  1/2 sum_a ||v_a||^2 + C sum_i xi_i,      F(x, n) = sum over the path of n of v_a.x
F(x_i, t_i) - F(x_i, n) >= 1 - xi_i / D(t_i, n)    (slack rescaling),  or  >= D(t_i, n) - xi_i
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from linnaeus import RankingSVM, Taxonomy

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")]
)


def points(n=10, d=2):
    rng = np.random.default_rng(0)
    label = np.resize(np.arange(4), n)
    X = 1.5 * rng.normal(size=(4, d))[label] + rng.normal(size=(n, d))
    return X, np.array(TAX.leaves)[label]


def by_scipy(X, y, C, loss, rescale):
    """The least objective over the weights of all nodes, and the class weights."""
    leaves, nodes = list(TAX.leaves), list(TAX.nodes)
    on = np.array([[float(v in TAX.ancestors(leaf)) for v in nodes] for leaf in leaves])
    d, m = X.shape[1], len(nodes)
    half = 0.5 if loss == "half_distance" else 1.0
    rows = [
        (i, leaves.index(t), k, half * TAX.distance(t, leaf))
        for i, t in enumerate(y)
        for k, leaf in enumerate(leaves)
        if leaf != t
    ]
    A, base = np.zeros((len(rows), m * d + len(X))), np.zeros(len(rows))
    for row, (i, t, k, delta) in enumerate(rows):
        A[row, : m * d] = np.outer(on[t] - on[k], X[i]).ravel()
        A[row, m * d + i] = 1.0 / delta if rescale == "slack" else 1.0
        base[row] = 1.0 if rescale == "slack" else delta
    cost = np.r_[np.zeros(m * d), np.full(len(X), C)]
    quadratic = np.r_[np.ones(m * d), np.zeros(len(X))]
    found = minimize(
        lambda v: 0.5 * quadratic @ v**2 + cost @ v,
        np.r_[np.zeros(m * d), np.full(len(X), 4.0)],
        jac=lambda v: quadratic * v + cost,
        method="SLSQP",
        bounds=[(None, None)] * (m * d) + [(0, None)] * len(X),
        constraints={"type": "ineq", "fun": lambda v: A @ v - base, "jac": lambda v: A},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.fun, on @ found.x[: m * d].reshape(m, d)


@pytest.mark.parametrize("rescale", ["slack", "margin"])
@pytest.mark.parametrize("loss", ["half_distance", "distance"])
def test_hsvm_is_a_ranking_machine(loss, rescale):
    X, y = points()
    model = RankingSVM(
        TAX, C=0.5, loss=loss, attributes="ones", slack="example", rescale=rescale, tol=1e-8
    ).fit(X, y)
    value, W = by_scipy(X, y, 0.5, loss, rescale)
    assert_allclose(model.objective_, value, rtol=1e-5)
    assert_allclose(model.coef_, W, atol=1e-3)
