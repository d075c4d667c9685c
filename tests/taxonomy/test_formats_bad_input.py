"""Files that are wrong: the error names the file, the line, the value and what to do."""

import gzip
import time
from pathlib import Path

import numba
import pytest

from linnaeus import Taxonomy
from linnaeus.errors import FormatError, TaxonomyError, UserError
from linnaeus.taxonomy import formats

HUGE = 2_500_000
LEVELS = "level 1,level 2,level 3\n"
GOOGLE = "# Google_Product_Taxonomy_Version: 2021-09-21\n"
MESH = "mesh_id\tmesh_name\tmesh_tree_number\n"
PREFIX = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"

# file name, content, line or None, what the message says (value and remedy)
BAD = {
    "one column": ("t.tsv", "a\tb\nc\n", 2, "1 column in 'c'.*Every line needs 2"),
    "first line": ("t.tsv", "a b\n", 1, "1 column in 'a b'.*Write parent and child.*tab"),
    "five columns": ("t.csv", "a,b,c,d,e\n", 1, "5 columns in 'a,b,c,d,e'.*header line"),
    "a stray tab": ("t.tsv", "a\tb\na\tb\tc\n", 2, r"3 columns in 'a\\tb\\tc'"),
    "short of the header": ("t.csv", "parent,child,title\na,b\n", 2, "2 columns.*needs 3"),
    "empty child": ("t.tsv", "a\tb\na\t\n", 2, "name of the child is empty. Write a name"),
    "only separators": ("t.csv", "a,b\n,\n", 2, "name of the child is empty"),
    "unknown relation": (
        "t.csv", "parent,child,relation\na,b,isa\n", 2, "'isa' is unknown.*broader",
    ),
    "half a link": ("t.csv", "parent,child,relation\n,b,related\n", 2, "needs two names"),
    "two titles": ("t.tsv", "a\tb\tX\nc\tb\tY\n", 2, "'b' has the title 'Y' here, but 'X'"),
    "self-loop": ("t.tsv", "a\tb\nb\tb\n", 2, "'b' is given as its own parent"),
    "root with parent": ("t.tsv", "a\tb\n\n\tb\n", 3, "'b' is declared a root.*Remove one"),
    "cycle": ("t.tsv", "a\tb\nb\tc\nc\ta\n", None, "has a cycle: .*a -> b.*remove one"),
    "open quote": ("t.csv", 'a,b\n"c,d\ne,f\n', 2, "not valid CSV.*Close every quote"),
    "gap in levels": ("t.csv", LEVELS + "A,,C\n", 2, "level 2 is empty in 'A,,C'"),
    "no level": ("t.csv", LEVELS + ",B,\n", 2, "level 1 is empty"),
    "too many levels": ("t.csv", LEVELS + "A,B,C,D\n", 2, "4 columns.*names 3 levels"),
    "empty part": ("t.paths", "A/B\nA//C\n", 2, "'A//C' has an empty part.*sep="),
    "google: same id": ("t.txt", GOOGLE + "1 - A\n1 - B\n", 3, "id '1' occurs twice.*line 2"),
    "google: same path": ("t.txt", GOOGLE + "1 - A\n2 - A\n", 3, "'2 - A' occurs twice"),
    "google: no parent": ("t.txt", GOOGLE + "1 - A\n2 - B > C\n", 3, "Add a line for 'B'"),
    "google: no id": ("t.txt", GOOGLE + "1 - A\nA > B\n", 3, "'A > B' is not a number.*3237 - "),
    "obo: same id": (
        "t.obo", "[Term]\nid: X\n\n[Term]\nname: y\nid: X\n", 6, "id 'X' occurs twice.*line 2",
    ),
    "obo: unknown parent": (
        "t.obo", "[Term]\nid: X\nis_a: Y ! why\n", 3, "'X' has the unknown parent 'Y'. Add",
    ),
    "obo: no id": ("t.obo", "[Term]\nname: x\n\n[Term]\nid: X\n", 1, "has no id. Add a line"),
    "obo: no colon": ("t.obo", "[Term]\nid X\n", 2, "'id X' has no colon.*id: X"),
    "obo: empty id": ("t.obo", "[Term]\nid:\n", 2, "empty name"),
    "obo: self-loop": ("t.obo", "[Term]\nid: X\nis_a: X\n", 3, "'X' is given as its own parent"),
    "mesh: no number": ("mtrees.bin", "A;A01\nB\n", 2, "'B' is not a name and a tree number"),
    "mesh: no parent": ("mtrees.bin", "A;A01\nB;A01.1.2\n", 2, "tree number 'A01.1' above 'B'"),
    "mesh: two holders": ("mtrees.bin", "A;A01\nB;A01\n", 2, "'A01' is given to 'B' and to 'A'"),
    "mesh: columns": ("t.tsv", MESH + "D1\tA01\n", 2, "2 columns.*needs 3"),
    "mesh: odd number": ("t.tsv", MESH + "D1\tA\t17\n", 2, "'17' is not a tree number such as"),
    "lshtc: one id": ("cat_hier.txt", "1 2\n3\n", 2, "1 column in '3'. Write a parent"),
    "lshtc: self-loop": ("cat_hier.txt", "1 2\n2 3 3\n", 2, "'3' is given as its own parent"),
    "enzclass: code": ("enzclass.txt", "1. -. -.-  A.\n1. -. 2.-  B.\n", 2, "not a code of four"),
    "enzclass: parent": ("enzclass.txt", "1. 1. -.-  A.\n", 1, "'1.1' has the unknown parent '1'"),
    "json: syntax": ("t.json", '{"A": {},\n "B" {}}', 2, "not valid JSON .*column 6.*Check"),
    "json: same name": (
        "t.json", '[{"name": "A"},\n{"name": "B"},\n{"name": "A"}]', 3,
        "id 'A' occurs twice. Ids must be unique",
    ),
    "json: same key": ("t.json", '{"A": {},\n"A": {}}', 2, "key 'A' occurs twice in one object"),
    "json: same id": (
        "t.json", '[{"id": "A", "child_ids": ["B"]},\n{"id": "B"},\n{"id": "B"}]', 3,
        "id 'B' occurs twice",
    ),
    "json: child": ("t.json", '[{"id": "A", "child_ids": ["B"]}]', None, "unknown child 'B'"),
    "json: no name": ("t.json", '[{"child_ids": []}]', None, "found None where a name"),
    "json: odd name": ("t.json", "[1.5]", None, "found 1.5 where a name .* belongs"),
    "json: odd title": ("t.json", '{"name": "A", "title": []}', None, "where a title"),
    "json: empty name": ("t.json", '[""]', None, "empty name"),
    "json: scalar": ("t.json", "true", None, "found True where a list"),
    "json: link": (
        "t.json",
        '{"format": "linnaeus-taxonomy", "nodes": [{"id": "A"}], "related": [["A", "B"]]}',
        None, "a link between ids of 'nodes'",
    ),
    "skos: syntax": ("t.ttl", PREFIX + "<a> a skos:Concept ;;; x\n", 2, "not valid Turtle"),
    "skos: xml": ("t.rdf", "<?xml version='1.0'?>\n<rdf:RDF>\n", 2, "not valid RDF/XML"),
    "skos: parent": (
        "t.ttl", PREFIX + "<urn:x:a> a skos:Concept ; skos:broader <urn:x:b> .\n", None,
        "'urn:x:a' has the unknown parent 'urn:x:b'",
    ),
    "skos: child": (
        "t.ttl", PREFIX + "<urn:x:a> a skos:Concept ; skos:narrower <urn:x:b> .\n", None,
        "'urn:x:a' has the unknown child 'urn:x:b'",
    ),
    "skos: no URI": ("t.ttl", PREFIX + "[] a skos:Concept .\n", None, "a concept has no URI"),
    "arff: no class": ("t.arff", "@relation x\n@attribute a numeric\n@data\n", None, "Add a line"),
    "arff: empty": (
        "t.arff", "@relation x\n@attribute c hierarchical a,,b\n@data\n", 2, "class '' has an",
    ),
    "nothing": ("t.tsv", "\n\n", None, "no node in the file"),
    "nothing but a header": ("t.csv", "parent,child\n", None, "no node in the file"),
    "unguessable": ("t.txt", "Some prose.\nAnd more.\n", None, "'Some prose.'.*format= one of"),
    "empty and nameless": ("t", "", None, "cannot be guessed"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_the_message_names_file_line_value_and_remedy(tmp_path, case):
    name, content, line, says = BAD[case]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=says) as caught:
        Taxonomy.read(path)
    assert caught.value.line == line
    where = f"{path}, line {line}: " if line else f"{path}: "
    assert str(caught.value).startswith(where)


def test_errors_of_building_are_taxonomy_errors_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nb,a\n")
    with pytest.raises(TaxonomyError, match=r"t.csv: The taxonomy has a cycle"):
        Taxonomy.read(path)


def test_files_beside_are_checked_as_well(tmp_path):
    (tmp_path / "taxonomy.tsv").write_text("a\tb\n")
    (tmp_path / "labels.tsv").write_text("a\tAy\nb\n")
    with pytest.raises(FormatError, match=r"labels.tsv, line 2: found 1 column in 'b'"):
        Taxonomy.read(tmp_path / "taxonomy.tsv")


def test_a_missing_file_and_a_folder(tmp_path):
    for name in ("nowhere.tsv", "nowhere", "nowhere.ttl"):
        with pytest.raises(UserError, match=f"There is no file .*{name}"):
            Taxonomy.read(tmp_path / name)
    with pytest.raises(UserError, match="is a folder"):
        Taxonomy.read(tmp_path)


@pytest.mark.parametrize("name", ["t.tsv.gz", "t.csv.gz", "t.json.gz", "t.obo.gz", "t.ttl.gz"])
def test_a_truncated_gzip_file(tmp_path, name):
    path = tmp_path / name
    Taxonomy.from_edges([("root", f"n{i * i}") for i in range(5000)]).write(path)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(FormatError, match=rf"{name}, line \d+: the gzip file is cut off"):
        Taxonomy.read(path)


def _texts():
    zoo = Taxonomy.from_edges([("a", "b"), ("a", "c")], [("b", "c")], {"a": "Ay"})
    return dict.fromkeys(("t.tsv", "t.csv", "t.json", "t.obo", "t.ttl", "t.rdf"), zoo) | {
        "t.txt": Taxonomy.from_paths(["a/b", "a/c"]),
        "cat_hier.txt": Taxonomy.from_edges([("1", "2"), ("1", "3")]),
    }


@pytest.mark.parametrize("name", _texts())
@pytest.mark.parametrize("packed", [False, True])
def test_byte_order_mark_and_windows_line_ends(tmp_path, name, packed):
    tax, path = _texts()[name], tmp_path / name
    tax.write(path)
    changed = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(gzip.compress(changed) if packed else changed)
    assert Taxonomy.read(path) == tax


@pytest.mark.parametrize(
    ("name", "start", "filler"),
    [
        ("t", "", "x"), ("t", "", "x/"), ("t", "", '"'), ("t.tsv", "", "x"), ("t.tsv", "", "x\t"),
        ("t.csv", "", "x,"), ("t.csv", "", '"'), ("t.paths", "", "x/"), ("t.paths", "", "/"),
        ("t.obo", "[Term]\nname: ", " {"), ("t.obo", "[Term]\nid: ", " "), ("t.json", "", "{["),
        ("t.json", "", "1"), ("t.arff", "@attribute c hierarchical ", "x/"),
        ("t.arff", "@attribute ", " "), ("mtrees", "", "; A"), ("cat_hier", "", "x"),
        ("enzclass", "", "1"), ("enzclass", "", "1."), ("t.ttl", "", "x"), ("t.rdf", "<?xml", " "),
    ],
)  # fmt: skip
def test_a_huge_line_gives_a_short_message_soon(tmp_path, name, start, filler):
    path = tmp_path / name
    path.write_text(start + filler * (HUGE // len(filler)))
    began = time.perf_counter()
    with pytest.raises(UserError) as caught:
        Taxonomy.read(path)
    assert len(str(caught.value)) - len(str(path)) < 500
    assert time.perf_counter() - began < 10


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes minutes without compilation")
def test_a_huge_name_is_a_name(tmp_path):
    name = "x" * HUGE
    for suffix in ("tsv", "csv"):
        path = tmp_path / f"t.{suffix}"
        Taxonomy.from_edges([("a", name)]).write(path)
        assert Taxonomy.read(path).nodes == ("a", name)


def test_deep_json_is_refused_or_read(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('{"a": [' * 100_000)
    with pytest.raises(FormatError, match=r"t.json.*(nested too deeply|not valid JSON)"):
        Taxonomy.read(path)


# -- writing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.tsv", "a\tb", r"'a\\tb' holds a tab or a line break.*csv or json"),
        ("t.tsv", "a\nb", "line break.*csv or json"),
        ("t.csv", "a\rb", "holds a carriage return.*json"),
        ("t.obo", "a\rb", "holds a carriage return.*json"),
        ("t.rdf", "a\x01b", "holds a control character.*ttl or json"),
        ("t.json", "a\ud800b", "cannot be written as UTF-8.*Remove"),
        ("t.ttl", "a\ud800b", "cannot be written as UTF-8"),
    ],
)
def test_what_a_format_cannot_hold_leaves_the_old_file(tmp_path, name, text, says):
    path = tmp_path / name
    Taxonomy.flat(["old"]).write(path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=f"[Tt]he name {says}|{says}"):
        Taxonomy.flat([text]).write(path)
    with pytest.raises(UserError, match=f"[Tt]he title {says}|{says}"):
        Taxonomy.from_edges([("good", "fine")], titles={"fine": text}).write(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_writer_that_fails_midway_leaves_nothing(tmp_path, monkeypatch):
    def broken(taxonomy, handle):
        handle.write("half of it\n" * 100_000)
        raise OSError("the disk is full")

    entry = formats.FORMATS["tsv"]._replace(write=broken)
    monkeypatch.setitem(formats.FORMATS, "tsv", entry)
    old = tmp_path / "old.tsv.gz"
    old.write_bytes(b"what was there")
    for path in (old, tmp_path / "new.tsv"):
        with pytest.raises(OSError, match="disk is full"):
            Taxonomy.flat(["a"]).write(path)
    assert old.read_bytes() == b"what was there"
    assert [p.name for p in tmp_path.iterdir()] == ["old.tsv.gz"]


def test_an_empty_taxonomy_and_a_missing_folder(tmp_path):
    with pytest.raises(UserError, match=r"no nodes, so there is nothing to write to .*t.tsv"):
        Taxonomy.flat([]).write(tmp_path / "t.tsv")
    with pytest.raises(UserError, match="There is no folder"):
        Taxonomy.flat(["a"]).write(Path(tmp_path, "no", "t.tsv"))
