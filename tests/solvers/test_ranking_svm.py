"""The ranking machine: solved problems, its dual by the definition, the search for pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.losses import class_attributes, class_kernel, class_loss, universal_nodes
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.solvers.ranking import ranking_svm, ranking_svm_greedy, ranking_svm_pairs
from linnaeus.solvers.ranking import ranking_svm_pairs_fast as pairs_fast
from linnaeus.synthetic import make_hierarchical

TREE = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("b2", "b3")]
)
DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("a", "y"), ("b", "z"), ("x", "p"), ("x", "q")]
)
VARIANTS = list(product(("example", "pair"), ("slack", "margin")))


def problem(taxonomy=TREE, n=12, d=3, seed=0, scheme="perclass", loss="half_distance"):
    """Random examples with one to three labels."""
    rng = np.random.default_rng(seed)
    q = len(taxonomy.leaves)
    Y = np.zeros((n, q))
    for row in Y:
        row[rng.choice(q, size=rng.integers(1, min(4, q)), replace=False)] = 1
    X = rng.normal(size=(n, d))
    attributes = class_attributes(taxonomy, scheme)
    return sp.csr_array(X), sp.csr_array(Y), attributes, class_loss(loss, taxonomy)


def slacks(F, Y, D, slack, rescale):
    """xi of every example, by the definition."""
    out = np.zeros(len(F))
    for i, labels in enumerate(Y.astype(bool)):
        H = [
            D[y, z] - F[i, y] + F[i, z]
            if rescale == "margin"
            else D[y, z] * (1 - F[i, y] + F[i, z])
            for y in np.flatnonzero(labels)
            for z in np.flatnonzero(~labels)
        ]
        out[i] = max([0.0, *H]) if slack == "example" else np.maximum(H, 0.0).sum()
    return out


def check_optimal(found, X, Y, attributes, loss, C, slack, rescale, gap, weight=1.0):
    """Primal and dual values by their definitions, a feasible dual, and little between them."""
    X, Y, L, D = X.toarray(), Y.toarray(), attributes.toarray(), loss.matrix()
    q, cost = Y.shape[1], C * weight * np.ones(len(Y))
    A = found.pairs.toarray().reshape(len(Y), q, q)
    assert (A >= 0).all()
    used = A.sum(axis=(1, 2)) if slack == "example" else A.max(axis=(1, 2))
    assert (used <= cost * (1 + 1e-9)).all()
    reach = A if rescale == "margin" else A * D
    V = reach.sum(axis=2) - reach.sum(axis=1)
    assert (V[Y > 0] >= 0).all() and (V[Y == 0] <= 0).all()
    assert_allclose(found.V.toarray(), V, atol=1e-12)
    w = L.T @ V.T @ X
    assert_allclose(found.W, w, atol=1e-9)
    xi = slacks(X @ (L @ w).T, Y, D, slack, rescale)
    assert_allclose(found.slack, xi, atol=1e-8)
    primal = 0.5 * (w**2).sum() + cost @ xi
    dual = (A * D).sum() - 0.5 * (w**2).sum()
    assert_allclose([found.objective, found.dual], [primal, dual], rtol=1e-7)
    assert primal - dual <= gap * primal


# -- the optimum -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("slack", "rescale"), VARIANTS)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_primal_equals_dual(slack, rescale, C, taxonomy):
    data = problem(taxonomy)
    options = {"C": C, "slack": slack, "rescale": rescale}
    found = ranking_svm.solve(*data, taxonomy=taxonomy, tol=1e-8, max_iter=20_000, **options)
    check_optimal(found, *data, **options, gap=2e-8)


@pytest.mark.parametrize(("slack", "rescale"), VARIANTS)
def test_a_general_optimiser_finds_nothing_better(slack, rescale):
    X, Y, attributes, loss = problem(Taxonomy.flat("abc"), n=5, d=2, scheme="flat", loss="zero_one")
    loss = class_loss([[0, 1, 3], [2, 0, 1], [1, 4, 0]], Taxonomy.flat("abc"))
    found = ranking_svm.solve(X, Y, attributes, loss, slack=slack, rescale=rescale, tol=1e-9)
    D, rows = loss.matrix(), []
    for i, labels in enumerate(Y.toarray().astype(bool)):
        for y, z in product(np.flatnonzero(labels), np.flatnonzero(~labels)):
            rows.append((i, y, z))
    owner = [r[0] for r in rows] if slack == "example" else list(range(len(rows)))
    n_slack = 5 if slack == "example" else len(rows)

    def constraints(v):
        w, xi = v[:6].reshape(3, 2), v[6:]
        F = X.toarray() @ w.T
        reach = [1.0 if rescale == "margin" else D[y, z] for _, y, z in rows]
        return np.array(
            [
                xi[o] - D[y, z] + r * (F[i, y] - F[i, z])
                for (i, y, z), o, r in zip(rows, owner, reach, strict=True)
            ]
        )

    best = minimize(
        lambda v: 0.5 * (v[:6] ** 2).sum() + v[6:].sum(), np.ones(6 + n_slack), method="SLSQP",
        constraints={"type": "ineq", "fun": constraints},
        bounds=[(None, None)] * 6 + [(0, None)] * n_slack, options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert_allclose(found.objective, best.fun, rtol=1e-6)
    assert_allclose(found.W, best.x[:6].reshape(3, 2), atol=1e-4)


@pytest.mark.parametrize(("slack", "rescale"), VARIANTS)
def test_a_kernel_matrix_gives_the_same(slack, rescale):
    X, Y, attributes, loss = problem(n=15)
    options = {"slack": slack, "rescale": rescale, "tol": 1e-10, "max_iter": 20_000}
    linear = ranking_svm.solve(X, Y, attributes, loss, taxonomy=TREE, **options)
    K = (X @ X.T).toarray()
    kernel = ranking_svm.solve(K, Y, attributes, loss, precomputed=True, **options)
    assert kernel.W is None
    assert_allclose(kernel.objective, linear.objective, rtol=1e-9)
    assert_allclose(((kernel.V @ attributes).T @ X).toarray(), linear.W, atol=1e-5)
    assert_allclose(kernel.slack, linear.slack, atol=1e-5)


@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_the_interior_point_method_ends_what_descent_would_not(slack, precomputed):
    X, Y, tax = make_hierarchical(60, 6, 3, 2, random_state=0)
    attributes, loss = class_attributes(tax, "depth"), class_loss(None, tax)
    Y = sp.csr_array(Y) if Y.shape[1] == 9 else sp.csr_array(sp.csr_array(Y)[:, tax.leaf_numbers])
    options = {"C": 1e4, "slack": slack, "tol": 1e-6, "precomputed": precomputed}
    data = X @ X.T if precomputed else sp.csr_array(X)
    found = ranking_svm.solve(data, Y, attributes, loss, taxonomy=tax, **options)
    assert found.objective - found.dual <= 1e-6 * found.objective
    assert found.n_iter <= 1000
    if not precomputed:
        check_optimal(found, data, Y, attributes, loss, 1e4, slack, "slack", 1e-6)


def test_losses_that_cannot_be_held_at_once(monkeypatch):
    data = problem(DAG, n=20)
    for slack in ("example", "pair"):
        whole = ranking_svm.solve(*data, slack=slack, tol=1e-9)
        with monkeypatch.context() as patch:
            patch.setattr(ranking_svm_pairs, "TABLE", 40)
            parts = ranking_svm.solve(*data, slack=slack, tol=1e-9)
        assert_allclose(parts.W, whole.W, atol=1e-12)


def test_features_of_any_size():
    X, Y, attributes, loss = problem()
    usual = ranking_svm.solve(X, Y, attributes, loss, tol=1e-9)
    for factor in (1e-12, 1e12):
        options = {"C": 1 / factor**2, "tol": 1e-9}
        found = ranking_svm.solve(factor * X, Y, attributes, loss, **options)
        assert_allclose(found.W * factor, usual.W, atol=1e-6)
        assert_allclose(found.objective * factor**2, usual.objective, rtol=1e-8)


@pytest.mark.slow
def test_single_precision():
    X, Y, attributes, loss = problem(n=40)
    exact = ranking_svm.solve(X, Y, attributes, loss, tol=1e-5)
    found = ranking_svm.solve(X, Y, attributes, loss, tol=1e-4, dtype=np.float32)
    assert found.W.dtype == np.float32
    assert_allclose(found.objective, exact.objective, rtol=2e-4)


def test_rows_without_pairs_and_weights():
    X, Y, attributes, loss = problem(n=14)
    Y = Y.toarray()
    Y[3], Y[8] = 0, 1
    weight = np.arange(14) % 3
    found = ranking_svm.solve(X, sp.csr_array(Y), attributes, loss, sample_weight=weight, tol=1e-9)
    assert not found.slack[[0, 3, 6, 8, 9, 12]].any()
    again = np.repeat(np.arange(14), weight * ((Y.sum(axis=1) % 5) > 0))
    other = ranking_svm.solve(X[again], sp.csr_array(Y[again]), attributes, loss, tol=1e-9)
    assert_allclose(found.W, other.W, atol=1e-5)
    assert_allclose(found.objective, other.objective, rtol=1e-7)


def test_no_row_has_a_pair():
    X, _, attributes, loss = problem()
    found = ranking_svm.solve(X, sp.csr_array((12, 4)), attributes, loss)
    assert (found.objective, found.psi, found.active_ratio) == (0, 0, 0)
    assert_array_equal(found.W, 0)


def test_a_start_for_another_cost():
    data = problem(n=30)
    first = ranking_svm.solve(*data, C=1.0, tol=1e-9)
    again = ranking_svm.solve(*data, C=1.0, tol=1e-6, start=first)
    assert again.n_iter == 0
    assert_allclose(again.W, first.W, atol=1e-6)
    for C in (0.5, 2.0):
        warm = ranking_svm.solve(*data, C=C, tol=1e-9, start=first)
        assert_allclose(
            warm.objective, ranking_svm.solve(*data, C=C, tol=1e-9).objective, rtol=1e-8
        )
    other = problem(n=30, seed=5)[1]  # labels that make some of the multipliers meaningless
    found = ranking_svm.solve(data[0], other, *data[2:], tol=1e-8, start=first)
    check_optimal(found, data[0], other, *data[2:], 1.0, "example", "slack", 2e-8)
    with pytest.raises(UserError, match=r"start has multipliers of the shape \(30, 16\)"):
        ranking_svm.solve(*problem(n=7), start=first)


def test_psi_can_be_bounded():
    data = problem(n=40)
    for slack in ("example", "pair"):
        found = ranking_svm.solve(*data, slack=slack, stop="psi", tol=1e-3)
        assert found.psi <= 1e-3
        gap, pairs = found.objective - found.dual, 40 if slack == "example" else 160
        assert 0 <= gap <= pairs * found.psi
    with pytest.raises(UserError, match="stop='time' is not known. Use one of: gap, psi"):
        ranking_svm.solve(*data, stop="time")


# -- facts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_what_scaling_does(taxonomy):
    X, Y, L, loss = problem(taxonomy, scheme="ones")
    tight = {"tol": 1e-10, "max_iter": 20_000}
    usual = ranking_svm.solve(X, Y, L, loss, C=0.9, **tight)
    wider = ranking_svm.solve(X, Y, sp.csr_array(3 * L), loss, C=0.1, **tight)
    assert_allclose(3 * L @ wider.W, L @ usual.W, atol=1e-4)
    heavy = class_loss(3 * loss.matrix(), taxonomy)
    dearer = ranking_svm.solve(X, Y, L, heavy, C=0.3, **tight)
    assert_allclose(dearer.W, usual.W, atol=1e-4)
    assert_allclose(dearer.objective, usual.objective, rtol=1e-8)
    assert_allclose(usual.W[universal_nodes(taxonomy)], 0, atol=1e-12)


@pytest.mark.parametrize("scheme", ["perclass", "flat"])
def test_the_norm_is_the_smallest_for_these_class_weights(scheme):
    X, Y, L, loss = problem(scheme=scheme)
    w = ranking_svm.solve(X, Y, L, loss, tol=1e-10).W
    W = L @ w
    assert_allclose((w**2).sum(), np.trace(W.T @ np.linalg.solve(class_kernel(L), W)), rtol=1e-8)


def test_regulariser_golden(golden_file):
    case, tax = golden_file("ranking")["regulariser"], golden_file("ranking")["taxonomies"]["F45"]
    L = class_attributes(Taxonomy.from_edges(tax["edges"]), case["attributes"])
    W = np.array(case["W"])
    assert_allclose(
        np.trace(W.T @ np.linalg.solve(class_kernel(L), W)), case["min_w_norm2"], rtol=1e-7
    )


@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=25, deadline=None)
def test_slacks_bound_the_losses_of_the_ranking(seed, C):
    """Proposition 2: mean xi >= maximal loss >= top loss on the training set."""
    X, Y, L, loss = problem(seed=seed)
    found = ranking_svm.solve(X, Y, L, loss, C=C, tol=1e-4)
    F, D, labels = X @ (L @ found.W).T, loss.matrix(), Y.toarray().astype(bool)
    for i, (f, on) in enumerate(zip(F, labels, strict=True)):
        wrong = [
            D[y, z] for y, z in product(np.flatnonzero(on), np.flatnonzero(~on)) if f[y] <= f[z]
        ]
        top = int(f.argmax())
        largest, at_top = max(wrong, default=0.0), 0.0 if on[top] else D[on, top].max()
        assert found.slack[i] >= largest >= at_top


# -- the search for the most violated pair ---------------------------------------------------------


def searched(search, margin, labels, F):
    size = (search.parent.size, search.high.shape[0])
    low, top = np.zeros(size), np.zeros(size)
    at = np.zeros(size, np.int32), np.zeros(size, np.int32)
    marks = np.zeros(F.size, bool), np.zeros(F.size, np.int64)
    found = pairs_fast.Found(F, *marks, low, at[0], top, at[1])
    answer = pairs_fast.most_violated(margin, search, labels.astype(np.int32), found)
    assert not found.on.any()
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distance", "half_distance", "normalized"])
@pytest.mark.parametrize("balanced", [True, False])
def test_one_pass_over_a_tree_finds_what_a_table_finds(name, balanced):
    rng = np.random.default_rng(3)
    for _ in range(15):
        tax = random_forest(rng, balanced)
        q = len(tax.leaves)
        loss = class_loss(name, tax)
        tree = ranking_svm_pairs.tree_search(tax, name)
        assert tree.high.shape[0] == 1 or not balanced
        table = ranking_svm_pairs._search(
            pairs_fast.TABLE, table=loss.matrix(), place=np.arange(q, dtype=np.int64)
        )
        for _ in range(25):
            F = rng.normal(scale=rng.choice([0.1, 1, 10]), size=q).round(1)
            labels = np.sort(rng.choice(q, size=rng.integers(1, q), replace=False))
            for margin in (False, True):
                y, z, D, H = searched(tree, margin, labels, F)
                *_, best = searched(table, margin, labels, F)
                assert_allclose(H, best, atol=1e-12)
                assert y in labels and z not in labels
                assert_allclose(D, loss.pairs([y], [z])[0])
                assert_allclose(H, D - F[y] + F[z] if margin else D * (1 - F[y] + F[z]))


def test_a_constant_loss_takes_the_lowest_label_and_the_highest_other_class():
    search = ranking_svm_pairs._search(pairs_fast.CONSTANT, high=np.ones((1, 1)))
    F = np.array([1.0, 3.0, 1.0, 3.0, 2.0])
    assert searched(search, False, np.array([0, 2, 4]), F) == (0, 1, 1.0, 3.0)


def random_forest(rng, balanced):
    """A tree or forest of one to three levels of leaves."""
    edges, level = [], [f"r{k}" for k in range(rng.integers(1, 3))]
    roots = [(None, r) for r in level]
    for depth in range(rng.integers(1, 4)):
        below = []
        for v in level:
            n = rng.integers(1, 4) if balanced or depth == 0 else rng.integers(0, 4)
            below += [f"{v}.{k}" for k in range(n)]
            edges += [(v, f"{v}.{k}") for k in range(n)]
        level = below
    tax = Taxonomy.from_edges(roots + edges)
    return tax if len(tax.leaves) > 1 else random_forest(rng, balanced)


# -- Algorithm 2 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("slack", "rescale"), VARIANTS)
@pytest.mark.parametrize("step", ["8a", "8b"])
def test_greedy_steps_reach_the_same_optimum(slack, rescale, step):
    data = problem(n=8)
    options = {"slack": slack, "rescale": rescale}
    best = ranking_svm.solve(*data, tol=1e-9, **options)
    found = ranking_svm_greedy.solve(*data, step=step, tol=1e-6, **options)
    assert found.psi <= 1e-6
    assert_allclose(found.objective, best.objective, rtol=1e-5)
    assert_allclose(found.W, best.W, atol=1e-3)


def test_greedy_takes_a_kernel_and_stops_when_told():
    X, Y, L, loss = problem()
    linear = ranking_svm_greedy.solve(X, Y, L, loss, tol=1e-3)
    kernel = ranking_svm_greedy.solve((X @ X.T).toarray(), Y, L, loss, tol=1e-3, precomputed=True)
    assert_allclose(((kernel.V @ L).T @ X).toarray(), linear.W)
    assert ranking_svm_greedy.solve(X, Y, L, loss, tol=1e-9, max_iter=1).n_iter == 12
    with pytest.raises(UserError, match="step='9' is not known. Use one of: 8a, 8b"):
        ranking_svm_greedy.solve(X, Y, L, loss, step="9")


def test_unknown_choices_are_refused():
    with pytest.raises(UserError, match="slack='none' is not known. Use one of: example, pair"):
        ranking_svm.solve(*problem(), slack="none")
    with pytest.raises(UserError, match="rescale='both' is not known. Use one of: slack, margin"):
        ranking_svm.solve(*problem(), rescale="both")


# -- solved problems -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases(golden_file):
    return golden_file("ranking")


def arranged(cases, case):
    """X, labels, attributes and loss of a solved problem without a kernel of its own."""
    tax = Taxonomy.from_edges(cases["taxonomies"][case["taxonomy"]]["edges"])
    Y = tax.encode(case["Y"])[:, tax.leaf_numbers]
    scheme = case.get("attribute_matrix", case["attributes"])
    L = class_attributes(tax, scheme)
    return tax, (sp.csr_array(case["X"]), sp.csr_array(Y), L, class_loss(case["loss"], tax))


def test_first_steps_of_algorithm_2(cases):
    for case in cases["svm"]:
        if case["kernel"] != "linear" or case["attributes"] == "class_kernel":
            continue
        _, data = arranged(cases, case)
        found = ranking_svm_greedy.solve(
            *data, C=case["C"], tol=case["algorithm2"]["eps"], max_iter=99
        )
        for record, step in zip(found.trace, case["algorithm2_first_steps"], strict=False):
            assert [record["example"], record["label"], record["other"]] == [
                step["i"], *step["pair"],
            ]  # fmt: skip
            assert_allclose([record["slack"], record["psi"]], [step["l"], step["psi"]], atol=1e-7)
        if found.psi <= case["algorithm2"]["eps"]:
            assert_allclose(found.dual, case["algorithm2"]["dual"], rtol=1e-4)


def test_optimality_conditions(cases):
    case = cases["kkt"]
    tax, data = arranged(cases, case)
    names, q = list(tax.leaves), len(tax.leaves)
    descent = ranking_svm.Descent(
        ranking_svm_pairs.setup(
            *data, C=case["C"], slack="example", rescale="slack", precomputed=False, taxonomy=tax,
            sample_weight=None, dtype=np.float64,
        ), None, 0, Rounds(1), "gap",
    )  # fmt: skip
    A = np.zeros((len(case["X"]), q * q))
    D = data[3].matrix()
    for entry in case["alpha"]:
        y, z = names.index(entry["pos"]), names.index(entry["neg"])
        A[entry["i"], y * q + z] = entry["alpha"] / D[y, z]
    descent.restart(sp.csr_array(A))
    descent.certify()
    for row in case["rows"]:
        i = row["i"]
        assert_allclose(case["C"] - A[i].sum(), row["zeta"], atol=1e-9)
        assert_allclose([descent.slack[i], descent.psi[i]], [row["l"], row["psi"]], atol=1e-7)
        assert [names[k] for k in descent.pair[i]] == row["argmax_pair"]
