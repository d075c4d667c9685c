"""OHSUMED records and MeSH trees, small ones."""

import gzip

import pytest

from linnaeus.errors import UserError
from linnaeus.io import read_ohsumed
from linnaeus.io.originals.ohsumed import plain_term, read_trees

TREES = """\
Body Regions;A01
Abdomen;A01.047
Acetaldehyde;D02.047.064
Aldehydes;D02.047
Organic Chemicals;D02
Eye;A01.456
Eye;A09.371
Sense Organs;A09
"""
RECORDS = """\
.I 1
.U
88000001
.S
Alcohol 8801; 22(2):103-12
.M
Acetaldehyde/*ME; Buffers; Eye/PH/*ME; Human; *Abdomen.
.T
A title.
.P
JOURNAL ARTICLE.
.W
An abstract
of two lines.
.A
Riley J.
.I 2
.U
88000002
.M
Human; Buffers.
.T
Nothing known.
.I 3
.U
88000003
.M
ORGANIC CHEMICALS.
.T
No abstract.
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mtrees2003.bin").write_text(TREES)
    (tmp_path / "ohsumed.87").write_text(RECORDS)
    return tmp_path


def test_terms_become_all_their_places(folder):
    data = read_ohsumed(folder)
    assert data.train.ids == ["88000001", "88000003"]
    assert data.train.labels == [["A01.047", "A01.456", "A09.371", "D02.047.064"], ["D02"]]
    assert data.train.texts == ["A title.\nAn abstract of two lines.", "No abstract."]
    tax = data.taxonomy
    assert tax.roots == ("A", "D") and tax.ancestors("D02.047.064")[:2] == ("D", "D02")
    assert tax.title("A09.371") == "Eye" and data.test is None
    assert data.train.skipped == (
        "2 MeSH terms are not in the trees and were left out, most often 'buffers' (2 documents).",
    )


def test_a_letter_selects_documents_and_labels(folder):
    data = read_ohsumed(folder, select="A")
    assert data.train.labels == [["A01.047", "A01.456", "A09.371"]]
    assert data.taxonomy.roots == ("A",) and "D02" not in data.taxonomy
    data = read_ohsumed(folder, select="A09")
    assert data.train.labels == [["A09.371"]] and data.taxonomy.nodes == ("A09", "A09.371")
    with pytest.raises(UserError, match="'H' is not a node"):
        read_ohsumed(folder, select="H")


def test_trees_are_kept_whole_on_request(folder):
    few, all_ = read_ohsumed(folder), read_ohsumed(folder, restrict=False)
    assert len(all_.taxonomy) == 10 and len(few.taxonomy) == 10
    assert len(read_ohsumed(folder, select="D").taxonomy) == 4
    (folder / "ohsumed.87").write_text(RECORDS.replace("*Abdomen", "Abdomens"))
    assert "A01.047" not in read_ohsumed(folder).taxonomy
    assert "A01.047" in read_ohsumed(folder, restrict=False).taxonomy


def test_later_years_are_for_testing(folder):
    sub = folder / "trec9-test"
    sub.mkdir()
    (sub / "ohsumed.88.gz").write_bytes(gzip.compress(RECORDS.encode()))
    data = read_ohsumed(folder)
    assert len(data.train) == 2 and len(data.test) == 2
    data = read_ohsumed(sub / "ohsumed.88.gz", hierarchy=folder / "mtrees2003.bin")
    assert len(data.train) == 2 and data.test is None


def test_terms_lose_qualifiers_and_stars():
    assert plain_term("Acetaldehyde/*ME") == "acetaldehyde"
    assert plain_term(" *Eye/PH/ME ") == "eye"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("ohsumed.87", "text\n.I 1\n", "ohsumed.87, line 1: 'text' stands before the first record"),
        ("ohsumed.87", ".U\n1\n", "ohsumed.87, line 1: the field .U stands before the first"),
        ("ohsumed.87", ".I\n.U\n1\n", "ohsumed.87, line 1: the record has no number"),
        ("ohsumed.87", ".I 1\n.M\nHuman.\n", "No document of .* has a label. Check that the trees"),
        ("mtrees2003.bin", "Eye A01\n", "mtrees2003.bin, line 1: 'Eye A01' is not a name and a"),
        ("mtrees2003.bin", "Eye;A01.4\n", "line 1: nothing has the tree number 'A01' above"),
        ("mtrees2003.bin", "\n", "there is no tree number in the file. OHSUMED comes"),
        ("mtrees2004.bin", TREES, "several MeSH trees: mtrees2003.bin, mtrees2004.bin. Name one"),
    ],
)
def test_bad_files_are_named(folder, file, content, message):
    (folder / file).write_text(content)
    with pytest.raises(UserError, match=message):
        read_ohsumed(folder)


def test_what_is_missing_is_named(folder, tmp_path):
    (folder / "mtrees2003.bin").unlink()
    with pytest.raises(UserError, match=r"lacks the MeSH trees \(mtrees\*.bin\).*hierarchy=.* It"):
        read_ohsumed(folder)
    (folder / "ohsumed.87").unlink()
    with pytest.raises(UserError, match="lacks files ohsumed.87 to ohsumed.91. It is empty."):
        read_ohsumed(folder)
    with pytest.raises(UserError, match="nowhere is not there"):
        read_ohsumed(tmp_path / "nowhere")


def test_the_real_trees(shared, tmp_path):
    from linnaeus import Taxonomy

    given = sorted(shared("taxonomies", "mesh2015").glob("mtrees*"))
    if not given:
        pytest.skip("needs MeSH trees in the folder 'shared'")
    places, tax = read_trees(given[0])
    known = Taxonomy.read(given[0], format="mesh")
    assert {name.lower() for name in known.nodes} == set(places)
    assert len(tax) == len({n for ns in places.values() for n in ns}) + len(tax.roots)
