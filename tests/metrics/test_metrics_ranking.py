"""Metrics of scores against their definitions, scikit-learn and the golden values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss

from linnaeus import Taxonomy, losses, metrics
from linnaeus.errors import UserError
from linnaeus.metrics import blocks
from strategies import edge_lists

GOLDEN = {
    "acc": metrics.top1_accuracy,
    "prec": metrics.label_ranking_average_precision,
    "rloss": metrics.ranking_loss,
    "dx": metrics.maximal_loss,
    "dt": metrics.top_loss,
    "pacc": metrics.parent_accuracy,
}


@st.composite
def cases(draw, max_nodes=9):
    """A DAG, label sets over its leaves, and scores with ties."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=max_nodes)))
    n, q = draw(st.integers(1, 4)), len(tax.leaves)
    Y = draw(st.lists(st.sets(st.sampled_from(tax.leaves)), min_size=n, max_size=n))
    row = st.lists(st.integers(0, 3), min_size=q, max_size=q)
    return tax, [sorted(y) for y in Y], np.array(draw(st.lists(row, min_size=n, max_size=n)))


def plain_row(tax, Y, F, name, loss):
    """One row by the definitions; F maps classes to scores, loss(y, z) to a number."""
    classes = list(F)
    top = max(classes, key=lambda y: (F[y], -classes.index(y)))
    negative = [z for z in classes if z not in Y]
    misranked = [(y, z) for y in Y for z in negative if F[y] <= F[z]]
    virtual = {"virtual"} if len(tax.roots) > 1 else set()
    parents = {v: set(tax.parents(v)) or virtual for v in classes}
    if name == "acc":
        return float(top in Y)
    if name == "prec":
        return np.mean(
            [sum(F[r] >= F[y] for r in Y) / sum(F[r] >= F[y] for r in classes) for y in Y]
        )
    if name == "rloss":
        return len(misranked) / (len(Y) * len(negative)) if negative else 0.0
    if name == "rank_dH":
        return sum(loss(y, z) for y, z in misranked)
    if name == "dx":
        return max((loss(y, z) for y, z in misranked), default=0.0)
    if name == "dt":
        return 0.0 if top in Y else max(loss(y, top) for y in Y)
    return float(top in Y or any(parents[top] & parents[y] for y in Y))


def plain_mean(tax, Y, scores, name, classes):
    table = losses.class_loss(None, tax, tax.numbers(classes)).matrix()

    def loss(y, z):
        return table[classes.index(y), classes.index(z)]

    rows = [
        plain_row(tax, y, dict(zip(classes, s, strict=True)), name, loss)
        for y, s in zip(Y, scores.tolist(), strict=True)
        if y
    ]
    return np.mean(rows) if rows else np.nan


@pytest.mark.filterwarnings("ignore:No row has a label")
@settings(max_examples=50)
@given(cases())
def test_metrics_follow_their_definitions(case):
    tax, Y, S = case
    for name, metric in GOLDEN.items():
        expected = plain_mean(tax, Y, S, name, list(tax.leaves))
        np.testing.assert_allclose(metric(Y, S, tax), expected, atol=1e-12, err_msg=name)
    got = metrics.ranking_loss(Y, S, tax, normalize=False)
    expected = plain_mean(tax, Y, S, "rank_dH", list(tax.leaves))
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore:No row has a label")
@settings(max_examples=50)
@given(cases(max_nodes=6), st.randoms(use_true_random=False))
def test_scores_of_nodes_and_of_named_classes(case, random):
    tax, Y, _ = case
    rng = np.random.default_rng(random.randrange(1000))
    S = rng.integers(0, 4, (len(Y), len(tax)))
    names = list(tax.nodes)
    for name, metric in GOLDEN.items():
        expected = plain_mean(tax, Y, S, name, names)
        np.testing.assert_allclose(metric(Y, S, tax, classes=names), expected, err_msg=name)
        if len(tax) != len(tax.leaves):
            np.testing.assert_allclose(metric(Y, S, tax), expected, err_msg=name)


