"""Variants of H-M3 against quadratic programs over every labeling, and against solved problems."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from linnaeus.errors import UserError
from linnaeus.execution import Threads
from linnaeus.inference import closed_argmax
from linnaeus.inference.maxsum import max_sum
from linnaeus.losses import edge_losses, markov_edges
from linnaeus.solvers.markov import (
    hm3,
    hm3_additive,
    hm3_edges,
    hm3_interior,
    hm3_local,
    hm3_paths,
)
from linnaeus.solvers.markov.hm3_rows import edge_codes
from linnaeus.taxonomy import Taxonomy
from marks import slow

TIGHT = {"tol": 1e-7, "max_iter": 5000}
negative_slacks = SimpleNamespace(solve=partial(hm3_local.solve, negative=True))


def forest(parent):
    return Taxonomy.from_parents({j: None if p < 0 else p for j, p in enumerate(parent)})


def optimum(groups, costs):
    """max_alpha  sum alpha l - 1/2 |sum alpha D|^2  with weights of each group summing to its cost.

    A group is (D, l): rows phi(x_i, y_i) - phi(x_i, y) and the losses of competitors y.
    """
    D, loss = np.vstack([g[0] for g in groups]), np.concatenate([g[1] for g in groups])
    ends = np.cumsum([0] + [len(g[1]) for g in groups])
    member = np.zeros((len(groups), loss.size))
    for k, (a, b) in enumerate(pairwise(ends)):
        member[k, a:b] = 1.0
    start = member.T @ (np.asarray(costs) / np.diff(ends))
    found = minimize(
        lambda x: 0.5 * np.sum((x @ D) ** 2) - loss @ x,
        start,
        jac=lambda x: D @ (x @ D) - loss,
        bounds=[(0, None)] * loss.size,
        constraints={"type": "eq", "fun": lambda x: member @ x - costs, "jac": lambda x: member},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return -found.fun


class Case:
    """A small random problem with its edges, labelings and losses."""

    def __init__(self, seed, parent, loss="delta", root_edges="none", share="neighbours", n=4):
        rng = np.random.default_rng(seed)
        self.parent, self.k, self.n = parent, len(parent), n
        self.tax = forest(parent)
        self.edges = markov_edges(self.tax.tree, root_edges)
        self.X = rng.normal(size=(n, 3)).round(2)
        every = np.array(list(product((0, 1), repeat=self.k)), dtype=np.int8)
        up = np.asarray(parent)
        self.closed = every[(every <= np.where(up < 0, 1, every[:, up])).all(axis=1)]
        self.every = every
        self.Y = self.closed[rng.integers(len(self.closed), size=n)]
        self.tables = edge_losses(self.tax, self.Y, loss, root_edges, share)
        self.options = {"loss": loss, "root_edges": root_edges}
        self.local = [rng.normal(size=(n, 2)).round(2) for _ in self.edges.child]
        self.local[0] = None

    def onehot(self, y):
        return np.eye(4)[edge_codes(np.atleast_2d(y), self.edges)[0]]

    def orthogonal(self, i, y, local=False):
        """phi(x_i, y): a block for every edge and code."""
        A, parts = self.onehot(y), []
        for e, u in product(range(len(A)), range(4)):
            extra = self.local[e][i] if local and self.local[e] is not None else []
            parts.append(A[e, u] * np.concatenate([self.X[i], extra]))
        return np.concatenate(parts)

    def loss(self, i, y):
        return float((self.tables[i] * self.onehot(y)).sum())

    def groups(self, phi, labelings, others=False):
        out = []
        for i, truth in enumerate(self.Y):
            ys = [y for y in labelings if not (others and (y == truth).all())]
            D = np.array([phi(i, truth) - phi(i, y) for y in ys])
            out.append((D, np.array([self.loss(i, y) for y in ys])))
        return out


def check(fitted, value, tol=1e-7):
    assert fitted.objective - fitted.dual <= tol * abs(fitted.objective) * 1.001
    assert_allclose(fitted.objective - fitted.dual, fitted.gaps.sum(), atol=1e-8)
    assert_allclose(fitted.objective, value, rtol=1e-6, atol=1e-6)
    assert fitted.dual <= value + 1e-6
    assert fitted.trace[-1]["objective"] == fitted.objective
    relative = (fitted.objective - fitted.dual) / abs(fitted.objective)
    assert fitted.trace[-1]["gap"] == pytest.approx(relative, abs=1e-12)


SHAPES = [[-1, 0, 0], [-1, 0, 1], [-1, -1, 0], [-1, 0]]
LOSSES = ["delta", "unif", "sibl", "subtree"]
CASES = [
    (0, SHAPES[0], "delta", "none"),
    (1, SHAPES[1], "unif", "all"),
    (2, SHAPES[2], "sibl", "none"),
    (3, SHAPES[3], "subtree", "all"),
    (4, SHAPES[1], "delta", "all"),
]


# ---- solved problems


def variants(golden_file, name):
    found = [v for v in golden_file("hm3_variants")["variants"] if v["variant"] == name]
    assert found
    for v in found:
        on = (np.array(v["Y"]) > 0).astype(np.int8)
        yield v, np.array(v["X"]), on, v["loss"].split("-")[-1]


def check_golden(v, fitted, labels):
    assert_allclose(fitted.objective, v["optimum"], rtol=1e-6)
    for record in v["predict_consistent"]:
        assert_array_equal(np.array(record["y"]) > 0, labels[record["index"]])


@pytest.mark.parametrize(("name", "solver"), [("negative_slack", negative_slacks),
                                              ("edge_slack", hm3_edges)])  # fmt: skip
@pytest.mark.parametrize("kernel", [False, True])
def test_solved_problems_with_other_slacks(golden_file, name, solver, kernel):
    for v, X, Y, loss in variants(golden_file, name):
        options = {"C": v["C"], "loss": loss, "root_edges": v["root_edges"], **TIGHT}
        if "share" in v:
            options["share"] = v["share"]
        X_test = np.array(v["X_test"])
        edges = markov_edges(forest(v["parent"]).tree, v["root_edges"])
        if kernel:
            fitted = solver.solve(X @ X.T, Y, v["parent"], precomputed=True, **options)
            assert fitted.W is None
            F = X_test @ X.T @ fitted.N
        else:
            fitted = solver.solve(sp.csr_array(X), Y, v["parent"], **options)
            F = X_test @ fitted.W
        check_golden(v, fitted, max_sum(edges, F).labels)


@pytest.mark.parametrize("kernel", [False, True])
def test_solved_problems_with_path_features(golden_file, kernel):
    for v, X, Y, loss in variants(golden_file, "path_model"):
        options = {"C": v["C"], "loss": loss, **TIGHT}
        X_test = np.array(v["X_test"])
        if kernel:
            fitted = hm3_paths.solve(X @ X.T, Y, v["parent"], precomputed=True, **options)
            F = X_test @ X.T @ fitted.N
        else:
            fitted = hm3_paths.solve(X, Y, v["parent"], **options)
            F = X_test @ fitted.W
        check_golden(v, fitted, closed_argmax(forest(v["parent"]), F)[0].toarray() > 0)


def test_lists_of_labelings_solve_the_plain_problems_too(golden_file):
    for v in golden_file("hm3")["cases"]:
        linear = v["kernel"] == "linear"
        X = np.array(v["X"] if linear else v["K"])
        Y = (np.array(v["Y"]) > 0).astype(np.int8)
        options = {"C": v["C"], "loss": v["loss"].split("-")[-1], "root_edges": v["root_edges"]}
        fitted = hm3_local.solve(X, Y, v["parent"], precomputed=not linear, **options, **TIGHT)
        assert_allclose(fitted.objective, v["primal_opt"], rtol=1e-6)
        assert_allclose(fitted.slack, v["slack"], atol=2e-2)


# ---- quadratic programs by enumeration


@pytest.fixture(params=["visits", "interior"])
def way(request, monkeypatch):
    """Steps of single examples, or the interior point method after the first round."""
    far = np.inf if request.param == "visits" else 0.0
    monkeypatch.setattr(hm3_interior, "work", lambda *sizes: far)


@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES)
def test_negative_slack_is_the_program_without_the_truth(seed, parent, loss, root_edges, way):
    case = Case(seed, parent, loss, root_edges)
    for C, competitors, rows in ((0.5, "all", case.every), (0.2, "consistent", case.closed)):
        value = optimum(case.groups(case.orthogonal, rows, others=True), np.full(case.n, C))
        options = {"C": C, "competitors": competitors, **case.options, **TIGHT}
        check(negative_slacks.solve(case.X, case.Y, parent, **options), value)


@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES)
def test_the_interior_point_method_solves_the_plain_program(
    seed, parent, loss, root_edges, monkeypatch
):
    monkeypatch.setattr(hm3_interior, "work", lambda *sizes: 0.0)
    case = Case(seed, parent, loss, root_edges)
    for C, competitors, rows in ((0.5, "all", case.every), (50.0, "consistent", case.closed)):
        value = optimum(case.groups(case.orthogonal, rows), np.full(case.n, C))
        options = {"C": C, "competitors": competitors, **case.options, **TIGHT}
        fitted = hm3.solve(case.X, case.Y, parent, **options)
        assert fitted.objective - fitted.dual <= 1e-7 * fitted.objective
        assert_allclose(fitted.objective, value, rtol=1e-6)


@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES)
def test_edge_slack_is_one_program_per_edge(seed, parent, loss, root_edges, way):
    for share in ("neighbours", "parent"):
        case = Case(seed, parent, loss, root_edges, share)
        codes, groups = edge_codes(case.Y, case.edges), []
        for i, e in product(range(case.n), range(case.edges.child.size)):
            u = range(2 if case.edges.parent[e] < 0 else 0, 4)
            D = np.zeros((len(u), case.edges.child.size, 4, 3))
            for r, code in enumerate(u):
                D[r, e, codes[i, e]] += case.X[i]
                D[r, e, code] -= case.X[i]
            groups.append((D.reshape(len(u), -1), case.tables[i, e, u[0] :]))
        options = {"C": 0.7, "share": share, **case.options, **TIGHT}
        fitted = hm3_edges.solve(case.X, case.Y, parent, **options)
        check(fitted, optimum(groups, np.full(len(groups), 0.7)))
        side_by_side = hm3_edges.solve(case.X, case.Y, parent, executor=Threads(2), **options)
        assert_array_equal(side_by_side.N, fitted.N)


@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES)
def test_path_features_are_a_program_over_closed_sets(seed, parent, loss, root_edges, way):
    case = Case(seed, parent, loss)
    a = hm3_paths.path_losses(case.tax, case.Y, loss)
    groups = [
        (np.array([np.outer(t - z, x).ravel() for z in case.closed]), (case.closed - t) @ row)
        for t, x, row in zip(case.Y, case.X, a, strict=True)
    ]
    fitted = hm3_paths.solve(case.X, case.Y, parent, C=0.6, loss=loss, **TIGHT)
    check(fitted, optimum(groups, np.full(case.n, 0.6)))
    mu = 0.6 * case.Y - fitted.N
    up = np.asarray(parent)
    assert (mu >= -1e-12).all() and (mu <= np.where(up < 0, 0.6, mu[:, up]) + 1e-12).all()


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES[:3])
def test_local_features_have_blocks_of_their_own(seed, parent, loss, root_edges, negative):
    case = Case(seed, parent, loss, root_edges)

    def phi(i, y):
        return case.orthogonal(i, y, local=True)

    groups = case.groups(phi, case.every, others=negative)
    options = {"C": 0.4, "local": case.local, **case.options, **TIGHT}
    fitted = hm3_local.solve(case.X, case.Y, parent, negative=negative, **options)
    check(fitted, optimum(groups, np.full(case.n, 0.4)))
    V = hm3_local.local_weights(case.local, fitted.N)
    F = (case.X @ fitted.W + hm3_local.local_scores(case.local, V, case.n)).reshape(case.n, -1, 4)
    norm2 = np.sum(fitted.W**2) + sum(np.sum(v**2) for v in V if v is not None)
    slack = [
        max(
            case.loss(i, y) + ((case.onehot(y) - case.onehot(t)) * F[i]).sum()
            for y in case.every
            if not (negative and (y == t).all())
        )
        for i, t in enumerate(case.Y)
    ]
    assert_allclose(0.5 * norm2 + 0.4 * np.sum(slack), fitted.objective, rtol=1e-9)
    assert_allclose(slack, fitted.slack, atol=1e-9)


def test_local_features_of_an_edge_extend_its_machine():
    case = Case(3, [-1, 0, 1])
    options = {"C": 0.8, **TIGHT}
    fitted = hm3_edges.solve(case.X, case.Y, case.parent, local=case.local, **options)
    for e, block in enumerate(case.local):
        X = case.X if block is None else np.hstack([case.X, block])
        alone = hm3_edges.solve(X, case.Y, case.parent, **options)
        each = slice(4 * e, 4 * e + 4)
        assert_allclose(fitted.N[:, each], alone.N[:, each], atol=1e-5)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(("seed", "parent", "loss", "root_edges"), CASES[:3])
def test_additive_features_share_one_vector(seed, parent, loss, root_edges, negative):
    case = Case(seed, parent, loss, root_edges)
    n_edges = case.edges.child.size
    rows = np.random.default_rng(seed).normal(size=(case.n, n_edges, 4, 5)).round(2)

    def phi(i, y):
        return np.einsum("eu,eup->p", case.onehot(y), rows[i])

    features = sp.csr_array(rows.reshape(-1, 5))
    options = {"C": 0.3, "negative": negative, **case.options, **TIGHT}
    fitted = hm3_additive.solve(features, case.Y, parent, **options)
    groups = case.groups(phi, case.every, others=negative)
    check(fitted, optimum(groups, np.full(case.n, 0.3)))
    F = hm3_additive.scores(features, fitted.W, n_edges)
    assert_allclose(F.reshape(-1, n_edges, 4), rows @ fitted.W)
    assert_allclose(fitted.W, features.T @ fitted.N.ravel(), atol=1e-12)


# ---- special cases


def test_one_edge_has_the_slack_of_its_example():
    case = Case(5, [-1, 0], n=6)
    by_edge = hm3_edges.solve(case.X, case.Y, case.parent, **TIGHT)
    by_example = hm3_local.solve(case.X, case.Y, case.parent, **TIGHT)
    assert_allclose(by_edge.objective, by_example.objective, rtol=1e-6)


def test_separate_trees_may_be_trained_apart():
    case = Case(6, [-1, -1, 0, 1], n=6)
    whole = hm3_paths.solve(case.X, case.Y, case.parent, **TIGHT)
    parts = [hm3_paths.solve(case.X, case.Y[:, i::2], [-1, 0], **TIGHT) for i in (0, 1)]
    assert_allclose(whole.objective, sum(p.objective for p in parts), rtol=1e-6)


SOLVERS = [hm3_edges, hm3_paths, negative_slacks, hm3_local]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_weight_of_two_is_an_example_twice_and_one_of_zero_is_none(solver):
    case = Case(7, [-1, 0, 0])
    rows = np.array([0, 1, 1, 2])
    weighted = solver.solve(case.X, case.Y, case.parent, sample_weight=[1, 2, 1, 0], **TIGHT)
    repeated = solver.solve(case.X[rows], case.Y[rows], case.parent, **TIGHT)
    assert_allclose(weighted.objective, repeated.objective, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [1e-3, slow(30.0)])
def test_hard_inputs_are_certified(solver, C):
    parent = [-1, 0, 0, -1, -1, 4]  # node 3 is an isolated root
    case = Case(8, parent, n=12)
    X, Y = case.X.copy(), case.Y.copy()
    X[3], Y[0] = 0.0, 0  # an example without features, one without labels
    fitted = solver.solve(X, Y, parent, C=C, tol=1e-5, max_iter=3000)
    assert fitted.objective - fitted.dual <= 1e-5 * max(0.1, abs(fitted.objective)) * 1.001
    by_kernel = solver.solve(X @ X.T, Y, parent, precomputed=True, C=C, tol=1e-5, max_iter=3000)
    assert_allclose(fitted.objective, by_kernel.objective, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("given", ["X", slow("K")])
@pytest.mark.parametrize("C", [1e4, slow(1e6)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_large_costs_in_few_dimensions(solver, C, given):
    case = Case(5, [-1, 0, 0, 1, 1], n=40)
    weight = np.random.default_rng(1).integers(0, 3, size=40)
    data = case.X @ case.X.T if given == "K" else case.X
    fitted = solver.solve(
        data, case.Y, case.parent, C=C, sample_weight=weight, precomputed=given == "K",
        max_iter=1000,
    )  # fmt: skip
    W = fitted.W if given == "X" else case.X.T @ fitted.N
    F = case.X @ W
    if solver is hm3_paths:
        a = hm3_paths.path_losses(case.tax, case.Y, "delta")
        value = ((a + F) @ case.closed.T).max(axis=1) - ((a + F) * case.Y).sum(axis=1)
    else:
        G = F.reshape(40, -1, 4) + case.tables
        codes = edge_codes(case.Y, case.edges)
        own = np.take_along_axis(G, codes[:, :, None].astype(int), 2)[:, :, 0]
        if solver is hm3_edges:
            value = (G.max(axis=2) - own).sum(axis=1)
        else:
            scored = np.einsum("iec,yec->iy", G, [case.onehot(y) for y in case.every])
            is_truth = (case.Y[:, None] == case.every).all(axis=2)
            if solver is negative_slacks:
                scored[is_truth] = -np.inf
            value = scored.max(axis=1) - own.sum(axis=1)
    assert_allclose(fitted.slack, value, atol=1e-3)
    assert_allclose(fitted.objective, 0.5 * np.square(W).sum() + C * weight @ value, rtol=1e-5)
    assert 0 <= fitted.objective - fitted.dual <= 1e-3 * abs(fitted.objective)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_and_repetition(solver):
    case = Case(9, [-1, 0, 1], n=8)
    options = {"dtype": np.float32, "tol": 1e-4, "seed": 3}
    fitted, again = (solver.solve(case.X, case.Y, case.parent, **options) for _ in range(2))
    assert fitted.N.dtype == fitted.W.dtype == np.float32
    assert_array_equal(fitted.N, again.N)
    exact = solver.solve(case.X, case.Y, case.parent, **TIGHT)
    assert_allclose(fitted.objective, exact.objective, rtol=3e-4)


def test_lists_grow_as_far_as_they_must():
    case = Case(10, [-1] * 7, n=10)
    fitted = hm3_local.solve(case.X, case.Y, case.parent, C=5.0, tol=1e-5, max_iter=3000)
    assert fitted.objective - fitted.dual <= 1e-5 * fitted.objective
    many = Case(11, [-1] + [0] * 3, n=3)
    parent = [-1] + [0] * 80  # two words a labeling
    Y = np.hstack([many.Y, np.zeros((3, 77), np.int8)])
    wide = negative_slacks.solve(many.X, Y, parent, C=0.1, tol=1e-4)
    assert wide.objective - wide.dual <= 1e-4 * abs(wide.objective)


@given(st.integers(0, 10_000), st.sampled_from(LOSSES))
def test_path_losses_are_linear_on_closed_sets(seed, loss):
    rng = np.random.default_rng(seed)
    parent = [-1] + [int(rng.integers(-1, j)) for j in range(1, int(rng.integers(2, 6)))]
    case = Case(seed, parent, loss)
    a = hm3_paths.path_losses(case.tax, case.Y, loss)
    for i, z in product(range(case.n), case.closed):
        assert_allclose(a[i] @ (z - case.Y[i]), case.loss(i, z), atol=1e-12)


# ---- errors


def test_errors_say_what_to_do():
    X, Y, parent = np.ones((2, 3)), np.array([[1, 1], [1, 0]]), [-1, 0]
    with pytest.raises(
        UserError, match=r"shape \(2, 2\), but there are 3 nodes.*a column for each"
    ):
        hm3_paths.solve(X, Y, [-1, 0, 0])
    with pytest.raises(UserError, match=r"a node without its parent.*taxonomy\.closure"):
        hm3_paths.solve(X, [[0, 1], [0, 0]], parent)
    with pytest.raises(UserError, match=r"X has 2 rows, but there are 1 label sets"):
        hm3_edges.solve(X, Y[:1], parent)
    with pytest.raises(UserError, match=r"kernel matrix has shape \(2, 3\), but there are 2"):
        hm3_edges.solve(X, Y, parent, precomputed=True)
    with pytest.raises(UserError, match=r"C is -1.*positive"):
        negative_slacks.solve(X, Y, parent, C=-1)
    with pytest.raises(UserError, match=r"tol=0, max_iter=1000: use positive"):
        negative_slacks.solve(X, Y, parent, tol=0)
    with pytest.raises(UserError, match=r"loss 'H' is not known.*delta, unif, sibl, subtree"):
        hm3_paths.solve(X, Y, parent, loss="H")
    with pytest.raises(UserError, match=r"competitors='some' is not known. Use 'all' or"):
        hm3_local.solve(X, Y, parent, competitors="some")
    with pytest.raises(UserError, match=r"2 blocks of local features, but 1 edges"):
        hm3_local.solve(X, Y, parent, local=[X, X])
    with pytest.raises(UserError, match=r"features of edge 0 have 3 rows, but there are 2"):
        hm3_edges.solve(X, Y, parent, local=[np.ones((3, 1))])
    with pytest.raises(UserError, match=r"Local features need features X"):
        hm3_edges.solve(X @ X.T, Y, parent, precomputed=True, local=[X])
    with pytest.raises(UserError, match=r"have 3 rows, but 2 examples and 1 edges.*make 8"):
        hm3_additive.solve(np.ones((3, 1)), Y, parent)
