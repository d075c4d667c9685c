"""The tables of [GopalYang2015]: printed figures, facts of a run, tests and views."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import FlatLogistic, FlatSVM, Taxonomy, TopDown
from linnaeus.experiments import label_set_study
from linnaeus.metrics.inputs import Pair
from linnaeus.metrics.significance import count_wins
from linnaeus.model.methods import make
from studies import figures_gopal, gopal, gopal_views
from studies.gopal_data import Problem, every_label, load
from studies.gopal_methods import BASELINES, TABLE_II
from studies.gopal_runs import (
    measured,
    run_each_setting,
    run_published,
    wrong_decisions,
)
from studies.gopal_tests import against
from studies.packing import unpack
from studies.results import Outcome
from studies.tables import Context

TAX = Taxonomy.from_edges(
    [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("b2", "b3"), ("b2", "b4")]
)


def toy(n=120, seed=0):
    """Noisy rows with one leaf each, some classes rare."""
    rng = np.random.default_rng(seed)
    leaves = np.array(TAX.leaves)
    y = leaves[rng.choice(len(leaves), n, p=[0.4, 0.3, 0.15, 0.1, 0.05])]
    X = (y[:, None] == leaves) + 0.5 * rng.standard_normal((n, len(leaves)))
    half = n // 2
    return Problem(TAX, X[:half], y[:half], X[half:], [[v] for v in y[half:]])


def outcome_of(model, problem, row="toy: m"):
    return measured(model, problem, Context(Path()), 2, (70.0, 60.0), row)


@pytest.fixture(scope="module")
def runs():
    problem = toy()
    models = {"BSVM": FlatSVM(TAX, random_state=0), "TD": TopDown(TAX, random_state=0)}
    return problem, models, {name: outcome_of(model, problem) for name, model in models.items()}


def _rows(spec, title):
    """The rows of the table below a title of the specification, as lists of cells."""
    text = spec.split(title, 1)[1].split("\n**", 1)[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def spec(shared):
    return shared("spec", "gopal.md").read_text()


def test_printed_figures_of_tables_2_to_4(spec):
    scores, times = (
        {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}
        for rows in (_rows(spec, "**II + III."), _rows(spec, "**IV. Training"))
    )
    for collection, methods in figures_gopal.FIGURES.items():
        for method, (micro, macro, minutes) in methods.items():
            name = "M3-map" if method == "HBLR" else method
            printed = re.match(r"([\d.]+)/([\d.]+)", scores[collection][name])
            assert (float(printed[1]), float(printed[2])) == (macro, micro), (collection, method)
            assert float(times[collection][name].removesuffix(" (?)")) == minutes
        known = {m for m, text in scores[collection].items() if re.match(r"\d", text)}
        assert len(known) == len(methods)


def test_printed_figures_of_tables_6_to_9(spec):
    for row in _rows(spec, "**VI. Partial MAP**")[2:5]:
        for model, text in zip(("M1", "M2", "M3"), row[1:], strict=True):
            macro, micro = map(float, text.split("/"))
            assert figures_gopal.BAYES[row[0]][f"{model}-map"] == (micro, macro)
    head, _, macro, micro, *_ = _rows(spec, "**VII. CLEF**")
    for name, a, b in zip(head[1:], micro[1:], macro[1:], strict=True):
        assert figures_gopal.BAYES["CLEF"][name] == (float(a), float(b))
    for title, ours in (("**VIII.", figures_gopal.LEVELS), ("**IX.", figures_gopal.SIZES)):
        rows = _rows(spec, title)[2:]
        printed = [(float(row[1]), float(row[2]), int(row[4])) for row in rows]
        assert list(ours.values()) == printed
        assert [str(key) for key in ours] == [row[0].replace("–", "-") for row in rows]


def test_all_tables_of_the_paper_are_declared():
    tables = {table.name: table for table in gopal.TABLES}
    assert list(tables) == [f"gopal-{n}" for n in (2, 3, 4, 6, 7, 8, 9, "costs")]
    names = {unit.name for unit in tables["gopal-2"].units}
    assert len(names) == 3 * 10 + 6  # with several labels, six methods apply
    assert {"rcv1-30k-closed: HBLR", "news20: HSVM"} <= names
    assert "rcv1-30k-closed: MSVM" not in names
    bayes = {unit.name for unit in tables["gopal-6"].units}
    assert len(bayes) == 3 * 3 + 6 + 1
    for table in tables.values():
        assert bool(table.units) != bool(table.of) and table.protocol and table.why


def test_a_run_gives_the_figures_of_the_protocol(runs):
    problem, models, outcomes = runs
    study = label_set_study(models, *problem[1:], problem.taxonomy)
    for name, outcome in outcomes.items():
        report = study[name].report
        micro, macro = outcome.cells
        assert (micro.ours, macro.ours) == (100 * report["micro_f1"], 100 * report["macro_f1"])
        assert (micro.column, micro.paper, macro.paper) == ("micro F1", 70.0, 60.0)
        assert micro.error > 0 and outcome.seconds > 0
        levels = [entry["macro_f1"] for entry in outcome.facts["levels"]]
        assert levels == pytest.approx([100 * entry["macro_f1"] for entry in report["levels"]])
        sizes = [entry for entry in outcome.facts["sizes"] if entry["nodes"]]
        expected = [100 * e["macro_f1"] for e in report["sizes"] if e["classes"]]
        assert [entry["macro_f1"] for entry in sizes] == pytest.approx(expected)
        assert sum(entry["nodes"] for entry in sizes) == 5


def test_stored_facts_give_the_tests_of_the_protocol(runs):
    problem, models, outcomes = runs
    study = label_set_study(models, *problem[1:], problem.taxonomy, against={"BSVM": "TD"})
    (expected,) = study.tests
    micro, macro = against("BSVM", "TD", outcomes["BSVM"], outcomes["TD"], table="gopal-3")
    assert micro["pvalue"] == expected.micro.pvalue
    assert micro["statistic"] == expected.micro.wins - expected.micro.losses
    assert macro["pvalue"] == pytest.approx(expected.macro.pvalue, rel=1e-3)
    assert micro["difference"] == pytest.approx(100 * expected.micro_difference)


def test_wrong_decisions_are_those_of_the_sign_test():
    rng = np.random.default_rng(0)
    true, a, b = (sp.csr_array(rng.integers(0, 2, (30, 6))) for _ in range(3))
    wrong = [set(wrong_decisions(Pair(true, pred)).tolist()) for pred in (a, b)]
    assert (len(wrong[1] - wrong[0]), len(wrong[0] - wrong[1])) == count_wins(true, a, b)
    one = [sp.csr_array(np.eye(6)[rng.integers(0, 6, 30)]) for _ in range(3)]
    wrong = [set(wrong_decisions(Pair(one[0], pred)).tolist()) for pred in one[1:]]
    assert (len(wrong[1] - wrong[0]), len(wrong[0] - wrong[1])) == count_wins(*one)


def test_every_label_of_a_closed_set_becomes_a_class():
    Y = TAX.closure(TAX.encode([["b4"], ["a"], ["b2", "a1"]]))
    given = Problem(TAX, np.eye(3), Y, np.eye(3), [["b4"], ["a"], []])
    found = every_label(given)
    assert sorted(found.y[0]) == sorted(["b/misc", "b2/misc", "b4"])
    assert found.truth == [sorted(found.y[0], key=found.truth[0].index), ["a/misc"], []]
    assert all(found.taxonomy.n_children[found.taxonomy.index(v)] == 0 for v in found.y[2])


def test_quick_runs_take_few_rows_and_one_C(shared):
    data = shared("data")
    context = Context(data, quick=True)
    run = partial(run_published, collection="ImCLEF07A", Cs=(0.1, 1.0), folds=3, intercept={},
                  paper=None)  # fmt: skip
    found = run(context, method="TD", row="r")
    assert found.facts["C"] == 0.1 and found.cells[0].paper is None and not found.notes
    assert len(unpack(found.facts["wrong"])) <= 400


def test_loading(shared):
    problem = load(shared("data"), "ImCLEF07A")
    assert problem.X.shape == (10_000, 80) and problem.X_test.shape == (1_006, 80)
    assert np.allclose(problem.X.mean(axis=0), 0) and np.allclose(problem.X.std(axis=0, ddof=1), 1)
    assert problem.y.shape == (10_000,) and len(problem.truth) == 1_006


def test_views_have_our_figures_and_the_papers(runs):
    _, _, outcomes = runs
    named = {f"ImCLEF07A: {m}": outcomes[k] for m, k in (("BSVM", "BSVM"), ("RR-SVM", "TD"))}
    both = gopal_views.figures(named, ["ImCLEF07A"], ["BSVM", "MLR"])
    assert [(c.ours is None, c.paper) for c in both] == [
        (False, 70.0), (False, 60.0), (True, 80.52), (True, 54.76),
    ]  # fmt: skip
    times = gopal_views.minutes(named, ["ImCLEF07A"], ["BSVM", "RR-SVM"])
    assert [(c.column, c.paper) for c in times] == [
        ("minutes", 0.15), ("minutes", 0.42), ("times the flat one", pytest.approx(2.8)),
    ]  # fmt: skip
    assert times[2].ours == pytest.approx(times[1].ours / times[0].ours)
    levels = gopal_views.levels(named, ["ImCLEF07A"])
    ours = [cell for cell in levels if cell.ours is not None]
    assert [c.row for c in ours[::4]] == [f"ImCLEF07A, RR-SVM: level {k}" for k in (1, 2, 3)]
    gain = named["ImCLEF07A: RR-SVM"].facts["levels"][0]["macro_f1"] - ours[0].ours
    assert ours[2].ours == pytest.approx(gain)
    assert [c.paper for c in levels[-4:]] == [13.06, 16.72, pytest.approx(3.66), 549]
    sizes = gopal_views.sizes(named, ["ImCLEF07A"])
    assert sizes[-4].row == "paper, DMOZ-2012: >100 rows"
    assert gopal_views.levels({}, ["ImCLEF07A"])[0].row == "paper, DMOZ-2012: level 1"


def test_a_method_that_fails_says_why():
    class Broken(FlatSVM):
        def fit(self, X, y):
            raise ValueError("no fit today")

    with pytest.raises(RuntimeError, match="no fit today"):
        outcome_of(Broken(TAX), toy())


def test_a_best_C_at_the_end_is_noted(monkeypatch):
    monkeypatch.setattr("studies.gopal_runs._load", lambda *_: toy())
    run = partial(run_published, Context(Path()), "toy", "TD", folds=2, intercept={},
                  paper=None, row="toy: TD")  # fmt: skip
    ends = run(Cs=(1e-6, 1e-5))
    assert isinstance(ends, Outcome)
    assert re.fullmatch(r"The best C of toy: TD is 1e-0[56], at the end .*", ends.notes[-1])


def test_each_setting_has_a_row(monkeypatch):
    monkeypatch.setattr("studies.gopal_runs._load", lambda *_: toy())
    kinds = {"none": {"fit_intercept": False}, "of size 3": {"intercept_scaling": 3.0}}
    paper = (70.0, 60.0)
    found = run_each_setting(Context(Path()), "toy", "BLR", (0.1, 1.0), kinds, paper, "toy: BLR")
    assert [(c.row, c.column, c.paper) for c in found.cells] == [
        (f"toy: BLR, intercept {kind}, C = {C}", column, figure)
        for kind in kinds
        for C in ("0.1", "1")
        for column, figure in (("micro F1", 70.0), ("macro F1", 60.0))
    ]
    alone = outcome_of(FlatLogistic(TAX, C=1.0, intercept_scaling=3.0, random_state=0), toy())
    assert found.cells[6].ours == alone.cells[0].ours


def test_methods_of_the_paper():
    tree = Taxonomy.from_edges([("A", "a0"), ("A", "a1"), ("B", "b0")])
    assert {*BASELINES} < {*TABLE_II}
    for entry in TABLE_II.values():
        for several in ({}, entry.several or {}):
            model = make(entry.method, tree, {**entry.parameters, **several})
            assert model.taxonomy is tree
