"""The command: what it prints and writes, and how it refuses."""

import io
import json

import pytest
from test_explain import TEXT, TREE, corpus

from linnaeus.model import train


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "model"
    train(corpus(), TREE, "rr-svm", rule="argmax").save(path)
    return path


def test_a_text(saved, linnaeus):
    code, out, _ = linnaeus("explain", saved, "--text", TEXT, "--why-not", "weather", "--top", 3)
    assert code == 0
    assert "Football <b>  (rr-svm, rule argmax)" in out
    assert "✗ weather" in out and "from Sport & games" in out
    assert "[+goal]" in out and "inherited" in out


def test_standard_input_and_json(saved, linnaeus, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(TEXT))
    code, out, _ = linnaeus("explain", saved, "--text", "-", "--json")
    found = json.loads(out)
    assert code == 0 and found["labels"] == ["football"]
    assert found["nodes"][-1]["reasons"][0]["inherited"].keys() == {"sport"}


def test_a_row_of_a_file(saved, linnaeus, tmp_path):
    rows = [{"id": f"r{i}", "text": text} for i, text in enumerate(["sun and wind", TEXT])]
    data = tmp_path / "new.jsonl"
    data.write_text("".join(json.dumps(row | {"labels": []}) + "\n" for row in rows))
    by_number = linnaeus("explain", saved, "--data", data, "--row", 2, "--json")
    by_id = linnaeus("explain", saved, "--data", data, "--id", "r1", "--json")
    assert by_number[0] == 0 and by_number == by_id
    code, _, err = linnaeus("explain", saved, "--data", data, "--row", 3)
    assert code == 1 and "has no row 3; it has 2 rows" in err.replace("\n", " ")
    code, _, err = linnaeus("explain", saved, "--data", data, "--id", "r9")
    assert code == 1 and "no row with the id 'r9'" in err.replace("\n", " ")
    code, _, err = linnaeus("explain", saved, "--data", data)
    assert code == 1 and "Name one row" in err
    code, _, err = linnaeus("explain", saved, "--data", data, "--row", 0)
    assert code == 1 and "counted from 1" in err


def test_a_node_by_its_title_and_pages(saved, linnaeus, tmp_path):
    page = tmp_path / "node.html"
    code, out, _ = linnaeus("explain", saved, "--node", "News", "--html", page, "--top", 4)
    assert code == 0 and "24 training rows" in out and "counts for it" in out
    assert "more News" in out and page.read_text().startswith("<!doctype html>")
    why = tmp_path / "why.html"
    assert linnaeus("explain", saved, "--text", TEXT, "--html", why)[0] == 0
    assert "Why Football &lt;b&gt;?" in why.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to explain. Give --text, --data with --row, or --node"),
        (("--text", " "), "The text is empty"),
        (("--text", "a", "--node", "news"), "--node cannot go with"),
        (("--text", "a", "--row", "1"), "Give it with --data"),
        (("--text", "a", "--data", __file__, "--row", "1"), "either a text or a row"),
        (
            ("--node", "newz"),
            "'newz' is neither the id nor the title of a node (did you mean 'news'",
        ),
        (
            ("--text", "a", "--why-not", "rugby"),
            "'rugby' is neither the id nor the title of a node",
        ),
    ],
)
def test_mistakes(saved, linnaeus, arguments, message):
    code, out, err = linnaeus("explain", saved, *arguments)
    assert code == 1 and out == ""
    assert message in " ".join(err.split())
