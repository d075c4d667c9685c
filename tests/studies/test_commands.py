"""``linnaeus bench`` as its users see it."""

import json

import pytest

from studies import registry
from studies.results import Cell, Outcome
from studies.tables import Table, Unit


@pytest.fixture
def bench(linnaeus):
    """Run linnaeus bench; standard output, or with `fails` the message of an error."""

    def call(*arguments, fails=False):
        code, out, err = linnaeus("bench", *arguments)
        assert code == (1 if fails else 0), err
        assert "Traceback" not in err
        return " ".join(err.split()) if fails else out

    return call


@pytest.fixture
def small(monkeypatch):
    """A table that takes no time in place of the others."""
    units = (
        Unit("here: m", ("here",), lambda c: Outcome([Cell("here", "F1", 50.0, 1.0, 49.0)])),
        Unit("gone: m", ("gone",), Outcome),
    )
    table = Table("t-1", "A title", "[P] Table 1", "Folds.", "%", 1, units, "Noise.", 3.0)
    view = Table("t-2", "Times", "[P]", "", "s", 1, (), "", 0.0, of="t-1", view=lambda o: [])
    monkeypatch.setattr(registry, "TABLES", {"t-1": table, "t-2": view})


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    (folder / "here").mkdir(parents=True)
    return folder


def test_reproduce_runs_stores_and_says_what_is_missing(bench, small, data, tmp_path):
    out = tmp_path / "results"
    first = bench("reproduce", "--data", data, "--out", out)
    assert "1 run in 0 CPU s, 0 stored before" in first
    assert "t-1: 1 run left out: gone not in data" in first
    again = json.loads(bench("reproduce", "-d", data, "-o", out, "-t", "t-2", "--json"))
    assert [(d["unit"], d["state"]) for d in again] == [
        ("here: m", "stored"), ("gone: m", "missing"),
    ]  # fmt: skip
    fresh = bench("reproduce", "-d", data, "-o", out, "--fresh", "-u", "here*", "--seed", 1)
    assert "1 run" in fresh and json.loads((out / "t-1.json").read_text())["seed"] == 1


def test_nothing_to_run_is_an_error(bench, small, data, tmp_path):
    found = bench("reproduce", "--data", data, "--out", tmp_path, "--unit", "gone*", fails=True)
    assert "Nothing could be run; the reasons are above." in found
    wrong = bench("reproduce", "--data", data, "--table", "t-3", fails=True)
    assert "There is no table 't-3' (did you mean" in wrong


def test_tables_are_listed_with_minutes_and_state(bench, small, data, tmp_path):
    bench("reproduce", "--data", data, "--out", tmp_path / "r")
    shown = bench("tables", "--results", tmp_path / "r")
    assert "t-1" in shown and "A title" in shown and "1 of 2 (t-1)" in shown and "3.0" in shown
    listed = json.loads(bench("tables", "-r", tmp_path / "r", "--json"))
    assert [(t["name"], t["done"], t["units"]) for t in listed] == [("t-1", 1, 2), ("t-2", 1, 2)]


def test_document_and_claims(bench, data, tmp_path):
    (tmp_path / "r").mkdir()
    page = tmp_path / "page.md"
    assert "The page is in" in bench("document", "-r", tmp_path / "r", "-o", page)
    assert page.read_text().startswith("# The papers' tables, reproduced")
    claims = json.loads(bench("claims", "-r", tmp_path / "r", "--json"))
    assert {claim["holds"] for claim in claims} == {"no data"}
    assert "no data" in bench("claims", "-r", tmp_path / "r")
    missing = bench("document", "-r", tmp_path / "nowhere", "-o", page, fails=True)
    assert "There is no folder" in missing and "linnaeus bench reproduce" in missing


def test_all_tables_are_known(bench, tmp_path):
    names = {table["name"] for table in json.loads(bench("tables", "-r", tmp_path, "--json"))}
    assert {"gopal-2", "gopal-3", "gopal-4", "gopal-6", "gopal-7", "gopal-8", "gopal-9"} <= names
    assert {f"cai-7.{n}" for n in (5, 10, 13, 15, 18, 19, 20, 21, 24)} <= names
    assert {"rousu-1", "rousu-2", "rousu-3", "matrix"} <= names
