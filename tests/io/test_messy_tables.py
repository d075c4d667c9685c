"""Tables as people have them: what they hold is found out, and what was guessed is said."""

import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linnaeus.errors import FormatError, UserError
from linnaeus.io import ReadOptions, iter_rows, read_collection

TREE = "parent\tchild\nAnimals\tCats\nAnimals\tBig dogs\nPlants\tTrees, old\nPlants\tCats tail\n"
ROWS = [
    ("Katze, groß", "schläft den ganzen Tag", "Cats"),
    ("Hund", "bellt; und läuft\nim Garten", "Big dogs"),
    ("Eiche", "steht seit 200 Jahren", "Trees, old"),
]


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def table(rows=ROWS, header=("Titel", "Beschreibung", "Kategorie"), sep=","):
    return "".join(sep.join(map(quoted, row)) + "\r\n" for row in [header, *rows])


def check(collection):
    """The three rows are there, with their texts and nodes."""
    part = collection.train
    assert part.texts == [f"{title}\n{text}" for title, text, _ in ROWS]
    assert part.labels == [["Cats"], ["Big dogs"], ["Trees, old"]]
    return part


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_encodings_and_delimiters(folder, encoding, sep):
    at = folder({"train.csv": table(sep=sep).encode(encoding)}, TREE)
    part = check(read_collection(at))
    said = " ".join(part.notes)
    assert "text: 'Titel' + 'Beschreibung'" in said and "labels: 'Kategorie'" in said
    assert ("separated by" in said) == (sep != ",")
    assert ("is read as" in said) == (encoding not in ("utf-8", "utf-8-sig"))


def test_what_is_asked_for_is_taken(folder):
    header = ("A", "B", "C")
    at = folder({"train.csv": table(header=header, sep=";")}, TREE)
    asked = ReadOptions(text="B", labels="c", id="A", delimiter=";", encoding="utf-8")
    part = read_collection(at, options=asked).train
    assert part.ids == [row[0] for row in ROWS] and part.texts == [row[1] for row in ROWS]
    assert part.labels[0] == ["Cats"] and part.notes == ()
    with pytest.raises(FormatError, match=r"no column 'D' for the text. The columns are 'A', 'B'"):
        read_collection(at, options=ReadOptions(text="D", delimiter=";"))


def test_spreadsheets(folder):
    at = folder({}, TREE)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Bücher"
    sheet.append(["Unsere Bücher, Stand heute"])
    sheet.append([])
    for row in [
        ("Nr", "Titel", "Beschreibung", "Kategorie"),
        *((i, *r) for i, r in enumerate(ROWS)),
    ]:
        sheet.append(row)
    book.create_sheet("leer")
    book.save(at / "train.xlsx")
    part = check(read_collection(at))
    assert part.ids == ["0", "1", "2"]
    assert any("'Bücher' is read" in note for note in part.notes)
    assert any("above the header" in note for note in part.notes)
    other = book.create_sheet("mehr")
    other.append(["a", "b"])
    other.append(["c", "d"])
    book.save(at / "train.xlsx")
    with pytest.raises(FormatError, match=r"2 sheets with tables: 'Bücher', 'mehr'"):
        read_collection(at)
    check(read_collection(at, options=ReadOptions(sheet="bücher")))
    (at / "train.xlsx").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="this is no workbook"):
        read_collection(at)


CELLS = {
    "other case and blanks": ("cats ", ["Cats"], "in case or blanks"),
    "several, semicolons": ("Cats; Big dogs", ["Cats", "Big dogs"], "';'"),
    "several, bars": ("Cats|Big dogs", ["Cats", "Big dogs"], ""),
    "several, lines": ("Cats\nBig dogs", ["Cats", "Big dogs"], "line breaks"),
    "a name with a comma": ("Trees, old", ["Trees, old"], ""),
    "several, commas": ("Cats, Big dogs", ["Cats", "Big dogs"], "','"),
    "a path": ("Animals > Cats", ["Cats"], ""),
    "a path that ends in its separator": ("Animals/Cats/", ["Cats"], ""),
    "two paths": ("Animals > Cats; Plants > Cats tail", ["Cats", "Cats tail"], "';'"),
}


