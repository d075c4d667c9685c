"""``linnaeus check`` and ``linnaeus split``: what people have, looked at and divided."""

import json

import pytest

from linnaeus.io import read_collection

TREE = "parent,child\nanimal,cat\nanimal,dog\nplant,oak\nplant,rose\n"
WORDS = {"cat": "purr mew", "dog": "bark wag", "oak": "acorn bough"}


def rows():
    found = [[f"{WORDS[label]} number {i}", label] for i in range(8) for label in WORDS]
    found += [[found[0][0], "cat"], [found[1][0].upper() + "!", "oak"]]  # a copy, a contradiction
    found += [["", "cat"], ["meow", "kat"], ["meow meow", "kat"], ["thorn", "rose"], ["sand", ""]]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets/taxonomy.csv").write_text(TREE)
    lines = ["story;kind", *(f"{text};{label}" for text, label in rows())]
    (tmp_path / "pets/train.csv").write_text("\n".join(lines) + "\n", encoding="utf-16")
    (tmp_path / "pets/test.csv").write_text("story;kind\nnew;dog\npurr mew number 0;cat\n")
    return tmp_path / "pets"


def checked(linnaeus, *arguments):
    code, out, err = linnaeus("check", *arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    return found, {(f["kind"], f["part"]): f for f in found["findings"]}


def test_everything_at_once(linnaeus, folder):
    found, by = checked(linnaeus, folder)
    assert found["columns"] == {"text": ["story"], "labels": "kind"}
    assert by["empty_text", "train"]["rows"] == [27]
    assert by["unknown_label", "train"]["rows"] == [28, 29]
    assert "'kat' 2 times (did you mean 'cat'?)" in by["unknown_label", "train"]["message"]
    assert by["duplicate", "train"]["rows"] == [25, 26]
    assert by["conflict", "train"]["rows"] == [26]
    assert by["one_row_class", "train"]["rows"] == [30]
    assert by["no_label", "train"]["rows"] == [31]
    assert by["duplicate_across_parts", "test"]["rows"] == [2]
    said = " ".join(f["message"] for f in found["findings"] if f["kind"] == "reading")
    assert "UTF-16" in said and "semicolons" in said


def test_a_page_and_a_memory(linnaeus, folder):
    code, out, _err = linnaeus("check", folder, "--write", "--html", "page.html")
    assert code == 0 and "collection.toml" in out and "page.html" in out
    page = (folder.parent / "page.html").read_text()
    assert "did you mean" in page and "Unknown labels" in page and "<script" not in page
    kept = (folder / "collection.toml").read_text()
    assert 'labels = "kind"' in kept and 'text = ["story"]' in kept
    assert read_collection(folder, skip_bad=True).train.notes  # and it is still read


def test_labels_in_texts_and_languages(linnaeus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {
        "oaktree": "und der Baum ist nicht in dem Wald, er ist alt",
        "redrose": "the flower is in",
    }
    lines = ["text,label", *(f'"{w} {v} {i}",{v}' for i in range(10) for v, w in names.items())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    _, by = checked(linnaeus, "t.csv")
    assert by["leak", "train"]["count"] == 20
    assert "de 50%" in by["languages", "train"]["message"]


def test_what_cannot_be_read_is_one_message(linnaeus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    code, out, err = linnaeus("check", "x.csv")
    assert code == 1 and out == "" and "Name it with --labels COLUMN" in " ".join(err.split())


def test_split(linnaeus, folder):
    code, _out, err = linnaeus(
        "split", folder / "train.csv", "-o", "parts", "--test", 0.25, "--valid", 0.1, "--skip-bad"
    )
    assert code == 0, err
    read = read_collection("parts")
    assert (len(read.train), len(read.valid), len(read.test)) == (19, 3, 7)
    assert read.taxonomy.parents("rose") == ("plant",)
    place = {}
    for name, part in read.parts():
        for text in part.texts:
            plain = text.casefold().rstrip("!")
            assert place.setdefault(plain, name) == name or not plain
    again = linnaeus("split", folder / "train.csv", "-o", "parts", "--skip-bad")
    assert again[0] == 1 and "already exists" in again[2]


def test_split_refuses_what_is_divided(linnaeus, folder):
    code, _, err = linnaeus("split", folder, "-o", "parts", "--skip-bad")
    assert code == 1 and "divided already: it has train, test" in " ".join(err.split())
    code, _, err = linnaeus("split", folder / "train.csv", "-o", "p", "--test", 0.7, "--valid", 0.5)
    assert code == 1 and "leave something to train on" in " ".join(err.split())


def test_too_many_bad_rows_are_refused(linnaeus, folder):
    text = "story;kind\n" + "".join(f"bark {i};dgo\n" for i in range(9)) + "purr;cat\n"
    (folder / "train.csv").write_text(text)
    code, _, err = linnaeus("train", folder, "-o", "m", "--skip-bad")
    assert code == 1 and "9 of 10 rows are bad" in err and "--most-bad 0.9" in err


def test_the_taxonomy_of_a_table_is_remembered(linnaeus, folder):
    (folder / "taxonomy.csv").rename(folder / "tree.csv")
    table = folder / "train.csv"
    code, _, err = linnaeus("check", table, "--taxonomy", folder / "tree.csv", "--write")
    assert code == 0, err
    kept = (folder / "collection.toml").read_text()
    assert 'taxonomy = "tree.csv"' in kept and 'train = "train.csv"' in kept
    assert read_collection(table, skip_bad=True).taxonomy.parents("cat") == ("animal",)
