"""The command that turns published collections into folders."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from linnaeus import workflow
from linnaeus.cli.import_ import import_
from linnaeus.errors import UserError
from linnaeus.io import (
    read_clus,
    read_collection,
    read_lshtc,
    read_newsgroups,
    read_ohsumed,
    read_wipo,
)
from linnaeus.io.originals import READERS

RECORD = (
    '<record pn="{name}"><ipcs mc="{code}"/><tis><ti>t</ti></tis><cls><cl>c</cl></cls></record>'
)


def lshtc(folder):
    (folder / "cat_hier.txt").write_text("1 2\n1 3\n")
    (folder / "train.txt").write_text("2 1:0.1 5:2\n2,3 2:1\n")
    (folder / "test.txt").write_text("0 9:1\n")
    return read_lshtc(folder)


def newsgroups(folder):
    for group in ("alt.atheism", "rec.autos"):
        (folder / "20news-bydate-train" / group).mkdir(parents=True)
        (folder / "20news-bydate-train" / group / "7").write_text(f"Subject: x\n\n{group}")
    return read_newsgroups(folder)


def wipo(folder):
    for name, code in {"p": "D01B00100", "q": "A01B00100"}.items():
        (folder / f"{name}.xml").write_text(RECORD.format(name=name, code=code))
    return read_wipo(folder)


def clus(folder):
    head = "@relation x\n@attribute f numeric\n@attribute class hierarchical A,A/1\n@data\n"
    (folder / "d.train.arff").write_text(f"{head}1.5,A/1\n?,A\n")
    return read_clus(folder)


def ohsumed(folder):
    (folder / "mtrees2003.bin").write_text("Body;A01\nEye;A01.456\nEye;A09.371\nSense;A09\n")
    (folder / "ohsumed.87").write_text(".I 1\n.U\n88\n.M\nEye/*ME; Human.\n.T\nSight.\n")
    return read_ohsumed(folder)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def run():
    app = typer.Typer()
    app.command("import")(import_)

    def call(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return call


@pytest.mark.parametrize("make", [lshtc, newsgroups, wipo, clus, ohsumed])
def test_what_is_imported_is_what_was_read(make, source, tmp_path, run):
    data = make(source)
    result = run(make.__name__, source, "-o", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert (
        f"{len(data.taxonomy)} nodes" in result.output and "Next: linnaeus train" in result.output
    )
    back = read_collection(tmp_path / "new")
    assert back.taxonomy == data.taxonomy
    for name, part in data.parts():
        read = back.part(name)
        assert (read.ids, read.labels, read.texts) == (part.ids, part.labels, part.texts)
        if part.X is not None:
            dense = [X.toarray() if hasattr(X, "toarray") else X for X in (read.X, part.X)]
            np.testing.assert_array_equal(*dense)


def test_options_and_json(source, tmp_path, run):
    wipo(source)
    out = tmp_path / "d"
    result = run(
        "wipo", source, "-o", out, "--select", "D", "--plain", "--json", "-p", "text=title"
    )
    summary = json.loads(result.stdout)
    assert summary["parts"]["train"]["rows"] == 1 and summary["nodes"] == 4
    assert summary["files"] == ["taxonomy.tsv", "train.jsonl"]
    assert read_collection(out).train.texts == ["t"]


def write_graph(folder):
    """Rows of 4 classes in a ring of 6 categories, one of the classes without links."""
    (folder / "cat_hier.txt").write_text("11 1\n11 2\n12 3\n11 12\n12 11\n3 1\n4 4\n")
    rng = np.random.default_rng(0)
    for part, n in (("train", 8), ("test", 3)):
        rows = []
        for leaf in np.repeat([1, 2, 3, 4], n):
            words = rng.integers(0, 2, 8) + 3 * (np.arange(8) // 2 == leaf - 1)
            pairs = " ".join(f"{j}:{k}" for j, k in enumerate(words, 1) if k)
            rows.append(f"{leaf} {pairs}\n")
        (folder / f"{part}.txt").write_text("".join(rows))


@pytest.mark.parametrize("method", ["rr-svm", "rr-lr"])
def test_a_graph_is_imported_and_learned(method, source, tmp_path, linnaeus):
    write_graph(source)
    out, model = tmp_path / "graph", tmp_path / "model"
    code, text, err = linnaeus("import", "lshtc", source, "-o", out, "--graph")
    assert code == 0 and "graph: 6 nodes, 0 edges, 5 related links" in text
    assert "1 edges from a node to itself and 1 between nodes that are linked already" in err
    assert err.count("left out") == 1  # though there are two parts
    back = read_collection(out)
    assert back.taxonomy == read_lshtc(source, graph=True).taxonomy and back.taxonomy.is_graph
    code, text, err = linnaeus("train", out, "-o", model, "--method", method, "-p", "root=free")
    assert code == 0, err
    assert "4 classes in a graph of 6 nodes" in text
    code, text, err = linnaeus("evaluate", model, out, "--json")
    found = json.loads(text)
    assert code == 0 and found["classes"] == 4 and found["macro_f1"] > 0.8
    code, text, err = linnaeus("check", out, "--json")
    assert code == 0 and "unused_label" not in text  # what no row carries is an inner node


def test_a_graph_is_refused_where_there_is_none(source, tmp_path, linnaeus):
    write_graph(source)
    out = tmp_path / "new"
    code, _, err = linnaeus("import", "wipo", source, "-o", out, "--graph")
    assert code == 1 and "The format 'wipo' takes" in err and "not 'graph'" in err
    code, _, err = linnaeus("import", "lshtc", source, "-o", out)
    assert code == 1 and "cycle" in err and "give --graph" in err
    code, _, err = linnaeus("import", "lshtc", source, "-o", out, "--graph", "-p", "cycles=break")
    assert code == 1 and "-p cycles=break has no meaning with --graph" in err
    (source / "cat_hier.txt").write_text("11 1\n12\n")
    code, _, err = linnaeus("import", "lshtc", source, "-o", out, "--graph")
    assert code == 1 and "cat_hier.txt, line 2: found 1 column in '12'" in err
    assert not out.exists()


def test_notes_go_to_standard_error(source, tmp_path, run):
    lshtc(source)
    (source / "train.txt").write_text("".join(f"2,{n} 1:1\n" for n in range(10, 17)))
    result = run("lshtc", source, "-o", tmp_path / "new", "-p", "missing_labels=drop")
    assert result.exit_code == 0
    assert "the label '10' is not in the hierarchy" in result.stderr
    assert "and 2 more notes" in result.stderr and "label '10'" not in result.stdout


def test_mistakes_are_explained(source, tmp_path):
    lshtc(source)
    with pytest.raises(
        UserError, match=r"'lshtk' is not a known format \(did you mean 'lshtc'\?\)"
    ):
        workflow.import_collection("lshtk", source, tmp_path / "new")
    with pytest.raises(UserError, match="'newsgroups' takes strip_headers, parts, not 'select'"):
        workflow.import_collection("newsgroups", source, tmp_path / "new", select="x")
    with pytest.raises(UserError, match="source already exists. Remove it"):
        workflow.import_collection("lshtc", source, source)
    with pytest.raises(UserError, match="no folder .*nowhere to write new into"):
        workflow.import_collection("lshtc", source, tmp_path / "nowhere" / "new")
    (source / "train.txt").write_text("2 x\n")
    with pytest.raises(UserError, match="train.txt, line 1"):
        workflow.import_collection("lshtc", source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_every_reader_has_options_by_name():
    for name in READERS:
        assert workflow.import_options(name)