@pytest.mark.parametrize("case", CELLS)
def test_cells_of_labels(folder, case):
    cell, labels, said = CELLS[case]
    at = folder({"train.csv": table([("a", "b", cell)])}, TREE)
    part = read_collection(at).train
    assert part.labels == [labels] and said in " ".join(part.notes)


def test_titles_stand_for_ids(folder):
    tree = "id,name,parent\n1,Animals,\n2,Cats,1\n3,Dogs,1\n4,Plants,\n5,Cats,4\n6,Trees,4\n"
    at = folder({"taxonomy.csv": tree, "train.csv": table([("a", "b", "dogs|6")])}, None)
    part = read_collection(at).train
    assert part.labels == [["3", "6"]] and any("titles" in note for note in part.notes)
    at = folder({"train.csv": table([("a", "b", "Cats")])}, None)
    with pytest.raises(FormatError, match=r"'Cats' is the name of 2 nodes: \['2', '5'\]"):
        read_collection(at)
    at = folder({"train.csv": table([("a", "b", "Plants > Cats")])}, None)
    assert read_collection(at).train.labels == [["5"]]


LEVELS = [("x", "Food", "Fruit", "Other"), ("y", "Food", "Meat", ""), ("z", "Toys", "Other", "")]


def test_levels_without_a_taxonomy_keep_namesakes_apart(folder):
    header = ("text", "Level 1", "Level 2", "Level 3")
    read = read_collection(folder({"train.csv": table(LEVELS, header)}, None))
    assert read.train.labels == [["Food/Fruit/Other"], ["Meat"], ["Toys/Other"]]
    assert read.taxonomy.titles["Toys/Other"] == "Other"
    assert read.taxonomy.parents("Meat") == ("Food",)
    assert "levels: 'Level 1' + 'Level 2' + 'Level 3'" in " ".join(read.notes)
    gap = table([("x", "Food", "", "Other")], header)
    with pytest.raises(FormatError, match="have a gap"):
        read_collection(folder({"train.csv": gap}, None))


def test_category_and_subcategory_are_levels(folder):
    header = ("description", "Sub-Category", "Category")
    rows = [("a b c", "Pans", "Kitchen"), ("d e f", "Pots", "Kitchen"), ("g h i", "", "Garden")]
    read = read_collection(folder({"train.csv": table(rows, header)}, None))
    assert read.train.labels == [["Pans"], ["Pots"], ["Garden"]]
    assert read.taxonomy.parents("Pots") == ("Kitchen",)


PATHS = ["Home > Kitchen > Pans", "Home > Kitchen > Pots", "Home > Bed", "Toys > Bed > "]


@pytest.mark.parametrize("sep", [" > ", ">", "/", "::", "|"])
def test_paths_without_a_taxonomy(folder, sep):
    rows = [("text", path.replace(" > ", sep)) for path in PATHS]
    read = read_collection(folder({"train.csv": table(rows, ("text", "category"), sep=";")}, None))
    assert read.train.labels[0] == [sep.join(["Home", "Kitchen", "Pans"])]
    assert read.train.labels[3] == [sep.join(["Toys", "Bed"])]
    assert len(read.taxonomy) == 7 and "Labels are paths" in " ".join(read.notes)


FLAT = {
    "words are no lists": (["science fiction", "science", "true crime"], 3),
    "bars": (["a b|c", "c", "a b"], 2),
    "semicolons": (["x; y", "y", "z; x"], 3),
    "commas that recur": (["x, y", "y", "z, x", "z"], 3),
    "commas in names": (["Bakery, fresh", "Meat, frozen"], 2),
    "codes": (["A61K B01D", "B01D", "A61K C07D", "C07D"], 3),
    "slashes in names": (["AC/DC", "rock", "pop"], 3),
}


@pytest.mark.parametrize("case", FLAT)
def test_labels_without_a_hierarchy(folder, case):
    cells, n = FLAT[case]
    rows = [("some text", cell) for cell in cells]
    read = read_collection(folder({"train.csv": table(rows, ("text", "labels"))}, None))
    assert len(read.taxonomy) == n == len(read.taxonomy.roots)
    assert f"{n} labels without a hierarchy" in " ".join(read.notes)


