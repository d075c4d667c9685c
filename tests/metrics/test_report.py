"""The report: its values against the metrics it gathers, its forms, and its errors."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnaeus import Taxonomy, metrics
from linnaeus.errors import MissingExtraError, UserError
from linnaeus.metrics import counts, evaluate
from strategies import edge_lists


@st.composite
def cases(draw, rows=4):
    """A DAG and two lists of label sets."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=8)))
    sets = st.lists(st.lists(st.sampled_from(tax.nodes)), min_size=rows, max_size=rows)
    return tax, draw(sets), draw(sets)


@pytest.fixture
def tax():
    return Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1")], titles={"b1": "Bees"}
    )


TRUE = [["a1"], ["a2", "b1"], ["a"], ["b1"]]
PRED = [["a1"], ["a1", "b1"], ["a1"], []]


@settings(max_examples=50)
@given(cases())
def test_a_report_gathers_the_metrics(case):
    tax, Y, U = case
    report = evaluate(Y, U, tax)
    closed = [tax.closure(tax.encode(S)) for S in (Y, U)]
    own = [tax.most_specific(tax.encode(S)) for S in (Y, U)]
    used = sorted({*tax.leaf_numbers.tolist(), *own[0].indices.tolist()})
    own = [S[:, used] for S in own]
    expected = {
        "micro_f1": metrics.micro_f1(*own),
        "macro_f1": metrics.macro_f1(*own),
        "hierarchical_f1": metrics.hierarchical_f1(Y, U, tax),
        "zero_one_loss": metrics.zero_one_loss(*closed),
        "symmetric_difference_loss": metrics.symmetric_difference_loss(*closed),
        **{
            f"hierarchical_loss_{s}": metrics.hierarchical_loss(*closed, tax, scaling=s)
            for s in ("unif", "sibl", "subtree")
        },
    }
    for name, value in expected.items():
        assert np.isclose(report[name], value), name
    assert report["levels"] == metrics.precision_recall_f1(Y, U, tax, by="level")
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()
    assert str(report)


def test_inner_nodes_with_labels_of_their_own_are_classes(tax):
    report = evaluate(TRUE, PRED, tax)
    assert report["classes"] == 4  # the leaves and a
    # a1: 1 of 3 right; a2: missed; b1: one right, one missed; a: missed
    assert np.isclose(report["micro_f1"], 2 * 2 / (2 * 2 + 2 + 3))
    assert np.isclose(report["macro_f1"], (1 / 2 + 0 + 2 / 3 + 0) / 4)
    assert (report["rows"], report["nodes"]) == (4, 6)
    assert (report["labels_per_row"], report["predicted_per_row"]) == (5 / 4, 1)
    assert (report["empty_rows"], report["empty_predictions"]) == (0, 1)
    assert (report["rows_not_closed"], report["predictions_not_closed"]) == (4, 3)
    closed = evaluate(tax.closure(tax.encode(TRUE)), tax.closure(tax.encode(PRED)), tax)
    assert closed["rows_not_closed"] == closed["predictions_not_closed"] == 0
    for name in ("micro_f1", "macro_f1", "hierarchical_f1"):
        assert closed[name] == report[name]


