"""Stored outcomes come back as they were; a stopped run goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linnaeus.errors import FormatError, UserError
from studies.packing import pack, unpack
from studies.results import Cell, Outcome, plain
from studies.running import reproduce
from studies.store import Store, as_text, digest
from studies.tables import Context, Table, Unit

ROOT = Path(__file__).resolve().parents[2]


def outcome(value=1.0):
    cells = [Cell("a", "b", np.float64(value), 0.1, 2.0), Cell("a", "c", None)]
    test = {"name": "t", "first": "x", "second": "y", "statistic": 1, "pvalue": np.float32(0.5)}
    return Outcome(cells, [test], {"levels": np.arange(3), "nan": float("nan")}, 2.5, ["a note"])


def table_of(*units, **more):
    common = {"title": "T", "source": "S", "protocol": "P", "unit_of_figures": "%", "digits": 1}
    return Table("try", units=units, why="W", minutes=1.0, **common, **more)


def run(table, tmp_path, data=None, **options):
    folder = data or tmp_path
    return reproduce([table.name], folder, tmp_path / "out", tables={table.name: table}, **options)


def test_outcomes_come_back(tmp_path):
    unit, context = Unit("u", (), lambda c: outcome()), Context(tmp_path)
    store = Store(tmp_path / "new")
    store.add(table_of(unit), unit, outcome(), context)
    back = store.outcomes("try")["u"]
    assert back.cells == [Cell("a", "b", 1.0, 0.1, 2.0), Cell("a", "c", None)]
    assert back.facts == {"levels": [0, 1, 2], "nan": None}
    assert (back.seconds, back.notes, back.tests[0]["pvalue"]) == (2.5, ["a note"], 0.5)
    assert Outcome.from_dict(back.to_dict()) == back
    assert store.tests("try") == back.tests


def test_units_that_a_table_has_no_more_are_dropped(tmp_path):
    store, context = Store(tmp_path), Context(tmp_path)
    old, new = (Unit(name, (), lambda c: outcome()) for name in ("old", "new"))
    store.add(table_of(old), old, outcome(), context)
    store.add(table_of(new), new, outcome(), context)
    assert list(store.outcomes("try")) == ["new"]


def test_several_may_add_at_once(tmp_path):
    units = tuple(Unit(f"u{i}", (), lambda c: outcome()) for i in range(40))
    store, table, context = Store(tmp_path), table_of(*units), Context(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda unit: store.add(table, unit, outcome(), context), units))
    assert list(store.outcomes("try")) == [unit.name for unit in units]


def test_record_says_how_it_was_made_and_nothing_about_the_host(tmp_path):
    unit = Unit("u", (), lambda c: outcome())
    Store(tmp_path).add(table_of(unit), unit, outcome(), Context(tmp_path, seed=7))
    text = (tmp_path / "try.json").read_text()
    record = json.loads(text)
    assert record["seed"] == 7 and set(record["machine"]) == {"cores"}
    assert {"python", "linnaeus", "numpy", "scikit-learn"} <= set(record["versions"])
    assert str(tmp_path) not in text and os.uname().nodename not in text


def test_text_is_json_and_short_entries_have_a_line(tmp_path):
    record = {"units": {"u": {"cells": [["a", "b", 1.0], ["c", "d", 2.0]], "x": [], "y": {}}}}
    text = as_text(record)
    assert json.loads(text) == record
    assert '["a", "b", 1.0]' in text.replace("\n", "")
    with pytest.raises(ValueError):
        as_text({"x": float("nan")})


def test_settings_and_seed_are_in_the_digest(tmp_path):
    def of(settings, **context):
        return digest(Unit("u", (), outcome, settings), Context(tmp_path, **context))

    base = of({"Cs": (1, 2)})
    assert base == of({"Cs": [1, 2]}, jobs=4)
    others = {of({"Cs": (1,)}), of({"Cs": (1, 2)}, seed=1), of({"Cs": (1, 2)}, quick=True)}
    assert len(others | {base}) == 4


def test_a_unit_is_run_once_and_again_when_settings_change(tmp_path):
    calls = []

    def work(context):
        calls.append(context.seed)
        return outcome()

    table = table_of(Unit("u", (), work), Unit("v", (), work))
    assert [done.state for done in run(table, tmp_path)] == ["run", "run"]
    assert [done.state for done in run(table, tmp_path)] == ["stored", "stored"]
    changed = table_of(Unit("u", (), work, {"folds": 3}), Unit("v", (), work))
    assert [done.state for done in run(changed, tmp_path)] == ["run", "stored"]
    assert [done.state for done in run(changed, tmp_path, seed=1)] == ["run", "run"]
    assert [done.state for done in run(changed, tmp_path, seed=1, fresh=True)] == ["run", "run"]
    assert len(calls) == 7


def test_missing_data_and_failures_do_not_stop_the_others(tmp_path):
    def fail(context):
        raise RuntimeError("no luck")

    units = [Unit("gone", ("nowhere",), outcome), Unit("bad", (), fail)]
    found = run(table_of(*units, Unit("good", (), lambda c: outcome())), tmp_path)
    assert [done.state for done in found] == ["missing", "failed", "run"]
    assert "nowhere" in found[0].reason and found[1].reason == "RuntimeError: no luck"
    assert list(Store(tmp_path / "out").outcomes("try")) == ["good"]


def test_cpu_time_and_fits_that_did_not_converge_are_recorded(tmp_path):
    def work(context):
        warnings.warn("too few passes", ConvergenceWarning, stacklevel=1)
        context.step("fold", 1, 2)
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return Outcome()

    told = []
    run(table_of(Unit("u", (), work)), tmp_path, step=lambda *what: told.append(what))
    kept = Store(tmp_path / "out").outcomes("try")["u"]
    assert kept.seconds >= 0.05
    assert kept.notes == ["u: 1 fits stopped before they converged."]
    assert told == [("try: u", 0, 1), ("try: u, fold 1/2", 0, 1), ("", 1, 1)]


def test_views_run_the_table_they_show_and_patterns_choose_units(tmp_path):
    base = table_of(Unit("a x", (), lambda c: outcome()), Unit("b x", (), lambda c: outcome()))
    view = Table("view", "", "", "", "", 1, (), "", 0.0, of="try", view=lambda outcomes: [])
    tables = {"try": base, "view": view}
    out = tmp_path / "out"
    assert [d.unit for d in reproduce(["view", "try"], tmp_path, out, tables=tables)] == [
        "a x", "b x",
    ]  # fmt: skip
    found = reproduce(None, tmp_path, out, tables=tables, units=["b*"], fresh=True)
    assert [(d.table, d.unit, d.state) for d in found] == [("try", "b x", "run")]
    assert set(Store(out).outcomes("try")) == {"a x", "b x"}  # the others are kept


def test_tests_between_units_are_stored(tmp_path):
    table = table_of(
        Unit("u", (), lambda c: outcome()),
        Unit("v", (), lambda c: outcome()),
        tests_of=lambda outcomes: [{"name": "between", "n": len(outcomes)}],
    )
    run(table, tmp_path)
    assert Store(tmp_path / "out").tests("try")[-1] == {"name": "between", "n": 2}


def test_mistakes_are_named(tmp_path):
    table = table_of()
    with pytest.raises(UserError, match=r"There is no table 'tri' \(did you mean 'try'\?\)"):
        reproduce(["tri"], tmp_path, tmp_path, tables={"try": table})
    with pytest.raises(UserError, match="There is no folder .*nowhere with collections"):
        run(table, tmp_path, tmp_path / "nowhere")
    (tmp_path / "try.json").write_text("{}")
    with pytest.raises(FormatError, match="not a record of the table try. Remove it"):
        Store(tmp_path).outcomes("try")


KILLED = """
import sys, time
from pathlib import Path
from studies.results import Outcome
from studies.running import reproduce
from studies.tables import Table, Unit

