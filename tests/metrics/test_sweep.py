"""Trade-offs by threshold, against one plain evaluation per threshold."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.inference import lift
from linnaeus.metrics import evaluate, thresholds
from linnaeus.metrics.sweep import operating_point, sweep
from strategies import edge_lists

TREE = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d"), ("c", "e"), ("x", "y"), ("x", "z")])
DAG = Taxonomy.from_edges([*TREE.edges, ("b", "e"), ("x", "e")])


def problem(tax, n=40, seed=0, n_columns=None):
    """Truth, and noisy scores of some nodes in odd order."""
    rng = np.random.default_rng(seed)
    Y = sp.csr_array((rng.random((n, len(tax))) < 0.25).astype(np.int8))
    names = [tax.nodes[j] for j in rng.permutation(len(tax))[: n_columns or len(tax) - 1]]
    truth = Y[:, tax.numbers(names)].toarray()
    return Y, np.round(1.5 * truth + rng.normal(size=truth.shape), 1), names


def plain(tax, Y, scores, names, threshold):
    """The report of the label sets that a threshold gives, closed upwards one by one."""
    node_scores = lift(tax, scores, tax.numbers(names))
    return evaluate(Y, sp.csr_array((node_scores >= threshold).astype(np.int8)), tax)


def agrees(point, report):
    wanted = [report[f"hierarchical_{key}"] for key in ("precision", "recall", "f1")]
    assert_allclose([point[key] for key in ("precision", "recall", "f1")], wanted, atol=1e-12)
    for level, record in zip(point["levels"], report["levels"], strict=True):
        for key in ("depth", "precision", "recall", "f1"):
            assert_allclose(level[key], record[key], atol=1e-12)


@pytest.mark.parametrize("tax", [TREE, DAG, Taxonomy.flat("pqrs")], ids=["tree", "dag", "flat"])
def test_every_point_is_a_plain_evaluation(tax):
    Y, scores, names = problem(tax)
    found = sweep(Y, scores, tax, classes=names, points=9)
    assert 2 <= len(found.points) <= 9
    at = [point["threshold"] for point in found.points]
    assert at == sorted(set(at))
    for point in found.points:
        report = plain(tax, Y, scores, names, point["threshold"])
        agrees(point, report)
        specific = tax.most_specific(lift(tax, scores, tax.numbers(names)) >= point["threshold"])
        assert_allclose(point["labels_per_row"], specific.sum() / len(scores))
        assert_allclose(point["empty_rows"], report["empty_predictions"] / len(scores))


@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_the_best_are_the_best_of_all_thresholds(tax):
    Y, scores, names = problem(tax, seed=1)
    found = sweep(Y, scores, tax, classes=names, points=5)
    reports = {t: plain(tax, Y, scores, names, t) for t in np.unique(scores)}
    best = max(report["hierarchical_f1"] for report in reports.values())
    assert_allclose(found.best["f1"], best)
    assert_allclose(reports[found.best["threshold"]]["hierarchical_f1"], best)
    assert found.best["threshold"] in [point["threshold"] for point in found.points]
    for level in found.best["levels"]:
        values = {t: report["levels"][level["depth"]]["f1"] for t, report in reports.items()}
        assert_allclose(level["f1"], max(values.values()))
        assert_allclose(level["f1"], values[level["threshold"]])


def test_points_are_spread_over_recall():
    tax = Taxonomy.flat(range(10))
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((500, 10)) < 0.3).astype(np.int8))
    found = sweep(Y, rng.normal(size=(500, 10)) ** 3, tax, points=21)
    recall = np.array([point["recall"] for point in found.points])
    assert len(recall) == 21 and recall[0] == 1 and recall[-1] < 0.01
    assert np.abs(np.diff(recall)).max() < 0.101


@pytest.mark.parametrize("lifted", [None, False, True])
def test_scores_of_all_nodes(lifted):
    Y, scores, names = problem(DAG, n_columns=len(DAG))
    found = sweep(Y, scores, DAG, classes=names, lifted=lifted, points=6)
    own = scores[:, [names.index(v) for v in DAG.nodes]]
    used = lift(DAG, scores, DAG.numbers(names)) if lifted else own
    closed = DAG.closure(Y).toarray()
    for point in found.points:
        on = used >= point["threshold"]
        assert_allclose(point["precision"], (on & (closed > 0)).sum() / on.sum())
        assert_allclose(point["recall"], (on & (closed > 0)).sum() / closed.sum())
        assert_allclose(point["labels_per_row"], DAG.most_specific(on).sum() / len(on))


@settings(max_examples=40)
@given(edge_lists(max_nodes=8), st.integers(0, 2**16), st.integers(1, 6))
def test_any_taxonomy_and_label_sets(lines, seed, points):
    """One column, no true labels at all, equal scores, labels without a column."""
    tax = Taxonomy.from_edges(lines)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    Y = sp.csr_array((rng.random((n, len(tax))) < rng.choice([0, 0.2, 0.7])).astype(np.int8))
    names = [tax.nodes[j] for j in rng.permutation(len(tax))[: rng.integers(1, len(tax) + 1)]]
    scores = rng.integers(-2, 3, size=(n, len(names))).astype(float)
    found = sweep(Y, scores, tax, classes=names, points=points, lifted=True)
    for point in found.points:
        agrees(point, plain(tax, Y, scores, names, point["threshold"]))
    assert found.best["f1"] == max(point["f1"] for point in found.points)
    assert str(found).count("\n") >= len(found.points) + 1


def test_blocks_and_quantiles_change_little(monkeypatch):
    Y, scores, names = problem(TREE, n=300)
    scores = scores + 1e-6 * np.arange(300)[:, None]  # all distinct
    whole = sweep(Y, scores, TREE, classes=names)
    monkeypatch.setattr("linnaeus.inference.rows.row_blocks.__defaults__", (64,))
    assert sweep(Y, scores, TREE, classes=names).to_dict() == whole.to_dict()
    monkeypatch.setattr(thresholds, "TRIED", 100)
    rough = sweep(Y, scores, TREE, classes=names)
    assert whole.best["f1"] - 0.02 < rough.best["f1"] <= whole.best["f1"]
    for point in rough.points:
        agrees(point, plain(TREE, Y, scores, names, point["threshold"]))


def test_the_rule_in_use_is_marked():
    Y, scores, names = problem(TREE)
    sets = sp.csr_array((lift(TREE, scores, TREE.numbers(names)) >= 0.5).astype(np.int8))
    report = evaluate(Y, sets, TREE)
    found = sweep(Y, scores, TREE, classes=names, decided=sets)
    agrees(found.decided, report)
    assert found.decided == operating_point(Y, report, TREE) == operating_point(Y, sets, TREE)
    assert sweep(Y, scores, TREE, classes=names, decided=report).decided == found.decided
    text = str(found)
    assert text.splitlines()[-5].startswith("rule in use")
    assert f"{report['hierarchical_f1']:.3f}" in text.splitlines()[-5]
    with pytest.raises(UserError, match=r"needs a taxonomy"):
        operating_point(Y, sets, None)


def test_text_and_dict():
    Y, scores, names = problem(TREE)
    found = sweep(Y, scores, TREE, classes=names, points=8)
    head, *lines = str(found).splitlines()
    levels = [f"F1 at {depth}" for depth in range(3)]
    names = ["threshold", "precision", "recall", "F1", "labels/row", "no label", *levels]
    assert re.split(r" {2,}", head) == names
    best = next(line for line in lines if line.startswith(f"{found.best['threshold']:.4g} "))
    assert f"{found.best['f1']:.3f}*" in best
    assert lines[-4].startswith(f"* best F1: overall {found.best['f1']:.3f} at")
    values = json.loads(json.dumps(found.to_dict()))
    assert len(values["points"]) == len(found.points) and values["decided"] is None
    assert [level["depth"] for level in values["best"]["levels"]] == [0, 1, 2]


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    Y, scores, names = problem(TREE)
    sets = sp.csr_array((lift(TREE, scores, TREE.numbers(names)) >= 0.5).astype(np.int8))
    figure = sweep(Y, scores, TREE, classes=names, decided=sets).plot(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["all", "depth 0", "depth 1", "depth 2", "best F1", "rule in use"]


def test_refusals():
    Y, scores, names = problem(TREE)
    with pytest.raises(UserError, match=r"points is 0. Use 1 or more"):
        sweep(Y, scores, TREE, classes=names, points=0)
    with pytest.raises(UserError, match=r"Y_true has 39 rows, and the scores have the shape"):
        sweep(Y[1:], scores, TREE, classes=names)
    with pytest.raises(UserError, match=r"lifted=False needs a score for each of the 8 nodes"):
        sweep(Y, scores, TREE, classes=names, lifted=False)
    scores[3, 2] = np.nan
    with pytest.raises(UserError, match=r"label 2 in row 3 is nan"):
        sweep(Y, scores, TREE, classes=names)