def test_golden_metrics(golden_file):
    golden = golden_file("ranking")
    for case in golden["metrics"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        Y, S = case["Y"], np.array(case["scores"])
        for name, metric in GOLDEN.items():
            assert np.isclose(metric(Y, S, tax), case["metrics"][name], atol=1e-9), case["id"]
        got = metrics.ranking_loss(Y, S, tax, normalize=False, loss=case["loss"])
        assert np.isclose(got, case["metrics"]["rank_dH"], atol=1e-9)


@given(st.integers(0, 10_000))
def test_without_ties_the_values_are_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    Y, S = rng.integers(0, 2, (5, 4)), rng.permuted(np.tile(np.arange(4.0), (5, 1)), axis=1)
    Y[:, 0] |= Y.sum(axis=1) == 0
    expected = label_ranking_average_precision_score(Y, S)
    assert np.isclose(metrics.label_ranking_average_precision(Y, S), expected)
    assert np.isclose(metrics.ranking_loss(Y, S), label_ranking_loss(Y, S))


@given(st.integers(0, 10_000))
def test_top_loss_in_balanced_trees_of_two_levels(seed):
    rng = np.random.default_rng(seed)
    tax = Taxonomy.from_paths([f"r/{a}/{b}" for a in "abc" for b in "xy"])
    y, S = rng.choice(tax.leaves, 8), rng.normal(size=(8, 6))
    acc, pacc = metrics.top1_accuracy(y, S, tax), metrics.parent_accuracy(y, S, tax)
    assert np.isclose(metrics.top_loss(y, S, tax), 2 - acc - pacc)


@pytest.mark.filterwarnings("ignore:No row has a label")
@given(cases())
def test_the_top_loss_never_exceeds_the_maximal_loss(case):
    tax, Y, S = case
    assert not metrics.top_loss(Y, S, tax) > metrics.maximal_loss(Y, S, tax) + 1e-12


@given(cases())
def test_the_truth_scores_best(case):
    tax, Y, _ = case
    Y = [y or [tax.leaves[0]] for y in Y]
    S = tax.encode(Y).toarray()[:, tax.leaf_numbers]
    for name in ("acc", "prec", "pacc"):
        assert GOLDEN[name](Y, S, tax) == 1
    for name in ("rloss", "dx", "dt"):
        assert GOLDEN[name](Y, S, tax) == 0


@st.composite
def stored(draw):
    """Scores, and which of them are stored; rows of integers with ties."""
    tax, Y, S = draw(cases())
    keep = draw(st.lists(st.booleans(), min_size=S.size, max_size=S.size))
    keep = np.array(keep, dtype=bool).reshape(S.shape)
    return tax, Y, S, keep


def sparse(S, keep):
    """CSR with the entries to keep, zeros among them."""
    rows, columns = np.nonzero(keep)
    return sp.csr_array((S[keep].astype(float), (rows, columns)), shape=S.shape)


@pytest.mark.filterwarnings("ignore:No row has a label")
@settings(max_examples=50)
@given(stored())
def test_absent_scores_rank_last(case):
    tax, Y, S, keep = case
    dense = np.where(keep, S, -np.inf)
    for name, metric in GOLDEN.items():
        found = metric(Y, sparse(S, keep), tax)
        np.testing.assert_allclose(metric(Y, dense, tax), found, err_msg=name)
        if keep.any(axis=1).all():  # any number below all others will do
            low = np.where(keep, S, -9)
            np.testing.assert_allclose(metric(Y, low, tax), found, atol=1e-12, err_msg=name)
    every = np.ones_like(keep)
    for name, metric in GOLDEN.items():
        np.testing.assert_allclose(
            metric(Y, sparse(S, every), tax), metric(Y, S, tax), err_msg=name
        )
    got = metrics.ranking_loss(Y, sparse(S, keep), tax, normalize=False)
    low = np.where(keep, S, -9)
    np.testing.assert_allclose(got, metrics.ranking_loss(Y, low, tax, normalize=False), atol=1e-12)


def test_a_row_without_scores_has_nothing_right_and_the_largest_loss():
    tax = Taxonomy.from_paths(["r/a/x", "r/a/y", "r/b/z"])
    S = sp.csr_array((1, 3))
    assert (
        metrics.top1_accuracy(["r/a/x"], S, tax) == metrics.parent_accuracy(["r/a/x"], S, tax) == 0
    )
    assert metrics.top_loss(["r/a/x"], S, tax) == metrics.maximal_loss(["r/a/x"], S, tax) == 2


def test_sparse_scores_in_any_order_and_form():
    Y, S = np.eye(3, dtype=int), sp.csr_array(([1.0, 3, 2], ([0, 0, 1], [2, 0, 1])), shape=(3, 3))
    mixed = sp.csr_array((S.data[[1, 0, 2]], S.indices[[1, 0, 2]], S.indptr), shape=(3, 3))
    expected = metrics.label_ranking_average_precision(Y, S)
    for same in (mixed, S.tocsc(), S.tocoo(), sp.csr_matrix(S)):
        assert metrics.label_ranking_average_precision(Y, same) == expected
    assert not mixed.has_sorted_indices  # the caller's stay as they are


@given(cases(), st.permutations(range(4)))
def test_monotone_transforms_and_the_order_of_rows_change_nothing(case, order):
    tax, Y, S = case
    Y = [y or [tax.leaves[0]] for y in Y]
    order = [i for i in order if i < len(Y)]
    for name, metric in GOLDEN.items():
        value = metric(Y, S, tax)
        np.testing.assert_allclose(metric(Y, np.exp(S / 2.0) - 9, tax), value, err_msg=name)
        moved = metric([Y[i] for i in order], S[order], tax)
        np.testing.assert_allclose(moved, value, err_msg=name)


def test_blocks_do_not_change_the_values(monkeypatch):
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_paths([f"r/{a}/{b}" for a in "abc" for b in "xyz"])
    Y, S = rng.integers(0, 2, (30, 9)), rng.integers(0, 4, (30, 9)).astype(np.float32)
    Y[::7] = 0
    whole = {name: metric(Y, S, tax) for name, metric in GOLDEN.items()}
    monkeypatch.setattr(blocks, "_CELLS", 20)
    for name, metric in GOLDEN.items():
        assert np.isclose(metric(Y, S, tax), whole[name], rtol=1e-12)


def test_one_label_per_row_without_a_taxonomy():
    y, S = ["b", "a", "b"], np.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])
    assert np.isclose(metrics.top1_accuracy(y, S), 2 / 3)
    assert np.isclose(metrics.top1_accuracy(y, S[:, ::-1], classes=["b", "a"]), 2 / 3)
    assert np.isclose(metrics.top_loss(y, S), 1 / 3)


