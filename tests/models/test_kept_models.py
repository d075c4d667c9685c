"""Models of every format: they load and answer as they did, and every class is in one of them."""

import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from kept_models import HERE, MODELS, answers, write_model

import linnaeus
from linnaeus.storage import document, registry, upgrades

VERSIONS = range(1, document.VERSION + 1)
KEPT = sorted(
    path.relative_to(HERE).parent.as_posix() for path in HERE.glob(f"*/*/{document.NAME}")
)
NEWEST = HERE / str(document.VERSION)
NOT_KEPT = frozenset()  # tags of classes that no model of the newest format holds, with the reason


def state(folder):
    return json.loads((folder / document.NAME).read_text("utf-8"))["state"]


def objects(tree):
    """The names of classes and their attributes or fields, wherever they are in a state."""
    if isinstance(tree, list):
        for part in tree:
            yield from objects(part)
    if isinstance(tree, dict):
        for key, inner in (("$object", "attributes"), ("$named", "fields")):
            if key in tree:
                yield tree[key], tuple(tree[inner])
        for part in tree.values():
            yield from objects(part)


def assert_alike(found, stored, where):
    """Equal, numbers up to what other machines round differently."""
    if isinstance(stored, dict):
        assert found.keys() == stored.keys(), where
        for key in stored:
            assert_alike(found[key], stored[key], f"{where}, {key}")
    elif _numeric(stored):
        np.testing.assert_allclose(found, stored, rtol=1e-6, atol=1e-8, err_msg=where)
    else:
        assert found == stored, where


def _numeric(values):
    """Whether these are floats, or rows of floats."""
    return all(map(_numeric, values)) if isinstance(values, list) else isinstance(values, float)


# -- what is kept ---------------------------------------------------------------------------


def test_every_format_has_its_folder():
    assert {path.name for path in HERE.iterdir() if path.name.isdecimal()} == set(
        map(str, VERSIONS)
    )
    for version in VERSIONS:
        kept = [name for name in KEPT if name.startswith(f"{version}/")]
        assert {name.partition("/")[2] for name in kept} >= {"single", "command", "model-words"}
        assert all((HERE / f"{name}.json").is_file() for name in kept)


def test_the_newest_format_has_all_models():
    assert {name.partition("/")[2] for name in KEPT if name.startswith(f"{NEWEST.name}/")} == {
        *MODELS, "command",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_the_folder_of_a_format_holds_models_of_it(version):
    for folder in (HERE / str(version)).glob("*/"):
        entries = json.loads((folder / document.NAME).read_text("utf-8"))
        assert entries["format_version"] == version, folder


def test_every_class_is_in_a_model_of_the_newest_format():
    used = {tag for folder in NEWEST.glob("*/") for tag, _ in objects(state(folder))}
    assert registry.CLASSES.keys() - used == NOT_KEPT


def test_every_class_of_the_first_format_is_in_a_model_of_it():
    used = {name for folder in (HERE / "1").glob("*/") for name, _ in objects(state(folder))}
    assert used == set(upgrades.names_1())


def test_no_model_names_a_module():
    for folder in NEWEST.glob("*/"):
        text = (folder / document.NAME).read_text("utf-8")
        assert not re.search(r"\b(linnaeus|sklearn)[.:]\w", text), folder


# -- what is done with it -------------------------------------------------------------------


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.filterwarnings("ignore:The model holds a .* of scikit-learn")
def test_kept_models_answer_as_they_did(name):
    stored = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    found = linnaeus.load(HERE / name)
    said = json.loads(json.dumps(answers(found, stored["inputs"])))
    assert_alike(said, stored["answers"], name)


@pytest.mark.parametrize("version", VERSIONS)
def test_plain_values_come_back(version):
    found, (wanted, _) = linnaeus.load(HERE / str(version) / "plain"), MODELS["plain"]()
    assert found.keys() == wanted.keys()
    assert found["taxonomy"] == wanted["taxonomy"] and found["same"] is found["array"]
    assert found["generator"].random() == wanted["generator"].random()
    for name in ("array", "columns", "texts"):
        assert np.array_equal(found[name], wanted[name])
    assert (found["sparse"] != wanted["sparse"]).nnz == 0
    for name in wanted.keys() - {"taxonomy", "generator", "array", "columns", "texts", "sparse"}:
        assert name == "same" or found[name] == wanted[name], name


CHEAP = ["single", "rules", "tables", "vectorizers", "text-pipelines", "model-words"]


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_written_has_the_parts_that_the_format_has(tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_model(name, tmp_path)
    now, kept = (set(objects(state(folder / name))) for folder in (tmp_path, NEWEST))
    assert now == kept, "raise document.VERSION and add to upgrades.CHANGES; see its docstring"


WRITING = """
import pathlib, sys
from kept_models import write_model
for name in sys.argv[2:]:
    write_model(name, pathlib.Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path):
    written = []
    for seed in "12":
        (tmp_path / seed).mkdir()
        call = [sys.executable, "-W", "ignore", "-c", WRITING, str(tmp_path / seed), *CHEAP]
        subprocess.run(call, check=True, cwd=HERE, env=os.environ | {"PYTHONHASHSEED": seed})
        files = [path for path in (tmp_path / seed).rglob("*") if path.is_file()]
        written.append(
            {path.relative_to(tmp_path / seed).as_posix(): path.read_bytes() for path in files}
        )
    one, other = written
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} <= {f"{n}/made.json" for n in CHEAP}
    assert len(one) > 4 * len(CHEAP)
