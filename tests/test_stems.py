"""One stem names everything that belongs to a method: know the method and you know the paths."""

from pathlib import Path

import pytest

import linnaeus
from linnaeus.model.methods import METHODS

ROOT = Path(__file__).parents[1]
NAMES = {**METHODS, "graph-m3": "GraphM3"}  # with the one that is no method of the command line
SOLVED_BY = {"hieron": "perceptron"}  # methods that are a variant of another one


def named(folder, stem):
    """The Python files below a folder that are called `stem` or `stem_...`."""
    files = (ROOT / folder).rglob("*.py")
    return [file for file in files if file.stem == stem or file.stem.startswith(f"{stem}_")]


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_solver_estimator_test_and_page_of_its_stem(name):
    stem = name.replace("-", "_")
    solved_by = SOLVED_BY.get(stem, stem)
    assert getattr(linnaeus, NAMES[name]).__module__ == f"linnaeus.estimators.{stem}"
    assert named("src/linnaeus/solvers", solved_by), f"no solver is called {solved_by}"
    assert named("tests", f"test_{solved_by}"), f"no tests are called test_{solved_by}"
    assert (ROOT / "docs/pages/methods" / f"{name}.md").is_file()


def test_every_estimator_file_is_the_stem_of_a_method():
    files = (ROOT / "src/linnaeus/estimators").glob("[!_]*.py")
    assert {file.stem.replace("_", "-") for file in files} == set(NAMES)
