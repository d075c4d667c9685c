"""Metrics of label sets against set arithmetic, scikit-learn and the golden values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, hamming_loss, precision_recall_fscore_support
from sklearn.metrics import zero_one_loss as sk_zero_one

from linnaeus import Taxonomy, metrics
from linnaeus.errors import UserError
from linnaeus.losses import label_set_loss, set_loss
from strategies import edge_lists


@st.composite
def cases(draw, rows=4):
    """A DAG and two lists of label sets."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=8)))
    sets = st.lists(st.lists(st.sampled_from(tax.nodes)), min_size=rows, max_size=rows)
    return tax, draw(sets), draw(sets)


@st.composite
def indicators(draw, columns=4):
    rows = draw(st.integers(1, 6))
    bits = st.lists(st.integers(0, 1), min_size=columns, max_size=columns)
    table = st.lists(bits, min_size=rows, max_size=rows)
    return np.array(draw(table)), np.array(draw(table))


def anc(tax, labels):
    return {a for v in labels for a in tax.ancestors(v)}


def plain_counts(Y, U, v):
    both = list(zip(map(set, Y), map(set, U), strict=True))
    tp = sum(v in y and v in u for y, u in both)
    return tp, sum(v in u for _, u in both) - tp, sum(v in y for y, _ in both) - tp


def plain_f1(tp, fp, fn, zero=0.0):
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else zero


def plain_micro(Y, U, nodes):
    return plain_f1(*np.sum([plain_counts(Y, U, v) for v in nodes], axis=0))


@given(cases())
def test_f1_follows_its_definition(case):
    tax, Y, U = case
    classes = [v for v in tax.nodes if v in tax.leaves or any(v in s for s in Y + U)]
    counts = {v: plain_counts(Y, U, v) for v in classes}
    assert np.isclose(metrics.micro_f1(Y, U, tax), plain_micro(Y, U, classes))
    for zero in (0.0, 1.0):
        f1 = {v: plain_f1(*counts[v], zero) for v in classes}
        used = {
            "all": classes,
            "support": [v for v in classes if any(v in y for y in Y)],
            "union": [v for v in classes if sum(counts[v])],
        }
        for over, part in used.items():
            expected = np.mean([f1[v] for v in part]) if part else zero
            assert np.isclose(metrics.macro_f1(Y, U, tax, over=over, zero=zero), expected)


@settings(max_examples=40)
@given(cases())
def test_losses_are_means_over_rows(case):
    tax, Y, U = case
    wrong = [set(y) ^ set(u) for y, u in zip(Y, U, strict=True)]
    assert np.isclose(metrics.zero_one_loss(Y, U, tax), np.mean([bool(w) for w in wrong]))
    assert np.isclose(metrics.symmetric_difference_loss(Y, U, tax), np.mean([*map(len, wrong)]))
    for scaling in ("unif", "sibl", "subtree"):
        for ancestors in ("parent", "all"):
            got = metrics.hierarchical_loss(Y, U, tax, scaling=scaling, ancestors=ancestors)
            expected = label_set_loss(Y, U, tax, scaling, ancestors).mean()
            assert np.isclose(got, expected)
    got = metrics.subscription_loss(Y, U, tax, volumes={tax.nodes[0]: 2}, c_miss=3)
    assert np.isclose(got, set_loss(Y, U, tax, {tax.nodes[0]: 2}, 3, 1).mean())


@given(cases())
def test_hierarchical_f1_and_levels_work_on_closures(case):
    tax, Y, U = case
    Y, U = [anc(tax, y) for y in Y], [anc(tax, u) for u in U]
    assert np.isclose(metrics.hierarchical_f1(*case[1:], tax), plain_micro(Y, U, tax.nodes))
    levels = metrics.precision_recall_f1(*case[1:], tax, by="level")
    assert [r["depth"] for r in levels] == list(range(len(tax.levels)))
    for record, nodes in zip(levels, tax.levels, strict=True):
        tp, fp, fn = np.sum([plain_counts(Y, U, v) for v in nodes], axis=0)
        assert (record["nodes"], record["support"]) == (len(nodes), tp + fn)
        assert np.isclose(record["precision"], tp / (tp + fp) if tp + fp else 0)
        assert np.isclose(record["recall"], tp / (tp + fn) if tp + fn else 0)
        assert np.isclose(record["f1"], plain_f1(tp, fp, fn))
        macro = np.mean([plain_f1(*plain_counts(Y, U, v)) for v in nodes])
        assert np.isclose(record["macro_f1"], macro)


@settings(max_examples=40)
@given(cases())
def test_the_truth_scores_best(case):
    tax, Y, U = case
    for loss in (metrics.zero_one_loss, metrics.symmetric_difference_loss):
        assert loss(Y, Y, tax) == 0 <= loss(Y, U, tax)
    for loss in (metrics.hierarchical_loss, metrics.subscription_loss):
        assert loss(Y, Y, tax) == 0 <= loss(Y, U, tax)
    for gain in (metrics.micro_f1, metrics.hierarchical_f1):
        assert gain(Y, Y, tax, zero=1.0) == 1 >= gain(Y, U, tax, zero=1.0)
    assert metrics.macro_f1(Y, Y, tax, over="support", zero=1.0) == 1


