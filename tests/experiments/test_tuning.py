"""The search as a whole: the same for any number of jobs, and resumed after any end."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linnaeus import load
from linnaeus.errors import UserError
from linnaeus.experiments import search as work
from linnaeus.experiments import tune
from linnaeus.io.collection import Part
from linnaeus.model import train
from linnaeus.synthetic import newsroom

NEWS = newsroom(120, 1)
GRID = {
    "C": [0.1, 1, 10],
    "loss": ["hinge", "squared_hinge"],
    "rule": ["zero", "instance"],
    "features.min_df": [1, 2],
}
UNITS, FITS = 9, 27  # at most


def search(grid=GRID, **more):
    return tune(NEWS.train, NEWS.taxonomy, "svm", grid=grid, with_model=False, **more)


def plain(found):
    """The table without what a clock says."""
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found.table]


@pytest.fixture(scope="module")
def whole():
    return search()


@pytest.mark.slow
def test_the_table_is_the_same_for_any_number_of_jobs(whole):
    assert plain(search(jobs=3)) == plain(whole)


def test_the_best_is_the_first_and_the_highest(whole):
    means = [row["mean"] for row in whole.table]
    assert whole.best is whole.table[0] and whole.best["mean"] == max(means)
    assert means == sorted(means, reverse=True)
    for before, after in zip(whole.table, whole.table[1:], strict=False):
        if before["mean"] == after["mean"] and before["features"] == after["features"]:
            assert before["rule"] != after["rule"] or before["C"] <= after["C"]
    assert FITS - 3 <= whole.fits <= FITS  # one setting may be seen not to get better
    assert len(whole.table) == 2 * whole.fits / 3


def test_the_default_is_what_train_takes(whole):
    assert whole.default["features"] == {} and whole.default["C"] == 1.0
    assert whole.default["parameters"] == {"loss": "squared_hinge"}
    assert whole.default["mean"] <= whole.best["mean"]
    assert search({"C": [7]}).default is None


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["macro_f1", "hierarchical_f1"])
def test_another_metric_decides(whole, metric):
    found = search(metric=metric, exhaustive=True)
    assert all(row["mean"] == row[metric] for row in found.table)
    assert found.best["mean"] == max(row[metric] for row in found.table)
    assert len(found.table) == 24
    with pytest.raises(UserError, match=r"'micro' is not known .*did you mean 'micro_f1'"):
        search(metric="micro")


def test_progress_tells_the_best_and_ends_at_the_total():
    told, notes = [], []
    search(step=lambda *at: told.append(at), note=notes.append)
    assert notes == [f"Tuning svm on words features, 3 folds: up to {FITS} fits in {UNITS} "
                     f"units of work."]  # fmt: skip
    counts = [done for _, done, _ in told]
    assert counts == sorted(counts) and told[-1][1:] == (UNITS, UNITS)
    assert told[-1][0].startswith("best micro-F1 .") and "loss=" in told[-1][0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_loses_nothing_that_was_done(tmp_path, whole, monkeypatch, jobs):
    path = tmp_path / "journal"

    def interrupt(what, done, total):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(journal=path, step=interrupt, jobs=jobs)
    before = len(path.read_text().splitlines()) - 1
    fits, notes = [], []
    monkeypatch.setattr(work, "fit_path", counting(fits))
    found = search(journal=path, note=notes.append)
    assert plain(found) == plain(whole) and found.resumed == before >= 4
    assert len(fits) == UNITS - before
    assert f"Resumed: {before} of {UNITS} units done." in notes[0]


def counting(calls):
    fit_path = work.fit_path

    def fit(*given):
        calls.append(given)
        return fit_path(*given)

    return fit


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_tuning import search

def step(what, done, total):
    if done == 4:
        os.kill(os.getpid(), signal.SIGKILL)

search(journal={journal!r}, step=step)
"""


@pytest.mark.faults
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_search_that_was_killed_goes_on(tmp_path, whole, monkeypatch):
    path = tmp_path / "journal"
    script = SCRIPT.format(tests=str(Path(__file__).parent), journal=str(path))
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes().count(b"\n") == 1 + 4
    with path.open("ab") as file:
        file.write(b'{"key": "[{}, {\\"lo')  # as if the next line had been cut off
    fits: list = []
    monkeypatch.setattr(work, "fit_path", counting(fits))
    found = search(journal=path)
    assert plain(found) == plain(whole)
    assert len(fits) == UNITS - 4 and found.resumed == 4


