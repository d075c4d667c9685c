"""Taxonomy files as people have them: never upside down, and what was guessed is said."""

import json
import re
import sys
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import FormatError, MissingExtraError
from linnaeus.taxonomy.formats import read_noted

TREE = {("Animals", "Dogs"), ("Animals", "Cats"), ("Dogs", "Poodles"), ("Plants", "Oaks")}


@pytest.fixture
def put(tmp_path):
    """Write a small file, as text or as bytes, and read it as a taxonomy."""

    def write_and_read(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Taxonomy.read(path, **options)

    return write_and_read


def table(header, order, sep=",", empty="", pairs=TREE, roots=("Animals", "Plants")):
    """A table of the tree: `order` says what the columns hold (p, c, or another text)."""
    rows = [(empty, root) for root in roots] + sorted(pairs)
    cells = [[{"p": p, "c": c}.get(o, o) for o in order] for p, c in rows]
    return "\n".join(sep.join(row) for row in [header, *cells]) + "\n"


HEADERS = [
    ("parent,child", "pc"), ("child,parent", "cp"), ("id,parent", "cp"), ("ID,Parent ID", "cp"),
    ("parentId,id", "pc"), ("Category,Parent category", "cp"), ("name,parent", "cp"),
    ("source,target", "pc"), ("target,source", "cp"), ("narrower,broader", "cp"),
    ("BROADER,NARROWER", "pc"), ("Node,Parent", "cp"), ("title,parent_id", "cp"),
    ("Begriff,Oberbegriff", "cp"), ("Unterkategorie,Oberkategorie", "cp"), ("from,to", "pc"),
    ("term,broader term", "cp"), ("Superclass,Class", "pc"), ("nom,parent", "cp"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "order"), HEADERS)
@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_headers_decide_the_direction(put, header, order, sep):
    names = header.split(",")
    tax = put("t.csv", table(names, order, sep))
    assert set(tax.edges) == TREE
    assert tax.roots == ("Animals", "Plants")
    assert not tax.titles
    own = set(names) <= {"parent", "child"}
    assert own != any(f"parent from {names[order.index('p')]!r}" in note for note in tax.notes)


def test_ids_and_titles(put):
    rows = "1,Animals,\n2,Dogs,1\n3,Other,1\n4,Plants,\n5,Other,4\n"
    tax = put("t.csv", "id,name,parent\n" + rows)
    assert tax.edges == (("1", "2"), ("1", "3"), ("4", "5"))
    assert tax.titles == {"1": "Animals", "2": "Dogs", "3": "Other", "4": "Plants", "5": "Other"}
    assert put("t.csv", "Code;Bezeichnung;Parent\n" + rows.replace(",", ";")) == tax
    assert put("t.csv", "id,category,parent_id\n" + rows) == tax
    wide = "id,name,title,parent,url\n1,a,Ay,,x\n2,b,Bee,1,y\n"
    tax = put("t.csv", wide)
    assert tax.titles == {"1": "Ay", "2": "Bee"}
    assert "not used: 'name', 'url'" in tax.notes[0]
    both = "child_id,child_name,parent_name,parent_id\n"
    tax = put("t.csv", both + "2,Dogs,Animals,1\n3,Cats,Animals,1\n4,x,Dogs,2\n")
    assert tax.edges == (("1", "2"), ("1", "3"), ("2", "4"))
    assert tax.titles["2"] == "Dogs"


@pytest.mark.parametrize(
    ("header", "missing"),
    [("id,colour", "parent"), ("Category,Description", "parent"), ("parent,colour", "node")],
)
def test_half_a_header_is_an_error_that_lists_what_is_understood(put, header, missing):
    with pytest.raises(
        FormatError, match=rf"line 1: .*understood as the {missing}.*broader.*narro"
    ):
        put("t.csv", f"{header}\nx,y\n")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "cat_hier.txt"])
def test_a_file_that_looks_child_first_is_refused_with_the_question(put, name):
    sep = {"t.tsv": "\t", "cat_hier.txt": " "}.get(name, ",")
    pairs = sep.join(["2", "1"]), sep.join(["3", "1"]), sep.join(["4", "3"])
    with pytest.raises(FormatError, match=r"Is the child first\? .*header line child, parent"):
        put(name, "\n".join(pairs) + "\n")
    with pytest.raises(FormatError, match=r"line 1: .*child is empty.*Is the child first\?"):
        put("u.csv", "Animals,\nDogs,Animals\n")


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("id,parent", "1,0\n2,1\n3,1\n", "'0' as no parent"),
        ("id,parent", "1,NULL\n2,1\n3,1\n", "'NULL' as no parent"),
        ("id,parent", "1,nan\n2,1.0\n3,1.0\n", "'1.0' as '1'"),
        ("id,parent", "1,-\n2,1\n3,1\n", "'-' as no parent"),
        ("id,name,parent", "1,Top,\n2,A,Top\n3,B,Top\n", "given by title.*'Top' as '1'"),
        ("id,parent", " 1 ,\n2, 1\n3,1\n", "blanks around names were left out on 2 lines"),
    ],
)
def test_parents_that_are_no_ids(put, header, rows, said):
    tax = put("t.csv", f"{header}\n{rows}")
    assert tax.edges == (("1", "2"), ("1", "3"))
    assert tax.roots == ("1",)
    assert any(re.search(said, note) for note in tax.notes), tax.notes


