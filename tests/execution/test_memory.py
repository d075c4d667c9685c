"""Limits of memory: sizes, plans, and weights that lie on disk."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from linnaeus import FlatSVM, RecursiveSVM, TopDown
from linnaeus.errors import UserError
from linnaeus.execution.memory import BASE, Plan, is_size, size_of, text_of
from linnaeus.solvers.numerics.occurring import n_occurring
from linnaeus.synthetic import make_text_like


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("8G", 8 << 30), ("500 MB", 500 << 20), ("1.5g", 3 << 29), ("2TiB", 2 << 40), ("100", 100)],
)
def test_sizes_as_people_write_them(text, bytes_):
    assert is_size(text)
    assert size_of(text) == bytes_


@pytest.mark.parametrize("value", ["", "G", "-1G", "0", 0, -5, True, 1.5, "8 gallons"])
def test_what_is_no_size(value):
    assert not is_size(value)
    with pytest.raises(ValueError, match="memory"):
        FlatSVM(memory=value).fit([[0.0], [1.0]], ["a", "b"])


def test_a_plan_gives_the_workers_that_fit_or_says_what_is_needed(caplog):
    plan = Plan(BASE + (10 << 20), {"examples": float(4 << 20)}, float(2 << 20))
    with caplog.at_level(logging.INFO, "linnaeus.memory"):
        assert plan.workers(8) == 3
    assert "4.0 MB for examples, 2.0 MB for each of 3 workers" in caplog.text
    with pytest.raises(UserError, match=r"Allow at least 306.0 MB"):
        plan._replace(limit=BASE + (5 << 20)).workers(1)
    assert text_of(plan.needed) == "306.0 MB"


@pytest.fixture(scope="module")
def data():
    return make_text_like(300, 3000, n_leaves=150, depth=3, random_state=0, nonzeros=20, tfidf=True)


PLANNED = {"random_state": 0, "dtype": "float32", "tol": 0.5}


@pytest.mark.parametrize(
    ("kind", "named"), [(RecursiveSVM, "weights of other nodes"), (TopDown, "models")]
)
def test_limits_that_are_too_low_are_refused_with_what_would_do(data, kind, named, caplog):
    X, Y, taxonomy = data
    with pytest.raises(UserError, match=f"for {named}.*Allow at least") as refused:
        kind(taxonomy, memory="100M", **PLANNED).fit(X, Y)
    enough = str(refused.value).split("at least ")[1].strip(".").replace(" MB", "")
    with caplog.at_level(logging.INFO, "linnaeus.memory"):
        kind(taxonomy, memory=f"{float(enough) + 1:.1f}M", n_jobs=8, **PLANNED).fit(X, Y)
    assert "for each of" in caplog.text and "of 8 workers" not in caplog.text


def test_memory_changes_no_local_model(data):
    X, Y, taxonomy = data
    plenty, never = (TopDown(taxonomy, memory=m, **PLANNED).fit(X, Y) for m in ("2G", None))
    assert (plenty.coef_ != never.coef_).nnz == 0
    with pytest.raises(UserError, match="memory and estimator do not go together"):
        TopDown(taxonomy, memory="2G", estimator=LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_so_many_features_occur_in_some_examples(n):
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 500), density=0.02, format="csr", rng=rng)
    drawn = [np.unique(X[rng.choice(200, n, replace=False)].indices).size for _ in range(200)]
    np.testing.assert_allclose(n_occurring(X, [n])[0], np.mean(drawn), rtol=0.1)


LITTLE = BASE + (4 << 20)  # less than dense weights take


def test_weights_that_do_not_fit_are_pruned_within_the_certificate(data):
    X, Y, taxonomy = data
    how = {"tol": 1e-2, "random_state": 0, "dtype": "float32"}
    dense = FlatSVM(taxonomy, **how).fit(X, Y)
    small = FlatSVM(taxonomy, memory=LITTLE, **how).fit(X, Y)
    assert sp.issparse(small.coef_)
    assert small.duals_ is None
    assert small.coef_.nnz < 0.8 * np.count_nonzero(dense.coef_)
    assert small.gap_ <= 1e-2
    leaves = [taxonomy.index(name) for name in small.coef_names_]
    assert_certified(small, X, Y[:, leaves])
    assert (dense.top_k(X, 1)[0] == small.top_k(X, 1)[0]).mean() > 0.97


def assert_certified(model, X, Y):
    """The objective is that of the weights, and the dual one a bound on every other."""
    margins = (X @ model.coef_.T).toarray() + model.intercept_
    short = np.maximum(0.0, 1.0 - np.where(Y.toarray() > 0, 1, -1) * margins)
    P = 0.5 * (model.coef_.multiply(model.coef_).sum() + (model.intercept_**2).sum())
    P += model.C * (short**2).sum()
    np.testing.assert_allclose(model.objective_, P, rtol=1e-5)
    exact = FlatSVM(tol=1e-6, dtype="float64").fit(X, Y.toarray())
    assert model.dual_objective_ <= exact.objective_ * (1 + 1e-6)
    assert exact.objective_ <= model.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_pruning_by_itself_keeps_the_gap_within_tol(data, loss):
    X, Y, taxonomy = data
    whole = FlatSVM(taxonomy, loss=loss, tol=1e-2, random_state=0).fit(X, Y)
    model = FlatSVM(taxonomy, loss=loss, tol=1e-2, random_state=0, prune="auto").fit(X, Y)
    assert model.gap_ <= 1e-2
    assert model.coef_.nnz < 0.9 * np.count_nonzero(whole.coef_)
    np.testing.assert_allclose(model.dual_objective_, whole.dual_objective_, rtol=1e-4)