def test_in_a_graph_nodes_with_labels_are_classes():
    graph = Taxonomy.from_edges([], related=[("a", "x"), ("b", "x"), ("x", "y"), ("y", "c")])
    true, pred = [["a"], ["b"], ["b"]], [["a"], ["b"], ["c"]]
    report = evaluate(true, pred, graph)
    assert report["classes"] == 3 and report["micro_f1"] == pytest.approx(2 / 3)
    assert report["macro_f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert metrics.macro_f1(true, pred, graph) == pytest.approx(report["macro_f1"])
    truth = counts.Truth.of(graph, graph.encode(true))
    measured = counts.measure(graph, truth.counts(graph.encode(pred)))
    assert measured["macro_f1"] == pytest.approx(report["macro_f1"])
    assert measured["micro_f1"] == pytest.approx(2 / 3)
    known = evaluate(true, pred, graph, train_counts={"a": 1, "b": 2, "c": 1, "y": 4})
    assert known["classes"] == 4 and known["macro_f1"] == pytest.approx((1 + 2 / 3) / 4)


def test_levels_hold_micro_and_macro_values(tax):
    levels = evaluate(TRUE, PRED, tax)["levels"]
    assert [(r["depth"], r["nodes"], r["support"]) for r in levels] == [
        (0, 1, 4),
        (1, 2, 5),
        (2, 3, 4),
    ]
    assert (levels[0]["precision"], levels[0]["recall"]) == (1, 3 / 4)


def test_scores_add_the_metrics_of_the_ranking(tax):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(4, 3))
    report = evaluate(TRUE, PRED, tax, S)
    for name in (
        "top1_accuracy",
        "label_ranking_average_precision",
        "ranking_loss",
        "maximal_loss",
        "top_loss",
    ):
        assert np.isclose(report[name], getattr(metrics, name)(TRUE, S, tax)), name
    assert np.isclose(report["parent_accuracy"], metrics.parent_accuracy(TRUE, S, tax))
    assert np.isclose(report["precision_at_3"], metrics.precision_at(TRUE, S, tax, k=3))
    assert "top-1 accuracy" in str(report)
    every = rng.normal(size=(4, 6))
    closed = tax.closure(tax.encode(TRUE))
    got = evaluate(TRUE, PRED, tax, every)["label_ranking_average_precision"]
    assert np.isclose(got, metrics.label_ranking_average_precision(closed, every, tax))
    names = ["a1", "a2", "b1", "a"]
    got = evaluate(TRUE, PRED, tax, every[:, :4], classes=names)["top1_accuracy"]
    assert np.isclose(got, metrics.top1_accuracy(TRUE, every[:, :4], tax, classes=names))
    with pytest.warns(UserWarning, match="No row has a label"):
        empty = evaluate([[]], [["a1"]], tax, S[:1])
    assert empty["top1_accuracy"] is None
    assert json.dumps(empty.to_dict(), allow_nan=False)


def test_training_counts_add_the_values_by_size(tax):
    report = evaluate(TRUE, PRED, tax, train_counts={"a1": 3, "a2": 8, "b1": 200, "a": 4})
    assert [r["classes"] for r in report["sizes"]] == [2, 1, 0, 0, 0, 1]
    assert np.isclose(report["sizes"][0]["macro_f1"], 1 / 4)
    assert "train" in str(report)
    assert report.to_frame()["train"].tolist() == [0, 4, 0, 3, 8, 200]
    with pytest.raises(UserError, match=r"shape \(2,\), but the taxonomy has 6 nodes"):
        evaluate(TRUE, PRED, tax, train_counts=[1, 2])


def test_a_report_is_a_mapping(tax):
    report = evaluate(TRUE, PRED, tax)
    assert dict(report) == report.to_dict()
    assert "micro_f1" in report
    assert len(report) == len(list(report))
    with pytest.raises(KeyError):
        report["f1"]


def test_the_text_is_a_table_worth_showing(tax):
    text = str(evaluate(TRUE, PRED, tax))
    assert text.splitlines()[0] == "4 rows, 4 classes, 6 nodes"
    assert "nothing predicted for 1 rows" in text
    assert "micro F1              0.4444   (precision 0.5000, recall 0.4000)" in text
    head = next(line for line in text.splitlines() if line.startswith("depth"))
    assert head.split() == ["depth", "nodes", "support", "precision", "recall", "F1", "macro", "F1"]
    assert "Bees" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_the_worst_nodes_come_first(tax):
    report = evaluate(TRUE, PRED, tax)
    worst = report.worst(2)
    assert [(r["node"], r["support"], r["f1"]) for r in worst[:1]] == [("a2", 1, 0.0)]
    assert worst[1]["f1"] == 0.5
    assert report.worst(100)[-1]["f1"] == max(r["f1"] for r in report.worst(100))
    assert len(report.worst(100)) == 6
    assert next(r for r in report.worst(6) if r["node"] == "b1")["title"] == "Bees"


