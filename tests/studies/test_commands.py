"""``python -m studies`` as its users see it, by text and by JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from studies import commands, registry
from studies.__main__ import main
from studies.results import Cell, Outcome
from studies.tables import Table, Unit

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "studies" / "schemas"


@pytest.fixture
def studies(capsys):
    """Run a command; standard output, or with `fails` the message of an error."""

    def call(*arguments, fails=False):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert (stop.value.code or 0) == (1 if fails else 0), err
        assert "Traceback" not in err
        return " ".join(err.split()) if fails else out

    return call


def check(name, value):
    """The value fits its schema."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(value)
    return value


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


def test_run_runs_stores_and_says_what_is_missing(studies, small, data, tmp_path):
    out = tmp_path / "results"
    first = studies("run", "--data", data, "--out", out)
    assert "1 run in 0 CPU s, 0 stored before" in first
    assert "t-1: 1 run left out: gone not in data" in first
    again = json.loads(studies("run", "-d", data, "-o", out, "-t", "t-2", "--json"))
    assert [(d["unit"], d["state"]) for d in again] == [
        ("here: m", "stored"), ("gone: m", "missing"),
    ]  # fmt: skip
    fresh = studies("run", "-d", data, "-o", out, "--fresh", "-u", "here*", "--seed", 1)
    assert "1 run" in fresh and json.loads((out / "t-1.json").read_text())["seed"] == 1


def test_nothing_to_run_is_an_error(studies, small, data, tmp_path):
    found = studies("run", "--data", data, "--out", tmp_path, "--unit", "gone*", fails=True)
    assert "Nothing could be run; the reasons are above." in found
    wrong = studies("run", "--data", data, "--table", "t-3", fails=True)
    assert "There is no table 't-3' (did you mean" in wrong


def test_tables_are_listed_with_minutes_and_state(studies, small, data, tmp_path):
    studies("run", "--data", data, "--out", tmp_path / "r")
    shown = studies("tables", "--results", tmp_path / "r")
    assert "t-1" in shown and "A title" in shown and "1 of 2 (t-1)" in shown and "3.0" in shown
    listed = json.loads(studies("tables", "-r", tmp_path / "r", "--json"))
    assert [(t["name"], t["done"], t["units"]) for t in listed] == [("t-1", 1, 2), ("t-2", 1, 2)]


def test_document_and_claims(studies, data, tmp_path):
    (tmp_path / "r").mkdir()
    page = tmp_path / "page.md"
    assert "The page is in" in studies("document", "-r", tmp_path / "r", "-o", page)
    assert page.read_text().startswith("# The papers' tables, reproduced")
    claims = json.loads(studies("claims", "-r", tmp_path / "r", "--json"))
    assert {claim["holds"] for claim in claims} == {"no data"}
    assert "no data" in studies("claims", "-r", tmp_path / "r")
    missing = studies("document", "-r", tmp_path / "nowhere", "-o", page, fails=True)
    assert "There is no folder" in missing and "python -m studies run" in missing


def test_all_tables_are_known(studies, tmp_path):
    names = {table["name"] for table in json.loads(studies("tables", "-r", tmp_path, "--json"))}
    assert {"gopal-2", "gopal-3", "gopal-4", "gopal-6", "gopal-7", "gopal-8", "gopal-9"} <= names
    assert {f"cai-7.{n}" for n in (5, 10, 13, 15, 18, 19, 20, 21, 24)} <= names
    assert {"rousu-1", "rousu-2", "rousu-3", "matrix"} <= names


def test_json_fits_its_schema(studies, small, data, tmp_path):
    out = tmp_path / "r"
    done = check("run", json.loads(studies("run", "-d", data, "-o", out, "--json")))
    assert [d["state"] for d in done] == ["run", "missing"]
    check("record", json.loads((out / "t-1.json").read_text()))
    for command in ("tables", "claims"):
        check(command, json.loads(studies(command, "-r", out, "--json")))
    page = json.loads(studies("document", "-r", out, "-o", tmp_path / "page.md", "--json"))
    check("document", page)


def test_stored_records_fit_theirs():
    records = sorted(commands.RECORDS.glob("*.json"))
    assert len(records) == 18
    for path in records:
        check("record", json.loads(path.read_text()))


def test_recommend(studies, tmp_path):
    found = json.loads(studies("recommend", "-o", tmp_path / "found.json", "--json"))
    assert json.loads((tmp_path / check("recommend", found)["recommendations"]).read_text())["made"]
    assert "There is no folder" in studies("recommend", "-o", tmp_path / "no" / "x", fails=True)


@pytest.mark.parametrize("command", ["document", "recommend"])
def test_where_to_write_must_be_said(studies, command):
    assert "Missing option" in studies(command, fails=True)


def test_pictures_go_beside_the_records(studies, tmp_path, monkeypatch):
    """A page elsewhere shows the pictures of its own records, and no others are touched."""
    records, page = tmp_path / "mine", tmp_path / "pages" / "mine.md"
    for folder in (records, page.parent):
        folder.mkdir()
    stored = commands.RECORDS / "rousu-fig2.json"
    (records / stored.name).write_bytes(stored.read_bytes())
    kept = {p: p.stat().st_mtime_ns for p in (commands.RECORDS / "pictures").iterdir()}
    studies("document", "-r", records, "-o", page)
    assert "](../mine/pictures/rousu-fig2.svg)" in page.read_text()
    drawn = (records / "pictures" / "rousu-fig2.svg").read_bytes()
    assert drawn == (commands.RECORDS / "pictures" / "rousu-fig2.svg").read_bytes()
    assert {p: p.stat().st_mtime_ns for p in kept} == kept


@pytest.mark.slow
def test_the_command_has_help():
    told = subprocess.run(
        [sys.executable, "-m", "studies", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert told.returncode == 0
    for command in ("run", "tables", "claims", "document", "recommend"):
        assert f" {command} " in told.stdout