def test_numbers_as_europeans_write_them(folder):
    rows = "Länge;Breite;class\n1,5;2;Cats\n-0,25;n/a;Big dogs\n"
    part = read_collection(folder({"train.csv": rows}, TREE)).train
    assert part.X[0].tolist() == [1.5, 2] and part.X[1, 0] == -0.25 and part.X[1, 1] != part.X[1, 1]
    assert "decimal comma" in " ".join(part.notes)


def test_words_beside_numbers_are_a_question(folder):
    rows = "size,colour,labels\n1,red,Cats\n2,blue,Cats\n"
    with pytest.raises(FormatError, match=r"'colour' holds words such as 'red', and 'size'"):
        read_collection(folder({"train.csv": rows}, TREE))


def test_one_file_a_zip_and_a_folder_of_one_file(folder):
    at = folder({"taxonomy.tsv": TREE, "books.csv": table()}, None)
    check(read_collection(at))
    check(read_collection(at / "books.csv"))
    with zipfile.ZipFile(at / "all.zip", "w") as archive:
        for name in ("taxonomy.tsv", "books.csv"):
            archive.write(at / name, f"data/{name}")
    check(read_collection(at / "all.zip"))
    (at / "broken.zip").write_bytes(b"PK nothing")
    with pytest.raises(FormatError, match="zip cannot be unpacked"):
        read_collection(at / "broken.zip")


def test_the_folder_remembers(folder):
    toml = 'train = "b.csv"\n\n[table]\ntext = ["B"]\nlabels = "C"\ndelimiter = ";"\n'
    rows = table(header=("A", "B", "C"), sep=";")
    at = folder({"b.csv": rows, "a.csv": "x\n", "collection.toml": toml}, TREE)
    assert read_collection(at).train.texts == [row[1] for row in ROWS]
    assert [row.text for row in iter_rows(at / "b.csv")] == [row[1] for row in ROWS]
    at = folder({"collection.toml": '[table]\ntxt = "B"\n'}, TREE)
    with pytest.raises(
        FormatError, match=r"collection.toml: 'txt' is not known \(did you mean 'tex"
    ):
        read_collection(at)


def test_parquet_of_other_names_and_types(folder):
    at = folder({"taxonomy.tsv": "parent\tchild\n1\t2\n1\t3\n"}, None)
    columns = {"Title": ["a", None], "Abstract": ["b", "c"], "Class": [2, 3]}
    pq.write_table(pa.table(columns), at / "train.parquet")
    part = read_collection(at).train
    assert part.texts == ["a\nb", "c"] and part.labels == [["2"], ["3"]]


def test_the_separator_is_named_where_labels_are_refused(folder):
    at = folder({"train.csv": table([("a", "b", "Cats"), ("a", "b", "Cats & Big dogs")])}, TREE)
    with pytest.raises(FormatError, match=r"'Cats & Big dogs' is not a node.*separated by '\|'"):
        read_collection(at)


def test_a_table_without_a_header_is_refused(folder):
    for tree in (TREE, None):
        at = folder({"train.csv": table(ROWS[1:] * 2, ROWS[1]).replace("Big dogs", "Cats")}, tree)
        with pytest.raises(FormatError, match="line 1: .*seems to be a row, not a header: 'Cats'"):
            read_collection(at, options=ReadOptions(labels="Cats"))


def test_options_are_checked():
    with pytest.raises(UserError, match="delimiter is ';;'"):
        ReadOptions(delimiter=";;")
    with pytest.raises(UserError, match="Name one of them"):
        ReadOptions(labels="a", levels="b,c")
    with pytest.raises(UserError, match="from 0 to 1"):
        ReadOptions(most_bad=3)


def test_commas_in_every_text_of_a_table_of_semicolons(folder):
    """As many commas in every row: the header, which has none, is cut by semicolons alone."""
    rows = "".join(f"{i};On {i}, cats, and more;Cats\n" for i in range(20))
    found = read_collection(folder({"train.csv": f"Nr;Text;Labels\n{rows}"}, TREE))
    assert found.train.texts[3] == "On 3, cats, and more" and found.train.ids[3] == "3"