@settings(max_examples=40)
@given(cases(), st.randoms(use_true_random=False))
def test_renumbering_the_nodes_changes_nothing(case, random):
    tax, Y, U = case
    lines = [(None, v) for v in tax.roots] + list(tax.edges)
    random.shuffle(lines)
    other = Taxonomy.from_edges(lines)
    for metric in (
        metrics.micro_f1,
        metrics.macro_f1,
        metrics.hierarchical_f1,
        metrics.zero_one_loss,
        metrics.hierarchical_loss,
        metrics.subscription_loss,
    ):
        assert np.isclose(metric(Y, U, tax), metric(Y, U, other))


@settings(max_examples=40)
@given(indicators())
def test_without_a_hierarchy_the_values_are_scikit_learns(pair):
    Y, U = pair
    micro = f1_score(Y, U, average="micro", zero_division=0)
    macro = f1_score(Y, U, average="macro", zero_division=0)
    assert np.isclose(metrics.micro_f1(Y, U), micro)
    assert np.isclose(metrics.macro_f1(Y, U), macro)
    assert np.isclose(metrics.zero_one_loss(Y, U), sk_zero_one(Y, U))
    assert np.isclose(metrics.symmetric_difference_loss(Y, U), hamming_loss(Y, U) * Y.shape[1])
    p, r, f, s = precision_recall_fscore_support(Y, U, zero_division=0)
    got = metrics.precision_recall_f1(Y, U, by="node")
    for ours, theirs in zip(got, (p, r, f, s), strict=True):
        np.testing.assert_allclose(ours, theirs)
    p, r, f, _ = precision_recall_fscore_support(Y, U, average="micro", zero_division=0)
    np.testing.assert_allclose(metrics.precision_recall_f1(Y, U)[:3], (p, r, f))
    flat = Taxonomy.flat(range(Y.shape[1]))
    assert np.isclose(metrics.hierarchical_f1(Y, U, flat), micro)
    assert np.isclose(metrics.hierarchical_loss(Y, U, flat), hamming_loss(Y, U) * Y.shape[1])


@settings(max_examples=40)
@given(indicators())
def test_dense_and_sparse_give_the_same(pair):
    Y, U = pair
    for metric in (metrics.micro_f1, metrics.macro_f1, metrics.zero_one_loss):
        expected = metric(Y, U)
        assert metric(sp.csr_array(Y), sp.csc_matrix(U)) == expected
        assert metric(Y.astype(bool), sp.coo_array(U)) == expected
        assert metric(Y.tolist(), U.tolist()) == expected


def test_every_form_of_label_sets_means_the_same():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("b", "b1"), ("b", "b2")])
    y, u = ["a", "b1", "b2"], ["a", "b2", "b2"]
    expected = metrics.macro_f1(y, u)  # the three leaves
    leaves = [[tax.leaves.index(v) == i for i in range(3)] for v in y]
    assert np.isclose(expected, (1 + 0 + 2 / 3) / 3)
    for truth in (y, np.array(y), np.array(y, object), [[v] for v in y], np.array(leaves)):
        assert np.isclose(metrics.macro_f1(truth, u, tax), expected)
    over_nodes = metrics.macro_f1(tax.encode(y), tax.encode(u), tax)
    assert np.isclose(over_nodes, expected * 3 / 5)  # the columns are the classes
    assert np.isclose(metrics.hierarchical_f1(np.array(leaves), u, tax), 7 * 2 / 16)


def test_golden_f1(golden_file):
    case = golden_file("recursive_and_bayes")["metrics"]["f1"]
    Y, U = np.array(case["y_true"]), np.array(case["y_pred"])
    assert np.isclose(metrics.micro_f1(Y, U), case["micro_f1"])
    per_class = metrics.precision_recall_f1(Y, U, by="node").f1
    np.testing.assert_allclose(per_class, case["per_class_f1"])
    assert np.isclose(metrics.macro_f1(Y, U), case["macro_all_zero0"])
    assert np.isclose(metrics.macro_f1(Y, U, zero=1), case["macro_all_zero1"])
    assert np.isclose(metrics.macro_f1(Y, U, over="support"), case["macro_support"])
    assert np.isclose(metrics.macro_f1(Y, U, over="union"), case["macro_union"])


def test_golden_levels(golden_file):
    case = golden_file("recursive_and_bayes")["metrics"]["by_level"]
    tax = Taxonomy.from_edges(case["edges"])
    # The file lists the leaves by id; the columns of our indicator are the leaves in node order.
    order = [case["leaves"].index(v) for v in tax.leaves]
    Y, U = (np.array(case[k])[:, order] for k in ("y_true", "y_pred"))
    levels = metrics.precision_recall_f1(Y, U, tax, by="level")
    got = {str(r["depth"] + 1): [r["macro_f1"], r["nodes"]] for r in levels}
    assert got.keys() == case["macro_f1_and_nodes"].keys()
    for level, expected in case["macro_f1_and_nodes"].items():
        np.testing.assert_allclose(got[level], expected)


