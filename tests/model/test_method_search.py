"""What `train` tries on the data itself: the plan, the choice, and what is told of it."""

import json

import numpy as np
import pytest

import linnaeus
from linnaeus.errors import UserError
from linnaeus.model import search as searching
from linnaeus.model import train
from linnaeus.model.candidates import LEAST, Candidate, Size, candidates, cost, plan
from linnaeus.model.search import _best, _finalists, thinned
from small_data import TREE, stories

SMALL = Size(1_000, 50_000, 5_000, 50, 60, several=True, tree=True)
LARGE = SMALL._replace(rows=500_000, values=100_000_000, classes=5_000, nodes=6_000)
FIRST = Candidate("logistic", {}, (None,))


@pytest.fixture(scope="module")
def chosen():
    return train(stories(), TREE)


# -- the plan -----------------------------------------------------------------------------


def test_the_list_has_the_baseline_and_the_recommended_method():
    found = candidates(SMALL, FIRST, {}, standard=False)
    assert found[0] == FIRST
    assert Candidate("svm", {"classes": "nodes"}, (0.1, 1.0, 10.0)) in found
    assert len({(c.method, str(c.parameters)) for c in found}) == len(found) <= 8
    one = candidates(SMALL._replace(several=False), Candidate("msvm", {}, (None,)), {}, False)
    assert {"svm", "msvm", "topdown"} <= {c.method for c in one}
    assert [c.method for c in one].count("msvm") == 1  # the path stands for the recommendation
    dag = candidates(SMALL._replace(several=False, tree=False), FIRST, {}, False)
    assert "hblr" not in {c.method for c in dag}


def test_what_is_fixed_is_not_searched():
    found = candidates(SMALL, FIRST, {"C": 3.0, "loss": "hinge"}, standard=False)
    assert {c.method for c in found} <= {"svm", "topdown"}  # which have such a loss
    assert all(c.Cs == (None,) and c.parameters["C"] == 3.0 for c in found)


def test_C_grows_with_the_columns_of_standardised_tables():
    narrow, wide = (
        candidates(SMALL._replace(columns=d), FIRST, {}, standard=True)[1].Cs for d in (10, 1_000)
    )
    assert narrow == (0.03, 0.3, 3.0) and wide == (3.0, 30.0, 300.0)


def test_a_plan_fits_its_budget():
    for size in (SMALL, LARGE):
        found = candidates(size, FIRST, {}, standard=False)
        for budget in (1e-9, 0.1, 1.0, 60.0, 1e9):
            made = plan(found, size, budget, folds=3)
            assert made.seconds <= budget
            assert list(made.candidates) == found[: len(made.candidates)]
            assert made.share == 1 or made.share * size.rows >= LEAST
    assert plan(found, SMALL, 1e9, 3)[1:3] == (1.0, 3)
    assert plan(found, LARGE, 1e-9, 3).candidates == ()


def test_more_work_costs_more():
    svm = Candidate("svm", {}, (1.0,))
    base = cost(svm, SMALL, 1.0, 1)
    assert cost(svm._replace(Cs=(0.1, 1.0)), SMALL, 1.0, 1) > base
    assert cost(svm, SMALL, 1.0, 3) > base > cost(svm, SMALL, 0.5, 1)
    assert cost(Candidate("hrls", {}, (1.0,)), SMALL._replace(rows=9_000), 1.0, 1) > 10


def test_thinned_splits_are_parts_of_the_splits():
    split = (np.arange(80), np.arange(80, 100))
    ((train_rows, test_rows),) = thinned([split], 0.25, seed=0)
    assert (train_rows.size, test_rows.size) == (20, 5)
    assert set(train_rows) <= set(split[0]) and set(test_rows) <= set(split[1])
    assert thinned([split], 1.0, 0) == [split]


# -- the choice ---------------------------------------------------------------------------


def row(method, value, splits=1, **parameters):
    return {"method": method, "parameters": parameters, "answered_f1": value, "splits": splits}


