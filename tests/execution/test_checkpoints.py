"""A fit that is stopped at any moment goes on to the same bits."""

from __future__ import annotations

import contextlib
import errno
import os

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linnaeus import FlatLogistic, FlatSVM, RecursiveLogistic, RecursiveSVM, TopDown
from linnaeus.errors import UserError
from linnaeus.execution import Checkpoint, checkpoints, values
from linnaeus.execution.checkpoints import Stopped
from linnaeus.execution.memory import never_refused
from linnaeus.execution.watching import watched
from linnaeus.solvers.linear import svm
from linnaeus.synthetic import make_text_like

KINDS = [FlatSVM, FlatLogistic, TopDown]


@pytest.fixture(scope="module")
def data():
    return make_text_like(120, 60, n_leaves=70, depth=3, random_state=0, nonzeros=8)


def parts(model):
    """All numbers of a fitted model."""
    found = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "trace_"}
    scores = {"objective": model.objective_, "gap": model.gap_, "intercept": model.intercept_}
    return values.digest(dict(scores.items())), sorted(found)


def answers(model, X):
    return model.decision_function(X).tobytes(), parts(model)


def fitted(kind, data, **how):
    X, Y, taxonomy = data
    return answers(kind(taxonomy, random_state=0, **how).fit(X, Y), X)


