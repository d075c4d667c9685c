"""Recursive regularisation: solved problems, equivalences, certificates."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from linnaeus import FlatLogistic, FlatSVM, RecursiveLogistic, RecursiveSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.solvers.recursive import rr_factor
from marks import slow

LOSS = {"hinge": "hinge", "sqhinge": "squared_hinge"}
GRAPH = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (2, 6), (1, 6)]


def of_golden(case):
    """The taxonomy and the parameters of a solved problem."""
    loops = sp.csgraph.connected_components(
        sp.coo_array(
            (
                np.ones(len(case["edges"])),
                np.array(case["edges"] or [[0, 0]])[: len(case["edges"])].T,
            )
            if case["edges"]
            else (np.zeros(0), (np.zeros(0, int), np.zeros(0, int))),
            shape=(case["n_nodes"],) * 2,
        ),
        directed=False,
    )[0]
    has_cycle = len(case["edges"]) > case["n_nodes"] - loops
    is_dag = case["root_convention"].startswith("zero at")
    if not case["edges"]:
        return Taxonomy.flat(map(str, range(case["n_nodes"]))), {"root": "zero"}
    if has_cycle and not is_dag:
        edges = case.get("edges_before_dummies", GRAPH)
        ground = max(case["ground"]) or None
        tax = Taxonomy.from_edges([], related=[(str(a), str(b)) for a, b in edges])
        return tax, {"root": "free", "ground": ground}
    tax = Taxonomy.from_edges([(str(a), str(b)) for a, b in case["edges"]])
    return tax, {"root": case["root_convention"].split()[0]}


@pytest.mark.parametrize(
    "schedule",
    ["two-block", *map(slow, ("parity", "color", "jacobi"))],
)
def test_golden(golden_file, schedule):
    seen = 0
    for case in golden_file("recursive_and_bayes")["rr"]:
        tax, parameters = of_golden(case)
        Y = tax.encode([[str(v) for v in labels] for labels in case["Y"]])
        parameters |= {"schedule": schedule, "fit_intercept": False, "random_state": 0}
        parameters |= {"C": case["C"], "tol": 1e-8, "max_iter": 1000}
        model = RecursiveLogistic(tax, **(parameters | {"tol": 1e-9}))
        if case["loss"] in LOSS:
            model = RecursiveSVM(tax, loss=LOSS[case["loss"]], **parameters)
        model.fit(np.array(case["X"]), Y)
        assert model.gap_ <= 1e-8
        np.testing.assert_allclose(model.objective_, case["objective"], rtol=1e-6)
        order = [case["leaves"].index(int(name)) for name in model.coef_names_]
        if case["unique"]:
            weights = np.array(case["leaf_weights"])[order]
            np.testing.assert_allclose(model.coef_, weights, atol=1e-4)
        seen += 1
    assert seen >= 10


def data(n=50, d=6, seed=0):
    rng = np.random.default_rng(seed)
    tax = Taxonomy.from_edges(
        [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
    )
    X = rng.normal(size=(n, d))
    y = np.array(tax.leaves)[rng.integers(0, 5, size=n)]
    return tax, X, y


def svm(tax, **parameters):
    defaults = {"fit_intercept": False, "tol": 1e-9, "max_iter": 1000, "random_state": 0}
    return RecursiveSVM(tax, **{**defaults, **parameters})


def test_without_edges_it_is_independent_svms():
    """gopal 2.4 (a): no edges and a ground of 1 everywhere."""
    _, X, y = data()
    ours = svm(None, C=0.7).fit(X, y)
    flat = FlatSVM(C=0.7, loss="hinge", fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, flat.coef_, atol=1e-3)
    for k, name in enumerate(ours.coef_names_):
        theirs = LinearSVC(C=0.7, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
        np.testing.assert_allclose(ours.coef_[k], theirs.fit(X, y == name).coef_[0], atol=1e-3)


def test_pinned_star_splits_into_plain_svms():
    tax, X, y = data()
    star = Taxonomy.from_edges([("r", leaf) for leaf in tax.leaves])
    pinned = svm(star, root="pinned").fit(X, y)
    np.testing.assert_allclose(pinned.coef_, svm(None).fit(X, y).coef_, atol=1e-4)


def test_series_edges_add_resistance():
    """(c): a chain of two unit edges equals one of conductance 1/2."""
    _, X, y = data()
    names = sorted(set(y))
    chain = [("r", f"{v}-") for v in names] + [(f"{v}-", v) for v in names]
    long = svm(Taxonomy.from_edges(chain), loss="squared_hinge").fit(X, y)
    short = svm(
        Taxonomy.from_edges([("r", v) for v in names]),
        loss="squared_hinge",
        conductance={("r", v): 0.5 for v in names},
    ).fit(X, y)
    np.testing.assert_allclose(long.objective_, short.objective_, rtol=1e-7)
    np.testing.assert_allclose(long.coef_, short.coef_, atol=1e-4)


def test_it_is_one_svm_over_path_features():
    """(d): w_n is the sum over its path; the stacked problem by a generic optimiser."""
    tax, X, y = data(n=30, d=3)
    model = svm(tax, loss="squared_hinge", C=0.5).fit(X, y)
    A = tax.ancestor_matrix[tax.leaf_numbers].toarray()
    signs = np.where(np.array(tax.leaves)[:, None] == y, 1.0, -1.0)

    def value(u):
        W = A @ u.reshape(len(tax), -1)
        short = np.maximum(0, 1 - signs * (W @ X.T))
        return 0.5 * np.sum(u**2) + 0.5 * np.sum(short**2)

    reference = minimize(value, np.zeros(len(tax) * 3), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(model.objective_, reference.fun, rtol=1e-7)
    np.testing.assert_allclose(model.coef_, A @ reference.x.reshape(len(tax), -1), atol=1e-4)


def test_a_number_is_the_conductance_between_inner_nodes():
    rng = np.random.default_rng(3)
    tax = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a"), ("A", "b"), ("B", "c")])
    X, y = rng.normal(size=(30, 4)), np.array(["a", "b", "c"] * 10)
    number = svm(tax, conductance=5.0).fit(X, y)
    named = svm(tax, conductance={("r", "A"): 5.0, ("r", "B"): 5.0}).fit(X, y)
    assert (number.coef_ == named.coef_).all()
    assert number.objective_ > svm(tax).fit(X, y).objective_
    with pytest.raises(UserError, match="conductance is 0. It must be a positive number"):
        svm(tax, conductance=0).fit(X, y)


def test_scaling_conductances_and_costs_together_changes_nothing():
    """(e)"""
    tax, X, y = data()
    one = svm(tax, loss="squared_hinge", C=1.0, root="free", ground=0.5).fit(X, y)
    double = dict.fromkeys(tax.edges, 2.0)
    two = svm(tax, loss="squared_hinge", C=2.0, root="free", ground=1.0, conductance=double).fit(
        X, y
    )
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-4)
    np.testing.assert_allclose(2 * one.objective_, two.objective_, rtol=1e-6)


def test_small_costs_have_a_closed_form():
    """(f): with all margins below 1, W = C K sum y x, K = 1 + depth of the common ancestor."""
    tax, X, y = data()
    C = 1e-4
    model = svm(tax, C=C).fit(X, y)
    signs = np.where(np.array(tax.leaves)[:, None] == y, 1.0, -1.0)
    A = tax.ancestor_matrix[tax.leaf_numbers]
    K = (A @ A.T).toarray()
    np.testing.assert_allclose(model.coef_, C * K @ (signs @ X), rtol=1e-4, atol=1e-9)


@pytest.mark.slow
def test_inner_nodes_are_the_average_of_their_neighbours():
    tax, X, y = data()
    model = svm(tax, C=2.0).fit(X, y)
    W = dict(zip(model.coef_names_, model.coef_, strict=True))
    W |= dict(zip(model.inner_nodes_, model.inner_coef_, strict=True))
    np.testing.assert_allclose(W["A"], (W["r"] + W["a1"] + W["a2"]) / 3, atol=1e-5)
    np.testing.assert_allclose(W["r"], (W["A"] + W["B"]) / 3, atol=1e-5)


def test_own_intercepts_are_not_shared():
    tax, X, y = data()
    own = svm(tax, loss="squared_hinge", fit_intercept=True, intercept_sharing="own").fit(X, y)
    shared = svm(tax, loss="squared_hinge", fit_intercept=True, intercept_sharing="parent").fit(
        X, y
    )
    assert own.gap_ <= 1e-9 and shared.gap_ <= 1e-9
    assert np.abs(own.intercept_ - shared.intercept_).max() > 1e-3


def test_inner_labels_become_misc_leaves_and_come_back_under_their_name():
    tax, X, y = data()
    y = y.astype(object)
    y[:10] = "A"
    model = svm(tax, tol=1e-4).fit(X, y)
    assert list(model.coef_names_) == [*tax.leaves, "A"]
    assert "A" in set(svm(tax, tol=1e-4, C=100.0).fit(X[:12], y[:12]).predict(X[:12]))


def test_the_dual_never_lies_above_the_optimum():
    tax, X, y = data(n=100)
    loose = svm(tax, tol=1e-2).fit(X, y)
    tight = svm(tax, tol=1e-9).fit(X, y)
    assert loose.dual_objective_ <= tight.objective_ * (1 + 1e-9) <= loose.objective_ * (1 + 2e-9)


def test_logistic_without_edges_is_independent_regressions():
    _, X, y = data()
    ours = RecursiveLogistic(None, C=2.0, tol=1e-9, max_iter=500).fit(X, y)
    flat = FlatLogistic(None, C=2.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, flat.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, flat.intercept_, atol=1e-4)


@pytest.mark.parametrize("sharing", ["parent", "own"])
def test_logistic_with_intercepts_by_a_generic_optimiser(sharing):
    tax, X, y = data(n=40, d=2)
    model = RecursiveLogistic(
        tax, C=0.5, intercept_scaling=2.0, intercept_sharing=sharing, tol=1e-9, max_iter=500
    ).fit(X, y)
    wide = np.hstack([X, np.full((40, 1), 2.0)])
    A = tax.ancestor_matrix[tax.leaf_numbers].toarray()
    signs = np.where(np.array(tax.leaves)[:, None] == y, 1.0, -1.0)

    def value(u):
        u = u.reshape(len(tax) + 5, 3)
        W = A @ u[: len(tax)]
        if sharing == "own":
            W[:, -1] = u[len(tax) :, -1]
        loss = np.logaddexp(0, -signs * (W @ wide.T)).sum()
        return 0.5 * np.sum(u**2) + 0.5 * loss

    start = np.zeros((len(tax) + 5) * 3)
    reference = minimize(value, start, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(model.objective_, reference.fun, rtol=1e-6)


@pytest.mark.parametrize("schedule", ["two-block", "parity", "color", "jacobi"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_objective_is_that_of_the_weights_returned(schedule, loss):
    """Far from the optimum too: the certificate belongs to the answer, not to another state."""
    tax, X, y = data(n=60)
    parameters = {"C": 0.5, "schedule": schedule, "fit_intercept": False, "tol": 5e-2}
    model = RecursiveLogistic(tax, **parameters)
    if loss != "logistic":
        model = RecursiveSVM(tax, loss=loss, **parameters)
    model.fit(X, y)
    W = np.zeros((len(tax), X.shape[1]))
    W[tax.numbers(model.coef_names_)] = model.coef_
    W[tax.numbers(model.inner_nodes_)] = model.inner_coef_
    z = np.where(model.coef_names_[:, None] == y, 1.0, -1.0) * (model.coef_ @ X.T)
    short = np.maximum(0, 1 - z)
    losses = {"hinge": short, "squared_hinge": short**2, "logistic": np.logaddexp(0, -z)}
    value = 0.5 * np.trace(W.T @ (tax.laplacian() @ W)) + 0.5 * losses[loss].sum()
    np.testing.assert_allclose(model.objective_, value, rtol=1e-9)


def many(seed=0, dag=False):
    """More classes than a block has lanes."""
    rng = np.random.default_rng(seed)
    edges = [("r", f"g{g}") for g in range(9)]
    edges += [(f"g{c % 9}", f"c{c}") for c in range(90)]
    if dag:
        edges += [(f"g{(c + 1) % 9}", f"c{c}") for c in range(0, 90, 7)]
    tax = Taxonomy.from_edges(edges)
    y = np.array(tax.leaves)[rng.integers(0, 90, size=400)]
    X = rng.normal(size=(400, 12)) + rng.normal(size=(len(tax), 12))[tax.numbers(y)]
    return tax, X, y


@pytest.mark.parametrize("dag", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("sharing", ["own", "parent"])
def test_the_joint_dual_and_alternation_meet(loss, sharing, dag):
    tax, X, y = many(dag=dag)
    options = {"loss": loss, "intercept_sharing": sharing, "tol": 1e-4, "max_iter": 300, "C": 0.05}
    joint, turns = (
        RecursiveSVM(tax, schedule=schedule, random_state=0, **options).fit(X, y)
        for schedule in ("two-block", "color")
    )
    assert joint.gap_ <= 1e-4 and turns.gap_ <= 1e-4
    np.testing.assert_allclose(joint.objective_, turns.objective_, rtol=2e-4)
    np.testing.assert_allclose(joint.inner_coef_, turns.inner_coef_, atol=0.05)


def test_the_joint_dual_never_falls_and_does_not_depend_on_workers():
    tax, X, y = many(seed=1)
    one, two = (
        RecursiveSVM(tax, C=0.1, tol=1e-6, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2)
    )
    assert np.array_equal(one.coef_, two.coef_) and np.array_equal(one.inner_coef_, two.inner_coef_)
    dual = [step["objective"] * (1 - step["gap"]) for step in one.trace_]
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(dual))


def test_longer_weights_are_priced_rightly():
    """Stopped early, the objective is still that of the weights returned."""
    tax, X, y = many(seed=2)
    with pytest.warns(ConvergenceWarning):
        model = RecursiveSVM(
            tax, C=10.0, fit_intercept=False, tol=1e-9, max_iter=1, random_state=0
        ).fit(X, y)
    W = np.zeros((len(tax), X.shape[1]))
    W[tax.numbers(model.coef_names_)] = model.coef_
    W[tax.numbers(model.inner_nodes_)] = model.inner_coef_
    z = np.where(model.coef_names_[:, None] == y, 1.0, -1.0) * (model.coef_ @ X.T)
    value = 0.5 * np.trace(W.T @ (tax.laplacian() @ W)) + 10.0 * np.maximum(0, 1 - z).sum()
    np.testing.assert_allclose(model.objective_, value, rtol=1e-9)


def test_a_large_dag_takes_little_memory(monkeypatch):
    """Its classes and internal nodes make no dense table."""
    monkeypatch.setattr(rr_factor, "CYCLES", 100)
    rng = np.random.default_rng(0)
    inner = [f"i{j}" for j in range(400)]
    edges = [(inner[(j - 1) // 3], inner[j]) for j in range(1, 400)]
    edges += [(inner[p], f"c{j}") for j in range(4000) for p in {j % 400, (7 * j + 5) % 400}]
    tax = Taxonomy.from_edges(edges)
    X, y = rng.normal(size=(20, 3)), rng.choice(tax.leaves, 20)
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning):
        RecursiveSVM(tax, max_iter=1, tol=1e-9, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4000 * 400
