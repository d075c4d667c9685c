"""All methods on all collections: processes with limits, records, and what is stored."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linnaeus.io import write_collection
from linnaeus.io.collection import Collection, Part
from linnaeus.model.methods import METHODS
from linnaeus.synthetic import newsroom
from linnaeus.taxonomy import Taxonomy
from studies import matrix
from studies.matrix import COLLECTIONS, MEASURES, TABLES, results, unit_name
from studies.running import reproduce
from studies.store import Store
from studies.tables import Context
from studies.trial import CPU_TIME, described, ended, narrowed, run, sampled, trial


@pytest.fixture(scope="module")
def news():
    return newsroom(200, 60, random_state=0)


@pytest.fixture
def folder(news, tmp_path):
    write_collection(news, tmp_path)
    return tmp_path


@pytest.fixture
def stored(request):
    return Store(request.config.rootpath / "studies" / "records")


def test_every_method_meets_every_collection():
    units = TABLES[0].units
    assert len({unit.name for unit in units}) == len(METHODS) * len(COLLECTIONS) == 150
    assert all(unit.needs == (unit.name.split()[0],) for unit in units)
    assert [table.of for table in TABLES] == ["", *["matrix"] * len(MEASURES)]


@pytest.mark.slow
def test_a_process_gives_what_the_method_gives(news, folder):
    found = trial(folder, "svm", limit=120)
    here = run(news, "svm")
    assert found["figures"] == pytest.approx(here["figures"])
    assert found["rule"] == here["rule"] and found["seconds"] > 0
    assert set(found["errors"]) == set(found["figures"])
    assert found["costs"]["train_seconds"] > 0 and found["costs"]["model_bytes"] > 0


@pytest.mark.skipif(not CPU_TIME, reason="the system has no limit on CPU time")
def test_a_process_is_stopped_at_its_limit(tmp_path):
    rng = np.random.default_rng(0)
    part = Part([[f"c{i % 5}"] for i in range(500)], list(map(str, range(500))),
                X=rng.normal(size=(500, 40)))  # fmt: skip
    taxonomy = Taxonomy.flat([f"c{j}" for j in range(5)])
    write_collection(Collection(taxonomy, part, test=part), tmp_path)
    found = trial(tmp_path, "corrmnl", limit=1)
    assert found == {"reason": "over the limit of 1 CPU seconds", "seconds": 1.0}


def test_a_process_that_goes_wrong_says_why(tmp_path):
    found = trial(tmp_path / "nowhere", "svm", limit=60)
    assert found["reason"].startswith("failed: UserError: ")
    assert "nowhere" in found["reason"]
    assert ended(-signal.SIGINT, 5)["reason"] == "failed: the process ended with code -2"


def test_what_does_not_apply_is_not_run(tmp_path, monkeypatch):
    taxonomy = Taxonomy.flat(["a", "b", "c"])
    part = Part([["a"], ["b", "c"]], ["1", "2"], texts=["x", "y"])
    (tmp_path / "Enron").mkdir()
    write_collection(Collection(taxonomy, part, test=part), tmp_path / "Enron")
    monkeypatch.setattr(matrix, "trial", None)
    unit = next(u for u in TABLES[0].units if u.name == unit_name("Enron", "msvm"))
    outcome = unit.run(Context(tmp_path))
    assert outcome.cells == [("msvm", "Enron", None, None, None)]
    assert outcome.notes == [
        "Does not apply: rows have several labels or none, and msvm takes one a row."
    ]


def test_few_rows_are_drawn_by_the_seed(news):
    few = sampled(news, 30, seed=1)
    assert len(few.train) == len(few.test) == 30
    assert few.train.ids == sampled(news, 30, seed=1).train.ids
    assert few.train.ids != sampled(news, 30, seed=2).train.ids
    assert described(few)["rows"] == 30


def test_very_wide_tables_keep_the_columns_that_training_fills():
    def part(columns, width, id_):
        X = sp.csr_array((np.ones(len(columns)), (np.zeros(len(columns), int), columns)),
                         shape=(1, width))  # fmt: skip
        return Part([["a"]], [id_], X=X)

    wide = Collection(
        Taxonomy.flat(["a"]), part([5, 150_000], 200_000, "1"), test=part([5, 7], 9, "2")
    )
    found = narrowed(wide)
    assert found.train.X.toarray().tolist() == [[1, 1]]
    assert found.test.X.toarray().tolist() == [[1, 0]]
    narrow = Collection(Taxonomy.flat(["a"]), part([5], 9, "1"), test=part([5], 9, "2"))
    assert narrowed(narrow) is narrow


def test_units_are_stored_and_shown(news, tmp_path):
    """A collection under the name of one of the matrix, two methods, all tables."""
    data, out = tmp_path / "data", tmp_path / "out"
    (data / "Enron").mkdir(parents=True)
    write_collection(news, data / "Enron")
    tables = {table.name: table for table in TABLES}
    matrix._described.cache_clear()
    wanted = ["Enron topdown", "Enron perceptron"]
    done = reproduce(["matrix"], data, out, units=wanted, quick=True, tables=tables)
    assert [d.state for d in done] == ["run", "run"]
    outcomes = Store(out).outcomes("matrix")
    for measure, table in zip(MEASURES, TABLES, strict=False):
        cells = table.cells(outcomes)
        assert [(c.row, c.column) for c in cells] == [("topdown", "Enron"), ("perceptron", "Enron")]
        assert all(c.ours is not None and c.ours >= 0 for c in cells), measure.key
    assert all(c.error is not None for c in TABLES[0].cells(outcomes))
    again = reproduce(["matrix"], data, out, units=wanted, quick=True, tables=tables)
    assert [d.state for d in again] == ["stored", "stored"]
    matrix._described.cache_clear()


# -- what is stored ------------------------------------------------------------------------


def test_every_stored_unit_has_figures_or_a_reason(stored):
    found = results(stored.outcomes("matrix"))
    assert found
    for facts in found:
        assert len({"figures", "reason", "unsuited"} & set(facts)) == 1, facts


# not where the rule is scut: those records are older than thresholds that shrink
@pytest.mark.parametrize("method", ["svm", "topdown"])
def test_a_stored_figure_comes_out_again(stored, shared, method):
    unit = next(u for u in TABLES[0].units if u.name == unit_name("Enron", method))
    matrix._described.cache_clear()
    outcome = unit.run(Context(shared("data")))
    kept = stored.outcomes("matrix")[unit.name]
    tolerance = {key: error / 2 for key, error in kept.facts["errors"].items()}
    for key, value in kept.facts["figures"].items():
        assert_allclose(outcome.facts["figures"][key], value, atol=tolerance[key])
    assert outcome.facts["rule"] == kept.facts["rule"]