def test_a_frame_has_a_row_per_node(tax):
    frame = evaluate(TRUE, PRED, tax).to_frame()
    assert list(frame.index) == list(tax.nodes)
    assert frame.loc["b1", ["title", "depth", "support", "predicted"]].tolist() == ["Bees", 2, 2, 1]
    assert np.isclose(frame.loc["b1", "f1"], 2 / 3)


def test_a_plot_is_written_as_png(tax, tmp_path):
    for options in ({}, {"train_counts": [9] * 6}):
        report = evaluate(TRUE, PRED, tax, **options)
        figure = report.plot(tmp_path / "report.png")
        assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
        left, right = figure.axes
        heights = [bar.get_height() for bar in left.patches[:3]]
        np.testing.assert_allclose(heights, [r["f1"] for r in report.levels])
        assert ("training" in right.get_xlabel()) == bool(options)


def test_missing_packages_are_named_with_the_extra(tax, monkeypatch):
    report = evaluate(TRUE, PRED, tax)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"'pandas'.*linnaeus\[plot\]"):
        report.to_frame()
    with pytest.raises(MissingExtraError, match=r"'matplotlib'.*linnaeus\[plot\]"):
        report.plot()


def test_two_reports_are_compared_with_tests_of_significance(tax):
    first, second = evaluate(TRUE, TRUE, tax), evaluate(TRUE, PRED, tax)
    comparison = first.compare(second)
    assert (comparison.micro.wins, comparison.micro.losses) == (5, 0)
    assert comparison.macro.n == 4
    rows = {name: (a, b) for name, a, b in comparison.rows}
    assert rows["micro_f1"] == (1.0, second["micro_f1"])
    assert "rows" not in rows
    assert "sign test, 5 decisions won and 0 lost" in str(comparison)
    assert json.dumps(comparison.to_dict(), allow_nan=False)
    assert first.compare(first).micro.pvalue == first.compare(first).macro.pvalue == 1
    with pytest.raises(UserError, match="different rows or labels.*same truth"):
        first.compare(evaluate(TRUE[:2], PRED[:2], tax))
    with pytest.raises(UserError, match="different rows or labels"):
        first.compare(evaluate(PRED, PRED, tax))


def test_errors_of_the_input(tax):
    with pytest.raises(UserError, match="Y_true has 4 rows, but Y_pred has 3"):
        evaluate(TRUE, PRED[:3], tax)
    with pytest.raises(UserError, match="Row 0: 'x' is not a node"):
        evaluate(TRUE, [["x"]] * 4, tax)
    with pytest.raises(UserError, match="row 1, column 2 is NaN"):
        S = np.zeros((4, 3))
        S[1, 2] = np.nan
        evaluate(TRUE, PRED, tax, S)
    with pytest.raises(UserError, match="evaluate needs a taxonomy"):
        evaluate(TRUE, PRED, None)


def test_thousands_of_rows_and_nodes_take_a_moment():
    tax = Taxonomy.from_paths(
        [f"{a}/{b}/{c}" for a in range(10) for b in range(10) for c in range(20)]
    )
    rng = np.random.default_rng(0)
    Y, U = (tax.encode(rng.choice(tax.leaves, 5000)) for _ in range(2))
    report = evaluate(Y, U, tax)
    expected = np.mean(Y.indices == U.indices)
    assert np.isclose(report["micro_f1"], expected)


def test_a_notebook_shows_tables_and_the_picture(tax, monkeypatch):
    report = evaluate(TRUE, PRED, tax, np.eye(4, 3), train_counts=[9] * 6)
    page = report._repr_html_()
    assert page.count("<table>") == 4
    assert "<td>AU(PRC)</td>" in page and "<td>Bees</td>" in page
    assert 'src="data:image/png;base64,' in page
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "<img" not in report._repr_html_()
