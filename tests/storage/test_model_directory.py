"""Models on disk: what comes back, what is refused because it was changed, and wrong paths."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from storage_objects import TAX, X, Y, assert_same, fitted, text_pipeline

import linnaeus
from linnaeus import FlatSVM, Taxonomy, decisions, storage
from linnaeus.errors import FormatError, UserError
from linnaeus.io.collection import Part
from linnaeus.model import train
from linnaeus.storage import document
from linnaeus.synthetic import newsroom

NAMES = ["arrays.safetensors", "model.json", "taxonomy.tsv", "vocabulary.json"]  # and made.json


@pytest.fixture
def folder(tmp_path):
    """A saved estimator."""
    path = tmp_path / "model"
    fitted("FlatSVM: tree")[0].save(path)
    return path


def rewritten(folder, change):
    """Change the entries of model.json, with a checksum that fits."""
    entries = json.loads((folder / "model.json").read_text())
    del entries["checksum"]
    change(entries)
    (folder / "model.json").write_bytes(document.compose(entries))


# -- saving and loading ---------------------------------------------------------------------


def test_estimators_have_a_method_to_be_saved_with(tmp_path):
    model = fitted("FlatSVM: tree")[0]
    model.save(tmp_path / "m")
    again = linnaeus.load(tmp_path / "m")
    assert_same(model, again)
    assert_same(model.predict(X), again.predict(X))
    assert sorted(os.listdir(tmp_path / "m")) == sorted([*NAMES, "made.json"])


def test_decisions_have_one_too(tmp_path):
    model = decisions.SCut(FlatSVM(TAX, random_state=0), TAX, random_state=0).fit(X, Y)
    model.save(tmp_path / "m")
    assert_same(model.predict(X), linnaeus.load(tmp_path / "m").predict(X))


def test_other_objects_are_saved_by_a_function(tmp_path):
    model, texts = text_pipeline()
    linnaeus.save(model, tmp_path / "m", about={"score": np.float32(0.5), "worst": float("nan")})
    assert_same(model.predict(texts), linnaeus.load(tmp_path / "m").predict(texts))
    told = storage.read_about(tmp_path / "m")
    assert told["about"] == {"score": 0.5, "worst": None}
    linnaeus.save([1, (2, "x")], str(tmp_path / "data"))
    assert linnaeus.load(str(tmp_path / "data")) == [1, (2, "x")]


def test_a_fresh_process_loads_and_answers(folder, tmp_path):
    np.save(tmp_path / "x.npy", X)
    code = (
        "import sys, numpy, linnaeus; m = linnaeus.load(sys.argv[1]); "
        "print(' '.join(m.predict(numpy.load(sys.argv[2]))))"
    )
    call = [sys.executable, "-c", code, str(folder), str(tmp_path / "x.npy")]
    out = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert out.split() == fitted("FlatSVM: tree")[0].predict(X).tolist()


def test_what_is_told_about_a_model(folder):
    told = storage.read_about(folder)
    assert told["format"] == "linnaeus model" and told["format_version"] == document.VERSION
    assert told["linnaeus"] == linnaeus.__version__
    assert told["about"]["class"] == "FlatSVM"
    assert told["about"]["parameters"]["C"] == 1.0
    assert told["taxonomy"] == {
        "file": "taxonomy.tsv", "nodes": len(TAX), "digest": TAX.digest(),
    }  # fmt: skip
    assert sorted([*told["files"], "model.json"]) == NAMES
    assert "state" not in told
    assert told["made"]["versions"]["linnaeus"] == linnaeus.__version__
    for name, known in told["files"].items():
        raw = (folder / name).read_bytes()
        assert known == {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def test_the_taxonomy_can_be_read_by_others(folder):
    assert Taxonomy.read(folder / "taxonomy.tsv") == TAX


@pytest.mark.parametrize(
    ("tax", "file"),
    [
        (Taxonomy.from_edges([("a\tb", "c")]), "taxonomy.json"),
        (Taxonomy.flat([1, "1"]), None),
        (Taxonomy.flat([]), None),
        (Taxonomy.flat([1, 2]), "taxonomy.tsv"),
    ],
)
def test_any_taxonomy_is_kept_whatever_files_can_hold(tmp_path, tax, file):
    storage.save(tax, tmp_path / "m")
    assert storage.read_about(tmp_path / "m")["taxonomy"]["file"] == file
    assert_same(tax, storage.load(tmp_path / "m"))


def test_equal_objects_give_equal_bytes(tmp_path):
    words = {f"w{i}": i for i in range(5000)}
    value = {"x": X, "tax": TAX, "names": {"b", "a", "c"}, "words": words}
    storage.save(value, tmp_path / "one")
    storage.save(storage.load(tmp_path / "one"), tmp_path / "two")
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    code = (
        "import sys; from linnaeus import storage; "
        "storage.save(storage.load(sys.argv[1]), sys.argv[2])"
    )
    call = [sys.executable, "-c", code, str(tmp_path / "one"), str(tmp_path / "three")]
    subprocess.run(call, check=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "three" / name).read_bytes()
    assert str(tmp_path) not in (tmp_path / "one" / "model.json").read_text()
    assert "w4999" not in (tmp_path / "one" / "model.json").read_text()


def test_lone_surrogates_and_other_scripts_are_kept(tmp_path):
    value = {"plain": "größe \u4e2d", "odd": ["\ud800"] * 1001, "\udfff": "x"}
    storage.save(value, tmp_path / "m", about={"odd": "\ud800"})
    assert storage.load(tmp_path / "m") == value


def test_a_loaded_model_may_be_saved_over_itself(folder):
    again = storage.load(folder)
    before = again.decision_function(X)
    again.save(folder)
    assert_same(before, again.decision_function(X))  # the old file is mapped still
    assert_same(before, storage.load(folder).decision_function(X))


def test_arrays_are_mapped_and_loading_takes_no_memory(tmp_path):
    big = np.arange(8_000_000, dtype=np.float64)  # 64 MB
    storage.save({"big": big}, tmp_path / "m")
    code = (
        "import sys; from linnaeus import storage\n"
        "def own(): return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "storage.load(sys.argv[2])\n"
        "for verify in (False, True):\n"
        "    before = own(); m = storage.load(sys.argv[1], verify=verify)\n"
        "    print(own() - before, m['big'][-1])"
    )
    storage.save([1], tmp_path / "small")
    call = [sys.executable, "-c", code, str(tmp_path / "m"), str(tmp_path / "small")]
    out = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    for grown, value in zip(out[::2], out[1::2], strict=True):
        assert int(grown) < 8e6 and float(value) == big[-1]


@pytest.mark.parametrize("kind", ["texts", "table"])
def test_whole_models_come_back_with_their_rules(tmp_path, kind):
    news = newsroom(150, 20, random_state=0)
    part, inputs = news.train, news.test.texts
    if kind == "table":
        table = np.random.default_rng(0).normal(size=(150, 8))
        part, inputs = Part(part.labels, part.ids, X=table), table
    model = train(part, news.taxonomy, "svm", rule="scut")
    model.save(tmp_path / "m")
    again = linnaeus.load(tmp_path / "m")
    assert_same(model, again)
    assert again.taxonomy is again.estimator.taxonomy is again.rule.taxonomy
    assert model.predict(inputs) == again.predict(inputs)
    assert_same(model.scores(inputs), again.scores(inputs))
    assert model.with_rule("rcut").predict(inputs) == again.with_rule("rcut").predict(inputs)
    assert storage.read_about(tmp_path / "m")["about"].keys() == model.about.keys()


# -- damage ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_is_noticed_wherever_it_is(folder, name):
    file = folder / name
    raw = file.read_bytes()
    rng = np.random.default_rng(0)
    places = range(len(raw)) if len(raw) < 150 else rng.choice(len(raw), 150, replace=False)
    for at in [0, len(raw) - 1, *places]:
        bad = bytearray(raw)
        bad[at] ^= int(rng.integers(1, 256))
        file.write_bytes(bad)
        with pytest.raises(UserError, match=name):
            storage.load(folder)
    file.write_bytes(raw)
    storage.load(folder)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verify", [True, False])
def test_a_file_that_is_cut_off_or_missing_is_named(folder, name, verify):
    file = folder / name
    raw = file.read_bytes()
    for size in [0, 1, len(raw) // 3, len(raw) // 2, len(raw) - 1]:
        file.write_bytes(raw[:size])
        with pytest.raises(UserError, match=name):
            storage.load(folder, verify=verify)
    file.write_bytes(raw + b"\n")
    with pytest.raises(UserError, match=name):
        storage.load(folder, verify=verify)
    file.unlink()
    with pytest.raises(UserError, match=name):
        storage.load(folder, verify=verify)


def test_the_message_names_file_and_remedy(folder):
    storage.save({"x": X}, folder)
    raw = bytearray((folder / "arrays.safetensors").read_bytes())
    raw[-1] ^= 1
    (folder / "arrays.safetensors").write_bytes(raw)
    with pytest.raises(FormatError) as error:
        storage.load(folder)
    assert str(error.value) == (
        f"{folder / 'arrays.safetensors'}: the file was changed since it was written: its "
        f"checksum is wrong. Copy the model again from where it is whole, or train it again."
    )
    storage.load(folder, verify=False)  # the user's own choice


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e["state"].update({"$object": "os:system"}),
        lambda e: e["state"].update({"$object": "builtins:exec"}),
        lambda e: e["state"].update({"$object": "linnaeus.estimators.flat:FlatSVM"}),
        lambda e: e["files"].update({"made.json": {"size": 1, "sha256": ""}}),
        lambda e: e["state"]["attributes"].update(
            coef_={"$object": "pathlib:Path", "attributes": {}}
        ),
        lambda e: e["state"]["attributes"].update(coef_={"$array": "model/nothing"}),
        lambda e: e["files"].update({"../../etc/passwd": {"size": 1, "sha256": ""}}),
        lambda e: e["files"].update({"/etc/passwd": {"size": 1, "sha256": ""}}),
        lambda e: e["files"].pop("arrays.safetensors"),
        lambda e: e["files"].update({"arrays.safetensors": 5}),
        lambda e: e.update(files=[]),
        lambda e: e.pop("files"),
        lambda e: e.update(state={"$object": "x"}),
        lambda e: e.update(state={"$tuple": {"$text": "missing"}}),
    ],
)
def test_crafted_models_are_refused(folder, change):
    rewritten(folder, change)
    with pytest.raises(UserError, match=r"model/(model.json|arrays.safetensors): "):
        storage.load(folder)


def test_deep_nesting_is_refused(folder):
    raw = '{"format": "linnaeus model", "state": ' + "[" * 100_000 + "]" * 100_000 + "}"
    (folder / "model.json").write_text(raw)
    with pytest.raises(UserError, match="model.json: the file is not valid JSON"):
        storage.load(folder)


def test_odd_documents_are_refused(folder):
    for raw in (b"", b"[]", b"5", b"null", b'{"format": "tfjs"}', b"\xff\xfe", b'{"a": NaN}'):
        (folder / "model.json").write_bytes(raw)
        with pytest.raises(UserError, match="model.json"):
            storage.load(folder)


def test_a_newer_format_asks_for_an_upgrade(folder):
    newer = document.VERSION + 1
    rewritten(folder, lambda e: e.update(format_version=newer))
    for read in (storage.load, storage.read_about):
        with pytest.raises(
            UserError,
            match=rf"by a newer linnaeus \(format {newer}\); this one reads 1 to {newer - 1}",
        ):
            read(folder)


@pytest.mark.parametrize("version", ["one", 0, -1, True, 1.0, None, [2]])
def test_an_unknown_format_is_refused_by_name(folder, version):
    rewritten(folder, lambda e: e.update(format_version=version))
    for read in (storage.load, storage.read_about):
        with pytest.raises(UserError) as error:
            read(folder)
        told = f"of the unknown format {version!r}; this linnaeus reads 1 to {document.VERSION}."
        assert told in str(error.value)


def test_an_unknown_class_is_refused_by_name(folder):
    rewritten(folder, lambda e: e["state"].update({"$object": "linear-svn"}))
    with pytest.raises(FormatError) as error:
        storage.load(folder)
    assert str(error.value) == (
        f"{folder / 'model.json'}: it cannot be loaded: it names the class 'linear-svn', which a "
        f"model may not hold. Load only models that linnaeus has saved; a newer version may know "
        f"this class."
    )


# -- paths ----------------------------------------------------------------------------------


def test_paths_that_are_no_models_are_explained(folder):
    def message(path):
        with pytest.raises(UserError) as error:
            storage.load(path)
        with pytest.raises(UserError):
            storage.read_about(path)
        return str(error.value)

    above = folder.parent
    assert f"Did you mean the folder {folder}?" in message(above)
    assert f"is a file; a model is a folder. Did you mean the folder {folder}?" in message(
        folder / "model.json"
    )
    assert "There is no model" in message(above / "modell")
    assert "(did you mean 'model'?)" in message(above / "modell")
    (above / "empty").mkdir()
    assert "it holds nothing, and no model.json" in message(above / "empty")
    (above / "empty" / "a.txt").write_text("x")
    assert "it holds a.txt, and no model.json" in message(above / "empty")
    assert "Name the folder of a model" in message(above / "empty" / "a.txt")


@pytest.mark.parametrize("call", ["load", "read_about", "save"])
def test_what_may_not_be_read_is_told(folder, monkeypatch, call):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UserError, match="cannot be read: Permission denied. Check its permissions"):
        getattr(storage, call)(*([1] if call == "save" else []), folder)


def test_a_path_relative_to_here(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    storage.save({"x": 1}, "model")
    assert storage.load(Path("model")) == {"x": 1}
    with pytest.raises(UserError, match="^There is no model other"):
        storage.load("other")
