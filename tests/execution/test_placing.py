"""Where the fits of a command run: what Ctrl-C keeps, and what is left in the end."""

from __future__ import annotations

import signal

import pytest

from linnaeus import FlatSVM
from linnaeus.errors import UserError
from linnaeus.execution import Checkpoint, Stopped, placing
from linnaeus.execution.placing import placed
from linnaeus.execution.watching import WATCH, watched
from linnaeus.synthetic import make_text_like


@pytest.fixture(scope="module")
def data():
    return make_text_like(120, 60, n_leaves=70, depth=3, random_state=0, nonzeros=8)


@pytest.fixture(autouse=True)
def answer():
    """Python's own answer to Ctrl-C; what a shell starts in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def pressing(monkeypatch):
    """Ctrl-C is pressed whenever a block has been kept."""
    save = Checkpoint.save

    def pressed(self, key, value):
        save(self, key, value)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Checkpoint, "save", pressed)


def fitted(data):
    X, Y, taxonomy = data
    return FlatSVM(taxonomy, random_state=0).fit(X, Y)


@pytest.mark.parametrize("behind_a_bar", [False, True])
def test_ctrl_c_keeps_what_is_done(behind_a_bar, data, tmp_path, pressing):
    shown = []
    with pytest.raises(Stopped, match="give the same folder again"):
        if behind_a_bar:
            with watched(shown.append), placed(None, None, tmp_path / "c", 1):
                fitted(data)
        else:
            with placed(None, None, tmp_path / "c", 1):
                fitted(data)
    assert bool(shown) == behind_a_bar
    assert len(list((tmp_path / "c").glob("*.safetensors"))) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert WATCH.get() is None


def test_what_was_kept_is_used_and_removed_in_the_end(data, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(placing, "AFTER", 0.0)
        with pytest.raises(ZeroDivisionError), placed(None, None, None, 1, tmp_path / "model"):
            fitted(data)
            raise ZeroDivisionError
    kept = tmp_path / ".model.checkpoint"
    assert len(list(kept.glob("*.safetensors"))) == 3  # 70 classes, 32 in a block
    with placed(None, None, None, 1, tmp_path / "model"):
        fitted(data)
    assert not kept.exists()


def test_a_short_command_writes_nothing(data, tmp_path):
    with placed("threads", None, None, 2, tmp_path / "model"):
        fitted(data)
        assert not list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_an_address_is_for_ray_only(tmp_path):
    with pytest.raises(UserError, match="only the backend 'ray'"), placed(None, "auto", None, 1):
        pass
