"""Reading and writing taxonomy files: every format on small examples, and the round trips."""

import gzip
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import MissingExtraError, TaxonomyError, UserError
from linnaeus.taxonomy import formats
from linnaeus.taxonomy.formats.arff import class_edges

LOSSLESS = ["t.tsv", "t.csv", "t.json", "t.obo", "t.ttl", "t.rdf", "t.tsv.gz", "t.rdf.gz"]


@pytest.fixture
def put(tmp_path):
    """Write a small file and read it as a taxonomy."""

    def write_and_read(name, text, format=None, **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return Taxonomy.read(path, format, **options)

    return write_and_read


@pytest.fixture
def zoo():
    """A DAG with an isolated node, titles and links, out of alphabetical order."""
    return Taxonomy.from_edges(
        [(None, "z"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), (None, "lone"), ("z", "y")],
        related=[("y", "b"), ("lone", "d")],
        titles={"a": "Alpha", "d": 'De "Delta", d!', "lone": "Ünï → ☃"},
    )


# -- edge lists -----------------------------------------------------------------------------


def test_plain_edge_lists(put):
    tax = put("t.tsv", "a\tb\n\na\tc\n\tlone\n#1\t# 2\n")
    assert tax.nodes == ("a", "b", "c", "lone", "#1", "# 2")
    assert tax.edges == (("a", "b"), ("a", "c"), ("#1", "# 2"))
    assert put("t.csv", 'a,"b, c"\n"d\ne",f\n').nodes == ("a", "b, c", "d\ne", "f")
    assert put("t.tsv", '"a"\tb,c\n').nodes == ('"a"', "b,c")


def test_titles_and_relations_of_edge_lists(put):
    assert put("t.tsv", "a\tb\tBee\na\tc\t\n").titles == {"b": "Bee"}
    tax = put(
        "t.csv",
        "Parent,CHILD,remark,relation,Title\n,a,x,,Ay\na,b,,broader,\na,c,,,Cee\nc,b,,related,Bee\n",
    )
    assert tax.edges == (("a", "b"), ("a", "c"))
    assert tax.related == (("b", "c"),)
    assert tax.titles == {"a": "Ay", "b": "Bee", "c": "Cee"}


def test_level_columns(put):
    tax = put("t.csv", "\ufefflevel 1,level 2,level 3\nA,,\nA,B,\nA,B,C\nD,E,\nD,F,\n")
    assert tax.edges == (("A", "B"), ("B", "C"), ("D", "E"), ("D", "F"))
    assert put("t.tsv", "Level 1\tLevel 2\nA\tB\n").edges == (("A", "B"),)


def test_titles_and_links_from_files_beside(tmp_path):
    (tmp_path / "taxonomy.tsv").write_text("a\tb\na\tc\n")
    (tmp_path / "labels.tsv").write_text("a\tAy\nx\tUnused\n")
    (tmp_path / "related.tsv.gz").write_bytes(gzip.compress(b"b\tc\nb\tx\ny\tx\n"))
    with pytest.warns(UserWarning, match=r"related.tsv.gz: 2 of 3 related links are left out"):
        tax = Taxonomy.read(tmp_path / "taxonomy.tsv")
    assert tax.titles == {"a": "Ay"}
    assert tax.related == (("b", "c"),)
    (tmp_path / "other.tsv").write_text("a\tb\n")
    assert not Taxonomy.read(tmp_path / "other.tsv").titles


@pytest.mark.parametrize("part", ["train.jsonl.gz", "test.csv", "any.svm.gz"])
def test_labels_of_a_collection_are_not_titles(tmp_path, part):
    (tmp_path / "taxonomy.tsv.gz").write_bytes(gzip.compress(b"a\tb\n"))
    (tmp_path / "labels.tsv").write_text("a\tAy\n")
    assert Taxonomy.read(tmp_path / "taxonomy.tsv.gz").titles == {"a": "Ay"}
    (tmp_path / part).write_text("")
    assert not Taxonomy.read(tmp_path / "taxonomy.tsv.gz").titles


def test_the_tsv_writer_is_plain_where_that_is_enough(tmp_path):
    path = tmp_path / "t.tsv"
    Taxonomy.from_edges([("a", "b"), ("a", "c"), (None, "lone")]).write(path)
    assert path.read_text() == "a\tb\na\tc\n\tlone\n"
    Taxonomy.from_edges([(None, "r"), (None, "s"), ("s", "t"), ("r", "u")]).write(path)
    assert path.read_text() == "\tr\ns\tt\nr\tu\n"  # s needs no line of its own
    titled = Taxonomy.from_edges([("a", "b")], [("a", "b")], {"a": "Ay"})
    titled.write(path)
    assert (
        path.read_text() == "parent\tchild\ttitle\trelation\n\ta\tAy\t\na\tb\t\t\na\tb\t\trelated\n"
    )
    for names in (("Parent", "child"), ("level 1", "level 2"), ("\ufeffa", "b")):
        mistakable = Taxonomy.from_edges([names])
        mistakable.write(path)
        assert Taxonomy.read(path) == mistakable


# -- paths ----------------------------------------------------------------------------------


def test_paths(put):
    tax = put("t.txt", "A/B/C\nA/D\n\nE/B\n")
    assert tax.nodes == ("A", "A/B", "A/B/C", "A/D", "E", "E/B")
    assert tax.title("E/B") == "B"
    assert put("t.txt", "A\nA > B/C\nA > B/C > D\n").edges[-1] == ("A > B/C", "A > B/C > D")
    assert put("t.paths", "A.B\nA.C\n", sep=".").roots == ("A",)
    head = "# Google_Product_Taxonomy_Version: 2021-09-21\n"
    assert put("t.txt", head + "A\nA > B\n").nodes == ("A", "A > B")


def test_google_product_taxonomy_with_ids(put):
    head = "# Google_Product_Taxonomy_Version: 2021-09-21\n"
    tax = put("t.txt", head + "1 - A & B\n30 - A & B > C\n5 - A & B > C > D - E\n")
    assert tax.edges == (("1", "30"), ("30", "5"))
    assert tax.titles == {"1": "A & B", "30": "C", "5": "D - E"}
    assert put("t.txt", "2 - A > B\n1 - A\n").edges == (("1", "2"),)


def test_paths_are_written_where_ids_are_paths(tmp_path):
    path = tmp_path / "t.txt"
    for lines, sep in ((["A/B/C", "D", "A/E"], "/"), (["A > B/C", "D > E"], " > ")):
        tax = Taxonomy.from_paths(lines, sep)
        tax.write(path)
        assert Taxonomy.read(path) == tax
    with pytest.raises(TaxonomyError, match="Node 'b' below 'a' has an id that is no path.*tsv"):
        Taxonomy.from_edges([("a", "b")]).write(path)
    with pytest.raises(TaxonomyError, match="Node 'c' has several parents"):
        Taxonomy.from_edges([("a", "c"), ("b", "c")]).write(path)
    for odd in ("1 - x", "a/b", " a", "a\nb", "# Google_Product_Taxonomy_Version"):
        with pytest.raises(TaxonomyError, match="no path"):
            Taxonomy.flat([odd]).write(path)
    with pytest.warns(UserWarning, match="no place for titles .*: 1 are left out"):
        Taxonomy.from_edges([("a", "a/b")], titles={"a/b": "Bee"}).write(path)


# -- OBO ------------------------------------------------------------------------------------

OBO = r"""format-version: 1.2
ontology: small

[Term]
id: X:2
name: two \{or\W2\} ! a remark
is_a: X:1 {source="here"} ! one
relationship: part_of X:3 ! three
relationship: has_part X:1

[Term]
id: X:1
name: one

! a remark
[Term]
id: X:3
is_obsolete: false

[Term]
id: X:4
is_obsolete: true

[Typedef]
id: part_of
name: part of
is_a: nothing
"""


def test_obo(put):
    tax = put("t.obo", OBO)
    assert tax.nodes == ("X:1", "X:2", "X:3")
    assert tax.edges == (("X:1", "X:2"),)
    assert tax.related == (("X:2", "X:3"),)
    assert tax.titles == {"X:1": "one", "X:2": "two {or 2}"}
    with pytest.warns(UserWarning, match="1 of 1 part_of links are left out"):
        put("t.obo", OBO.replace("part_of X:3", "part_of X:4"))


# -- SKOS -----------------------------------------------------------------------------------

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/things/> .
:animal a skos:Concept ; skos:prefLabel "eläin"@fi, "animal"@en ; skos:narrower :cat .
:dog a skos:Concept ; skos:broader :animal ; skos:prefLabel "koira"@fi, "hund"@de .
:cat a skos:Concept ; skos:related :dog ; skos:broader :animal ; skos:prefLabel "puss", "x"@de .
:old a skos:Concept .
"""


def test_skos(put):
    tax = put("t.ttl", TURTLE)
    assert set(tax.nodes) == {"animal", "dog", "cat", "old"}
    assert set(tax.edges) == {("animal", "dog"), ("animal", "cat")}
    assert [set(pair) for pair in tax.related] == [{"cat", "dog"}]
    assert tax.titles == {"animal": "animal", "dog": "hund", "cat": "puss"}
    finnish = put("t.ttl", TURTLE, language="fi")
    assert finnish.titles == {"animal": "eläin", "dog": "koira", "cat": "puss"}


def test_ambiguous_skos_ids_are_whole_uris(put):
    tax = put("t.ttl", TURTLE + "<http://example.org/else#old> a skos:Concept .")
    assert "http://example.org/things/cat" in tax
    assert "http://example.org/else#old" in tax


def test_written_skos_keeps_uris_and_encodes_other_names(tmp_path):
    names = ["http://x.org/a#b", "urn:isbn:1", "urn:linnaeus:q", "GO:1 %2F/é", "http:// no"]
    tax = Taxonomy.flat(names)
    tax.write(tmp_path / "t.ttl")
    text = (tmp_path / "t.ttl").read_text()
    assert "<http://x.org/a#b> a" in text
    assert "<urn:isbn:1> a" in text
    assert "<urn:linnaeus:GO:1%20%252F%2F%C3%A9> a" in text
    assert Taxonomy.read(tmp_path / "t.ttl") == tax


def test_skos_needs_rdflib(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtraError, match=r"rdflib.*linnaeus\[formats\]"):
        put("t.ttl", TURTLE)


# -- MeSH, LSHTC, ENZYME --------------------------------------------------------------------


def test_mesh(put):
    lines = "Body Regions;A01\nBreast; female;A01.236\nSkin;A17\nBreast; female;A17.5\n"
    for name in ("mtrees2015.bin", "t.bin"):
        tax = put(name, lines)
        assert tax.edges == (("Body Regions", "Breast; female"), ("Skin", "Breast; female"))
    head = "mesh_id\tmesh_name\tmesh_tree_number\n"
    tax = put("t.tsv", head + "D2\tBreast\tA01.236\nD1\tBody\tA01\nD1\tBody\tB02\n")
    assert tax.edges == (("D1", "D2"),)
    assert tax.titles == {"D1": "Body", "D2": "Breast"}
    assert put("t.csv", head.replace("\t", ",") + 'D1,"Body, human",A01\n').title("D1")[-1] == "n"


def test_lshtc(put, tmp_path, zoo):
    tax = put("cat_hier.txt", "1 2\n1\t3\n\n5 6 7\n")
    assert tax.edges == (("1", "2"), ("1", "3"), ("5", "6"), ("6", "7"))
    assert put("t.dat", "1 2\n1 3\n") == put("cat_hier.txt", "1 2\n1 3\n")
    tax.write(tmp_path / "out.lshtc")
    assert (tmp_path / "out.lshtc").read_text() == "1 2\n1 3\n5 6\n6 7\n"
    with pytest.raises(UserError, match="'a b' holds white space.*tsv"):
        Taxonomy.from_edges([("a b", "c")]).write(tmp_path / "out.lshtc")
    with pytest.raises(TaxonomyError, match="'lone' has neither parent nor child"):
        zoo.write(tmp_path / "out.lshtc")
    with pytest.warns(UserWarning, match="no place for titles: 1 are left out"):
        Taxonomy.from_edges([("a", "b")], titles={"a": "Ay"}).write(tmp_path / "out.lshtc")


def test_enzclass(put):
    text = "-----\n   ENZYME\nRelease: 5\n\n1. -. -.-  Oxi.\n1. 1. -.-   On  CH.\n1.10. -.-  D.\n"
    for name in ("enzclass.txt", "t.txt"):
        tax = put(name, text + "1.10.99.-    With 2.\n\nThere are no restrictions.\n")
        assert tax.edges == (("1", "1.1"), ("1", "1.10"), ("1.10", "1.10.99"))
        assert tax.titles["1.1"] == "On  CH."


# -- JSON -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"A": {"B": {"C": {}}, "D": null}, "E": {}}',
        '{"A": [{"B": ["C"]}, "D"], "E": []}',
        '[{"name": "A", "children": [{"name": "B", "children": [{"name": "C"}]}, "D"]}, "E"]',
        '{"format": "linnaeus-taxonomy", "nodes": [{"id": "A"}, {"id": "B", "parents": ["A"]},'
        '{"id": "C", "parents": ["B"]}, {"id": "D", "parents": ["A"]}, {"id": "E"}]}',
    ],
)
def test_json_nested(put, text):
    tax = put("t.json", text)
    assert tax.nodes == ("A", "B", "C", "D", "E")
    assert tax.edges == (("A", "B"), ("B", "C"), ("A", "D"))


def test_json_titles_and_numbers(put):
    tax = put("t.json", '{"name": "A", "title": "Ay", "children": [{"id": 7, "name": "Seven"}, 8]}')
    assert tax.nodes == ("A", "7", "8")
    assert tax.titles == {"A": "Ay", "7": "Seven"}


def test_json_like_audioset(put):
    tax = put(
        "t.json",
        '[{"id": "/m/1", "name": "One", "child_ids": ["/m/2", "/m/3"]}, {"id": "/m/2", "name": '
        '"Two", "child_ids": ["/m/3"]}, {"id": "/m/3"}, {"id": "/m/4", "child_ids": []}]',
    )
    assert tax.nodes == ("/m/1", "/m/2", "/m/3", "/m/4")
    assert tax.parents("/m/3") == ("/m/1", "/m/2")
    assert tax.titles == {"/m/1": "One", "/m/2": "Two"}


# -- ARFF -----------------------------------------------------------------------------------


def test_arff_header_of_a_tree(put):
    tax = put(
        "t.arff",
        "% remark\n@RELATION x\n@ATTRIBUTE a numeric\n"
        "@attribute 'the class'   hierarchical  2,3 ,2/0/1,3/1\n@DATA\n1,2/0/1\n",
    )
    assert tax.nodes == ("2", "3", "2/0", "2/0/1", "3/1")
    assert tax.edges == (("2", "2/0"), ("2/0", "2/0/1"), ("3", "3/1"))


def test_class_edges():
    assert class_edges("1/1,1/2") == [(None, "1"), ("1", "1/1"), ("1", "1/2")]
    dag = class_edges("root/A,root/B,A/C,B/C,root/C")
    assert dag == [(None, "A"), (None, "B"), ("A", "C"), ("B", "C")]
    with pytest.raises(UserError, match="the class 'a/' has an empty name"):
        class_edges("a,a/")


# -- round trips ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSLESS)
def test_everything_comes_back(tmp_path, zoo, name):
    zoo.write(tmp_path / name)
    assert Taxonomy.read(tmp_path / name) == zoo
    first = (tmp_path / name).read_bytes()
    zoo.write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", LOSSLESS)
def test_integer_names_come_back_as_text(tmp_path, name):
    numbers = Taxonomy.from_edges([(7, 8), (7, 3)], related=[(8, 3)], titles={8: "Eight"})
    numbers.write(tmp_path / name)
    back = Taxonomy.read(tmp_path / name)
    assert back.nodes == ("7", "8", "3")
    assert back.titles == {"8": "Eight"}
    assert back.related == (("8", "3"),)
    with pytest.raises(UserError, match="Two nodes are called '1' once"):
        Taxonomy.flat([1, "1"]).write(tmp_path / name)


CHARACTERS = {
    "tsv": st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"),
    "csv": st.characters(exclude_categories=["Cs"], exclude_characters="\r"),
    "obo": st.characters(exclude_categories=["Cs"], exclude_characters="\r"),
    "json": st.characters(exclude_categories=["Cs"]),
    "ttl": st.characters(exclude_categories=["Cs"]),
    "rdf": st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.sampled_from("\n\t\r"),
}


@st.composite
def taxonomies(draw, characters):
    """DAGs with any names, titles and links."""
    special = st.sampled_from(["parent", "child", "[Term]", " ", "x ! y", "a{b}", "http://x/y#z"])
    texts = st.text(characters, min_size=1, max_size=6) | special
    names = draw(st.lists(texts, min_size=1, max_size=7, unique=True))
    edges = []
    for v, name in enumerate(names):
        above = draw(st.lists(st.integers(0, v - 1), max_size=2, unique=True)) if v else []
        edges += [(names[p], name) for p in above] or [(None, name)]
    some = st.sampled_from(names)
    related = draw(st.lists(st.tuples(some, some), max_size=3))
    titles = draw(st.dictionaries(some, texts, max_size=3))
    return Taxonomy.from_edges(draw(st.permutations(edges)), related, titles)


@pytest.mark.parametrize("suffix", CHARACTERS)
def test_any_taxonomy_comes_back(tmp_path_factory, suffix):
    path = tmp_path_factory.mktemp("law") / f"t.{suffix}"

    @given(taxonomies(CHARACTERS[suffix]))
    def law(tax):
        tax.write(path)
        assert Taxonomy.read(path) == tax

    law()


# -- guessing and choosing ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a\tb\na\tc\n", "c"),
        ("parent,child\na,c\n", "c"),
        ("a,b\na,c\n", "c"),
        ("A/B\nA/c\n", "A/c"),
        ("A > B\nA > c\n", "A > c"),
        ("1 - A\n2 - A > c\n", "2"),
        ("12 13\n12 14\n", "14"),
        ("Body;A01\nBreast;A01.236\n", "Breast"),
        ("1. -. -.-  Oxi.\n", "1"),
        ('{"A": {"c": {}}}', "c"),
        (OBO, "X:1"),
        (TURTLE, "cat"),
        (
            "<http://x/c> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
            "<http://www.w3.org/2004/02/skos/core#Concept> .",
            "c",
        ),
        ("@relation x\n@attribute class hierarchical a,a/c\n@data\n", "a/c"),
    ],
)
def test_guessing_by_content(put, text, node):
    assert node in put("file", text)
    assert node in put("file.txt", text)


def test_choosing_a_format(put, tmp_path, zoo):
    assert put("t.xyz", "a,b\n", "csv").nodes == ("a", "b")
    zoo.write(tmp_path / "t.xyz", "json")
    assert Taxonomy.read(tmp_path / "t.xyz") == zoo
    zoo.write(tmp_path / "t.xyz", "skos")
    assert Taxonomy.read(tmp_path / "t.xyz") == zoo
    with pytest.raises(UserError, match="'ods' is not a known taxonomy format.*tsv, csv, paths"):
        put("t.xyz", "a,b\n", "ods")
    with pytest.raises(UserError, match="'csv' takes no options, not 'sep'"):
        put("t.csv", "a,b\n", sep=";")
    with pytest.raises(UserError, match="'paths' takes sep, not 'language'"):
        put("t.paths", "a/b\n", language="fi")
    with pytest.raises(UserError, match=r"t.xyz does not say in which format.*tsv, csv"):
        zoo.write(tmp_path / "t.xyz")
    with pytest.raises(UserError, match="'arff' can be read but not written.*tsv, csv"):
        zoo.write(tmp_path / "t.arff")


def test_the_table_of_formats_is_complete():
    assert list(formats.FORMATS) == [
        "tsv", "csv", "paths", "obo", "skos", "json", "lshtc", "outline", "mesh", "enzclass",
        "arff", "xlsx",
    ]  # fmt: skip
    assert all(entry.about for entry in formats.FORMATS.values())


def test_lossless_writing_is_silent(tmp_path, zoo):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for name in LOSSLESS:
            zoo.write(tmp_path / name)
            Taxonomy.read(tmp_path / name)


def test_nested_json_may_repeat_a_name_under_other_parents(tmp_path):
    path = tmp_path / "shop.json"
    path.write_text('{"Men": {"Boots": {}}, "Women": {"Boots": {}, "Hats": {}}}')
    tax = Taxonomy.read(path)
    assert tax.nodes == ("Men", "Men/Boots", "Women", "Women/Boots", "Women/Hats")
    assert tax.titles["Men/Boots"] == tax.titles["Women/Boots"] == "Boots"
