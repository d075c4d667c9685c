"""Tables as programs and people write them: read to the same rows as clean ones, and said so."""

import json

import openpyxl
import pytest

from linnaeus.errors import FormatError, UserError
from linnaeus.io import ReadOptions, read_collection

TREE = "id,name,parent\n007,Animals,\n008,Big cats,007\n009,Start-ups & shops,007\n010,Plants,\n"
NAMES = {"008": "Big cats", "009": "Start-ups & shops", "010": "Plants"}
LABELS = [["008"], ["009"], ["008", "010"], ["010"]]
TEXTS = [f"the {word} of the story" for word in ("lion", "market", "jungle", "oak")]
AS = {
    "JSON": json.dumps,
    "Python": repr,
    "numpy": lambda row: "[" + " ".join(map(repr, row)) + "]",
    "a database": lambda row: "{" + ",".join(row) + "}",
    "lost zeros": lambda row: "; ".join(str(int(v)) for v in row),
    "decimals": lambda row: "; ".join(f"{v}.0" for v in row),
    "code and name": lambda row: "; ".join(f"{v} - {NAMES[v]}" for v in row),
    "name and code": lambda row: "; ".join(f"{NAMES[v]} ({v})" for v in row),
    "HTML": lambda row: "; ".join(NAMES[v].replace("&", "&amp;") for v in row),
    "other dashes": lambda row: "; ".join(NAMES[v].replace("-", "\u2013") for v in row),
    "underscores": lambda row: "; ".join(NAMES[v].replace(" ", "_").lower() for v in row),
    "full stops": lambda row: "; ".join(f"{NAMES[v]}." for v in row),
    "plus": lambda row: " + ".join(NAMES[v] for v in row),
    "quotes": lambda row: ", ".join(f'"{NAMES[v]}"' for v in row),
}


def quoted(cells):
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells) + "\n"


def table(header, rows):
    return "".join(map(quoted, [header, *rows]))


@pytest.mark.parametrize("way", AS)
def test_labels_as_programs_write_them(folder, way):
    rows = [(text, AS[way](row)) for text, row in zip(TEXTS, LABELS, strict=True)]
    at = folder({"taxonomy.csv": TREE, "train.csv": table(("text", "category"), rows)}, None)
    assert read_collection(at).train.labels == LABELS


PATHS = [("A", "B", "C-d"), ("A", "B", "E"), ("A", "F"), ("G", "H"), ("G", "I")]


@pytest.mark.parametrize("sign", ["->", " => ", " › ", " -- ", " - ", ": ", "##", "."])
def test_signs_of_paths(folder, sign):
    rows = [("some text", sign.join(path)) for path in PATHS]
    read = read_collection(folder({"train.csv": table(("text", "category"), rows)}, None))
    assert len(read.taxonomy) == 8 and read.taxonomy.roots == ("A", "G")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("form", ["names", "objects"])
def test_json_of_other_names(folder, suffix, form):
    of = {"names": NAMES.get, "objects": lambda v: {"id": v, "name": NAMES[v]}}[form]
    rows = [
        {"title": "Of cats", "abstract": text, "topics": [of(v) for v in row]}
        for text, row in zip(TEXTS, LABELS, strict=True)
    ]
    if form == "objects":
        rows = [{"text": row["abstract"], "labels": row["topics"]} for row in rows]
    lines = json.dumps(rows) if suffix == "json" else "\n".join(map(json.dumps, rows))
    part = read_collection(folder({"taxonomy.csv": TREE, f"train.{suffix}": lines}, None)).train
    assert part.labels == LABELS and part.texts[0].endswith(TEXTS[0])


def test_json_paths_make_a_taxonomy(folder):
    for labels in (lambda path: " > ".join(path), list):
        rows = [{"text": "some text", "labels": [labels(path)]} for path in PATHS]
        read = read_collection(folder({"train.jsonl": "\n".join(map(json.dumps, rows))}, None))
        assert len(read.taxonomy) == 8 and read.taxonomy.roots == ("A", "G")


def levels(fill):
    return [("some text", *(path + (fill(path),) * 3)[:3]) for path in PATHS]


LEVELS = {
    "NaN": (("text", "cat1", "cat2", "cat3"), levels(lambda _: "NaN")),
    "dashes": (("text", "Category L1", "Category L2", "Category L3"), levels(lambda _: "-")),
    "repeated": (("text", "Level 1", "Level 2", "Level 3"), levels(lambda path: path[-1])),
    "ranks": (("text", "Family", "Genus", "Species"), levels(lambda _: "")),
    "a shop": (("text", "Department", "Category", "Subcategory"), levels(lambda _: "")),
    "words": (("text", "First level", "Second level", "Third level"), levels(lambda _: "")),
    "unknown word": (("text", "hier_0", "hier_1", "hier_2"), levels(lambda _: "")),
}


@pytest.mark.parametrize("case", LEVELS)
def test_levels_and_what_fills_them(folder, case):
    read = read_collection(folder({"train.csv": table(*LEVELS[case])}, None))
    assert len(read.taxonomy) == 8 and read.taxonomy.roots == ("A", "G")
    assert "levels:" in " ".join(read.notes)


SIDE = [("a", "x", "y"), ("b", "y", "z"), ("c", "z", "x"), ("d", "y", "x"), ("e", "x", "")]


def test_labels_side_by_side_are_no_levels(folder):
    for header in (("text", "label1", "label2"), ("text", "Primary tag", "Secondary tag")):
        read = read_collection(folder({"train.csv": table(header, SIDE)}, None))
        assert read.train.labels == [[v for v in row[1:] if v] for row in SIDE]
        assert len(read.taxonomy.roots) == 3