def test_parents_in_other_case_and_several_in_a_cell(put):
    tax = put("t.csv", "Category,Parent\nAnimals,\nPets,\nDogs,animals\nCats,Animals|Pets\n")
    assert tax.edges == (("Animals", "Dogs"), ("Animals", "Cats"), ("Pets", "Cats"))
    assert any("'animals' as 'Animals'" in note for note in tax.notes)
    assert any("'Cats' below several parents is one node" in note for note in tax.notes)


def test_unknown_and_doubtful_parents(put):
    with pytest.raises(
        FormatError, match="line 4: node '3' has the unknown parent '9'.*Add a line"
    ):
        put("t.csv", "id,parent\n1,\n2,1\n3,9\n")
    with pytest.raises(FormatError, match=r"line 4: the parent 'A' is the title of several nodes"):
        put("t.csv", "id,name,parent\n1,A,\n2,A,\n3,B,A\n")
    with pytest.raises(
        FormatError, match="line 2: Node '1' is given as its own parent.*empty cell"
    ):
        put("t.csv", "id,parent\n1,1\n2,1\n")
    tax = put("t.csv", "id,parent\nA,root\nB,A\n")
    assert tax.roots == ("root",)
    assert "'root' has no line of its own, and became a top node" in tax.notes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(put, encoding):
    text = "Kategorie;Oberbegriff\r\nTiere;\r\nHündchen;Tiere\r\nKätzchen;Tiere\r\n"
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    tax = put("t.csv", mark + text.encode(encoding))
    assert tax.edges == (("Tiere", "Hündchen"), ("Tiere", "Kätzchen"))
    said = {"cp1252": "read as CP1252", "utf-16": "UTF-16", "utf-16-le": "UTF-16"}.get(encoding)
    assert said is None or any(said in note for note in tax.notes)


