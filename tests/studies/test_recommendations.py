"""Which method is recommended, from which evidence."""

import json
from datetime import date
from importlib.resources import files

import pytest

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model import choose_method, kind_of, unsuited
from linnaeus.model.methods import INFO, METHODS
from linnaeus.model.recommendations import advise, recommendations
from linnaeus.synthetic import newsroom
from linnaeus.taxonomy import Taxonomy
from studies.matrix import NAME, results
from studies.rankings import rankings
from studies.recommend import cells, recommend, write
from studies.store import Store

SIX = ("news20", "rcv1-ccat", "cellcycle_GO", "Enron", "enzyme", "clinc150")
FEW = {"several": False, "tree": True, "rows": 100, "classes": 10}


def facts(collection, method, micro_f1, seconds=1.0, **data):
    """What a unit stores; None for a method that did not finish."""
    found = {"collection": collection, "method": method, "data": FEW | data}
    if micro_f1 is None:
        return found | {"reason": "over the limit"}
    figures = {"micro_f1": micro_f1}
    return found | {"figures": figures, "costs": {"train_seconds": seconds}}


def study(table, **data):
    """{collection: {method: micro F1}} with the same data everywhere."""
    return [facts(c, m, v, **data) for c, row in table.items() for m, v in row.items()]


SEVERAL = study(
    {"s": {"svm": 0.9, "logistic": 0.8, "topdown": 0.7},
     "t": {"svm": 0.9, "logistic": 0.8, "topdown": 0.7}},
    several=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def stored(request):
    return Store(request.config.rootpath / "studies" / "records")


def test_the_best_mean_rank_is_recommended():
    one = study({
        "a": {"svm": 0.5, "msvm": 0.6, "mlr": 0.4},
        "b": {"svm": 0.5, "msvm": 0.6, "mlr": 0.9},
        "c": {"svm": 0.5, "msvm": 0.6, "mlr": 0.4},
    })  # fmt: skip
    found = recommend(one + SEVERAL)
    assert found["general"]["one"] == {
        "method": "msvm", "rank": round(4 / 3, 4), "of": 3, "train_seconds": 1.0,
        "collections": ["a", "b", "c"],
    }  # fmt: skip
    assert found["general"]["several"]["method"] == "svm"
    assert [g["method"] for g in found["groups"] if g["labels"] == "one"] == ["msvm"]


def test_one_that_did_not_finish_somewhere_is_not_recommended():
    one = study({
        "a": {"svm": 0.5, "msvm": 0.4, "mlr": 0.3},
        "b": {"svm": None, "msvm": 0.4, "mlr": 0.3},
        "c": {"svm": 0.5, "msvm": 0.4, "mlr": 0.3},
    })  # fmt: skip
    assert recommend(one + SEVERAL)["general"]["one"]["method"] == "msvm"


def test_one_that_was_not_run_everywhere_is_not_recommended():
    """hieron was run on a and b only: it wins there, and nothing is known about c."""
    one = study({c: {"svm": 0.5, "msvm": 0.4, "mlr": 0.3, "hieron": 0.9} for c in "ab"})
    one += study({"c": {"svm": 0.5, "msvm": 0.4, "mlr": 0.3}}, rows=50_000)
    found = recommend(one + SEVERAL)
    assert [g["method"] for g in found["groups"] if g["labels"] == "one"] == ["svm"]


def test_ties_go_to_the_faster():
    one = [
        facts(c, m, 0.5, seconds)
        for c in "ab"
        for m, seconds in (("svm", 3.0), ("msvm", 2.0), ("mlr", 4.0))
    ]
    assert recommend(one + SEVERAL)["general"]["one"]["method"] == "msvm"


def test_a_single_collection_is_no_evidence():
    """Collection c alone has many rows: its winner is not recommended for many rows."""
    one = study({c: {"svm": 0.5, "msvm": 0.6, "mlr": 0.4} for c in "ab"})
    one += study({"c": {"svm": 0.9, "msvm": 0.1, "mlr": 0.2}}, rows=50_000)
    found = recommend(one + SEVERAL)
    assert [g["rows"] for g in found["groups"] if g["labels"] == "one"] == ["few"]
    many = advise(kind_of(False, True, 50_000, 10), found)
    assert many.method == found["general"]["one"]["method"]
    assert many.why.endswith("on 3 collections with one label a row")
    assert advise(kind_of(False, True, 500, 10), found).why == (
        "best mean rank in micro F1, 1.0, on 2 collections like this (one label a row, a tree, "
        "few rows, few classes)"
    )


def test_trees_and_dags_are_taken_together_where_there_are_few():
    """One tree and one DAG with many classes: together they speak for logistic, not hm3."""
    values = {"svm": 0.1, "logistic": 0.2, "topdown": 0.05}
    wide = study({"u": values | {"hm3": 0.9}}, several=True, classes=999)
    wide += study({"v": values}, several=True, classes=999, tree=False)
    one = study({c: {"svm": 0.5, "msvm": 0.6, "mlr": 0.4} for c in "ab"})
    found = recommend(one + SEVERAL + wide)
    assert advise(kind_of(True, True, 100, 10), found).method == "svm"
    for tree in (True, False):
        advice = advise(kind_of(True, tree, 100, 999), found)
        assert advice.method == "logistic"
        assert "on 2 collections like this (several labels a row, any taxonomy" in advice.why
    assert [g["shape"] for g in found["groups"]] == ["tree", "tree", "any"]


def test_the_general_recommendation_takes_any_taxonomy():
    one = study({c: {"hblr": 0.9, "msvm": 0.6, "mlr": 0.4} for c in "ab"})
    found = recommend(one + SEVERAL)
    assert found["general"]["one"]["method"] == "msvm"  # hblr takes trees only
    assert advise(kind_of(False, True, 100, 10), found).method == "hblr"
    assert advise(kind_of(False, False, 100, 10), found).method == "msvm"


def test_too_few_results_are_refused(tmp_path):
    with pytest.raises(UserError, match="too few results with one label.*python -m studies run"):
        write(Store(tmp_path), tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


def test_methods_that_do_not_apply_are_left_out_of_a_group():
    one = study({c: {"svm": 0.5, "mlr": 0.6, "rr-lr": 0.1} for c in "ab"})
    several = [
        *study({c: {"svm": 0.5, "topdown": 0.6, "rr-lr": 0.7, "hm3": 0.9} for c in "st"},
               several=True),
        *study({"u": {"svm": 0.5, "topdown": 0.6, "rr-lr": 0.7}}, several=True, tree=False),
        facts("u", "hm3", None, several=True, tree=False) | {"unsuited": "nodes have two parents"},
    ]  # fmt: skip
    found = {ranking.name: ranking for ranking in rankings(one + several)}
    assert set(found["several labels"].methods) == {"svm", "topdown", "rr-lr"}
    assert found["several labels, trees"].methods[0] == "hm3"
    assert found["several labels"].collections == ("s", "t", "u")


def test_the_table_of_recommendations():
    one = study({c: {"svm": 0.5, "msvm": 0.6, "mlr": 0.4} for c in "ab"})
    found = cells(one + SEVERAL)
    assert [(c.row, c.column, c.ours) for c in found[:4]] == [
        ("all with one label a row: msvm", "mean rank", 1.0),
        ("all with one label a row: msvm", "of so many methods", 3),
        ("all with one label a row: msvm", "CPU s to train", 1.0),
        ("all with one label a row: msvm", "collections", 2),
    ]
    assert found[-1].row == "several labels a row, a tree, few rows, few classes: svm"
    assert cells(one) == []


# -- what is stored ------------------------------------------------------------------------


def test_the_recommendations_are_made_from_the_stored_matrix(stored, tmp_path):
    """The file of the package: made again it stays as it is, the day it was made included."""
    again, kept = tmp_path / "again.json", files("linnaeus").joinpath("recommendations.json")
    again.write_bytes(kept.read_bytes())
    write(stored, again)
    assert again.read_bytes() == kept.read_bytes()
    again.unlink()
    write(stored, again)
    old, new = json.loads(kept.read_text()), json.loads(again.read_text())
    assert date.fromisoformat(old.pop("made")) <= date.fromisoformat(new.pop("made"))
    assert new == old


def test_recommendations_say_where_they_are_from(stored, request):
    told = recommendations()["from"]
    assert request.config.rootpath / told["records"] == stored.path(NAME)
    assert told["results"] == len(stored.outcomes(NAME))
    assert told["command"].startswith("python -m studies recommend -o ")


def test_other_results_get_a_day_of_their_own(stored, tmp_path):
    file = tmp_path / "found.json"
    write(stored, file)
    text = file.read_text()
    today = json.loads(text)["made"]
    file.write_text(text.replace(today, "2001-01-01"))
    write(stored, file)
    assert json.loads(file.read_text())["made"] == "2001-01-01"
    file.write_text(text.replace(today, "2001-01-01").replace('"results": 141', '"results": 140'))
    write(stored, file)
    assert json.loads(file.read_text())["made"] >= today


def test_every_kind_of_data_gets_a_method_that_takes_it():
    for several in (False, True):
        for tree in (False, True):
            for rows in (10, 100_000):
                for classes in (5, 5_000):
                    method = advise(kind_of(several, tree, rows, classes)).method
                    assert method in METHODS and not unsuited(method, several, tree)


@pytest.mark.parametrize("collection", SIX)
def test_the_default_is_within_two_points_of_the_best_method(stored, collection):
    own = [f for f in results(stored.outcomes(NAME)) if f["collection"] == collection]
    done = {f["method"]: 100 * f["figures"]["micro_f1"] for f in own if "figures" in f}
    data = own[0]["data"]
    chosen = advise(kind_of(data["several"], data["tree"], data["rows"], data["classes"]))
    assert max(done.values()) - done[chosen.method] <= 2.0, done


def test_train_says_what_speaks_for_its_choice():
    news = newsroom(60, 5, random_state=0)
    several = any(len(labels) != 1 for labels in news.train.labels)
    choice = choose_method(None, news.train, news.taxonomy, several)
    assert choice.why.startswith("best mean rank in micro F1, ")
    assert choice.method in METHODS
    assert choose_method("svm", news.train, news.taxonomy, several).why == "because you chose it"


def test_one_label_on_a_dag_falls_back_to_the_general_choice():
    taxonomy = Taxonomy.from_edges([("a", "c"), ("b", "c"), ("a", "d")])
    part = Part([["c"], ["d"]], ["1", "2"], texts=["x", "y"])
    choice = choose_method(None, part, taxonomy, False)
    assert choice.method == recommendations()["general"]["one"]["method"]
    assert INFO[choice.method].dag
    assert "collections with one label a row" in choice.why


def test_methods_lists_ranks(linnaeus):
    code, out, _ = linnaeus("methods", "--json")
    rows = {row["method"]: row for row in json.loads(out)}
    assert code == 0 and set(rows) == set(METHODS)
    ranks = recommendations()["ranks"]
    for name, row in rows.items():
        expected = {k: t["methods"][name]["rank"] for k, t in ranks.items() if name in t["methods"]}
        assert row["rank"] == expected
    code, out, _ = linnaeus("methods")
    assert code == 0 and "1 is best" in out