def test_golden_microlabels(golden_file):
    for case in golden_file("hm3_variants")["metrics"]:
        parents = {j: None if p < 0 else p for j, p in enumerate(case["parent"])}
        tax = Taxonomy.from_parents(parents)
        Y, U = ((np.array(case[k]) > 0).astype(int) for k in ("Y_true", "Y_pred"))
        assert np.isclose(100 * metrics.zero_one_loss(Y, U, tax), case["l01_percent"])
        assert np.isclose(metrics.symmetric_difference_loss(Y, U), case["mean_delta"])
        got = 100 * np.array(metrics.precision_recall_f1(Y, U, tax)[:3])
        np.testing.assert_allclose(got, case["micro_PRF"])
        levels = metrics.precision_recall_f1(Y, U, tax, by="level")
        got = [[100 * r[k] for k in ("precision", "recall", "f1")] for r in levels]
        np.testing.assert_allclose(got, case["level_PRF"])
        for scaling in ("unif", "sibl", "subtree"):
            got = metrics.hierarchical_loss(Y, U, tax, scaling=scaling)
            assert np.isclose(got, case[f"mean_H~-{scaling}"])
        got = metrics.hierarchical_loss(Y, U, tax, ancestors="all")
        assert np.isclose(got, case["mean_H-unif"])


def test_bins_of_training_positives():
    Y = np.array([[1, 0, 1, 0], [0, 1, 1, 1]])
    U = np.array([[1, 0, 0, 0], [0, 1, 1, 0]])
    bins = metrics.precision_recall_f1(Y, U, by="support", train_counts=[3, 5, 101, 0])
    assert [r["train"] for r in bins] == ["1-5", "6-10", "11-20", "21-50", "51-100", ">100"]
    assert [r["classes"] for r in bins] == [2, 0, 0, 0, 0, 1]
    assert (bins[0]["f1"], bins[0]["macro_f1"], bins[0]["support"]) == (1, 1, 2)
    assert np.isclose(bins[5]["f1"], 2 / 3)
    train = np.repeat([[1, 0, 0, 0], [0, 1, 1, 0]], [7, 12], axis=0)
    bins = metrics.precision_recall_f1(Y, U, by="support", Y_train=train)
    assert [r["classes"] for r in bins] == [0, 1, 2, 0, 0, 0]
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b")])
    bins = metrics.precision_recall_f1(["a"], ["b"], tax, by="support", train_counts={"a": 6})
    assert [r["classes"] for r in bins] == [0, 1, 0, 0, 0, 0]
    bins = metrics.precision_recall_f1(["a"], ["b"], tax, by="support", Y_train=["a", "b", "b"])
    assert bins[0]["classes"] == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: metrics.micro_f1(["a"], ["a", "b"], t), "Y_true has 1 rows, but Y_pred has 2"),
        (lambda t: metrics.micro_f1(np.eye(2), np.eye(3)[:2]), "2 columns, but Y_pred has 3"),
        (lambda t: metrics.micro_f1(["x"], ["a"], t), "Row 0: 'x' is not a node.*Use the name"),
        (lambda t: metrics.micro_f1([["a"], []], [["a"], []]), "need a taxonomy"),
        (lambda t: metrics.micro_f1([["a"]], [["b"]]), "need a taxonomy"),
        (lambda t: metrics.micro_f1(np.eye(2), ["a", "b"]), "different forms"),
        (lambda t: metrics.micro_f1(2 * np.eye(2), np.eye(2)), r"holds the value 2.0.*\(Y > 0\)"),
        (lambda t: metrics.micro_f1(np.eye(4), np.eye(4), t), "4 columns.*3 nodes.*encode"),
        (lambda t: metrics.micro_f1(["a"], ["a"], 3), "3 is not a taxonomy"),
        (lambda t: metrics.micro_f1([], [], t), "no rows to evaluate"),
        (lambda t: metrics.macro_f1(["a"], ["a"], over="some"), "'some'.*all, support, union"),
        (lambda t: metrics.hierarchical_f1(["a"], ["a"]), "hierarchical_f1 needs a taxonomy"),
        (lambda t: metrics.precision_recall_f1(["a"], ["a"], by="x"), "by='x' is not known"),
        (lambda t: metrics.precision_recall_f1(["a"], ["a"], by="level"), "needs a taxonomy"),
        (lambda t: metrics.precision_recall_f1(["a"], ["a"], by="support"), "`train_counts`"),
        (
            lambda t: metrics.precision_recall_f1(["a"], ["a"], by="support", train_counts=[1, 2]),
            "2 training counts for 1 classes",
        ),
        (
            lambda t: metrics.hierarchical_loss(["a"], ["a"], t, scaling="x"),
            "'x' is not known.*unif, sibl, subtree",
        ),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(call, message):
    with pytest.raises(UserError, match=message):
        call(Taxonomy.from_edges([("r", "a"), ("r", "b")]))