class Killed(BaseException):
    """As sudden as a kill."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_is_killed_goes_on_to_the_same_bits(kind, n_jobs, data, tmp_path, monkeypatch):
    whole = fitted(kind, data)
    write = values.write
    for n in range(4):  # killed after so many results
        written = []

        def dying(path, value, n=n, written=written):
            if len(written) == n:
                raise Killed
            written.append(path)
            write(path, value)

        monkeypatch.setattr(values, "write", dying)
        with contextlib.suppress(Killed):
            fitted(kind, data, checkpoint=tmp_path / "c", n_jobs=n_jobs)
        monkeypatch.setattr(values, "write", write)
    assert fitted(kind, data, checkpoint=tmp_path / "c", n_jobs=n_jobs) == whole


def test_finished_blocks_are_not_solved_again(data, tmp_path, monkeypatch):
    whole = fitted(FlatSVM, data, checkpoint=tmp_path / "c")
    files = sorted((tmp_path / "c").glob("*.safetensors"))
    assert len(files) == 3  # of 70 classes

    def forbidden(*_):
        raise AssertionError("solved again")

    monkeypatch.setattr(svm.SvmRun, "finish", forbidden)
    assert fitted(FlatSVM, data, checkpoint=tmp_path / "c") == whole
    with pytest.raises(AssertionError, match="solved again"):  # another C is another fit
        fitted(FlatSVM, data, checkpoint=tmp_path / "c", C=2.0)


def test_what_another_setting_left_is_removed_by_the_next_fit(data, tmp_path):
    fitted(FlatSVM, data, checkpoint=tmp_path / "c")
    first = set(os.listdir(tmp_path / "c"))
    fitted(FlatSVM, data, checkpoint=tmp_path / "c", C=2.0)
    second = set(os.listdir(tmp_path / "c"))
    assert first & second == {"checkpoint.json"}
    assert len(first) == len(second)


def test_a_damaged_file_is_said_and_made_again(data, tmp_path):
    whole = fitted(FlatSVM, data, checkpoint=tmp_path / "c")
    file = sorted((tmp_path / "c").glob("*.safetensors"))[1]
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.warns(UserWarning, match="damaged or cut off.*It was removed"):
        assert fitted(FlatSVM, data, checkpoint=tmp_path / "c") == whole


def test_work_of_another_version_is_not_used(data, tmp_path, monkeypatch):
    whole = fitted(FlatSVM, data, checkpoint=tmp_path / "c")
    old = set(os.listdir(tmp_path / "c"))
    monkeypatch.setattr(checkpoints, "version", lambda: "another")
    monkeypatch.setattr("linnaeus.execution.keeping.version", lambda: "another")
    with pytest.warns(UserWarning, match="written by another version"):
        assert fitted(FlatSVM, data, checkpoint=tmp_path / "c") == whole
    assert set(os.listdir(tmp_path / "c")) & old == {"checkpoint.json"}


def test_ctrl_c_keeps_what_is_done_and_ends(data, tmp_path, monkeypatch):
    X, Y, taxonomy = data
    whole = fitted(FlatSVM, data)
    with watched(lambda lines: None) as watch:
        save = Checkpoint.save

        def asking(self, key, value):
            save(self, key, value)
            watch.interrupt()

        monkeypatch.setattr(Checkpoint, "save", asking)
        with pytest.raises(Stopped, match="give the same folder again"):
            FlatSVM(taxonomy, random_state=0, checkpoint=tmp_path / "c").fit(X, Y)
    assert len(list((tmp_path / "c").glob("*.safetensors"))) == 1  # the block was finished
    assert fitted(FlatSVM, data, checkpoint=tmp_path / "c") == whole


def test_a_full_disk_is_waited_for(data, tmp_path, monkeypatch, capsys):
    whole, full, write = fitted(FlatSVM, data), [3], values.write

    def filling(path, value):
        if full[0]:
            full[0] -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, value)

    monkeypatch.setattr(values, "write", filling)
    monkeypatch.setattr(checkpoints, "PATIENCE", 0.001)
    assert fitted(FlatSVM, data, checkpoint=tmp_path / "c") == whole
    assert capsys.readouterr().err.count("is full. The fit waits") == 1


def test_a_folder_of_something_else_is_refused(data, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="holds other files"):
        fitted(FlatSVM, data, checkpoint=tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_folder_that_cannot_be_made_is_named(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be made"):
        fitted(FlatSVM, data, checkpoint=tmp_path / "file" / "c")


def test_a_checkpoint_removes_only_what_is_its_own(tmp_path):
    kept = Checkpoint(tmp_path / "c")
    kept.save("a", np.arange(3))
    (tmp_path / "c" / "mine.txt").write_text("")
    kept.remove()
    assert os.listdir(tmp_path / "c") == ["mine.txt"]


def test_nothing_is_written_in_the_first_minutes_if_so_asked(tmp_path):
    kept = Checkpoint(tmp_path / "c", after=1000.0)
    kept.save("a", np.arange(3))
    assert not (tmp_path / "c").exists()
    assert kept.load("a") is checkpoints.MISSING


def test_where_a_model_was_fitted_is_no_part_of_it(data, tmp_path):
    X, Y, taxonomy = data
    for name, how in (("a", {}), ("b", {"checkpoint": tmp_path / "c", "backend": "threads"})):
        FlatSVM(taxonomy, random_state=0, **how).fit(X, Y).save(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        if file.name != "made.json":
            assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


@pytest.fixture
def small_problems():
    """Limits far below what the program itself takes: weights are then in parts."""
    with never_refused():
        yield


@pytest.mark.usefixtures("small_problems")
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        (RecursiveSVM, {"schedule": "parity"}),
        (RecursiveLogistic, {"schedule": "parity"}),
        (RecursiveSVM, {"max_iter": 4}),
        (RecursiveSVM, {"max_iter": 4, "memory": 1}),
    ],
)
def test_rounds_go_on_from_their_last_state(kind, how, data, tmp_path, monkeypatch):
    how = {"max_iter": 6, "tol": 1e-9} | how
    with pytest.warns(ConvergenceWarning):
        whole = fitted(kind, data, **how)
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 1e9)
    for n in (1, 2):  # killed after so many states, twice
        save, states = Checkpoint.save, []

        def dying(self, key, value, n=n, states=states, save=save):
            save(self, key, value)
            states.append(key)
            if len(states) == n:
                raise Killed

        monkeypatch.setattr(Checkpoint, "save", dying)
        with pytest.raises(Killed):
            fitted(kind, data, checkpoint=tmp_path / "c", **how)
        monkeypatch.setattr(Checkpoint, "save", save)
    with pytest.warns(ConvergenceWarning):
        assert fitted(kind, data, checkpoint=tmp_path / "c", **how) == whole