def test_a_journal_of_other_data_is_refused(tmp_path):
    path = tmp_path / "journal"
    search({"C": [1]}, journal=path)
    for change in ({"seed": 1}, {"folds": 2}, {"grid": {"C": [2]}}):
        with pytest.raises(UserError, match=f"another search: {next(iter(change))}"):
            search(**{"grid": {"C": [1]}, **change}, journal=path)
    other = NEWS.train.take(range(100))
    with pytest.raises(UserError, match="another search: data differ"):
        tune(other, NEWS.taxonomy, "svm", grid={"C": [1]}, journal=path)
    assert search({"C": [2]}, journal=path, fresh=True).resumed == 0
    assert search({"C": [2]}, journal=path, metric="macro_f1").resumed == 3


def test_the_model_is_the_one_that_train_makes_and_keeps_the_table(tmp_path):
    grid = {"C": [1, 10], "rule": ["zero", "instance"], "features.min_df": [1, 2]}
    found = tune(NEWS.train, NEWS.taxonomy, "svm", {"loss": "hinge"}, grid=grid)
    by_hand = train(
        NEWS.train, NEWS.taxonomy, "svm", found.best_parameters, features="words",
        feature_parameters=found.best_feature_parameters, rule=found.best["rule"],
    )  # fmt: skip
    assert found.best_parameters["loss"] == "hinge"
    assert found.model.predict(NEWS.train.texts) == by_hand.predict(NEWS.train.texts)
    found.model.save(tmp_path / "model")
    kept = load(tmp_path / "model").about["tuning"]
    assert kept["best"] == found.best and kept["table"] == found.table
    assert kept["metric"] == "micro_f1" and kept["folds"] == 3
    assert found.model.about["why"] == (
        f"because you chose it; the best of {len(found.table)} settings by micro-F1 on held-out "
        "rows"
    )


def test_rows_with_one_label_are_judged_by_the_methods_own_predictions():
    one = Part([labels[:1] for labels in NEWS.train.labels], NEWS.train.ids, NEWS.train.texts)
    found = tune(one, NEWS.taxonomy, grid={"C": [1, 10]}, folds=1, budget=0)
    assert found.method == "msvm" and found.folds == 1 and found.best["error"] is None
    assert {row["rule"] for row in found.table} == {"own"} and found.model.rule_name == "own"


def test_without_a_method_the_best_of_those_that_train_tries_is_tuned():
    found = tune(NEWS.train, NEWS.taxonomy, grid={"C": [1, 10]}, folds=1, with_model=False)
    by_train = train(NEWS.train, NEWS.taxonomy, folds=1).about
    assert found.method == by_train["method"] and "held-out rows of your data" in found.why
    assert "C" not in found.parameters and {row["C"] for row in found.table} == {1.0, 10.0}
    hinge = tune(
        NEWS.train, NEWS.taxonomy, grid={"loss": ["hinge"]}, folds=1, with_model=False
    )  # fmt: skip
    assert hinge.best["parameters"] == {"loss": "hinge"}  # only methods that have it are tried


def test_tables_and_methods_without_C():
    rng = np.random.default_rng(0)
    leaves = NEWS.taxonomy.leaves[:6]
    label = rng.integers(0, 6, 60)
    X = np.eye(6)[label] + 0.1 * rng.normal(size=(60, 6))
    part = Part([[leaves[j]] for j in label], [str(i) for i in range(60)], X=X)
    found = tune(part, NEWS.taxonomy, "hieron", with_model=False)
    assert found.kind == "table" and {row["C"] for row in found.table} == {None}
    assert found.best["mean"] > 0.9 and "C" not in found.best_parameters


def test_a_method_that_cannot_take_the_rows_says_so():
    with pytest.raises(UserError, match="one label per sample"):
        tune(NEWS.train, NEWS.taxonomy, "msvm", jobs=2)
