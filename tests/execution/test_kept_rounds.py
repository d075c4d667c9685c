"""Solvers that go through rounds are killed between any two of them, and go on to the same bits."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linnaeus import (
    HBLR,
    HM3,
    CorrelatedMNL,
    GraphM3,
    HierarchicalPerceptron,
    Hieron,
    MulticlassLogistic,
    MulticlassSVM,
    OrthogonalTransfer,
    RankingSVM,
    RecursiveLogistic,
)
from linnaeus.execution import Checkpoint, Stopped, checkpoints, unkept, values
from linnaeus.execution.checkpoints import CHECKPOINT, checkpointing
from linnaeus.execution.watching import FIT, watched
from linnaeus.kernels import LinearKernel
from linnaeus.solvers.bayes import corrmnl, hblr_full, hblr_map
from linnaeus.solvers.numerics import coordinate_ascent, newton
from linnaeus.solvers.recursive import rr_lr_span
from linnaeus.synthetic import make_text_like


def quickly(cases, *quick):
    """Names of cases; all but some are left to the slow tests."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in cases]


class Killed(BaseException):
    """As sudden as a kill."""


@pytest.fixture(scope="module")
def data():
    """Texts with one label each."""
    X, Y, taxonomy = make_text_like(60, 40, n_leaves=7, depth=2, random_state=0, nonzeros=8)
    first = Y.indices[Y.indptr[:-1]]
    return X, np.array(taxonomy.nodes)[first], taxonomy


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Every state is written."""
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 1e9)


def plain(value):
    """A value without the seconds that it took."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "seconds"}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def numbers(model):
    """A digest of each fitted attribute that is plain."""
    found = {}
    for name, value in vars(model).items():
        if name.endswith("_"):
            with contextlib.suppress(TypeError):
                found[name] = values.digest(plain(value))
    return found


def fitted(kind, data, **how):
    X, y, *taxonomy = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kind(*taxonomy, random_state=0, **how).fit(X, y)
    return numbers(model) | {"scores": values.digest(model.decision_function(X))}


def killed(monkeypatch, n, fit):
    """Run a fit until it has written n states; whether it came so far."""
    save, states = Checkpoint.save, list[str]()

    def dying(self, key, value):
        save(self, key, value)
        states.append(key)
        if len(states) == n:
            raise Killed

    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(Checkpoint, "save", dying)
        fit()
    return len(states) == n


def check(kind, data, folder, monkeypatch, kills=(1, 2), **how):
    """Kill a fit after so many states, one after the other, and compare it with a whole one."""
    whole = fitted(kind, data, **how)
    assert len(whole) > 3
    for n in kills:
        assert killed(monkeypatch, n, lambda: fitted(kind, data, checkpoint=folder, **how)), n
    found, load = [], Checkpoint.load
    monkeypatch.setattr(Checkpoint, "load", lambda *a: found.append(load(*a)) or found[-1])
    assert fitted(kind, data, checkpoint=folder, **how) == whole
    assert any(value is not checkpoints.MISSING for value in found)  # it did go on


HBLRS = {
    "map": {},
    "map, binary": {"link": "binary"},
    "features": {"model": "M2"},
    "owners": {"model": "M1", "fit_intercept": False},
    "flat": {"inference": "flat"},
    "paper": {"schedule": "paper"},
    "parity": {"schedule": "parity", "link": "binary", "model": "M2"},
    "variational": {"inference": "variational"},
    "diagonal": {"inference": "variational", "covariance": "diagonal", "link": "binary"},
    "both depths": {"inference": "variational", "schedule": "parity", "model": "M2"},
}


@pytest.mark.parametrize("name", quickly(HBLRS, "map", "variational", "diagonal"))
def test_hblr_goes_on(name, data, tmp_path, monkeypatch):
    check(HBLR, data, tmp_path / "c", monkeypatch, prior=(1.0, 1.0), max_iter=9, tol=1e-8,
          **HBLRS[name])  # fmt: skip


@pytest.mark.parametrize("link", quickly(["softmax", "binary"], "softmax"))
def test_hblr_goes_on_by_ascent(link, data, tmp_path, monkeypatch):
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    monkeypatch.setattr(newton, "FEW", 0)
    check(HBLR, data, tmp_path / "c", monkeypatch, link=link, prior=(1.0, 1.0), max_iter=9)


@pytest.mark.slow
def test_hblr_goes_on_where_ascent_gave_up(data, tmp_path, monkeypatch):
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    monkeypatch.setattr(newton, "FEW", 0)
    monkeypatch.setattr(coordinate_ascent, "TOO_SLOW", 4)
    check(HBLR, data, tmp_path / "c", monkeypatch, prior=(1.0, 1.0), max_iter=9)


@pytest.mark.slow
def test_hblr_goes_on_in_single_precision(data, tmp_path, monkeypatch):
    monkeypatch.setattr(hblr_full, "MUCH", 0)
    check(HBLR, data, tmp_path / "c", monkeypatch, inference="variational", max_iter=9)


def test_hblr_goes_on_from_an_earlier_fit(data, tmp_path, monkeypatch):
    X, y, taxonomy = data

    def again(folder=None):
        model = HBLR(taxonomy, prior=(1.0, 1.0), max_iter=4, warm_start=True, checkpoint=folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:40], y[:40])
            return numbers(model.fit(X, y))

    whole = again()
    for n in (2, 4, 3):
        assert killed(monkeypatch, n, lambda: again(tmp_path / "c"))
    assert again(tmp_path / "c") == whole


@pytest.mark.parametrize("kind", [MulticlassLogistic, MulticlassSVM])
def test_one_class_each_goes_on(kind, data, tmp_path, monkeypatch):
    check(kind, data, tmp_path / "c", monkeypatch, C=10.0, tol=1e-6)