@pytest.mark.parametrize("yes", ["x", "1", "TRUE"])
def test_a_column_for_each_label(folder, yes):
    rows = [
        (t, *(yes if v in row else "" for v in NAMES)) for t, row in zip(TEXTS, LABELS, strict=True)
    ]
    for tree, header in ((TREE, NAMES.values()), (None, NAMES)):
        files = {"train.csv": table(("text", *header), rows)}
        at = folder(files if tree is None else {"taxonomy.csv": tree, **files}, None)
        read = read_collection(at, options=None)
        assert read.train.labels == LABELS and "a mark in 3 columns" in " ".join(read.notes)
        (at / "train.csv").unlink()
        (at / "taxonomy.csv").unlink(missing_ok=True)


def test_words_for_nothing_are_no_labels(folder):
    rows = [("a", "x"), ("b", "N/A"), ("c", "-"), ("d", "#N/A"), ("e", "y")]
    read = read_collection(folder({"train.csv": table(("text", "category"), rows)}, None))
    assert read.train.labels == [["x"], [], [], [], ["y"]] and len(read.taxonomy) == 2
    assert "Cells such as 'N/A' are read as no label" in " ".join(read.notes)


def test_a_row_for_each_label_is_joined(folder):
    rows = [(f"n{i}", text, v) for i, text in enumerate(TEXTS) for v in LABELS[i]]
    files = {"taxonomy.csv": TREE, "train.csv": table(("id", "text", "category"), rows)}
    part = read_collection(folder(files, None)).train
    assert part.labels == LABELS and part.ids == ["n0", "n1", "n2", "n3"]
    assert "5 rows became 4" in " ".join(part.notes)


def test_a_column_tells_the_parts(folder):
    said = ["train", "train", "test", "Training"]
    rows = [(*row, s) for row, s in zip(zip(TEXTS, "xyxz", strict=True), said, strict=True)]
    read = read_collection(folder({"all.csv": table(("text", "category", "split"), rows)}, None))
    assert len(read.train) == 3 and read.test.texts == [TEXTS[2]]
    assert "tells the parts: train 3, test 1 rows" in " ".join(read.notes)


LAID = {
    "titles above": ("Our books,,,,\nMade by,me,,,\n,,,,\n{}", "above the header"),
    "a total below": ("{}Total,4,,,\n", "below the rows"),
    "sep": ("sep=,\n{}", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", LAID)
def test_what_stands_around_the_rows(folder, case):
    frame, said = LAID[case]
    rows = [
        (i, text, row, "red", 3) for i, (text, row) in enumerate(zip(TEXTS, "xyxz", strict=True))
    ]
    at = folder(
        {"train.csv": frame.format(table(("No", "Text", "Category", "Colour", "Price"), rows))},
        None,
    )
    part = read_collection(at).train
    assert part.texts == TEXTS and said in " ".join(part.notes)


QUOTES = {
    "blanks before quotes": 'id, text, labels\n1, "a ""b"", c", "x"\n2, "d", "y"\n',
    "backslashes": 'id,text,labels\n"1","a \\"b\\", c","x"\n"2","d","y"\n',
}


@pytest.mark.parametrize("case", QUOTES)
def test_how_cells_are_quoted(folder, case):
    part = read_collection(folder({"train.csv": QUOTES[case]}, None)).train
    assert part.texts == ['a "b", c', "d"] and part.labels == [["x"], ["y"]]


def test_the_column_of_paths_is_preferred(folder):
    header = ("Title", "Body (HTML)", "Product Category", "Type", "Tags")
    rows = [(f"no {i}", TEXTS[i % 4], " > ".join(p), p[0], "a, b") for i, p in enumerate(PATHS)]
    read = read_collection(folder({"train.csv": table(header, rows)}, None))
    assert read.train.columns.given() == {
        "text": ("Title", "Body (HTML)"),
        "labels": "Product Category",
    }
    both = read_collection(
        folder({"train.csv": table(header, rows)}, None), options=ReadOptions(labels="Type,Tags")
    )
    assert len(both.train.labels[0]) == 2


def test_workbooks_with_titles_and_hidden_sheets(folder):
    at = folder({}, None)
    book = openpyxl.Workbook()
    book.active.append(["Read me"])
    sheet = book.create_sheet("Nodes")
    for row in (["All nodes"], [], ["Level 1", "Level 2"], ["Animals"], [None, "Big cats"]):
        sheet.append(row)
    book.save(at / "categories.xlsx")
    book = openpyxl.Workbook()
    for row in [("Text", "Category"), *((text, "big cats") for text in TEXTS)]:
        book.active.append(row)
    hidden = book.create_sheet("Lists")
    for row in ("ab", "cd"):
        hidden.append(list(row))
    hidden.sheet_state = "hidden"
    book.save(at / "training.xlsx")
    read = read_collection(at)
    assert read.taxonomy.parents("Big cats") == ("Animals",) and len(read.train) == 4
    assert "the taxonomy is categories.xlsx" in read.notes


def test_numbered_outlines_are_no_enzymes(folder):
    lines = "1 A\n1.1 B\n1.1.1 C\n1.1.1.1 D\n2 E\n"
    files = {"taxonomy.txt": lines, "train.csv": table(("text", "category"), [("a", "1.1.1.1 D")])}
    assert read_collection(folder(files, None)).train.labels == [["1.1.1.1"]]


def test_refusals_that_help(folder):
    at = folder({"train.xls": "x"})
    with pytest.raises(UserError, match="'xls'.*Save it as .xlsx"):
        read_collection(at)
    (at / "taxonomy.tsv").unlink()
    gap = table(("text", "Level 1", "Level 2"), [("a", "A", "B"), ("b", "", "C")])
    with pytest.raises(FormatError, match="have a gap.*fill them down"):
        read_collection(folder({"gap.csv": gap}, None) / "gap.csv")
