"""Charts as plain data: what they show, and that plotly takes them."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparisons import NASTY, made_up
from linnaeus import Taxonomy
from linnaeus.report import charts, treemap

ALL = [
    charts.figure_bars,
    charts.level_lines,
    charts.size_lines,
    charts.calibration_curves,
    charts.time_against_quality,
    charts.memory_against_quality,
    charts.sweep_lines,
    treemap.taxonomy_map,
]


@pytest.fixture(scope="module")
def comparison():
    return made_up()


@pytest.mark.parametrize("make", ALL, ids=lambda f: f.__name__)
def test_plotly_takes_every_chart(make, comparison):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    chart = make(comparison)
    graph_objects.Figure(chart)  # refuses unknown properties
    json.dumps(chart, allow_nan=False)


def test_bars_hold_figures_and_intervals_and_the_constant_answer(comparison):
    *bars, constant = charts.figure_bars(comparison)["data"]
    assert [bar["name"] for bar in bars] == ["good", "fair", "poor"]
    assert constant["y"][0] == comparison.baseline.values["micro_f1"]
    good = comparison["good"]
    assert bars[0]["y"] == [good.figures[k] for k in ("micro_f1", "macro_f1", "hierarchical_f1")]
    high = bars[0]["y"][0] + bars[0]["error_y"]["array"][0]
    assert_allclose(high, good.intervals["micro_f1"][1])
    assert len({bar["marker"]["pattern"]["shape"] for bar in bars}) == 3  # ink alone tells them
    assert charts.figure_bars(made_up(noise={"one": 0.1})) is None


def test_levels_and_sizes_come_from_the_reports(comparison):
    line = charts.level_lines(comparison)["data"][1]
    levels = comparison["fair"].report.levels
    assert line["x"] == [str(r["depth"]) for r in levels]
    assert line["y"] == [r["f1"] for r in levels]
    sizes = charts.size_lines(comparison)["data"][0]
    used = [r for r in comparison["good"].report.sizes if r["classes"]]
    assert sizes["x"] == [r["train"] for r in used]


def test_only_methods_with_probabilities_have_calibration_curves(comparison):
    names = [trace["name"].split()[0] for trace in charts.calibration_curves(comparison)["data"]]
    assert names == ["perfect", "good", "poor"]
    assert charts.calibration_curves(made_up(noise={})) is None


def test_prices_are_on_a_log_axis_that_holds_them_all(comparison):
    chart = charts.time_against_quality(comparison)
    axis = chart["layout"]["xaxis"]
    low, high = (10**v for v in axis["range"])
    for trace in chart["data"]:
        assert low < trace["x"][0] < high
    inside = [t for t in axis["tickvals"] if low <= t <= high]
    assert inside and axis["type"] == "log"
    assert charts.time_against_quality(made_up(noise={"one": 0.1})) is None


def test_the_map_is_a_tree_whose_areas_add_up(comparison):
    trace = treemap.taxonomy_map(comparison)["data"][0]
    area = dict(zip(trace["ids"], trace["values"], strict=True))
    assert area["all"] == len(comparison.truth.indptr) - 1  # one label a row
    below = dict.fromkeys(area, 0)
    for node, parent in zip(trace["ids"], trace["parents"], strict=True):
        if parent:
            below[parent] += area[node]
    for node, value in area.items():
        assert below[node] in (0, value)  # labels are at leaves only


def test_the_map_shows_f1_titles_and_counts(comparison):
    chart = treemap.taxonomy_map(comparison)
    trace, tax = chart["data"][0], comparison.taxonomy
    x = tax.index("x")
    at = trace["ids"].index(str(x))
    nodes = comparison["good"].report.nodes
    assert trace["marker"]["colors"][at] == round(float(nodes.f1[x]), 4)
    assert f"F1 {nodes.f1[x]:.3f}" in trace["customdata"][at]
    assert f"{int(nodes.support[x]):,} true" in trace["customdata"][at]
    assert NASTY not in json.dumps(trace) and "&lt;script&gt;" in trace["labels"][at]
    buttons = chart["layout"]["updatemenus"][0]["buttons"]
    assert [b["label"] for b in buttons] == ["good", "fair", "poor"]
    assert buttons[2]["args"][0]["marker.colors"][0][at] == round(
        float(comparison["poor"].report.nodes.f1[x]), 4
    )


def test_of_many_nodes_the_largest_are_shown_and_hang_together(comparison):
    trace = treemap.taxonomy_map(comparison, most=4)["data"][0]
    assert len(trace["ids"]) == 5
    assert set(trace["parents"]) <= {"", *trace["ids"]}
    total = treemap.hidden_nodes(comparison, most=0)
    assert treemap.hidden_nodes(comparison, most=4) == total - 4


def test_a_node_with_two_parents_is_shown_once():
    edges = [("a", "x"), ("b", "x"), ("a", "y"), ("b", "z")]
    comparison = made_up(60, taxonomy=Taxonomy.from_edges(edges))
    trace = treemap.taxonomy_map(comparison)["data"][0]
    assert len(set(trace["ids"])) == len(trace["ids"]) == 6
    x, a = (str(comparison.taxonomy.index(v)) for v in "xa")
    assert trace["parents"][trace["ids"].index(x)] == a
    assert trace["values"][0] == 60


def test_areas_of_rows_with_several_labels_add_up_too():
    tax = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "z")])
    from linnaeus.metrics import evaluate

    Y = [["x", "y"], ["x", "z"], ["a"], []]
    area = treemap.areas(tax, evaluate(Y, Y, tax))
    assert dict(zip(tax.nodes, area.tolist(), strict=True)) == {
        "a": 4, "x": 2, "y": 1, "b": 1, "z": 1,
    }  # fmt: skip
    assert (treemap.first_parents(tax) == np.array([-1, 0, 0, -1, 3])).all()