MARKOVS = {
    "pairwise": {},
    "csga": {"optimizer": "csga", "root_edges": "all"},
    "kernel": {"kernel": LinearKernel()},
    "edges": {"slack": "edge"},
    "negative": {"slack": "negative"},
    "paths": {"features": "path"},
}


@pytest.mark.parametrize("name", quickly(MARKOVS, "pairwise", "edges"))
def test_markov_trees_go_on(name, data, tmp_path, monkeypatch):
    check(HM3, data, tmp_path / "c", monkeypatch, C=10.0, tol=1e-5, max_iter=30, **MARKOVS[name])


NETWORKS = {"linear": {}, "kernel": {"kernel": LinearKernel()}, "csga": {"optimizer": "csga"}}


@pytest.mark.parametrize("name", quickly(NETWORKS, "linear"))
def test_markov_networks_go_on(name, data, tmp_path, monkeypatch):
    check(
        GraphM3, data, tmp_path / "c", monkeypatch, C=10.0, tol=1e-7, max_iter=12, **NETWORKS[name]
    )


RANKINGS = {
    "examples": {},
    "pairs": {"slack": "pair", "rescale": "margin", "loss": "zero_one"},
    "kernel": {"kernel": LinearKernel(), "stop": "psi", "tol": 1e-3},
    "greedy": {"optimizer": "greedy", "max_iter": 1},
}


@pytest.mark.parametrize("name", quickly(RANKINGS, "examples"))
def test_rankings_go_on(name, data, tmp_path, monkeypatch):
    how = {"C": 10.0, "tol": 1e-4, "max_iter": 40} | RANKINGS[name]
    check(RankingSVM, data, tmp_path / "c", monkeypatch, kills=(1, 1), **how)


PERCEPTRONS = {
    "averaged": {},
    "kernel": {"variant": "online", "shuffle": False, "kernel": LinearKernel()},
    "minover": {"variant": "minover"},
}


@pytest.mark.parametrize("name", quickly(PERCEPTRONS, "averaged", "minover"))
def test_passes_of_perceptrons_go_on(name, data, tmp_path, monkeypatch):
    check(
        HierarchicalPerceptron, data, tmp_path / "c", monkeypatch, max_iter=8, **PERCEPTRONS[name]
    )


@pytest.mark.slow
def test_passes_of_hieron_go_on(data, tmp_path, monkeypatch):
    check(Hieron, data, tmp_path / "c", monkeypatch, max_iter=8)


@pytest.mark.parametrize("name", quickly(["dual", "rda"], "dual"))
def test_orthogonal_transfer_goes_on(name, data, tmp_path, monkeypatch):
    how = {"optimizer": name, "C": 100.0, "tol": 1e-5, "max_iter": 60}
    check(OrthogonalTransfer, data, tmp_path / "c", monkeypatch, **how)


def test_chains_go_on(data, tmp_path, monkeypatch):
    monkeypatch.setattr(corrmnl, "SEGMENT", 0.0)  # after every iteration
    how = {"n_burn_in": 20, "n_samples": 20, "n_chains": 2}
    check(CorrelatedMNL, data, tmp_path / "c", monkeypatch, kills=(3, 16), **how)


@pytest.mark.parametrize("kind", [MulticlassLogistic, RecursiveLogistic])
def test_newtons_steps_go_on(kind, data, tmp_path, monkeypatch):
    monkeypatch.setattr(coordinate_ascent, "TOO_SLOW", 1)
    check(kind, data, tmp_path / "c", monkeypatch, kills=(1, 2, 2, 2), C=100.0, tol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("span", [True, False])
def test_newtons_steps_on_trees_go_on(span, data, tmp_path, monkeypatch):
    monkeypatch.setattr(newton, "suits", lambda n, d: True)
    monkeypatch.setattr(rr_lr_span, "suits", lambda *_: span)
    check(RecursiveLogistic, data, tmp_path / "c", monkeypatch, C=100.0, tol=1e-7)


def test_ascent_on_trees_goes_on(data, tmp_path, monkeypatch):
    check(RecursiveLogistic, data, tmp_path / "c", monkeypatch, C=1.0, tol=1e-5)


def test_a_fit_that_is_asked_to_stop_finishes_its_round(data, tmp_path, monkeypatch):
    how = {"prior": (1.0, 1.0), "max_iter": 9, "tol": 1e-8}
    whole, run, n_rounds = fitted(HBLR, data, **how), hblr_map._Joint.run, []
    with watched(lambda lines: None) as watch:

        def asking(self):
            watch.interrupt()  # in the middle
            n_rounds.append(1)
            return run(self)

        monkeypatch.setattr(hblr_map._Joint, "run", asking)
        with pytest.raises(Stopped, match="give the same folder again"):
            fitted(HBLR, data, checkpoint=tmp_path / "c", **how)
    monkeypatch.setattr(hblr_map._Joint, "run", run)
    assert len(n_rounds) == 1
    assert fitted(HBLR, data, checkpoint=tmp_path / "c", **how) == whole


def test_what_is_not_kept_is_done_whole(tmp_path):
    with unkept():
        assert CHECKPOINT.get() is None
    with watched(lambda lines: None) as watch, watch.fit("fit") as fit:
        with unkept():
            assert FIT.get() is fit  # without a checkpoint nothing changes
        with checkpointing(Checkpoint(tmp_path / "c")):
            with unkept():
                assert CHECKPOINT.get() is FIT.get() is None
            assert CHECKPOINT.get() is not None
            assert FIT.get() is fit