def test_of_equals_the_first_candidate_is_taken():
    order = [row("svm", 0, classes="nodes"), row("svm", 0), row("topdown", 0)]
    table = [row("topdown", 0.8), row("svm", 0.7995, C=1.0), row("svm", 0.79, C=1, classes="nodes")]
    assert _best(table, order)["parameters"] == {"C": 1.0}
    table = [row("topdown", 0.7, splits=3), row("svm", 0.9)]  # judged on fewer rows
    assert _best(table, order)["method"] == "topdown"


def test_the_finalists_are_of_two_kinds():
    same = [row("svm", 0.9 - 0.1 * i, C=float(i)) for i in range(3)]
    assert _finalists([*same, row("topdown", 0.1)]) == [*same[:2], row("topdown", 0.1)]
    assert _finalists(same) == same
    mixed = [same[0], row("topdown", 0.85), same[1]]
    assert _finalists(mixed) == mixed


def test_the_best_on_held_out_rows_is_taken_and_explained(chosen):
    about, told = chosen.about, chosen.about["search"]
    best = next(r for r in told["tried"] if r["splits"] == told["splits"])
    assert about["method"] in {r["method"] for r in told["tried"]}
    picked = next(
        r for r in told["tried"]
        if (r["method"], r["parameters"]) == (about["method"], about["parameters"])
    )  # fmt: skip
    assert picked["answered_f1"] >= 0.999 * best["answered_f1"]
    assert told["runner_up"] in about["why"] and "hierarchical F1" in about["why"]
    assert told["planned_seconds"] <= told["budget"] == 60 and not told["cut"]
    assert picked["hierarchical_f1"] >= picked["answered_f1"]
    json.dumps(about)


def test_a_seed_repeats_the_choice(chosen, tmp_path):
    again = train(stories(), TREE)
    assert again.about == chosen.about
    for name, model in (("a", chosen), ("b", again)):
        model.save(tmp_path / name)
    files = [p.name for p in (tmp_path / "a").iterdir() if p.name != "made.json"]
    assert all(
        (tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files
    )
    assert linnaeus.load(tmp_path / "a").about == chosen.about


def test_without_a_budget_the_recommendation_is_taken():
    model = train(stories(several=False), TREE, budget=0)
    assert model.about["method"] == "msvm" and "search" not in model.about
    assert "collections with one label a row" in model.about["why"]
    tight = train(stories(), TREE, budget=1e-9).about
    assert "nothing was tried on your data: 1e-09 s are too few" in tight["why"]
    assert set(tight["search"]["left_out"].values()) == {"over the budget"}
    few = train(stories(20), TREE)
    assert "search" not in few.about
    with pytest.raises(UserError, match=r"The budget is -1. Give seconds: 0 tries nothing"):
        train(stories(), TREE, budget=-1)


def test_an_overrun_cuts_and_says_so(monkeypatch):
    monkeypatch.setattr(searching, "GRACE", -1e9)
    about = train(stories(), TREE, budget=1).about
    assert about["search"]["cut"] and "cut short" in about["why"]
    assert {r["method"] for r in about["search"]["tried"]} == {"svm"}  # the first went through
    assert "the search took too long" in about["search"]["left_out"].values()


def test_choices_are_made_on_the_valid_part_and_it_is_learned_from():
    model = train(stories(40), TREE, "svm", valid=stories(20, seed=1))
    assert model.about["data"]["rows"] == 60
    assert model.held_out.rows.tolist() == list(range(40, 60))
    found = train(stories(40), TREE, valid=stories(20, seed=1)).about["search"]
    assert found["splits"] == 1 and {r["splits"] for r in found["tried"]} == {1}


def test_a_rule_asked_for_is_the_one_that_methods_are_judged_with():
    model = train(stories(), TREE, rule="rcut")
    assert {r["rule"] for r in model.about["search"]["tried"]} == {"rcut"} == {model.rule_name}
