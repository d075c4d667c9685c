"""Fits that are watched: what is shown, and how an interrupt ends them."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import linnaeus
from every_estimator import DECISIONS, ESTIMATORS, TAX, examples, make
from linnaeus import FlatSVM, RecursiveSVM, showing
from linnaeus.decisions import RCut
from linnaeus.execution import watching

ONE_ROUND = ("HierarchicalRLS",)  # a closed form: nothing to tell, nothing to leave out
SAMPLERS = ("CorrelatedMNL",)  # which go on to the end


def hard():
    """Rows that take many rounds."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 20)), [TAX.leaves[j] for j in rng.integers(0, 3, 60)]


def slow(kind, **parameters):
    return make(kind, **{"tol": 1e-12, "max_iter": 5000, "C": 100.0} | parameters)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:The chains of CorrelatedMNL")
def test_every_fit_tells_of_its_rounds(kind):
    told = []
    with watching.watched(told.append):
        make(kind).fit(*examples())
    assert told[0] == [kind.__name__] and told[-1] == []
    if kind.__name__ not in ONE_ROUND:
        assert any("round" in line for lines in told for line in lines)


def test_nothing_is_said_where_nobody_watches(capsys):
    FlatSVM(TAX).fit(*examples())
    assert watching.FIT.get() is None
    assert capsys.readouterr() == ("", "")


def test_a_decision_is_one_fit_and_blocks_may_nest():
    told, inner = [], []
    with watching.watched(told.append) as first, watching.watched(inner.append) as second:
        RCut(FlatSVM(TAX), TAX).fit(*examples())
    assert first is not None and second is None and not inner
    assert {line.split(":")[0] for lines in told for line in lines} == {"RCut"}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_of_a_fit_are_watched_and_other_threads_are_not(n_jobs):
    told = []
    other = threading.Thread(target=lambda: RecursiveSVM(TAX).fit(*examples()))
    with watching.watched(told.append):
        other.start()
        FlatSVM(TAX, n_jobs=n_jobs).fit(*examples())
        other.join()
    assert any("gap" in line for lines in told for line in lines)
    assert not any("Recursive" in line for lines in told for line in lines)