def quick(context):
    return Outcome(notes=["kept"])

def slow(context):
    print("slow", flush=True)
    time.sleep(60)

units = (Unit("first", (), quick), Unit("second", (), slow))
table = Table("try", "", "", "", "", 1, units, "", 0.0)
reproduce(["try"], sys.argv[1], sys.argv[1], tables={"try": table})
"""


@pytest.mark.faults
def test_a_killed_run_keeps_what_was_done(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "slow\n"
        process.send_signal(signal.SIGKILL)
    table = table_of(Unit("first", (), outcome), Unit("second", (), lambda c: outcome()))
    found = reproduce(["try"], tmp_path, tmp_path, tables={"try": table})
    assert [done.state for done in found] == ["stored", "run"]
    assert Store(tmp_path).outcomes("try")["first"].notes == ["kept"]
    assert [path.name for path in tmp_path.iterdir()] == ["try.json"]


@pytest.mark.parametrize("numbers", [[], [0], [0, 1, 2], [5, 10**9, 3 * 10**9]])
def test_packed_numbers_come_back(numbers):
    assert unpack(pack(numbers)).tolist() == numbers


def test_plain_values():
    assert plain({1: (np.int64(2), np.nan, {"a": np.array([1.5])})}) == {
        "1": [2, None, {"a": [1.5]}]
    }
    assert isinstance(plain(np.bool_(True)), bool)