def test_zip_and_workbooks(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("any.csv", table(["id", "parent"], "cp"))
    assert set(Taxonomy.read(tmp_path / "t.csv.zip").edges) == TREE
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("Level 1", "Level 2"), ("A", "x"), (None, "y"), ("B", 7.0), (None, "x")]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    tax = Taxonomy.read(tmp_path / "t.xlsx")
    assert tax.edges == (("A", "A/x"), ("A", "y"), ("B", "7"), ("B", "B/x"))
    assert "2 rows whose first levels are empty were put below the row above" in tax.notes
    (tmp_path / "u.xlsx").write_text("a,b\n")
    with pytest.raises(FormatError, match="no workbook"):
        Taxonomy.read(tmp_path / "u.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match="openpyxl"):
        Taxonomy.read(tmp_path / "t.xlsx")


def test_json_records_that_name_their_parents(put):
    rows = [
        {"id": 1, "parent": None},
        {"id": 2, "name": "Two", "parent": 1},
        {"id": 3, "parent": 2},
    ]
    for data in (rows, {"count": 3, "data": rows}):
        tax = put("t.json", json.dumps(data))
        assert tax.edges == (("1", "2"), ("2", "3"))
        assert tax.titles == {"2": "Two"}
    several = [{"id": "a", "parents": []}, {"id": "b"}, {"id": "c", "parents": ["a", "b"]}]
    assert put("t.json", json.dumps(several)).parents("c") == ("a", "b")


# -- paths, levels, outlines ------------------------------------------------------------------

NAMESAKES = ("A", "A/Other", "x", "B", "B/Other")
SAME = {
    "levels.csv": "Level 1;Level 2\nA;Other\nA;x\nB;Other\n",
    "ladder.csv": "Category,Subcategory,Note\nA,Other,!\nA,x,!\nB,Other,!\n",
    "ditto.csv": "L1,L2\nA,\n,Other\n,x\nB,Other\n",
    "tabs.outline": "A\n\tOther\n\tx\nB\n\tOther\n",
    "blanks.txt": "A\n    Other\n    x\nB\n    Other\n",
    "bullets.md": "- A\n  - Other\n  - x\n- B\n  - Other\n",
    "padded.csv": "level_0,level_1,level_2\nA,Other,NaN\nA,x,NaN\nB,Other,NaN\n",
}


@pytest.mark.parametrize("name", SAME)
def test_namesakes_stay_two_nodes(put, name):
    tax = put(name, SAME[name])
    assert tax.nodes == NAMESAKES
    assert tax.titles == {"A/Other": "Other", "B/Other": "Other"}


def test_namesakes_whose_names_hold_the_separator(put):
    tax = put("t.csv", "L1,L2,L3\nA,B/C,D\nA/B,C,D\n")
    assert len(tax) == 6
    assert tax.leaves == ("A > B/C > D", "A/B > C > D")


def test_a_thesaurus_in_level_columns_is_a_dag(put):
    rows = [f"top,a{i},x{i},\ntop,b,a{i},x{i}\n" for i in range(5)]
    text = "level 1,level 2,level 3,level 4\n"
    tax = put("t.csv", text + "".join(rows))
    assert tax.parents("a3") == ("top", "b")
    assert "10 names that recur with the same names below them are one node each" in tax.notes
    assert len(put("t.csv", text + "".join(rows[:4]))) > len({"top", "b"}) + 8  # too few to tell


def test_biological_ranks(put):
    tax = put("t.tsv", "Genus\tFamily\tSpecies\nCanis\tCanidae\tlupus\nFelis\tFelidae\tcatus\n")
    assert tax.roots == ("Canidae", "Felidae")
    assert tax.edges[0] == ("Canidae", "Canis")


@pytest.mark.parametrize("sep", [" > ", ">", "/", "::", "|", " / ", "»", "\\"])
def test_separators_of_paths(put, sep):
    lines = ["A", sep.join("AB"), sep.join("ABC"), "D", sep.join("DE") + sep.rstrip()]
    tax = put("t.txt", "\n".join(lines) + "\n")
    assert [tax.title(v) for v in tax] == ["A", "B", "C", "D", "E"]
    assert tax.roots == ("A", "D")


def test_the_separator_is_chosen_by_evidence(put):
    tax = put("t.txt", "Arts/Crafts\nArts/Crafts > Paint\nHome/Garden\nHome/Garden > Tools\n")
    assert tax.roots == ("Arts/Crafts", "Home/Garden")
    assert tax.notes == ("paths with '>' between their parts",)
    assert put("t.txt", "/A/B/\n/A/C\n").edges == (("A", "A/B"), ("A", "A/C"))
    assert Taxonomy.from_paths(["A/B/", "A/B"]).nodes == ("A", "A/B")


def test_numbered_outlines(put):
    tax = put("t.txt", "1 Animals\n  1.1 Dogs\n  1.2. Cats\n2 Plants\n")
    assert tax.edges == (("1", "1.1"), ("1", "1.2"))
    assert tax.title("1.2") == "Cats"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("A\n    B\n  C\n", 3, "'C' fits none of the lines above"),
        ("A\n\tB\n\t\t\tC\n", 3, "'C' is not one step deeper"),
        ("A\n\tB\n        C\n", 3, "'C' fits none"),
        ("  A\nB\n", 2, "'B' fits none"),
    ],
)
def test_an_indentation_that_fits_nowhere_names_the_line(put, text, line, says):
    with pytest.raises(FormatError, match=says) as caught:
        put("t.outline", text)
    assert caught.value.line == line


names = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=5
).filter(lambda t: t == t.strip() and t[0] not in "-*+•–·" and not t[0].isdigit())


@given(st.lists(st.lists(names, min_size=1, max_size=4), min_size=1, max_size=6))
def test_outlines_and_levels_say_the_same(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("outline")
    paths = sorted({tuple(row[: i + 1]) for row in rows for i in range(len(row))})
    lines = ["\t" * (len(path) - 1) + path[-1] for path in paths]
    (folder / "t.outline").write_text("\n".join(lines) + "\n", encoding="utf-8")
    by_outline = Taxonomy.read(folder / "t.outline")
    assert len(by_outline) == len(paths)
    by_outline.write(folder / "back.outline")
    assert set(Taxonomy.read(folder / "back.outline").edges) == set(by_outline.edges)
    for suffix in ("tsv", "csv", "json"):
        by_outline.write(folder / f"t.{suffix}")
        assert Taxonomy.read(folder / f"t.{suffix}") == by_outline


def test_what_is_plain_is_told_to_who_asks_only(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tb\na\tc\n")
    tax, notes = read_noted(tmp_path / "t.tsv")
    assert tax.notes == ()
    assert notes.facts == ["no header: the first column is the parent, the second the child"]