def test_rows_without_labels_are_left_out_and_all_of_them_give_nan():
    Y, S = np.array([[0, 0], [1, 0]]), np.array([[1.0, 2], [2, 1]])
    assert metrics.top1_accuracy(Y, S) == 1
    with pytest.warns(UserWarning, match="No row has a label among the columns of the scores"):
        assert np.isnan(metrics.top1_accuracy(Y[:1], S[:1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t: metrics.top1_accuracy(["a"], [[0.0, np.nan]], t),
            "row 0, column 1 is NaN.*inf",
        ),
        (
            lambda t: metrics.top1_accuracy(["a"], np.zeros((2, 2)), t),
            "1 rows, but the scores",
        ),
        (
            lambda t: metrics.top1_accuracy(["a"], np.zeros((1, 5)), t),
            "5 columns.*2 leaves and 3 no",
        ),
        (lambda t: metrics.top1_accuracy(["a"], [0.0, 1.0], t), r"each of 2 rows.*column_st"),
        (lambda t: metrics.top1_accuracy(["x"], np.zeros((1, 2)), t), "'x' is not a node"),
        (
            lambda t: metrics.top1_accuracy(["a"], sp.csr_array([[0.0, np.nan]]), t),
            "row 0, column 1 is NaN",
        ),
        (
            lambda t: metrics.top1_accuracy(["a"], np.zeros((1, 2))),
            "2 columns, but Y_true has 1.*classes=",
        ),
        (
            lambda t: metrics.top1_accuracy(np.eye(2), np.zeros((2, 3))),
            "3 columns, but Y_true has 2",
        ),
        (
            lambda t: metrics.top1_accuracy(["a"], np.zeros((1, 2)), t, classes=["a"]),
            "2 columns, but `classes` names 1",
        ),
        (lambda t: metrics.parent_accuracy(["a"], np.zeros((1, 2))), "needs a taxonomy"),
        (lambda t: metrics.precision_at(["a"], np.zeros((1, 2)), t, k=3), "k is 3.*2 classes"),
        (
            lambda t: metrics.top1_accuracy(["a"], np.zeros((1, 2)), 3),
            "3 is not a taxonomy.*by name",
        ),
        (lambda t: metrics.top_loss(["a"], np.zeros((1, 2)), t, loss="x"), "'x' is not known"),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(call, message):
    with pytest.raises(UserError, match=message):
        call(Taxonomy.from_edges([("r", "a"), ("r", "b")]))
