"""The marginal dual of H-M3: solved problems, certificates, odd cases."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.inference.maxsum import max_sum
from linnaeus.losses import edge_losses, markov_edges
from linnaeus.solvers.markov import hm3, hm3_interior
from marks import slow

LOSSES = {"delta": "delta", "H~-unif": "unif", "H~-sibl": "sibl", "H~-subtree": "subtree"}
FOREST = [-1, 0, 0, 1, -1, 4, -1]  # the last root is alone


def forest_of(parent):
    return Taxonomy.from_parents({j: None if p < 0 else int(p) for j, p in enumerate(parent)})


def random_problem(seed=0, n=30, parent=FOREST, d=6):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, len(parent))) < 0.6
    for j, p in enumerate(parent):
        if p >= 0:
            Y[:, j] &= Y[:, p]
    Y[0] = False
    return forest_of(parent), rng.normal(size=(n, d)), Y.astype(np.int8)


def slacks_by_enumeration(tax, Y, F, loss, root_edges="none", consistent=False):
    """xi of every example from all 2^k labelings; F (n, 4 n_edges)."""
    edges = markov_edges(tax.tree, root_edges)
    every = np.array(list(product((0, 1), repeat=len(tax))))
    parent = tax.tree.parent
    if consistent:
        ok = [all(p < 0 or y[p] >= y[j] for j, p in enumerate(parent)) for y in every]
        every = every[np.array(ok)]

    def total(tables, labelings):
        above = np.where(edges.parent < 0, 1, labelings[:, edges.parent])
        codes = 2 * above + labelings[:, edges.child]
        return tables[:, np.arange(codes.shape[1]), codes].sum(axis=2)

    S = F.reshape(len(Y), -1, 4)
    augmented = total(S + edge_losses(tax, Y, loss, root_edges), every)
    true = np.array([total(S[[i]], Y[[i]])[0, 0] for i in range(len(Y))])
    return augmented.max(axis=1) - true


def solve_case(case, **options):
    Y = (np.array(case["Y"]) > 0).astype(np.int8)
    X = np.array(case["K"]) if "K" in case else sp.csr_array(case["X"])
    fitted = hm3.solve(
        X, Y, case["parent"], precomputed="K" in case, C=case["C"], loss=LOSSES[case["loss"]],
        root_edges=case["root_edges"], **options,
    )  # fmt: skip
    test = np.array(case["K_test"] if "K" in case else case["X_test"])
    return fitted, test @ (fitted.N if "K" in case else fitted.W)


@pytest.mark.parametrize("finished", [False, True])
def test_solved_problems(golden_file, monkeypatch, finished):
    if finished:  # after the first round
        monkeypatch.setattr(hm3_interior, "work", lambda *sizes: 0.0)
    for case in golden_file("hm3")["cases"]:
        fitted, scores = solve_case(case, tol=1e-9 if finished else 1e-7, max_iter=20_000)
        assert fitted.objective == pytest.approx(case["primal_opt"], rel=1e-6)
        assert fitted.dual == pytest.approx(case["dual_opt"], rel=1e-6)
        norm2 = 2 * (fitted.objective - case["C"] * fitted.slack.sum())
        assert norm2 == pytest.approx(case["w_norm2"], abs=1e-4)
        np.testing.assert_allclose(fitted.slack, case["slack"], atol=1e-4)
        edges = markov_edges(forest_of(case["parent"]).tree, case["root_edges"])
        for mode in ("consistent", "all"):
            found = max_sum(edges, scores, mode)
            for record in case[f"predict_{mode}"]:
                i = record["index"]
                assert (2 * found.labels[i] - 1).tolist() == record["y"]
                assert found.value[i] == pytest.approx(record["score"], abs=1e-3)


@pytest.mark.slow
def test_the_algorithm_of_the_paper_reaches_the_same_optimum(golden_file):
    for case in golden_file("hm3")["cases"]:
        fitted, _ = solve_case(case, optimizer="csga", tol=1e-3, max_iter=20_000, freq=10)
        assert fitted.objective - fitted.dual <= 1e-3 * fitted.objective
        assert fitted.objective == pytest.approx(case["primal_opt"], rel=1e-3)
        assert fitted.dual <= case["primal_opt"] * (1 + 1e-9)


def test_consistent_competitors(golden_file):
    variants = golden_file("hm3_variants")["variants"]
    cases = [case for case in variants if case["variant"] == "consistent_training"]
    assert cases
    for case in cases:
        Y, tax = (np.array(case["Y"]) > 0).astype(np.int8), forest_of(case["parent"])
        fitted = hm3.solve(
            sp.csr_array(case["X"]), Y, case["parent"], C=case["C"], loss=LOSSES[case["loss"]],
            competitors="consistent", tol=1e-7, max_iter=5000,
        )  # fmt: skip
        assert fitted.objective == pytest.approx(case["optimum"], rel=1e-6)
        found = max_sum(markov_edges(tax.tree), np.array(case["X_test"]) @ fitted.W)
        for record in case["predict_consistent"]:
            assert (2 * found.labels[record["index"]] - 1).tolist() == record["y"]


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
@pytest.mark.parametrize("root_edges", ["none", "all"])
@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize("loss", ["delta", "sibl"])
def test_the_certificate_is_exact(optimizer, root_edges, consistent, loss):
    tax, X, Y = random_problem()
    fitted = hm3.solve(
        sp.csr_array(X), Y, tax.tree.parent, C=0.7, loss=loss, root_edges=root_edges,
        optimizer=optimizer, competitors="consistent" if consistent else "all", tol=1e-2,
        max_iter=200,
    )  # fmt: skip
    np.testing.assert_allclose(fitted.W, X.T @ fitted.N, atol=1e-10)
    slack = slacks_by_enumeration(tax, Y, X @ fitted.W, loss, root_edges, consistent)
    np.testing.assert_allclose(fitted.slack, slack, atol=1e-9)
    norm2 = np.square(fitted.W).sum()
    assert fitted.objective == pytest.approx(0.5 * norm2 + 0.7 * slack.sum())
    nu, norm2 = fitted.N / fitted.stretch, norm2 / fitted.stretch**2
    tables = edge_losses(tax, Y, loss, root_edges).reshape(len(Y), -1)
    assert fitted.dual == pytest.approx(-(tables * nu).sum() - 0.5 * norm2)
    slack = slacks_by_enumeration(tax, Y, X @ (X.T @ nu), loss, root_edges, consistent)
    plain = 0.5 * norm2 + 0.7 * slack.sum()
    assert fitted.gaps.sum() == pytest.approx(plain - fitted.dual)
    assert fitted.objective <= plain * (1 + 1e-12)
    assert (fitted.gaps >= -1e-9).all()
    assert fitted.trace[-1]["objective"] == fitted.objective


def test_marginals_stay_feasible():
    tax, X, Y = random_problem(1)
    fitted = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, C=2.0, tol=1e-6)
    N = (fitted.N / fitted.stretch).reshape(len(Y), -1, 4)
    edges = markov_edges(tax.tree)
    above = np.where(edges.parent < 0, 1, Y[:, edges.parent])
    mu = 2.0 * np.eye(4)[2 * above + Y[:, edges.child]] - N
    assert mu.min() >= -1e-10
    np.testing.assert_allclose(mu.sum(axis=2), 2.0)
    for j in range(len(tax)):
        seen = [mu[:, e, 2] + mu[:, e, 3] for e in np.flatnonzero(edges.parent == j)]
        seen += [mu[:, e, 1] + mu[:, e, 3] for e in np.flatnonzero(edges.child == j)]
        for other in seen[1:]:
            np.testing.assert_allclose(seen[0], other, atol=1e-10)


@pytest.mark.parametrize("precomputed", [False, True])
def test_weights_are_stretched_where_that_pays(precomputed):
    tax, X, Y = random_problem(10, d=100)
    data = X @ X.T if precomputed else sp.csr_array(X)
    fitted = hm3.solve(
        data, Y, tax.tree.parent, C=10.0, precomputed=precomputed, optimizer="csga", max_iter=4
    )
    assert fitted.stretch > 1.0
    slack = slacks_by_enumeration(tax, Y, (X @ X.T) @ fitted.N, "delta")
    np.testing.assert_allclose(fitted.slack, slack, atol=1e-9)
    assert fitted.objective < fitted.dual + fitted.gaps.sum()


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
def test_no_example_has_weight(optimizer):
    tax, X, Y = random_problem(11)
    fitted = hm3.solve(
        sp.csr_array(X), Y, tax.tree.parent, sample_weight=np.zeros(len(Y)), optimizer=optimizer
    )
    assert fitted.objective == 0.0 and fitted.n_iter == 1
    assert not fitted.N.any()


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
def test_a_kernel_matrix_gives_what_features_give(optimizer):
    tax, X, Y = random_problem(2, n=300)
    options = {"tol": 1e-3, "max_iter": 3000, "optimizer": optimizer}
    linear = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, **options)
    kernel = hm3.solve(X @ X.T, Y, tax.tree.parent, precomputed=True, **options)
    assert kernel.W is None
    assert kernel.objective == pytest.approx(linear.objective, rel=1e-3)
    scores = (X @ X.T) @ kernel.N
    np.testing.assert_allclose(
        kernel.slack, slacks_by_enumeration(tax, Y, scores, "delta"), atol=1e-8
    )


def test_a_forest_is_the_sum_of_its_trees():
    tax, X, Y = random_problem(3)
    whole = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, tol=1e-8).objective
    trees = [[0, 1, 2, 3], [4, 5], [6]]
    apart = 0.0
    for nodes in trees:
        parent = [nodes.index(FOREST[j]) if FOREST[j] >= 0 else -1 for j in nodes]
        part = hm3.solve(sp.csr_array(X), Y[:, nodes], parent, tol=1e-8)
        apart += part.objective
    assert whole == pytest.approx(apart, rel=1e-6)


@pytest.mark.slow
def test_float32_and_float64_agree():
    tax, X, Y = random_problem(4, n=200)
    exact = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, tol=1e-6)
    single = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, tol=1e-4, dtype=np.float32)
    assert single.W.dtype == single.N.dtype == np.float32
    assert single.objective == pytest.approx(exact.objective, rel=2e-4)
    W = X.T @ single.N.astype(float)
    slack = slacks_by_enumeration(tax, Y, X @ W, "delta")
    assert 0.5 * np.square(W).sum() + slack.sum() == pytest.approx(single.objective, rel=1e-4)


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
def test_examples_without_features_keep_their_largest_loss(optimizer):
    tax, X, Y = random_problem(5)
    X[:4] = 0.0
    for precomputed in (False, True):
        data = X @ X.T if precomputed else sp.csr_array(X)
        fitted = hm3.solve(
            data, Y, tax.tree.parent, precomputed=precomputed, tol=1e-3, max_iter=5000,
            optimizer=optimizer,
        )  # fmt: skip
        assert fitted.objective - fitted.dual <= 1e-3 * fitted.objective
        np.testing.assert_allclose(fitted.slack[:4], len(tax))  # all labels wrong
        np.testing.assert_allclose(fitted.gaps[:4], 0.0, atol=1e-9)


@pytest.mark.parametrize("C", [1e-6, 1e4])
def test_C_very_small_and_very_large(C):
    tax, X, Y = random_problem(6, n=12, d=20)
    fitted = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, C=C, tol=1e-3, max_iter=20_000)
    assert fitted.objective - fitted.dual <= 1e-3 * fitted.objective
    slack = slacks_by_enumeration(tax, Y, X @ fitted.W, "delta")
    np.testing.assert_allclose(fitted.slack, slack, atol=1e-8)


def test_all_labels_negative():
    tax, X, _ = random_problem(7)
    Y = np.zeros((len(X), len(tax)), np.int8)
    fitted = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, tol=1e-4, max_iter=5000)
    assert fitted.objective - fitted.dual <= 1e-4 * fitted.objective


def test_weights_are_repetitions_and_no_weight_is_no_example():
    tax, X, Y = random_problem(8)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    again = np.repeat(np.arange(len(X)), weight)
    a = hm3.solve(sp.csr_array(X), Y, tax.tree.parent, sample_weight=weight, tol=1e-8)
    b = hm3.solve(sp.csr_array(X[again]), Y[again], tax.tree.parent, tol=1e-8)
    assert a.objective == pytest.approx(b.objective, rel=1e-7)
    np.testing.assert_allclose(a.W, b.W, atol=1e-3)
    assert not a.N[weight == 0].any()


def test_a_seed_repeats_bit_for_bit():
    tax, X, Y = random_problem(9, n=100)
    for options in ({"X": sp.csr_array(X)}, {"X": X @ X.T, "precomputed": True}):
        options |= {"Y": Y, "parent": tax.tree.parent, "seed": 3, "tol": 1e-2}
        a, b = hm3.solve(**options), hm3.solve(**options)
        assert (a.N == b.N).all() and a.objective == b.objective


def test_mistakes_are_named():
    tax, X, Y = random_problem(0)
    X = sp.csr_array(X)
    with pytest.raises(ValueError, match="optimizer='newton' is not known"):
        hm3.solve(X, Y, tax.tree.parent, optimizer="newton")
    with pytest.raises(ValueError, match="competitors='few' is not known"):
        hm3.solve(X, Y, tax.tree.parent, competitors="few")
    with pytest.raises(ValueError, match="freq is 0"):
        hm3.solve(X, Y, tax.tree.parent, freq=0)
    with pytest.raises(ValueError, match="max_iter is 0"):
        hm3.solve(X, Y, tax.tree.parent, max_iter=0)
    with pytest.raises(ValueError, match="C is 0"):
        hm3.solve(X, Y, tax.tree.parent, C=0)
    with pytest.raises(ValueError, match="'hamming' is not known"):
        hm3.solve(X, Y, tax.tree.parent, loss="hamming")


@pytest.mark.parametrize("C", [1e-200, 0.01, 1.0])
@pytest.mark.parametrize("loss", ["delta", "unif", "sibl", "subtree"])
def test_the_conditional_gradient_on_stars(loss, C):
    for seed, n_leaves in enumerate((10, 50, 150)):
        rng = np.random.default_rng(seed)
        parent, X = [-1] + [0] * n_leaves, rng.normal(size=(25, 6))
        Y = np.eye(n_leaves + 1, dtype=np.int8)[1 + rng.integers(0, n_leaves, 25)]
        Y[:, 0] = 1
        for precomputed, data in ((False, sp.csr_array(X)), (True, X @ X.T)):
            options = {"C": C, "loss": loss, "precomputed": precomputed}
            found = hm3.solve(data, Y, parent, optimizer="csga", max_iter=15, **options)
            other = hm3.solve(data, Y, parent, max_iter=1, **options)
            assert found.dual <= other.objective * (1 + 1e-9)
            assert other.dual <= found.objective * (1 + 1e-9)


@pytest.mark.parametrize("C", [slow(1e3), 1e4, slow(1e6)])
@pytest.mark.parametrize(
    ("how", "given"),
    [
        ({}, "X"),
        ({}, "K"),
        slow({"dtype": np.float32}, "X"),
        ({"loss": "sibl", "root_edges": "all"}, "X"),
        ({"competitors": "consistent", "loss": "subtree"}, "K"),
    ],
)
def test_large_costs_in_few_dimensions_are_finished(C, how, given):
    tax, X, Y = random_problem(3, n=80)
    parent = tax.tree.parent
    data = X @ X.T if given == "K" else sp.csr_array(X)
    weight = np.random.default_rng(1).integers(0, 3, size=80)
    fitted = hm3.solve(
        data, Y, parent, C=C, sample_weight=weight, precomputed=given == "K", max_iter=300, **how
    )
    W = fitted.W if given == "X" else X.T @ fitted.N
    F = (X.astype(how.get("dtype", float)) @ W).astype(float)
    loss, top = how.get("loss", "delta"), how.get("root_edges", "none")
    slack = slacks_by_enumeration(tax, Y, F, loss, top, "competitors" in how)
    np.testing.assert_allclose(fitted.slack, slack, atol=1e-3)
    primal = 0.5 * np.square(W.astype(float)).sum() + C * weight @ slack
    assert fitted.objective == pytest.approx(primal, rel=1e-5)
    assert 0.0 <= fitted.objective - fitted.dual <= 1e-3 * fitted.objective
    assert fitted.trace[-1]["objective"] == fitted.objective