# -- interrupts -----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def heard():
    """Python's own answer to Ctrl-C; what a shell starts in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupting(after=1):
    """A listener that presses Ctrl-C when it has heard of so many rounds."""
    heard = []

    def show(lines):
        if any("round" in line for line in lines):
            heard.append(lines)
            if len(heard) == after:
                signal.raise_signal(signal.SIGINT)

    return show


@pytest.fixture
def painted(monkeypatch):
    """Let `progress` paint with a function of the test."""

    def use(show):
        monkeypatch.setattr(showing, "_terminal", lambda: _given(show))
        monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True, write=len))

    return use


class _given:
    def __init__(self, show):
        self.show = show

    def __enter__(self):
        return self.show

    def __exit__(self, *_):
        return None


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:The chains of CorrelatedMNL")
def test_an_interrupted_fit_keeps_what_it_has(kind, painted):
    X, y = hard()
    if kind.__name__ in (*ONE_ROUND, *SAMPLERS):
        pytest.skip("has no rounds to leave out")
    painted(interrupting())
    model = slow(kind)
    with linnaeus.progress(), pytest.warns(ConvergenceWarning, match="was interrupted") as caught:
        model.fit(X, y)
    assert len(caught) == 1  # and not of max_iter besides
    assert model.n_iter_ < 1000
    assert model.predict(X).shape == (60,)
    if hasattr(model, "gap_"):
        assert np.isfinite(model.gap_) and f"gap of {model.gap_:.2e}" in str(caught[0].message)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda kind: kind.__name__)
def test_an_interrupted_decision_warns_once(kind, painted):
    painted(interrupting())
    model = make(kind, estimator=slow(FlatSVM), threshold=0.0)
    with linnaeus.progress(), pytest.warns(ConvergenceWarning, match=kind.__name__) as caught:
        model.fit(*hard())
    assert len(caught) == 1
    assert len(model.predict(hard()[0])) == 60


def test_a_second_interrupt_raises_at_once(painted):
    X, y = hard()

    def show(lines, pressed=[]):  # noqa: B006
        if any("round" in line for line in lines) and len(pressed) < 2:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    painted(show)
    with pytest.raises(KeyboardInterrupt), linnaeus.progress():
        slow(FlatSVM).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert watching.FIT.get() is None


def test_an_interrupt_between_fits_raises(painted):
    painted(lambda lines: None)
    with pytest.raises(KeyboardInterrupt), linnaeus.progress():
        signal.raise_signal(signal.SIGINT)


def test_without_the_block_an_interrupt_raises():
    def press(lines):
        if lines:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), watching.watched(press):
        slow(FlatSVM).fit(*hard())


def test_a_fit_without_rounds_says_that_it_is_whole(painted):
    def press(lines, pressed=[]):  # noqa: B006
        if lines and not pressed:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)

    painted(press)
    with linnaeus.progress(), pytest.warns(ConvergenceWarning, match="the fit is whole"):
        linnaeus.HierarchicalRLS(TAX).fit(*examples())


def test_a_fit_after_an_interrupted_one_is_whole(painted):
    painted(interrupting())
    X, y = examples()
    with linnaeus.progress():
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            slow(FlatSVM).fit(*hard())
        again = FlatSVM(TAX, random_state=0).fit(X, y)
    assert (again.coef_ == FlatSVM(TAX, random_state=0).fit(X, y).coef_).all()


@pytest.mark.faults
def test_a_signal_from_outside_stops_a_fit_with_what_it_has():
    code = """
        import sys, warnings
        import numpy as np
        import linnaeus
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(3000, 400)), rng.integers(0, 40, 3000)
        linnaeus.FlatSVM(max_iter=1).fit(X[:60], y[:60])  # the loops are compiled
        with linnaeus.progress(True), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print("go", flush=True)
            model = linnaeus.FlatSVM(C=1e4, tol=1e-14, max_iter=100000, n_jobs=2).fit(X, y)
        print(caught[-1].message, model.predict(X).shape)
    """
    run = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
        text=True, env=os.environ,
    )  # fmt: skip
    assert run.stdout.readline() == "go\n"
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0
    assert "FlatSVM was interrupted and stopped at a relative duality gap" in out
    assert "(3000,)" in out


# -- pictures -------------------------------------------------------------------------------------


def test_a_terminal_shows_lines_and_leaves_none(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with linnaeus.progress(), watching.WATCH.get().fit("Something") as fit:
        fit.say(3, 10, {"seconds": 1.0, "gap": 0.25})
        time.sleep(0.3)
    assert "Something: round 3 of at most 10, gap 0.25, 0 s" in screen.getvalue()


def test_a_file_gets_lines_only_if_asked(capsys):
    for show, lines in ((None, 0), (False, 0), (True, 2)):
        with linnaeus.progress(show):
            FlatSVM(TAX).fit(*examples())
        told = capsys.readouterr().err.splitlines()
        assert len(told) == lines  # the first at once, the last at the end
    assert told[0] == "FlatSVM" and "gap" in told[1]


def test_a_notebook_has_one_output_that_changes(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    shell = SimpleNamespace(kernel=object())
    display = SimpleNamespace(display=lambda data, raw, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with linnaeus.progress():
        FlatSVM(TAX).fit(*examples())
    assert shown[0] == "FlatSVM" and "gap" in shown[-1]


def test_names_that_a_star_brings_shadow_nothing():
    scope = {}
    exec("import io\nfrom linnaeus import *", scope)
    assert scope["io"] is io
    assert {"FlatSVM", "Taxonomy", "load", "save", "progress"} <= scope.keys()
    assert not set(scope) & set(sys.stdlib_module_names) - {"io"}
    assert set(linnaeus._MODULES) <= set(dir(linnaeus))
    assert linnaeus.progress is showing.progress


# -- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kinds",
    [
        (FlatSVM, FlatSVM),
        (RecursiveSVM, linnaeus.FlatLogistic),
        (linnaeus.HM3, linnaeus.TopDown),
        (linnaeus.HierarchicalPerceptron, linnaeus.MulticlassLogistic),
    ],
    ids=lambda kinds: "+".join(kind.__name__ for kind in kinds),
)
def test_two_fits_at_once_give_the_same_bits_as_one_after_the_other(kinds):
    data = [examples(n=200, d=30, seed=seed) for seed in (1, 2)]
    serial = [
        make(kind).fit(*rows).decision_function(rows[0])
        for kind, rows in zip(kinds, data, strict=True)
    ]
    found, gate = [None, None], threading.Barrier(2)

    def run(j):
        gate.wait()
        for _ in range(3):
            found[j] = make(kinds[j]).fit(*data[j]).decision_function(data[j][0])

    threads = [threading.Thread(target=run, args=(j,)) for j in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for once, at_once in zip(serial, found, strict=True):
        assert (once == at_once).all()
