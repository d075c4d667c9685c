"""Tables 1 to 3 and figures 2 and 3 of [Rousu2006]: the figures, the parts, and small runs."""

import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linnaeus import Taxonomy
from linnaeus.losses import markov_edges
from linnaeus.metrics import precision_recall_f1
from spec_tables import table_after
from studies import figures_rousu as paper
from studies import rousu_curves as curves
from studies import rousu_directions as directions
from studies.paired import paired_tests, standard_error
from studies.results import Outcome
from studies.rousu import TABLES
from studies.rousu_studies import Sets, level_counts, ratios, under_one_root
from studies.tables import Context

BY_NAME = {table.name: table for table in TABLES}
NODES = ("CCAT", "C1", "C2", "C11", "C12", "C111")
EDGES = (("Root", "CCAT"), ("CCAT", "C1"), ("CCAT", "C2"), ("C1", "C11"), ("C1", "C12"),
         ("C11", "C111"))  # fmt: skip
SETS = ("", "C2", "C12", "C111", "C2,C111", "C1", "CCAT")


def write_ccat(folder, n_train=60, n_test=40):
    """A small collection in the form of rcv1-ccat; each label has a feature of its own."""
    folder.mkdir(parents=True)
    (folder / "taxonomy.tsv").write_text("".join(f"{p}\t{v}\n" for p, v in EDGES))
    (folder / "labels.tsv").write_text("".join(f"{i}\t{v}\n" for i, v in enumerate(NODES, 1)))
    parent, number = {v: p for p, v in EDGES}, {v: i for i, v in enumerate(NODES, 1)}
    rng = np.random.default_rng(0)
    for part, n in (("train", n_train), ("test", n_test)):
        lines = []
        for i in range(n):
            own = set()
            for v in filter(None, SETS[i % len(SETS)].split(",")):
                while v != "Root":
                    own.add(v)
                    v = parent[v]
            codes = sorted(number[v] for v in own)
            x = dict.fromkeys(codes, 0.5) | {int(rng.integers(8, 20)): 0.3}
            pairs = " ".join(f"{j}:{value}" for j, value in sorted(x.items()))
            lines.append(f"{','.join(map(str, codes))} {pairs}\n")
        (folder / f"{part}.svm").write_text("".join(lines))


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    root = tmp_path_factory.mktemp("collections")
    write_ccat(root / "rcv1-ccat")
    return Context(root, quick=True)


def section(text, title):
    """The rows of a table of the specification, as lists of cells."""
    return table_after(text, f"**{title}**")[2:]


def numbers(cell):
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", cell)]


def test_every_table_is_declared():
    assert set(BY_NAME) == {"rousu-1", "rousu-2", "rousu-3", "rousu-fig2", "rousu-fig3"}
    names = [unit.name for unit in BY_NAME["rousu-2"].units]
    assert len(names) == len(set(names)) == 10
    for table in TABLES:
        assert table.source.startswith("[Rousu2006]") and table.protocol and table.why


def test_table_1_is_that_of_the_specification(shared):
    text = shared("spec", "rousu.md").read_text()
    rows = section(text, "Table 1")
    found = {row[0].removeprefix("H~-"): numbers(row[1]) for row in rows}
    assert found == {loss: list(figures) for loss, figures in paper.LOSSES.items()}


def test_table_2_is_that_of_the_specification(shared):
    names = {"H-M3-delta": "H-M3, delta", "H-M3-H~": "H-M3, subtree"}
    for row in section(shared("spec", "rousu.md").read_text(), "Table 2"):
        method = names.get(row[0], row[0])
        assert numbers(row[1]) == list(paper.POOLED["rcv1-ccat"][method])
        assert numbers(row[3]) == list(paper.POOLED["enzyme"][method])


def test_table_3_is_that_of_the_specification(shared):
    names = {"H-M3-delta": "H-M3, delta", "H-M3-H~": "H-M3, subtree"}
    kinds = {"Reuters": "rcv1-ccat", "ENZYME": "enzyme", "WIPO": ""}
    collection, seen = "", 0
    for row in section(shared("spec", "rousu.md").read_text(), "Table 3"):
        first, _, rest = row[0].partition(" ")
        collection, name = (kinds[first], rest) if first in kinds else (collection, row[0])
        if collection:
            levels = paper.LEVELS[collection][names.get(name, name)]
            assert [numbers(cell) for cell in row[1:]] == [list(level) for level in levels]
            seen += 1
    assert seen == 10


