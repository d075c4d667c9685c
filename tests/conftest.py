"""What all tests share. Set the folder of compiled loops before anything imports them."""

import gc
import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("LINNAEUS_CACHE_DIR", str(ROOT / ".compiled"))
os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" in os.environ:  # one per core: threads of linear algebra would only wait
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

SHARED = ROOT.parent / "shared"
EVERY_ESTIMATOR = {
    "test_common", "test_odd_inputs", "test_docstrings", "test_columns", "test_state",
}  # fmt: skip
LATE = {"docs", "estimators", "explanation", "labels", "solvers"}  # most of it runs compiled loops


def shared_path(*parts: str) -> Path:
    """A file or folder of the shared material; the test is skipped where it does not exist."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} in the folder 'shared' beside the checkout")
    return path


def golden(name: str) -> dict:
    """One of the files of solved tiny problems; a missing one is an error."""
    return json.loads((ROOT / "tests/golden" / f"{name}.json").read_text())


def pytest_collection_modifyitems(items):
    """Tests that read solved problems are marked by that.

    One process begins with files that try every estimator, and others with files that compile
    little: what both need is compiled once.
    """
    items.sort(
        key=lambda i: (i.path.stem not in EVERY_ESTIMATOR) * (1 + (i.path.parent.name in LATE))
    )
    for item in items:
        if "golden_file" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.golden)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a file run in one process and share its fits.

    Files that try every estimator share a process too: two would compile the same at once.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "every estimator" if Path(file).stem in EVERY_ESTIMATOR else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_runtest_teardown(item, nextitem):
    """What a file leaves (thousands of tests, compiled loops) is no garbage: collect without it.

    Code that measures its cost collects garbage first, which takes a second in so large a process.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Ten thousand tests are made, and no garbage: looking for it took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def shared():
    return shared_path


@pytest.fixture(scope="session")
def golden_file():
    return golden


@pytest.fixture
def linnaeus(capsys):
    """Run a command; its exit code, standard output and standard error."""
    from linnaeus.cli.main import run

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call
