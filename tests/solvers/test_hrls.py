"""Least squares at every node, against inverses with the test point among the examples."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.solvers.linear import hrls


def margin(S, y, x):
    """w.x with w = (I + S S' + x x')^-1 S y; examples are the columns of S."""
    return np.linalg.inv(np.eye(x.size) + S @ S.T + np.outer(x, x)) @ S @ y @ x


@pytest.fixture(params=[3, 30])
def problem(request):
    """Fewer features than examples, and more."""
    rng = np.random.default_rng(request.param)
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")])
    Y = tax.closure(sp.csr_array((rng.uniform(size=(14, 5)) < 0.35).astype(np.int8)))
    return tax, rng.normal(size=(14, request.param)), Y, rng.normal(size=(6, request.param))


def test_margins_have_the_test_point_among_the_examples(problem):
    tax, X, Y, T = problem
    found = hrls.solve(Y, tax.dag, X=sp.csr_array(X))
    kernel = hrls.solve(Y, tax.dag, K=X @ X.T)
    p = T @ found.W.T
    np.testing.assert_allclose(T @ X.T @ kernel.A, p, atol=1e-10)
    y = 2.0 * Y.toarray() - 1
    for solution in (found, kernel):
        for family in solution.families:
            norms = (T**2).sum(axis=1)
            q = hrls.leverages(family, T, T @ X[family.rows].T, norms)
            for v in family.nodes:
                expected = [margin(X[family.rows].T, y[family.rows, v], t) for t in T]
                np.testing.assert_allclose(p[:, v] / (1 + q), expected, atol=1e-10)
    assert found.objective == pytest.approx(found.dual)
    assert found.objective == pytest.approx(kernel.objective)


def test_examples_are_those_of_all_parents(problem):
    tax, X, Y, _ = problem
    dense = Y.toarray()
    rows = {v: f.rows for f in hrls.solve(Y, tax.dag, K=X @ X.T).families for v in f.nodes}
    names = {name: rows[tax.index(name)].tolist() for name in tax.nodes}
    assert names["r"] == list(range(14))
    assert names["a"] == names["b"] == np.flatnonzero(dense[:, tax.index("r")]).tolist()
    both = dense[:, tax.index("a")] & dense[:, tax.index("b")]
    assert names["c"] == np.flatnonzero(both).tolist()


def test_weights_are_repetitions(problem):
    tax, X, Y, T = problem
    weight = np.arange(14) % 3
    again = np.repeat(np.arange(14), weight)
    one = hrls.solve(Y, tax.dag, X=sp.csr_array(X), C=0.3, weight=weight.astype(float))
    two = hrls.solve(Y[again], tax.dag, X=sp.csr_array(X[again]), C=0.3)
    np.testing.assert_allclose(T @ one.W.T, T @ two.W.T, atol=1e-10)
    assert one.objective == pytest.approx(two.objective)