@pytest.mark.slow
def test_small_runs_give_every_figure(context):
    outcomes = {unit.name: unit.run(context) for unit in BY_NAME["rousu-2"].units[:5]}
    assert all("rcv1-ccat" in name for name in outcomes)
    for outcome in outcomes.values():
        assert [cell.column for cell in outcome.cells] == list(paper.COLUMNS_2)
        assert all(cell.paper is not None and cell.error is not None for cell in outcome.cells)
        assert len(outcome.facts["levels"]) == 4
    # every label has its own feature: nothing is lost at the root
    assert outcomes["rcv1-ccat, H-M3, delta"].facts["levels"][0][2] > 95
    tests = BY_NAME["rousu-2"].tests_of(outcomes)
    pairs = {(test["first"], test["second"]) for test in tests}
    assert ("H-M3, delta", "SVM") in pairs and ("H-M3, subtree", "H-M3, delta") in pairs
    assert len(pairs) == 7 and all(0 < test["pvalue"] <= 1 for test in tests)
    levels = BY_NAME["rousu-3"].cells(outcomes)
    assert len(levels) == 5 * 4 * 3
    assert levels[0].row == "rcv1-ccat, SVM" and levels[0].paper == 92.4


def test_all_training_losses(context):
    table = BY_NAME["rousu-1"]
    outcomes = {unit.name: unit.run(context) for unit in table.units}
    assert list(outcomes) == list(paper.LOSSES)
    cells = table.cells(outcomes)
    assert [cell.paper for cell in cells[:5]] == list(paper.LOSSES["delta"])
    assert {test["second"] for test in table.tests_of(outcomes)} == {"H-M3, delta"}


def test_ratios_of_levels_are_the_metric():
    rng = np.random.default_rng(1)
    tax = Taxonomy.from_edges([(None, "CCAT"), *EDGES[1:]])
    true, pred = (tax.closure(sp.csr_array(rng.random((30, 6)) < 0.3)) for _ in range(2))
    counts = level_counts(Sets(tax, sp.csr_array(true), sp.csr_array(pred)))
    found = ratios(counts.sum(axis=0, keepdims=True)).reshape(-1, 3)
    pooled = precision_recall_f1(true, pred, tax)
    assert_allclose(found[0], [100 * v for v in (pooled.precision, pooled.recall, pooled.f1)])
    levels = precision_recall_f1(true, pred, tax, by="level")
    for k, level in enumerate(levels):
        expected = [100 * level[part] for part in ("precision", "recall", "f1")]
        assert_allclose(found[1 + k], expected)


def test_a_forest_gets_the_root_that_every_row_has():
    tax = Taxonomy.from_edges([(None, "a"), (None, "b"), ("a", "c")])
    sets = under_one_root(tax, tax.encode([["b"], []]), tax.encode([["a", "c"], ["a"]]))
    assert len(sets.taxonomy.roots) == 1 and len(sets.taxonomy) == 4
    top = sets.taxonomy.root_numbers[0]
    assert sets.true[:, [top]].sum() == sets.pred[:, [top]].sum() == 2
    assert sets.true.sum() == 3 and sets.pred.sum() == 5


def test_linear_programme_and_dynamic_programme_agree():
    tax = Taxonomy.from_edges([(None, "CCAT"), *EDGES[1:], (None, "lone")])
    edges = markov_edges(tax.tree)
    scores = np.random.default_rng(0).normal(size=(20, edges.child.size, 4))
    values = directions.max_sum(edges, scores, "all").value
    assert_allclose(directions.by_linear_programme(edges, len(tax), scores), values, atol=1e-9)


@pytest.mark.slow
def test_curves_and_pictures(context, tmp_path):
    units = {unit.name: unit for unit in BY_NAME["rousu-fig3"].units}
    outcomes = {name: unit.run(context) for name, unit in units.items()}
    assert outcomes["directions"].facts["largest difference"] < 1e-6
    gap = outcomes["pairwise"].facts["gap"]
    assert gap[-1] <= gap[0]
    progress = {unit.name: unit.run(context) for unit in BY_NAME["rousu-fig2"].units}
    percent = progress[curves.SHOWN].facts["percent"]
    assert all(a <= b + 1e-6 for a, b in pairwise(percent))
    assert percent[-1] <= 100 + 1e-2
    pytest.importorskip("matplotlib")
    curves.draw_curves(outcomes, tmp_path / "three.svg")
    curves.draw_progress(progress, tmp_path / "two.svg")
    assert "<svg" in (tmp_path / "two.svg").read_text()
    first = (tmp_path / "three.svg").read_bytes()
    curves.draw_curves(outcomes, tmp_path / "three.svg")
    assert (tmp_path / "three.svg").read_bytes() == first


def outcome(condition, method, **values):
    return Outcome(facts={"condition": condition, "method": method, "values": values})


def test_only_units_of_the_same_condition_are_paired():
    outcomes = {
        "1": outcome("x", "A", acc=[1.0, 2.0, 3.0], only=[1.0]),
        "2": outcome("x", "B", acc=[0.0, 1.0, 2.0]),
        "3": outcome("y", "A", acc=[5.0, 5.0, 5.0]),
    }
    (test,) = paired_tests(outcomes, [("A", "B"), ("A", "C")])
    assert (test["condition"], test["measure"]) == ("x", "acc")
    assert test["difference"] == 1.0 and test["pvalue"] == 2 / 8  # all signs of 3 differences


def test_standard_error_of_one_value_is_unknown():
    assert standard_error([2.0]) is None
    assert standard_error([1.0, 2.0, 3.0]) == pytest.approx(1 / np.sqrt(3), abs=1e-6)
