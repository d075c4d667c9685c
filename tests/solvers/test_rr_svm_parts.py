"""Recursive machines with little memory: weights in parts, the same optimum and certificate."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import linnaeus
from linnaeus import RecursiveSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators import _linear, _recursive
from linnaeus.execution.memory import never_refused
from linnaeus.solvers.numerics import postings, products
from linnaeus.solvers.recursive import rr_svm_blocks
from linnaeus.storage.directory import INDEXES
from linnaeus.synthetic import make_text_like
from marks import slow


@pytest.fixture(autouse=True)
def small_problems():
    """Limits far below what the program itself takes: the way of little memory is taken."""
    with never_refused():
        yield


def limited(tax, limit=1, **parameters):
    model = RecursiveSVM(tax, **{"random_state": 0, "tol": 1e-3, **parameters})
    model.memory = limit
    return model


@pytest.fixture(scope="module")
def text():
    X, Y, tax = make_text_like(
        150, 900, n_leaves=70, depth=4, labels_per_sample=1.2, nonzeros=15, tfidf=True,
        random_state=1,
    )  # fmt: skip
    return tax, X, Y


def dense_values(model, tax, X, Y):
    """P of the weights and D of the duals, by dense algebra; roots have a ground of 1."""
    C, bias, squared = model.C, model.intercept_scaling, model.loss == "squared_hinge"
    leaves, inner = tax.numbers(model.coef_names_), tax.numbers(model.inner_nodes_)
    L = tax.laplacian(None, None, "zero").toarray()
    X = X.toarray().astype(float) if sp.issparse(X) else X
    y = np.where(Y.toarray()[:, leaves] > 0, 1.0, -1.0)
    W = np.zeros((len(tax), X.shape[1]))
    W[leaves], W[inner] = model.coef_.toarray(), model.inner_coef_.toarray()
    b = np.zeros(len(tax))
    b[leaves], b[inner] = model.intercept_ / bias, model.inner_intercept_ / bias
    own = model.intercept_sharing == "own"
    S = L.diagonal()[leaves]
    size = np.trace(W.T @ L @ W) + (S @ b[leaves] ** 2 if own else b @ L @ b)
    short = np.maximum(0.0, 1.0 - y * (X @ W[leaves].T + model.intercept_))
    P = 0.5 * size + C * (short**2 if squared else short).sum()
    signed = C * model.duals_.toarray()
    assert (signed * y >= 0).all() and (squared or np.abs(signed).max() <= C * (1 + 1e-6))
    K = np.linalg.inv(L)[np.ix_(leaves, leaves)]
    V, v = signed.T @ X, bias * signed.sum(axis=0)
    gained = np.abs(signed) - (signed**2 / (4 * C) if squared else 0.0)
    price = np.trace(V.T @ K @ V) + v @ (np.diag(1 / S) if own else K) @ v
    return P, gained.sum() - 0.5 * price


@pytest.mark.parametrize("tol", [1e-3, 0.3])
@pytest.mark.parametrize(("loss", "sharing"), [("hinge", "own"), ("squared_hinge", "parent")])
def test_the_certificate_is_that_of_the_parts(text, loss, sharing, tol):
    """Far from the optimum too, P is that of the weights and D that of the duals."""
    tax, X, Y = text
    options = {"loss": loss, "intercept_sharing": sharing, "C": 3.0, "dtype": "float64"}
    model = limited(tax, tol=tol, **options).fit(X, Y)
    assert "coef_" not in vars(model)
    model.memory = None
    P, D = dense_values(model, tax, X, Y)
    np.testing.assert_allclose(model.objective_, P, rtol=1e-8)
    np.testing.assert_allclose(model.dual_objective_, D, rtol=1e-8)
    whole = RecursiveSVM(tax, random_state=0, tol=1e-3, **options).fit(X, Y)
    assert whole.dual_objective_ <= P + 1e-9 and whole.objective_ >= D - 1e-9
    assert model.gap_ <= tol


@pytest.fixture(params=[3, 10**9])
def long(request, monkeypatch):
    """Blocks that know sums of their rows of D, and blocks that know the rows."""
    monkeypatch.setattr(rr_svm_blocks, "LONG", request.param)
    monkeypatch.setattr(rr_svm_blocks, "MANY", 5)


@pytest.fixture(scope="module")
def dag():
    X, Y, tax = make_text_like(
        150, 900, n_leaves=70, depth=4, dag=0.4, labels_per_sample=1.5, nonzeros=15, tfidf=True,
        random_state=1,
    )  # fmt: skip
    assert not tax.is_tree
    return tax, X, Y


@pytest.mark.parametrize(("loss", "sharing"), [("hinge", "own"), ("squared_hinge", "parent")])
def test_on_a_dag_the_certificate_is_that_of_the_parts(dag, long, loss, sharing):
    tax, X, Y = dag
    options = {"loss": loss, "intercept_sharing": sharing, "C": 3.0, "dtype": "float64"}
    model = limited(tax, **options).fit(X, Y)
    assert "coef_" not in vars(model) and model.gap_ <= 1e-3
    model.memory = None
    P, D = dense_values(model, tax, X, Y)
    np.testing.assert_allclose([model.objective_, model.dual_objective_], [P, D], rtol=1e-8)
    np.testing.assert_allclose(
        model.class_scores(X), X @ model.coef_.toarray().T + model.intercept_
    )
    whole = RecursiveSVM(tax, random_state=0, tol=1e-3, **options).fit(X, Y)
    assert whole.dual_objective_ <= P + 1e-9 and whole.objective_ >= D - 1e-9


def graph():
    """Cycles, neighbouring classes (dummies between them), edges of different strength."""
    edges = [("r", "a"), ("r", "b"), *[("a", f"x{k}") for k in range(6)], ("b", "x0")]
    edges += [("b", f"y{k}") for k in range(6)]
    related = [("x0", "y0"), ("x1", "y3"), ("a", "y5"), ("x2", "x3")]
    return Taxonomy.from_edges(edges, related=related)


@pytest.mark.parametrize("how", [{}, {"conductance": 10.0}, {"root": "pinned"}, {"ground": 0.5}])
def test_on_a_graph_with_cycles_the_optimum_is_that_of_alternation(long, how):
    tax, rng = graph(), np.random.default_rng(0)
    y = np.array([n for n in tax.nodes if n[0] in "xy"])[rng.integers(0, 12, size=80)]
    X = sp.csr_array(rng.normal(size=(80, 30)) * (rng.random((80, 30)) < 0.3))
    model = limited(tax, dtype="float64", **how).fit(X, y)
    assert "coef_" not in vars(model) and model.gap_ <= 1e-3
    other = RecursiveSVM(tax, tol=1e-3, schedule="color", random_state=0, **how).fit(X, y)
    assert model.dual_objective_ <= other.objective_ and other.dual_objective_ <= model.objective_
    model.memory = None
    assert model.inner_coef_.shape == (len(model.inner_nodes_), 30)
    np.testing.assert_allclose(model.coef_.toarray(), other.coef_, atol=0.1)


def test_lists_that_are_cut_end_at_the_same_optimum(text, monkeypatch):
    tax, X, Y = text
    whole = limited(tax, C=30.0).fit(X, Y)
    monkeypatch.setattr(rr_svm_blocks, "LISTED", 1)
    cut = limited(tax, C=30.0).fit(X, Y)
    assert cut.gap_ <= 1e-3
    np.testing.assert_allclose(cut.objective_, whole.objective_, rtol=2e-3)


def test_those_that_fall_short_most_stay_listed():
    rng = np.random.default_rng(0)
    alpha = np.where(rng.random((3000, 4)) < 0.1, 1.0, 0.0)
    margin, constant = rng.normal(size=alpha.shape), rng.normal(size=4)
    sign = np.where(rng.random(alpha.shape) < 0.5, -1, 1).astype(np.int8)
    needed = (alpha > 0) | (margin < 1)
    cut = needed.copy()
    rr_svm_blocks.leave_out(cut, alpha, sign, margin - sign * constant, constant)
    others = np.sort(margin[needed & (alpha == 0)])[: 4 * rr_svm_blocks.LISTED]
    np.testing.assert_array_equal(cut, (alpha > 0) | (margin <= others[-1]))


def test_dense_features_need_all_columns():
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_edges(
        [("r", f"g{g}") for g in range(5)] + [(f"g{c % 5}", f"c{c}") for c in range(40)]
    )
    y = np.array(tax.leaves)[rng.integers(0, 40, size=80)]
    X = rng.normal(size=(80, 6)) + rng.normal(size=(len(tax), 6))[tax.numbers(y)]
    model = limited(tax, C=0.1, dtype="float64").fit(X, y)
    model.memory = None
    P, D = dense_values(model, tax, X, tax.encode([[v] for v in y]))
    np.testing.assert_allclose([model.objective_, model.dual_objective_], [P, D], rtol=1e-8)


def test_scores_are_those_of_whole_weights_and_survive_a_file(text, tmp_path):
    tax, X, Y = text
    model = limited(tax, tol=1e-2).fit(X, Y)
    model.memory = None
    coef = model.coef_
    assert sp.issparse(coef) and coef.shape == (70, 900)
    scores = X @ coef.toarray().T + model.intercept_
    np.testing.assert_allclose(model.class_scores(X), scores, atol=1e-5)
    assert (model.sparsify() is model) and "coef_" not in vars(model)
    model.save(tmp_path / "m")
    loaded = linnaeus.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.top_k(X)[0], model.top_k(X)[0])
    assert (loaded.predict(X) != model.predict(X)).nnz == 0


def test_parts_are_saved_with_their_lists(text, tmp_path, monkeypatch):
    tax, X, Y = text
    monkeypatch.setattr(products, "LARGE", 1)
    model = limited(tax).fit(X, Y)
    expected = model.decision_function(X), model.top_k(X, 3)[0]
    monkeypatch.setattr(_linear, "INDEXED", 1)
    model.save(tmp_path / "model")
    assert all((tmp_path / "model" / name).exists() for name in INDEXES)
    again = linnaeus.load(tmp_path / "model")
    monkeypatch.setattr(postings, "build", None)  # it is not needed
    np.testing.assert_array_equal(again.decision_function(X), expected[0])
    np.testing.assert_array_equal(again.top_k(X, 3)[0], expected[1])


def test_workers_make_no_difference(text):
    tax, X, Y = text
    one, two = (limited(tax, tol=1e-2, n_jobs=n).fit(X, Y) for n in (1, 2))
    for name in _recursive.PARTS:
        assert (getattr(one, name) != getattr(two, name)).nnz == 0
    assert one.objective_ == two.objective_


def test_enough_memory_changes_nothing(text):
    tax, X, Y = text
    plenty, never = (limited(tax, limit, tol=1e-2).fit(X, Y) for limit in (10**10, None))
    np.testing.assert_array_equal(plenty.coef_, never.coef_)
    plenty.memory = 1
    plenty.fit(X, Y)
    assert "coef_" not in vars(plenty) and "inner_coef_" not in vars(plenty)
    plenty.memory = None
    plenty.fit(X, Y)
    np.testing.assert_array_equal(plenty.coef_, never.coef_)
    assert not set(_recursive.PARTS) & vars(plenty).keys()


def test_it_goes_on_from_what_it_has(text):
    tax, X, Y = text
    model = limited(tax, warm_start=True).fit(X, Y)
    objective = model.objective_
    model.fit(X, Y)
    assert model.n_iter_ <= 2 and model.gap_ <= 1e-3
    np.testing.assert_allclose(model.objective_, objective, rtol=2e-3)
    model.partial_fit(X[:5], Y[:5])
    assert model.gap_ <= 1e-3 and "coef_" not in vars(model)
    with pytest.raises(UserError, match=r"only cannot be used: .* in parts"):
        model.partial_fit(X[:5], Y[:5], only="new")


def test_whole_weights_that_are_too_many_are_refused(text):
    tax, X, Y = text
    model = limited(tax, tol=0.1).fit(X, Y)
    assert (model.paths_ != model.links_ @ model.inner_paths_).nnz == 0
    with pytest.raises(UserError, match=r"coef_ would take about .* own_coef_ \+ paths_ @"):
        _ = model.coef_
    assert not hasattr(model, "inner_coef_")
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = model.nothing_


def test_a_graph_that_cannot_be_solved_in_parts_is_refused(text):
    tax, X, Y = text
    with pytest.raises(UserError, match=r"70 classes and .* would take about .* root='zero'"):
        limited(tax, root="free").fit(X, Y)


@pytest.mark.parametrize("n_leaves", [800, slow(3000)])
def test_memory_is_a_third_of_the_dense_weights(n_leaves):
    X, Y, tax = make_text_like(
        n_leaves // 2, 20_000, n_leaves=n_leaves, depth=5, labels_per_sample=1.0, nonzeros=12,
        tfidf=True, random_state=0,
    )  # fmt: skip
    dense = 4 * 20_000 * len(tax)
    model = limited(tax, dense // 3, tol=0.9, max_iter=1, dtype="float32")
    tracemalloc.start()
    model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < dense / 3
    assert model.class_scores(X[:3]).shape == (3, n_leaves)
