"""Corners in which an estimator once broke, or said nothing."""

import numpy as np
import pytest

from linnaeus import HM3, GraphM3, HierarchicalRLS, RankingSVM, Taxonomy, kernels, losses
from linnaeus.errors import UserError
from linnaeus.kernels import gram
from linnaeus.solvers.markov import hm3
from marks import slow

TAX = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)
LEAVES = np.array(TAX.leaves)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(24, 4)), LEAVES[np.arange(24) % 4]


@pytest.mark.slow
def test_edges_without_local_features_are_edges_without_local_features(data):
    X, y = data
    plain = HM3(TAX, slack="negative", random_state=0).fit(X, y)
    model = HM3(TAX, slack="negative", random_state=0).fit(X, y, local=[None] * 6)
    for local in (None, [None] * 6):
        np.testing.assert_array_equal(model.predict(X, local=local), plain.predict(X))
        np.testing.assert_allclose(
            model.decision_function(X, local=local), plain.decision_function(X)
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_freq_is_the_same_work_for_a_kernel_as_for_features(data, monkeypatch):
    X, y = data
    options = {"max_iter": 1, "tol": 1e-12, "optimizer": "csga", "random_state": 0}
    of_features = HM3(TAX, freq=2, **options).fit(X, y)
    options["kernel"] = "precomputed"
    of_kernel, usual = (HM3(TAX, freq=f, **options).fit(X @ X.T, y) for f in (2, None))
    np.testing.assert_allclose(of_kernel.dual_objective_, of_features.dual_objective_)
    monkeypatch.setattr(hm3, "SWEEPS", 1)
    assert HM3(TAX, freq=2, **options).fit(X @ X.T, y).objective_ == of_kernel.objective_
    assert HM3(TAX, **options).fit(X @ X.T, y).objective_ != usual.objective_


@pytest.mark.parametrize("make", [slow(HM3), slow(RankingSVM), slow(GraphM3), HierarchicalRLS])
def test_kernel_matrices_have_the_type_and_the_threads_asked_for(data, make, monkeypatch):
    texts, asked = ["abcab", "bcbca", "aabb", "cabc"] * 6, []
    true = gram.fill

    def fill(pairs, symmetric, dtype, n_jobs, callback):
        asked.append((np.dtype(dtype).name, n_jobs))
        return true(pairs, symmetric, dtype, n_jobs, callback)

    monkeypatch.setattr(kernels.base, "fill", fill)
    known = make().get_params().keys() & {"dtype", "n_jobs"}
    for dtype in ("float64", "float32") if "dtype" in known else ("float64",):
        own = {"dtype": dtype, "n_jobs": 2}
        asked.clear()
        model = make(TAX, kernel=kernels.SpectrumKernel(2), **{k: own[k] for k in known})
        model.fit(texts, data[1]).predict(texts[:3])
        assert asked[0] == (dtype, 2 if "n_jobs" in known else None)
        assert len(asked) == 2 and asked[1][1] == asked[0][1]


@pytest.mark.parametrize("make", [HM3, RankingSVM, GraphM3, HierarchicalRLS])
def test_a_matrix_without_inner_products_is_refused(data, make):
    X, y = data
    K = X @ X.T
    with pytest.raises(UserError, match=r"eigenvalue -1.* add \S+ to the diagonal"):
        make(TAX, kernel="precomputed").fit(K - np.eye(24), y)
    K[3, 5] += 1.0
    with pytest.raises(UserError, match="not symmetric: .* in row 3, column 5"):
        make(TAX, kernel="precomputed").fit(K, y)


def test_large_matrices_are_searched_for_a_negative_eigenvalue(data, monkeypatch):
    X = np.random.default_rng(1).normal(size=(60, 8))
    monkeypatch.setattr(gram, "DECOMPOSED", 10)
    gram.check_inner_products(X @ X.T)
    gram.check_inner_products((X @ X.T).astype(np.float32))
    gram.check_inner_products(np.zeros((60, 60)))
    with pytest.raises(UserError, match=r"eigenvalue -3"):
        gram.check_inner_products(X @ X.T - 3.0 * np.eye(60))
    with pytest.raises(UserError, match="holds nan"):
        gram.check_inner_products(np.full((60, 60), np.nan))


@pytest.mark.parametrize("slack", ["example", slow("pair")])
@pytest.mark.parametrize("rescale", ["slack", "margin"])
def test_rankings_at_any_cost(data, slack, rescale):
    """At a large cost the objective is that cost times the smallest sum of slacks."""
    X, y = data
    options = {"slack": slack, "rescale": rescale, "random_state": 0}
    values = []
    for C in (1e10, 1e13, 1e16):
        model = RankingSVM(TAX, C=C, **options).fit(X, y)
        assert 0 <= model.gap_ <= model.tol
        values.append(model.objective_ / C)
    np.testing.assert_allclose(values, values[0], rtol=1e-2)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-30])
def test_rankings_of_next_to_nothing(data, size):
    X, y = data
    model = RankingSVM(TAX, random_state=0).fit(size * X, y)
    assert model.gap_ == 0
    np.testing.assert_allclose(model.objective_, losses.half_distance(TAX).matrix().max() * 24)


def test_where_rounding_hides_the_rest_more_rounds_are_no_advice(data):
    X, y = data
    with pytest.warns(match="Rounding hides the rest: lower C, scale the features"):
        RankingSVM(TAX, random_state=0).fit(1e100 * X, y)


def test_volumes_with_labels_of_inner_nodes(data):
    X, _ = data
    names = ["a1", "a", "b1", "b2", "b"]
    y = np.array(names)[np.arange(24) % 5]
    loss = losses.volume(TAX, {"a": 2.0, "b": 3.0, **dict.fromkeys(TAX.leaves, 1.0)}, 1.0, 2.0)
    model = RankingSVM(TAX, loss=loss, random_state=0).fit(X, y)
    over = losses.class_loss(loss, TAX, TAX.numbers(list(model.coef_names_)))
    by_hand = RankingSVM(TAX, loss=over.matrix(), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.objective_, by_hand.objective_, rtol=2e-2)
    table, place = over.matrix(), {name: i for i, name in enumerate(model.coef_names_)}
    assert table[place["a1"], place["a"]] == 1.0 and table[place["a"], place["a1"]] == 2.0
    assert table[place["a"], place["b"]] == 1.0 * 2 + 2.0 * 3


def test_a_dual_value_above_the_primal_is_not_hidden():
    model = RankingSVM()
    model._certify(1.0, 1.0 + 1e-9, 1, [])
    assert model.gap_ == 0
    model._certify(1.0, 1.5, 1, [])
    assert model.gap_ == -0.5
