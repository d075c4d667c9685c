"""HBLR as users see it: golden problems, uncertainty, priors, odd trees."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from linnaeus import HBLR, RecursiveLogistic, Taxonomy
from linnaeus.errors import UserError
from linnaeus.inference.predictive import probabilities
from marks import slow

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)
MODELS = ("M1", "M2", "M3")
INFERENCES = ("map", "variational", "flat")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    centre = 2 * rng.normal(size=(5, 6))
    label = rng.integers(0, 5, size=150)
    X = centre[label] + rng.normal(size=(150, 6))
    return X, np.array(TAX.leaves)[label]


@pytest.fixture(scope="module")
def solved(golden_file):
    """The golden problems by their numbers, with taxonomies and models; each is fitted once."""
    cases = golden_file("recursive_and_bayes")["hblr"]
    return cache(lambda k: (cases[k], *fitted(cases[k])))


def fitted(case):
    tax = Taxonomy.from_edges(case["edges"])
    one = all(len(row) == 1 for row in case["Y"])
    y = np.array([row[0] for row in case["Y"]]) if one else case["Y"]
    prior = tuple({int(v): x for v, x in case[name].items()} for name in ("a", "b"))
    way = "map" if case["inference"] == "partial MAP" else case["inference"]
    model = HBLR(
        tax, model=case["model"], inference=way, link=case["link"], prior=prior,
        fit_intercept=False, tol=1e-9, max_iter=20_000,
    )  # fmt: skip
    return tax, model.fit(np.array(case["X"]), y)


@pytest.mark.parametrize("k", range(6))
def test_golden(solved, k):
    case, tax, model = solved(k)
    order = tax.numbers(list(range(len(tax))))  # rows of the file are in the order of names
    np.testing.assert_allclose(model.mu_[order], case["mu"], atol=1e-4)
    np.testing.assert_allclose(model.variance_[order], case["Psi_diag"], atol=1e-4)
    for owner, value in case["E_alpha"].items():
        np.testing.assert_allclose(model.precision_[int(owner)], value, rtol=1e-4)
    if "vlb_trace" in case:
        for sweep, bound in case["vlb_trace"].items():
            assert model.lower_bound_trace_[int(sweep)] == pytest.approx(bound, rel=1e-6)
        assert model.lower_bound_ == pytest.approx(case["vlb"], rel=1e-6)
        assert np.diff(model.lower_bound_trace_).min() > -1e-9
    else:
        assert model.objective_ == pytest.approx(case["J"], rel=1e-6)


@pytest.mark.parametrize("k", range(6))
def test_golden_probabilities(solved, k):
    case, _, model = solved(k)
    want, X = case["predict"], np.array(case["predict"]["X"])
    order = [list(model.classes_).index(leaf) for leaf in case["leaves"]]
    for method, key, atol in (("plugin", "plugin", 1e-4), ("probit", "probit", 1e-4),
                              ("monte_carlo", "monte_carlo_200k", 0.01)):  # fmt: skip
        if key not in want:
            continue
        p = model.predict_proba(X, method=method, n_draws=20_000)[:, order]
        if case["link"] == "binary" and model.targets_.one:
            p = p / p.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(p, want[key], atol=atol)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # learns is enough
@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("link", ["softmax", "binary"])
def test_every_kind_learns(data, inference, model, link):
    X, y = data
    fit = HBLR(TAX, model, inference, link, tol=1e-3, max_iter=300).fit(X, y)
    assert np.mean(fit.predict(X) == y) > 0.75
    p, deviation = fit.predict_proba(X, return_std=True)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (deviation > 0).all() and (deviation < 1).all()
    assert fit.mu_.shape == fit.variance_.shape == (8, 6)
    mean, variance = fit.score_moments(X)
    np.testing.assert_allclose(mean[:, TAX.leaf_numbers], fit.decision_function(X), atol=1e-8)
    assert (variance > 0).all()
    nodes = fit.predict_node_proba(X)
    np.testing.assert_allclose(nodes[:, TAX.index("r")], 1)
    for parent, child in TAX.edges:
        assert (nodes[:, TAX.index(parent)] >= nodes[:, TAX.index(child)] - 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["map", "variational"])
def test_more_data_make_scores_more_certain(data, inference):
    X, y = data
    options = {"inference": inference, "prior": (2.0, 1.0), "tol": 1e-3}
    few = HBLR(TAX, **options).fit(X[:50], y[:50]).score_moments(X)[1]
    many = HBLR(TAX, **options).fit(X, y).score_moments(X)[1]
    assert np.median(many) < np.median(few)


def test_fixed_precisions_and_binary_links_are_recursive_regularisation(data):
    X, y = data
    strength = {v: 0.5 + 0.25 * k for k, v in enumerate(TAX.nodes)}
    sure = 1e9  # so many observations that the data cannot move the precisions
    prior = (dict.fromkeys(TAX.nodes, sure), {v: sure / strength[v] for v in TAX.nodes})
    bayes = HBLR(TAX, "M3", link="binary", prior=prior, tol=1e-9).fit(X, y)
    conductance = {(p, c): strength[c] for p, c in TAX.edges}
    other = RecursiveLogistic(TAX, conductance=conductance, tol=1e-12, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(bayes.coef_, other.coef_, atol=1e-5)
    np.testing.assert_allclose(bayes.intercept_, other.intercept_, atol=1e-5)


def test_a_class_with_few_examples_stays_closer_to_its_family(data):
    """M3 learns a precision for each class."""
    X, y = data
    kept = (y != "b3") | (np.cumsum(y == "b3") <= 2)
    model = HBLR(TAX, prior=(1.0, 1.0)).fit(X[kept], y[kept])
    mu = dict(zip(TAX.nodes, model.mu_, strict=True))
    away = {v: np.linalg.norm(mu[v] - mu["B"]) for v in ("b1", "b2", "b3")}
    assert away["b3"] < away["b1"] and away["b3"] < away["b2"]


def test_several_roots_get_a_common_one(data):
    X, y = data
    forest = Taxonomy.from_edges(list(TAX.edges)[2:])
    model = HBLR(forest, prior=(1.0, 1.0)).fit(X, y)
    assert model.mu_.shape == (len(forest), 6)
    assert set(model.precision_) == set(forest.nodes)
    same = HBLR(TAX, prior=(1.0, 1.0)).fit(X, y)
    np.testing.assert_allclose(
        model.mu_[forest.numbers(list(forest.leaves))],
        same.mu_[TAX.numbers(list(forest.leaves))], atol=1e-3,
    )  # fmt: skip
    assert None in HBLR(forest, "M1", prior=(1.0, 1.0)).fit(X, y).precision_


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inference", "other"), [("map", "paper"), ("map", "parity"), ("variational", "parity")]
)
def test_all_schedules_lead_to_the_same_place(data, inference, other):
    options = {"inference": inference, "prior": (2.0, 1.0), "tol": 1e-6, "max_iter": 5000}
    a, b = (HBLR(TAX, schedule=order, **options).fit(*data) for order in (None, other))
    np.testing.assert_allclose(a.mu_, b.mu_, atol=1e-3)


def test_flat_is_a_star(data):
    X, y = data
    flat = HBLR(TAX, inference="flat", prior=(1.0, 1.0), tol=1e-6).fit(X, y)
    star = HBLR(Taxonomy.from_edges([("r", leaf) for leaf in TAX.leaves]), prior=(1.0, 1.0),
                tol=1e-6).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(flat.decision_function(X), star.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(flat.mu_[TAX.index("A")], flat.mu_[TAX.index("r")])


def test_inner_nodes_with_labels_of_their_own(data):
    X, y = data
    y = np.where(y == "b3", "B", y)
    model = HBLR(TAX, prior=(1.0, 1.0)).fit(X, y)
    assert model.mu_.shape == (len(TAX), 6)
    assert "B" in set(model.classes_) and np.mean(model.predict(X) == y) > 0.7
    nodes = model.predict_node_proba(X)
    p = dict(zip(model.coef_names_, model.class_probabilities(X).T, strict=True))
    below = p["B"] + p["b1"] + p["b2"] + p["b3"]
    np.testing.assert_allclose(nodes[:, TAX.index("B")], below, atol=1e-9)


def test_several_labels(data):
    X, y = data
    lists = [[a, b] if a != b else [a] for a, b in zip(y, y[::-1], strict=True)]
    model = HBLR(TAX, link="binary").fit(X, lists)
    assert model.predict_proba(X).shape == (150, len(TAX))
    np.testing.assert_allclose(model.predict_proba(X), model.predict_node_proba(X))
    p, deviation = model.predict_proba(X, return_std=True)
    assert p.shape == deviation.shape
    assert (np.isnan(deviation) == (TAX.n_children > 0)).all()
    assert all(set(row) <= set(TAX.leaves) for row in model.predict(X))
    with pytest.raises(UserError, match='sample 0 has 2. Use link="binary" for several'):
        HBLR(TAX).fit(X, lists)


@pytest.mark.parametrize("inference", INFERENCES)
def test_softmax_answers_label_sets_with_one_class(data, inference):
    """Also where the scores of several classes, or of none, are positive."""
    X, y = data
    options = {"inference": inference, "tol": 1e-3}
    want = HBLR(TAX, **options).fit(X, y).predict(X)
    lists = HBLR(TAX, **options).fit(X, [[v] for v in y]).predict(X)
    assert lists == [[v] for v in want]
    closed = TAX.closure(TAX.encode([[v] for v in y]))
    found = HBLR(TAX, **options).fit(X, closed).predict(X)
    assert (found != TAX.closure(TAX.encode(lists))).nnz == 0
    numbers = np.searchsorted(TAX.leaves, y)
    flat = HBLR(**options).fit(X, np.eye(5, dtype=int)[numbers]).predict(X)
    np.testing.assert_array_equal(flat.argmax(axis=1), HBLR(**options).fit(X, numbers).predict(X))
    np.testing.assert_array_equal(flat.sum(axis=1), 1)


@pytest.mark.parametrize("inference", ["map", "variational"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("link", [slow("softmax"), "binary"])
def test_precisions_are_those_of_the_corrected_update(data, inference, model, link):
    """nu = b + 1/2 sum of Q, also for vectors a and b."""
    X, y = data
    rng = np.random.default_rng(2)
    size = 6 if model == "M2" else 1
    a, b = ({v: rng.uniform(1, 3, size) for v in TAX.nodes} for _ in range(2))
    fit = HBLR(TAX, model, inference, link, (a, b), fit_intercept=False, tol=1e-8, max_iter=5000)
    fit.fit(X, y)
    mu, variance = (dict(zip(TAX.nodes, v, strict=True)) for v in (fit.mu_, fit.variance_))
    Q = {c: variance[c] + variance[p] + (mu[c] - mu[p]) ** 2 for p, c in TAX.edges}
    owned = {c: [Q[c]] for c in Q} if model == "M3" else {
        p: [Q[c] for c in TAX.children(p)] for p in ("r", "A", "B")
    }  # fmt: skip
    assert set(fit.precision_) == set(owned)
    for v, terms in owned.items():
        shape, rate = a[v] + 0.5 * len(terms), b[v] + 0.5 * np.sum(terms, axis=0)
        if model != "M2":
            shape = a[v] + 0.5 * 6 * len(terms)
            rate = b[v] + 0.5 * np.sum(terms)
        np.testing.assert_allclose(fit.precision_[v], np.squeeze(shape / rate), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # both stop alike
@pytest.mark.parametrize("inference", ["map", "variational"])
def test_the_constant_is_a_feature_of_its_size(data, inference):
    X, y = data
    column = np.hstack([X, np.full((150, 1), 2.5)])
    options = {"model": "M2", "inference": inference, "prior": (2.0, 1.0), "random_state": 0}
    a = HBLR(TAX, intercept_scaling=2.5, **options).fit(X, y)
    b = HBLR(TAX, fit_intercept=False, **options).fit(column, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(column))
    for found, want in zip(a.score_moments(X), b.score_moments(column), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-10)
    for method in ("plugin", "probit", "monte_carlo"):
        np.testing.assert_allclose(
            a.predict_proba(X, method, n_draws=5), b.predict_proba(column, method, n_draws=5)
        )
    np.testing.assert_allclose(a.precision_["A"], b.precision_["A"])


def test_deviations_of_shares(data):
    """One label per sample and binary links: classes share 1, and so do their deviations."""
    X, y = data
    two = HBLR(link="binary").fit(X, np.where(y < "b", "n", "p"))
    _, deviation = two.predict_proba(X, return_std=True)
    np.testing.assert_allclose(deviation[:, 0], deviation[:, 1])
    one = HBLR(Taxonomy.flat(["x"]), link="binary").fit(X, np.full(150, "x"))
    p, deviation = one.predict_proba(X, return_std=True)
    np.testing.assert_allclose(p, 1)
    np.testing.assert_allclose(deviation, 0, atol=1e-12)


@pytest.mark.parametrize("inference", ["map", "variational"])
def test_weights_may_sum_to_less_than_one(data, inference):
    X, y = data
    model = HBLR(TAX, inference=inference, tol=1e-3)
    model.fit(X, y, sample_weight=np.full(150, 0.2 / 150))
    assert np.mean(model.predict(X) == y) > 0.7
    assert min(model.precision_.values()) > 0


def test_a_bound_of_an_earlier_fit_is_forgotten(data):
    model = HBLR(TAX, inference="variational", tol=1e-2).fit(*data)
    assert model.lower_bound_trace_[-1] == model.lower_bound_
    model.set_params(inference="map").fit(*data)
    assert not hasattr(model, "lower_bound_") and not hasattr(model, "lower_bound_trace_")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("inference", ["map", "variational"])
def test_features_that_no_example_has_change_nothing(data, model, inference):
    X, y = data
    wide = np.zeros((150, 10))
    wide[:, [0, 2, 3, 5, 8, 9]] = X
    a, b = (HBLR(TAX, model, inference, tol=1e-3).fit(x, y) for x in (X, wide))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(wide), atol=1e-8)
    np.testing.assert_allclose(b.mu_[:, [1, 4, 6, 7]], 0)
    np.testing.assert_allclose(a.score_moments(X)[1], b.score_moments(wide)[1], rtol=1e-8)
    other = wide.copy()
    other[:, 1] = 1.0  # a new feature makes scores less certain
    assert (b.score_moments(other)[1] > b.score_moments(wide)[1]).all()
    assert (b.variance_[TAX.index("a1"), 1] > b.variance_[TAX.index("A"), 1] > 1).all()


@pytest.mark.slow
def test_very_many_features_that_no_example_has_cost_nothing(data):
    X, y = data
    wide = sp.csr_array((X.ravel(), np.tile(np.arange(6) * 10**6, 150), np.arange(151) * 6),
                        shape=(150, 6 * 10**6))  # fmt: skip
    model = HBLR(TAX).fit(wide, y)
    assert sp.issparse(model.coef_) and model.coef_.shape == (5, 6 * 10**6)
    plain = HBLR(TAX).fit(X, y)
    np.testing.assert_allclose(model.decision_function(wide), plain.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X))
    assert (model.predict(wide) == plain.predict(X)).all()


def test_full_covariances_are_used_for_scores(data):
    X, y = data
    model = HBLR(TAX, inference="variational", tol=1e-3).fit(X, y)
    _, variance = model.score_moments(X)
    with_constant = np.hstack([X, np.ones((150, 1))])
    for k, v in enumerate(TAX.leaf_numbers):
        full = model.posterior_.covariance[k]
        want = np.array([x @ full @ x for x in with_constant])
        np.testing.assert_allclose(variance[:, v], want, rtol=1e-8)


@pytest.mark.slow
def test_many_features_take_diagonal_covariances(data):
    X, y = data
    rng = np.random.default_rng(1)
    wide = sp.csr_array(np.hstack([X, 0.1 * rng.normal(size=(150, 600))]))
    model = HBLR(TAX, inference="variational", tol=1e-2).fit(wide, y)
    assert model.posterior_.covariance is None
    assert np.mean(model.predict(wide) == y) > 0.7


def test_it_warns_when_it_is_cut_short(data):
    with pytest.warns(ConvergenceWarning, match="stopped after 2 rounds.*Raise max_iter or tol"):
        HBLR(TAX, tol=1e-12, max_iter=2).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "M4"}, "model='M4' is not known. Use 'M1', 'M2' or 'M3'"),
        (
            {"inference": "mcmc"},
            "inference='mcmc' is not known. Use 'map', 'variational' or 'flat'",
        ),
        ({"link": "probit"}, "link='probit' is not known"),
        ({"prior": "jeffreys"}, "prior='jeffreys' is not known. Use 'fisher', 'blr' or"),
        ({"prior": 3}, "prior is 3. It must be 'fisher', 'blr' or a pair"),
        ({"prior": (1.0, -1.0)}, "The prior's b of 'A' is .*-1.0.*. Use positive numbers"),
        ({"prior": ({"A": 1.0}, 1.0)}, "The prior's a has no value for 'B'. Give one for each"),
        ({"prior": ([1.0, 2.0], 1.0)}, "The prior's a of 'A' has 2 values. Use one"),
        ({"schedule": "leaves"}, "schedule='leaves' is not one of inference='map'. Use 'joint', "),
        ({"tol": 0}, "tol is 0. It must be a positive number"),
        ({"inference": "variational", "covariance": "low"}, "covariance='low' is not known"),
    ],
)
def test_errors(data, parameters, message):
    with pytest.raises(UserError, match=message):
        HBLR(TAX, **parameters).fit(*data)


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["sum", "information"])
@pytest.mark.parametrize("model", MODELS)
def test_the_prior_of_logistic_regressions(data, model, pool):
    X, y = data
    fit = HBLR(TAX, model, prior="blr", pool=pool, tol=1e-3).fit(X, y)
    assert np.mean(fit.predict(X) == y) > 0.75
    fisher = HBLR(TAX, model, pool=pool, tol=1e-3).fit(X, y)
    assert not np.allclose(fit.precision_["A"], fisher.precision_["A"], rtol=1e-3)


def test_uncertainty_does_not_lift_improbable_classes():
    """Twelve classes, some of few examples: what differences say keeps the best class."""
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_edges([(f"F{k % 3}", f"c{k:02d}") for k in range(12)])
    share = np.array([60, 60, 60, 30, 30, 30, 4, 4, 4, 3, 3, 3])
    t = np.repeat(np.arange(12), share)
    centre = 1.5 * rng.normal(size=(12, 8))
    X, X_test = (centre[t] + rng.normal(size=(t.size, 8)) for _ in range(2))
    names = np.array([f"c{k:02d}" for k in range(12)])
    model = HBLR(tax).fit(X, names[t])

    def loss(p):
        return -np.log(p[np.arange(t.size), t]).mean(), np.mean(p.argmax(axis=1) == t)

    plain = loss(model.predict_proba(X_test))
    mean, wide = (part[:, tax.numbers(list(names))] for part in model.score_moments(X_test))
    old = loss(probabilities(mean, wide, "softmax", "probit")[0])
    for method in ("joint", "probit", "monte_carlo"):
        found = loss(model.predict_proba(X_test, method=method))
        assert found[0] < min(plain[0] + 0.05, old[0])
        assert found[1] > plain[1] - 0.01


def test_a_dag_is_refused(data):
    dag = Taxonomy.from_edges([*TAX.edges, ("A", "b3")])
    with pytest.raises(UserError, match="HBLR needs a tree, but 'b3' has 2 parents. Use Recursive"):
        HBLR(dag).fit(*data)
