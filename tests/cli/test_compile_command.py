"""``linnaeus compile``: afterwards nothing is left to compile."""

import json
import os
import subprocess
import sys
from importlib.resources import files

import numba
import pytest
from jsonschema import Draft202012Validator

from linnaeus import compiled

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs the compiler")
LATER = """
import json, sys, warnings
from pathlib import Path
import linnaeus
from linnaeus import compiled, workflow
warnings.simplefilter("ignore")
place = Path(sys.argv[1])
workflow.demo(200, 50, folder=place / "demo")
for method in ("svm", "logistic", "rr-svm", "topdown"):
    workflow.train(place / "demo" / "data", place / method, method)
    model = linnaeus.load(place / method)
    model.predict(["Rates rose as banks reported losses"])
    workflow.evaluate(place / method, place / "demo" / "data")
print(json.dumps({n: len(f.stats.cache_misses) for n, f in compiled.LOOPS.items()}))
"""


@pytest.fixture(scope="module")
def filled():
    """The folder of all tests, filled: what is compiled here no other test has to compile."""
    command = [sys.executable, "-m", "linnaeus.cli.main", "compile", "--json", "--jobs", "2"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@pytest.mark.slow
def test_every_loop_is_reached(filled):
    schema = json.loads(files("linnaeus.cli").joinpath("schemas", "compile.json").read_text())
    Draft202012Validator(schema).validate(filled)
    assert filled["missing"] == []
    assert filled["loops"] > 100 and filled["bytes"] > 1_000_000
    assert filled["folder"].startswith(os.environ["LINNAEUS_CACHE_DIR"])


@pytest.mark.slow
def test_a_fresh_process_compiles_nothing(filled, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LATER, tmp_path], check=True, capture_output=True, text=True
    )
    assert {n: k for n, k in json.loads(done.stdout.splitlines()[-1]).items() if k} == {}


def test_a_folder_that_cannot_be_written_to_is_refused(linnaeus):
    before = compiled.folder()
    code, out, err = linnaeus("compile", "--to", "/dev/null/loops")
    assert code == 1 and out == ""
    assert "cannot be kept in /dev/null/loops" in err and "--to" in err
    assert before is not None and compiled.folder() == before


def test_without_the_compiler_there_is_nothing_to_do(linnaeus, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    code, _, err = linnaeus("compile")
    assert code == 1 and "NUMBA_DISABLE_JIT" in err
